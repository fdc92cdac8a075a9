"""Prometheus's HTTP API of the real binary: answers, errors, restarts, callers, load and the end.

GPUSIGHT_UPDATE_GOLDEN=1 writes golden/prometheus_api.json anew: what is asked, and the form of what is answered.
"""

import contextlib
import http.client
import json
import os
import re
import shutil
import tempfile
import threading
import time
import urllib.parse

from harness import Case, Daemon, main, wait_until

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "prometheus_api.json")
DEVICES = 8
# It reads every series at every second of ten days: longer than any test waits.
ENDLESS = "count_over_time((count({__name__=~\".+\"}) > 0)[10d:1s])"
QUESTIONS = (
    ("query", {"query": "1+1", "time": "1435781430.781"}),
    ("query", {"query": "gpu_power_watts > 0", "limit": "2"}),
    ("query", {"query": "count(gpu_power_watts)"}),
    ("query", {"query": "count by (__name__) ({__name__=~\"gpu_power_(average|instant)_watts\"})"}),
    ("query", {"query": "\"text\"", "time": "2026-01-01T00:00:00Z"}),
    ("query", {"query": "count(rate(gpu_temperature_celsius[5m]))", "stats": "all"}),
    ("query", {"query": "gpu_power_watts * on() gpu_power_watts"}),
    ("query", {"query": "gpu_power_watts{"}),
    ("query", {"query": ""}),
    ("query", {"query": "1", "time": "yesterday"}),
    ("query", {"query": "1", "timeout": "0"}),
    ("query", {"query": "1", "limit": "-1"}),
    ("query_range", {"query": "vector(1)", "start": "0", "end": "60", "step": "30"}),
    ("query_range", {"query": "vector(1)", "start": "0", "end": "60", "step": "0"}),
    ("query_range", {"query": "vector(1)", "start": "60", "end": "0", "step": "1"}),
    ("query_range", {"query": "gpu_up[1m]", "start": "0", "end": "60", "step": "1"}),
    ("query_range", {"query": "1", "start": "0", "end": "11001", "step": "1"}),
    ("series", {"match[]": "gpu_power_watts", "limit": "1"}),
    ("series", {}),
    ("series", {"match[]": "{}"}),
    ("labels", {"match[]": "gpu_power_watts"}),
    ("label/__name__/values", {"match[]": "{__name__=~\"gpu_power_(average_|instant_)?watts\"}"}),
    ("label/nothing/values", {}),
    ("metadata", {"metric": "gpu_power_watts"}),
    ("metadata", {"limit": "x"}),
    ("format_query", {"query": "sum(gpu_power_watts)by(uuid)"}),
    ("query_exemplars", {"query": "gpu_power_watts"}),
    ("rules", {}),
    ("rules", {"type": "x"}),
    ("alerts", {}),
    ("status/buildinfo", {}),
    ("nothing", {}),
)


def form_of(value, key=""):
    """The answer with what changes from run to run taken out."""
    if isinstance(value, dict):
        return {k: form_of(v, k) for k, v in value.items()}
    if key in ("value", "values") or (key == "result" and value and not isinstance(value[0], dict)):
        points = value if value and isinstance(value[0], list) else [value]
        return [["TIME" if at > 1.78e9 else at, number if at < 1.78e9 or number == str(DEVICES) else "NUMBER"]
                for at, number in points]
    if isinstance(value, list):
        return [form_of(v) for v in value]
    if isinstance(value, float):
        return "NUMBER"
    if key == "totalQueryableSamples":
        return "COUNT"
    if isinstance(value, str):
        return re.sub(r"GPU-[0-9a-f-]{36}", "UUID", value)
    return value


class Answers(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Daemon()
        try:
            wait_until(cls.is_settled, 30, what="two readings")
        except BaseException:
            cls.server.kill()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    @classmethod
    def is_settled(cls):
        """Every device was read twice."""
        both = "count(gpu_power_watts and on (uuid) rate(gpu_temperature_celsius[5m]))"
        answer = cls.server.post("/api/v1/query", {"query": both}).json()
        return answer["data"]["result"] and answer["data"]["result"][0]["value"][1] == str(DEVICES)

    def ask(self, call, **parameters):
        return self.server.get(f"/api/v1/{call}?" + urllib.parse.urlencode(parameters))

    def test_the_form_of_every_answer_is_the_golden_one(self):
        made = []
        for call, parameters in QUESTIONS:
            answer = self.ask(call, **parameters)
            made.append({"call": call, "parameters": parameters, "status": answer.status,
                         "answer": form_of(answer.json())})
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        if os.environ.get("GPUSIGHT_UPDATE_GOLDEN"):
            with open(GOLDEN, "w", encoding="utf-8") as file:
                file.write(text)
        with open(GOLDEN, encoding="utf-8") as file:
            wanted = json.load(file)
        self.assertEqual(len(made), len(wanted))
        for mine, theirs in zip(json.loads(text), wanted):
            self.assertEqual(mine, theirs)

    def test_a_form_asks_the_same_as_a_target(self):
        for call, parameters in QUESTIONS:
            if call.startswith(("label/", "metadata", "rules", "alerts", "status", "nothing")) or "time" not in parameters:
                continue
            by_form = self.server.post("/api/v1/" + call, parameters)
            self.assertEqual(by_form.body, self.ask(call, **parameters).body, parameters)

    def test_numbers_are_those_of_metrics(self):
        total = "gpu_memory_total_bytes"
        shown = {k: float(v) for k, v in self.server.metrics().items() if k.startswith(total + "{")}
        asked = {f'{total}{{uuid="{r["metric"]["uuid"]}"}}': float(r["value"][1])
                 for r in self.ask("query", query=total).json()["data"]["result"]}
        self.assertEqual(asked, shown)
        self.assertEqual(len(asked), DEVICES)

    # FAULT-128
    # FAULT-135
    def test_series_tell_nobody_of_processes(self):
        processes = self.server.snapshot(local=True)["devices"][0]["processes"]
        self.assertTrue(processes)
        everything = self.server.get_local("/api/v1/series?" + urllib.parse.urlencode({"match[]": '{__name__!=""}'}))
        for name in {p["name"] for p in processes if p.get("name")}:
            self.assertNotIn(f'"{name}"', everything.text)
        labels = self.server.get_local("/api/v1/labels").json()["data"]
        self.assertFalse(set(labels) & {"pid", "process", "process_name", "user", "command", "container"})
        self.assertEqual(self.server.get("/api/v1/labels").json()["data"], labels)

    # FAULT-128
    def test_other_sites_and_foreign_hosts_get_nothing(self):
        path = "/api/v1/query?query=1"
        self.assertEqual(self.server.get(path, {"Origin": "http://example.org"}).status, 403)
        self.assertEqual(self.server.get(path, {"Host": "example.org"}).status, 421)
        answer = self.server.request("POST", path, {"Content-Type": "text/plain"}, body="query=1")
        self.assertEqual((answer.status, answer.json()["errorType"]), (400, "bad_data"))

    def test_sampling_and_health_go_on_under_load(self):
        before = self.server.snapshot()["sequence"]
        over = threading.Event()
        statuses = []

        def hammer():
            while not over.is_set():
                statuses.append(self.ask("query", query=ENDLESS, timeout="1s").status)

        threads = [threading.Thread(target=hammer) for _ in range(24)]
        for thread in threads:
            thread.start()
        began, slowest = time.monotonic(), 0.0
        while time.monotonic() - began < 4:
            asked = time.monotonic()
            self.assertEqual(self.server.get("/healthz").status, 200)
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(0.05)
        after = self.server.snapshot()["sequence"]
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {503})  # out of time, or too many at once
        self.assertGreaterEqual(after - before, 2)
        self.assertLess(slowest, 3)


class Lives(Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="gpusight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    @staticmethod
    def times(daemon):
        """When a GPU was read in the last two minutes, as recorded."""
        result = daemon.post("/api/v1/query", {"query": "gpu_up[2m]", "limit": "1"}).json()["data"]["result"]
        return [at for at, number in result[0]["values"] if number == "1"] if result else []

    def test_what_was_recorded_before_a_restart_is_answered_after_it(self):
        before = self.daemon(folder=self.folder)
        wait_until(lambda: len(self.times(before)) >= 3, 20, what="three ticks")
        old = self.times(before)
        self.assertEqual(before.stop()[0], 0)
        after = self.daemon(folder=self.folder)
        wait_until(lambda: self.times(after)[-1] > old[-1] + 1, 20, what="new ticks")
        self.assertEqual(self.times(after)[:len(old)], old)

    def test_without_history_the_last_minutes_are_answered(self):
        daemon = self.daemon("--no-history", folder=self.folder)
        wait_until(lambda: len(self.times(daemon)) >= 2, 20, what="two ticks")

    def test_it_leaves_in_time_while_queries_run(self):
        daemon = self.daemon(folder=self.folder)
        wait_until(lambda: self.times(daemon), 20, what="a tick")
        began = threading.Barrier(5)

        def ask():
            began.wait()
            with contextlib.suppress(OSError, http.client.HTTPException):  # it is cut off
                daemon.post("/api/v1/query", {"query": ENDLESS}, timeout=30)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        began.wait()
        time.sleep(1)
        code, took = daemon.stop()
        for thread in threads:
            thread.join()
        self.assertEqual(code, 0)
        self.assertLess(took, 5)
        self.assertNotIn("leaving without", daemon.log())


if __name__ == "__main__":
    main()
