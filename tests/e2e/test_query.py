"""The recorded history asked from the command line, with a daemon and without."""

import csv
import glob
import io
import json
import os
import sqlite3
import time

from harness import Case, main, run, wait_until

GPUS = ("GPU-00000000-0000-4000-8000-00000000000a", "GPU-00000000-0000-4000-8000-00000000000b")
HOUR = 3600
GIB = 1 << 30


def history_text(now):
    """A day of two GPUs, a sample a minute: the first one leaks memory, the second one is hot."""
    minutes = [now - 24 * HOUR + 60 * i for i in range(1, 24 * 60)]
    lines = ["# TYPE gpu_memory_used_bytes gauge", "# UNIT gpu_memory_used_bytes bytes"]
    for gpu, growth in zip(GPUS, (2 * GIB, 0)):
        for t in minutes:
            used = 20 * GIB + growth * (t - minutes[0]) // (24 * HOUR)
            lines.append(f'gpu_memory_used_bytes{{uuid="{gpu}"}} {used} {t}')
    lines += ["# TYPE gpu_temperature_celsius gauge", "# UNIT gpu_temperature_celsius celsius"]
    for gpu, celsius in zip(GPUS, (60, 85)):
        for i, t in enumerate(minutes):
            lines.append(f'gpu_temperature_celsius{{uuid="{gpu}"}} {celsius + i % 3 - 1} {t}')
    return "\n".join(lines) + "\n# EOF\n"


class Query(Case):
    def setUp(self):
        super().setUp()
        self.state = os.path.join(self.folder, "state")

    def gpusight(self, *arguments, code=0, **options):
        done = run(*arguments, folder=self.folder, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def recorded(self):
        """The name of the file that a daemon on the simulated machine records into."""
        path, = glob.glob(os.path.join(self.state, "history*.db"))
        return os.path.basename(path)

    def imported(self):
        path = os.path.join(self.folder, "day.om")
        with open(path, "w", encoding="utf-8") as file:
            file.write(history_text(int(time.time())))
        done = self.gpusight("history", "import", path, "--state-dir", self.state)
        self.assertEqual(done.stdout, f"{4 * (24 * 60 - 1)} samples imported\n")
        return path

    # FAULT-108
    def test_the_two_questions_everyone_asks(self):
        self.imported()
        leak = self.gpusight("query", "delta(gpu_memory_used_bytes[24h]) > 1073741824",
                             "--state-dir", self.state, "--csv")
        rows = list(csv.DictReader(io.StringIO(leak.stdout)))
        self.assertEqual([row["uuid"] for row in rows], [GPUS[0]])
        self.assertAlmostEqual(float(rows[0]["value"]), 2 * GIB, delta=0.01 * GIB)
        hot = self.gpusight("query", "avg_over_time(gpu_temperature_celsius[30m]) > 80",
                            "--state-dir", self.state, "--json")
        result = json.loads(hot.stdout)["data"]["result"]
        self.assertEqual([series["metric"]["uuid"] for series in result], [GPUS[1]])
        self.assertAlmostEqual(float(result[0]["value"][1]), 85, delta=0.2)
        table = self.gpusight("query", "avg_over_time(gpu_temperature_celsius[30m]) > 80",
                              "--state-dir", self.state)
        self.assertIn(GPUS[1], table.stdout)
        self.assertNotIn(GPUS[0], table.stdout)

    def test_a_range_has_a_row_for_each_step(self):
        self.imported()
        done = self.gpusight("query", "max(gpu_temperature_celsius)", "--state-dir", self.state,
                             "--range", "1h", "--step", "10m", "--csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(rows), 7)
        self.assertTrue(all(84 <= float(row["value"]) <= 86 for row in rows), rows)

    def test_a_daemon_is_asked_and_its_history_is_read_beside_it(self):
        daemon = self.daemon("--history-commit", "1s", folder=self.folder)

        def asked():
            return run("query", "gpu_temperature_celsius", "--csv", "--socket", daemon.socket_path,
                       folder=self.folder).stdout.splitlines()

        wait_until(lambda: len(asked()) == 1 + 8, 20, what="an answer of the daemon")
        # Too long for an address, so that it is posted.
        long = 'count(gpu_temperature_celsius{uuid!~"' + "x" * 20_000 + '"})'
        posted = self.gpusight("query", long, "--csv", "--socket", daemon.socket_path)
        self.assertTrue(posted.stdout.endswith(",8\n"), posted.stdout)
        named = "count by (name) (gpu_temperature_celsius * on(uuid) group_left(name) gpu_info)"
        by_name = self.gpusight("query", named, "--csv", "--socket", daemon.socket_path).stdout
        self.assertRegex(by_name, r"time,name,value\n.*H100.*,8\n$")
        name = self.recorded()
        place = ("--state-dir", self.state, "--history-file", name)

        def info():
            return json.loads(self.gpusight("history", "info", "--json", *place).stdout)

        wait_until(lambda: info()["committed_until"], 20, what="the first commit")
        self.assertTrue(info()["recording"])
        self.assertIn("all sound", self.gpusight("history", "check", *place).stdout)
        beside = self.gpusight("query", "count(gpu_temperature_celsius)", "--csv", *place)
        self.assertTrue(beside.stdout.endswith(",8\n"), beside.stdout)
        wait_until(lambda: run("query", named, "--csv", *place, folder=self.folder).stdout.endswith(",8\n"), 20,
                   what="the names beside the history")
        held = self.gpusight("history", "import", "-", *place, code=1)
        self.assertIn("a daemon records in", held.stderr)
        # Reading beside it has disturbed nothing.
        before = info()["committed_until"]
        wait_until(lambda: info()["committed_until"] > before, 20, what="another commit")
        self.assertEqual(daemon.stop()[0], 0)
        self.assertFalse(info()["recording"])

    def test_what_a_daemon_recorded_goes_out_and_in_and_out_again_unchanged(self):
        daemon = self.daemon("--history-commit", "1s", folder=self.folder)
        time.sleep(4)
        self.assertEqual(daemon.stop()[0], 0)
        first = os.path.join(self.folder, "first.om")
        self.gpusight("history", "export", "--state-dir", self.state, "--history-file",
                      self.recorded(), "-o", first)
        copy = os.path.join(self.folder, "copy")
        self.gpusight("history", "import", first, "--state-dir", copy)
        again = self.gpusight("history", "export", "--state-dir", copy)
        with open(first, encoding="utf-8") as file:
            text = file.read()
        self.assertGreater(len(text.splitlines()), 1000)
        self.assertEqual(again.stdout, text)
        # A daemon goes on where the import ended.
        self.assertIn("all sound", self.gpusight("history", "check", "--state-dir", copy).stdout)

    def test_an_import_of_nonsense_changes_nothing(self):
        self.imported()
        before = self.gpusight("history", "export", "--state-dir", self.state).stdout
        for name, content in (("bytes", os.urandom(5000)), ("empty", b""), ("long", b"a" * 200000),
                              ("cut", before.encode()[:5000])):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as file:
                file.write(content)
            done = self.gpusight("history", "import", path, "--state-dir", self.state, code=1)
            self.assertRegex(done.stderr, r"line \d+: ")
        after = self.gpusight("history", "export", "--state-dir", self.state).stdout
        self.assertEqual(after, before)

    def test_a_damaged_chunk_is_named_and_the_rest_goes_out(self):
        self.imported()
        with sqlite3.connect(os.path.join(self.state, "history.db")) as database:
            chunk, = database.execute("SELECT MIN(id) FROM chunk").fetchone()
            database.execute("UPDATE chunk SET head = zeroblob(LENGTH(head)) WHERE id = ?", (chunk,))
        database.close()
        check = self.gpusight("history", "check", "--state-dir", self.state, code=1)
        self.assertIn(f"chunk {chunk} ", check.stdout)
        export = self.gpusight("history", "export", "--state-dir", self.state, code=1)
        self.assertTrue(export.stdout.endswith("# EOF\n"))
        self.assertGreater(len(export.stdout.splitlines()), 1000)
        self.assertIn("damaged", export.stderr)

    def test_a_fault_in_the_expression_is_shown_at_its_place(self):
        done = self.gpusight("query", "sum(gpu_power_watts) by", code=2)
        self.assertRegex(done.stderr, r"gpusight: 1:\d+: parse error: ")
        self.assertIn("\n  sum(gpu_power_watts) by\n", done.stderr)
        self.assertTrue(done.stderr.endswith("^\n"))


if __name__ == "__main__":
    main()
