"""No GPU: which of the reasons it is, told apart on trees of files, and nobody woken."""

import os
import struct

from harness import Case, OLD_SIM_LIBRARY, SIM_LIBRARY, main, read_counts, run, status, wait_until


def elf(bits=64, machine=62):
    """The first bytes of a shared library for some processor: class, little endian, ET_DYN."""
    head = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    head += struct.pack("<HHI", 3, machine, 1)
    return head + bytes(64 if bits == 64 else 52)


def source(document, name="nvml"):
    return next(s for s in document["sources"] if s["name"] == name)


class Reasons(Case):
    def reason(self, tree, **options):
        document = status(root=tree.folder, **options)
        self.assertEqual(document["devices"], [])
        found = source(document)
        self.assertTrue(found["text"]["en"] and found["text"]["zh"])
        return found["message"], found["text"]["en"]

    # FAULT-072
    # FAULT-125
    def test_nothing_on_the_bus(self):
        self.assertEqual(self.reason(self.tree())[0], "nvml.nothing_on_bus")

    def test_another_vendors_gpu_is_not_an_nvidia_gpu(self):
        tree = self.tree()
        tree.pci_device(vendor="0x1002", driver="amdgpu")
        self.assertEqual(self.reason(tree)[0], "nvml.nothing_on_bus")

    # FAULT-072
    # FAULT-125
    def test_a_gpu_without_driver(self):
        tree = self.tree()
        tree.pci_device("0000:01:00.0")
        message, text = self.reason(tree)
        self.assertEqual(message, "nvml.no_driver")
        self.assertIn("0000:01:00.0", text)

    # FAULT-125
    def test_a_gpu_held_by_another_driver(self):
        for driver in ("nouveau", "vfio-pci"):
            tree = self.tree(driver)
            tree.pci_device("0000:01:00.0", driver=driver)
            message, text = self.reason(tree)
            self.assertEqual(message, "nvml.other_driver")
            self.assertIn(driver, text)

    # FAULT-072
    # FAULT-125
    def test_the_library_is_missing(self):
        tree = self.tree()
        tree.pci_device(driver="nvidia")
        tree.nvidia_driver()
        message, text = self.reason(tree, nvml=os.path.join(self.folder, "none", "libnvidia-ml.so.1"))
        self.assertEqual(message, "nvml.library_missing")
        self.assertIn("libnvidia-ml.so.1", text)

    # FAULT-125
    def test_the_library_is_for_another_processor(self):
        for name, content in (("i386", elf(32, 3)), ("aarch64", elf(64, 183))):
            tree = self.tree(name)
            tree.pci_device(driver="nvidia")
            tree.nvidia_driver()
            library = tree.write("usr/lib/libnvidia-ml.so.1", content)
            os.chmod(library, 0o644)
            message, text = self.reason(tree, nvml=library)
            self.assertEqual(message, "nvml.wrong_architecture", text)
            self.assertIn(library, text)

    # FAULT-125
    def test_the_library_is_garbage(self):
        for name, content in (("empty", b""), ("text", b"not a library\n"), ("cut", elf()[:20])):
            tree = self.tree(name)
            tree.pci_device(driver="nvidia")
            tree.nvidia_driver()
            library = tree.write("usr/lib/libnvidia-ml.so.1", content)
            os.chmod(library, 0o644)
            self.assertEqual(self.reason(tree, nvml=library)[0], "nvml.library_unusable", name)

    # FAULT-134
    def test_as_root_a_library_that_others_may_write_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("only as root")
        tree = self.tree()
        tree.pci_device(driver="nvidia")
        tree.nvidia_driver()
        with open(SIM_LIBRARY, "rb") as file:
            library = tree.write("usr/lib/libnvidia-ml.so.1", file.read())
        os.chmod(library, 0o666)
        self.assertEqual(self.reason(tree, nvml=library)[0], "nvml.library_untrusted")

    # FAULT-043
    def test_the_driver_was_upgraded_under_the_library(self):
        tree = self.tree()
        tree.pci_device(driver="nvidia")
        tree.nvidia_driver("570.124.06")
        message, text = self.reason(tree, nvml=SIM_LIBRARY,
                                    control='[[fault]]\nkind = "version_mismatch"\n')
        self.assertEqual(message, "nvml.version_mismatch")
        self.assertIn("570.124.06", text)

    # FAULT-058
    def test_no_permission(self):
        tree = self.tree()
        tree.pci_device(driver="nvidia")
        tree.nvidia_driver()
        message, _ = self.reason(tree, nvml=SIM_LIBRARY,
                                 control='[[fault]]\nkind = "init_fails"\ncode = "NO_PERMISSION"\n')
        self.assertEqual(message, "nvml.no_permission")

    def test_any_other_code_is_shown_by_its_name(self):
        tree = self.tree()
        tree.pci_device(driver="nvidia")
        tree.nvidia_driver()
        message, text = self.reason(tree, nvml=SIM_LIBRARY,
                                    control='[[fault]]\nkind = "init_fails"\ncode = "MEMORY"\n')
        self.assertEqual(message, "nvml.init_failed")
        self.assertNotIn("{0}", text)

    # FAULT-079
    # FAULT-087
    def test_when_all_sleep_not_one_call_is_made(self):
        tree = self.tree()
        tree.pci_device("0000:01:00.0", driver="nvidia", runtime_status="suspended")
        tree.pci_device("0000:02:00.0", driver="nvidia", runtime_status="suspended")
        tree.nvidia_driver()
        counts = os.path.join(self.folder, "counts.tsv")
        document = status(root=tree.folder, nvml=SIM_LIBRARY, counts=counts)
        self.assertEqual(source(document)["message"], "nvml.all_asleep")
        self.assertEqual(source(document)["phase"], "asleep")
        self.assertEqual([d["state"] for d in document["devices"]], ["asleep", "asleep"])
        self.assertEqual({d["pci"] for d in document["devices"]}, {"0000:01:00.0", "0000:02:00.0"})
        for device in document["devices"]:
            self.assertIsNone(device["metrics"]["gpu_power_watts"])
            self.assertEqual(device["reasons"]["gpu_power_watts"], "asleep")
        calls = read_counts(counts) if os.path.exists(counts) else {}
        self.assertEqual({k: v for k, v in calls.items() if not k[0].startswith("open-")}, {})

    # FAULT-079
    def test_the_daemon_wakes_nobody_either_while_it_runs(self):
        tree = self.tree()
        base = tree.pci_device("0000:01:00.0", driver="nvidia", runtime_status="suspended")
        tree.nvidia_driver()
        server = self.daemon(root=tree.folder)
        first = server.snapshot()["sequence"]
        wait_until(lambda: server.snapshot()["sequence"] >= first + 4, 15, what="four ticks")
        self.assertEqual(server.device()["state"], "asleep")
        self.assertFalse(os.path.exists(server.counts_path), "the library was called")
        self.assertEqual(float(server.metrics()["gpu_asleep{uuid=\"%s\"}" % server.device()["uuid"]]), 1)
        # It wakes up by itself: now it is read.
        with open(os.path.join(tree.folder, base, "power/runtime_status"), "w", encoding="ascii") as file:
            file.write("active\n")
        wait_until(lambda: any(d["state"] == "active" for d in server.snapshot()["devices"]), 20,
                   what="a device that is awake")


class Drivers(Case):
    # FAULT-044
    # FAULT-045
    def test_an_old_driver_without_the_newer_symbols_works(self):
        document = status("--settle", nvml=OLD_SIM_LIBRARY)
        self.assertEqual(len(document["devices"]), 8)
        device = document["devices"][0]
        self.assertGreater(device["metrics"]["gpu_memory_used_bytes"], 0)
        self.assertIsNotNone(device["metrics"]["gpu_utilization_ratio"])
        self.assertEqual(device["driver"].split(".")[0], "470")
        self.assertGreater(device["metrics"]["gpu_processes"], 0)

    # FAULT-004
    def test_used_memory_leaves_out_what_the_driver_reserves(self):
        document = status(nvml=SIM_LIBRARY)
        metrics = document["devices"][0]["metrics"]
        self.assertGreater(metrics["gpu_memory_reserved_bytes"], 0)
        self.assertEqual(metrics["gpu_memory_used_bytes"] + metrics["gpu_memory_free_bytes"] +
                         metrics["gpu_memory_reserved_bytes"], metrics["gpu_memory_total_bytes"])

    # FAULT-015
    # FAULT-027
    # FAULT-065
    def test_mig_devices_are_listed_below_their_gpu_without_its_board_readings(self):
        document = status("--settle", nvml=SIM_LIBRARY, scenario="a100-mig")
        instances = [d for d in document["devices"] if d["kind"] == "mig"]
        parents = {d["uuid"]: d for d in document["devices"] if d["kind"] == "gpu"}
        self.assertEqual(len(parents), 2)
        self.assertEqual([d["profile"] for d in instances], ["3g.20gb", "2g.10gb", "1g.5gb"])
        for device in instances:
            self.assertIn(device["parent"], parents)
            self.assertIsNotNone(device["metrics"]["gpu_memory_used_bytes"])
            for name in ("gpu_energy_joules_total", "gpu_power_watts", "gpu_temperature_celsius"):
                self.assertIsNone(device["metrics"][name], name)
            self.assertIsNone(device["metrics"]["gpu_utilization_ratio"])
            self.assertIn("gpu_utilization_ratio", device["reasons"])

    def test_what_the_table_says_without_a_gpu(self):
        tree = self.tree()
        done = run("status", root=tree.folder)
        self.assertIn("no NVIDIA device on the PCI bus", done.stdout + done.stderr)
        self.assertIn("gpusight sim", done.stdout + done.stderr)


if __name__ == "__main__":
    main()
