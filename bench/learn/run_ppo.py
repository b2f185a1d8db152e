#!/usr/bin/env python3
"""Compares what PPO learns from each reward, with each head, and with prices hidden.

  python bench/learn/run_ppo.py [--models NAME ...] [--seeds 5] [--iterations 30] [--regraft FILE]
                                [--anew]

Trains each setting on each model alone, with several seeds, one thread each. Keeps figures in
bench/learn/ppo.json, so that a run that was broken off goes on, and writes bench/learn/ppo.md.
`--anew` makes runs again whose processor time is not known, but for settings that are skipped.
"""
import argparse
import csv
import json
import pathlib
import resource
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


def processor_seconds():
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(regraft, model, options, seed, iterations):
    """The evaluations of a training, as rows of its log; in the last one what the program took."""
    before = processor_seconds()
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.csv"
        subprocess.run([regraft, "train", "--graphs", model, "-o", f"{folder}/a.policy", "--log",
                        log, "--iterations", str(iterations), "--evaluate-every", "2", "--threads",
                        "1", "--seed", str(seed), "-q", *options], check=True)
        rows = list(csv.DictReader(log.read_text().splitlines()))
    kept = ("iteration", "seconds", "real_steps", "alone_percent", "greedy_percent")
    found = [{k: float(row[k]) for k in kept} for row in rows if row["alone_percent"]]
    found[-1]["processor_seconds"] = processor_seconds() - before
    return found


def start_seconds(regraft, model):
    """What the program takes for one episode: reading rules, models and prices, for the most part."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(5):
            before = processor_seconds()
            subprocess.run([regraft, "train", "--graphs", model, "-o", f"{folder}/a.policy",
                            "--iterations", "1", "--episodes", "1", "--evaluate-every", "0",
                            "--state", f"{folder}/{k}.state", "--threads", "1", "-q"], check=True)
            taken.append(processor_seconds() - before)
    return statistics.median(taken)


def windows_percent(regraft, model):
    """What the search in windows does, in percent of the cost."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "r.json"
        subprocess.run([regraft, "optimize", model, "-o", f"{folder}/o.onnx", "--cost", "roofline",
                        "--target", "onnx", "--no-measure", "--check", "0", "--json", report, "-q"],
                       check=True)
        found = json.loads(report.read_text())
    return 100 * (found["after"]["cost"] / found["before"]["cost"] - 1)


def figures(runs, start):
    """Of several seeds: the last evaluation, the steps until greedy descent is beaten, and the rate
    after the start."""
    last = [run[-1]["alone_percent"] for run in runs]
    won = [next((row for row in run if row["alone_percent"] < row["greedy_percent"] - WON), None)
           for run in runs]
    timed = all("processor_seconds" in run[-1] for run in runs)
    rates = [run[-1]["real_steps"] /
             (run[-1]["processor_seconds"] - start if timed else run[-1]["seconds"])
             for run in runs]
    return {"mean": statistics.mean(last), "worst": max(last), "best": min(last),
            "won": sum(row is not None for row in won),
            "steps": statistics.median([row["real_steps"] for row in won if row] or [float("nan")]),
            "rate": statistics.median(rates), "timed": timed}


def report(kept, seeds, iterations, command):
    lines = ["# PPO: rewards, heads, hidden prices", "",
             *textwrap.wrap(f"Written by `{command}`: up to {seeds} seeds of each setting, {iterations} "
                            "iterations of 16 episodes on one model, one thread.", 100), "",
             *textwrap.wrap("Percent by which the policy by itself (mode `alone`) changes the predicted cost "
             "after the last iteration; in how many seeds it was ever below greedy descent by "
             f"{WON} points, and after how many steps of the environment (median of those); steps "
             "a second of processor time, learning and evaluation included but not the start. With a "
             "star: a row of an older build and its rules, with a second of another "
             "machine's clock. `measured` is the time of this machine's kernels, so it learns "
             "something else than what is evaluated. *Hidden prices*: the network does not see what "
             "matches save.", 100, break_on_hyphens=False), ""]
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
            f = figures(list(runs[name].values()), runs.get("start", 0))
            steps = f"{f['steps']:,.0f}" if f["won"] else ""
            star = "" if f["timed"] else "*"
            lines.append(f"| {name} | {f['mean']:.2f} | {f['worst']:.2f} | {f['best']:.2f} | "
                         f"{f['won']} of {len(runs[name])} | {steps} | {f['rate']:,.0f}{star} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--skip", nargs="*", default=[], help="settings that are not run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--anew", action="store_true")
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
        if options.anew or "start" not in runs:
            runs["start"] = start_seconds(options.regraft, model)
        for setting, flags in SETTINGS.items():
            if setting in options.skip:
                continue
            old = runs.setdefault(setting, {})
            if options.anew and not all("processor_seconds" in run[-1] for run in old.values()):
                runs[setting] = {}
            for seed in range(options.seeds):
                if str(seed) in runs[setting]:
                    continue
                runs[setting][str(seed)] = train(options.regraft, model, flags, seed,
                                                 options.iterations)
                store.write_text(json.dumps(kept, indent=1) + "\n")
                print(name, setting, seed, runs[setting][str(seed)][-1], flush=True)
    text = report(kept, options.seeds, options.iterations, "python bench/learn/run_ppo.py")
    (HERE / "ppo.md").write_text(text)


if __name__ == "__main__":
    main()
