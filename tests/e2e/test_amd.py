"""AMD GPUs by the files of their driver: what the program shows of them, and that it wakes none."""

import ctypes
import os
import struct
import time

from harness import Case, main, run, status, wait_until

IN_OPEN = 0x20


class OpenWatch:
    """Which files of a folder were opened, by the kernel's own account."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.names = {}
        for path, _, _ in os.walk(folder):
            watch = self.libc.inotify_add_watch(self.fd, path.encode(), IN_OPEN)
            self.names[watch] = os.path.relpath(path, folder)

    def opened(self):
        seen = set()
        while True:
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                return seen
            at = 0
            while at < len(data):
                watch, mask, _, length = struct.unpack_from("iIII", data, at)
                name = data[at + 16:at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length
                is_folder = mask & 0x40000000
                if name and not is_folder:
                    seen.add(os.path.normpath(os.path.join(self.names[watch], name)))

    def close(self):
        os.close(self.fd)


def table_v1_3():
    """gpu_metrics 1.3 that knows the regulator of the graphics part and no more."""
    data = bytearray(b"\xff" * 120)
    struct.pack_into("<HBB", data, 0, 120, 1, 3)
    struct.pack_into("<H", data, 10, 44)
    return bytes(data)


def add_gpu(tree, card=0, status_word="active"):
    address = f"0000:{card + 3:02x}:00.0"
    base = f"sys/devices/pci0000:00/0000:00:01.0/{address}"
    files = {
        "uevent": f"DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME={address}\n",
        "revision": "0xc8\n", "unique_id": f"00c0ffee0000000{card}\n",
        "power/runtime_status": status_word + "\n", "power/control": "auto\n",
        "power/autosuspend_delay_ms": "5000\n",
        "gpu_busy_percent": "65\n", "mem_info_vram_used": "4000000000\n",
        "mem_info_vram_total": "24000000000\n", "gpu_metrics": table_v1_3(),
        f"drm/renderD{128 + card}/dev": "226:128\n", f"drm/card{card}/dev": "226:0\n",
        "hwmon/hwmon3/name": "amdgpu\n", "hwmon/hwmon3/temp1_label": "edge\n",
        "hwmon/hwmon3/temp1_input": "53000\n", "hwmon/hwmon3/power1_average": "68000000\n",
        "hwmon/hwmon3/power1_cap": "290000000\n",
    }
    for name, content in files.items():
        tree.write(f"{base}/{name}", content)
    folder = os.path.join(tree.folder, base)
    os.symlink("../../../" + address, os.path.join(folder, "drm", f"card{card}", "device"))
    links = (("sys/bus/pci/devices", address, f"../../../devices/pci0000:00/0000:00:01.0/{address}"),
             ("sys/class/drm", f"card{card}",
              f"../../devices/pci0000:00/0000:00:01.0/{address}/drm/card{card}"))
    for place, name, target in links:
        os.makedirs(os.path.join(tree.folder, place), exist_ok=True)
        os.symlink(target, os.path.join(tree.folder, place, name))
    return folder


def gpus(server):
    """Those of AMD: the daemon under test sees the simulated ones of NVIDIA beside them."""
    return [d for d in server.snapshot()["devices"] if d["vendor"] == "amd"]


class Amd(Case):
    def test_a_board_is_shown_with_its_readings(self):
        tree = self.tree()
        add_gpu(tree)
        tree.write("usr/share/libdrm/amdgpu.ids", "744C,\tC8,\tAMD Radeon RX 7900 XTX\n")
        device = status(root=tree.folder)["devices"][0]
        self.assertEqual(device["uuid"], "GPU-00c0ffee00000000")
        self.assertEqual(device["name"], "AMD Radeon RX 7900 XTX")
        self.assertEqual(device["vendor"], "amd")
        metrics = device["metrics"]
        self.assertEqual(metrics["gpu_utilization_ratio"], 0.65)
        self.assertEqual(metrics["gpu_memory_used_bytes"], 4000000000)
        self.assertEqual(metrics["gpu_power_watts"], 68)
        self.assertEqual(metrics["gpu_power_limit_watts"], 290)
        self.assertEqual(metrics["gpu_sensor_temperature_celsius"], {"vr_gfx": 44})
        self.assertIsNone(metrics["gpu_hotspot_temperature_celsius"])
        self.assertEqual(device["reasons"]["gpu_hotspot_temperature_celsius"], "not_supported")
        table = run("status", root=tree.folder).stdout
        self.assertIn("RX 7900 XTX", table)
        self.assertIn("68/290 W", table)

    # FAULT-079
    # FAULT-087
    def test_of_a_sleeping_gpu_nothing_is_opened_that_could_wake_it(self):
        tree = self.tree()
        sleeper = add_gpu(tree, 0, "suspended")
        add_gpu(tree, 1)
        watch = OpenWatch(sleeper)
        self.addCleanup(watch.close)
        server = self.daemon(root=tree.folder)
        first = server.snapshot()["sequence"]
        wait_until(lambda: server.snapshot()["sequence"] >= first + 4, 15, what="four ticks")
        states = {d["pci"]: d["state"] for d in gpus(server)}
        self.assertEqual(states, {"0000:03:00.0": "asleep", "0000:04:00.0": "active"})
        opened = watch.opened()
        self.assertIn("power/runtime_status", opened)
        self.assertEqual(opened - {"power/runtime_status", "uevent"}, set())
        # Once it woke up by itself it is read, under its own number.
        with open(os.path.join(sleeper, "power/runtime_status"), "w", encoding="ascii") as file:
            file.write("active\n")
        wait_until(lambda: "GPU-00c0ffee00000000" in {d["uuid"] for d in gpus(server)},
                   10, what="the device that woke up")
        self.assertIn("gpu_busy_percent", watch.opened())

    # FAULT-079
    def test_an_idle_gpu_is_left_alone_until_it_sleeps(self):
        tree = self.tree()
        folder = add_gpu(tree)
        for name, text in (("gpu_busy_percent", "0\n"), ("power/autosuspend_delay_ms", "1000\n")):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        server = self.daemon(root=tree.folder)
        wait_until(lambda: [d["state"] for d in gpus(server)] == ["asleep"], 20,
                   what="the GPU to be let go of")
        with open(os.path.join(folder, "power/runtime_status"), "w", encoding="ascii") as file:
            file.write("suspended\n")
        watch = OpenWatch(folder)
        self.addCleanup(watch.close)
        time.sleep(3)
        self.assertEqual(watch.opened() - {"power/runtime_status", "uevent"}, set())

    # FAULT-038
    def test_a_gpu_that_is_gone_is_lost_and_the_other_goes_on(self):
        tree = self.tree()
        add_gpu(tree, 0)
        add_gpu(tree, 1)
        server = self.daemon(root=tree.folder)
        wait_until(lambda: len(gpus(server)) == 2, 10, what="both GPUs")
        os.rename(os.path.join(tree.folder, "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0"),
                  os.path.join(tree.folder, "gone"))

        def states():
            return {d["uuid"]: d["state"] for d in gpus(server)}
        wait_until(lambda: states() == {"GPU-00c0ffee00000000": "lost", "GPU-00c0ffee00000001": "active"},
                   20, what="the first to be lost")


if __name__ == "__main__":
    main()
