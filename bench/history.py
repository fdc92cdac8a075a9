"""The figures of recorded history: chunk_bench, with xz and VictoriaMetrics at the same day beside it.

Both get the very columns that chunk_bench packs (bench_history_day): xz -9 as 64-bit numbers, column
after column, without times; VictoriaMetrics by its import, merged into one part, its data folder counted
without the index of labels. By hand: python3 bench/history.py [SECONDS]
"""

import contextlib
import http.client
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE_DIR, "tests", "e2e"))

import harness  # noqa: E402

DAY = 86400
NOISY = 4 * 3600  # the other machine's columns compress badly wherever they go: a part of the day shows it
BUDGET_XZ = 1.08
BUDGET_VICTORIA = 0.85
BUDGET_PACK = 20e6
BUDGET_UNPACK = 50e6
SCENARIOS = {"sim": "8 × H100 training", "noisy": "8 random walks"}


def program(name):
    return os.path.join(harness.BUILD_DIR, "bin", name)


def measured_codec(scenario, seconds):
    done = subprocess.run([program("chunk_bench"), "--seconds", str(seconds), scenario],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def history(form, scenario, seconds):
    return subprocess.Popen([program("bench_history_day"), form, scenario, str(seconds)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, preexec_fn=harness.die_with_parent)


def measured_xz(form, scenario, seconds):
    """Bytes that xz -9 makes of the columns; None where there is no xz."""
    if not shutil.which("xz"):
        return None
    source = history(form, scenario, seconds)
    packer = subprocess.Popen(["xz", "-9", "-T1", "-c"], stdin=source.stdout, stdout=subprocess.PIPE)
    source.stdout.close()
    size = 0
    while block := packer.stdout.read(1 << 16):
        size += len(block)
    if packer.wait() != 0 or source.wait() != 0:
        raise RuntimeError("xz did not pack the columns")
    return size


def ask(port, method, path, body=None, timeout=900):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Transfer-Encoding": "chunked"} if body else {}
    connection.request(method, path, body=body, headers=headers, encode_chunked=body is not None)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status >= 300:
        raise RuntimeError(f"VictoriaMetrics answers {answer.status} at {path}: {text[:200]!r}")
    return text


def is_healthy(port):
    with contextlib.suppress(OSError, RuntimeError):
        return ask(port, "GET", "/health", timeout=5)
    return False


def metric(port, name):
    for line in ask(port, "GET", "/metrics").decode().splitlines():
        if line.startswith(name):
            return float(line.rsplit(" ", 1)[1])
    return 0


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names)


def measured_victoria(form, scenario, seconds, samples):
    """Bytes of VictoriaMetrics's data folder after a merge of everything; None where it is not installed."""
    found = shutil.which("victoria-metrics", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not found:
        return None
    port = harness.free_port()
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        process = subprocess.Popen(
            [found, f"-storageDataPath={folder}", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=20y",
             "-memory.allowedPercent=20", "-loggerLevel=ERROR"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
            preexec_fn=harness.die_with_parent)
        try:
            harness.wait_until(lambda: is_healthy(port), 30, 0.1, "VictoriaMetrics")
            source = history(form, scenario, seconds)
            ask(port, "POST", "/api/v1/import", source.stdout)
            if source.wait() != 0:
                raise RuntimeError("the columns were not written to the end")
            ask(port, "POST", "/internal/force_flush")
            ask(port, "POST", "/internal/force_merge")
            harness.wait_until(lambda: metric(port, "vm_active_force_merges") == 0, 900, 1, "the merge")
            kept = sum(metric(port, f'vm_rows{{type="storage/{part}"}}') for part in ("inmemory", "small", "big"))
            if kept != samples:
                raise RuntimeError(f"VictoriaMetrics keeps {kept:.0f} samples of {samples}")
            return folder_bytes(os.path.join(folder, "data"))
        finally:
            process.kill()
            process.wait()


def database_bytes(seconds, days):
    """Pages in use of a database of so many days."""
    with tempfile.TemporaryDirectory(prefix="gpusight-bench-") as folder:
        fill = [program("bench_history_store"), "fill", folder, "history.db", str(seconds), str(days), "1", "0"]
        subprocess.run(fill, stdout=subprocess.DEVNULL, check=True)
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "history.db"))) as database:
            pages, free, size = (database.execute(f"PRAGMA {name}").fetchone()[0]
                                 for name in ("page_count", "freelist_count", "page_size"))
            return (pages - free) * size


def database_rows(seconds, xz, victoria):
    """What one day more takes in the database: raw samples, minutes and hours, with all that SQLite adds."""
    size = database_bytes(seconds, 2) - database_bytes(seconds, 1)
    table = [(f"{SCENARIOS['sim']}, {seconds / 3600:g} h more in the database, all series, minutes and hours too",
              f"{size / 1e6:.2f} MB", "", None)]
    for name, other, budget in (("xz -9", xz, BUDGET_XZ), ("VictoriaMetrics", victoria, BUDGET_VICTORIA)):
        if other:
            table.append((f"beside {name} as above", f"{size / other:.2f} ×", f"{budget} ×", size / other <= budget))
    return table


def size_rows(scenario, seconds, ours):
    """Rows for all series and for those that vary."""
    table, in_database = [], (None, None)
    for series, form, size, samples in (
            ("all", "columns", ours["bytes"], ours["samples"]),
            ("varying", "varying", ours["varying_bytes"], ours["varying_samples"])):
        size += ours["times_bytes"]
        name = f"{SCENARIOS[scenario]}, {seconds / 3600:g} h, {series} series"
        table.append((f"{name}: {samples / 1e6:.1f} M samples", f"{size / 1e6:.2f} MB, {size / samples:.3f} B a sample",
                      "", None))
        packed = measured_xz(form, scenario, seconds)
        if packed:
            ratio = size / packed
            table.append((f"the same by xz -9: {packed / 1e6:.2f} MB", f"{ratio:.2f} ×", f"{BUDGET_XZ} ×",
                          ratio <= BUDGET_XZ))
        kept = measured_victoria("import" if series == "all" else "import-varying", scenario, seconds, samples)
        if kept:
            ratio = size / kept
            table.append((f"the same in VictoriaMetrics: {kept / 1e6:.2f} MB", f"{ratio:.2f} ×",
                          f"{BUDGET_VICTORIA} ×", ratio <= BUDGET_VICTORIA))
        if series == "all" and scenario == "sim":
            in_database = (packed, kept)
    if scenario == "sim":
        table += database_rows(seconds, *in_database)
    return table


def explained():
    """What the table is about, for RESULTS.md."""
    return [
        "The chunks of `src/store/FORMAT.md` on days made by `bench/history_day.cc`, at a sample a second. The training",
        "scenario's noise: power at an instant ±1.5 W × (0.3 + activity), averaged ±0.6 W; ticks wake 0.1 ms late on",
        "average, one in a hundred up to 3 ms, and each GPU is read 0.1 to 0.6 ms later. The random walks are noisy",
        "to the milliwatt over tens of watts. Sizes are those of the chunks with their times, before the database, but",
        "for those said to be in it: what a second day adds to the pages in use, with minutes and hours;",
        "xz packs the same columns as 64-bit numbers, without times; VictoriaMetrics's is its data folder after a merge",
        "of everything, without its index. Speeds are samples a second of processor time, over all series.",
    ]


def rows(seconds=DAY):
    """[(figure, value, budget, kept)] as measure.rows(); empty where chunk_bench is not built."""
    if not all(os.access(program(name), os.X_OK) for name in ("chunk_bench", "bench_history_day", "bench_history_store")):
        return []
    table = []
    for scenario, span in (("sim", seconds), ("noisy", min(seconds, NOISY))):
        ours = measured_codec(scenario, span)
        pack, unpack = ours["pack_samples_per_second"], ours["unpack_samples_per_second"]
        table += size_rows(scenario, span, ours)
        table += [
            (f"{SCENARIOS[scenario]}: packing, one core", f"{pack / 1e6:.0f} M samples/s",
             f"{BUDGET_PACK / 1e6:.0f} M", pack >= BUDGET_PACK),
            (f"{SCENARIOS[scenario]}: unpacking, one core", f"{unpack / 1e6:.0f} M samples/s",
             f"{BUDGET_UNPACK / 1e6:.0f} M", unpack >= BUDGET_UNPACK),
        ]
    return table


if __name__ == "__main__":
    for name, value, budget, kept in rows(int(sys.argv[1]) if len(sys.argv) > 1 else DAY):
        print(f"{name:<68} {value:>40}  {budget:>8}  {({True: 'kept', False: 'OVER', None: ''})[kept]}")
