"""The plots of bench/learn/run_learn.py."""
import math
import statistics

import learn_logs
import learn_runs as runs_of
import plots
from learn_report import PART_TITLES
from plots import pyplot

STYLES = {"classical": (":", 1), "control": ("--", 1), "learned": ("-", 1.8)}


def save(figure, path):
    plots.save(figure, path, bbox_inches="tight")


def bars(path, singles, methods):
    """Cost at the end in percent of the cost before, for each model and method."""
    figure, axes = pyplot.subplots(figsize=(8, 3.4))
    width = 0.8 / len(methods)
    for k, method in enumerate(methods):
        heights, errors = [], []
        for report in singles.values():
            before = report["graphs"][0]["before"]
            part = [100 * c / before for c in runs_of.ends(report, method)] or [float("nan")]
            heights.append(statistics.mean(part))
            errors.append(statistics.pstdev(part) if len(part) > 1 else 0)
        places = [g + (k - (len(methods) - 1) / 2) * width for g in range(len(singles))]
        axes.bar(places, heights, width, yerr=errors, label=method)
    axes.set_xticks(range(len(singles)), list(singles), fontsize=8)
    axes.set_ylabel("predicted cost, % of before")
    axes.legend(fontsize=7, ncols=len(methods), loc="lower center", bbox_to_anchor=(0.5, 1))
    save(figure, path)


def curves(path, by_graph, label, scaled):
    """Mean and spread over seeds; the series of all seeds of a model are scaled together."""
    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    for name, series in by_graph.items():
        mean, deviation = learn_logs.spread(learn_logs.normalised(series) if scaled else series)
        places = range(1, len(mean) + 1)
        line, = axes.plot(places, mean, linewidth=1, label=name)
        axes.fill_between(places, [m - d for m, d in zip(mean, deviation)],
                          [m + d for m, d in zip(mean, deviation)], alpha=0.2,
                          color=line.get_color(), linewidth=0)
    axes.set(xlabel="iteration", ylabel=label)
    axes.legend(fontsize=7)
    save(figure, path)


def logged(policies, singles, agent, *names):
    series = {g: learn_logs.column(learn_logs.logs_of(policies, agent, g), *names) for g in singles}
    return {g: s for g, s in series.items() if s}


def applied(report, methods):
    """How often rules lead to the best graph: mean over the runs of the first method there is."""
    for method in methods:
        runs = runs_of.timed(report["graphs"][0], method)
        if runs:
            rules = sorted({rule for r in runs for rule in r["applied"]})
            return {u: sum(r["applied"].get(u, 0) for r in runs) / len(runs) for u in rules}
    return {}


def heat_map(path, singles, methods):
    counts = {g: applied(r, methods) for g, r in singles.items()}
    rules = sorted({rule for c in counts.values() for rule in c})
    figure, axes = pyplot.subplots(figsize=(2.5 + 0.32 * len(rules), 1.6 + 0.4 * len(counts)))
    cells = [[c.get(rule, 0) for rule in rules] for c in counts.values()]
    axes.imshow(cells, aspect="auto", cmap="Blues")
    for y, row in enumerate(cells):
        for x, value in enumerate(row):
            if value:
                axes.text(x, y, f"{value:.3g}", ha="center", va="center", fontsize=6)
    axes.set_xticks(range(len(rules)), rules, rotation=90, fontsize=6)
    axes.set_yticks(range(len(counts)), list(counts), fontsize=8)
    save(figure, path)



def score_curves(path, report, unit):
    """Mean score against candidates or seconds: learned methods solid, controls dashed."""
    limits = [s[unit] for s in report["scores"] if s[unit]]
    low, high = math.log10(min(limits) / 10), math.log10(max(limits))
    points = [10 ** (low + (high - low) * k / 60) for k in range(61)]
    figure, axes = pyplot.subplots(figsize=(7, 5))
    colors = pyplot.get_cmap("tab20").colors
    for k, method in enumerate(report["methods"]):
        style, width = STYLES[method["kind"]]
        axes.plot(points, runs_of.mean_scores(report, method["name"], unit, points), style,
                  linewidth=width, color=colors[k % len(colors)], label=method["name"])
    axes.set(xlabel=unit, ylabel="mean score", xscale="log", ylim=(-0.05, 1.05))
    axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, path)


def draw(folder, found, singles, policies):
    """Writes what there are numbers for; pairs of a title and a file."""
    figures = []

    def add(title, file, plot, *arguments):
        plot(folder / file, *arguments)
        figures.append((title, file))

    for name in PART_TITLES:
        if found.get(name, {}).get("scores"):
            for unit in ("candidates", "seconds"):
                add(f"Score against {unit}, {PART_TITLES[name][0].lower()}",
                    f"{name}-{unit}.svg", score_curves, found[name], unit)
    if not singles:
        return figures
    names = {m for r in singles.values() for m in runs_of.learned(r)}
    acting = {a: [m for m in (f"{a}/greedy", f"{a}/sampled") if m in names]
              for a in ("ppo", "world-model")}
    base = runs_of.BASELINES
    add("5.1: searches that learned nothing", "5-1-baselines.svg", bars, singles, base)
    for agent, number in (("ppo", "5-2"), ("world-model", "5-4")):
        if acting[agent]:
            add(f"{number.replace('-', '.')}: {agent} beside them", f"{number}-{agent}.svg", bars,
                singles, base + acting[agent])
    for title, file, agent, columns, scaled in (
            ("5.3: reward of ppo, scaled", "5-3-reward.svg", "ppo", ("reward",), True),
            ("5.5: loss of the world model", "5-5-loss.svg", "world-model", ("m_latent",), False),
            ("5.6: reward in dreams, scaled", "5-6-dream.svg", "world-model", ("dream_gain",),
             True)):
        series = logged(policies, singles, agent, *columns)
        if series:
            add(title, file, curves, series, columns[0], scaled)
    agent = "world-model" if acting["world-model"] else "ppo"
    if any(applied(r, acting[agent]) for r in singles.values()):
        add(f"5.7: rules on the way to the best graph, {agent}", "5-7-rules.svg", heat_map, singles,
            acting[agent])
    return figures
