"""Our /api/v1 beside Prometheus's: the same questions, the same status, type of error and form of answer.

The daemon and a real Prometheus that scrapes it stand side by side, and promtool asks ours. Left out, and said
so, where the Debian package prometheus is not installed. Where Prometheus 2.42 of Debian is older than the
behaviour that we have from Prometheus 3, the table says so.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from harness import Case, Daemon, die_with_parent, free_port, main, need, wait_until  # noqa: E402

DEVICES = 8
RANGE = {"start": "2026-01-01T00:00:00Z", "end": "1767225660", "step": "15"}
SAME = (
    ("query", {"query": "1+1"}),
    ("query", {"query": "1+1", "time": "1435781430.781"}),
    ("query", {"query": "0.1+1e-7", "time": "2015-07-01T20:10:30.781Z"}),
    ("query", {"query": "1e21", "time": "2015-07-01T22:10:30+02:00"}),
    ("query", {"query": "vector(1e21)", "time": "0"}),
    ("query", {"query": "vector(1e-7)", "time": "0"}),
    ("query", {"query": "vector(-123456789012345678)", "time": "0"}),
    ("query", {"query": "12345678901234567890", "time": "-1.5"}),
    ("query", {"query": "1/0 - 1/0", "time": "0"}),
    ("query", {"query": "vector(-1/0)", "time": "1.05"}),
    ("query", {"query": "\"a \\\"quoted\\\" text\"", "time": "0"}),
    ("query", {"query": "vector(1)[1m:30s]", "time": "1000"}),
    ("query", {"query": "1\n+\n1", "time": "0"}),
    ("query", {"query": "nothing"}),
    ("query", {"query": "nothing[5m]"}),
    ("query", {"query": ""}),
    ("query", {}),
    ("query", {"query": "sum("}),
    ("query", {"query": "no_function(1)"}),
    ("query", {"query": "{}"}),
    ("query", {"query": "1", "time": "now"}),
    ("query", {"query": "1", "time": "NaN"}, "2.42 takes it for some time"),
    ("query", {"query": "1", "time": ""}),
    ("query", {"query": "1", "timeout": "1m"}),
    ("query", {"query": "1", "timeout": "soon"}),
    ("query", {"query": "1", "lookback_delta": "30s"}),
    ("query", {"query": "1", "lookback_delta": "x"}, "2.42 does not know it"),
    ("query", {"query": "1", "limit": "x"}, "2.42 has no limit"),
    ("query", {"query": "gpu_power_watts"}),
    ("query", {"query": "gpu_power_watts * on() gpu_power_watts"}),
    ("query", {"query": "count(gpu_power_watts)"}),
    ("query", {"query": "gpu_power_watts", "time": "1"}),
    ("query_range", {"query": "vector(time())", **RANGE}),
    ("query_range", {"query": "time()", **RANGE}),
    ("query_range", {"query": "nothing", **RANGE}),
    ("query_range", {"query": "1", **RANGE, "step": "1m"}),
    ("query_range", {"query": "1", **RANGE, "step": "0.5"}),
    ("query_range", {"query": "1", **RANGE, "step": "0"}),
    ("query_range", {"query": "1", **RANGE, "step": "-15"}),
    ("query_range", {"query": "1", **RANGE, "step": "often"}),
    ("query_range", {"query": "1", "start": "0", "end": "1"}),
    ("query_range", {"query": "1", "step": "1"}),
    ("query_range", {"query": "1", "start": "1", "end": "0", "step": "1"}),
    ("query_range", {"query": "1", "start": "0", "end": "11000", "step": "1"}),
    ("query_range", {"query": "1", "start": "0", "end": "11001", "step": "1"}),
    ("query_range", {"query": "up[5m]", **RANGE}),
    ("query_range", {"query": "\"x\"", **RANGE}),
    ("query_range", {"query": "1 +", **RANGE}),
    ("series", {"match[]": "gpu_power_watts"}),
    ("series", {"match[]": "nothing"}),
    ("series", {"match[]": "gpu_power_watts", "start": "0", "end": "1"}),
    ("series", {}),
    ("series", {"match[]": ""}),
    ("series", {"match[]": "{}"}),
    ("series", {"match[]": "{a=~\".*\"}"}),
    ("series", {"match[]": "sum(up)"}),
    ("series", {"match[]": "up", "start": "x"}),
    ("labels", {"match[]": "nothing"}),
    ("labels", {"match[]": "up{"}),
    ("labels", {"end": "x"}),
    ("label/uuid/values", {"match[]": "gpu_power_watts"}),
    ("label/nothing/values", {}),
    ("label/uuid/values", {"match[]": "{"}),
    ("metadata", {"metric": "gpu_power_watts"}),
    ("metadata", {"metric": "nothing"}),
    ("metadata", {"limit": "x"}),
    ("format_query", {"query": "sum(a)by(b)"}),
    ("format_query", {"query": "sum("}),
    ("query_exemplars", {"query": "gpu_power_watts", "start": "0", "end": "1"}),
    ("query_exemplars", {"query": "a("}),
    ("query_exemplars", {"query": "a", "start": "2", "end": "1"}),
    ("rules", {}),
    ("rules", {"type": "alert"}),
    ("rules", {"type": "x"}),
    ("alerts", {}),
    ("status/buildinfo", {}),
)
# What each of them is asked by a form as well.
FORMS = ("query", "query_range", "series", "labels", "format_query", "query_exemplars")


def form_of(value, key=""):
    """What a client must find the same: members, types, numbers that do not depend on a device."""
    if isinstance(value, dict):
        if key == "metric" or "__name__" in value:  # Prometheus adds the target's labels
            return "LABELS"
        return {k: form_of(v, k) for k, v in value.items() if k != "stats"}
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return [form_of(value[0])]
        if len(value) == 2 and isinstance(value[0], (int, float)):
            return ["TIME", "NUMBER"] if value[0] > 1.78e9 else value
        return [form_of(v) for v in value]
    return value if key in ("status", "resultType", "errorType") or isinstance(value, (int, float)) else "TEXT"


class Beside(Case):
    @classmethod
    def setUpClass(cls):
        cls.prometheus, cls.promtool = need("prometheus"), need("promtool")
        cls.server = Daemon()
        cls.addClassCleanup(cls.server.kill)
        cls.port = cls.start_prometheus()
        ports = (cls.server.port, cls.port)
        # A rate needs two readings, and the metadata a scrape.
        wait_until(lambda: all(cls.count(port) == DEVICES for port in ports), 60, 0.5, "the series at both")

    @classmethod
    def start_prometheus(cls):
        port = free_port()
        folder = cls.server.folder
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n- job_name: gpusight\n"
                       f"  static_configs: [{{targets: ['127.0.0.1:{cls.server.port}']}}]\n")
        log = open(os.path.join(folder, "prometheus.log"), "wb")
        cls.addClassCleanup(log.close)
        process = subprocess.Popen(
            [cls.prometheus, f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, preexec_fn=die_with_parent)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        return port

    @staticmethod
    def ask(port, call, parameters, is_form=False):
        """(status, content type, answer)"""
        text = urllib.parse.urlencode(parameters)
        url = f"http://127.0.0.1:{port}/api/v1/{call}" + ("" if is_form or not text else "?" + text)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            answer = opener.open(url, text.encode() if is_form else None, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers["Content-Type"], json.load(answer)

    @classmethod
    def count(cls, port):
        try:
            answer = cls.ask(port, "query", {"query": "count(gpu_power_watts)"})[2]
        except (OSError, ValueError):  # it is starting
            return 0
        result = answer.get("data", {}).get("result")
        return int(result[0]["value"][1]) if result else 0

    def test_status_error_type_and_form_are_the_same(self):
        different = []
        compared = 0
        for call, parameters, *newer in SAME:
            if newer:
                continue
            for is_form in (False, True) if call in FORMS else (False,):
                ours = self.ask(self.server.port, call, parameters, is_form)
                theirs = self.ask(self.port, call, parameters, is_form)
                compared += 1
                if (ours[0], form_of(ours[2])) != (theirs[0], form_of(theirs[2])):
                    different.append(f"{call} {parameters}\n  ours   {ours}\n  theirs {theirs}"[:1500])
                self.assertEqual(ours[1], "application/json")
        print(f"{compared} answers compared")
        self.assertFalse(different, "\n".join(different))

    def test_what_is_newer_than_theirs_is_answered(self):
        for call, parameters, *newer in SAME:
            if newer:
                self.assertEqual(self.ask(self.server.port, call, parameters)[0], 400, parameters)
        self.assertEqual(len(self.ask(self.server.port, "metadata", {"limit": "3"})[2]["data"]), 3)
        answer = self.ask(self.server.port, "query", {"query": "gpu_power_watts", "limit": "3"})[2]
        self.assertEqual(len(answer["data"]["result"]), 3)
        self.assertEqual(answer["warnings"], ["results truncated due to limit"])

    def test_messages_of_parameters_are_theirs(self):
        for call, parameters in (("query_range", {"query": "1", "start": "0", "end": "11001", "step": "1"}),
                                 ("query_range", {"query": "1", "start": "1", "end": "0", "step": "1"}),
                                 ("query_range", {"query": "1", "step": "1"}),
                                 ("query", {"query": "1", "time": "now"}),
                                 ("query", {"query": "sum("}),
                                 ("series", {}),
                                 ("series", {"match[]": "up{"}),
                                 ("metadata", {"limit": "x"}),
                                 ("rules", {"type": "x"})):
            ours = self.ask(self.server.port, call, parameters)[2]["error"]
            theirs = self.ask(self.port, call, parameters)[2]["error"]
            self.assertEqual(ours, theirs, (call, parameters))

    def tool(self, *arguments):
        done = subprocess.run([self.promtool, "query", *arguments], capture_output=True, text=True, check=False,
                              timeout=30, env={"PATH": os.environ["PATH"], "NO_PROXY": "*"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_promtool_asks_us(self):
        url = f"http://127.0.0.1:{self.server.port}"
        uuids = sorted(d["uuid"] for d in self.server.snapshot()["devices"])
        self.assertTrue(self.tool("instant", url, "1+1").startswith("scalar: 2 @["))
        power = self.tool("instant", url, "gpu_power_watts").splitlines()
        self.assertEqual(len(power), DEVICES)
        self.assertIn(f'gpu_power_watts{{uuid="{uuids[0]}"}} => ', power[0])
        ranged = self.tool("range", "--step=1s", url, "sum by (uuid) (gpu_power_watts)")
        self.assertEqual(ranged.count('{uuid="GPU-'), DEVICES)
        self.assertEqual(len(self.tool("series", "--match=gpu_power_watts", url).splitlines()), DEVICES)
        self.assertEqual(self.tool("labels", url, "uuid").split(), uuids)
        refused = subprocess.run([self.promtool, "query", "instant", url, "sum("], capture_output=True, text=True,
                                 check=False, timeout=30)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("unclosed left parenthesis", refused.stderr)

    def test_what_grafana_asks_first_is_answered(self):
        """Its health check and what it looks at of a data source, as it sends them."""
        for call, parameters, is_form in (
                ("query", {"query": "1+1", "time": "1767225600"}, True),
                ("status/buildinfo", {}, False),
                ("rules", {}, False),
                ("metadata", {"limit": "40000"}, False),
                ("labels", {"start": "1767225600", "end": "1767229200"}, True),
                ("label/__name__/values", {"start": "1767225600", "end": "1767229200"}, False),
                ("query_exemplars", {"query": "gpu_power_watts", "start": "0", "end": "9"}, True)):
            status, _, answer = self.ask(self.server.port, call, parameters, is_form)
            self.assertEqual((status, answer["status"]), (200, "success"), call)
        # By this version it chooses to filter labels on our side.
        version = self.ask(self.server.port, "status/buildinfo", {})[2]["data"]["version"]
        self.assertGreaterEqual(tuple(map(int, version.split("."))), (2, 24, 0))


if __name__ == "__main__":
    main()
