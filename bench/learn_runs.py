"""What the runs of `regraft bench learn` say, and how tables of it are written."""
import math
import random
import statistics

BASELINES = ["greedy", "backtracking-1.05", "taso", "windows"]


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


def mean_scores(report, method, unit, limits):
    """Over the runs of each model, then over models where something can be saved. The run by
    candidates, where there is one, comes after that by seconds."""
    by_graph = []
    for g in report["graphs"]:
        runs = timed(g, method) if unit == "seconds" else list(
            {(r["training"], r["seed"]): r for r in g["runs"] if r["method"] == method}.values())
        saved = g["before"] - g["reference"]
        if runs and saved > 1e-9 * g["before"]:
            by_graph.append([statistics.mean((g["before"] - cost_at(r, unit, at)) / saved
                                             for r in runs) for at in limits])
    return [statistics.mean(column) for column in zip(*by_graph)]


def ends(report, method):
    """Costs of all runs of a method on the report's one graph, each training's median."""
    by_training = {}
    for r in timed(report["graphs"][0], method):
        by_training.setdefault(r["training"], []).append(r["after"])
    return [statistics.median(v) for v in by_training.values()]


def compared(report, method):
    """What a learned method is held against."""
    return unique(c["other"] for c in report["comparisons"] if c["method"] == method)


def last_runs(graph, method):
    """By training, then seed; where there are two, that by candidates."""
    rows = {}
    for r in graph["runs"]:
        if r["method"] == method:
            rows.setdefault(r["training"], {})[r.get("seed", 0)] = r
    return [list(row.values()) for row in rows.values()]


def not_easy(report, near):
    """Models where greedy descent ends further above the least cost known than this part of it."""
    goal = lambda g: g["reference"] * (1 + near)
    return [g for g in report["graphs"] if any(r["after"] > goal(g) for r in timed(g, "greedy"))]


def needed(graph, method, near):
    """Logarithms of the candidates until a run was that near; all of them where it never was."""
    goal = graph["reference"] * (1 + near)
    first = lambda r: next((n for n, _, c in r["curve"] if c <= goal), r["candidates"])
    return [[math.log(max(1, first(r))) for r in row] for row in last_runs(graph, method)]


def drawn(rows, trainings, rng):
    """Mean of these trainings, with seeds drawn anew."""
    return statistics.mean(statistics.mean(rng.choices(rows[t % len(rows)], k=len(rows[0])))
                           for t in trainings)


def times_fewer(report, method, other, near, replicates=2000):
    """Candidates that the other needed for one of the method's, geometric mean over the models that
    are not easy, and a 95 % interval: trainings, seeds and models are drawn anew."""
    pairs = [(needed(g, method, near), needed(g, other, near)) for g in not_easy(report, near)]
    mean = lambda rows: statistics.mean(statistics.mean(row) for row in rows)
    rng, means = random.Random(0), []
    for _ in range(replicates):
        mine, theirs = ([rng.randrange(len(rows)) for _ in rows] for rows in pairs[0])
        means.append(statistics.mean(drawn(b, theirs, rng) - drawn(a, mine, rng)
                                     for a, b in rng.choices(pairs, k=len(pairs))))
    means.sort()
    ends_at = (statistics.mean(mean(b) - mean(a) for a, b in pairs),
               means[int(0.025 * replicates)], means[int(0.975 * replicates)])
    return [math.exp(x) for x in ends_at]
