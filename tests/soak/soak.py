"""The long runs of `make soak`: killing the daemon again and again, and watching its memory for long.

    python3 tests/soak/soak.py kills|leak
"""

import datetime
import os
import random
import signal
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

import harness  # noqa: E402

RESULTS = os.path.join(ROOT, "bench", "RESULTS.md")
HEADING = "## Soak"


def record(figure, measured):
    """Puts one line into the section "Soak" of the results, in place of an older one of that name."""
    with open(RESULTS, encoding="utf-8") as file:
        text = file.read()
    if HEADING not in text:
        text = text.rstrip("\n") + f"\n\n{HEADING}\n\n| date | what | measured |\n|---|---|---|\n"
    lines = [line for line in text.splitlines() if f"| {figure} |" not in line]
    lines.append(f"| {datetime.date.today().isoformat()} | {figure} | {measured} |")
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{figure}: {measured}")


def kills():
    """Kills the daemon at a random instant and starts it on the same state: it must always come up."""
    times = int(os.environ.get("SOAK_KILLS", "500"))
    random.seed(1)
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="gpusight-soak-") as folder:
        for number in range(times):
            began = time.monotonic()
            with harness.Daemon(folder=folder) as daemon:
                slowest = max(slowest, time.monotonic() - began)
                if len(daemon.snapshot()["devices"]) != 8:
                    print(f"start {number}: devices are missing", file=sys.stderr)
                    return 1
                time.sleep(random.uniform(0, 1.5))
                daemon.process.send_signal(signal.SIGKILL)
    record("kills survived", f"{times}, slowest start {slowest:.2f} s")
    return 0


def resident(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) * 1024


FAULTS = (
    "",
    '[[fault]]\nkind = "gpu_lost"\ngpu = 1\n',
    "",
    '[[fault]]\nkind = "driver_reload"\nfor = 2\n',
    '[[fault]]\nkind = "block"\ngpu = 2\nseconds = 3\nevery = 50\n',
    '[[fault]]\nkind = "xid"\ngpu = 3\ncode = 31\n',
    '[[fault]]\nkind = "insufficient_size"\n',
)


def leak():
    """Faults come and go, clients too; memory, threads and descriptors must not grow after a first while."""
    minutes = float(os.environ.get("SOAK_MINUTES", "30"))
    with harness.Daemon("--interval", "200ms") as daemon:
        pid = daemon.process.pid

        def figures():
            return resident(pid), len(os.listdir(f"/proc/{pid}/task")), len(os.listdir(f"/proc/{pid}/fd"))

        warm_up = time.monotonic() + minutes * 60 * 0.4
        end = time.monotonic() + minutes * 60
        turn, first = 0, None
        while time.monotonic() < end:
            daemon.control(FAULTS[turn % len(FAULTS)])
            turn += 1
            for _ in range(5):
                with daemon.live() as live:
                    for _ in range(5):
                        live.json()
                daemon.get("/metrics")
                daemon.snapshot(local=True)
            if first is None and time.monotonic() > warm_up:
                first = figures()
        daemon.control("")
        time.sleep(20)
        last = figures()
    first = first or last
    growth = (last[0] - first[0]) / 1e6
    record("long run with faults",
           f"{minutes:.0f} min: {last[0] / 1e6:.1f} MB, {growth:+.1f} MB after the first 40 %, "
           f"threads {first[1]} → {last[1]}, descriptors {first[2]} → {last[2]}")
    return 1 if growth > 3 or last[1] > first[1] + 2 or last[2] > first[2] + 8 else 0


if __name__ == "__main__":
    sys.exit({"kills": kills, "leak": leak}[sys.argv[1]]())
