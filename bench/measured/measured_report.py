"""The page of bench/measured/run_measured.py."""
import math
import pathlib
import statistics
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from prose import wrapped  # noqa: E402

import numpy as np  # noqa: E402

WAYS = {"predicted": "the least price first", "random": "at random", "learned": "learned residual"}
HALVES = ((8, 4), (16, 8), (32, 16), (64, 32), (128, 64))
TIE = 1e-3  # of the fastest graph's time: less is noise


def table(header, rows):
    line = lambda cells: "| " + " | ".join(str(c) for c in cells) + " |"
    rule = "|---" + "|--:" * (len(header) - 1) + "|"
    return [line(header), rule, *map(line, rows), ""]


def above(pool, way, budget):
    """By how many percent what a way ends with is slower than the fastest graph; mean over seeds."""
    at = pool["budgets"].index(budget)
    return 100 * (statistics.mean(r[at] for r in pool["reached"][way]) / pool["fastest"] - 1)


def bounds(values):
    """Where the mean lies in 95 % when models are drawn anew."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(values, (2000, len(values))).mean(1)
    return np.quantile(drawn, [0.025, 0.975])


def interval(values):
    low, high = bounds(values)
    return f"{statistics.mean(values):.2f} [{low:.2f}, {high:.2f}]"


def latency_table(pools):
    rows = []
    for way, words in WAYS.items():
        rows.append([words, *(interval([above(p, way, b) for p in pools])
                              for b in pools[0]["budgets"])])
    return table(["next is", *(f"{b} measurements" for b in pools[0]["budgets"])], rows)


def halves(pools):
    """Is what is learned, with half the measurements, as fast as the best-predicted?"""
    rows = []
    for whole, half in HALVES:
        gaps = [above(p, "learned", half) - above(p, "predicted", whole) for p in pools]
        wins = sum(g < -100 * TIE for g in gaps)
        losses = sum(g > 100 * TIE for g in gaps)
        rows.append((whole, half, wins, len(gaps) - wins - losses, losses, gaps))
    return rows


def half_table(pools):
    return table(["measurements", "learned with half of them: faster", "alike", "slower",
                  "difference, %"],
                 [[f"{w} against {h}", a, b, c, interval(gaps)]
                  for w, h, a, b, c, gaps in halves(pools)])


def verdict(pools):
    """Half the measurements are enough where the whole interval says so."""
    held = [w for w, _, _, _, _, gaps in halves(pools) if bounds(gaps)[1] <= 1e-9]
    if len(held) == len(HALVES):
        return "At each of these numbers half the measurements are enough."
    if not held:
        return ("That half the measurements are enough is not shown at any of these numbers, so "
                "`--measurements` is not the default.")
    return (f"Half the measurements are enough beside {', '.join(map(str, held))} of the "
            "best-predicted; at the other numbers that is not shown.")


def correlation_table(pools):
    samples = sorted({int(s) for p in pools for s in p["correlation"]})
    rows = []
    for s in samples:
        there = [(p["correlation"][str(s)], p["ceiling"]) for p in pools
                 if str(s) in p["correlation"]]
        rows.append([f"{s} measured" if s else "prices alone",
                     f"{statistics.mean(c for c, _ in there):.2f}",
                     f"{statistics.mean(c / most for c, most in there):.2f}",
                     f"{sum(c >= 0.9 * most for c, most in there)} of {len(there)}"])
    return table(["after", "rank correlation", "part of the ceiling", "models at 0.9 of it"], rows)


def model_table(pools):
    rows = []
    for p in pools:
        at = lambda way, b: f"{above(p, way, b):.2f}"
        rows.append([p["name"], p["graphs"], f"{p['fastest']:.3f}", f"{100 * p['noise']:.2f}",
                     f"{p['correlation']['0']:.2f}", f"{p['correlation'].get('32', math.nan):.2f}",
                     f"{p['ceiling']:.2f}",
                     *(f"{at('predicted', b)} / {at('learned', b)}" for b in (8, 32, 128))])
    return table(["model", "graphs", "fastest", "noise, %", "prices", "32 measured", "ceiling",
                  "8", "32", "128"], rows)


def page(pools):
    lines = [
        "# Which graph to time next", "",
        "Written by `bench/measured/run_measured.py --zoo DIR --kept DIR --measure`, which says what "
        f"is run. {len(pools)} exports; of each "
        f"{min(p['graphs'] for p in pools)} to {max(p['graphs'] for p in pools)} graphs that compute "
        "the same, all timed in onnxruntime on one thread in interleaved rounds. The machine was "
        "shared. What the machine does in a round is taken off by the median of all graphs; one half "
        "of the rounds is what measurements are drawn from, the other says what a graph really "
        "takes.", "",
        "The residual (`cost/residual`) is a Gaussian process over what the price of a plan is made "
        "of: kernels by signature, by kind, what is handed on between them, bytes, launches. Its "
        "posterior is what an ensemble is for: how sure it is of each graph. The next graph to time "
        "is the one after which the fastest is expected to be fastest.", "",
        "## The latency that is reached", "",
        "Percent above the fastest graph of the pool, as a mean over models; in brackets 95 % with "
        "models drawn anew. The noise of one measurement is "
        f"{100 * statistics.median(p['noise'] for p in pools):.1f} % in the median, and the best of "
        "many is the luckiest: where that is as much as the graphs differ, no way of choosing gets "
        "near the fastest, and drawing at random is as good as any.", "",
        *latency_table(pools),
        "## With half the measurements", "",
        f"In how many models; alike is within {100 * TIE:g} % of the fastest graph's time.", "",
        *half_table(pools), verdict(pools), "",
        "## Rank correlation", "",
        "Of what is expected and what the other rounds say, over graphs that were not measured; "
        "those that were measured are drawn at random. The ceiling is that of the two halves.", "",
        *correlation_table(pools),
        "## By model", "",
        "*Fastest*: its time as a part of the model's. The last columns: percent above it after so "
        "many measurements, the least price first / learned.", "",
        *model_table(pools)]
    return wrapped("\n".join(lines)).rstrip() + "\n"
