"""`gpusight serve` on the simulated machine: every door answers, and says that it is simulated."""

import http.client
import json
import socket
import subprocess
import time

from harness import API, BINARY, Case, CLEAN_ENVIRONMENT, Daemon, free_port, main, wait_until

DEVICES = 8


class Doors(Case):
    """One daemon for all questions that change nothing."""

    @classmethod
    def setUpClass(cls):
        cls.server = Daemon()
        try:
            wait_until(lambda: cls.server.device()["metrics"]["gpu_power_watts"], 10, what="power")
        except BaseException:
            cls.server.kill()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def test_health_and_readiness_answer(self):
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.get("/readyz").status, 200)

    def test_the_snapshot_has_every_device_with_typed_numbers(self):
        snapshot = self.server.snapshot()
        self.assertEqual(snapshot["schema"], 1)
        self.assertEqual(len(snapshot["devices"]), DEVICES)
        for device in snapshot["devices"]:
            self.assertRegex(device["uuid"], r"^GPU-[0-9a-f-]{36}$")
            self.assertEqual(device["state"], "active")
            metrics = device["metrics"]
            self.assertTrue(0 <= metrics["gpu_utilization_ratio"] <= 1)
            self.assertTrue(50 < metrics["gpu_power_watts"] < 1000)
            self.assertIsInstance(metrics["gpu_clock_hertz"], dict)
            self.assertGreater(metrics["gpu_memory_total_bytes"], 70e9)

    # FAULT-126
    def test_what_is_absent_is_null_with_a_reason(self):
        for device in self.server.snapshot()["devices"]:
            for name, value in device["metrics"].items():
                if value is None:
                    self.assertIn(name, device["reasons"], name)
            # A board without fans has no fan speed, and does not claim zero.
            self.assertIsNone(device["metrics"]["gpu_fan_speed_ratio"])
            self.assertEqual(device["reasons"]["gpu_fan_speed_ratio"], "not_supported")

    def test_the_snapshot_says_simulated(self):
        snapshot = self.server.snapshot()
        self.assertIs(snapshot["simulated"], True)
        nvml = self.server.source()
        self.assertIs(nvml["simulated"], True)
        self.assertEqual(nvml["message"], "source.simulated")
        self.assertIn("SIMULATED", nvml["text"]["en"])

    def test_metrics_say_simulated(self):
        self.assertIn("simulated", self.server.get("/metrics").text)

    def test_metrics_are_prometheus_text(self):
        answer = self.server.get("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        self.assertIn("version=0.0.4", answer.headers["content-type"])
        power = [k for k in self.server.metrics() if k.startswith("gpu_power_watts{")]
        self.assertEqual(len(power), DEVICES)

    def test_metrics_come_compressed_when_asked(self):
        answer = self.server.get("/metrics", {"Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["content-encoding"], "gzip")
        self.assertIn("gpu_power_watts{", answer.text)
        self.assertLess(len(answer.wire), len(answer.body) / 3)

    def test_metrics_are_openmetrics_when_asked(self):
        answer = self.server.get("/metrics", {"Accept": "application/openmetrics-text; version=1.0.0"})
        self.assertTrue(answer.headers["content-type"].startswith("application/openmetrics-text"))
        self.assertTrue(answer.text.endswith("# EOF\n"))

    # FAULT-091
    # FAULT-094
    def test_device_series_carry_no_changing_fact_and_no_owner(self):
        for name in self.server.metrics():
            if not name.startswith("gpu_") or name.startswith("gpu_info{"):
                continue
            labels = {part.split("=")[0] for part in name[name.index("{") + 1 : -1].split('",')}
            self.assertIn("uuid", labels)
            self.assertLessEqual(len(labels), 2, name)
            self.assertFalse(labels & {"driver", "pid", "process", "pod", "user", "container"}, name)

    # FAULT-023
    # FAULT-089
    def test_metrics_have_numbers_only(self):
        for name, number in self.server.metrics().items():
            self.assertEqual(float(number), float(number), name)  # a NaN is no number
            self.assertFalse("e+18" in number or number.startswith("1844674407"), name)
        self.assertFalse([k for k in self.server.metrics() if k.startswith("gpu_fan_speed_ratio{")])

    # FAULT-011
    def test_an_event_counter_stands_at_zero_before_anything_happened(self):
        counters = {k: v for k, v in self.server.metrics().items() if k.startswith("gpu_xid_errors_total{")}
        self.assertEqual(len(counters), DEVICES)
        self.assertEqual({float(v) for v in counters.values()}, {0.0})

    def test_the_catalogue_describes_every_metric_of_the_snapshot(self):
        catalogue = self.server.get(API + "catalog").json()
        rows = {row["name"]: row for row in catalogue["metrics"]}
        for name, value in self.server.device()["metrics"].items():
            self.assertIn(name, rows)
            if isinstance(value, dict):
                self.assertTrue(rows[name]["label"], name)
        for row in rows.values():
            self.assertTrue(row["help"]["en"] and row["help"]["zh"], row["name"])

    def test_the_start_is_an_event(self):
        kinds = [event["kind"] for event in self.server.events()]
        self.assertIn("daemon_start", kinds)

    def test_live_begins_with_a_snapshot_and_goes_on_with_numbered_changes(self):
        with self.server.live() as live:
            self.assertEqual(live.status, 101)
            first = live.json()
            self.assertEqual((first["type"], first["n"]), ("snapshot", 0))
            self.assertIs(first["snapshot"]["simulated"], True)
            self.assertEqual(len(first["snapshot"]["devices"]), DEVICES)
            subjects = {group["subject"] for group in first["head"]["groups"]}
            self.assertIn("host", subjects)
            for group in first["head"]["groups"]:
                for series in group["series"]:
                    self.assertEqual(len(series["values"]), len(group["times_ms"]))
            for wanted in (1, 2, 3):
                self.assertEqual(live.json()["n"], wanted)

    def test_live_changes_add_up_to_the_snapshot(self):
        with self.server.live() as live:
            document = live.json()["snapshot"]
            known = {device["uuid"]: dict(device["metrics"]) for device in document["devices"]}
            sequence = document["sequence"]
            for _ in range(3):
                change = live.json()
                if change["type"] != "delta":
                    continue
                sequence = change["sequence"]
                for uuid, part in change["devices"].items():
                    known[uuid].update(part.get("metrics", {}))
            snapshot = self.server.snapshot()
            if snapshot["sequence"] == sequence:
                for device in snapshot["devices"]:
                    self.assertEqual(known[device["uuid"]], device["metrics"])

    def test_the_page_is_there_with_a_strict_policy(self):
        answer = self.server.get("/")
        if answer.status == 404 or "<html" not in answer.text:
            self.skipTest("built without the page")
        self.assertIn("text/html", answer.headers["content-type"])
        policy = answer.headers["content-security-policy"]
        self.assertIn("default-src 'none'", policy.replace("default-src 'self'", "default-src 'none'"))
        self.assertNotIn("unsafe-eval", policy)

    # FAULT-128
    def test_a_foreign_host_or_origin_is_refused(self):
        self.assertIn(self.server.get(API + "snapshot", {"Host": "evil.example"}).status, (403, 421))
        for method in ("GET", "POST"):
            answer = self.server.request(method, API + "snapshot", {"Origin": "http://evil.example"})
            self.assertEqual(answer.status, 403, method)
        with self.server.live(headers={"Origin": "http://evil.example"}) as live:
            self.assertNotEqual(live.status, 101)
        with self.server.live(headers={"Host": "evil.example"}) as live:
            self.assertNotEqual(live.status, 101)

    # FAULT-128
    def test_no_answer_allows_other_origins(self):
        for path in ("/metrics", API + "snapshot", "/healthz"):
            self.assertNotIn("access-control-allow-origin", self.server.get(path).headers)

    # FAULT-064
    # FAULT-135
    def test_a_caller_over_tcp_sees_users_totals_but_not_their_processes(self):
        device = self.server.device()
        self.assertFalse(device["processes"])
        self.assertGreaterEqual(device["processes_hidden"], 1)
        self.assertGreaterEqual(sum(user["processes"] for user in device["users"]), 1)
        self.assertNotIn("train.py", json.dumps(self.server.snapshot()))

    def test_the_local_socket_speaks_the_same_api(self):
        snapshot = self.server.snapshot(local=True)
        self.assertEqual(len(snapshot["devices"]), DEVICES)

    def test_unknown_paths_and_methods_are_told_so(self):
        self.assertEqual(self.server.get("/no/such/thing").status, 404)
        answer = self.server.get(API + "nothing")
        self.assertEqual(answer.status, 404)
        self.assertEqual(answer.json()["error"]["code"], "not_found")
        self.assertIn(self.server.request("POST", "/metrics").status, (404, 405))
        self.assertEqual(self.server.request("HEAD", "/healthz").status, 200)

    def test_a_bad_query_is_a_clear_error(self):
        answer = self.server.get(API + "events?from=yesterday")
        self.assertEqual(answer.status, 400)
        self.assertIn("from", answer.json()["error"]["message"])
        self.assertEqual(self.server.get(API + "events?kind=no_such_kind").status, 400)

    def test_garbage_instead_of_http_harms_nobody(self):
        for garbage in (b"\x00\xff" * 300, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 100000,
                        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"):
            with socket.create_connection(("127.0.0.1", self.server.port), 5) as raw:
                raw.sendall(garbage)
                raw.shutdown(socket.SHUT_WR)
                raw.settimeout(10)
                try:
                    while raw.recv(4096):
                        pass
                except OSError:
                    pass
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_a_connection_is_kept_for_several_requests(self):
        connection = self.server.connection()
        try:
            for _ in range(3):
                connection.request("GET", "/healthz")
                answer = connection.getresponse()
                self.assertEqual(answer.status, 200)
                answer.read()
        except http.client.HTTPException as error:
            self.fail(f"the connection was not kept: {error}")
        finally:
            connection.close()


class Lifetime(Case):
    def test_simulate_serves_the_simulated_machine_where_there_is_no_gpu(self):
        tree = self.tree()
        server = self.daemon("--simulate", "if-no-gpu", nvml=None, root=tree.folder)
        self.assertIs(server.snapshot()["simulated"], True)
        self.assertEqual(len(server.snapshot()["devices"]), DEVICES)
        self.assertIn("SIMULATED", server.log())

    def test_without_simulate_a_machine_without_gpu_is_served_with_the_reason(self):
        tree = self.tree()
        server = self.daemon(nvml=None, root=tree.folder)
        snapshot = server.snapshot()
        self.assertIs(snapshot["simulated"], False)
        self.assertEqual(snapshot["devices"], [])
        self.assertEqual(server.source()["message"], "nvml.nothing_on_bus")

    # FAULT-054
    def test_it_leaves_at_once_when_asked(self):
        server = self.daemon()
        code, seconds = server.stop()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 3)

    def test_it_leaves_with_clients_connected(self):
        server = self.daemon()
        with server.live() as live:
            live.json()
            code, seconds = server.stop()
            self.assertEqual(code, 0)
            self.assertLess(seconds, 3)

    def test_a_port_in_use_is_one_clear_sentence(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            server = self.daemon(port=port, ready=False)
            self.assertEqual(server.process.wait(10), 1)
            said = server.log()
            self.assertIn(f"127.0.0.1:{port}", said)
            self.assertIn("in use", said)
            self.assertIn("--listen", said)

    def test_two_daemons_do_not_share_a_state_directory_or_socket(self):
        first = self.daemon()
        second = self.daemon("--state-dir", first.state_dir, "--socket", first.socket_path, ready=False)
        self.assertEqual(second.process.wait(10), 1)
        self.assertIn("another gpusight", second.log())
        self.assertEqual(first.get("/healthz").status, 200)
        self.assertEqual(first.get_local("/healthz").status, 200)

    def test_a_socket_left_behind_by_a_crash_is_taken_over(self):
        first = self.daemon(folder=self.folder)
        first.process.kill()
        first.process.wait()
        second = self.daemon(folder=self.folder)
        self.assertEqual(second.get_local("/healthz").status, 200)

    # FAULT-128
    def test_it_refuses_to_listen_beyond_this_machine_without_protection(self):
        server = self.daemon("--listen", f"0.0.0.0:{free_port()}", ready=False)
        self.assertEqual(server.process.wait(10), 1)
        self.assertIn("loopback", server.log())

    def test_another_simulated_machine_does_not_miss_the_devices_of_the_last(self):
        first = self.daemon("--simulate", "h100-training", nvml=None, folder=self.folder)
        self.assertEqual(len(first.snapshot()["devices"]), DEVICES)
        first.stop()
        second = self.daemon("--simulate", "rtx4090-desktop", nvml=None, folder=self.folder)
        wait_until(lambda: second.snapshot()["sequence"] > 2, 15, what="two ticks")
        self.assertEqual([device["state"] for device in second.snapshot()["devices"]], ["active"])

    def test_what_cannot_be_asked_for_is_a_usage_error(self):
        scenario = f"{self.folder}/broken.toml"
        with open(scenario, "w", encoding="ascii") as file:
            file.write("gpus = [\n")
        for options, said in ((("--listen", "somewhere:80"), "somewhere:80"),
                              (("--simulate", "h100-trainin"), "did you mean h100-training"),
                              (("--simulate", scenario), f"{scenario}:")):
            server = self.daemon(*options, ready=False)
            self.assertEqual(server.process.wait(10), 2, options)
            self.assertIn(said, server.log())
            self.assertNotIn("http://", server.log())

    # FAULT-127
    def test_without_a_place_for_the_local_socket_it_serves_all_the_same(self):
        blocker = f"{self.folder}/file"
        with open(blocker, "w", encoding="ascii") as file:
            file.write("not a folder")
        # What a user without a runtime folder has: the socket would lie in the state folder.
        done = subprocess.run(
            ["timeout", "-s", "TERM", "3", BINARY, "serve", "--listen", "127.0.0.1:0",
             "--simulate", "h100-training"],
            capture_output=True, text=True, timeout=30, check=False,
            env={**CLEAN_ENVIRONMENT, "RUNTIME_DIRECTORY": f"{blocker}/run",
                 "STATE_DIRECTORY": f"{blocker}/state"})
        self.assertIn("gpusight is at http://127.0.0.1:", done.stdout)
        self.assertNotIn("local socket", done.stdout)
        self.assertIn(f"cannot listen on {blocker}/run/gpusight.sock", done.stderr)

    # FAULT-127
    def test_a_state_directory_that_cannot_be_written_is_said_and_survived(self):
        blocker = f"{self.folder}/file"
        with open(blocker, "w", encoding="ascii") as file:
            file.write("not a folder")
        server = self.daemon("--state-dir", f"{blocker}/state")
        self.assertEqual(len(server.snapshot()["devices"]), DEVICES)
        self.assertIn(blocker, server.log())

    def test_a_slow_reader_is_sent_a_fresh_snapshot_and_holds_up_nobody(self):
        server = self.daemon("--interval", "100ms")
        with server.live(receive_buffer=4096) as slow, server.live() as quick:
            quick.json()
            numbers = []
            deadline = time.monotonic() + 8
            while time.monotonic() < deadline:
                message = quick.json()
                if message["type"] == "delta":
                    numbers.append(message["n"])
            self.assertEqual(numbers, sorted(numbers))
            self.assertGreater(len(numbers), 40)
            self.assertIsNotNone(slow)
        self.assertEqual(server.get("/healthz").status, 200)

    def test_the_interval_is_kept(self):
        server = self.daemon("--interval", "200ms")
        before = server.snapshot()
        time.sleep(2)
        after = server.snapshot()
        ticks = after["sequence"] - before["sequence"]
        self.assertAlmostEqual((after["time"] - before["time"]) / ticks, 0.2, delta=0.05)

    def test_the_environment_configures_it_and_the_command_line_wins(self):
        server = self.daemon("--interval", "300ms", environment={"GPUSIGHT_INTERVAL": "700ms"})
        self.assertAlmostEqual(server.snapshot()["interval_seconds"], 0.3)
        self.assertEqual(CLEAN_ENVIRONMENT["TZ"], "UTC")

    def test_a_bad_configuration_file_stops_it_with_line_and_suggestion(self):
        path = f"{self.folder}/gpusight.toml"
        with open(path, "w", encoding="ascii") as file:
            file.write('[sample]\nintervall = "1s"\n')
        server = self.daemon("--config", path, ready=False)
        self.assertEqual(server.process.wait(10), 2)
        said = server.log()
        self.assertIn("line 2", said)
        self.assertIn("interval", said)


if __name__ == "__main__":
    main()
