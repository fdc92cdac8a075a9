"""promtool and promql_rules say the same of rule files and rule tests.

The files are those of tests/promql/rules. The first line of one says where the two may differ:

    # promtool 2.42 differs: …    promtool is not asked
    # promtool words …            only the exit codes are compared
    # promtool knows no places …  messages are compared without LINE:COLUMN, in any order

All others must give the same output, character by character. Left out, and said so, where Debian's
package prometheus is not installed.
"""

import os
import pathlib
import re
import shutil
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "promql"))

import rules_golden  # noqa: E402

PLACE = re.compile(r"(?<=: )(\d+:\d+: )+(?=group )|(?<=: )\d+:\d+: ")


def promtool():
    path = shutil.which("promtool", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not path:
        raise unittest.SkipTest("promtool is not installed")
    return path


def first_line(path):
    return path.read_text(encoding="utf-8").partition("\n")[0]


class Rules(unittest.TestCase):
    maxDiff = None

    def compare(self, command, *promtool_command):
        program = promtool()
        compared = 0
        for path in rules_golden.cases(command):
            line = first_line(path)
            if line.startswith("# promtool 2.42 differs"):
                continue
            with self.subTest(path.name):
                ours = rules_golden.run(rules_golden.PROGRAM, command, path.name, folder=path.parent)
                theirs = rules_golden.run(program, *promtool_command, path.name, folder=path.parent)
                if line.startswith("# promtool words"):
                    ours, theirs = (text.splitlines()[-1] for text in (ours, theirs))
                if line.startswith("# promtool knows no places"):
                    ours, theirs = (sorted(PLACE.sub("", text).splitlines()) for text in (ours, theirs))
                self.assertEqual(ours, theirs)
                compared += 1
        self.assertGreater(compared, 4)

    def test_check(self):
        self.compare("check", "check", "rules")

    def test_test(self):
        self.compare("test", "test", "rules")


if __name__ == "__main__":
    if not os.environ.get("GPUSIGHT_BUILD_DIR"):
        sys.exit("GPUSIGHT_BUILD_DIR is not set")
    unittest.main()
