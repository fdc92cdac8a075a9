"""Calls into the driver that do not come back: everybody else goes on."""

import time

from harness import API, Case, fresh, main, wait_until


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


if __name__ == "__main__":
    main()
