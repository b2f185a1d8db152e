#!/usr/bin/env python3
"""Steps a second of the Gymnasium environments through Python, with observations, on one thread.

  python bench/gym/run_gym.py [--models DIR] [--seconds S] [--save LABEL] [MODEL ...]

The models are built by bench/models/build_models.py where they are missing (needs onnx and numpy).
Actions are drawn from the masks. Seconds are processor time of this process, so that others on the
machine count little. --save keeps the figures in bench/gym.json and writes bench/gym.md anew.
"""
import argparse
import json
import pathlib
import sys
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench/models")]

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402

import build_models  # noqa: E402
import regraft.gym  # noqa: E402,F401

MODELS = ["tiny_resnet", "tiny_mobilenet", "squeezenet1_1", "resnet50"]
COLUMNS = {"batch": "16 in a batch", "half": "8", "hidden": "`hide_cost`", "factorised": "`Factorised-v0`",
           "single": "one by one"}

ABOUT = """On one core, through Python, with observations; random actions. Nodes and actions are means
over the states. In a batch: `make_vec` with `copy=False`, 16 environments and 8; 16 also without
costs in states, and factorised. One by one: `make`. More environments at once fit a core's cache
less well. Written by `python bench/gym/run_gym.py --save LABEL`."""


def built(folder, name):
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(build_models.MODELS[name](0), path)
    return path


def draw(rng, rows, factorised):
    """An action of each environment but to stop, where there is one."""
    counts = rows["counts"][:, 2]
    chosen = np.minimum(1 + (rng.random(len(counts)) * (counts - 1)).astype(np.int64), counts - 1)
    if not factorised:
        return chosen
    every = np.arange(len(counts))
    rules = rows["rule"][every, chosen]
    return np.stack([rules, (rng.random(len(counts)) * rows["locations"][every, rules])
                     .astype(np.int64)], 1)


def measure(path, flags, name="Graph", count=16, **options):
    """Steps a second, and means of nodes and actions."""
    envs = gymnasium.make_vec(f"regraft/{name}-v0", num_envs=count, models=[path], threads=1,
                              copy=False, **options)
    rng = np.random.default_rng(1)
    rows, _ = envs.reset(seed=1)
    counts = rows["counts"]
    steps, nodes, actions = 0, 0.0, 0.0
    begun = time.process_time()
    while (seconds := time.process_time() - begun) < flags.seconds:
        envs.step(draw(rng, rows, name == "Factorised"))
        steps += count
        nodes += counts[:, 0].sum()
        actions += counts[:, 2].sum()
    envs.close()
    return steps / seconds, nodes / steps, actions / steps


def measure_single(path, flags):
    """With gymnasium.make, and copies of what it returns."""
    env = gymnasium.make("regraft/Graph-v0", models=[path])
    rng = np.random.default_rng(1)
    observation, _ = env.reset(seed=1)
    steps = 0
    begun = time.process_time()
    while (seconds := time.process_time() - begun) < flags.seconds:
        actions = int(observation["counts"][2])
        action = 1 + int(rng.random() * (actions - 1)) if actions > 1 else 0
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
        steps += 1
    env.close()
    return steps / seconds


def row_of(path, flags):
    rate, nodes, actions = measure(path, flags)
    return {"nodes": nodes, "actions": actions, "batch": rate,
            "half": measure(path, flags, count=8)[0],
            "hidden": measure(path, flags, hide_cost=True)[0],
            "factorised": measure(path, flags, "Factorised")[0],
            "single": measure_single(path, flags)}


def table(results):
    lines = ["| model | nodes | actions | " + " | ".join(COLUMNS.values()) + " |",
             "|---|" + "--:|" * (len(COLUMNS) + 2)]
    for name, row in results.items():
        cells = [f"{row[k]:,.0f}" if k in row else "" for k in ("nodes", "actions", *COLUMNS)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def save(label, results):
    kept = ROOT / "bench/gym.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    known[label] = results
    kept.write_text(json.dumps(known, indent=1) + "\n")
    text = ["# Steps a second of the Gymnasium environments", "",
            textwrap.fill(ABOUT, 100)]
    for name, found in known.items():
        text += ["", f"## {name}", "", table(found)]
    (ROOT / "bench/gym.md").write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--seconds", type=float, default=10, help="for each figure")
    parser.add_argument("--save", metavar="LABEL")
    parser.add_argument("names", nargs="*", metavar="MODEL")
    flags = parser.parse_args()
    results = {}
    for name in flags.names or MODELS:
        results[name] = row_of(built(flags.models, name), flags)
        print(name, {k: round(x) for k, x in results[name].items()}, flush=True)
    print(table(results))
    if flags.save:
        save(flags.save, results)


if __name__ == "__main__":
    main()
