"""The tables and verdicts of bench/run_learn.py, from what `regraft bench learn` and the logs of
`regraft train` say."""
import math
import pathlib
import statistics

import learn_logs

ROUNDING = 1e-6  # of scores
BASELINES = ["greedy", "backtracking-1.05", "published", "windows"]
PART_TITLES = {
    "held-out": ("Models that were not seen", "Those of the next two parts together. The general "
                 "agent was trained on {training}."),
    "families": ("Models of other families", "Architectures that are not among those of the "
                 "training."),
    "sizes": ("Other sizes", "Architectures of the training, deeper, wider, longer, or at a "
              "higher resolution."),
    "rules": ("Rules that were not there", "All rules are used. `four-fifths` was trained without "
              "every fifth rule of each file."),
}


def interval(x, digits=3):
    return "" if x is None else f"{x[0]:.{digits}f} [{x[1]:.{digits}f}, {x[2]:.{digits}f}]"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" + "---:|" * (len(header) - 1)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def unique(items):
    return list(dict.fromkeys(items))


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


def short(n):
    return f"{n / 1e6:.2f} M" if n >= 1e6 else f"{n / 1e3:.1f} k" if n >= 1e3 else f"{n:.0f}"


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


def learned(report):
    return [m["name"] for m in report["methods"] if m["kind"] == "learned"]


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
            text += f"; there with {r['candidates'][0]:.1f} times fewer candidates than all of " \
                    f"it, and {faster:.2f} times fewer than until it found its best ({sure} an " \
                    f"interval above 1), in {r['seconds_found'][0]:.2f} times less time"
        lines.append(text + ".")
    for s in report["sooner"]:
        times, low, high = s["candidates"]
        sure = "sooner" if low > 1 else "later" if high < 1 else "not surely sooner or later"
        lines.append(f"* `{s['method']}` is {sure} there than `{s['other']}`: {times:.2f} times "
                     f"fewer candidates, {s['seconds'][0]:.2f} times less time.")
    return lines


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
    lines += ["Score, interquartile mean and 95 % interval:", "", *score_table(report)]
    if report["comparisons"]:
        lines += ["Beside those that learned nothing: probability of improvement; difference of "
                  "scores.", "", *comparison_table(report)]
    lines += ["### Reaching backtracking", "",
              f"Backtracking, alpha 1.05, {report['expansions']:,} graphs expanded:", "",
              *target_table(report)]
    if report["reaching"]:
        lines += ["As good as that at candidate, after seconds (medians):", "",
                  *reaching_table(report), "Over the models where it was reached, geometric mean:",
                  "", *ratio_table(report)]
    if report["sooner"]:
        lines += ["Beside those that learned nothing, over all models, geometric mean; a run that "
                  "was never as good counts with all it ran, which is too little:", "",
                  *sooner_table(report)]
    verdicts = control_verdicts(report) + easy_targets(report) + \
        reaching_verdicts(report) + gaps(report)
    return lines + (["### Verdicts", "", "Better or worse: the interval of the difference of "
                     "scores is all on one side of 0.", "", *verdicts, ""] if verdicts else [])


def ends(report, method):
    """Costs of all runs of a method on the report's one graph, each training's median."""
    by_training = {}
    for r in timed(report["graphs"][0], method):
        by_training.setdefault(r["training"], []).append(r["after"])
    return [statistics.median(v) for v in by_training.values()]


def single_reports(found):
    return {r["graphs"][0]["name"]: r for n, r in found.items() if n.startswith("single-")}


def alone(report):
    """Methods that are a policy by itself: of controls, then learned."""
    return sorted((m["name"] for m in report["methods"] if m["name"].endswith("/alone")),
                  key=lambda m: m in learned(report))


def single_table(singles):
    every = list(singles.values())
    methods = unique([*BASELINES, *(m for r in every for m in alone(r)),
                      *(m for r in every for m in learned(r))])
    rows = []
    for name, report in singles.items():
        row = [name, f"{report['graphs'][0]['before'] / 1e3:.4g}"]
        for m in methods:
            costs = [c / 1e3 for c in ends(report, m)]
            more = f" ± {statistics.pstdev(costs):.2g}" if len(costs) > 1 else ""
            row.append(f"{statistics.mean(costs):.4g}{more}" if costs else "")
        rows.append(row)
    return table(["model", "before", *methods], rows)


def single_verdicts(singles):
    """Each agent, as it acts by itself, and the controls beside the best searcher."""
    lines = []
    for name, report in singles.items():
        texts = [f"`{m}` {abs(gap):.2f} % {'above' if gap > 0 else 'below'}"
                 if abs(gap) >= 0.005 else f"`{m}` there"
                 for m, (gap, _) in gaps_alone(report).items()]
        if texts:
            lines.append(f"* {name}, beside where the best searcher ends: {', '.join(texts)}.")
    return lines


def steps_until(log):
    """Real steps until the policy was as it was kept: a world model's best, else the last."""
    if "best" not in log:
        return log["real_steps"][-1]
    return log["real_steps"][log["best"].index(log["best"][-1])]


def gaps_alone(report):
    """By method that is a policy by itself: percent above where the best searcher ends, the mean
    over trainings and the worst of them."""
    best = min(c for m in BASELINES for c in ends(report, m) or [math.inf])
    above = {m: [100 * (c / best - 1) for c in ends(report, m)] for m in alone(report)}
    return {m: (statistics.mean(g), max(g)) for m, g in above.items() if g and best < math.inf}


def steps_taken(folder, name):
    """Real steps by agent, means over seeds; none unless both have logs."""
    logs = {a: [log for log in learn_logs.logs_of(folder, a, name) if log]
            for a in ("ppo", "world-model")}
    if not all(logs.values()):
        return {}
    return {a: statistics.mean(steps_until(log) for log in of) for a, of in logs.items()}


def span(numbers, digits=1):
    return f"{min(numbers):.{digits}f} to {max(numbers):.{digits}f}"


def single_summary(singles, folder):
    lines, gaps_by = [], {}
    for report in singles.values():
        for m, gap in gaps_alone(report).items():
            gaps_by.setdefault(m, []).append(gap)
    for m, found in gaps_by.items():
        mean, worst = max(g[0] for g in found), max(g[1] for g in found)
        lines.append(f"* `{m}`, on {len(found)} models: at most {mean:.2f} % above where the best "
                     f"searcher ends in the mean over trainings, {worst:.2f} % in the worst.")
    times = [t["ppo"] / t["world-model"] for n in singles if (t := steps_taken(folder, n))]
    if times:
        lines.append(f"* The world model makes {span(times)} times fewer real steps than `ppo`.")
    drifts = [[r["drift"] for r in learn_logs.reports_of(folder, "world-model", n)]
              for n in singles]
    apart = [[d["imagined_mean"] - d["real_mean"] for d in of] for of in drifts if of]
    if apart:
        far = sum(abs(x) > 2 for of in apart for x in of)
        lines.append(f"* Imagined less real, in points: {span([statistics.mean(x) for x in apart])}"
                     f" by model in the mean over trainings; {far} of {sum(map(len, apart))} "
                     "trainings are more than 2 apart.")
    return lines


def summary_lines(found, singles, folder):
    lines = single_summary(singles, folder)
    if "held-out" in found:
        report = found["held-out"]
        lines += [f"* Models not seen: {line[2:]}" for line in reaching_verdicts(report)
                  if "/scheduled`" in line.split(" is ")[0]]
    rows = {b["name"]: b for b in found.get("speed", {}).get("benchmarks", [])}
    if "steps" in rows.get("follow/resnet50", {}):
        lines.append(f"* ResNet-50: {rows['follow/resnet50']['steps']:,.0f} greedy steps a second "
                     f"with the network in the loop, {milliseconds(rows['decide/resnet50']):.3g} "
                     "ms for a planned decision.")
    return ["## In short", "", *lines, ""] if lines else []


def dream_lines(folder, singles):
    """What dreams are worth: means over the seeds of training, by model."""
    rows, steps = [], []
    for name in singles:
        reports = learn_logs.reports_of(folder, "world-model", name)
        drifts = [r["drift"] for r in reports]
        mean = lambda f: statistics.mean(map(f, drifts))
        if drifts:
            at = lambda d, depth: next(p for p in d["depths"] if p["depth"] == depth)
            apart = [abs(d["imagined_mean"] - d["real_mean"]) for d in drifts]
            rows.append([name, f"{mean(lambda d: d['imagined_mean']):.2f}",
                         f"{mean(lambda d: d['real_mean']):.2f}",
                         f"{mean(lambda d: d['imagined_mean'] - d['real_mean']):+.2f}",
                         f"{max(apart):.2f}",
                         *(f"{mean(lambda d: at(d, k)['mask_f1']):.2f}" for k in (1, 5, 15)),
                         *(f"{mean(lambda d: at(d, k)['reward_error']):.2f}" for k in (1, 5, 15))])
        if took := steps_taken(folder, name):
            steps.append([name, *(short(t) for t in took.values()),
                          f"{took['ppo'] / took['world-model']:.1f}"])
    lines = []
    if rows:
        lines += ["## Dreams", "", "Percent of cost saved by the controller's drawn actions, as "
                  "its world model imagines it and as the environment gives it; rules offered "
                  "(F1) and error of a reward, in points, after so many imagined steps.", "",
                  *table(["model", "imagined", "real", "difference", "largest of a seed",
                          *(f"F1, {k}" for k in (1, 5, 15)),
                          *(f"error, {k}" for k in (1, 5, 15))], rows)]
    if steps:
        lines += ["Real steps until the policy that is kept:", "",
                  *table(["model", "ppo", "world-model", "times fewer"], steps)]
    return lines


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


def sweep_lines(rows):
    cell = lambda r, k: f"{r[k + '_mean']:.2f} ± {r[k + '_std']:.2f}"
    lines = ["## Temperatures of dreams (Table 5.1)", "",
             "Agents trained in dreams of temperature τ: mean change of cost in percent, as the "
             "world model imagined it, and as the environment gave it, over seeds.", "",
             *table(["τ", "imagined", "real"], [[f"{r['tau']:g}", cell(r, "imagined"),
                                                 cell(r, "real")] for r in rows])]
    off = [abs(r["imagined_mean"] - r["real_mean"]) for r in rows]
    return lines + [f"Imagined and real differ by {min(off):.2f} to {max(off):.2f} points.", ""]


def training_table(folder, agents):
    """What learning took: means over seeds."""
    names = sorted(p.stem for p in pathlib.Path(folder).glob("*.csv"))
    kinds = unique((a, n.removeprefix(f"{a}-").rpartition("-")[0]) for n in names
                   for a in agents if n.startswith(f"{a}-"))
    rows = []
    for agent, on in kinds:
        logs = [log for log in learn_logs.logs_of(folder, agent, on) if log]
        last = lambda name: [c[-1] for c in learn_logs.column(logs, name)]
        mean = lambda x: short(statistics.mean(x)) if x else ""
        rows.append([f"{agent}, {on}", len(logs), mean(last("iteration")), mean(last("seconds")),
                     mean(last("real_steps")), mean(last("dream_steps")),
                     f"{statistics.mean(x):.2f}" if (x := last("best_percent")) else ""])
    return table(["agent, on", "seeds", "iterations", "seconds", "real steps", "dreamt steps",
                  "best of the last iteration, %"], rows)


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
        "# Learned search", "",
        f"Written by `bench/run_learn.py` on {context['cores']} cores. "
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
        "```", "python bench/run_learn.py", *context["commands"], "```", ""]


def write(out, found, policies, context):
    import learn_figures
    lines = header(context)
    lacking = missing_lines(found, context)
    if lacking:
        lines += ["Not in this report:", "", *lacking, ""]
    singles = single_reports(found)
    lines += summary_lines(found, singles, policies)
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
    (out / "learn").mkdir(parents=True, exist_ok=True)
    lines += ["## Figures", "", "Numbered as in the dissertation that they follow.", ""]
    for title, file in learn_figures.draw(out / "learn", found, singles, policies):
        lines += [f"{title}:", "", f"![{title}](learn/{file})", ""]
    (out / "learn.md").write_text("\n".join(lines).rstrip() + "\n")
    print(out / "learn.md")
