"""The figures of the query engine: promql_bench, and Prometheus asked the same beside it.

Prometheus gets the thousand counters of promql_bench.cc by remote write into its head, and is asked over
HTTP on loopback until its answer has been read. By hand: python3 bench/promql.py
"""

import contextlib
import json
import math
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE_DIR, "tests", "e2e"))

import harness  # noqa: E402

BUDGET_DAY_MS = 10
# As hour_of_counters() in promql_bench.cc has them.
START = 1_700_000_000
STEP = 15
SAMPLES = 261
COUNTERS = 1000
QUERY = "sum by (a) (rate(m[5m]))"
ASKED = 20


def measured_pieces():
    """{benchmark: median milliseconds} of promql_bench; None where it is not built."""
    program = os.path.join(harness.BUILD_DIR, "bin", "promql_bench")
    if not os.access(program, os.X_OK):
        return None
    done = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.3", "--benchmark_repetitions=5",
                           "--benchmark_report_aggregates_only=true"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1}
    return {entry["run_name"]: entry["real_time"] * scale[entry["time_unit"]]
            for entry in json.loads(done.stdout)["benchmarks"] if entry["aggregate_name"] == "median"}


# Remote write: a protobuf message, packed as snappy's literals.


def varint(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def label(name, value):
    return field(1, field(1, name.encode()) + field(2, value.encode()))


def sample(value, time_ms):
    return field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(time_ms))


def written(first, last):
    """A WriteRequest with the samples first … last - 1 of every counter."""
    request = bytearray()
    for i in range(COUNTERS):
        series = label("__name__", "m") + label("a", str(i % 10)) + label("i", str(i))
        for k in range(first, last):
            series += sample(1e6 + i + k * (1 + i % 7), (START - 300 + k * STEP) * 1000)
        request += field(1, series)
    return bytes(request)


def as_snappy(data):
    packed = bytearray(varint(len(data)))
    for at in range(0, len(data), 65536):
        chunk = data[at:at + 65536]
        packed += b"\xf4" + struct.pack("<H", len(chunk) - 1) + chunk
    return bytes(packed)


def post(url, data, headers):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data, headers), timeout=30) as answer:
        return answer.read()


def push(base):
    headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
               "X-Prometheus-Remote-Write-Version": "0.1.0"}
    for first in range(0, SAMPLES, 29):
        post(base + "/api/v1/write", as_snappy(written(first, min(first + 29, SAMPLES))), headers)


def check(answer):
    """That Prometheus computed what promql_bench does."""
    result = {entry["metric"]["a"]: entry["values"] for entry in answer["data"]["result"]}
    expected = sum((1 + i % 7) / STEP for i in range(0, COUNTERS, 10))
    if len(result) != 10 or len(result["0"]) != 241:
        raise ValueError("Prometheus answers something else than promql_bench")
    if not all(math.isclose(float(value), expected, rel_tol=1e-9) for _, value in result["0"]):
        raise ValueError("Prometheus computes other rates than promql_bench")


def ask_prometheus(base):
    """(median milliseconds over HTTP, of these in its engine)."""
    parameters = {"query": QUERY, "start": START, "end": START + 3600, "step": STEP, "stats": "all"}
    body = urllib.parse.urlencode(parameters).encode()
    over_http, in_engine = [], []
    for _ in range(ASKED + 3):
        began = time.perf_counter()
        text = post(base + "/api/v1/query_range", body, {})
        over_http.append((time.perf_counter() - began) * 1e3)
        answer = json.loads(text)
        in_engine.append(answer["data"]["stats"]["timings"]["execTotalTime"] * 1e3)
    check(answer)
    return statistics.median(over_http[3:]), statistics.median(in_engine[3:])


def is_ready(base):
    with contextlib.suppress(OSError):
        return post(base + "/-/ready", None, {})
    return False


def measured_prometheus():
    """What ask_prometheus() gives; None where Prometheus is not installed."""
    program = shutil.which("prometheus", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not program:
        return None
    port = harness.free_port()
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {}\n")
        process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
            preexec_fn=harness.die_with_parent)
        try:
            harness.wait_until(lambda: is_ready(base), 30, 0.1, "Prometheus")
            push(base)
            return ask_prometheus(base)
        finally:
            process.kill()
            process.wait()


def rows():
    """[(figure, value, budget, kept)] as measure.rows(); empty where promql_bench is not built."""
    pieces = measured_pieces()
    if pieces is None:
        return []
    day, sum_of_rates = pieces["avg_over_time_of_a_day"], pieces["sum_of_a_thousand_rates"]
    prometheus = measured_prometheus()
    table = [
        ("parse of a query of 160 characters", f"{pieces['parse_query'] * 1e3:.1f} µs", "", None),
        ("avg_over_time(m[1m]), a day of 8 series at 1 s, 60 s step", f"{day:.1f} ms", f"{BUDGET_DAY_MS} ms",
         day <= BUDGET_DAY_MS),
        (f"{QUERY}, an hour of 1,000 series at 15 s", f"{sum_of_rates:.1f} ms",
         f"{prometheus[0]:.1f} ms" if prometheus else "", sum_of_rates < prometheus[0] if prometheus else None),
    ]
    if prometheus:
        table.append(("beside it: Prometheus, from its head over HTTP",
                      f"{prometheus[0]:.1f} ms, {prometheus[1]:.1f} ms of it in its engine", "", None))
    return table


if __name__ == "__main__":
    for name, value, budget, kept in rows():
        print(f"{name:<68} {value:>40}  {budget:>8}  {({True: 'kept', False: 'OVER', None: ''})[kept]}")
