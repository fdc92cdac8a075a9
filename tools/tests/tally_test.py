"""tools/ci/tally counts cases as the test runners themselves do, and never hides a failure."""

import os
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

TOOL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ci", "tally")


def entry(output, status="run", inner=""):
    return (
        f'<testcase name="x" classname="x" time="1" status="{status}">{inner}'
        f"<system-out>{escape(output)}</system-out></testcase>"
    )


class Tally(unittest.TestCase):
    def tally(self, entries=(), counts=()):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.xml"), "w", encoding="utf-8") as file:
                file.write(f'<testsuite>{"".join(entries)}</testsuite>')
            for number, count in enumerate(counts):
                with open(os.path.join(folder, f"{number}.count"), "w", encoding="ascii") as file:
                    file.write(count)
            done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
            return done.returncode, done.stdout.splitlines()[-1]

    def test_cases_of_googletest_are_counted(self):
        text = "[==========] 7 tests ran.\n[  PASSED  ] 6 tests.\n[  SKIPPED ] 1 test, listed below:\n"
        self.assertEqual(self.tally([entry(text)]), (0, "6 passed, 0 failed, 1 skipped"))

    def test_failed_cases_of_googletest_are_counted(self):
        text = "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.b\n"
        self.assertEqual(self.tally([entry(text, "fail")]), (1, "1 passed, 2 failed, 0 skipped"))

    def test_cases_of_unittest_are_counted(self):
        text = "....s\n-----\nRan 5 tests in 0.316s\n\nOK (skipped=1)\n"
        self.assertEqual(self.tally([entry(text)]), (0, "4 passed, 0 failed, 1 skipped"))
        text = "Ran 5 tests in 0.316s\n\nFAILED (failures=1, errors=1, skipped=1)\n"
        self.assertEqual(self.tally([entry(text, "fail")]), (1, "2 passed, 2 failed, 1 skipped"))

    def test_cases_of_vitest_are_counted(self):
        text = " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 40 passed | 2 skipped (43)\n"
        self.assertEqual(self.tally([entry(text, "fail")]), (1, "40 passed, 1 failed, 2 skipped"))
        self.assertEqual(self.tally([entry("      Tests  41 passed (41)\n")]), (0, "41 passed, 0 failed, 0 skipped"))

    def test_a_crash_or_a_timeout_is_a_failure_though_cases_passed(self):
        self.assertEqual(self.tally([entry("[ RUN ] A.b", "fail")]), (1, "0 passed, 1 failed, 0 skipped"))
        text = "[  PASSED  ] 6 tests.\nSegmentation fault\n"
        self.assertEqual(self.tally([entry(text, "fail")]), (1, "6 passed, 1 failed, 0 skipped"))

    def test_an_entry_of_another_kind_counts_as_one(self):
        self.assertEqual(self.tally([entry("fine")]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_an_entry_that_did_not_run_is_skipped(self):
        entries = [entry("", "notrun"), entry("", "run", '<skipped message="x"/>'), entry("ok")]
        self.assertEqual(self.tally(entries), (0, "1 passed, 0 failed, 2 skipped"))

    def test_whole_checks_add_to_the_sum(self):
        self.assertEqual(self.tally([entry("ok")], ["0 1 0", "1 0 0"])[1], "2 passed, 1 failed, 0 skipped")

    def test_nothing_ran_is_a_failure(self):
        self.assertEqual(self.tally(), (1, "0 passed, 0 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
