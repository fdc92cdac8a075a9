"""Starts the real binary on the simulated machine and talks to it from outside.

Standard library only. Every daemon gets a folder, a port and a socket of its own, is polled until it
is ready, and is killed at the end whatever happened. Paths come from GPUSIGHT_BUILD_DIR.
"""

import base64
import contextlib
import ctypes
import gzip
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD_DIR = os.environ.get("GPUSIGHT_BUILD_DIR", os.path.join(SOURCE_DIR, "build", "release"))
BINARY = os.path.join(BUILD_DIR, "bin", "gpusight")
SIM_LIBRARY = os.path.join(BUILD_DIR, "lib", "gpusight", "sim", "libnvidia-ml.so.1")
OLD_SIM_LIBRARY = os.path.join(BUILD_DIR, "lib", "gpusight", "sim", "old", "libnvidia-ml.so.1")
API = "/api/gpusight/v1/"

# The environment of a program under test: nothing of the user's own settings leaks in.
CLEAN_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def need(program):
    """The path of a program of Debian's; the test is left out where it is not installed."""
    path = shutil.which(program, path=CLEAN_ENVIRONMENT["PATH"])
    if not path:
        raise unittest.SkipTest(f"{program} is not installed")
    return path


def die_with_parent():
    """Runs in the child: the kernel kills it when the test process goes."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def wait_until(condition, within=10.0, every=0.05, what="the condition"):
    """Polls until condition() is true and returns its value; TimeoutError names what was awaited."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come about within {within} s")
        time.sleep(every)


class Answer:
    """An HTTP answer; the body unpacked when it came compressed."""

    def __init__(self, status, headers, wire):
        self.status = status
        self.headers = headers
        self.wire = wire
        packed = headers.get("content-encoding") == "gzip"
        self.body = gzip.decompress(wire) if packed else wire

    @property
    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return json.loads(self.body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class WebSocket:
    """A small RFC 6455 client: enough to read the live stream and to be a slow reader."""

    def __init__(self, port, path=API + "live", headers=(), timeout=10.0, receive_buffer=0):
        self._socket = socket.socket()
        if receive_buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(timeout)
        self._socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        fields = {
            "Host": f"127.0.0.1:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
        }
        fields.update(headers)
        request = f"GET {path} HTTP/1.1\r\n"
        request += "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
        self._socket.sendall(request.encode())
        self._file = self._socket.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        answer = {}
        for line in iter(self._file.readline, b"\r\n"):
            if not line:
                break
            name, _, value = line.decode("latin-1").partition(":")
            answer[name.strip().lower()] = value.strip()
        self.headers = answer
        if self.status == 101:
            wanted = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
            if answer.get("sec-websocket-accept") != base64.b64encode(wanted).decode():
                raise ConnectionError("the server's Sec-WebSocket-Accept is wrong")
        self.close_code = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self._file.close()
            self._socket.close()

    def settimeout(self, seconds):
        self._socket.settimeout(seconds)

    def _read(self, size):
        data = self._file.read(size)
        if len(data) < size:
            raise ConnectionError("the server closed without a close frame")
        return data

    def send(self, opcode, payload=b""):
        mask = os.urandom(4)
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self._socket.sendall(head + mask + body)

    def message(self):
        """The next message as (opcode, bytes); None once the server has closed (see close_code)."""
        kind, parts = None, []
        while True:
            first, second = self._read(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self._read(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._read(8))
            payload = self._read(size)
            opcode = first & 0x0F
            if opcode == 8:
                self.close_code = struct.unpack("!H", payload[:2])[0] if size >= 2 else 1005
                return None
            if opcode == 9:
                self.send(10, payload)
                continue
            if opcode == 10:
                continue
            kind = kind or opcode
            parts.append(payload)
            if first & 0x80:
                return kind, b"".join(parts)

    def json(self):
        """The next message decoded; binary ones are gzip. None once the server has closed."""
        message = self.message()
        if message is None:
            return None
        kind, payload = message
        return json.loads(gzip.decompress(payload) if kind == 2 else payload)


class Daemon:
    """A running `gpusight serve`. Use as a context manager, or call stop()."""

    def __init__(self, *arguments, scenario="h100-training", control="", nvml=SIM_LIBRARY, root=None,
                 environment=None, folder=None, port=None, ready=True, within=20.0, wrapper=()):
        self._own_folder = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="gpusight-e2e-")
        self.port = port or free_port()
        self.socket_path = os.path.join(self.folder, "gpusight.sock")
        self.state_dir = os.path.join(self.folder, "state")
        self.control_path = os.path.join(self.folder, "control.toml")
        self.counts_path = os.path.join(self.folder, "counts.tsv")
        self.log_path = os.path.join(self.folder, "stderr.txt")
        self.control(control)
        command = [*wrapper, BINARY, "serve", "--listen", f"127.0.0.1:{self.port}",
                   "--socket", self.socket_path, "--state-dir", self.state_dir]
        if nvml:
            command += ["--nvml", nvml]
        if root:
            command += ["--root", root]
        command += arguments
        settings = dict(CLEAN_ENVIRONMENT)
        settings.update({
            "HOME": self.folder,
            "XDG_CONFIG_HOME": os.path.join(self.folder, "config"),
            "GPUSIGHT_SIM_SCENARIO": scenario,
            "GPUSIGHT_SIM_CONTROL": self.control_path,
            "GPUSIGHT_SIM_COUNTS": self.counts_path,
        })
        settings.update(environment or {})
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=settings, preexec_fn=die_with_parent,
                                            start_new_session=True, cwd=self.folder)
        try:
            if ready:
                self.wait_ready(within)
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.kill()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_ready(self, within=20.0):
        def is_ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"serve left with {self.process.returncode}:\n{self.log()}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.get("/readyz").status == 200 and self.has_read()
            return False

        try:
            wait_until(is_ready, within, what="/readyz")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it said:\n{self.log()}") from None

    def has_read(self):
        """It answers already while sources are being opened; most tests want the first readings."""
        snapshot = self.snapshot()
        opened = all(source["phase"] != "starting" for source in snapshot["sources"])
        return bool(snapshot["sources"]) and opened and not any(
            reason == "warming_up" for device in snapshot["devices"]
            for name, reason in device["reasons"].items() if name == "gpu_temperature_celsius")

    def connection(self, timeout=10.0):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, headers=None, connection=None, timeout=10.0, body=None):
        connection = connection or self.connection(timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, headers=None, timeout=10.0):
        return self.request("GET", path, headers, timeout=timeout)

    def post(self, path, form, timeout=10.0):
        """A form of (name, value) pairs."""
        return self.request("POST", path, {"Content-Type": "application/x-www-form-urlencoded"},
                            timeout=timeout, body=urllib.parse.urlencode(form))

    def get_local(self, path, headers=None):
        """The same API over the local socket, where the caller has a user."""
        return self.request("GET", path, headers, UnixConnection(self.socket_path, 10.0))

    def snapshot(self, local=False):
        return (self.get_local if local else self.get)(API + "snapshot").json()

    def device(self, number=0):
        return self.snapshot()["devices"][number]

    def events(self, query=""):
        return self.get(API + "events" + query).json()["events"]

    def source(self, name="nvml"):
        return next(s for s in self.snapshot()["sources"] if s["name"] == name)

    def live(self, **options):
        return WebSocket(self.port, **options)

    def metrics(self, headers=None):
        """/metrics as {"name{labels}": text of the number}."""
        lines = self.get("/metrics", headers).text.splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))

    def control(self, text):
        """Sets the simulated machine's faults from now on; the file changes at once as a whole."""
        with open(self.control_path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.control_path + ".new", self.control_path)

    def counts(self):
        """Driver calls so far as {(function, gpu or "-"): number}; asks the library to write them."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.counts_path)
        with open(self.control_path, encoding="utf-8") as file:
            before = file.read()
        self.control("dump_counts = true\n" + before)
        try:
            wait_until(lambda: os.path.exists(self.counts_path), 10, what="the file of counts")
        finally:
            self.control(before)
        return read_counts(self.counts_path)

    def stop(self, signal_number=signal.SIGTERM, within=10.0):
        """Asks it to leave; returns (exit code, seconds it took)."""
        began = time.monotonic()
        self.process.send_signal(signal_number)
        code = self.process.wait(within)
        return code, time.monotonic() - began

    def kill(self):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def read_counts(path):
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            function, gpu, number = line.rstrip("\n").split("\t")
            counts[function, gpu] = int(number)
    return counts


def run(*arguments, scenario="h100-training", control=None, nvml=None, root=None, environment=None,
        counts=None, timeout=60.0, folder=None, text=True, preexec=None):
    """A one-shot command; never finds a daemon. Returns subprocess.CompletedProcess."""
    with contextlib.ExitStack() as stack:
        home = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="gpusight-e2e-"))
        command = [BINARY, *arguments]
        settings = dict(CLEAN_ENVIRONMENT)
        settings.update({
            "HOME": home,
            "XDG_RUNTIME_DIR": home,
            "GPUSIGHT_SOCKET": os.path.join(home, "none.sock"),
            "GPUSIGHT_SIM_SCENARIO": scenario,
        })
        if nvml:
            settings["GPUSIGHT_NVML"] = nvml
        if root:
            settings["GPUSIGHT_ROOT"] = root
        if counts:
            settings["GPUSIGHT_SIM_COUNTS"] = counts
        if control is not None:
            settings["GPUSIGHT_SIM_CONTROL"] = os.path.join(home, "control.toml")
            with open(settings["GPUSIGHT_SIM_CONTROL"], "w", encoding="utf-8") as file:
                file.write(control)
        settings.update(environment or {})

        def prepare():
            die_with_parent()
            if preexec:
                preexec()

        return subprocess.run(command, env=settings, capture_output=True, text=text, timeout=timeout,
                              stdin=subprocess.DEVNULL, cwd=home, preexec_fn=prepare, check=False)


def status(*arguments, **options):
    """`gpusight status --json` as a document."""
    done = run("status", "--json", *arguments, **options)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"status said (exit {done.returncode}): {done.stdout}{done.stderr}") from None


def fresh(device, metric="gpu_utilization_ratio"):
    """True if the metric has a number that is not stale."""
    value = device["metrics"][metric]
    return value is not None and metric not in device["stale"]


def of_self(snapshot, metric, source="nvml"):
    return (snapshot["self"]["metrics"][metric] or {}).get(source) or 0


def generations_of(snapshot):
    return of_self(snapshot, "gpusight_driver_generations_total")


class Tree:
    """A root folder with as much of /proc, /sys and /dev as a test needs."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "sys/bus/pci/devices"), exist_ok=True)
        os.makedirs(os.path.join(folder, "proc"), exist_ok=True)

    def write(self, path, content):
        full = os.path.join(self.folder, path.lstrip("/"))
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return full

    def pci_device(self, address="0000:01:00.0", vendor="0x10de", device="0x2684", kind="0x030000",
                   driver=None, runtime_status="active", display=False):
        base = f"sys/devices/pci0000:00/0000:00:01.0/{address}"
        for name, text in (("vendor", vendor), ("device", device), ("class", kind),
                           ("subsystem_vendor", vendor), ("subsystem_device", "0x0001"),
                           ("boot_vga", "1" if display else "0"), ("enable", "1"),
                           ("power/runtime_status", runtime_status), ("power/control", "auto")):
            self.write(f"{base}/{name}", text + "\n")
        link = os.path.join(self.folder, "sys/bus/pci/devices", address)
        os.symlink(f"../../../devices/pci0000:00/0000:00:01.0/{address}", link)
        if driver:
            self.bind(base, driver)
        return base

    def bind(self, base, driver):
        """Gives the device at `base` (as pci_device() returned it) a driver."""
        os.makedirs(os.path.join(self.folder, "sys/bus/pci/drivers", driver), exist_ok=True)
        os.symlink(f"../../../../bus/pci/drivers/{driver}", os.path.join(self.folder, base, "driver"))

    def nvidia_driver(self, version="580.105.08"):
        self.write("proc/driver/nvidia/version",
                   f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Release Build\n"
                   "GCC version:  gcc version 12.2.0\n")
        self.write("proc/modules", f"nvidia 9900000 0 - Live 0x0 (PO)\n")
        self.write("sys/module/nvidia/version", version + "\n")


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpusight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def daemon(self, *arguments, **options):
        daemon = Daemon(*arguments, **options)
        self.addCleanup(daemon.kill)
        return daemon

    def tree(self, name="root"):
        return Tree(os.path.join(self.folder, name))


def main():
    if not os.access(BINARY, os.X_OK):
        print(f"no binary at {BINARY}", file=sys.stderr)
        sys.exit(1)
    unittest.main(verbosity=2)
