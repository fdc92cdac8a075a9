"""Real programs read what we say: promtool, Prometheus itself, and the strict OpenMetrics parser.

Left out, and said so, where the Debian packages prometheus and python3-prometheus-client are not
installed.
"""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from harness import Case, Daemon, die_with_parent, free_port, main, need, wait_until  # noqa: E402

DEVICES = 8
OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}


class Texts(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Daemon()
        wait_until(lambda: cls.server.device()["metrics"]["gpu_power_watts"], 10, what="power")

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def test_promtool_finds_nothing_wrong(self):
        text = self.server.get("/metrics").body
        done = subprocess.run([need("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())

    # FAULT-089
    def test_promtool_reads_other_exporters_names_and_minds_their_names_alone(self):
        # What it minds is those exporters' contract: a counter without _total, a name or a label of another style.
        theirs = re.compile("counter metrics should have|camelCase|should not include type|should not have \"_(count|total)\" suffix")
        for names in ("dcgm", "dcgm46", "nvidia_smi", "gpusight,dcgm,dcgm46,nvidia_smi"):
            text = self.server.get("/metrics?names=" + names).body
            done = subprocess.run([need("promtool"), "check", "metrics"], input=text, capture_output=True,
                                  check=False)
            self.assertIn(done.returncode, (0, 3), names)  # 3: readable, with remarks
            remarks = (done.stdout + done.stderr).decode().splitlines()
            self.assertEqual([r for r in remarks if not theirs.search(r)], [], names)

    def test_the_strict_parser_reads_our_openmetrics(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("python3-prometheus-client is not installed")
        text = self.server.get("/metrics", OPENMETRICS).text
        families = {family.name: family for family in text_string_to_metric_families(text)}
        self.assertEqual(len(families["gpu_power_watts"].samples), DEVICES)
        self.assertEqual(families["gpu_energy_joules"].type, "counter")
        self.assertEqual(families["gpu_power_watts"].type, "gauge")
        for family in families.values():
            self.assertTrue(family.documentation, family.name)

    def test_both_formats_say_the_same(self):
        from_text = {k.split("{")[0] for k in self.server.metrics()}
        from_open = {k.split("{")[0] for k in self.server.metrics(OPENMETRICS)}
        # _created and the like belong to one format only.
        self.assertEqual({n for n in from_text ^ from_open if not n.endswith("_created")}, set())


class Scraped(Case):
    def start_prometheus(self, target, names=()):
        program = need("prometheus")
        port = free_port()
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                       "scrape_configs:\n- job_name: gpusight\n  static_configs:\n"
                       f"  - targets: ['127.0.0.1:{target}']\n")
            if names:
                file.write(f"  params: {{names: [{', '.join(names)}]}}\n")
        log = open(os.path.join(self.folder, "prometheus.log"), "wb")  # closed with the test
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return port

    def query(self, port, expression):
        url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(url, timeout=5) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def test_prometheus_scrapes_every_device(self):
        server = self.daemon()
        port = self.start_prometheus(server.port)
        wait_until(lambda: self.query(port, 'up{job="gpusight"} == 1'), 60, 0.5, "a first scrape")
        power = wait_until(lambda: self.query(port, "gpu_power_watts"), 20, 0.5, "gpu_power_watts")
        self.assertEqual({r["metric"]["uuid"] for r in power}, {d["uuid"] for d in server.snapshot()["devices"]})
        self.assertEqual(len(power), DEVICES)
        for result in power:
            self.assertTrue(50 < float(result["value"][1]) < 1000)
        rate = wait_until(lambda: self.query(port, "rate(gpu_energy_joules_total[10s]) > 0"), 30, 0.5, "a rate")
        self.assertEqual(len(rate), DEVICES)
        # No label of ours was renamed because it collided with one of Prometheus's.
        for result in power:
            self.assertFalse([name for name in result["metric"] if name.startswith("exported_")])

    # FAULT-092
    # FAULT-104
    def test_the_panels_of_public_boards_find_their_series(self):
        server = self.daemon(scenario="h100-mig")
        port = self.start_prometheus(server.port, ("dcgm", "nvidia_smi"))
        wait_until(lambda: self.query(port, 'up{job="gpusight"} == 1'), 60, 0.5, "a first scrape")
        boards = [d for d in server.snapshot()["devices"] if d["kind"] == "gpu"]
        instances = [d for d in server.snapshot()["devices"] if d["kind"] == "mig"]
        by_gpu = "by (Hostname, gpu)"
        by_instance = "by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)"
        of_mig = 'on(uuid, gpu_instance_id) group_left(profile) max by (uuid, gpu_instance_id, profile) (nvidia_smi_mig_info)'
        for expression, count in (
                (f'max(DCGM_FI_DEV_GPU_TEMP{{Hostname=~".+", gpu=~".+"}}) {by_gpu}', len(boards)),
                (f"max(DCGM_FI_DEV_POWER_USAGE) {by_gpu}", len(boards)),
                (f"max(DCGM_FI_DEV_SM_CLOCK * 1000000) {by_gpu} > 1e8", len(boards)),
                (f"max(DCGM_FI_DEV_FB_USED) {by_instance}", len(boards) + len(instances)),
                (f"max(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE) {by_instance} <= 1", len(boards) + len(instances)),
                ("nvidia_smi_power_draw_watts / nvidia_smi_enforced_power_limit_watts < 2", len(boards)),
                ("nvidia_smi_memory_used_bytes / nvidia_smi_memory_total_bytes <= 1", len(boards)),
                (f"nvidia_smi_mig_memory_used_bytes * {of_mig}", len(instances)),
                (f"nvidia_smi_mig_tensor_activity_ratio * {of_mig}", len(instances)),
        ):
            found = wait_until(lambda e=expression, n=count: len(self.query(port, e)) == n, 40, 0.5, expression)
            self.assertTrue(found)
        for result in self.query(port, '{__name__=~"DCGM_.+|nvidia_smi_.+"}'):
            self.assertFalse([name for name in result["metric"] if name.startswith("exported_")])

    # FAULT-039
    # FAULT-041
    def test_prometheus_sees_a_gpu_go(self):
        server = self.daemon()
        port = self.start_prometheus(server.port)
        victim = server.device(6)["uuid"]
        wait_until(lambda: self.query(port, f'gpu_power_watts{{uuid="{victim}"}}'), 60, 0.5, "a first scrape")
        server.control('[[fault]]\nkind = "gpu_lost"\ngpu = 6\n')
        wait_until(lambda: self.query(port, f'gpu_up{{uuid="{victim}"}} == 0'), 40, 0.5, "gpu_up == 0")
        # Its readings end at once, and not after Prometheus's five minutes.
        wait_until(lambda: not self.query(port, f'gpu_power_watts{{uuid="{victim}"}}'), 30, 0.5, "the end of power")
        self.assertEqual(len(self.query(port, "gpu_power_watts")), DEVICES - 1)


if __name__ == "__main__":
    main()
