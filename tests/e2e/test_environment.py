"""The machine around it: locales, folders that cannot be written, closed outputs, odd limits."""

import csv
import io
import json
import os
import resource
import subprocess

from harness import BINARY, CLEAN_ENVIRONMENT, Case, SIM_LIBRARY, die_with_parent, main, run, status, wait_until


class Locale(Case):
    def comma_locale(self):
        """A locale in which one and a half is written 1,5 — made here, since minimal systems have none."""
        folder = os.path.join(self.folder, "locales")
        os.makedirs(folder)
        done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                              capture_output=True, text=True, check=False)
        if not os.path.isdir(os.path.join(folder, "de_DE.UTF-8")):
            self.skipTest(f"localedef: {done.stderr.strip()}")
        environment = {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
        said = subprocess.run(["/usr/bin/printf", "%.1f", "1,5"], env={**CLEAN_ENVIRONMENT, **environment},
                              capture_output=True, text=True, check=False).stdout
        self.assertEqual(said, "1,5", "the locale made here is not in force")
        return environment

    def test_numbers_have_points_in_every_output(self):
        environment = self.comma_locale()
        document = status("--settle", nvml=SIM_LIBRARY, environment=environment)
        self.assertIsInstance(document["devices"][0]["metrics"]["gpu_power_watts"], float)
        done = run("status", "--query", "uuid,gpu_power_watts", "--settle", nvml=SIM_LIBRARY,
                   environment=environment)
        for row in csv.DictReader(io.StringIO(done.stdout)):
            self.assertGreater(float(row["gpu_power_watts"]), 50)

    def test_numbers_on_the_command_line_and_in_the_file_have_points(self):
        environment = self.comma_locale()
        path = os.path.join(self.folder, "gpusight.toml")
        with open(path, "w", encoding="ascii") as file:
            file.write('[sample]\ninterval = "0.5s"\n')
        server = self.daemon("--config", path, environment=environment)
        self.assertEqual(server.snapshot()["interval_seconds"], 0.5)
        wait_until(lambda: server.device()["metrics"]["gpu_power_watts"], 10, what="power")
        for name, number in server.metrics().items():
            self.assertNotIn(",", number, name)

    def test_the_language_is_chosen_and_numbers_stay(self):
        done = run("status", "--settle", nvml=SIM_LIBRARY, environment={"LANG": "zh_CN.UTF-8", "LC_ALL": ""})
        self.assertIn("模拟", done.stdout)
        done = run("status", "--lang", "zh", nvml=SIM_LIBRARY)
        self.assertIn("模拟", done.stdout)


class Folders(Case):
    # FAULT-127
    def test_a_home_that_cannot_be_written_is_no_trouble(self):
        home = os.path.join(self.folder, "home")
        os.makedirs(home)
        os.chmod(home, 0o555)
        server = self.daemon(environment={"HOME": home, "XDG_STATE_HOME": os.path.join(home, "state")})
        self.assertEqual(len(server.snapshot()["devices"]), 8)
        self.assertEqual(os.listdir(home), [])

    def test_no_home_at_all_is_no_trouble(self):
        done = subprocess.run([BINARY, "status", "--json"], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "GPUSIGHT_NVML": SIM_LIBRARY,
                                   "GPUSIGHT_SOCKET": os.path.join(self.folder, "none.sock")},
                              stdin=subprocess.DEVNULL, timeout=30, preexec_fn=die_with_parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["devices"]), 8)

    # FAULT-127
    def test_an_ordinary_user_without_rights_reads_everything(self):
        if os.geteuid() != 0:
            self.skipTest("the tests run as an ordinary user already")
        os.chmod(self.folder, 0o777)
        probe = subprocess.run(["/usr/bin/test", "-x", BINARY], check=False,
                               preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        if probe.returncode != 0:
            self.skipTest("the build folder is closed to others")

        def nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        document = json.loads(run("status", "--json", nvml=SIM_LIBRARY, folder=self.folder, preexec=nobody).stdout)
        self.assertEqual(len(document["devices"]), 8)


class Outputs(Case):
    def test_a_reader_that_leaves_early_ends_it_quietly(self):
        command = f'"{BINARY}" status --watch 100ms --json | head -n 2'
        environment = {**CLEAN_ENVIRONMENT, "GPUSIGHT_NVML": SIM_LIBRARY,
                       "GPUSIGHT_SOCKET": os.path.join(self.folder, "none.sock")}
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=environment,
                              timeout=30, check=False, preexec_fn=die_with_parent)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertEqual(len(json.loads(line)["devices"]), 8)
        self.assertEqual(done.stderr, "")

    def test_a_full_disk_behind_the_output_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([BINARY, "metrics"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=CLEAN_ENVIRONMENT, timeout=30, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.strip())

    # FAULT-132
    def test_no_program_of_the_path_is_ever_started(self):
        canary = os.path.join(self.folder, "canary")
        tools = os.path.join(self.folder, "bin")
        os.makedirs(tools)
        for name in ("nvidia-smi", "nvidia-modprobe", "lspci", "sh", "modprobe", "cat"):
            path = os.path.join(tools, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\ntouch {canary}\n")
            os.chmod(path, 0o755)
        server = self.daemon(environment={"PATH": tools})
        wait_until(lambda: server.snapshot()["sequence"] > 3, 15, what="three ticks")
        self.assertFalse(os.path.exists(canary))

    # FAULT-085
    def test_a_huge_limit_of_open_files_costs_nothing(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

        def raise_limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

        done = run("status", "--json", nvml=SIM_LIBRARY, preexec=raise_limit, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
