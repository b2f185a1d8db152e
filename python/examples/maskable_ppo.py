#!/usr/bin/env python3
"""MaskablePPO of sb3-contrib on regraft/Factorised-v0.

  pip install regraft[gym] sb3-contrib
  python maskable_ppo.py --models model.onnx --steps 20000 [--out faster.onnx]
"""
import argparse
import time

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

import regraft.gym  # noqa: F401


class Pooled(BaseFeaturesExtractor):
    """Means of what is known of nodes and of matches, and how many places each rule has."""

    def __init__(self, space: gymnasium.spaces.Dict, operators: int, width: int = 64):
        super().__init__(space, 4 * width)
        self.op = nn.Embedding(operators + 1, width)
        self.node = nn.Linear(space["node"].shape[1], width)
        self.match = nn.Linear(space["match"].shape[1], width)
        self.whole = nn.Linear(space["global"].shape[0], width)
        self.rules = nn.Linear(space["locations"].shape[0], width)

    def forward(self, o):
        def mean(rows, there):
            there = there.float()[..., None]
            return (rows * there).sum(1) / there.sum(1).clamp(min=1)
        nodes = torch.relu(self.op(o["op"].long()) + self.node(o["node"]))
        matches = torch.relu(self.match(o["match"]))
        return torch.cat([mean(nodes, o["op"] > 0), mean(matches, o["rule"] > 0),
                          torch.relu(self.whole(o["global"])),
                          torch.relu(self.rules(torch.log1p(o["locations"].float())))], 1)


class Limit(BaseCallback):
    """Ends the training after so many seconds."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.monotonic() + seconds

    def _on_step(self):
        return time.monotonic() < self.end


def episode(policy, env, seed):
    """Percent of the cost that an episode saves at best."""
    observation, info = env.reset(seed=seed)
    done = False
    while not done:
        action, _ = policy.predict(observation, action_masks=env.unwrapped.action_masks())
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
    return 100 * (1 - info["best"] / info["original"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--rules", nargs="+")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    flags = parser.parse_args()
    torch.manual_seed(flags.seed)
    env = gymnasium.make("regraft/Factorised-v0", models=flags.models, rules=flags.rules,
                         reward="best")
    agent = MaskablePPO("MultiInputPolicy", env, n_steps=256, batch_size=64, gamma=0.99,
                        ent_coef=0.01, seed=flags.seed, verbose=0, device="cpu",
                        policy_kwargs={"features_extractor_class": Pooled,
                                       "features_extractor_kwargs":
                                       {"operators": len(env.unwrapped.operators)}})
    before = np.mean([episode(agent, env, k) for k in range(3)])
    agent.learn(flags.steps, callback=Limit(flags.seconds))
    after = np.mean([episode(agent, env, k) for k in range(3)])
    print(f"{agent.num_timesteps} steps: saved {before:.2f} % before, {after:.2f} % after")
    if flags.out:
        env.unwrapped.export(flags.out)


if __name__ == "__main__":
    main()
