"""Tables and sentences about agents that were trained on one model each, of bench/learn/run_learn.py."""
import math
import pathlib
import statistics

import learn_logs
from learn_runs import BASELINES, alone, ends, learned, short, span, table, unique


def gaps_alone(report):
    """By method that is a policy by itself: percent above where the best searcher ends, the mean
    over trainings and the worst of them."""
    best = min(c for m in BASELINES for c in ends(report, m) or [math.inf])
    above = {m: [100 * (c / best - 1) for c in ends(report, m)] for m in alone(report)}
    return {m: (statistics.mean(g), max(g)) for m, g in above.items() if g and best < math.inf}


def single_reports(found):
    return {r["graphs"][0]["name"]: r for n, r in found.items() if n.startswith("single-")}


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


def steps_taken(folder, name):
    """Real steps by agent, means over seeds: until the policy that is kept, and in all. None unless
    both have logs."""
    logs = {a: [log for log in learn_logs.logs_of(folder, a, name) if log]
            for a in ("ppo", "world-model")}
    if not all(logs.values()):
        return {}
    mean = lambda steps, of: statistics.mean(map(steps, of))
    return {a: (mean(steps_until, of), mean(lambda log: log["real_steps"][-1], of))
            for a, of in logs.items()}


def steps_fewer(taken):
    """How many times fewer the world model makes: until what is kept, and in all."""
    return [a / b for a, b in zip(taken["ppo"], taken["world-model"])]


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
            times = steps_fewer(took)
            steps.append([name, *(short(t) for both in zip(*took.values()) for t in both),
                          *(f"{t:.1f}" for t in times)])
    lines = []
    if rows:
        lines += ["## Dreams", "", "Percent of cost saved by the controller's drawn actions, as "
                  "its world model imagines it and as the environment gives it; rules offered "
                  "(F1) and error of a reward, in points, after so many imagined steps.", "",
                  *table(["model", "imagined", "real", "difference", "largest of a seed",
                          *(f"F1, {k}" for k in (1, 5, 15)),
                          *(f"error, {k}" for k in (1, 5, 15))], rows)]
    if steps:
        lines += ["Real steps until the policy that is kept, which is the last of `ppo` and the "
                  "best of the world model, and in all of the training:", "",
                  *table(["model", "ppo", "world-model", "ppo, all", "world-model, all",
                          "times fewer", "times fewer, all"], steps)]
    return lines


def sweep_table(rows):
    """Of each temperature what dreams and the environment say, and how far these are apart."""
    cell = lambda r, k: f"{r[k + '_mean']:.2f} ± {r[k + '_std']:.2f}"
    lines = table(["τ", "imagined", "real"],
                  [[f"{r['tau']:g}", cell(r, "imagined"), cell(r, "real")] for r in rows])
    off = [abs(r["imagined_mean"] - r["real_mean"]) for r in rows]
    return [*lines, f"Imagined and real differ by {min(off):.2f} to {max(off):.2f} points.", ""]


def sweep_lines(rows):
    return ["## Temperatures of dreams (Table 5.1)", "",
            "Agents trained in dreams of temperature τ: percent of cost saved, as the "
            "world model imagined it, and as the environment gave it, over seeds.", "",
            *sweep_table(rows)]


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


def single_summary(singles, folder):
    lines, gaps_by = [], {}
    for report in singles.values():
        for m, gap in gaps_alone(report).items():
            gaps_by.setdefault(m, []).append(gap)
    for m, found in gaps_by.items():
        mean, worst = max(g[0] for g in found), max(g[1] for g in found)
        lines.append(f"* `{m}`, on {len(found)} models: at most {mean:.2f} % above where the best "
                     f"searcher ends in the mean over trainings, {worst:.2f} % in the worst.")
    times = [steps_fewer(t) for n in singles if (t := steps_taken(folder, n))]
    if times:
        kept, whole = map(span, zip(*times))
        lines.append(f"* The world model makes {kept} times fewer real steps than `ppo` until the "
                     f"policy that is kept, {whole} times fewer in all of the training.")
    drifts = [[r["drift"] for r in learn_logs.reports_of(folder, "world-model", n)]
              for n in singles]
    apart = [[d["imagined_mean"] - d["real_mean"] for d in of] for of in drifts if of]
    if apart:
        far = sum(abs(x) > 2 for of in apart for x in of)
        lines.append(f"* Imagined less real, in points: {span([statistics.mean(x) for x in apart])}"
                     f" by model in the mean over trainings; {far} of {sum(map(len, apart))} "
                     "trainings are more than 2 apart.")
    return lines
