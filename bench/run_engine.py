#!/usr/bin/env python3
"""Times the rewrite engine and compares the searchers; writes bench/engine.md and bench/engine/*.svg.

  python3 bench/run_engine.py [--build DIR] [--models DIR] [--time S] [--baseline-time S]
                              [--only distance|threads] [MODEL ...]

The models are built by bench/models/build_models.py where they are missing (needs onnx and numpy);
the plots need matplotlib.
Each searcher gets --time seconds on one thread, the published search --baseline-time. `--only`
makes one section anew and keeps the rest of the file.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ["resnet50", "resnext50", "nas_rnn", "nasnet_a", "bert_base", "inception_v3",
          "squeezenet1_1", "vit_b16"]
SEARCHERS = ["greedy", "windows", "backtracking", "partial-order", "beam", "annealing", "mcts",
             "saturation", "portfolio"]
BASELINE = "taso"
THREADED = ["squeezenet1_1", "bert_base", "decoder_2k", "decoder_20k"]
COLORS = ["#555555", "#d62728", "#1f77b4", "#17becf", "#2ca02c", "#9467bd", "#ff7f0e", "#e377c2",
          "#8c564b", "#000000"]
DISTANCE = "## Distance to the optimum"
GROWTHS = (1.5, 2, 3)  # of graphs that are searched exhaustively


def build_models(folder, names):
    missing = [n for n in names if not (folder / f"{n}.onnx").exists()]
    if missing:
        script = ROOT / "bench/models/build_models.py"
        subprocess.run([sys.executable, script, "--out", folder, *missing], check=True)


def engine_table(build, models):
    """The google-benchmark programs, as rows."""
    run = subprocess.run([build / "bench/engine_bench", "--benchmark_format=json"], check=True,
                         capture_output=True, text=True,
                         env={**os.environ, "REGRAFT_BENCH_MODELS": str(models)})
    rows = []
    for b in json.loads(run.stdout)["benchmarks"]:
        name = b["name"].split("/min_warmup")[0]
        if b.get("error_occurred"):
            sys.exit(f"{name}: {b['error_message']}")
        if name.startswith("step/"):
            rows.append((name, f"{b['median_us']:.0f} µs median, {b['p90_us']:.0f} µs nine in ten",
                         f"{b['matches']:.0f} matches, {b['priced'] / 1e3:.0f} k priced a second"))
        elif name == "rules":
            rows.append((name, f"{b['cpu_time']:.0f} ms", "all shipped files read and compiled"))
        else:
            rows.append((name, f"{b['cpu_time']:.0f} ms",
                         f"{b['matches']:.0f} matches, {b['nodes']:.0f} nodes with constants"))
    return rows


def optimize(build, model, searcher, seconds, threads=1, budget=10**9, growth=2):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [build / "regraft", "optimize", model, "--cost", "roofline", "-o", f"{folder}/out.onnx", "--search",
                   searcher, "--time", str(seconds), "--budget", str(budget), "--threads",
                   str(threads), "--growth", str(growth), "--check", "0", "--json", report,
                   "--quiet", "--rules", *sorted((ROOT / "substitutions").glob("*.rules"))]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{model} {searcher}: {run.stderr}")
        return json.loads(report.read_text())


def curve(report):
    """(seconds, cost) at the start and at each improvement."""
    points = [(0.0, report["before"]["cost"])]
    return points + [(i["seconds"], i["cost"]) for i in report["search"]["improvements"]]


def final(report):
    return curve(report)[-1][1]


def time_to(report, cost):
    """Seconds until it cost no more than that; None: never."""
    return next((t for t, c in curve(report) if c <= cost * (1 + 1e-9)), None)


def plot(path, title, reports):
    """Cost against time, time in logarithm; a step for each searcher."""
    import plots
    figure, axes = plots.pyplot.subplots(figsize=(6.4, 3.6))
    for (name, r), color in zip(reports.items(), COLORS):
        times, costs = zip(*curve(r), (r["search"]["seconds"], final(r)))
        axes.step([max(t, 1e-4) for t in times], [c / 1e3 for c in costs], where="post", label=name,
                  color=color, linewidth=1.2)
    found = [c / 1e3 for r in reports.values() for _, c in curve(r)[1:]]
    if found:  # what all began with is far above
        axes.set_ylim(top=max(found) + 0.02 * (max(found) - min(found)))
    axes.set(xscale="log", xlabel="seconds", ylabel="predicted cost, ms", title=title)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    plots.save(figure, path, bbox_inches="tight")


def milliseconds(cost):
    return f"{cost / 1e3:.3f}"


def short(seconds):
    return "never" if seconds is None else f"{seconds:.3g} s"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" + "---:|" * (len(header) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def comparison(results):
    rows = []
    for model, reports in results.items():
        base, ours = reports[BASELINE], reports["windows"]
        spent = time_to(base, final(base))
        reached = time_to(ours, final(base))
        ratio = f"{spent / reached:.0f}×" if reached and spent else ""
        peak = lambda r: r["peak_bytes"] / 2**20
        rows.append([model, milliseconds(base["before"]["cost"]), milliseconds(final(base)),
                     short(spent), short(base["search"]["seconds"]), f"{peak(base):.0f}",
                     milliseconds(final(ours)), short(reached), ratio, f"{peak(ours):.0f}"])
    return table(["model", "cost before, ms", "published: cost", "found after", "ran", "peak, MiB",
                  "windows: cost", "as good after", "faster", "peak, MiB"], rows)


def searchers(results):
    rows = []
    for model, reports in results.items():
        best = min(final(r) for r in reports.values())
        row = [model]
        for name in SEARCHERS:
            r = reports[name]
            mark = "**" if final(r) <= best * (1 + 1e-9) else ""
            row.append(f"{mark}{milliseconds(final(r))}{mark} ({short(time_to(r, final(r)))})")
        rows.append(row)
    return table(["model", *SEARCHERS], rows)


def rates(results):
    rows = []
    for model, reports in results.items():
        rate = lambda r: r["search"]["candidates"] / max(r["search"]["seconds"], 1e-9) / 1e3
        rows.append([model, *(f"{rate(reports[n]):.0f}" for n in SEARCHERS if n != "greedy")])
    return table(["model", *(n for n in SEARCHERS if n != "greedy")], rows)


def threads(build, folder, names):
    """The same work on one thread and on two."""
    rows = []
    for name in names:
        one, two = (optimize(build, folder / f"{name}.onnx", "windows", 600, n, 1000000)
                    for n in (1, 2))
        if (final(one), one["search"]["candidates"]) != (final(two), two["search"]["candidates"]):
            sys.exit(f"{name}: another answer on two threads")
        seconds = [r["search"]["seconds"] for r in (one, two)]
        rows.append([name, milliseconds(final(one)), f"{one['search']['candidates'] / 1e3:.0f} k",
                     *map(short, seconds), f"{seconds[0] / seconds[1]:.2f}×"])
    return table(["model", "cost, ms", "candidates", "1 thread", "2 threads", "faster"], rows)


def threads_section(build, folder):
    return ["## Threads", "",
            "`windows` with a budget of a million candidates, the same work for any number of "
            "threads. Two threads are faster only where two cores are idle; load average "
            f"{os.getloadavg()[0]:.1f} at the start.", "", *threads(build, folder, THREADED)]


def large(build, folder, seconds):
    rows = []
    for name in ("decoder_2k", "decoder_20k"):
        for searcher in ("greedy", "windows"):
            r = optimize(build, folder / f"{name}.onnx", searcher, seconds)
            calls = sum(r["before"]["calls"].values())
            spent = r["search"]["seconds"]
            rows.append([f"{name}, {searcher}", str(calls), milliseconds(r["before"]["cost"]),
                         milliseconds(final(r)), short(time_to(r, final(r))), short(spent),
                         f"{spent / calls * 1e6:.0f} µs", f"{r['seconds']:.1f} s",
                         f"{r['peak_bytes'] / 2**20:.0f}"])
    return table(["model, searcher", "calls", "cost before, ms", "after, ms", "found after",
                  "search", "per call", "whole command", "peak, MiB"], rows)


def small_graphs(models):
    """Before-models of the families, random graphs, and pieces of models."""
    folder = models / "small"
    bench = ROOT / "bench"
    build_models(models, ["tiny_bert", "tiny_fire", "tiny_inception", "tiny_repvgg", "tiny_vit",
                          "nas_rnn"])
    for script, more in ((bench / "families/build_families.py", []),
                         (bench / "models/build_small.py", ["--models", models])):
        subprocess.run([sys.executable, script, "--out", folder, *more], check=True)
    return sorted(p for p in folder.glob("*.onnx") if not p.name.endswith(".after.onnx"))


def optimum(build, model):
    """The growth up to which all graphs were visited, and the report; None: there are too many."""
    found = None
    for growth in GROWTHS:
        report = optimize(build, model, "exhaustive", 6, budget=100000, growth=growth)
        if report["search"]["stop_reason"] != "exhausted":
            break
        found = growth, report
    return found


def distance(build, models):
    graphs = small_graphs(models)
    found = {g: o for g in graphs if (o := optimum(build, g))}
    ratios, growths, below = {s: [] for s in SEARCHERS}, [], []
    for graph, (growth, report) in found.items():
        cost = lambda s: final(optimize(build, graph, s, 0, budget=300000, growth=growth))
        costs = {"windows": cost("windows")}
        if min(final(report), costs["windows"]) >= report["before"]["cost"] * (1 - 1e-9):
            continue
        costs = {s: costs.get(s) or cost(s) for s in SEARCHERS}
        if min(costs.values()) < final(report) * (1 - 1e-9):
            below.append(f"`{graph.stem}`")
        else:
            growths.append(growth)
            for s in SEARCHERS:
                ratios[s].append(costs[s] / final(report))
        print(graph.stem, growth, round(final(report), 2),
              {s: round(c, 2) for s, c in costs.items()}, flush=True)
    rows = [[s, f"{sum(r < 1 + 1e-9 for r in ratios[s])} of {len(ratios[s])}",
             f"{100 * (sum(ratios[s]) / len(ratios[s]) - 1):.2f} %",
             f"{100 * (max(ratios[s]) - 1):.1f} %"] for s in SEARCHERS]
    lines = ["`python3 bench/run_engine.py --only distance`, all shipped rules. "
             f"{len(graphs)} small graphs: before-models of the families, random graphs without "
             "weights, and pieces of models (`bench/models/build_small.py`). `exhaustive` visited "
             f"all graphs that can be reached for {len(found)} of them, within 100,000 candidates "
             f"and 6 s; for {len(growths)} of these something can be won and the optimum is "
             "known; the table is about them. A graph may grow to " +
             ", ".join(f"{g:g} times its calls ({growths.count(g)})" for g in GROWTHS) +
             ", the largest for which the search was complete. The others get as much growth and "
             "300,000 candidates. Distance: cost above the optimum.", ""]
    if below:
        lines += ["Left out: " + ", ".join(below) + ". `exhaustive` counts calls on constants "
                  "against the limit, as there is no end to them, the others do not; there they "
                  "got below its result, and the optimum is not known.", ""]
    return [DISTANCE, "", *lines, *table(["searcher", "optimal", "mean distance", "largest"], rows)]


def replace_section(path, lines):
    """Puts the section where the one of that title is, or at the end."""
    parts = path.read_text().split("\n## ")
    title = lines[0].removeprefix("## ")
    section = "\n".join(lines).removeprefix("## ").rstrip() + "\n"
    at = next((k for k, p in enumerate(parts) if p.startswith(title)), len(parts))
    parts[at:at + 1] = [section]
    path.write_text("\n\n## ".join(p.strip("\n") for p in parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models_wanted", nargs="*", metavar="MODEL", default=MODELS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/bench-models")
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--baseline-time", type=float, default=60)
    parser.add_argument("--only", choices=["distance", "threads"])
    args = parser.parse_args()
    names = args.models_wanted or MODELS
    if args.only:
        section = {"distance": distance, "threads": threads_section}[args.only]
        replace_section(ROOT / "bench/engine.md", section(args.build, args.models))
        return
    build_models(args.models, [*names, "decoder_2k", "decoder_20k"])
    load = os.getloadavg()[0]
    engine = engine_table(args.build, args.models)
    results = {}
    (ROOT / "bench/engine").mkdir(exist_ok=True)
    for name in names:
        model = args.models / f"{name}.onnx"
        reports = {s: optimize(args.build, model, s, args.time) for s in SEARCHERS}
        reports[BASELINE] = optimize(args.build, model, BASELINE, args.baseline_time)
        results[name] = reports
        plot(ROOT / f"bench/engine/{name}.svg", name, reports)
        print(name, {s: round(final(r)) for s, r in reports.items()}, flush=True)
    lines = ["# The rewrite engine and its searchers", "",
             f"`python3 bench/run_engine.py --time {args.time:g} --baseline-time "
             f"{args.baseline_time:g}` on {os.cpu_count()} cores ({platform.machine()}), load "
             f"average {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end; all shipped "
             "rules, one thread unless said.", "",
             "## Engine", "",
             "A step applies a random match, brings the matches, the cost and the hash up to date, "
             "and undoes it all. Times of `rules` and `match_all` are CPU time.", "",
             *table(["benchmark", "time", ""], engine),
             "## Against the published search", "",
             "`taso` is TASO's search on the same rules, matcher and costs, with whole graphs "
             "in an unbounded queue. *Found after*: when it had its final cost. *As good after*: "
             "when `windows` cost no more than that. Peaks are of the whole process, model "
             "included.", "", *comparison(results),
             f"## Searchers, {args.time:g} s each", "",
             "Predicted cost in ms, and when it was found; the best in bold. Plots: "
             "`engine/<model>.svg`.", "", *searchers(results),
             "Thousand candidates a second:", "", *rates(results),
             *distance(args.build, args.models),
             *threads_section(args.build, args.models),
             "## Large graphs", "",
             "A decoder of 5 and of 48 layers. A search ends when no window pays. Windows that "
             "are alike, as in repeated layers, are searched once.", "",
             *large(args.build, args.models, 60)]
    (ROOT / "bench/engine.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
