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


class Curve(BaseCallback):
    """Prints what episodes saved at best, in percent of the cost; ends after so many seconds."""

    def __init__(self, seconds):
        super().__init__()
        self.start = time.monotonic()
        self.seconds = seconds
        self.saved = []

    def _on_step(self):
        self.saved += [100 * (1 - info["best"] / info["original"])
                       for info, done in zip(self.locals["infos"], self.locals["dones"]) if done]
        return time.monotonic() - self.start < self.seconds

    def _on_rollout_end(self):
        if self.saved:
            print(f"{self.num_timesteps} steps, {time.monotonic() - self.start:.0f} s: "
                  f"saved {np.mean(self.saved):.2f} %", flush=True)
        self.saved = []


def play(agent, env, seed):
    """One episode of what the agent finds best."""
    observation, info = env.reset(seed=seed)
    done = False
    while not done:
        masks = env.action_masks()
        action, _ = agent.predict(observation, action_masks=masks, deterministic=True)
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
    print(f"the last episode saved {100 * (1 - info['best'] / info['original']):.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--rules", nargs="+")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--rollout", type=int, default=1024, help="steps between updates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    flags = parser.parse_args()
    torch.manual_seed(flags.seed)
    env = gymnasium.make("regraft/Factorised-v0", models=flags.models, rules=flags.rules,
                         reward="best")
    agent = MaskablePPO("MultiInputPolicy", env, n_steps=flags.rollout, batch_size=128, n_epochs=5,
                        learning_rate=1e-3, ent_coef=0.01, seed=flags.seed, device="cpu",
                        policy_kwargs={"features_extractor_class": Pooled,
                                       "features_extractor_kwargs":
                                       {"operators": len(env.operators)}})
    agent.learn(flags.steps, callback=Curve(flags.seconds))
    if flags.out:
        play(agent, env, flags.seed)
        env.export(flags.out)


if __name__ == "__main__":
    main()
