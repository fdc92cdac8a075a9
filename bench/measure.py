"""The figures of bench/run: CPU, memory, driver calls, scrape times, threads, descriptors.

One daemon on the simulated machine, a client of the live stream connected and /metrics scraped each
second, all measured from outside through /proc. Beside it, in the same run, the floor (NVML calls and
nothing else) and a known exporter, so that ratios mean something on any machine. Then what queries cost
(promql.py), what recorded history takes (history.py) and what queries of it cost (queries.py), which are
minutes of work: --history says how many seconds of it are packed, --days how many days are asked for.
"""

import argparse
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import time

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE_DIR, "tests", "e2e"))

import harness  # noqa: E402
import cost  # noqa: E402
import history  # noqa: E402
import probes  # noqa: E402
import promql  # noqa: E402
import queries  # noqa: E402

# DESIGN of the budgets: release build, eight simulated H100, one second, page and scraper attached, history
# recorded.
BUDGET_CPU_PERCENT = 0.6
BUDGET_MEMORY_MB = 40
BUDGET_CALLS = 25
BUDGET_SCRAPE_MS = 3
RESULTS = os.path.join(SOURCE_DIR, "bench", "RESULTS.md")
OF_OTHERS = ("## Cost, situation by situation", "## Owners", "## Crashes", "## Soak")


def measure_gpusight(seconds, scenario):
    began = time.perf_counter()
    with harness.Daemon(scenario=scenario) as daemon:
        ready = time.perf_counter() - began
        pid = daemon.process.pid
        gpus = sum(1 for device in daemon.snapshot()["devices"] if device["kind"] == "gpu")
        live, scraper = probes.LiveReader(daemon), probes.Scraper(daemon.port)
        live.start()
        scraper.start()
        time.sleep(5)  # the first ticks open files and fill caches
        calls, ticks, cpu, at = daemon.counts(), daemon.snapshot()["sequence"], probes.cpu_by_thread(pid), time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - at
        threads = {name: (used - cpu.get(name, 0)) / passed for name, used in probes.cpu_by_thread(pid).items()}
        after, ticks = daemon.counts(), daemon.snapshot()["sequence"] - ticks
        scraper.done.set()
        scraper.join()
        connection = daemon.connection()
        burst = probes.Scraper(daemon.port)
        for _ in range(300):
            burst.scrape(connection)
        used = probes.memory(pid)
        made = {key: number - calls.get(key, 0) for key, number in after.items()}
        per_gpu = [sum(n for (name, gpu), n in made.items() if gpu == str(i)) for i in range(gpus)]
        return {
            "gpus": gpus,
            "ready": ready,
            "cpu": sum(threads.values()),
            "cpu_by_thread": threads,
            "calls": max(per_gpu) / ticks if per_gpu else 0,
            "scrapes": scraper.times + burst.times,
            "scrape_bytes": burst.size,
            "live_bytes": live.bytes / max(live.messages, 1),
            "threads": len(os.listdir(f"/proc/{pid}/task")),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            **used,
        }


def cpu_of(command, seconds, port=None, environment=None):
    """CPU share and memory of a program that runs for a while; scraped each second if it has a port."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment, preexec_fn=harness.die_with_parent)
    scraper = probes.Scraper(port) if port else None
    try:
        if scraper:
            scraper.start()
        time.sleep(2)
        cpu, at = probes.cpu_seconds(process.pid), time.monotonic()
        time.sleep(seconds)
        share = (probes.cpu_seconds(process.pid) - cpu) / (time.monotonic() - at)
        return share, probes.memory(process.pid)["rss"]
    finally:
        if scraper:
            scraper.done.set()
        process.kill()
        process.wait()


def neighbours(seconds, scenario):
    """[(name, cpu share, rss)] of what stands beside us for comparison."""
    found = []
    floor = os.path.join(harness.BUILD_DIR, "bin", "bench_floor")
    if os.access(floor, os.X_OK):
        environment = {**harness.CLEAN_ENVIRONMENT, "GPUSIGHT_SIM_SCENARIO": scenario}
        found.append(("floor: 25 NVML calls a GPU and second, nothing else",
                      *cpu_of([floor, harness.SIM_LIBRARY, "100000"], seconds, environment=environment)))
    exporter = shutil.which("prometheus-node-exporter")
    if exporter:
        port = harness.free_port()
        command = [exporter, f"--web.listen-address=127.0.0.1:{port}"]
        found.append(("prometheus-node-exporter, scraped each second", *cpu_of(command, seconds, port)))
    return found


def rows(ours, others):
    """[(figure, value, budget, kept)]; kept is None where there is no budget."""
    megabytes = 1e6
    p50, p99 = probes.percentile(ours["scrapes"], 0.5), probes.percentile(ours["scrapes"], 0.99)
    cpu, rss = ours["cpu"] * 100, ours["rss"] / megabytes
    table = [
        ("CPU, all threads", f"{cpu:.2f} % of a core", f"{BUDGET_CPU_PERCENT} %", cpu <= BUDGET_CPU_PERCENT),
        *((f"of it: {name}", f"{share * 100:.2f} %", "", None)
          for name, share in sorted(ours["cpu_by_thread"].items(), key=lambda item: -item[1]) if share > 2e-5),
        ("memory resident, vendor library apart", f"{rss:.1f} MB", f"{BUDGET_MEMORY_MB} MB", rss <= BUDGET_MEMORY_MB),
        ("memory proportional (PSS)", f"{ours['pss'] / megabytes:.1f} MB", "", None),
        ("vendor library's mappings", f"{ours['vendor_rss'] / megabytes:.1f} MB", "", None),
        ("driver calls a GPU and tick, all lanes", f"{ours['calls']:.1f}", f"{BUDGET_CALLS}",
         ours["calls"] <= BUDGET_CALLS),
        (f"scrape of {ours['scrape_bytes'] / 1e3:.0f} kB, uncompressed, median", f"{p50:.2f} ms",
         f"{BUDGET_SCRAPE_MS} ms", p50 <= BUDGET_SCRAPE_MS),
        ("the same, 99 of 100", f"{p99:.2f} ms", f"{BUDGET_SCRAPE_MS} ms", p99 <= BUDGET_SCRAPE_MS),
        ("a message of the live stream, mean", f"{ours['live_bytes'] / 1e3:.1f} kB", "", None),
        ("from start to /readyz", f"{ours['ready'] * 1e3:.0f} ms", "", None),
        ("threads", str(ours["threads"]), "", None),
        ("open descriptors", str(ours["descriptors"]), "", None),
    ]
    for name, share, size in others:
        ratio = ours["cpu"] / share if share else float("nan")
        table.append((f"beside it: {name}", f"{share * 100:.2f} %, {size / megabytes:.1f} MB; we cost {ratio:.1f} ×",
                      "", None))
    return table


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{os.cpu_count()} cores of {model}, Linux {platform.release().split('-')[0]}"


def lines_of(table):
    mark = {True: "kept", False: "**over**", None: ""}
    return ["| figure | measured | budget | |", "|---|---|---|---|",
            *(f"| {name} | {value} | {budget} | {mark[kept]} |" for name, value, budget, kept in table)]


def write(table, asked, recorded, of_history, options, ours):
    lines = [
        "# Figures",
        "",
        "Written by `bench/run`; budgets are those of the release build on eight simulated H100 at one second,",
        "with a page connected and `/metrics` scraped each second. CPU times differ from machine to machine;",
        "the ratios to the floor and to a known exporter, taken in the same run, differ less.",
        "",
        f"{datetime.date.today().isoformat()}, {machine()}, load {os.getloadavg()[0]:.1f}. "
        f"`{options.command.strip()}`: {options.scenario}, {ours['gpus']} GPUs, {options.seconds} s.",
        "",
        *lines_of(table),
    ]
    if asked:
        lines += ["", "## Queries", "", "On series held in memory; Prometheus is asked in the same run.", "",
                  *lines_of(asked)]
    if of_history:
        lines += ["", "## Queries of recorded history", "", *queries.explained(), "", *lines_of(of_history)]
    if recorded:
        lines += ["", "## Recorded history", "", *history.explained(), "", *lines_of(recorded)]
    kept = ""
    if os.path.exists(RESULTS):  # what others wrote
        with open(RESULTS, encoding="utf-8") as file:
            sections = re.split(r"^(?=## )", file.read(), flags=re.MULTILINE)
        kept = "".join("\n" + section.rstrip("\n") + "\n" for section in sections
                       if section.startswith(OF_OTHERS))
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n" + kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--scenario", default="h100-training")
    parser.add_argument("--history", type=int, default=history.DAY)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--command", default="bench/run")
    options = parser.parse_args()
    if not os.access(harness.BINARY, os.X_OK):
        print(f"bench: no program at {harness.BINARY}: run make bench", file=sys.stderr)
        return 1
    ours = measure_gpusight(options.seconds, options.scenario)
    others = neighbours(max(options.seconds // 3, 10), options.scenario)
    table, asked, recorded = rows(ours, others), promql.rows(), history.rows(options.history)
    of_history = queries.rows(options.days)
    costs = cost.rows(options.seconds)
    mark = {True: "kept", False: "OVER", None: ""}
    for name, value, budget, kept in table + asked + of_history + recorded:
        print(f"{name:<58} {value:>22}  {budget:>8}  {mark[kept]}")
    if not options.no_write:
        write(table, asked, recorded, of_history, options, ours)
        cost.write(costs, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
