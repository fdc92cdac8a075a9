"""What the figures are taken with: readings of /proc about a process, and clients that use a daemon."""

import glob
import threading
import time

import harness


def cpu_by_thread(pid):
    """{kind of thread: CPU seconds}, to the nanosecond; lanes of all GPUs count together."""
    sums = {}
    for folder in glob.glob(f"/proc/{pid}/task/*"):
        try:
            with open(folder + "/schedstat", encoding="ascii") as file:
                seconds = int(file.read().split()[0]) / 1e9
            with open(folder + "/comm", encoding="utf-8", errors="replace") as file:
                name = file.read().strip().split("/")[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        sums[name] = sums.get(name, 0) + seconds
    return sums


def cpu_seconds(pid):
    return sum(cpu_by_thread(pid).values())


def memory(pid):
    """{"rss", "pss", "vendor_rss"} in bytes; vendor is what is mapped from libnvidia-ml."""
    sums = {"rss": 0, "pss": 0, "vendor_rss": 0}
    vendor = False
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
        for line in file:
            words = line.split()
            if "-" in words[0] and not words[0].endswith(":"):
                vendor = "libnvidia-ml" in line
            elif words[0] == "Rss:":
                sums["vendor_rss" if vendor else "rss"] += int(words[1]) * 1024
            elif words[0] == "Pss:" and not vendor:
                sums["pss"] += int(words[1]) * 1024
    return sums


def percentile(numbers, share):
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Scraper(threading.Thread):
    """Scrapes an URL of a port each second over one connection and keeps the times."""

    def __init__(self, port, path="/metrics"):
        super().__init__(daemon=True)
        self.port, self.path, self.times, self.size = port, path, [], 0
        self.done = threading.Event()

    def run(self):
        connection = None
        while not self.done.is_set():
            try:
                connection = connection or harness.http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                self.scrape(connection)
            except OSError:
                connection = None
            self.done.wait(1)

    def scrape(self, connection):
        began = time.perf_counter()
        connection.request("GET", self.path)
        body = connection.getresponse().read()
        self.times.append((time.perf_counter() - began) * 1e3)
        self.size = len(body)


class LiveReader(threading.Thread):
    """What a page does: holds the live stream open and reads it."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.socket = daemon.live(timeout=30)
        self.messages = 0
        self.bytes = 0

    def run(self):
        try:
            while True:
                message = self.socket.message()
                if message is None:
                    return
                self.messages += 1
                self.bytes += len(message[1])
        except OSError:
            pass
