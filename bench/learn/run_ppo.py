#!/usr/bin/env python3
"""Compares what PPO learns from each reward, with each head, and with prices hidden.

  python bench/learn/run_ppo.py [--models NAME ...] [--seeds 5] [--iterations 30] [--regraft FILE]

Trains each setting on each model alone, with several seeds, one thread each. Keeps figures in
bench/learn/ppo.json, so that a run that was broken off goes on, and writes bench/learn/ppo.md.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/models"))

SETTINGS = {
    **{f"{reward}": ("--reward", reward)
       for reward in ("change", "final", "best", "shaped", "measured", "mixed")},
    "change, factorised heads": ("--heads", "factorised"),
    "change, hidden prices": ("--hide-cost",),
    "change, factorised heads, hidden prices": ("--heads", "factorised", "--hide-cost"),
}
MODELS = ("tiny_mobilenet", "tiny_fire", "squeezenet1_1")
WON = 0.1  # percent below greedy descent


def train(regraft, model, options, seed, iterations):
    """The evaluations of a training, as rows of its log."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.csv"
        subprocess.run([regraft, "train", "--graphs", model, "-o", f"{folder}/a.policy", "--log",
                        log, "--iterations", str(iterations), "--evaluate-every", "2", "--threads",
                        "1", "--seed", str(seed), "-q", *options], check=True)
        rows = list(csv.DictReader(log.read_text().splitlines()))
    kept = ("iteration", "seconds", "real_steps", "alone_percent", "greedy_percent")
    return [{k: float(row[k]) for k in kept} for row in rows if row["alone_percent"]]


def windows_percent(regraft, model):
    """What the search in windows does, in percent of the cost."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "r.json"
        subprocess.run([regraft, "optimize", model, "-o", f"{folder}/o.onnx", "--cost", "roofline",
                        "--target", "onnx", "--no-measure", "--check", "0", "--json", report, "-q"],
                       check=True)
        found = json.loads(report.read_text())
    return 100 * (found["after"]["cost"] / found["before"]["cost"] - 1)


def figures(runs):
    """Of several seeds: the last evaluation, and the steps until greedy descent is beaten."""
    last = [run[-1]["alone_percent"] for run in runs]
    won = [next((row for row in run if row["alone_percent"] < row["greedy_percent"] - WON), None)
           for run in runs]
    rates = [run[-1]["real_steps"] / run[-1]["seconds"] for run in runs]
    return {"mean": statistics.mean(last), "worst": max(last), "best": min(last),
            "won": sum(row is not None for row in won),
            "steps": statistics.median([row["real_steps"] for row in won if row] or [float("nan")]),
            "rate": statistics.median(rates)}


def report(kept, seeds, iterations, command):
    lines = ["# PPO: rewards, heads, hidden prices", "",
             f"Written by `{command}`: up to {seeds} seeds of each setting, {iterations} iterations "
             "of 16 episodes on one model, one thread of a busy machine.", "",
             *textwrap.wrap("Percent by which the policy by itself (mode `alone`) changes the predicted cost "
             "after the last iteration; in how many seeds it was ever below greedy descent by "
             f"{WON} points, and after how many steps of the environment (median of those); steps "
             "a second, learning included. `measured` is the time of this machine's kernels, so "
             "it learns something else than what is evaluated. *Hidden prices*: the network does "
             "not see what matches save.", 100, break_on_hyphens=False), ""]
    for model, runs in kept.items():
        greedy = next(iter(runs["change"].values()))[-1]["greedy_percent"]
        lines += [f"## {model}", "",
                  f"Greedy descent {greedy:.2f} %, `--search windows` {runs['windows']:.2f} %.", "",
                  "| reward | mean | worst | best | below greedy | after steps | steps a second |",
                  "|---|--:|--:|--:|--:|--:|--:|"]
        for name in SETTINGS:
            if not runs.get(name):
                lines.append(f"| {name} | not run | | | | | |")
                continue
            f = figures(list(runs[name].values()))
            steps = f"{f['steps']:,.0f}" if f["won"] else ""
            lines.append(f"| {name} | {f['mean']:.2f} | {f['worst']:.2f} | {f['best']:.2f} | "
                         f"{f['won']} of {len(runs[name])} | {steps} | {f['rate']:,.0f} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--skip", nargs="*", default=[], help="settings that are not run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    options = parser.parse_args()
    import build_models
    import onnx
    store = HERE / "ppo.json"
    kept = json.loads(store.read_text()) if store.exists() else {}
    folder = ROOT / "build/learn/ppo"
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        model = folder / f"{name}.onnx"
        onnx.save(build_models.MODELS[name](0), model)
        runs = kept.setdefault(name, {})
        if "windows" not in runs:
            runs["windows"] = windows_percent(options.regraft, model)
        for setting, flags in SETTINGS.items():
            if setting in options.skip:
                continue
            for seed in range(options.seeds):
                if str(seed) in runs.setdefault(setting, {}):
                    continue
                runs[setting][str(seed)] = train(options.regraft, model, flags, seed,
                                                 options.iterations)
                store.write_text(json.dumps(kept, indent=1) + "\n")
                print(name, setting, seed, runs[setting][str(seed)][-1], flush=True)
    text = report(kept, options.seeds, options.iterations, "python bench/learn/run_ppo.py")
    (HERE / "ppo.md").write_text(text)


if __name__ == "__main__":
    main()
