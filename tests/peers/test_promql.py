"""Our query engine and Prometheus's answer the same.

Both get the series of promql_queries.py, Prometheus as a block on disk, and 200 queries made up from a
seed, each at an instant and over a range. Label sets must be the same; numbers may be apart by a
billionth of the larger, or of 1 where both are small. Left out, and said so, where the Debian package
prometheus is not installed.
"""

import json
import math
import os
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

import promql_queries  # noqa: E402
from harness import BUILD_DIR, CLEAN_ENVIRONMENT, Case, die_with_parent, free_port, need, wait_until  # noqa: E402

ANSWERS = os.path.join(BUILD_DIR, "bin", "promql_answers")
SEED = int(os.environ.get("GPUSIGHT_PROMQL_SEED", "20230222"))
QUERIES = 200
TOLERANCE = 1e-9
# Whole seconds that are no multiple of ten, away from the ends.
INSTANT = promql_queries.START + 5407
RANGE = (promql_queries.START + 3607, promql_queries.START + 5407, 60)


def close(a, b):
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def points_of(answer):
    """{labels: {time: value}} of any result."""
    kind, result = answer["resultType"], answer["result"]
    if kind in ("scalar", "string"):
        return {(): {float(result[0]): result[1]}}
    return {tuple(sorted(entry["metric"].items())): {float(at): value for at, value in
                                                     entry.get("values", [entry.get("value")])}
            for entry in result}


def difference(ours, theirs):
    """What differs, for people; None where nothing does."""
    if ("error" in ours) != ("error" in theirs):
        return f"ours: {ours.get('error', 'an answer')}; Prometheus: {theirs.get('error', 'an answer')}"
    if "error" in ours:
        return None
    if ours["resultType"] != theirs["resultType"]:
        return f"ours is a {ours['resultType']}, Prometheus's a {theirs['resultType']}"
    mine, wanted = points_of(ours), points_of(theirs)
    if mine.keys() != wanted.keys():
        return f"only ours: {sorted(mine.keys() - wanted.keys())}; only Prometheus: {sorted(wanted.keys() - mine.keys())}"
    for labels, points in wanted.items():
        if mine[labels].keys() != points.keys():
            return f"{labels}: at other times: {sorted(mine[labels].keys() ^ points.keys())}"
        for at, value in points.items():
            if not close(mine[labels][at], value):
                return f"{labels} at {at}: ours {mine[labels][at]}, Prometheus {value}"
    return None


class SameAnswers(Case):
    def start_prometheus(self, series):
        program, promtool = need("prometheus"), need("promtool")
        storage = os.path.join(self.folder, "tsdb")
        done = subprocess.run([promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet", series, storage],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {evaluation_interval: 1m}\n")
        port = free_port()
        log = open(os.path.join(self.folder, "prometheus.log"), "wb")  # closed with the test
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={storage}",
             "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: self.ask(port, "query", query="count(load)", time=INSTANT).get("result"), 30, 0.2,
                   "Prometheus to have the series")
        return port

    @staticmethod
    def ask(port, route, **parameters):
        url = f"http://127.0.0.1:{port}/api/v1/{route}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(url, urllib.parse.urlencode(parameters).encode(), timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            return {"error": json.load(error)["error"]}
        except OSError as error:
            return {"error": str(error)}

    def ours(self, series, queries):
        path = os.path.join(self.folder, "queries.tsv")
        with open(path, "w", encoding="utf-8") as file:
            for query in queries:
                file.write(f"instant\t{INSTANT}\t{query}\n")
                file.write("range\t{}\t{}\t{}\t{}\n".format(*RANGE, query))
        done = subprocess.run([ANSWERS, series, path], capture_output=True, check=False, env=CLEAN_ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), 2 * len(queries))
        return answers

    def test_two_hundred_queries(self):
        series = os.path.join(self.folder, "series.om")
        with open(series, "w", encoding="utf-8") as file:
            file.write(promql_queries.series(SEED))
        queries = promql_queries.Generator(SEED).queries(QUERIES)
        port = self.start_prometheus(series)
        answers = self.ours(series, queries)
        different, errors, empty = [], 0, 0
        for index, query in enumerate(queries):
            theirs = (self.ask(port, "query", query=query, time=INSTANT),
                      self.ask(port, "query_range", query=query, start=RANGE[0], end=RANGE[1], step=RANGE[2]))
            for kind, ours, wanted in zip(("instant", "range"), answers[2 * index:], theirs):
                wrong = difference(ours, wanted)
                if wrong:
                    different.append(f"{kind} {query}\n    {wrong}")
                errors += "error" in wanted
                empty += not wanted.get("result", True)
        print(f"{2 * len(queries)} answers compared (seed {SEED}): {errors} errors, {empty} empty")
        self.assertFalse(different, "\n".join(different))
        # The queries must be worth asking.
        self.assertLess(errors, QUERIES // 10)
        self.assertLess(empty, QUERIES // 2)


if __name__ == "__main__":
    if not os.access(ANSWERS, os.X_OK):
        print(f"no program at {ANSWERS}", file=sys.stderr)
        sys.exit(1)
    unittest.main(verbosity=2)
