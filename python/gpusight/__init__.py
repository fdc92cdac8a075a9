"""Tells gpusight, the GPU monitor on this machine, what a framework knows and no driver does.

    import gpusight
    gpusight.watch()

A thread then says every ten seconds how much memory PyTorch, JAX or TensorFlow has allocated and reserved on
each device, and how long steps take if the program says where they end:

    for batch in gpusight.loop(loader):        # measures the step and how long it waits for its data
        ...
        gpusight.step(tokens=batch.numel())    # optional: what was worked through

or with a decorator, `@gpusight.timed` on the function that does one step, or with a callback,
`gpusight.Callback()`, whose `on_step_end` and `on_train_batch_end` count a step.

No dependencies. Nothing is imported that the program has not imported itself, and no framework is made to
touch a device that it has not touched. Nothing here raises into the program: where no gpusight listens, or
anything goes wrong, it stays silent and tries again later. `gpusight.trouble()` tells what went wrong last.
"""

import functools
import http.client
import json
import os
import socket
import sys
import threading
import time

__all__ = ["watch", "stop", "step", "loop", "timed", "Callback", "trouble"]

_PATH = "/api/gpusight/v1/framework"
_LONGEST_PAUSE = 60.0  # seconds between messages while nobody listens
_PATIENCE = 2.0  # seconds that a message may take
# To look for the largest free block is to list all blocks: seldom, and not where there are too many.
_BLOCKS_EVERY = 60.0
_BLOCKS_MAY_TAKE = 0.02


class _Steps:
    """Steps since the last message."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.seconds = 0.0
        self.waited = None
        self.tokens = None
        self.since = time.monotonic()
        self.last_end = None

    def add(self, seconds, waited=None):
        with self.lock:
            self.count += 1
            self.seconds += seconds
            if waited is not None:
                self.waited = (self.waited or 0.0) + waited

    def add_tokens(self, tokens):
        with self.lock:
            self.tokens = (self.tokens or 0) + tokens

    def end(self):
        """Of a step whose begin nobody told: it is the end of the one before."""
        now = time.monotonic()
        with self.lock:
            before, self.last_end = self.last_end, now
        if before is not None:
            self.add(now - before)

    def take(self):
        """What is told of them; {} if there were none."""
        with self.lock:
            now = time.monotonic()
            told = {}
            if self.count:
                told["step_seconds"] = self.seconds / self.count
                if self.waited is not None and self.seconds > 0:
                    told["data_wait_ratio"] = min(self.waited / self.seconds, 1.0)
            if self.tokens is not None and now > self.since:
                told["tokens_per_second"] = self.tokens / (now - self.since)
            self.count, self.seconds, self.waited, self.tokens, self.since = 0, 0.0, None, None, now
            return told


def _visible_uuids():
    """Of CUDA_VISIBLE_DEVICES, where it names devices by uuid; else []."""
    names = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    return names if all(name.startswith(("GPU-", "MIG-")) for name in names) else []


def _device_name(number, properties=None):
    """A uuid, else a PCI address, else "": gpusight then asks whether there is one device only."""
    uuids = _visible_uuids()
    if number < len(uuids):
        return uuids[number]
    uuid = str(getattr(properties, "uuid", "") or "")
    if uuid:
        return uuid
    parts = [getattr(properties, "pci_" + part + "_id", None) for part in ("domain", "bus", "device")]
    if all(isinstance(part, int) for part in parts):
        return "%04x:%02x:%02x.0" % tuple(parts)
    return ""


class _PyTorch:
    name = "pytorch"

    def __init__(self):
        self.looked_at = 0.0
        self.is_slow = False
        self.free_blocks = {}

    def devices(self):
        torch = sys.modules.get("torch")
        cuda = getattr(torch, "cuda", None)
        if cuda is None or not cuda.is_initialized():
            return
        self._look_for_blocks(cuda)
        for number in range(cuda.device_count()):
            stats = cuda.memory_stats(number)
            reserved = stats.get("reserved_bytes.all.current", 0)
            if not reserved and not stats.get("num_ooms", 0):
                continue  # not a device of this process
            told = {
                "device": _device_name(number, cuda.get_device_properties(number)),
                "allocated_bytes": stats.get("allocated_bytes.all.current"),
                "reserved_bytes": reserved,
                "out_of_memory_total": stats.get("num_ooms"),
                "largest_free_bytes": self.free_blocks.get(number),
            }
            yield told

    def _look_for_blocks(self, cuda):
        now = time.monotonic()
        if self.is_slow or (self.looked_at and now - self.looked_at < _BLOCKS_EVERY):
            return
        self.looked_at = now
        largest = {}
        for segment in cuda.memory_snapshot():
            number = segment.get("device", 0)
            for block in segment.get("blocks", ()):
                if block.get("state") == "inactive":
                    largest[number] = max(largest.get(number, 0), block.get("size", 0))
        self.is_slow = time.monotonic() - now > _BLOCKS_MAY_TAKE
        self.free_blocks = {} if self.is_slow else largest


class _Jax:
    name = "jax"

    def devices(self):
        jax = sys.modules.get("jax")
        bridge = sys.modules.get("jax._src.xla_bridge")
        # To ask for devices would start its backends.
        if jax is None or bridge is None or not getattr(bridge, "_backends", None):
            return
        for device in jax.local_devices():
            if device.platform not in ("gpu", "cuda", "rocm"):
                continue
            stats = device.memory_stats() or {}
            yield {
                "device": _device_name(getattr(device, "local_hardware_id", device.id)),
                "allocated_bytes": stats.get("bytes_in_use"),
                "reserved_bytes": stats.get("pool_bytes", stats.get("bytes_reserved")),
                "largest_free_bytes": stats.get("largest_free_block_bytes"),
                "limit_bytes": stats.get("bytes_limit"),
            }


class _TensorFlow:
    name = "tensorflow"

    def devices(self):
        tensorflow = sys.modules.get("tensorflow")
        context = sys.modules.get("tensorflow.python.eager.context")
        # To list logical devices would take all of their memory.
        if tensorflow is None or context is None or not getattr(context.context(), "_initialized", False):
            return
        for number, _ in enumerate(tensorflow.config.list_logical_devices("GPU")):
            stats = tensorflow.config.experimental.get_memory_info("GPU:%d" % number)
            yield {"device": _device_name(number), "allocated_bytes": stats.get("current")}


def _sockets():
    """Where a daemon may listen, the nearest first."""
    named = os.environ.get("GPUSIGHT_SOCKET")
    if named:
        return [named]
    own = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("XDG_STATE_HOME") or \
        os.path.expanduser("~/.local/state")
    return [os.path.join(own, "gpusight", "gpusight.sock"), "/run/gpusight/gpusight.sock"]


class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=_PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _send(lines, sockets):
    """Raises what went wrong on the last of the sockets."""
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    error = OSError("no place to look for gpusight")
    for path in sockets:
        connection = _Connection(path)
        try:
            connection.request("POST", _PATH, body, {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse()
            text = answer.read(4096).decode("utf-8", "replace")
            if answer.status == 200:
                return
            error = OSError("gpusight answered %d: %s" % (answer.status, text))
        except (OSError, http.client.HTTPException) as failure:
            error = failure
        finally:
            connection.close()
    raise error


class _Watcher:
    def __init__(self, interval, sockets):
        self.interval = interval
        self.sockets = sockets
        self.frameworks = [_PyTorch(), _Jax(), _TensorFlow()]
        self.ended = threading.Event()
        self.trouble = ""
        self.thread = threading.Thread(target=self._run, name="gpusight", daemon=True)

    def lines(self):
        found = []
        for framework in self.frameworks:
            try:
                for told in framework.devices():
                    device = {key: value for key, value in told.items() if value not in (None, "")}
                    found.append({"framework": framework.name, **device})
            except Exception as failure:  # whatever a framework of any version does
                self.trouble = "%s: %s" % (framework.name, failure)
        told = _steps.take()
        if told:
            found.append({"framework": found[0]["framework"], **told} if found else told)
        return found

    def _run(self):
        pause = min(self.interval, 1.0)
        while not self.ended.wait(pause):
            lines = self.lines()
            if not lines:
                continue
            try:
                _send(lines, self.sockets or _sockets())
                pause = self.interval
            except Exception as failure:
                self.trouble = str(failure)
                pause = min(pause * 2, max(_LONGEST_PAUSE, self.interval))


_steps = _Steps()
_watcher = None
_lock = threading.Lock()


def _begin_anew():
    """In a process that was forked: the thread is not there, and a lock may be held for ever."""
    global _steps, _watcher, _lock
    _steps, _watcher, _lock = _Steps(), None, threading.Lock()


os.register_at_fork(after_in_child=_begin_anew)


def watch(interval=10.0, socket_path=None):
    """Tells gpusight of this process every `interval` seconds (1 at least), from a thread of its own. To call it
    again changes nothing; a process that was forked tells of itself only if it calls it."""
    global _watcher
    try:
        with _lock:
            if _watcher is not None:
                return
            _watcher = _Watcher(max(float(interval), 1.0), [socket_path] if socket_path else [])
            _watcher.thread.start()
    except Exception:  # no thread to be had, an interval that is no number: the program goes on
        _watcher = None


def stop():
    """Ends what watch() began."""
    global _watcher
    with _lock:
        watcher, _watcher = _watcher, None
    if watcher is not None:
        watcher.ended.set()
        watcher.thread.join(_PATIENCE)


def trouble():
    """What went wrong last, for a look when gpusight shows nothing; "" if all is well."""
    return _watcher.trouble if _watcher is not None else "not watching"


def step(tokens=None):
    """The end of a step; inside of loop() and timed, which know it themselves, only the count of tokens (or
    samples, or whatever is to be shown per second)."""
    if tokens is not None:
        try:
            _steps.add_tokens(float(tokens))
        except (TypeError, ValueError):
            pass
    if not getattr(_inside, "depth", 0):
        _steps.end()


_inside = threading.local()


class _Inside:
    """Where steps are measured already."""

    def __enter__(self):
        _inside.depth = getattr(_inside, "depth", 0) + 1

    def __exit__(self, *unused):
        _inside.depth -= 1


def loop(batches):
    """The same batches; each round is a step, and what it waits for its batch is told apart."""
    batches = iter(batches)
    began = time.monotonic()
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        waited = time.monotonic() - began
        with _Inside():
            yield batch
        now = time.monotonic()
        _steps.add(now - began, waited)
        began = now


def timed(function):
    """A decorator: each call is a step."""

    @functools.wraps(function)
    def wrapper(*arguments, **named):
        began = time.monotonic()
        try:
            with _Inside():
                return function(*arguments, **named)
        finally:
            _steps.add(time.monotonic() - began)

    return wrapper


class Callback:
    """For training loops that take callbacks: counts a step where they say that one ended. Other calls by names
    of the kind on_… and set_… are taken and ignored."""

    def on_step_end(self, *unused, **named):
        step()

    on_train_batch_end = on_step_end

    def __getattr__(self, name):
        if name.startswith(("on_", "set_")):
            return lambda *unused, **named: None
        raise AttributeError(name)
