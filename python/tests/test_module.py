"""The module as a program uses it: with frameworks that are stand-ins, and a socket that listens, or none."""

import http.server
import json
import os
import socketserver
import sys
import tempfile
import threading
import time
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import gpusight  # noqa: E402


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Daemon:
    """Listens as gpusight does, and keeps what it was told."""

    def __init__(self, status=200):
        daemon = self
        self.messages = []
        self.arrived = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                daemon.messages.append((self.path, [json.loads(line) for line in body.splitlines()]))
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                daemon.arrived.set()

            def address_string(self):
                return ""

            def log_message(self, *unused):
                pass

        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "gpusight.sock")
        self.server = Server(self.path, Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()


def fake_torch(is_initialized=True, ooms=0, uuid="11112222-0000-0000-0000-333344445555"):
    cuda = types.SimpleNamespace(
        is_initialized=lambda: is_initialized,
        device_count=lambda: 2,
        memory_stats=lambda number: {
            "allocated_bytes.all.current": 6 << 30, "reserved_bytes.all.current": 20 << 30,
            "num_ooms": ooms} if number == 0 else {},
        memory_snapshot=lambda: [
            {"device": 0, "blocks": [{"state": "inactive", "size": 5}, {"state": "active_allocated", "size": 9},
                                     {"state": "inactive", "size": 7}]}],
        get_device_properties=lambda number: types.SimpleNamespace(uuid=uuid))
    return types.SimpleNamespace(cuda=cuda)


class ModuleTest(unittest.TestCase):
    def setUp(self):
        self.modules = dict(sys.modules)
        self.environment = dict(os.environ)
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        gpusight._begin_anew()

    def tearDown(self):
        gpusight.stop()
        for name in set(sys.modules) - set(self.modules):
            del sys.modules[name]
        os.environ.clear()
        os.environ.update(self.environment)

    def lines(self):
        return gpusight._Watcher(1, []).lines()

    def test_pytorch_tells_of_the_devices_it_uses(self):
        sys.modules["torch"] = fake_torch(ooms=2)
        self.assertEqual(self.lines(), [{
            "framework": "pytorch", "device": "11112222-0000-0000-0000-333344445555",
            "allocated_bytes": 6 << 30, "reserved_bytes": 20 << 30, "largest_free_bytes": 7,
            "out_of_memory_total": 2}])

    def test_a_framework_that_has_touched_no_device_is_not_made_to(self):
        sys.modules["torch"] = fake_torch(is_initialized=False)
        sys.modules["jax"] = types.SimpleNamespace(local_devices=lambda: self.fail("asked"))
        sys.modules["jax._src.xla_bridge"] = types.SimpleNamespace(_backends={})
        sys.modules["tensorflow"] = types.SimpleNamespace()
        sys.modules["tensorflow.python.eager.context"] = types.SimpleNamespace(
            context=lambda: types.SimpleNamespace(_initialized=False))
        self.assertEqual(self.lines(), [])

    def test_jax_and_tensorflow_tell_what_they_know(self):
        device = types.SimpleNamespace(platform="gpu", id=0, local_hardware_id=1, memory_stats=lambda: {
            "bytes_in_use": 1, "pool_bytes": 2, "largest_free_block_bytes": 3, "bytes_limit": 4})
        sys.modules["jax"] = types.SimpleNamespace(local_devices=lambda: [device])
        sys.modules["jax._src.xla_bridge"] = types.SimpleNamespace(_backends={"cuda": 1})
        config = types.SimpleNamespace(
            list_logical_devices=lambda kind: ["GPU:0"],
            experimental=types.SimpleNamespace(get_memory_info=lambda name: {"current": 8, "peak": 9}))
        sys.modules["tensorflow"] = types.SimpleNamespace(config=config)
        sys.modules["tensorflow.python.eager.context"] = types.SimpleNamespace(
            context=lambda: types.SimpleNamespace(_initialized=True))
        os.environ["CUDA_VISIBLE_DEVICES"] = "GPU-aaaa, GPU-bbbb"
        self.assertEqual(self.lines(), [
            {"framework": "jax", "device": "GPU-bbbb", "allocated_bytes": 1, "reserved_bytes": 2,
             "largest_free_bytes": 3, "limit_bytes": 4},
            {"framework": "tensorflow", "device": "GPU-aaaa", "allocated_bytes": 8}])

    def test_a_device_is_named_by_what_the_framework_knows(self):
        name = gpusight._device_name
        properties = types.SimpleNamespace(pci_domain_id=0, pci_bus_id=0x19, pci_device_id=0)
        self.assertEqual(name(0, properties), "0000:19:00.0")
        self.assertEqual(name(0, types.SimpleNamespace()), "")
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
        self.assertEqual(name(0, properties), "0000:19:00.0")
        os.environ["CUDA_VISIBLE_DEVICES"] = "MIG-1111"
        self.assertEqual(name(0, properties), "MIG-1111")
        self.assertEqual(name(1, properties), "0000:19:00.0")

    def test_a_loop_tells_its_steps_and_what_they_wait_for(self):
        def slow():
            for number in range(3):
                time.sleep(0.03)
                yield number

        seen = []
        for number in gpusight.loop(slow()):
            seen.append(number)
            time.sleep(0.01)
            gpusight.step(tokens=100)
        self.assertEqual(seen, [0, 1, 2])
        told = self.lines()[0]
        self.assertGreaterEqual(told["step_seconds"], 0.04)
        self.assertGreater(told["data_wait_ratio"], 0.5)
        self.assertLessEqual(told["data_wait_ratio"], 1)
        self.assertGreater(told["tokens_per_second"], 0)
        self.assertEqual(self.lines(), [], "told once")

    def test_a_loop_that_is_left_leaves_nothing_behind(self):
        for _ in gpusight.loop(range(5)):
            break
        gpusight.step()
        gpusight.step()
        self.assertIn("step_seconds", self.lines()[0])

    def test_the_decorator_and_the_callback_count_steps(self):
        @gpusight.timed
        def train(a, b=1):
            """Doc."""
            gpusight.step(tokens=10)
            return a + b

        self.assertEqual(train(1, b=2), 3)
        self.assertEqual((train.__name__, train.__doc__), ("train", "Doc."))
        self.assertEqual(gpusight._steps.count, 1)
        callback = gpusight.Callback()
        callback.on_train_begin(1, logs=2)
        callback.set_model(object())
        callback.on_step_end(None, state=None)
        callback.on_train_batch_end(7, logs={})
        self.assertEqual(gpusight._steps.count, 2)
        with self.assertRaises(AttributeError):
            callback.anything()

    def test_what_raises_in_the_program_is_the_programs(self):
        @gpusight.timed
        def fails():
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            fails()
        self.assertEqual(getattr(gpusight._inside, "depth", 0), 0)

    def test_a_message_goes_to_the_socket(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        sys.modules["torch"] = fake_torch()
        gpusight.watch(interval=1, socket_path=daemon.path)
        gpusight.watch(interval=1, socket_path=daemon.path)
        self.assertTrue(daemon.arrived.wait(10))
        path, lines = daemon.messages[0]
        self.assertEqual(path, "/api/gpusight/v1/framework")
        self.assertEqual(lines[0]["reserved_bytes"], 20 << 30)
        self.assertNotIn("pid", lines[0])
        self.assertEqual(gpusight.trouble(), "")

    def test_the_socket_is_found_by_the_environment(self):
        os.environ["GPUSIGHT_SOCKET"] = "/named"
        self.assertEqual(gpusight._sockets(), ["/named"])
        del os.environ["GPUSIGHT_SOCKET"]
        os.environ["XDG_RUNTIME_DIR"] = "/run/user/1"
        self.assertEqual(gpusight._sockets(),
                         ["/run/user/1/gpusight/gpusight.sock", "/run/gpusight/gpusight.sock"])

    def test_nothing_that_goes_wrong_reaches_the_program(self):
        torch = fake_torch()
        torch.cuda.memory_stats = lambda number: 1 // 0
        sys.modules["torch"] = torch
        watcher = gpusight._Watcher(1, [])
        self.assertEqual(watcher.lines(), [])
        self.assertIn("pytorch: ", watcher.trouble)
        refusing = Daemon(status=429)
        self.addCleanup(refusing.close)
        for sockets in (["/does/not/exist"], [refusing.path], [tempfile.gettempdir()]):
            with self.assertRaises(OSError):
                gpusight._send([{}], sockets)
        gpusight.watch(interval="often")
        gpusight.step(tokens="many")
        gpusight.step(tokens=None)
        self.assertEqual(gpusight.trouble(), "not watching")

    def test_a_forked_process_begins_anew(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        gpusight.watch(interval=1, socket_path=daemon.path)
        child = os.fork()
        if child == 0:
            os._exit(0 if gpusight.trouble() == "not watching" and not gpusight._lock.locked() else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(gpusight.trouble(), "")


if __name__ == "__main__":
    unittest.main()
