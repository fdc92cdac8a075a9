"""gpusight release: every device is let go of, and taken back."""

import os
import shutil
import tempfile

from harness import API, Case, generations_of, main, of_self, read_counts, run, wait_until


def open_devices(pid, folder):
    """What the process holds open in the folder of the simulated driver's device files."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            continue
        if target.startswith(folder + "/"):
            found.append(os.path.basename(target))
    return sorted(found)


def totals(counts):
    """Calls by function, whatever GPU they were about."""
    sums = {}
    for (function, _), number in counts.items():
        sums[function] = sums.get(function, 0) + number
    return sums


class Release(Case):
    def setUp(self):
        super().setUp()
        self.devices = tempfile.mkdtemp(prefix="gpusight-e2e-dev-")
        self.addCleanup(shutil.rmtree, self.devices)

    def holding_daemon(self, **options):
        return self.daemon(environment={"GPUSIGHT_SIM_DEVICE_FILES": self.devices}, **options)

    def release(self, server, *arguments, **options):
        return run("release", "--socket", server.socket_path, *arguments, **options)

    # FAULT-101
    def test_no_device_file_is_open_until_the_end(self):
        server = self.holding_daemon()
        pid = server.process.pid
        self.assertEqual(len(open_devices(pid, self.devices)), 9)
        done = self.release(server, "--for", "1h")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("every GPU is let go of until", done.stdout)
        self.assertEqual(open_devices(pid, self.devices), [])
        calls = totals(read_counts(server.counts_path))  # written by the last nvmlShutdown
        self.assertEqual((calls["nvmlInit_v2"], calls["nvmlShutdown"]), (1, 1))

        document = server.snapshot()
        self.assertEqual({d["state"] for d in document["devices"]}, {"released"})
        device = document["devices"][0]
        self.assertEqual(device["reasons"]["gpu_power_watts"], "disabled")
        self.assertEqual(server.source()["phase"], "released")
        self.assertEqual(server.source()["message"], "source.released")
        self.assertEqual(of_self(document, "gpusight_released"), 1)
        metrics = server.metrics()
        self.assertEqual(float(metrics['gpusight_released{source="nvml"}']), 1)
        self.assertFalse([name for name in metrics if name.startswith("gpu_up")])
        self.assertIn("host_uptime_seconds", metrics)  # the machine is read on
        self.assertIn("released", run("status", "--socket", server.socket_path).stdout)
        kinds = [event["kind"] for event in server.events()]
        self.assertEqual(kinds.count("device_released"), 8)

        done = self.release(server, "--end")
        self.assertEqual((done.returncode, done.stdout), (0, "the GPUs are read again\n"))
        wait_until(lambda: server.device()["state"] == "active", 10, what="the devices")
        self.assertEqual(len(open_devices(pid, self.devices)), 9)
        self.assertEqual(generations_of(server.snapshot()), 2)
        self.assertNotIn("device_lost", [event["kind"] for event in server.events()])

    # FAULT-101
    def test_they_come_back_by_themselves(self):
        server = self.holding_daemon()
        self.assertEqual(self.release(server, "--for", "3s").returncode, 0)
        wait_until(lambda: server.device()["state"] == "active", 20, what="the devices")
        self.assertEqual(server.source()["phase"], "running")

    # FAULT-101
    def test_a_call_that_does_not_return_is_said_and_the_rest_follows_when_it_does(self):
        server = self.holding_daemon()
        server.control('[[fault]]\nkind = "block"\ngpu = 1\nforever = true\n')
        wait_until(lambda: server.device(1)["state"] == "busy", 15, what="busy")
        done = self.release(server, "--for", "1h")
        self.assertEqual(done.returncode, 1)
        self.assertIn("still held: the driver has not answered for", done.stderr)
        self.assertEqual(len(open_devices(server.process.pid, self.devices)), 9)
        server.control("")
        wait_until(lambda: not open_devices(server.process.pid, self.devices), 20, what="the end of the call")
        wait_until(lambda: server.source()["phase"] == "released", 5, what="the word of it")

    # FAULT-101
    # FAULT-133
    def test_others_may_not_and_a_browser_may_not(self):
        server = self.holding_daemon()
        self.assertEqual(server.post(API + "release?for=60", {}).status, 403)
        self.assertEqual(server.get(API + "release").status, 405)
        wait_until(server.has_read, 10, what="a reading")
        self.assertEqual(server.source()["phase"], "running")
        if os.geteuid() == 0:
            for folder in (server.folder, self.folder):
                os.chmod(folder, 0o755)
            done = self.release(server, folder=self.folder, preexec=lambda: os.setuid(65534))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("only root and the daemon's own user", done.stderr)
            self.assertEqual(len(open_devices(server.process.pid, self.devices)), 9)

    def test_what_is_wrong_with_the_command_is_said(self):
        done = run("release", "--socket", "/nonexistent/gpusight.sock")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no daemon answers at /nonexistent/gpusight.sock", done.stderr)
        done = run("release", "--lang", "zh", "--socket", "/nonexistent/gpusight.sock")
        self.assertIn("没有守护进程应答", done.stderr)
        for arguments in (("--for", "2d"), ("--for", "0s"), ("--end", "18:00"), ("--end", "--for", "1m")):
            self.assertEqual(run("release", *arguments).returncode, 2, arguments)

    # FAULT-101
    def test_nothing_is_opened_for_a_release_that_finds_no_gpu(self):
        server = self.holding_daemon(control='[[fault]]\nkind = "init_fails"\ncode = "DRIVER_NOT_LOADED"\n')
        done = self.release(server, "--for", "1h")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no GPU is held", done.stdout)


class SwitchedOff(Case):
    # FAULT-088
    def test_a_metric_that_is_switched_off_is_absent_and_its_calls_are_not_made(self):
        server = self.daemon("--disable-metrics", "activity,gpu_nvlink_*,gpu_pcie_*_mean_*,gpu_processes", "--interval", "200ms")
        wait_until(server.has_read, 10, what="a reading")
        device = server.device()
        for metric in ("gpu_sm_activity_ratio", "gpu_nvlink_state", "gpu_processes"):
            self.assertIsNone(device["metrics"][metric], metric)
            self.assertEqual(device["reasons"][metric], "disabled", metric)
        self.assertIsNone(device["processes"])
        self.assertEqual(device["processes_reason"], "disabled")
        self.assertIsNotNone(device["metrics"]["gpu_power_watts"])
        self.assertFalse([s for s in server.metrics() if s.startswith(("gpu_nvlink_", "gpu_sm_"))])
        calls = totals(server.counts())
        for name in ("nvmlGpmSampleGet", "nvmlGpmMetricsGet", "nvmlDeviceGetComputeRunningProcesses_v3",
                     "nvmlDeviceGetProcessesUtilizationInfo", "nvmlDeviceGetNvLinkErrorCounter"):
            self.assertEqual(calls.get(name, 0), 0, name)
        self.assertGreater(calls["nvmlDeviceGetFieldValues"], 0)

    # FAULT-088
    def test_a_name_that_means_nothing_is_refused_at_the_start(self):
        done = run("serve", "--disable-metrics", "gpu_nvlnk_*")
        self.assertEqual(done.returncode, 2)
        self.assertIn("gpu_nvlnk_*", done.stderr)
        self.assertIn("utilization, activity, memory", done.stderr)
        done = run("serve", "--disable-metrics", "gpu_up")
        self.assertEqual(done.returncode, 2)
        self.assertIn("gpu_up cannot be switched off", done.stderr)


if __name__ == "__main__":
    main()
