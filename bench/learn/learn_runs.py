"""What the runs of `regraft bench learn` say, and how tables of it are written."""
import math
import statistics

import numpy as np

import learn_statistics

BASELINES = ["greedy", "backtracking-1.05", "taso", "windows", "saturation", "portfolio"]


def interval(x, digits=3):
    return "" if x is None else f"{x[0]:.{digits}f} [{x[1]:.{digits}f}, {x[2]:.{digits}f}]"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" + "---:|" * (len(header) - 1)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def unique(items):
    return list(dict.fromkeys(items))


def short(n):
    return f"{n / 1e6:.2f} M" if n >= 1e6 else f"{n / 1e3:.1f} k" if n >= 1e3 else f"{n:.0f}"


def span(numbers, digits=1):
    return f"{min(numbers):.{digits}f} to {max(numbers):.{digits}f}"


def learned(report):
    return [m["name"] for m in report["methods"] if m["kind"] == "learned"]


def alone(report):
    """Methods that are a policy by itself: of controls, then learned."""
    return sorted((m["name"] for m in report["methods"] if m["name"].endswith("/alone")),
                  key=lambda m: m in learned(report))


def timed(graph, method):
    """The runs that ended by themselves or by the largest number of seconds."""
    return [r for r in graph["runs"] if r["method"] == method
            and r["key"].split("|")[-1].startswith("0 candidates")]


def cost_at(run, unit, limit):
    """The least cost that a run had met by then."""
    place = ("candidates", "seconds").index(unit)
    return min([run["before"], *(p[2] for p in run["curve"] if p[place] <= limit)])


def last_runs(graph, method, unit="candidates"):
    """By training, then seed. The run by candidates, where there is one, comes after that by
    seconds."""
    rows = {}
    for r in timed(graph, method) if unit == "seconds" else graph["runs"]:
        if r["method"] == method:
            rows.setdefault(r["training"], {})[r.get("seed", 0)] = r
    return [list(row.values()) for row in rows.values()]


def scores_at(report, method, unit, limit):
    """Saved part of what can be saved, (before - cost) / (before - reference): by graph, where
    something can be, training and seed. Rounded to a millionth: rounding is no gain."""
    return np.array([[[round((g["before"] - cost_at(r, unit, limit)) /
                             (g["before"] - g["reference"]), 6) for r in row]
                      for row in last_runs(g, method, unit)]
                     for g in report["graphs"] if g["before"] - g["reference"] > 1e-9 * g["before"]])


def mean_scores(report, method, unit, limits):
    return [scores_at(report, method, unit, at).mean() for at in limits]


def ends(report, method):
    """Costs of all runs of a method on the report's one graph, each training's median."""
    by_training = {}
    for r in timed(report["graphs"][0], method):
        by_training.setdefault(r["training"], []).append(r["after"])
    return [statistics.median(v) for v in by_training.values()]


def compared(report, method):
    """What a learned method is held against."""
    return unique(c["other"] for c in report["comparisons"] if c["method"] == method)


def not_easy(report, near):
    """Models where greedy descent ends further above the least cost known than this part of it."""
    goal = lambda g: g["reference"] * (1 + near)
    return [g for g in report["graphs"] if any(r["after"] > goal(g) for r in timed(g, "greedy"))]


def needed(graph, method, near):
    """Logarithms of the candidates until a run was that near; all of them where it never was."""
    goal = graph["reference"] * (1 + near)
    first = lambda r: next((n for n, _, c in r["curve"] if c <= goal), r["candidates"])
    return [[math.log(max(1, first(r))) for r in row] for row in last_runs(graph, method)]


def times_fewer(report, method, other, near):
    """Candidates that the other needed for one of the method's, geometric mean over the models that
    are not easy, and a 95 % interval: trainings, seeds and models are drawn anew."""
    mine, theirs = (np.array([needed(g, m, near) for g in not_easy(report, near)])
                    for m in (method, other))
    return [math.exp(x) for x in learn_statistics.paired_difference(theirs, mine)]
