"""tools/gen_fault_docs reads tags where tests carry them and notices what is wrong."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gen_fault_docs")


class FaultDocs(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = self._folder.name
        self.write("tools/faults.tsv", "# table\n001\tbad\tgood\n002\tworse\tbetter\n")

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, TOOL, "--root", self.root, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def page(self):
        with open(os.path.join(self.root, "docs/faults.md"), encoding="utf-8") as file:
            return file.read()

    def test_tests_of_three_languages_are_named(self):
        self.write("src/a_test.cc", "// FAULT-001, FAULT-002\n// Why.\nTEST_F(Thing,\n       Holds) {\n")
        self.write("tests/e2e/test_b.py", "    # FAULT-002\n    @decorated\n    def test_it(self):\n")
        self.write("web/src/c.test.ts", "// FAULT-001\nit('shows nothing', () => {\n")
        self.assertEqual(self.run_tool()[0], 0)
        page = self.page()
        for held in ("`src/a_test.cc`: Thing.Holds", "`tests/e2e/test_b.py`: test_it", "`web/src/c.test.ts`: shows nothing"):
            self.assertIn(held, page)
        self.assertIn("2 of 2 kinds have a test", page)
        self.assertEqual(self.run_tool("--check")[0], 0)

    def test_a_fault_without_a_test_is_listed_as_not_yet(self):
        self.run_tool()
        self.assertIn("| 001 | bad | good | not yet |", self.page())

    def test_an_outdated_page_is_noticed(self):
        self.run_tool()
        self.write("src/a_test.cc", "// FAULT-001\nTEST(A, B) {\n")
        code, said = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("out of date", said)

    def test_an_unknown_number_and_a_tag_above_no_test_are_wrong(self):
        self.write("src/a_test.cc", "// FAULT-999\nTEST(A, B) {\n// FAULT-001\nint x;\n")
        code, said = self.run_tool()
        self.assertEqual(code, 1)
        self.assertIn("FAULT-999 is not in", said)
        self.assertIn("FAULT-001 stands above no test", said)


if __name__ == "__main__":
    unittest.main()
