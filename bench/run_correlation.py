#!/usr/bin/env python3
"""How well do predicted costs rank graphs? Compares them with measured latencies of graphs that
compute the same, and writes bench/correlation.md and bench/correlation/*.svg from what
bench/correlation.json keeps.

  python bench/run_correlation.py [--only NAME ...] [--runtime onnxruntime|cpu] [--again]
  python bench/run_correlation.py --zoo DIR --only NAME ...
  python bench/run_correlation.py --table

Needs bench/requirements.txt. The graphs are what random walks by the shipped rules meet (`regraft
cost variants`). The kernels they consist of are measured first, where the profile lacks them; then
whole graphs, each beside the original model, twice in different orders. What is in correlation.json
already is left alone unless --again is given. With --zoo the models are exports of models/export_zoo.py,
and nothing is measured for the prediction: it is that of the shipped profile.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE / "models"), str(HERE)]

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import build_models  # noqa: E402
from regraft import program, runtime, timing  # noqa: E402

MODELS = ["resnet50", "inception_v3", "squeezenet1_1", "bert_base", "mobileone_s0", "repvgg_a0",
          "densenet121"]
PREDICTORS = {"predicted": "profile", "roofline": "roofline, call by call"}
PASSES = 2
CALIBRATION = 300  # seconds, at most
GROUP = 6  # graphs that are open at the same time
WANTED = 0.95
SHIPPED = "exports, by the shipped profile"
PREDICTION = re.compile(r": ([0-9.]+) us predicted, (\d+) kernels, of which (\d+) \(([0-9.]+) us\)")


def regraft(args, *arguments):
    run = subprocess.run([args.regraft, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"regraft {arguments[0]} {arguments[1]}: {run.stderr.strip()}")
    return run.stdout


def variants(args, model, folder):
    regraft(args, "cost", "variants", model, "--count", args.count, "--dir", folder, "--cost",
            args.start, "--quiet", "--seed", args.seed)
    return json.loads((folder / "variants.json").read_text())


def measure_kernels(args, files):
    """Adds to the profile what it lacks."""
    if args.runtime == "onnxruntime":
        run = [sys.executable, "-m", "regraft.profile", *files, "--profile", str(args.profile)]
        told = subprocess.run(run, env=environment(args), stdout=sys.stderr).returncode
        if told not in (0, 1):
            sys.exit(f"regraft.profile: exit {told}")
    else:
        regraft(args, "calibrate", *files, "--runtime", args.runtime, "-o", args.profile, "--time",
                CALIBRATION)


def environment(args):
    return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "REGRAFT": args.regraft}


def predict(args, entries):
    """Sets `predicted` and `estimated` (the part that is not measured), in microseconds."""
    # The user's file holds all runtimes; of another only the name says which is meant.
    usual = args.profile == program.user_profile()
    text = regraft(args, "cost", "predict", *(e["file"] for e in entries), "--cost",
                   args.runtime if usual else args.profile)
    found = PREDICTION.findall(text)
    if len(found) != len(entries):
        sys.exit(f"regraft cost predict: {len(found)} predictions of {len(entries)}")
    for entry, (predicted, kernels, _, estimated) in zip(entries, found):
        entry.update(predicted=float(predicted), kernels=int(kernels), estimated=float(estimated))


def measure(args, original, entries):
    """The entries that the runtime loads, with `measured`, a list of PASSES independent
    measurements in microseconds: each is a ratio to the original, in a unit that all share."""
    beside = in_onnxruntime if args.runtime == "onnxruntime" else by_regraft
    levels = []
    for entry in entries:
        entry["measured"] = []
    for number in range(PASSES):
        shuffled = random.Random(number).sample(entries, len(entries))
        ratios, more = beside(args, original, [e["file"] for e in shuffled])
        levels += more
        for entry, ratio in zip(shuffled, ratios):
            entry["measured"].append(ratio)
    level = statistics.median(levels)
    entries = [e for e in entries if None not in e["measured"]]
    for entry in entries:
        entry["measured"] = [level * ratio for ratio in entry["measured"]]
    return entries


def in_onnxruntime(args, original, files):
    """Ratios of the graphs, each in turn with the original, which stays open (None: onnxruntime
    does not load the graph), and the original's microseconds."""
    inputs = runtime.Inputs(args.shapes)
    first = opened(original, inputs)
    if first.error:
        sys.exit(f"{original}: {first.error}")
    ratios, levels = [], []
    for file in files:
        runner = opened(file, inputs)
        if runner.error:
            print(f"{file}: {runner.error}", file=sys.stderr)
            ratios.append(None)
            continue
        first.samples.clear()
        timing.rounds([first, runner], args.seconds)
        ratios.append(statistics.median(b / a for a, b in zip(first.samples, runner.samples)))
        levels.append(statistics.median(first.samples))
    return ratios, levels


def opened(file, inputs):
    return timing.Runner(lambda: runtime.session(file), inputs)


def by_regraft(args, original, files):
    """The same in another runtime, a few graphs with the original in each call."""
    ratios, levels = [], []
    for k in range(0, len(files), GROUP):
        group = files[k:k + GROUP]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "times.json"
            regraft(args, "cost", "time", original, *group, "--runtime", args.runtime, "--quiet",
                    "--time", args.seconds * len(group), "--json", out)
            first, *others = (m["microseconds"] for m in json.loads(out.read_text())["models"])
        levels.append(first)
        ratios += [other / first for other in others]
    return ratios, levels


def shapes_of(args, model, folder):
    """Of the inputs, open sizes as regraft prices them."""
    report = folder / "stats.json"
    regraft(args, "stats", model, "--json", report, "--quiet")
    told = json.loads(report.read_text())
    return {i["name"]: [told["dynamic"].get(d, d) for d in i["dims"]] for i in told["inputs"]}


def run_model(args, name):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        original = folder / f"{name}.onnx"
        if args.zoo:
            original = args.zoo / f"{name}.onnx"
        else:
            onnx.save(build_models.MODELS[name](0), original)
        args.shapes = shapes_of(args, original, folder)
        entries = variants(args, original, folder / "variants")
        if not args.zoo:
            measure_kernels(args, [str(original), *(e["file"] for e in entries)])
        predict(args, entries)
        entries = measure(args, str(original), entries)
    for entry in entries:
        entry["file"] = pathlib.Path(entry["file"]).name
    return entries


def ranks(values):
    """From 0; equal values share the mean of their ranks."""
    values = np.asarray(values, float)
    below = (values[None, :] < values[:, None]).sum(1)
    equal = (values[None, :] == values[:, None]).sum(1)
    return below + (equal - 1) / 2


def pearson(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def spearman(a, b):
    return pearson(ranks(a), ranks(b))


def measured(entries):
    return [statistics.mean(e["measured"]) for e in entries]


def rows(name, entries):
    truth = measured(entries)
    ceiling = spearman(*([e["measured"][k] for e in entries] for k in range(PASSES)))
    spread = f"{min(truth) / 1000:.2f} to {max(truth) / 1000:.2f}"
    for key, told in PREDICTORS.items():
        if all(key in e for e in entries):
            guess = [e[key] for e in entries]
            rank = spearman(guess, truth)
            ratio = statistics.mean(g / t for g, t in zip(guess, truth))
            shown = f"{rank:.3f}" if rank >= WANTED or key != "predicted" else f"**{rank:.3f}**"
            estimated = statistics.mean(e["estimated"] / e["predicted"] for e in entries)
            yield (f"| {name} | {len(entries)} | {spread} | {told} | {shown} | {ceiling:.3f} | "
                   f"{pearson(guess, truth):.3f} | {ratio:.2f} | "
                   + (f"{100 * estimated:.1f} %" if key == "predicted" else "–") + " |")


def plot(name, entries, path):
    import plots
    figure, axes = plots.pyplot.subplots(figsize=(3.4, 3))
    truth = np.array(measured(entries)) / 1000
    for key, mark in (("roofline", "x"), ("predicted", "o")):
        guess = np.array([e[key] for e in entries]) / 1000
        axes.plot(truth, guess, mark, markersize=3.5, fillstyle="none", label=PREDICTORS[key])
    axes.axline((truth.mean(), truth.mean()), slope=1, linewidth=0.6, color="grey")
    axes.set(xlabel="measured, ms", ylabel="predicted, ms", title=name)
    axes.legend(fontsize=7)
    figure.tight_layout()
    plots.save(figure, path)


HEAD = ["| model | graphs | measured, ms | predictor | Spearman | ceiling | Pearson | "
        "predicted / measured | estimated |", "|---|---:|---|---|---:|---:|---:|---:|---:|"]


def table(data):
    lines = [
        "# Predicted and measured latency", "",
        "`python bench/run_correlation.py`: graphs that compute the same, met by random walks from "
        "the model and from", "what greedy search makes of it. Spearman: rank correlation of the "
        f"prediction with the mean of {PASSES}", "measurements; ceiling: of one measurement with "
        "the other, which no predictor can be expected to pass.", "estimated: the part of a "
        f"prediction that is not from measured kernels. Below {WANTED} is bold.", ""]
    for where, models in data.items():
        lines += [f"## {where}", "", *HEAD]
        for name in sorted(models, key=place_of):
            lines += rows(name, models[name])
        if SHIPPED not in where:
            lines += ["", *(f"![{n}](correlation/{file_name(where, n)})"
                            for n in sorted(models, key=place_of))]
        lines.append("")
    return "\n".join(lines)


def place_of(name):
    return MODELS.index(name) if name in MODELS else len(MODELS), name


def file_name(where, name):
    return f"{where.split(',')[0].split()[0]}-{name}.svg"


def write(data, args):
    folder = args.out.with_suffix("")
    folder.mkdir(exist_ok=True)
    for where, models in data.items():
        for name, entries in models.items() if SHIPPED not in where else ():
            plot(name, entries, folder / file_name(where, name))
    args.out.write_text(table(data))


def place(args):
    """What a section of the table is about."""
    library = f"onnxruntime {runtime.load().__version__}" if args.runtime == "onnxruntime" \
        else args.runtime
    return f"{library}, one thread, {runtime.processor()}" + (f", {SHIPPED}" if args.zoo else "")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names")
    parser.add_argument("--again", action="store_true", help="also what is kept already")
    parser.add_argument("--table", action="store_true", help="write the table and time nothing")
    parser.add_argument("--zoo", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--count", type=int, default=60, help="graphs for each model")
    parser.add_argument("--seconds", type=float, default=3, help="of timing for each graph, twice")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runtime", choices=["onnxruntime", "cpu"], default="onnxruntime")
    parser.add_argument("--start", default="roofline", help="cost model that the walks start with")
    parser.add_argument("--profile", type=pathlib.Path, default=program.user_profile())
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--kept", type=pathlib.Path, default=HERE / "correlation.json")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "correlation.md")
    return parser.parse_args()


def main():
    args = arguments()
    data = json.loads(args.kept.read_text()) if args.kept.exists() else {}
    if args.table:
        return write(data, args)
    models = data.setdefault(place(args), {})
    if args.zoo:
        args.profile = next((ROOT / "cost/profiles").glob("*.profile"))
    for name in args.only if args.zoo else MODELS:
        if args.only and not any(part in name for part in args.only):
            continue
        if name in models and not args.again:
            continue
        models[name] = run_model(args, name)
        args.kept.write_text(json.dumps(data, indent=1) + "\n")
        write(data, args)
        print("\n".join(rows(name, models[name])), flush=True)
    return write(data, args)


if __name__ == "__main__":
    main()
