#!/usr/bin/env python3
"""Steps a second of the Gymnasium environments through Python, with observations, on one thread.

  python bench/run_gym.py [--models DIR] [--seconds S] [--envs N] [MODEL ...]

The models are built by bench/models/build_models.py where they are missing (needs onnx and numpy).
Actions are drawn from the masks. Seconds are processor time of this process, so that others on the
machine count little.
"""
import argparse
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench/models")]

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402

import build_models  # noqa: E402
import regraft.gym  # noqa: E402,F401

MODELS = ["squeezenet1_1", "resnet50"]


def built(folder, name):
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(build_models.MODELS[name](0), path)
    return path


def measure(path, flags, **options):
    envs = gymnasium.make_vec("regraft/Graph-v0", num_envs=flags.envs, models=[path], threads=1,
                              copy=False, **options)
    rng = np.random.default_rng(1)
    observation, _ = envs.reset(seed=1)
    counts = observation["counts"]
    steps, nodes, actions = 0, 0.0, 0.0
    begun = time.process_time()
    while (seconds := time.process_time() - begun) < flags.seconds:
        chosen = 1 + (rng.random(flags.envs) * (counts[:, 2] - 1)).astype(np.int64)
        envs.step(np.minimum(chosen, counts[:, 2] - 1))
        steps += flags.envs
        nodes += counts[:, 0].sum()
        actions += counts[:, 2].sum()
    envs.close()
    return steps / seconds, nodes / steps, actions / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("names", nargs="*", metavar="MODEL")
    flags = parser.parse_args()
    print("model            steps/s/core   nodes  actions")
    for name in flags.names or MODELS:
        rate, nodes, actions = measure(built(flags.models, name), flags)
        print(f"{name:16} {rate:12.0f} {nodes:7.0f} {actions:8.0f}", flush=True)


if __name__ == "__main__":
    main()
