"""The figures of queries of recorded history, with Prometheus and VictoriaMetrics at the same samples beside it.

bench_history_store records a month of eight GPUs, the last day of it as the daemon does; `gpusight serve`
answers from that database over HTTP on loopback. Prometheus gets the last day of the two metrics that it is
asked for as blocks (promtool), VictoriaMetrics by its import, merged. All are asked in turns, at the same low
priority that gpusight gives to queries, and without a cache of answers. By hand: python3 bench/queries.py [DAYS]
"""

import contextlib
import glob
import http.client
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE_DIR, "tests", "e2e"))

import harness  # noqa: E402
import history  # noqa: E402

DAY = history.DAY
FIRST_MS = 1_764_000_000_417  # where bench/history_day.cc begins
NICENESS = 10  # what serve/work_pool.h runs queries at
ASKED = 15
BUDGET_MONTH_MS = 20
BUDGET_PAGE_MS = 100
POWER = "gpu_power_watts"
CELSIUS = "gpu_temperature_celsius"
OVER_A_DAY = [f"avg_over_time({POWER}[1m])", f"max by (uuid) (max_over_time({CELSIUS}[5m]))"]
OVER_A_MONTH = f"max_over_time({POWER}[30d])"
# The page on seven days: twelve charts of about six hundred points, each point over what lies between two.
PAGE_STEP = 1020
PAGE = [f"{how}_over_time({what}[{PAGE_STEP}s])" for how, what in (
    ("avg", "gpu_utilization_ratio"), ("max", "gpu_utilization_ratio_max"), ("avg", "gpu_memory_utilization_ratio"),
    ("max", "gpu_memory_used_bytes"), ("max", CELSIUS), ("max", "gpu_memory_temperature_celsius"),
    ("avg", POWER), ("max", "gpu_power_watts_max"), ("avg", "gpu_power_average_watts"),
    ("avg", 'gpu_clock_hertz{clock="sm"}'), ("avg", 'gpu_clock_hertz{clock="memory"}'),
    ("avg", 'gpu_throttle_active{reason="sw_power_cap"}'))]


# The same without functions, as a dashboard asks that shows values: ten minutes apart.
BARE_STEP = 600
BARE_PAGE = [query[query.index("(") + 1:query.index("[")] for query in PAGE]
READ = [POWER, CELSIUS, "gpu_energy_joules_total"]


def low_priority():
    harness.die_with_parent()
    os.nice(NICENESS)


class Engine:
    """What answers Prometheus's query API on a port of the loopback."""

    def __init__(self, name, port, extra=None):
        self.name, self.port, self.extra = name, port, extra or {}

    def ask(self, query, start, end, step):
        """(milliseconds until the answer was read, its data)."""
        call = "query_range" if step else "query"
        times = {"start": start, "end": end, "step": step} if step else {"time": end}
        path = f"/api/v1/{call}?" + urllib.parse.urlencode({"query": query, **times, **self.extra})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.connect()
        began = time.perf_counter()
        connection.request("GET", path)
        text = connection.getresponse().read()
        took = (time.perf_counter() - began) * 1e3
        connection.close()
        answer = json.loads(text)
        if answer["status"] != "success":
            raise RuntimeError(f"{self.name} answers {text[:300]!r} to {query}")
        return took, answer


def medians(engines, query, start, end, step, asked=ASKED):
    """{engine: median milliseconds}, asked in turns; and that all answer the same."""
    times = {engine.name: [] for engine in engines}
    answers = {}
    for i in range(asked + 1):
        for engine in engines:
            took, answers[engine.name] = engine.ask(query, start, end, step)
            if i > 0:
                times[engine.name].append(took)
    expected = points(answers[engines[0].name])
    if not expected:
        raise ValueError(f"no series for {query}")
    for engine in engines[1:]:
        check_same(query, engine.name, expected, points(answers[engine.name]))
    return {name: statistics.median(of_engine) for name, of_engine in times.items()}


def points(answer):
    """{uuid: [(time, number)]}."""
    return {series["metric"]["uuid"]: [(float(at), float(number)) for at, number in series["values"]]
            for series in answer["data"]["result"] if "values" in series} or answer["data"]["result"]


def check_same(query, name, ours, theirs):
    same = ours.keys() == theirs.keys() and all(
        len(ours[uuid]) == len(theirs[uuid])
        and all(a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=1e-9) for a, b in zip(ours[uuid], theirs[uuid]))
        for uuid in ours)
    if not same:
        raise ValueError(f"{name} answers something else than gpusight to {query}")


def record(folder, days, shift):
    """What bench_history_store says of the database it made."""
    done = subprocess.run([history.program("bench_history_store"), "fill", folder, "history.db", str(DAY), str(days),
                           "30", str(shift)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def last_day(shift):
    """Lines of VictoriaMetrics's import: the last day of what the engines are asked for."""
    done = subprocess.run([history.program("bench_history_day"), "import", "sim", str(DAY), str(shift), POWER, CELSIUS],
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


def write_open_metrics(lines, path):
    with open(path, "w", encoding="ascii") as file:
        for line in lines.splitlines():
            series = json.loads(line)
            metric = series["metric"]
            name = f'{metric["__name__"]}{{uuid="{metric["uuid"]}"}}'
            file.writelines(f"{name} {number!r} {at / 1000:.3f}\n"
                            for number, at in zip(series["values"], series["timestamps"]))
        file.write("# EOF\n")


@contextlib.contextmanager
def started(command, folder, port, is_ready, what):
    # In a session of its own, as the daemon is: the kernel shares the processors out among sessions first.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=folder, preexec_fn=low_priority, start_new_session=True)
    try:
        harness.wait_until(lambda: is_ready(port), 60, 0.1, what)
        yield
    finally:
        process.kill()
        process.wait()


def is_ready(port):
    with contextlib.suppress(OSError, RuntimeError):
        return history.ask(port, "GET", "/-/ready", timeout=5)
    return False


@contextlib.contextmanager
def prometheus(lines):
    """An Engine; None where Prometheus is not installed."""
    found, tool = (shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") for name in ("prometheus", "promtool"))
    if not found or not tool:
        yield None
        return
    port = harness.free_port()
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        text, data = os.path.join(folder, "day.txt"), os.path.join(folder, "data")
        write_open_metrics(lines, text)
        subprocess.run([tool, "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=24h", text, data],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {}\n")
        command = [found, f"--config.file={config}", f"--storage.tsdb.path={data}",
                   f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=20y"]
        with started(command, folder, port, is_ready, "Prometheus"):
            yield Engine("Prometheus", port)


@contextlib.contextmanager
def victoria(lines):
    """An Engine; None where VictoriaMetrics is not installed."""
    found = shutil.which("victoria-metrics", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not found:
        yield None
        return
    port = harness.free_port()
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        command = [found, f"-storageDataPath={folder}/data", f"-httpListenAddr=127.0.0.1:{port}",
                   "-retentionPeriod=20y", "-memory.allowedPercent=20", "-loggerLevel=ERROR", "-search.disableCache",
                   "-search.latencyOffset=0s"]
        with started(command, folder, port, history.is_healthy, "VictoriaMetrics"):
            history.ask(port, "POST", "/api/v1/import", lines)
            history.ask(port, "POST", "/internal/force_flush")
            history.ask(port, "POST", "/internal/force_merge")
            harness.wait_until(lambda: history.metric(port, "vm_active_force_merges") == 0, 300, 1, "the merge")
            yield Engine("VictoriaMetrics", port, {"nocache": "1"})


def day_rows(engines, end):
    """Both queries over a day: on whole minutes, where rolled-up rows hold the answer, and beside them."""
    table = []
    for query in OVER_A_DAY:
        for off, how in ((0, "on whole minutes"), (1, "between them, from raw samples")):
            took = medians(engines, query, end - DAY + 360 + off, end + off - 60, 60)
            ours = took["gpusight"]
            others = {name: of_other for name, of_other in took.items() if name != "gpusight"}
            budget = min(others.values(), default=None)
            table.append((f"`{query}`, 24 h of 8 GPUs at 60 s, {how}", f"{ours:.1f} ms",
                          f"{budget:.1f} ms" if budget else "", ours < budget if budget else None))
            table += [(f"beside it: {name}", f"{of_other:.1f} ms, {of_other / ours:.1f} ×", "", None)
                      for name, of_other in others.items()]
    return table


def cpu_ms(pid):
    """What all threads of a process have used of a processor."""
    used = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, encoding="ascii") as file:
            used += int(file.read().split()[0]) / 1e6
    return used


def costs(ours, pid, queries, start, end, step):
    """(milliseconds over HTTP, of the server's processor) for all of these once, one after another."""
    before = cpu_ms(pid)
    wall = sum(medians([ours], query, start, end, step)[ours.name] for query in queries)
    return wall, (cpu_ms(pid) - before) / (ASKED + 1)


def month_and_page_rows(ours, pid, end, days):
    page_end, width = end // PAGE_STEP * PAGE_STEP, 7 * DAY // PAGE_STEP * PAGE_STEP
    month, month_cpu = costs(ours, pid, [OVER_A_MONTH], end, end, 0)
    page, page_cpu = costs(ours, pid, PAGE, page_end - width, page_end, PAGE_STEP)
    bare_end = end // BARE_STEP * BARE_STEP
    bare, bare_cpu = costs(ours, pid, BARE_PAGE, bare_end - 7 * DAY, bare_end, BARE_STEP)
    return [
        (f"`{OVER_A_MONTH}`, {days} days of 8 GPUs from minutes: the server's processor time", f"{month_cpu:.1f} ms",
         f"{BUDGET_MONTH_MS} ms", month_cpu <= BUDGET_MONTH_MS),
        ("the same over HTTP", f"{month:.1f} ms", "", None),
        (f"a page on 7 days, {len(PAGE)} charts of 8 GPUs at {width // PAGE_STEP + 1} points: the server's processor time",
         f"{page_cpu:.1f} ms", f"{BUDGET_PAGE_MS} ms", page_cpu <= BUDGET_PAGE_MS),
        ("the same over HTTP, one chart after another", f"{page:.1f} ms", "", None),
        (f"a page of bare values such as `{BARE_PAGE[6]}`, 7 days at {BARE_STEP} s: the server's processor time",
         f"{bare_cpu:.1f} ms", f"{BUDGET_PAGE_MS} ms", bare_cpu <= BUDGET_PAGE_MS),
        ("the same over HTTP, one chart after another", f"{bare:.1f} ms", "", None),
    ]


def read_rows(state):
    """How fast the raw samples of the last day are read; the database must not be open."""
    table = []
    for metric in READ:
        done = subprocess.run([history.program("bench_history_store"), "read", state, str(ASKED), metric],
                              stdout=subprocess.PIPE, check=True)
        speed = json.loads(done.stdout)["samples_per_second"] / 1e6
        table.append((f"`bench_history_store read`: raw samples of {metric}, a day of 8 GPUs, processor time",
                      f"{speed:.0f} M samples/s", "", None))
    return table


def explained():
    """What the table is about, for RESULTS.md."""
    return [
        "Over HTTP on loopback until the answer is read, median of fifteen, engines asked in turns without caches of",
        "answers, each in a session of its own and at the priority that gpusight gives to queries.",
        "The last day of the month is `simulated_day` recorded at a sample a second; what lies after the last border",
        "of four hours (UTC) is rolled up by each query, which costs up to 8 ms at the border.",
        "The days before have a sample in 30 s, which makes as many rows of",
        "minutes and hours. The others hold the last day of the two metrics that they are asked for and nothing else:",
        f"Prometheus in one block, VictoriaMetrics merged. The page is twelve queries such as `{PAGE[6]}`.",
    ]


def rows(days=30):
    """[(figure, value, budget, kept)] as measure.rows(); empty where bench_history_store is not built."""
    if not os.access(history.program("bench_history_store"), os.X_OK):
        return []
    end = int(time.time()) // 60 * 60 - 60
    shift = end - DAY - FIRST_MS // 1000
    lines = last_day(shift)
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        state = os.path.join(folder, "state")
        os.mkdir(state, mode=0o700)
        record(state, days, shift - (days - 1) * DAY)
        read = read_rows(state)
        with harness.Daemon(nvml=None, folder=folder, within=60) as daemon, \
                prometheus(lines) as second, victoria(lines) as third:
            ours = Engine("gpusight", daemon.port)
            engines = [ours, *(engine for engine in (second, third) if engine)]
            asked = day_rows(engines, end) + month_and_page_rows(ours, daemon.process.pid, end, days)
            return asked + read


if __name__ == "__main__":
    for figure, value, budget, kept in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 30):
        print(f"{figure:<104} {value:>20}  {budget:>8}  {({True: 'kept', False: 'OVER', None: ''})[kept]}")
