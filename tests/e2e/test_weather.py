"""Bad weather in the driver: calls that block, devices that go, numbers that cannot be."""

import time

from harness import API, Case, main, wait_until


def fresh(device, metric="gpu_utilization_ratio"):
    """True if the metric has a number that is not stale."""
    value = device["metrics"][metric]
    return value is not None and metric not in device["stale"]


def of_self(snapshot, metric, source="nvml"):
    return (snapshot["self"]["metrics"][metric] or {}).get(source) or 0


def generations_of(snapshot):
    return of_self(snapshot, "gpusight_driver_generations_total")


class Blocked(Case):
    # FAULT-040
    def test_a_blocked_call_on_one_gpu_leaves_the_others_fresh(self):
        server = self.daemon()
        victim = server.device(2)["uuid"]
        server.control('[[fault]]\nkind = "block"\ngpu = 2\nforever = true\n')
        wait_until(lambda: server.device(2)["state"] == "busy", 15, what="busy")
        time.sleep(2)
        before = server.snapshot()
        time.sleep(2)
        after = server.snapshot()
        self.assertGreaterEqual(after["sequence"] - before["sequence"], 1)
        for device in after["devices"]:
            if device["uuid"] == victim:
                self.assertFalse(fresh(device))
            else:
                self.assertEqual(device["state"], "active")
                self.assertTrue(fresh(device), device["uuid"])

    # FAULT-040
    # FAULT-041
    def test_what_a_blocked_gpu_said_last_leaves_the_metrics(self):
        server = self.daemon()
        victim = server.device(0)["uuid"]
        series = f'gpu_utilization_ratio{{uuid="{victim}"}}'
        self.assertIn(series, server.metrics())
        server.control('[[fault]]\nkind = "block"\ngpu = 0\nforever = true\n')
        wait_until(lambda: series not in server.metrics(), 20, what="the series' end")
        # Its age is shown for a while, then it is gone there too, with the reason.
        wait_until(lambda: server.device(0)["metrics"]["gpu_utilization_ratio"] is None, 30, what="absence")
        self.assertEqual(server.device(0)["reasons"]["gpu_utilization_ratio"], "busy")

    # FAULT-040
    # FAULT-054
    def test_it_leaves_within_three_seconds_while_calls_block_for_ever(self):
        server = self.daemon()
        server.control('[[fault]]\nkind = "block"\nforever = true\n')
        wait_until(lambda: server.device(0)["state"] == "busy", 15, what="busy")
        self.assertEqual(server.get("/healthz").status, 200)
        code, seconds = server.stop()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 3)

    # FAULT-040
    def test_a_scrape_does_not_wait_for_the_driver(self):
        server = self.daemon()
        server.control('[[fault]]\nkind = "block"\nforever = true\n')
        wait_until(lambda: server.device(0)["state"] == "busy", 15, what="busy")
        for path in ("/metrics", API + "snapshot", "/healthz", API + "events"):
            began = time.monotonic()
            server.get(path)
            self.assertLess(time.monotonic() - began, 1, path)

    # FAULT-040
    def test_a_gpu_whose_calls_come_back_is_fresh_again(self):
        server = self.daemon()
        server.control('[[fault]]\nkind = "block"\ngpu = 1\nforever = true\n')
        wait_until(lambda: server.device(1)["state"] == "busy", 15, what="busy")
        server.control("")
        wait_until(lambda: server.device(1)["state"] == "active" and fresh(server.device(1)), 20,
                   what="recovery")

    # FAULT-085
    def test_the_page_is_served_while_the_driver_is_still_starting(self):
        server = self.daemon(control='[[fault]]\nkind = "block"\nfunction = "nvmlInit*"\nforever = true\n',
                             ready=False)

        def answers():
            try:
                return server.get("/healthz").status == 200
            except OSError:
                return False
        wait_until(answers, 15, what="/healthz")
        wait_until(lambda: server.snapshot()["sources"], 10, what="a first snapshot")
        time.sleep(2)
        self.assertIn(server.source()["phase"], ("starting", "stuck"))
        code, seconds = server.stop()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 3)


class Lost(Case):
    # FAULT-038
    # FAULT-039
    def test_a_lost_gpu_stays_visible_with_its_time_and_the_others_go_on(self):
        server = self.daemon()
        victim = server.device(5)["uuid"]
        began = server.snapshot()["time"]
        server.control('[[fault]]\nkind = "gpu_lost"\ngpu = 5\n')

        def lost():
            return next(d for d in server.snapshot()["devices"] if d["uuid"] == victim)["state"] == "lost"

        wait_until(lost, 20, what="lost")
        snapshot = server.snapshot()
        self.assertEqual(len(snapshot["devices"]), 8)
        for device in snapshot["devices"]:
            if device["uuid"] == victim:
                self.assertGreaterEqual(device["state_since"], began - 2)
                self.assertFalse(fresh(device))
        metrics = server.metrics()
        self.assertEqual(float(metrics[f'gpu_up{{uuid="{victim}"}}']), 0)
        self.assertNotIn(f'gpu_utilization_ratio{{uuid="{victim}"}}', metrics)
        others = [d["uuid"] for d in snapshot["devices"] if d["uuid"] != victim]
        wait_until(lambda: all(fresh(d) for d in server.snapshot()["devices"] if d["uuid"] in others), 20,
                   what="the others, fresh")
        for uuid in others:
            self.assertEqual(float(server.metrics()[f'gpu_up{{uuid="{uuid}"}}']), 1)
        losses = [e for e in server.events("?kind=device_lost") if e["uuid"] == victim]
        self.assertEqual(len(losses), 1)

    # FAULT-038
    # FAULT-042
    def test_a_lost_gpu_comes_back_by_itself(self):
        server = self.daemon()
        victim = server.device(3)["uuid"]
        server.control('[[fault]]\nkind = "gpu_lost"\ngpu = 3\n')

        def state():
            return next(d for d in server.snapshot()["devices"] if d["uuid"] == victim)["state"]

        wait_until(lambda: state() == "lost", 20, what="lost")
        server.control("")
        wait_until(lambda: state() == "active", 90, every=0.5, what="return")
        wait_until(lambda: float(server.metrics().get(f'gpu_up{{uuid="{victim}"}}', 0)) == 1, 10, what="up")
        kinds = [e["kind"] for e in server.events() if e["uuid"] == victim]
        self.assertIn("device_back", kinds)

    # FAULT-042
    # FAULT-043
    def test_a_reloaded_driver_is_opened_again(self):
        server = self.daemon()
        generations = generations_of(server.snapshot())
        server.control('[[fault]]\nkind = "driver_reload"\n')

        def reopened():
            snapshot = server.snapshot()
            return (generations_of(snapshot) > generations and len(snapshot["devices"]) == 8
                    and all(fresh(d) for d in snapshot["devices"]))

        wait_until(reopened, 60, every=0.3, what="a new generation with fresh values")

    # FAULT-042
    def test_a_driver_that_is_loaded_after_the_daemon_started_is_found(self):
        tree = self.tree()
        base = tree.pci_device("0000:1b:00.0")
        server = self.daemon(root=tree.folder, control='[[fault]]\nkind = "init_fails"\n')
        self.assertEqual(server.source()["message"], "nvml.no_driver")
        server.control("")
        tree.nvidia_driver()
        tree.bind(base, "nvidia")
        wait_until(lambda: server.snapshot()["devices"], 90, every=0.5, what="the device")

    # FAULT-043
    def test_a_version_mismatch_is_told_with_what_to_do(self):
        server = self.daemon(control='[[fault]]\nkind = "version_mismatch"\n')
        self.assertEqual(server.source()["message"], "nvml.version_mismatch")
        self.assertIn("reboot", server.source()["text"]["en"])

    def test_identity_is_the_uuid_when_the_order_changes(self):
        server = self.daemon()
        before = {d["uuid"]: d["pci"] for d in server.snapshot()["devices"]}
        server.control('[[fault]]\nkind = "index_order"\n\n[[fault]]\nkind = "driver_reload"\n')
        first = server.device(0)["uuid"]

        def reordered():
            devices = server.snapshot()["devices"]
            index = {d["uuid"]: d["index"] for d in devices}
            return len(devices) == 8 and all(map(fresh, devices)) and index.get(first) not in (0, None)
        wait_until(reordered, 60, every=0.3, what="another order")
        after = {d["uuid"]: d["pci"] for d in server.snapshot()["devices"]}
        self.assertEqual(before, after)

    # FAULT-038
    def test_a_fault_is_logged_once_not_each_tick(self):
        server = self.daemon()
        server.control('[[fault]]\nkind = "gpu_lost"\ngpu = 1\n')
        wait_until(lambda: any(d["state"] == "lost" for d in server.snapshot()["devices"]), 20, what="lost")
        size = len(server.log().splitlines())
        time.sleep(5)
        self.assertLessEqual(len(server.log().splitlines()) - size, 4, server.log())


class Nonsense(Case):
    def value_fault(self, function, field, value, gpu=0):
        return (f'[[fault]]\nkind = "value"\nfunction = "{function}"\nfield = "{field}"\n'
                f"gpu = {gpu}\nvalue = {value}\n\n")

    # FAULT-010
    def test_an_impossible_utilisation_is_dropped_and_counted_never_clamped(self):
        server = self.daemon()
        before = of_self(server.snapshot(), "gpusight_implausible_readings_total")
        server.control(self.value_fault("nvmlDeviceGetUtilizationRates", "gpu", 808334905) +
                       '[[fault]]\nkind = "return"\nfunction = "nvmlDeviceGetSamples"\n'
                       'gpu = 0\ncode = "NOT_SUPPORTED"\n')

        def dropped():
            snapshot = server.snapshot()
            counted = of_self(snapshot, "gpusight_implausible_readings_total")
            return counted > before and not fresh(snapshot["devices"][0])
        wait_until(dropped, 10, what="the drop")
        device = server.device(0)
        value = device["metrics"]["gpu_utilization_ratio"]
        self.assertTrue(value is None or 0 <= value <= 1)
        self.assertNotIn(f'gpu_utilization_ratio{{uuid="{device["uuid"]}"}}', server.metrics())
        self.assertTrue(fresh(server.device(1)))

    # FAULT-024
    def test_a_sensor_that_reads_255_degrees_is_absent(self):
        server = self.daemon(control='[[fault]]\nkind = "value"\nfunction = "nvmlDeviceGetTemperature*"\n'
                                     "gpu = 0\nvalue = 255\n")
        device = server.device(0)
        self.assertIsNone(device["metrics"]["gpu_temperature_celsius"])
        self.assertEqual(device["reasons"]["gpu_temperature_celsius"], "implausible")

    # FAULT-006
    def test_process_memory_that_the_driver_does_not_know_is_null_not_a_huge_number(self):
        server = self.daemon(control='[[fault]]\nkind = "process_memory_unavailable"\n')
        wait_until(lambda: server.snapshot(local=True)["devices"][0]["users"], 10, what="processes")
        device = server.snapshot(local=True)["devices"][0]
        for user in device["users"]:
            self.assertIsNone(user["memory_bytes"])
        for process in device["processes"] or ():
            self.assertIsNone(process["memory_bytes"])
        self.assertNotIn("1844674407", server.get("/metrics").text)

    # FAULT-071
    # FAULT-130
    def test_names_with_broken_bytes_and_escapes_are_made_harmless_everywhere(self):
        server = self.daemon(control="[[fault]]\nkind = \"name_bytes\"\ngpu = 0\n"
                                     "bytes = 'GPU \\xff\\xfe\\x1b[31m\\x0a\"<b>'\n")
        name = server.device(0)["name"]
        for character in name:
            self.assertTrue(character.isprintable(), repr(name))
        self.assertIn("GPU", name)
        text = server.get("/metrics").text  # decodes as UTF-8
        info = [line for line in text.splitlines() if line.startswith("gpu_info{")]
        self.assertEqual(len(info), 8)
        self.assertNotIn("\x1b", text)

    def test_a_process_that_went_between_two_readings_is_no_trouble(self):
        server = self.daemon(control='[[fault]]\nkind = "process_gone"\n')
        wait_until(lambda: server.snapshot()["sequence"] > 3, 10, what="three ticks")
        device = server.device(0)
        self.assertEqual(device["state"], "active")
        self.assertTrue(fresh(device))
        self.assertIsNotNone(device["metrics"]["gpu_processes"])

    # FAULT-093
    def test_a_process_that_ended_leaves_every_view(self):
        path = f"{self.folder}/short.toml"
        with open(path, "w", encoding="ascii") as file:
            file.write('[[gpu]]\nboard = "h100-sxm-80gb"\n[[process]]\npid = 2900001\nuntil = 8\n')
        server = self.daemon(scenario=path)
        wait_until(lambda: server.device(0)["users"], 7, what="the process")
        wait_until(lambda: not server.device(0)["users"], 15, what="its end")
        self.assertEqual(server.device(0)["metrics"]["gpu_processes"], 0)
        self.assertNotIn("2900001", server.get("/metrics").text)

    # FAULT-003
    # FAULT-052
    def test_a_list_that_never_fits_is_given_up_not_tried_for_ever(self):
        server = self.daemon(control='[[fault]]\nkind = "insufficient_size"\n')
        time.sleep(3)
        snapshot = server.snapshot()
        self.assertEqual(len(snapshot["devices"]), 8)
        self.assertTrue(fresh(snapshot["devices"][0]))
        calls = server.counts()
        per_tick = sum(n for (name, gpu), n in calls.items() if "RunningProcesses" in name and gpu == "0")
        self.assertLess(per_tick / max(snapshot["sequence"], 1), 40)

    # FAULT-097
    def test_one_unsupported_metric_takes_nothing_else_along(self):
        server = self.daemon(control='[[fault]]\nkind = "return"\nfunction = "nvmlDeviceGetMemoryInfo*"\n'
                                     'gpu = 0\ncode = "NOT_SUPPORTED"\n')
        device = server.device(0)
        self.assertIsNone(device["metrics"]["gpu_memory_used_bytes"])
        self.assertEqual(device["reasons"]["gpu_memory_used_bytes"], "not_supported")
        self.assertTrue(fresh(device))
        self.assertIsNotNone(server.device(1)["metrics"]["gpu_memory_used_bytes"])

    # FAULT-014
    def test_a_call_that_fails_gives_no_zero(self):
        server = self.daemon(control='[[fault]]\nkind = "return"\nfunction = "nvmlDeviceGetPower*"\n'
                                     'gpu = 0\ncode = "UNKNOWN"\n')
        device = server.device(0)
        self.assertNotEqual(device["metrics"]["gpu_power_average_watts"], 0)

    # FAULT-012
    def test_an_xid_is_counted_and_kept_as_an_event(self):
        server = self.daemon()
        victim = server.device(4)["uuid"]
        for number, expected in ((1, 1), (2, 2)):
            server.control(f'[[fault]]\nkind = "xid"\ngpu = 4\ncode = 31\nid = {number}\n')
            wait_until(lambda: float(server.metrics()[f'gpu_xid_errors_total{{uuid="{victim}"}}']) == expected,
                       10, what=f"count {expected}")
        events = [e for e in server.events("?kind=xid") if e["uuid"] == victim]
        self.assertEqual([e["code"] for e in events], [31, 31])


if __name__ == "__main__":
    main()
