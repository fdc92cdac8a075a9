"""What a process tells of itself by the Python module, on the socket of a running daemon, in its own row."""

import json
import os
import sys
import types

from harness import API, Case, UnixConnection, main, run, wait_until
from test_amd import add_gpu

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import gpusight  # noqa: E402

TELL = API + "framework"
CONTAINER = "4f5d9a2b3c1e0f7a8b6d5c4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f40"


def tree_with_us(case):
    """A machine on which this very process holds memory of a GPU, inside a container."""
    tree = case.tree()
    add_gpu(tree)
    pid = os.getpid()
    tree.write(f"proc/{pid}/stat", f"{pid} (python3) S 1 1 1 0 -1 4194304 0 0 0 0 50 25 0 0 20 0 7 0 4242 0 1000\n")
    tree.write(f"proc/{pid}/status", f"Name:\tpython3\nUid:\t{os.getuid()}\t0\t0\t0\nNSpid:\t{pid}\n")
    tree.write(f"proc/{pid}/cgroup", f"0::/system.slice/docker-{CONTAINER}.scope\n")
    tree.write("proc/meminfo", "MemTotal:       33554432 kB\n")
    tree.write(f"proc/{pid}/fdinfo/5", "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\n"
                                       "drm-engine-gfx:\t5000 ns\ndrm-resident-vram:\t21474836480 B\n")
    os.makedirs(os.path.join(tree.folder, f"proc/{pid}/fd"))
    os.symlink("/dev/dri/renderD128", os.path.join(tree.folder, f"proc/{pid}/fd/5"))
    return tree


class Framework(Case):
    def row(self, server):
        devices = [d for d in server.snapshot(local=True)["devices"] if d["vendor"] == "amd"]
        rows = [p for p in devices[0]["processes"] or [] if p["pid"] == os.getpid()]
        return rows[0] if rows else {}

    def tell(self, server, body):
        return server.request("POST", TELL, connection=UnixConnection(server.socket_path, 10.0), body=body)

    # FAULT-111
    def test_a_process_is_shown_where_it_belongs_and_with_what_it_tells(self):
        server = self.daemon(root=tree_with_us(self).folder)
        wait_until(lambda: self.row(server).get("owner") == "known", within=20, what="the row")
        row = self.row(server)
        self.assertEqual((row["container"], row["container_id"], row["runtime"]),
                         (CONTAINER[:12], CONTAINER, "docker"))
        self.assertEqual(row["threads"], 7)
        self.assertEqual(row["host_memory_bytes"], 1000 * os.sysconf("SC_PAGESIZE"))
        self.assertIsNone(row["framework"])
        cuda = types.SimpleNamespace(
            is_initialized=lambda: True, device_count=lambda: 1, memory_snapshot=lambda: [],
            memory_stats=lambda number: {"allocated_bytes.all.current": 6 << 30,
                                         "reserved_bytes.all.current": 20 << 30, "num_ooms": 1},
            get_device_properties=lambda number: types.SimpleNamespace(
                pci_domain_id=0, pci_bus_id=3, pci_device_id=0))
        sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
        self.addCleanup(sys.modules.pop, "torch")
        self.addCleanup(gpusight.stop)
        for _ in gpusight.loop(range(3)):
            gpusight.step(tokens=512)
        gpusight.watch(interval=1, socket_path=server.socket_path)
        wait_until(lambda: self.row(server).get("framework"), within=20, what="what is told")
        told = self.row(server)["framework"]
        self.assertEqual((told["name"], told["allocated_bytes"], told["reserved_bytes"], told["out_of_memory_total"]),
                         ("pytorch", 6 << 30, 20 << 30, 1))
        self.assertEqual(gpusight.trouble(), "")
        snapshot = json.loads(run("status", "--json", "--socket", server.socket_path, nvml=None).stdout)
        amd = [d for d in snapshot["devices"] if d["vendor"] == "amd"][0]
        self.assertEqual(amd["processes"][0]["framework"]["reserved_bytes"], 20 << 30,
                         "what was read back is written again")

    def test_nobody_speaks_on_loopback_and_nonsense_is_refused_by_its_line(self):
        server = self.daemon(root=tree_with_us(self).folder)
        self.assertEqual(server.request("POST", TELL, body="{}").status, 403)
        answer = self.tell(server, '{"step_seconds":1}\n{"pid":1}\n')
        self.assertEqual(answer.status, 400)
        self.assertIn("line 2: a process speaks of itself only", answer.text)
        self.assertEqual(self.tell(server, "{" * 70000).status, 413)

    def test_a_flood_is_refused_and_the_daemon_goes_on(self):
        server = self.daemon(root=tree_with_us(self).folder)
        statuses = [self.tell(server, '{"step_seconds":1}\n').status for _ in range(600)]
        self.assertEqual(set(statuses), {200, 429})
        self.assertEqual(statuses[0], 200)
        self.assertEqual(server.get("/healthz").status, 200)


if __name__ == "__main__":
    main()
