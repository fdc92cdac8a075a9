"""What is recorded on disk, over restarts and crashes."""

import contextlib
import glob
import os
import shutil
import signal
import sqlite3
import tempfile

from harness import Case, main, wait_until


class History(Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="gpusight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def files(self):
        return glob.glob(os.path.join(self.folder, "state", "history*.db"))

    def ask_all(self, sql):
        """Rows of the database, which the daemon may be writing to."""
        path, = self.files()
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def ask(self, sql):
        rows = self.ask_all(sql)
        return rows[0] if rows else None

    def committed(self):
        row = self.ask("SELECT value FROM state WHERE name = 'committed_until_ms'")
        return row[0] if row else 0

    def test_events_of_an_earlier_run_are_there_after_a_restart_and_ids_go_on(self):
        before = self.daemon(folder=self.folder)
        last = before.events()[-1]["id"]
        code, _ = before.stop()
        self.assertEqual(code, 0)
        after = self.daemon(folder=self.folder)
        events = after.events()
        self.assertEqual([e["id"] for e in events], sorted({e["id"] for e in events}))
        lives = [e["kind"] for e in events if e["kind"] in ("daemon_start", "daemon_stop")]
        self.assertEqual(lives, ["daemon_start", "daemon_stop", "daemon_start"])
        self.assertGreater(events[-1]["id"], last)

    def test_a_killed_daemon_goes_on_where_its_last_commit_was(self):
        daemon = self.daemon("--history-commit", "1s", folder=self.folder)
        wait_until(lambda: self.committed() > 0, 20, what="the first commit")
        daemon.stop(signal.SIGKILL)
        before = self.committed()
        numbered = ("SELECT s.id, scope, uuid, cadence, metric, label"
                    " FROM series s JOIN series_group g ON g.id = group_id")
        series = set(self.ask_all(numbered))
        self.assertGreater(len(series), 100)
        again = self.daemon("--history-commit", "1s", folder=self.folder)
        wait_until(lambda: self.committed() > before, 20, what="another commit")
        self.assertEqual(again.stop()[0], 0)
        self.assertEqual(self.ask("PRAGMA integrity_check")[0], "ok")
        # The same series under the same numbers, beside those that the first run had not met yet.
        self.assertEqual(series - set(self.ask_all(numbered)), set())

    def test_what_was_sampled_last_is_on_disk_when_it_leaves(self):
        daemon = self.daemon(folder=self.folder)
        code, took = daemon.stop()
        self.assertEqual(code, 0)
        self.assertLess(took, 5)
        self.assertFalse(os.path.exists(self.files()[0] + "-wal"))  # before we open it ourselves
        self.assertGreater(self.committed(), 0)

    def test_charts_open_with_what_an_earlier_run_recorded(self):
        before = self.daemon("--history-commit", "1s", folder=self.folder)
        wait_until(lambda: self.committed() > 0, 20, what="the first commit")
        uuid = before.device()["uuid"]
        before.stop()
        until = self.committed()
        after = self.daemon(folder=self.folder)
        with after.live() as live:
            groups = live.json()["head"]["groups"]
        recorded = [time for group in groups if group["subject"] == uuid
                    for time in group["times_ms"] if time <= until]
        self.assertIn(until, recorded)
        power = [series["values"] for group in groups if group["subject"] == uuid
                 for series in group["series"] if series["metric"] == "gpu_power_watts"]
        self.assertTrue(any(value for value in power[0][:len(set(recorded))]), power)

    def test_without_history_nothing_is_written(self):
        daemon = self.daemon("--no-history", folder=self.folder)
        self.assertEqual(daemon.stop()[0], 0)
        self.assertEqual(self.files(), [])

    def test_a_database_that_cannot_be_opened_holds_nothing_up(self):
        first = self.daemon(folder=self.folder)
        first.stop()
        path, = self.files()
        os.unlink(path)
        os.mkdir(path)
        daemon = self.daemon(folder=self.folder)
        self.assertIn("gpu_up", daemon.get("/metrics").text)
        self.assertIn("not recording", daemon.log())
        self.assertEqual(daemon.stop()[0], 0)


if __name__ == "__main__":
    main()
