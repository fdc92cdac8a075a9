"""/metrics under the names of other exporters, from the real binary on simulated machines.

GPUSIGHT_UPDATE_GOLDEN=1 writes golden/names.*.txt anew: which families there are, and with which labels.
"""

import os
import re
import unittest

from harness import Case, Daemon, OLD_SIM_LIBRARY, main, wait_until

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
SETS = ("dcgm", "dcgm46", "nvidia_smi")
OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def read(text):
    """{family: [(labels, number)]}; labels in the order of the text. A series twice is an error."""
    families, seen = {}, set()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        series, number = line.rsplit(" ", 1)
        assert series not in seen, series
        seen.add(series)
        name, _, labels = series.partition("{")
        families.setdefault(name, []).append((dict(LABEL.findall(labels)), float(number)))
    return families


class Machine(Case):
    """One daemon for all questions that change nothing."""

    scenario = ""

    @classmethod
    def setUpClass(cls):
        if not cls.scenario:
            raise unittest.SkipTest("a base class")
        cls.server = Daemon(scenario=cls.scenario)
        try:
            # The slow lane has come round, and what needs two readings has them.
            wait_until(cls.is_settled, 40, 0.25, "every reading")
        except BaseException:
            cls.server.kill()
            raise

    @classmethod
    def tearDownClass(cls):
        if cls.scenario:
            cls.server.kill()

    @classmethod
    def is_settled(cls):
        devices = cls.server.snapshot()["devices"]
        of_boards = ("gpu_power_watts", "gpu_mig_mode", "gpu_ecc_mode", "gpu_compute_mode",
                     "gpu_ecc_aggregate_corrected_errors_total")
        return bool(devices) and all(
            device["metrics"].get(name) is not None for device in devices
            for name in ("gpu_tensor_activity_ratio", *(of_boards if device["kind"] == "gpu" else ())))

    def families(self, names, local=False):
        answer = (self.server.get_local if local else self.server.get)("/metrics?names=" + names)
        self.assertEqual(answer.status, 200)
        return read(answer.text)


class Partitioned(Machine):
    scenario = "h100-mig"

    def test_which_series_there_are_is_the_golden_list(self):
        for names in SETS:
            lines = set()
            for family, samples in self.families(names).items():
                lines |= {f"{family}{{{','.join(labels)}}}" for labels, _ in samples}
            text = "\n".join(sorted(lines)) + "\n"
            path = os.path.join(GOLDEN, f"names.{self.scenario}.{names}.txt")
            if os.environ.get("GPUSIGHT_UPDATE_GOLDEN"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(text, file.read(), f"{names}: GPUSIGHT_UPDATE_GOLDEN=1 writes it anew")

    # FAULT-015
    # FAULT-027
    def test_gpu_instances_stand_under_their_board_and_its_energy_once(self):
        snapshot = self.server.snapshot()["devices"]
        instances = {str(d["gpu_instance"]): d["profile"] for d in snapshot if d["kind"] == "mig"}
        boards = [d for d in snapshot if d["kind"] == "gpu"]
        families = self.families("dcgm")
        told = {labels["GPU_I_ID"]: labels["GPU_I_PROFILE"]
                for labels, _ in families["DCGM_FI_DEV_FB_USED"] if "GPU_I_ID" in labels}
        self.assertEqual(told, instances)
        for labels, _ in families["DCGM_FI_DEV_FB_USED"]:
            self.assertIn(labels["UUID"], {d["uuid"] for d in boards})
        self.assertEqual(len(families["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]), len(boards))
        self.assertEqual(len(families["DCGM_FI_DEV_POWER_USAGE"]), len(boards))
        infos = self.families("nvidia_smi")["nvidia_smi_mig_info"]
        self.assertEqual({labels["gpu_instance_id"]: labels["profile"] for labels, _ in infos}, instances)

    def test_a_gpu_that_cannot_say_how_busy_it_is_has_no_utilisation_but_activity(self):
        families = self.families("dcgm")
        self.assertNotIn("DCGM_FI_DEV_GPU_UTIL", families)
        self.assertTrue(any("GPU_I_ID" in labels for labels, _ in families["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"]))

    # FAULT-128
    # FAULT-095
    def test_processes_are_shown_to_those_who_may_see_them(self):
        over_tcp = self.families("nvidia_smi")
        self.assertNotIn("nvidia_smi_compute_app_info", over_tcp)
        count = sum(number for _, number in over_tcp["nvidia_smi_compute_apps"])
        self.assertGreater(count, 0)
        if os.geteuid() != 0:
            return
        local = self.families("nvidia_smi", local=True)
        self.assertEqual(len(local["nvidia_smi_compute_app_info"]), count)
        used = sum(number for _, number in local["nvidia_smi_mig_memory_used_bytes"])
        held = sum(number for _, number in local["nvidia_smi_compute_app_used_memory_bytes"])
        self.assertAlmostEqual(held, used, delta=2**30)


class Whole(Machine):
    scenario = "h100-training"

    def test_the_numbers_are_the_drivers_in_the_units_of_the_exporter(self):
        dcgm, smi, own = (self.families(names) for names in ("dcgm", "nvidia_smi", "gpusight"))
        total = {labels["uuid"]: number for labels, number in own["gpu_memory_total_bytes"]}
        for labels, number in dcgm["DCGM_FI_DEV_FB_TOTAL"]:
            self.assertEqual(number * 2**20, total[labels["UUID"]])
        for labels, number in smi["nvidia_smi_memory_total_bytes"]:
            self.assertEqual(number, total["GPU-" + labels["uuid"]])
        for _, number in dcgm["DCGM_FI_DEV_SM_CLOCK"]:
            self.assertTrue(100 < number < 3000, number)
        for _, number in dcgm["DCGM_FI_DEV_GPU_UTIL"]:
            self.assertTrue(0 <= number <= 100, number)
        self.assertTrue(any(number > 1 for _, number in dcgm["DCGM_FI_DEV_GPU_UTIL"]))
        for family in ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"):
            for _, number in dcgm[family]:
                self.assertTrue(0 <= number <= 1, number)

    def test_nvlink_bandwidth_is_left_out(self):
        for names in SETS:
            for family in self.families(names):
                self.assertNotRegex(family, "NVLINK_(BANDWIDTH|THROUGHPUT)")

    def test_every_text_says_simulated(self):
        for names in SETS:
            self.assertIn("SIMULATED", self.server.get("/metrics?names=" + names).text)

    def test_names_stand_together_in_plain_text_whatever_is_preferred(self):
        answer = self.server.get("/metrics?names=gpusight,dcgm&names=nvidia_smi", OPENMETRICS)
        self.assertIn("version=0.0.4", answer.headers["content-type"])
        self.assertNotIn("# EOF", answer.text)
        families = read(answer.text)
        for family in ("gpu_power_watts", "DCGM_FI_DEV_GPU_TEMP", "nvidia_smi_temperature_gpu"):
            self.assertIn(family, families)

    def test_unknown_names_are_refused_with_those_there_are(self):
        answer = self.server.get("/metrics?names=dcgm47")
        self.assertEqual(answer.status, 400)
        self.assertIn("gpusight, dcgm, dcgm46, nvidia_smi", answer.json()["error"]["message"])

    # FAULT-091
    # FAULT-094
    def test_a_second_scrape_has_the_same_series(self):
        def series(names):
            return {f"{family}{sorted(labels.items())}"
                    for family, samples in self.families(names).items() for labels, _ in samples}

        before = {names: series(names) for names in SETS}
        sequence = self.server.snapshot()["sequence"]
        wait_until(lambda: self.server.snapshot()["sequence"] > sequence + 1, 10, what="two ticks")
        for names in SETS:
            self.assertFalse(series(names) ^ before[names])


class Options(Case):
    def test_the_usual_names_are_configured(self):
        server = self.daemon("--metrics-names", "dcgm,nvidia_smi")
        families = read(server.get("/metrics").text)
        self.assertIn("DCGM_FI_DEV_GPU_TEMP", families)
        self.assertIn("nvidia_smi_temperature_gpu", families)
        self.assertNotIn("gpu_power_watts", families)
        self.assertIn("gpu_power_watts", read(server.get("/metrics?names=gpusight").text))

    # FAULT-090
    def test_an_old_driver_calls_the_reasons_as_it_did(self):
        server = self.daemon(scenario="driver-470", nvml=OLD_SIM_LIBRARY)

        def families():
            return read(server.get("/metrics?names=nvidia_smi").text)

        wait_until(lambda: "nvidia_smi_clocks_throttle_reasons_gpu_idle" in families(), 10, what="a first reading")
        self.assertNotIn("nvidia_smi_clocks_event_reasons_gpu_idle", families())

    # FAULT-012
    # FAULT-041
    def test_an_xid_is_named_and_a_lost_gpu_leaves_the_list(self):
        server = self.daemon()
        victim = server.device(6)["uuid"]
        server.control('[[fault]]\nkind = "xid"\ncode = 79\ngpu = 6\n')

        def xid():
            last = read(server.get("/metrics?names=dcgm").text)["DCGM_FI_DEV_XID_ERRORS"]
            return [labels for labels, number in last if number == 79 and labels["UUID"] == victim]

        labels = wait_until(xid, 20, what="the XID")[0]
        self.assertEqual((labels["err_code"], labels["err_msg"]), ("79", "gpu has fallen off the bus"))
        server.control('[[fault]]\nkind = "gpu_lost"\ngpu = 6\n')
        uuid = victim.removeprefix("GPU-").lower()

        def listed():
            infos = read(server.get("/metrics?names=nvidia_smi").text)["nvidia_smi_gpu_info"]
            return {labels["uuid"] for labels, _ in infos}

        wait_until(lambda: uuid not in listed(), 30, what="the end of the lost GPU")
        counted = read(server.get("/metrics?names=nvidia_smi").text)["nvidia_smi_xid_errors_total"]
        self.assertIn(({"uuid": uuid, "xid": "79"}, 1.0), counted)


if __name__ == "__main__":
    main()
