#!/usr/bin/env python3
"""What the runs of `regraft bench learn --json` say about its methods: scores, comparisons, and when
they were as good as the long run of the baseline, with intervals.

  python learn_scores.py RUNS.json ...      prints tables; several: the least cost of all counts
"""
import json
import math
import pathlib
import statistics
import sys

import numpy as np

import learn_statistics
from learn_runs import last_runs, learned, scores_at

LEAST = {"candidates": 1, "seconds": 1e-4}  # by unit, in a curve's order: ratios are positive


def least_costs(reports):
    """By graph: of all runs in all reports."""
    least = {}
    for report in reports:
        for g in report["graphs"]:
            runs = [*g["runs"], *filter(None, [g.get("baseline")])]
            least[g["name"]] = min([least.get(g["name"], g["before"]), *(r["after"] for r in runs)])
    return least


def limits_of(report):
    """Name, unit and number of each place where methods are compared."""
    return [*((f"{n} candidates", "candidates", n) for n in report["budgets"]),
            *((f"{s:g} s", "seconds", s) for s in report["seconds"])]


def pairs_of(report):
    """Each learned method beside the controls of its mode and beside windows."""
    mode = lambda name: name.rpartition("/")[2]
    return [(m, o["name"]) for m in learned(report) for o in report["methods"]
            if o["name"] == "windows" or (o["kind"] == "control" and mode(o["name"]) == mode(m))]


def first_at(run, cost):
    """The first point of the curve that costs no more; None: there is none."""
    return next((p for p in run["curve"] if p[2] <= cost * (1 + 1e-9)), None)


def to_reach(report):
    """Graphs on which the baseline found something."""
    return [g for g in report["graphs"] if g.get("baseline") and g["baseline"]["curve"]]


def scores(report):
    for m in report["methods"]:
        for name, unit, at in limits_of(report):
            runs = scores_at(report, m["name"], unit, at)
            if len(runs):
                yield {"method": m["name"], "limit": name, "candidates": 0, "seconds": 0, unit: at,
                       "iqm": learn_statistics.score(runs)}


def comparisons(report):
    for method, other in pairs_of(report):
        for name, unit, at in limits_of(report):
            a, b = (scores_at(report, m, unit, at) for m in (method, other))
            if len(a):
                yield {"method": method, "other": other, "limit": name,
                       "probability": learn_statistics.improvement(a, b),
                       "difference": learn_statistics.paired_difference(a, b)}


def reaching(report):
    """When a method was as good as the baseline ended: medians of its runs, so that it is reached
    when half of them did."""
    for g in to_reach(report):
        for m in report["methods"]:
            runs = [r for row in last_runs(g, m["name"]) for r in row]
            points = [first_at(r, g["baseline"]["after"]) for r in runs]
            candidates, seconds = (statistics.median_low(p[k] if p else math.inf for p in points)
                                   for k in (0, 1))
            found = {"candidates": candidates, "seconds": seconds}
            yield {"graph": g["name"], "method": m["name"], "runs": len(runs),
                   "reached": sum(p is not None for p in points),
                   **(found if math.isfinite(candidates) else {})}


def ratios(report, reached):
    """How many times less a method needed than the baseline, over the graphs that it reached: than
    all that the baseline ran, and than what it ran until it found its best."""
    base = {g["name"]: g["baseline"] for g in to_reach(report)}
    for m in report["methods"]:
        mine = [r for r in reached if r["method"] == m["name"]]
        there = [r for r in mine if "candidates" in r]

        def mean(unit, needed):
            return learn_statistics.geometric_mean(
                [max(needed(base[r["graph"]]), LEAST[unit]) / max(r[unit], LEAST[unit])
                 for r in there])

        yield {"method": m["name"], "graphs": len(mine), "reached": len(there),
               **{unit: mean(unit, lambda b: b[unit]) for unit in LEAST},
               **{f"{unit}_found": mean(unit, lambda b: b["curve"][-1][k])
                  for k, unit in enumerate(LEAST)}}


def sooner(report):
    """How many times less a learned method needed than one that learned nothing to be as good as the
    long run, mean over graphs. A run that never was counts as if it had been at its end: where the
    other is one of those, this is too little."""
    graphs = to_reach(report)

    def logs(method, unit):
        def needed(g, r):
            p = first_at(r, g["baseline"]["after"])
            return math.log(max(p[list(LEAST).index(unit)] if p else r[unit], LEAST[unit]))
        return np.array([[[needed(g, r) for r in row] for row in last_runs(g, method)]
                         for g in graphs])

    for method, other in pairs_of(report) if graphs else []:
        yield {"method": method, "other": other,
               **{unit: [float(x) for x in np.exp(learn_statistics.paired_difference(
                   logs(other, unit), logs(method, unit)))] for unit in LEAST}}


def scored(report, least=None):
    """The report with what its runs say. `least`: by graph, the least cost known."""
    least = least or least_costs([report])
    report = {**report, "graphs": [{**g, "reference": least[g["name"]]} for g in report["graphs"]]}
    reached = list(reaching(report))
    return {**report, "scores": list(scores(report)), "comparisons": list(comparisons(report)),
            "reaching": reached, "ratios": list(ratios(report, reached)),
            "sooner": list(sooner(report))}


def main():
    import learn_report
    reports = {name: json.loads(pathlib.Path(name).read_text()) for name in sys.argv[1:]}
    least = least_costs(reports.values())
    for name, raw in reports.items():
        report = scored(raw, least)
        print("\n".join([f"# {name}", "", *learn_report.result_lines(report)]))


if __name__ == "__main__":
    main()
