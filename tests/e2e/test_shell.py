"""The commands of the shell: what they print, what they refuse, with which exit code."""

import csv
import io
import json
import os
import re

from harness import BINARY, Case, SIM_LIBRARY, main, run, status, wait_until


class Status(Case):
    def test_the_table_shows_every_gpu_and_says_simulated(self):
        done = run("status", nvml=SIM_LIBRARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SIMULATED", done.stdout)
        self.assertGreaterEqual(done.stdout.count("H100"), 8)
        self.assertNotIn("\x1b", done.stdout)  # no colours into a pipe

    # FAULT-109
    def test_json_has_numbers_and_nulls_with_reasons(self):
        document = status(nvml=SIM_LIBRARY)
        self.assertIs(document["simulated"], True)
        self.assertEqual(len(document["devices"]), 8)
        for device in document["devices"]:
            for name, value in device["metrics"].items():
                if isinstance(value, dict):
                    self.assertTrue(all(v is None or isinstance(v, (int, float)) for v in value.values()), name)
                else:
                    self.assertTrue(value is None or isinstance(value, (int, float)), name)
                if value is None:
                    self.assertIn(name, device["reasons"])

    def test_a_single_reading_is_whole_every_time(self):
        for _ in range(10):
            for device in status(nvml=SIM_LIBRARY)["devices"]:
                self.assertIsNotNone(device["metrics"]["gpu_memory_used_bytes"], device["reasons"])

    def test_what_needs_two_readings_says_so_and_settle_waits_for_it(self):
        once = status(nvml=SIM_LIBRARY)
        warming = [k for k, reason in once["host"]["reasons"].items() if reason == "warming_up"]
        self.assertIn("host_cpu_utilization_ratio", warming)
        settled = status("--settle", nvml=SIM_LIBRARY)
        self.assertIsNotNone(settled["host"]["metrics"]["host_cpu_utilization_ratio"])

    # FAULT-109
    def test_csv_has_a_header_and_a_row_a_device(self):
        rows = list(csv.DictReader(io.StringIO(run("status", "--csv", nvml=SIM_LIBRARY).stdout)))
        self.assertEqual(len(rows), 8)
        self.assertEqual(len({row["uuid"] for row in rows}), 8)
        self.assertNotIn(None, rows[0])

    def test_a_query_gives_the_columns_asked_for(self):
        done = run("status", "--query", "index,uuid,gpu_temperature_celsius,gpu_clock_hertz{sm}", nvml=SIM_LIBRARY)
        rows = list(csv.reader(io.StringIO(done.stdout)))
        self.assertEqual(rows[0], ["index", "uuid", "gpu_temperature_celsius", "gpu_clock_hertz{sm}"])
        self.assertEqual([row[0] for row in rows[1:]], [str(i) for i in range(8)])
        self.assertTrue(all(float(row[3]) > 1e8 for row in rows[1:]))

    def test_an_unknown_column_is_named_with_a_suggestion(self):
        done = run("status", "--query", "gpu_power_wats", nvml=SIM_LIBRARY)
        self.assertEqual(done.returncode, 2)
        self.assertIn("gpu_power_wats", done.stderr)
        self.assertIn("gpu_power_watts", done.stderr)

    def test_it_asks_the_daemon_that_runs(self):
        server = self.daemon()
        wait_until(lambda: server.snapshot()["sequence"] > 2, 10, what="ticks")
        document = json.loads(run("status", "--json", "--socket", server.socket_path).stdout)
        self.assertGreater(document["sequence"], 2)
        self.assertEqual({d["uuid"] for d in document["devices"]},
                         {d["uuid"] for d in server.snapshot()["devices"]})

    def test_it_reads_alone_and_leaves_nothing_open(self):
        counts = os.path.join(self.folder, "counts.tsv")
        status(nvml=SIM_LIBRARY, counts=counts)
        with open(counts, encoding="ascii") as file:
            lines = dict(line.split("\t-\t") for line in file.read().splitlines() if "\t-\t" in line)
        self.assertEqual(lines["open-sessions"], "0")
        self.assertEqual(lines["open-event-sets"], "0")


class Usage(Case):
    def test_the_version(self):
        self.assertRegex(run("--version").stdout, r"gpusight \d+\.\d+\.\d+")

    def test_help_lists_commands_and_options(self):
        said = run("--help").stdout
        for command in ("status", "serve", "metrics", "sim", "selftest"):
            self.assertIn(command, said)
        said = run("serve", "--help").stdout
        for option in ("--listen", "--state-dir", "--config", "--nvml", "--root", "--lang"):
            self.assertIn(option, said)

    def test_a_mistyped_command_or_option_is_refused_with_a_suggestion(self):
        done = run("statsu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("status", done.stderr)
        done = run("serve", "--intervall", "1s")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--interval", done.stderr.replace("--intervall", ""))
        done = run("status", "--jsno")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--json", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_bad_values_are_refused_with_what_is_wanted(self):
        for arguments in (("serve", "--listen", "127.0.0.1:99999"), ("serve", "--interval", "soon"),
                          ("serve", "--interval", "1ms"), ("status", "--watch", "-5"), ("status", "--lang", "xx")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(arguments[-1], done.stderr)

    def test_completions_exist_for_three_shells(self):
        for shell in ("bash", "zsh", "fish"):
            done = run("completions", shell)
            self.assertEqual(done.returncode, 0)
            self.assertIn("gpusight", done.stdout)
        self.assertEqual(run("completions", "cmd").returncode, 2)

    def test_the_catalogue_as_a_table_and_for_a_program(self):
        self.assertIn("gpu_power_watts", run("metrics").stdout)
        document = json.loads(run("metrics", "--json").stdout)
        names = [row["name"] for row in document["metrics"]]
        self.assertIn("gpu_power_watts", names)
        self.assertEqual(len(names), len(set(names)))

    def test_selftest_passes_on_the_simulated_machine(self):
        done = run("selftest", nvml=SIM_LIBRARY)
        self.assertIn(done.returncode, (0, 1))
        self.assertTrue(done.stdout.strip())


class Simulation(Case):
    def test_the_scenarios_are_listed(self):
        said = run("sim", "--list").stdout
        for name in ("h100-training", "rtx4090-desktop", "a100-mig"):
            self.assertIn(name, said)

    def test_any_command_runs_on_the_simulated_machine(self):
        done = run("sim", "rtx4090-desktop", "--", "python3", "-c",
                   "import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); c = ctypes.c_uint();"
                   "n.nvmlInit_v2(); n.nvmlDeviceGetCount_v2(ctypes.byref(c)); print(c.value)")
        self.assertEqual(done.stdout.strip(), "1", done.stderr)

    def test_our_own_command_runs_on_it(self):
        done = run("sim", "a100-mig", "--", BINARY, "status", "--json")
        document = json.loads(done.stdout)
        self.assertIs(document["simulated"], True)
        self.assertTrue(any(d["kind"] == "mig" for d in document["devices"]))

    def test_the_exit_code_is_the_commands(self):
        self.assertEqual(run("sim", "h100-training", "--", "sh", "-c", "exit 7").returncode, 7)

    def test_an_unknown_scenario_is_named(self):
        done = run("sim", "h100-trainin", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(re.search("h100-training", done.stderr))

    def test_a_broken_scenario_file_is_told_with_its_line(self):
        path = os.path.join(self.folder, "mine.toml")
        with open(path, "w", encoding="ascii") as file:
            file.write('title = "x"\n[[gpu]]\nboard = "h100-sxm-80gb"\ncuont = 2\n')
        done = run("sim", path, "--", BINARY, "status")
        self.assertIn(":4", done.stderr)
        self.assertIn("cuont", done.stderr)


if __name__ == "__main__":
    main()
