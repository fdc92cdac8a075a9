"""The page in a real browser, served by the real daemon: tests are in web/e2e, this starts them."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from harness import BUILD_DIR, SOURCE_DIR, Case, die_with_parent, free_port, main, wait_until  # noqa: E402

DIST = os.path.join(BUILD_DIR, "src", "serve", "web_dist")
WEB = os.path.join(SOURCE_DIR, "web")


class Page(Case):
    def run_in_browser(self, **environment):
        if not shutil.which("chromium"):
            self.skipTest("chromium is not installed")
        if not os.path.isdir(os.path.join(WEB, "node_modules", "playwright-core")):
            self.skipTest("built without the page's tools")
        done = subprocess.run(["node", "tools/run.mjs", "e2e/page.mjs"], cwd=WEB, capture_output=True, text=True,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL, timeout=240,
                              preexec_fn=die_with_parent, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_page_works_on_the_simulated_machine(self):
        server = self.daemon("--simulate", "h100-training", nvml=None)
        if "text/html" not in server.get("/").headers.get("content-type", ""):
            self.skipTest("built without the page")
        wait_until(lambda: server.device()["metrics"]["gpu_power_watts"], 20, what="power")
        print(self.run_in_browser(GPUSIGHT_URL=f"http://127.0.0.1:{server.port}/"))

    def test_the_page_bears_faults_and_a_lost_connection(self):
        if not os.path.isfile(os.path.join(DIST, "index.html")):
            self.skipTest("built without the page")
        print(self.run_in_browser(MOCK="1", DIST=DIST, MOCK_PORT=str(free_port())))


if __name__ == "__main__":
    main()
