"""GPUs and drivers that go, and come back."""

import time

from harness import Case, fresh, generations_of, main, wait_until


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


if __name__ == "__main__":
    main()
