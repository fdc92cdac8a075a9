"""tools/check_layers finds what it must and lets pass what it must."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "check_layers")


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.root = self._folder.name
        self.write("src/base/result.h", "#pragma once\n")
        self.write("src/collect/source.h", '#pragma once\n#include "base/result.h"\n')
        self.write("src/collect/nvml/nvml.h", '#pragma once\n#include "collect/source.h"\n')

    def tearDown(self):
        self._folder.cleanup()

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self):
        done = subprocess.run([sys.executable, TOOL, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_clean(self):
        code, said = self.run_tool()
        self.assertEqual(code, 0, said)

    def assert_breach(self, *parts):
        code, said = self.run_tool()
        self.assertEqual(code, 1, said)
        for part in parts:
            self.assertIn(part, said)

    def test_a_clean_tree_passes(self):
        self.write("src/app/main.cc", '#include "collect/nvml/nvml.h"\n#include "base/result.h"\n')
        self.assert_clean()

    def test_an_upward_include_is_named_with_its_line(self):
        self.write("src/base/bad.cc", '// a comment\n#include "collect/source.h"\n')
        self.assert_breach("src/base/bad.cc:2", "upward", "base is layer 0")

    def test_a_sideways_include_is_a_breach(self):
        self.write("src/store/head.h", "#pragma once\n")
        self.write("src/promql/engine.cc", '#include "store/head.h"\n')
        self.assert_breach("src/promql/engine.cc:1", "sideways")

    def test_sources_do_not_know_each_other(self):
        self.write("src/collect/host/host.cc", '#include "collect/nvml/nvml.h"\n')
        self.assert_breach("src/collect/host/host.cc:1", "rooms stand apart")

    def test_the_contract_does_not_know_sources_but_the_registry_does(self):
        self.write("src/collect/registry.cc", '#include "collect/nvml/nvml.h"\n')
        self.assert_clean()
        self.write("src/collect/report.cc", '#include "collect/nvml/nvml.h"\n')
        self.assert_breach("src/collect/report.cc:1")

    def test_relative_includes_are_breaches(self):
        self.write("src/model/a.cc", '#include "../base/result.h"\n')
        self.write("src/model/b.cc", '#include "result.h"\n')
        self.assert_breach("a.cc:1", "relative include", "b.cc:1", "with its folder")

    def test_sim_and_src_share_nothing(self):
        self.write("sim/src/a.cc", '#include "base/result.h"\n')
        self.write("src/model/b.cc", '#include "sim/src/abi.h"\n')
        self.assert_breach("sim/src/a.cc:1", "shares nothing", "src/model/b.cc:1", "nothing of sim/")

    def test_a_folder_without_a_layer_is_a_breach(self):
        self.write("src/utils/a.cc", "")
        self.assert_breach("src/utils", "not in the table")

    def test_commented_out_includes_do_not_count(self):
        self.write("src/base/a.cc", '/*\n#include "app/main.h"\n*/\n// #include "app/x.h"\n')
        self.assert_clean()

    def test_headers_guard_themselves_and_are_included_once(self):
        self.write("src/base/a.h", "int x;\n")
        self.write("src/base/b.cc", '#include "base/result.h"\n#include "base/result.h"\n')
        self.assert_breach("src/base/a.h:1", "#pragma once", "src/base/b.cc:2", "included twice")

    def test_links_follow_the_same_table(self):
        self.write("src/base/CMakeLists.txt", "gpusight_layer(base DEPS model)\n")
        self.write("src/model/CMakeLists.txt", "gpusight_layer(model DEPS base)\n")
        self.assert_breach("src/base/CMakeLists.txt", "links model", "upward")

    def test_a_tree_without_source_is_an_error(self):
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run([sys.executable, TOOL, empty], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
