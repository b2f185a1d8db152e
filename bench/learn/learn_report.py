"""The tables and verdicts of bench/learn/run_learn.py, from what `regraft bench learn` and the logs of
`regraft train` say."""
import math
import statistics

from learn_agents import (dream_lines, single_reports, single_summary, single_table,
                          single_verdicts, sweep_lines, training_table)
from learn_runs import (compared, interval, last_runs, learned, needed, not_easy, short, table,
                        timed, times_fewer, unique)

ROUNDING = 1e-6  # of scores
NEAR = 1e-3      # part of the least cost known that a run may end above it
FEW = 3          # models: an interval over fewer says nothing
PART_TITLES = {
    "held-out": ("Models that were not seen", "Those of the next two parts together. The general "
                 "agent was trained on {training}."),
    "families": ("Models of other families", "Architectures that are not among those of the "
                 "training."),
    "sizes": ("Other sizes", "Architectures of the training, deeper, wider, longer, or at a "
              "higher resolution."),
    "planned": ("Each step planned", "Some of the models of other families."),
    "rules": ("Rules that were not there", "All rules are used. `four-fifths` was trained without "
              "every fifth rule of each file."),
}


def score_table(report):
    limits = unique(s["limit"] for s in report["scores"])
    cells = {(s["method"], s["limit"]): s["iqm"] for s in report["scores"]}
    best = {n: max(c[0] for (m, at), c in cells.items() if at == n) for n in limits}
    rows = []
    for method in unique(s["method"] for s in report["scores"]):
        row = [method]
        for n in limits:
            cell = cells.get((method, n))
            mark = "**" if cell and cell[0] >= best[n] - 5e-4 else ""
            row.append(f"{mark}{interval(cell)}{mark}")
        rows.append(row)
    return table(["method", *limits], rows)


def comparison_table(report):
    limits = unique(c["limit"] for c in report["comparisons"])
    cells = {(c["method"], c["other"], c["limit"]): c for c in report["comparisons"]}
    both = lambda c: f"{interval(c['probability'], 2)}; {interval(c['difference'])}"
    return table(["method beside", *limits],
                 [[f"{m} beside {o}", *(both(cells[m, o, at]) for at in limits)]
                  for m, o in unique((m, o) for m, o, _ in cells)])


def target_table(report):
    """For each model the long run, and when the methods were as good."""
    rows = []
    for g in report["graphs"]:
        base = g.get("baseline")
        if not base:
            continue
        end = base["curve"][-1] if base["curve"] else (0, 0.0, base["before"])
        rows.append([g["name"], f"{base['before'] / 1e3:.4g}", f"{base['after'] / 1e3:.4g}",
                     short(base["expanded"]), short(base["candidates"]), f"{base['seconds']:.2f} s",
                     short(end[0]), f"{end[1]:.3g} s"])
    return table(["model", "cost before, ms", "after, ms", "expanded", "candidates", "took",
                  "found at candidate", "found after"], rows)


def reaching_table(report):
    graphs = unique(r["graph"] for r in report["reaching"])
    cells = {(r["method"], r["graph"]): r for r in report["reaching"]}

    def cell(r):
        if "candidates" in r:
            return f"{short(r['candidates'])}, {r['seconds']:.3g} s"
        return f"no ({r['reached']} of {r['runs']} runs)"

    return table(["method", *graphs], [[m, *(cell(cells[m, g]) for g in graphs)]
                                       for m in unique(r["method"] for r in report["reaching"])])


def ratio_table(report):
    rows = [[r["method"], f"{r['reached']} of {r['graphs']}",
             *(interval(r[k], 1) for k in ("candidates", "candidates_found", "seconds",
                                           "seconds_found"))]
            for r in report["ratios"] if r["graphs"]]
    return table(["method", "models reached", "times fewer candidates", "than until found",
                  "times less time", "than until found"], rows)


def sooner_table(report):
    rows = [[f"{s['method']} beside {s['other']}", interval(s["candidates"], 2),
             interval(s["seconds"], 2)] for s in report["sooner"]]
    return table(["method beside", "times fewer candidates", "times less time"], rows)


def control_verdicts(report):
    """Does what was learned help? By the interval of the difference, at each limit."""
    lines = []
    for method in learned(report):
        mine = [c for c in report["comparisons"] if c["method"] == method]
        for other in unique(c["other"] for c in mine):
            here = [c for c in mine if c["other"] == other]
            better = [c["limit"] for c in here if c["difference"][1] > ROUNDING]
            worse = [c["limit"] for c in here if c["difference"][2] < -ROUNDING]
            text = f"better at {', '.join(better)}" if better else "nowhere better"
            text += f"; worse at {', '.join(worse)}" if worse else ""
            middle = statistics.median(c["difference"][0] for c in here)
            lines.append(f"* `{method}` beside `{other}`: {text}; median difference "
                         f"{middle:+.4f}.")
    return lines


def how_soon(ratio):
    _, low, high = ratio
    return "sooner" if low > 1 else "later" if high < 1 else "not surely sooner or later"


def reaching_verdicts(report):
    lines = []
    for r in report["ratios"]:
        if r["method"] not in learned(report) or not r["graphs"]:
            continue
        text = f"* `{r['method']}` is as good as the long run on {r['reached']} of " \
               f"{r['graphs']} models"
        if r["candidates"]:
            faster, least = r["candidates_found"][0], r["candidates_found"][1]
            sure = "with" if least > 1 else "without"
            text += f"; there with {r['candidates'][0]:,.0f} times fewer candidates than all of " \
                    f"it in {r['seconds'][0]:,.0f} times less time, and with {faster:.2f} times " \
                    f"fewer than until it found its best ({sure} an interval above 1) in " \
                    f"{r['seconds_found'][0]:.2f} times less time"
        lines.append(text + ".")
    for s in report["sooner"]:
        lines.append(f"* `{s['method']}` is {how_soon(s['candidates'])} there than "
                     f"`{s['other']}`: {s['candidates'][0]:.2f} times fewer candidates, "
                     f"{s['seconds'][0]:.2f} times less time.")
    return lines


def easy_targets(report):
    """Models where greedy descent is as good as the long run: to reach it there is no feat."""
    graphs = [g for g in report["graphs"] if g.get("baseline")]
    easy = [g["name"] for g in graphs if any(r["after"] <= g["baseline"]["after"] * (1 + 1e-9)
                                             for r in timed(g, "greedy"))]
    if not easy:
        return []
    return [f"* The long run found nothing that greedy descent does not find on {len(easy)} of "
            f"{len(graphs)} models ({', '.join(easy)}): reaching it there shows nothing learned."]


def gaps(report):
    """By how many percent a method's median end is above the long run's, where it is above."""
    lines = []
    for g in report["graphs"]:
        base = g.get("baseline")
        if not base:
            continue
        above = {}
        for method in learned(report):
            costs = [r["after"] for r in timed(g, method)]
            if costs:
                above[method] = 100 * (statistics.median(costs) / base["after"] - 1)
        misses = [f"`{m}` by {v:.2f} %" for m, v in above.items() if v > 1e-3]
        if misses:
            lines.append(f"* Not reached on {g['name']}: {', '.join(misses)}.")
    return lines


def hard_ratios(report):
    """Method, other, and how many times fewer candidates, for the modes that go on searching."""
    if len(not_easy(report, NEAR)) < FEW:
        return []
    return [(m, o, times_fewer(report, m, o, NEAR)) for m in learned(report)
            if m.endswith("/scheduled") for o in compared(report, m)]


def hard_verdicts(ratios):
    return [f"* `{m}` is {how_soon(x)} near the least cost known than `{o}`, where greedy descent "
            f"does not end there: {x[0]:.2f} times fewer candidates [{x[1]:.2f}, {x[2]:.2f}]."
            for m, o, x in ratios]


def hard_lines(report, ratios):
    """The models where there is something to be found."""
    if not ratios:
        return []
    graphs = not_easy(report, NEAR)
    methods = unique([*(o for _, o, _ in ratios), *(m for m, _, _ in ratios)])

    def cell(g, m):
        runs = [r for row in last_runs(g, m) for r in row]
        there = sum(r["after"] <= g["reference"] * (1 + NEAR) for r in runs) / len(runs)
        middle = statistics.median(x for row in needed(g, m, NEAR) for x in row)
        return f"{short(math.exp(middle))}, {100 * there:.0f} %"

    return [f"### Within {100 * NEAR:g} % of the least cost known", "",
            "Where greedy descent does not end there. Candidates (median) until then, or all that "
            "were evaluated, which is too little; in how many of the runs it was reached:", "",
            *table(["method", *(g["name"] for g in graphs)],
                   [[m, *(cell(g, m) for g in graphs)] for m in methods]),
            "Times fewer candidates, geometric mean:", "",
            *table(["method beside", "times fewer"],
                   [[f"{m} beside {o}", interval(x, 2)] for m, o, x in ratios])]


def result_lines(report):
    """Scores, and when the methods were as good as the long run."""
    lines = ["Score, interquartile mean and 95 % interval:", "", *score_table(report)]
    if report["comparisons"]:
        lines += ["Beside those that learned nothing: probability of improvement; difference of "
                  "scores.", "", *comparison_table(report)]
    lines += ["### Reaching backtracking", "",
              f"Backtracking, alpha 1.05, {report['expansions']:,} graphs expanded in at most "
              f"{report['expanding']:g} s:", "",
              *target_table(report)]
    if report["reaching"]:
        lines += ["As good as that at candidate, after seconds (medians):", "",
                  *reaching_table(report), "Over the models where it was reached, geometric mean:",
                  "", *ratio_table(report)]
    if report["sooner"]:
        lines += ["Beside those that learned nothing, over all models, geometric mean; a run that "
                  "was never as good counts with all it ran, which is too little:", "",
                  *sooner_table(report)]
    return lines


def part_lines(name, report, context):
    title, text = PART_TITLES[name]
    lines = [f"## {title}", "", text.format(training=", ".join(context["protocol"]["training"])),
             f"Models: {', '.join(g['name'] for g in report['graphs'])}.", ""]
    idle = [g["name"] for g in report["graphs"] if g["reference"] >= g["before"] * (1 - 1e-9)]
    if idle:
        lines += [f"Nothing is known to be saved in {', '.join(idle)}; left out of scores.", ""]
    late = sum(r["stop"] == "time" and " candidates, 0 expanded" in r["key"] and
               "|0 candidates" not in r["key"] for g in report["graphs"] for r in g["runs"])
    if late:
        lines += [f"{late} runs by candidates ended by their limit of {report['cap']:g} s; their "
                  "last cost stands for the rest.", ""]
    lines += result_lines(report)
    ratios = context["hard"][name]
    lines += hard_lines(report, ratios)
    verdicts = hard_verdicts(ratios) + control_verdicts(report) + easy_targets(report) + \
        reaching_verdicts(report) + gaps(report)
    return lines + (["### Verdicts", "", "Better or worse: the interval of the difference of "
                     "scores is all on one side of 0.", "", *verdicts, ""] if verdicts else [])


def summary_lines(found, singles, folder, hard):
    lines = single_summary(singles, folder)
    if "held-out" in found:
        report = found["held-out"]
        lines += [f"* Models not seen: {line[2:]}"
                  for line in [*reaching_verdicts(report), *hard_verdicts(hard["held-out"]),
                               *control_verdicts(report)]
                  if line.split()[1].endswith("/scheduled`")]
    rows = {b["name"]: b for b in found.get("speed", {}).get("benchmarks", [])}
    if "steps" in rows.get("follow/resnet50", {}):
        lines.append(f"* ResNet-50: {rows['follow/resnet50']['steps']:,.0f} greedy steps a second "
                     f"with the network in the loop, {milliseconds(rows['decide/resnet50']):.3g} "
                     "ms for a planned decision.")
    return ["## In short", "", *lines, ""] if lines else []


def milliseconds(b):
    return b["cpu_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[b["time_unit"]]


def speed_lines(report):
    """Of `rl_bench`: medians where it was repeated."""
    rows = []
    for b in report["benchmarks"]:
        if b.get("error_occurred") or b.get("aggregate_name", "median") != "median":
            continue
        steps = b.get("steps")
        rows.append([b["name"], f"{milliseconds(b):.3g} ms",
                     f"{steps:,.0f}" if steps else ""])
    return ["## Speed", "", "One core. `follow`: greedy steps with the network in the loop; "
            "`judge`: a pass over the whole model; `decide`: a planned decision.", "",
            *table(["", "CPU time", "steps a second"], rows)]


def missing_lines(found, context):
    """What the report is without."""
    have = {m.split("/")[0] for r in found.values() if isinstance(r, dict) and "methods" in r
            for m in learned(r)}
    lines = [f"* There is no policy of the agent `{a}`." for a in context["agents"]
             if a not in have]
    return lines + ([] if "sweep" in found else ["* There is no sweep of temperatures."])


def header(context):
    p = context["protocol"]
    return [
        "# Agents on models, one by one and in general", "",
        f"Written by `bench/learn/run_learn.py` on {context['cores']} cores. "
        + ("**Made with `--quick`: the figures mean nothing.** " if context["quick"] else "")
        + "Costs are those of the roofline model. All methods use the same engine, rules, costs, "
        "limits and start graph, one thread each; times include the network's."
        + (f" {context['jobs']} commands ran side by side." if context["jobs"] > 1 else ""), "",
        f"Seeds of training 0 to {p['training_seeds'] - 1}; searches that draw numbers have "
        f"{p['search_seeds']} seeds, from 7. Time of a training: "
        + ", ".join(f"{a} {m:g} minutes" for a, m in p["minutes"].items())
        + "; at most "
        + ", ".join(f"{p['iterations'][a]} iterations" for a in context["agents"]) + ".", "",
        "Score: (cost before − cost) / (cost before − least cost known from all methods). The "
        "intervals of scores and probabilities are over seeds, of training and then of search; "
        "those of differences and ratios are over models too; what draws no numbers has one run. "
        "`policy/alone` is one episode of what the policy wants most and nothing else; `greedy` "
        "goes downhill, then follows the policy; `sampled` goes on with drawn episodes; "
        "`scheduled` with `windows` in the policy's order; `planned` plans each step. "
        "Controls: `uniform`, `cost-prior` (the exact change of cost), `untrained` (five "
        "networks with random weights; like those that are trained they begin with the exact "
        "change of cost).", "",
        "```", "python bench/learn/run_learn.py", *context["commands"], "```", ""]


def write(out, found, policies, context):
    import learn_figures
    lines = header(context)
    lacking = missing_lines(found, context)
    if lacking:
        lines += ["Not in this report:", "", *lacking, ""]
    singles = single_reports(found)
    context["hard"] = {n: hard_ratios(found[n]) for n in PART_TITLES if n in found}
    lines += summary_lines(found, singles, policies, context["hard"])
    lines += ["## Training", "", "Means over seeds.", "",
              *training_table(policies, context["agents"])]
    for name in PART_TITLES:
        if name in found:
            lines += part_lines(name, found[name], context)
    if singles:
        lines += ["## One agent for each model (figures 5.1, 5.2, 5.4)", "",
                  f"Predicted cost after at most {max(context['protocol']['seconds']):g} s, ms; "
                  "of agents mean and deviation over seeds of "
                  "training.", "", *single_table(singles), *single_verdicts(singles), ""]
    lines += dream_lines(policies, singles)
    if "sweep" in found:
        lines += sweep_lines(found["sweep"]["sweep"])
    if "speed" in found:
        lines += speed_lines(found["speed"])
    (out / "figures").mkdir(parents=True, exist_ok=True)
    lines += ["## Figures", "", "Numbered as in the dissertation that they follow.", ""]
    for title, file in learn_figures.draw(out / "figures", found, singles, policies):
        lines += [f"{title}:", "", f"![{title}](figures/{file})", ""]
    (out / "agents.md").write_text("\n".join(lines).rstrip() + "\n")
    print(out / "agents.md")
