#!/usr/bin/env python3
"""What agents learn in dreams of several temperatures, with all locations of a rule told apart.

  python bench/learn/run_dreams.py [--models NAME ...] [--seeds 5] [--iterations 6] [--minutes 60]
                                   [--locations 200] [--threads 1] [--regraft FILE]

Trains one world model on each model, then controllers in its dreams: so many seeds at each
temperature. Keeps figures in bench/learn/dreams.json, so that a run that was broken off goes on,
and writes bench/learn/dreams.md. A model that is named is run anew.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench/models")]

from learn_agents import sweep_table  # noqa: E402
from learn_runs import table  # noqa: E402

MODELS = ("tiny_fire", "tiny_mobilenet", "squeezenet1_1")
TEMPERATURES = (0.1, 0.5, 0.75, 1.0, 1.2, 1.5, 1.75, 2.0, 2.5, 3.0)
DEPTHS = (1, 5, 15)


def train(options, name):
    """The report of a world model and of the controllers that were trained in its dreams."""
    import build_models
    import onnx
    with tempfile.TemporaryDirectory() as folder:
        model, out = pathlib.Path(folder, f"{name}.onnx"), pathlib.Path(folder, "report.json")
        onnx.save(build_models.MODELS[name](0), model)
        command = [options.regraft, "train", "--agent", "world-model", "--graphs", model, "-o",
                   f"{folder}/a.policy", "--locations", options.locations, "--iterations",
                   options.iterations, "--time", 60 * options.minutes, "--sweep", *TEMPERATURES,
                   "--sweep-seeds", options.seeds, "--threads", options.threads, "--json", out, "-q"]
        subprocess.run([str(c) for c in command], check=True)
        report = json.loads(out.read_text())
    kept = {k: report[k] for k in ("real_steps", "dream_steps", "drift", "sweep")}
    return {**kept, "locations": options.locations, "seeds": options.seeds}


def paragraph(text):
    return [*textwrap.wrap(text, 100, break_on_hyphens=False), ""]


def model_lines(name, found):
    drift = found["drift"]
    rows = [[d["depth"], f"{d['steps']:,}", f"{d['mask_f1']:.2f}", f"{d['reward_error']:.2f}",
             f"{d['latent_error']:.2f}", f"{d['latent_spread']:.2f}", f"{d['end_accuracy']:.2f}"]
            for d in drift["depths"] if d["depth"] in DEPTHS and d["steps"]]
    lines = [f"## {name}, {found['locations']} locations of a rule", ""]
    lines += paragraph(
        f"Trained with {found['real_steps']:,} real steps and {found['dream_steps']:,} dreamt ones. "
        f"A real step takes {drift['real_step_us']:,.0f} us, an imagined one "
        f"{drift['imagined_step_us']:,.0f} us: {drift['real_step_us'] / drift['imagined_step_us']:.1f} "
        f"times less. The controller saves {drift['imagined_mean']:.2f} ± {drift['imagined_std']:.2f} % "
        f"in dreams, {drift['real_mean']:.2f} ± {drift['real_std']:.2f} % in the environment.")
    if rows:
        lines += table(["imagined steps", "compared", "rules offered, F1", "error of a reward, points",
                        "error of the latent state", "its spread", "end told rightly"], rows)
    return [*lines, f"Temperatures, {found['seeds']} seeds of each (Table 5.1):", "",
            *sweep_table(found["sweep"])]


def report(kept):
    lines = ["# Dreams", ""]
    lines += paragraph(
        "Written by `python bench/learn/run_dreams.py`. One world model for each model below; then "
        "controllers are trained in its dreams at each temperature τ, and act in the environment: "
        "percent of cost saved, means and deviations over seeds.")
    for name, found in kept.items():
        lines += model_lines(name, found)
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=None, help="default: those not yet run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--locations", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    options = parser.parse_args()
    store = HERE / "dreams.json"
    kept = json.loads(store.read_text()) if store.exists() else {}
    wanted = options.models
    for name in [n for n in MODELS if n not in kept] if wanted is None else wanted:
        kept[name] = train(options, name)
        store.write_text(json.dumps(kept, indent=1) + "\n")
        (HERE / "dreams.md").write_text(report(kept))
        print(name, kept[name]["sweep"], flush=True)
    (HERE / "dreams.md").write_text(report(kept))


if __name__ == "__main__":
    main()
