"""promql_rules against what it said before: rule files in rules/check, rule tests in rules/test.

Beside each NAME.yml stands NAME.txt, what is printed (both streams as they come) and the exit code.
GPUSIGHT_UPDATE_GOLDEN=1 writes them anew. Files of rules/test whose names end in _rules.yml are what
the tests there test. tests/peers/test_rules.py holds the same files against promtool.
"""

import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "rules"
PROGRAM = pathlib.Path(os.environ["GPUSIGHT_BUILD_DIR"]) / "bin" / "promql_rules"


def cases(command):
    """The files of a command, by name, in order."""
    return sorted(p for p in (HERE / command).glob("*.yml") if not p.name.endswith("_rules.yml"))


def run(program, *arguments, folder):
    done = subprocess.run(
        [program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return f"{done.stdout.decode()}exit {done.returncode}\n"


class Golden(unittest.TestCase):
    maxDiff = None

    def hold(self, command):
        files = cases(command)
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(path.name):
                golden = path.with_suffix(".txt")
                said = run(PROGRAM, command, path.name, folder=path.parent)
                if os.environ.get("GPUSIGHT_UPDATE_GOLDEN"):
                    golden.write_text(said)
                self.assertEqual(said, golden.read_text())

    def test_checks(self):
        self.hold("check")

    def test_tests(self):
        self.hold("test")

    def test_lint_can_be_fatal_or_off(self):
        folder = HERE / "check"
        self.assertTrue(run(PROGRAM, "check", "--lint-fatal", "repeated.yml", folder=folder).endswith("exit 3\n"))
        self.assertIn("SUCCESS", run(PROGRAM, "check", "--lint=none", "repeated.yml", folder=folder))

    def test_several_files_are_all_looked_at(self):
        said = run(PROGRAM, "check", "sound.yml", "faults.yml", "nowhere.yml", folder=HERE / "check")
        self.assertIn("Checking sound.yml\n  SUCCESS", said)
        self.assertIn("nowhere.yml: no such file", said)
        self.assertTrue(said.endswith("exit 1\n"))

    def test_wrong_calls_say_how(self):
        for arguments in ([], ["check"], ["nonsense", "x"], ["check", "--what", "x"]):
            said = run(PROGRAM, *arguments, folder=HERE)
            self.assertIn("usage: promql_rules check", said)
            self.assertTrue(said.endswith("exit 2\n"))


if __name__ == "__main__":
    unittest.main()
