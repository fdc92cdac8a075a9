"""What the whole daemon costs, situation by situation: CPU, memory, wakeups, driver calls.

Each situation runs on the simulated machine with a client of the live stream connected and /metrics
scraped each second; again with 50 µs and with 1 ms for every call of the driver's library. CPU is time
used by all threads, to the nanosecond, so a busy machine spoils little.

    bench/installed python3 bench/cost.py [--seconds N] [--only WORDS] [--no-write]

writes its own section of bench/RESULTS.md and leaves the rest alone; bench/run does it among all else.
"""

import argparse
import dataclasses
import datetime
import glob
import os
import subprocess
import sys
import tempfile
import time

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE_DIR, "tests", "e2e"))
sys.path.insert(0, os.path.join(SOURCE_DIR, "bench"))

import harness  # noqa: E402
import probes  # noqa: E402

HEADING = "## Cost, situation by situation"
LATENCY_NAMES = {0: "none", 50: "50 µs", 1000: "1 ms"}
LATENCIES_US = tuple(LATENCY_NAMES)
SIM_TREE = os.path.join(harness.BUILD_DIR, "bin", "gpusight_sim_tree")
# Of a slow lane, in ten seconds; the fast lane's bound goes by the tick.
SLOW_CALLS = 60


@dataclasses.dataclass
class Situation:
    name: str
    scenario: str
    cpu_percent: float  # budget
    fast_calls: int  # bound of a tick and GPU
    memory_mb: float = 0  # budget; 0: none
    interval_s: float = 1
    arguments: tuple = ()
    has_owners: bool = False  # processes that a tree of files tells of


SITUATIONS = (
    Situation("8 H100 at 1 s, nothing recorded", "h100-training", 0.5, 25, 30, arguments=("--no-history",)),
    Situation("8 H100 at 1 s, with history", "h100-training", 0.6, 25, 40),
    Situation("8 H100 at 1 s, with history and owners", "h100-training", 0.9, 25, 45, has_owners=True),
    Situation("16 A100 at 100 ms, with history", "sixteen-gpus", 5, 8, interval_s=0.1),
    Situation("64 MIG devices at 1 s, with history", "many-mig", 2, 25),
)


def wakeups(pid):
    """How often threads of the process have gone to wait so far."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def tree_of(scenario, folder):
    subprocess.run([SIM_TREE, folder, scenario], check=True, stdout=subprocess.DEVNULL,
                   env={**harness.CLEAN_ENVIRONMENT})
    return folder


def measure(situation, latency_us, seconds):
    environment = {"GPUSIGHT_SIM_LATENCY": str(latency_us)} if latency_us else {}
    arguments = (*situation.arguments, "--interval", f"{round(situation.interval_s * 1000)}ms")
    with tempfile.TemporaryDirectory(prefix="gpusight-cost-") as folder:
        root = tree_of(situation.scenario, os.path.join(folder, "tree")) if situation.has_owners else None
        with harness.Daemon(*arguments, scenario=situation.scenario, environment=environment, root=root,
                            within=60) as daemon:
            return measure_daemon(daemon, seconds)


def measure_daemon(daemon, seconds):
    pid = daemon.process.pid
    live, scraper = probes.LiveReader(daemon), probes.Scraper(daemon.port)
    live.start()
    scraper.start()
    time.sleep(12)  # the first ticks open files and fill caches; the slow lanes have had their first polls
    calls, woken, cpu, at = daemon.counts(), wakeups(pid), probes.cpu_by_thread(pid), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - at
    threads = {name: (used - cpu.get(name, 0)) / passed for name, used in probes.cpu_by_thread(pid).items()}
    woken, used = wakeups(pid) - woken, probes.memory(pid)
    made = {key: number - calls.get(key, 0) for key, number in daemon.counts().items()}
    scraper.done.set()
    by_gpu = {}
    for (_, gpu), number in made.items():
        if gpu != "-":
            by_gpu[gpu] = by_gpu.get(gpu, 0) + number
    return {"cpu_percent": sum(threads.values()) * 100, "threads": threads, "memory_mb": used["rss"] / 1e6,
            "wakeups": woken / passed, "calls": max(by_gpu.values(), default=0) / passed,
            "all_calls": sum(by_gpu.values()) / passed}


def row(situation, latency_us, found, slept):
    """(what, latency, CPU, of it slept in the simulated driver, budget of the rest, memory, its budget, wakeups,
    calls, their bound, kept)"""
    bound = situation.fast_calls / situation.interval_s + SLOW_CALLS / 10
    kept = found["cpu_percent"] - slept <= situation.cpu_percent and found["calls"] <= bound
    if situation.memory_mb:
        kept = kept and found["memory_mb"] <= situation.memory_mb
    memory_budget = f"{situation.memory_mb} MB" if situation.memory_mb else ""
    return (situation.name, LATENCY_NAMES[latency_us], f"{found['cpu_percent']:.2f} %",
            f"{slept:.2f} %" if latency_us else "", f"{situation.cpu_percent} %",
            f"{found['memory_mb']:.1f} MB", memory_budget, f"{found['wakeups']:.0f}", f"{found['calls']:.1f}",
            f"{bound:.0f}", "kept" if kept else "**over**")


def floor_rows(seconds):
    """What the calls alone come to, and by latency the processor time that sleeping adds to a call."""
    program = os.path.join(harness.BUILD_DIR, "bin", "bench_floor")
    if not os.access(program, os.X_OK):
        return [], {}
    table, shares = [], {}
    for latency_us in LATENCIES_US:
        environment = {**harness.CLEAN_ENVIRONMENT, "GPUSIGHT_SIM_SCENARIO": "h100-training",
                       "GPUSIGHT_SIM_LATENCY": str(latency_us)}
        process = subprocess.Popen([program, harness.SIM_LIBRARY, "100000"], stdin=subprocess.DEVNULL,
                                   env=environment, preexec_fn=harness.die_with_parent)
        try:
            time.sleep(2)
            cpu, woken, at = probes.cpu_seconds(process.pid), wakeups(process.pid), time.monotonic()
            time.sleep(seconds)
            passed = time.monotonic() - at
            share = (probes.cpu_seconds(process.pid) - cpu) / passed
            table.append(("beside it: 25 calls a GPU and second on 8 H100, nothing else", LATENCY_NAMES[latency_us],
                          f"{share * 100:.2f} %", "", "", "", "", f"{(wakeups(process.pid) - woken) / passed:.0f}", "25.0",
                          "", ""))
            shares[latency_us] = share
            print("  ".join(table[-1]), flush=True)
        finally:
            process.kill()
            process.wait()
    calls = 25 * 8
    return table, {latency_us: (share - shares[0]) / calls for latency_us, share in shares.items()}


def rows(seconds, only=""):
    table, sleeping = floor_rows(seconds)
    for situation in SITUATIONS:
        if only not in situation.name:
            continue
        if situation.has_owners and not os.access(SIM_TREE, os.X_OK):
            print(f"left out, without {SIM_TREE}: {situation.name}", file=sys.stderr)
            continue
        for latency_us in LATENCIES_US:
            found = measure(situation, latency_us, seconds)
            slept = found["all_calls"] * sleeping.get(latency_us, 0) * 100
            table.append(row(situation, latency_us, found, slept))
            print("  ".join(table[-1]), flush=True)
            parts = sorted(found["threads"].items(), key=lambda item: -item[1])
            print("    " + ", ".join(f"{name} {share * 100:.2f} %" for name, share in parts if share > 2e-5),
                  flush=True)
    return table


def section(table, seconds):
    return "\n".join([
        HEADING,
        "",
        f"`bench/installed python3 bench/cost.py --seconds {seconds}`, {datetime.date.today().isoformat()}. The whole daemon on the simulated",
        "machine, a page connected and `/metrics` scraped each second; latency is what every call of the driver's",
        "library takes at least, asleep. Going to sleep and waking costs the calling thread processor time that no real",
        "driver costs in that way: how much is measured by a program that only makes calls, and stands beside (\"asleep\");",
        "the budget is for the rest. CPU is that of a core, by time used; memory is resident, the vendor library apart;",
        "calls are those about the busiest GPU, all lanes: the bound is the fast lane's (25 a tick, 8 at 100 ms) and the",
        "slow one's (60 in ten seconds). That no single tick exceeds its bound is held by `simulation_cost_test.cc`.",
        "",
        "| situation | latency | CPU | asleep | budget | memory | budget | wakeups/s | calls/s | bound | |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *("| " + " | ".join(cells) + " |" for cells in table),
        "",
    ])


def replaced(text, made):
    """The document with its section of that heading exchanged for the new one, or the new one in its end."""
    before, found, rest = text.partition(HEADING)
    if not found:
        return text.rstrip("\n") + "\n\n" + made
    _, following, after = rest.partition("\n## ")
    return before + made + (following + after if following else "")


def write(table, seconds):
    path = os.path.join(SOURCE_DIR, "bench", "RESULTS.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(replaced(text, section(table, seconds)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--only", default="", help="situations whose names hold these words")
    parser.add_argument("--no-write", action="store_true")
    options = parser.parse_args()
    table = rows(options.seconds, options.only)
    if not options.no_write and not options.only:
        write(table, options.seconds)
    return 0 if all(cells[-1] in ("kept", "") for cells in table) else 1


if __name__ == "__main__":
    sys.exit(main())
