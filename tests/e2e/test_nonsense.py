"""A driver that says what cannot be."""

import time

from harness import Case, fresh, main, of_self, wait_until


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

    # FAULT-014
    # FAULT-023
    def test_activity_of_nothing_on_a_busy_gpu_is_in_doubt_and_no_watts_are_no_reading(self):
        server = self.daemon(scenario="fault-doubtful")
        uuids = [device["uuid"] for device in server.snapshot()["devices"]]

        def in_doubt(gpu):
            series = f'gpu_reading_suspect{{uuid="{uuids[gpu]}",reading="activity"}}'
            return server.metrics().get(series)
        wait_until(lambda: in_doubt(0) == "1", 60, what="the doubt")
        self.assertEqual(in_doubt(3), "0")
        device = server.device(2)
        for absent in ("gpu_power_average_watts", "gpu_power_instant_watts"):
            self.assertIsNone(device["metrics"][absent])
            self.assertEqual(device["reasons"][absent], "implausible")

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
