#!/usr/bin/env python3
"""Draws what the examples of python/examples print while they learn, and prints it as a table.

  python bench/gym/draw_gym.py --model MODEL [--regraft PATH] [--out FILE.svg] NAME=LOG[,LOG...] ...

Each log is one training. Lines show what regraft's own searches save on the same model. Needs
matplotlib.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import plots  # noqa: E402
from plots import pyplot  # noqa: E402

LINE = re.compile(r"(\d+) steps, (\d+) s: saved (-?[\d.]+) %")
SEARCHES = {"greedy": ":", "windows": "--"}


def read(path):
    """[(steps, seconds, percent saved)]"""
    found = [(int(a), int(b), float(c))
             for a, b, c in LINE.findall(pathlib.Path(path).read_text())]
    if not found:
        raise SystemExit(f"draw_gym: {path}: no line \"STEPS steps, S s: saved P %\"")
    return found


def saved_by(search, flags):
    """Percent that regraft's own search saves."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([flags.regraft, "optimize", flags.model, "-o", f"{folder}/out.onnx",
                        "--search", search, "--cost", "roofline", "--json", report], check=True,
                       capture_output=True)
        found = json.loads(report.read_text())
    return 100 * (1 - found["after"]["cost"] / found["before"]["cost"])


def smooth(curve, width=5):
    """Means over the last few roll-outs."""
    return [statistics.mean(p for _, _, p in curve[max(0, k + 1 - width):k + 1])
            for k in range(len(curve))]


def draw(trainings, searches, path):
    figure, axes = pyplot.subplots(figsize=(6.5, 3.6))
    for k, (name, curves) in enumerate(trainings.items()):
        for j, curve in enumerate(curves):
            axes.plot([steps / 1000 for steps, _, _ in curve], smooth(curve), color=f"C{k}",
                      linewidth=1.4, alpha=0.8, label=name if j == 0 else None)
    for name, saved in searches.items():
        axes.axhline(saved, color="0.4", linewidth=1, linestyle=SEARCHES[name],
                     label=f"search: {name}")
    axes.set_xlabel("thousand steps")
    axes.set_ylabel("saved in an episode, %")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    plots.save(figure, path, bbox_inches="tight")


STEPS = [1, 2, 4, 6, 8, 12, 16, 20]  # thousands


def at_step(curve, step):
    """The mean of the last five roll-outs until then; None: the training was shorter."""
    until = [row for row in curve if row[0] <= 1.03 * step]
    return smooth(until)[-1] if until and curve[-1][0] >= 0.97 * step else None


def table(trainings, searches):
    print("| thousand steps | " + " | ".join(str(s) for s in STEPS) + " | seconds |")
    print("|---|" + "--:|" * (len(STEPS) + 1))
    for name, curves in trainings.items():
        for k, curve in enumerate(curves):
            cells = [at_step(curve, 1000 * s) for s in STEPS]
            print(f"| `{name}`, seed {k + 1} | " +
                  " | ".join("" if c is None else f"{c:.1f}" for c in cells) +
                  f" | {curve[-1][1]} |")
    for name, saved in searches.items():
        print(f"| `--search {name}` | {saved:.1f} |" + " |" * len(STEPS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("trainings", nargs="+", metavar="NAME=LOG[,LOG...]")
    flags = parser.parse_args()
    trainings = {name: [read(log) for log in logs.split(",")]
                 for name, _, logs in (t.partition("=") for t in flags.trainings)}
    searches = {name: saved_by(name, flags) for name in SEARCHES}
    table(trainings, searches)
    if flags.out:
        draw(trainings, searches, flags.out)


if __name__ == "__main__":
    main()
