"""Series and queries made up from a seed, for asking two PromQL engines the same.

What Prometheus 2 and 3 answer differently is left out, such as the name that atan2 kept. Times of samples are never whole seconds and
times in queries always are, so that no sample lies on the left edge of a window; subqueries begin
between two of their steps. Rounding and "%" are for plain samples only, and topk for values that are
all different: a last digit must not turn into another answer.
"""

import random

START = 1_700_000_000  # seconds; samples lie in the two hours from here on
HOURS = 2
INTERVAL = 15
JOBS = ("train", "infer")
INSTANCES = ("a:9", "b:9", "c:9")
BOUNDS = ("0.1", "0.5", "2.5", "10", "+Inf")


def series(seed):
    """OpenMetrics text: {metric: …} of gauges, counters with resets, a histogram, 0/1 values and gaps."""
    dice = random.Random(seed)
    lines = []
    for index, (job, instance) in enumerate((j, i) for j in JOBS for i in INSTANCES):
        labels = f'job="{job}",instance="{instance}",zone="z{index % 2}"'
        shift = 0.137 + index * 0.011
        lines += gauge(dice, "load", labels, shift)
        lines += gauge(dice, "heat", labels, shift + 0.301)
        lines += counter(dice, "bytes_total", labels, shift)
        lines += counter(dice, "errors_total", labels, shift + 0.47)
        lines += switch(dice, labels, shift)
        lines += histogram(dice, f'job="{job}",instance="{instance}"', shift)
    for index, instance in enumerate(INSTANCES):
        lines += [f'build_info{{instance="{instance}",version="v{index // 2}"}} 1 {moment(at, 0.5)}'
                  for at in ticks()]
    return "\n".join(lines) + "\n# EOF\n"


def ticks():
    return range(START, START + HOURS * 3600, INTERVAL)


def moment(at, shift):
    return f"{at + shift:.3f}"


def with_gap(dice):
    """Ticks with a hole of up to ten minutes, longer than an instant looks back."""
    first = START + dice.randrange(HOURS * 3600)
    last = first + dice.randrange(600)
    return [at for at in ticks() if not first <= at < last]


def gauge(dice, name, labels, shift):
    value = dice.uniform(20, 80)
    for at in with_gap(dice):
        value = min(max(value + dice.gauss(0, 3), -20), 120)
        yield f"{name}{{{labels}}} {value:.6f} {moment(at, shift)}"


def counter(dice, name, labels, shift):
    # Never near zero, where engines of different age fill the edge of a window differently.
    value = dice.uniform(50_000, 60_000)
    for at in with_gap(dice):
        value = dice.uniform(40_000, 50_000) if dice.random() < 0.004 else value + dice.uniform(0, 30)
        yield f"{name}{{{labels}}} {value:.6f} {moment(at, shift)}"


def switch(dice, labels, shift):
    value = 1
    for at in ticks():
        value = 1 - value if dice.random() < 0.05 else value
        yield f"alive{{{labels}}} {value} {moment(at, shift)}"


def histogram(dice, labels, shift):
    counts = [10_000 * (rank + 1) for rank in range(len(BOUNDS))]
    lines = []
    for at in ticks():
        added = 0
        for rank, bound in enumerate(BOUNDS):
            added += dice.randrange(4)
            counts[rank] += added
            lines.append((rank, f'wait_bucket{{{labels},le="{bound}"}} {counts[rank]} {moment(at, shift)}'))
    return [line for _, line in sorted(lines, key=lambda entry: entry[0])]


GAUGES = ("load", "heat")
COUNTERS = ("bytes_total", "errors_total")
FULL = ("job", "instance", "zone")
OVER_TIME = ("avg", "min", "max", "sum", "count", "last", "stddev", "stdvar", "present")


class Query:
    """One query: text, and the labels its result is told apart by (None where two may not be matched)."""

    def __init__(self, text, labels):
        self.text, self.labels = text, labels


class Generator:
    def __init__(self, seed):
        self.dice = random.Random(seed)

    def pick(self, choices):
        return choices[self.dice.randrange(len(choices))]

    def queries(self, count):
        """`count` different ones."""
        found = {}
        while len(found) < count:
            found.setdefault(self.vector(3).text)
        return list(found)

    # Selectors.

    def matchers(self):
        return self.pick(("", "", "", '{job="train"}', '{instance=~"a.*|b.*"}', '{zone!="z0"}', '{job!~"in.+"}',
                          '{instance!="c:9",zone=~"z[01]"}', '{job="none"}'))

    def shift(self):
        offset = self.pick(("", "", "", "", " offset 7m", " offset 90s", " offset -3m"))
        at = self.pick(("", "", "", "", "", f" @ {START + 3000}", " @ end()", " @ start()"))
        return at + offset

    def window(self):
        return self.pick(("1m", "2m", "5m", "7m30s", "20m", "1h"))

    def selector(self, names):
        return self.pick(names) + self.matchers() + self.shift()

    def range_of(self, names):
        return f"{self.pick(names)}{self.matchers()}[{self.window()}]{self.shift()}"

    def subquery(self, depth):
        # Windows of whole five but not ten seconds: no step lies on their left edge.
        inner = self.vector(depth - 1)
        window, step = self.pick((("95s", "10s"), ("305s", "30s"), ("605s", "60s"), ("1205s", ""), ("905s", "50s")))
        return f"({inner.text})[{window}:{step}]{self.shift()}", inner.labels

    # Vectors.

    def vector(self, depth):
        if depth == 0:
            return Query(self.selector(GAUGES + COUNTERS + ("alive",)), FULL)
        makers = (self.rate, self.rate, self.over_time, self.over_time, self.over_subquery, self.aggregation,
                  self.aggregation, self.top, self.of_values, self.of_samples, self.with_number, self.with_vector,
                  self.with_vector, self.with_info, self.of_sets, self.of_labels, self.of_histogram, self.of_time,
                  self.absence, self.from_scalar)
        return self.pick(makers)(depth)

    def rate(self, _):
        function = self.pick(("rate", "increase", "irate", "rate", "increase", "resets"))
        return Query(f"{function}({self.range_of(COUNTERS)})", FULL)

    def over_time(self, _):
        names = self.pick((GAUGES, GAUGES, COUNTERS, ("alive",)))
        samples = self.range_of(names)
        return Query(self.pick((
            f"{self.pick(OVER_TIME)}_over_time({samples})", f"{self.pick(OVER_TIME)}_over_time({samples})",
            f"quantile_over_time({self.pick((0, 0.25, 0.5, 0.95, 1))}, {samples})", f"delta({samples})",
            f"idelta({samples})", f"deriv({samples})", f"changes({samples})", f"resets({samples})",
            # Prometheus 2 moves the window of predict_linear at each step in spite of "@".
            f"predict_linear({samples.split(' @')[0]}, {self.pick((0, 600, -300))})")), FULL)

    def over_subquery(self, depth):
        samples, labels = self.subquery(depth)
        function = self.pick(("avg_over_time", "max_over_time", "min_over_time", "sum_over_time", "count_over_time",
                              "quantile_over_time", "last_over_time", "delta", "stddev_over_time"))
        if function == "quantile_over_time":
            return Query(f"{function}(0.75, {samples})", labels)
        # A name that last_over_time keeps does not matter to what it is matched with.
        return Query(f"{function}({samples})", labels)

    def grouping(self):
        return self.pick((("job",), ("instance",), ("zone",), ("job", "zone"), ("instance", "job"), ()))

    def aggregation(self, depth):
        operator = self.pick(("sum", "avg", "min", "max", "count", "stddev", "stdvar", "group", "quantile"))
        # The deviation of a single NaN was 0 in Prometheus 2.
        inner = self.over_time(depth) if operator.startswith("std") else self.vector(depth - 1)
        labels = self.grouping()
        argument = inner.text if operator != "quantile" else f"{self.pick((0.1, 0.5, 0.9))}, {inner.text}"
        if self.dice.random() < 0.5:
            return Query(f"{operator} by ({', '.join(labels)}) ({argument})", self.kept(inner, labels, True))
        return Query(f"{operator} without ({', '.join(labels)}) ({argument})", self.kept(inner, labels, False))

    @staticmethod
    def kept(inner, labels, listed):
        if inner.labels is None:
            return None
        return tuple(name for name in inner.labels if (name in labels) == listed)

    def top(self, _):
        inner = self.pick((self.selector(GAUGES), f"rate({self.range_of(COUNTERS)})",
                           f"avg_over_time({self.range_of(GAUGES)})"))
        operator = self.pick(("topk", "bottomk"))
        clause = self.pick(("", " by (job)", " without (instance, zone)"))
        return Query(f"{operator}{clause} ({self.pick((1, 2, 4))}, {inner})", None)

    def of_values(self, depth):
        inner = self.vector(depth - 1)
        function = self.pick(("abs({})", "sqrt({})", "clamp({}, 10, 60)", "clamp_min({}, 30)", "clamp_max({}, 50)",
                              "atan({})", "tanh({})", "deg({})", "rad({})", "-{}", "sgn({} - 40)", "ln({})",
                              "log2({})", "log10({})", "asinh({})"))
        return Query(function.format(f"({inner.text})" if function[0] == "-" else inner.text), inner.labels)

    def of_samples(self, _):
        samples = self.selector(GAUGES)
        function = self.pick(("round({})", "round({}, 0.25)", "floor({})", "ceil({})", "{} % 7", "exp({} / 40)",
                              "sin({})", "cos({})", "cosh({} / 50)", "{} ^ 2", "2 ^ ({} / 9)",
                              "30 atan2 {} > bool 1", "count_values without (instance, zone) (\"v\", round({}, 20))"))
        return Query(function.format(samples), None if function.startswith("count") else FULL)

    def number(self):
        return self.pick(("1.5", "40", "-3", "100", "scalar(sum(load))", "time() / 1e9", "pi()"))

    def with_number(self, depth):
        inner = self.vector(depth - 1)
        operator = self.pick(("+", "-", "*", "/", ">", "<", "> bool", "<= bool", "!=", "=="))
        sides = [f"({inner.text})", self.number()]
        if self.dice.random() < 0.3:
            sides.reverse()
        return Query(f"{sides[0]} {operator} {sides[1]}", inner.labels)

    def operator(self):
        return self.pick(("+", "-", "*", "/", ">", "<", ">= bool", "!= bool"))

    def with_vector(self, depth):
        lhs, rhs = self.vector(depth - 1), self.vector(depth - 1)
        if lhs.labels is None or rhs.labels is None:
            return lhs
        if lhs.labels == rhs.labels:
            return Query(f"({lhs.text}) {self.operator()} ({rhs.text})", lhs.labels)
        common = tuple(name for name in lhs.labels if name in rhs.labels)
        names = ", ".join(common)
        if set(common) == set(rhs.labels):
            return Query(f"({lhs.text}) {self.operator()} on ({names}) group_left () ({rhs.text})", lhs.labels)
        if set(common) == set(lhs.labels):
            return Query(f"({lhs.text}) {self.operator()} on ({names}) group_right () ({rhs.text})", rhs.labels)
        wanted = f"sum by ({names}) "
        return Query(f"{wanted}({lhs.text}) {self.operator()} on ({names}) {wanted}({rhs.text})", common)

    def with_info(self, depth):
        inner = self.vector(depth - 1)
        if inner.labels is None or "instance" not in inner.labels:
            return inner
        extra = self.pick(("", "version"))
        return Query(f"({inner.text}) * on (instance) group_left ({extra}) build_info", None)

    def of_sets(self, depth):
        lhs, rhs = self.vector(depth - 1), self.vector(depth - 1)
        clause = self.pick(("", " on (job)", " ignoring (zone)", " on (instance, job)"))
        return Query(f"({lhs.text}) {self.pick(('and', 'or', 'unless'))}{clause} ({rhs.text})", None)

    def of_labels(self, depth):
        inner = self.vector(depth - 1)
        return Query(self.pick((
            f'label_replace({inner.text}, "host", "$1", "instance", "(.*):9")',
            f'label_replace({inner.text}, "zone", "near", "zone", "z0")',
            f'label_join({inner.text}, "both", "-", "job", "instance")')), None)

    def of_histogram(self, _):
        labels = self.pick((("job",), ("instance",), ("job", "instance"), ()))
        by = ", ".join(("le",) + labels)
        quantile = self.pick((0.5, 0.9, 0.99, 0))
        return Query(f"histogram_quantile({quantile}, sum by ({by}) (rate(wait_bucket[{self.window()}])))", labels)

    def of_time(self, _):
        # Prometheus 2 has no answer to timestamp() of a selector with "@".
        stamp = f"timestamp({self.pick(GAUGES)}{self.matchers()}{self.pick(('', ' offset 7m', ' offset -3m'))})"
        function = self.pick(("hour", "minute", "day_of_week", "day_of_month", "month", "year", "days_in_month", ""))
        return Query(f"{function}({stamp})", FULL)

    def absence(self, depth):
        inner = self.pick((self.vector(depth - 1).text, 'load{job="none", zone="z9"}', "alive == 2"))
        return Query(f"absent({inner})", None)

    def from_scalar(self, depth):
        return Query(f"vector(scalar({self.vector(depth - 1).text}) + {self.number()})", ())
