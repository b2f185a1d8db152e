#!/usr/bin/env python3
"""PPO on regraft/Graph-v0 in one file: a graph network scores each match.

  pip install regraft[gym] torch torch_geometric
  python graph_ppo.py --models model.onnx --iterations 50 [--out faster.onnx]
"""
import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv
from torch_geometric.utils import scatter, softmax

import regraft.gym


def layers(*sizes):
    made = []
    for a, b in zip(sizes, sizes[1:]):
        made += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*made[:-1])


class Agent(nn.Module):
    """Logits of all actions of a batch, each with its graph, and values of graphs."""

    def __init__(self, space, operators, rules, width=48, rounds=3):
        super().__init__()
        self.op = nn.Embedding(operators + 1, width)
        self.node = nn.Linear(space["node"].shape[1], width)
        self.rounds = nn.ModuleList(
            GINEConv(layers(width, width, width), edge_dim=space["edge"].shape[1])
            for _ in range(2 * rounds))
        self.rule = nn.Embedding(rules + 1, width)
        self.match = nn.Linear(space["match"].shape[1], width)
        self.whole = nn.Linear(space["global"].shape[0], width)
        self.score = layers(5 * width, width, 1)
        self.value = layers(2 * width, width, 1)

    def forward(self, data):
        x = torch.relu(self.op(data.op) + self.node(data.x))
        back = data.edge_index.flip(0)
        for k, conv in enumerate(self.rounds):  # along the edges, and against them
            x = x + torch.relu(conv(x, back if k % 2 else data.edge_index, data.edge_attr))
        graphs = data.num_graphs
        whole = torch.cat([scatter(x, data.batch, 0, graphs, reduce="mean"),
                           torch.relu(self.whole(data.u))], 1)
        # Actions of graph k stand between two of the pointers that a batch has for `rule`.
        first = data._slice_dict["rule"]
        graph = torch.repeat_interleave(torch.arange(graphs), first[1:] - first[:-1])

        def gathered(index):
            return scatter(x[index[0]], index[1], 0, len(data.rule), reduce="mean")
        rows = torch.cat([self.rule(data.rule) + self.match(data.match),
                          gathered(data.inside_index), gathered(data.near_index), whole[graph]], 1)
        return self.score(rows)[:, 0], graph, first[:-1], self.value(whole)[:, 0]

    def act(self, data, actions=None):
        """Actions, their log-probabilities, entropies and values."""
        logits, graph, first, values = self(data)
        p = softmax(logits, graph, num_nodes=data.num_graphs)
        if actions is None:  # the greatest of logits with Gumbel noise
            noisy = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            actions = torch.stack([noisy[graph == g].argmax() for g in range(data.num_graphs)])
        logp = torch.log(p + 1e-12)
        entropy = -scatter(p * logp, graph, 0, data.num_graphs, reduce="sum")
        return actions, logp[first + actions], entropy, values


def states(observation):
    rows = ({name: data[k] for name, data in observation.items()}
            for k in range(len(observation["counts"])))
    return [regraft.gym.to_data(row) for row in rows]


def advantages(rewards, values, last, over, gamma=0.99, decay=0.95):
    """Generalised advantages; over[t]: the episode ended with step t."""
    found, sum_ = torch.zeros_like(rewards), torch.zeros_like(last)
    for t in reversed(range(len(rewards))):
        following = last if t + 1 == len(rewards) else values[t + 1]
        goes_on = 1 - over[t]
        error = rewards[t] + gamma * following * goes_on - values[t]
        sum_ = error + gamma * decay * goes_on * sum_
        found[t] = sum_
    return found


def collect(agent, envs, observation, over, steps):
    """One roll-out; the step after the end of an episode is no step, and is left out."""
    kept = {name: [] for name in ("state", "action", "logp", "value", "reward", "over", "real")}
    best = []
    for _ in range(steps):
        state = states(observation)
        with torch.no_grad():
            action, logp, _, value = agent.act(Batch.from_data_list(state))
        real = ~over
        observation, reward, terminated, truncated, info = envs.step(action.numpy())
        over = terminated | truncated
        best += list(100 * (1 - info["best"] / info["original"])[over])
        for name, x in zip(kept, (state, action, logp, value, reward, over, real)):
            kept[name].append(x)
    with torch.no_grad():
        last = agent.act(Batch.from_data_list(states(observation)))[3]
    tensors = {name: torch.stack([torch.as_tensor(np.asarray(x), dtype=torch.float32)
                                  for x in kept[name]]) for name in list(kept)[1:]}
    gained = advantages(tensors["reward"], tensors["value"], last, tensors["over"])
    flat = {name: x.flatten() for name, x in tensors.items()}
    flat.update(gained=gained.flatten(), state=[s for row in kept["state"] for s in row])
    return flat, observation, over, best


def update(agent, optimizer, flat, epochs=3, batch=64, clip=0.2):
    usable = torch.nonzero(flat["real"])[:, 0]
    for _ in range(epochs):
        for part in usable[torch.randperm(len(usable))].split(batch):
            data = Batch.from_data_list([flat["state"][k] for k in part])
            _, logp, entropy, value = agent.act(data, flat["action"][part].long())
            gained = flat["gained"][part]
            target = gained + flat["value"][part]
            gained = (gained - gained.mean()) / (gained.std(unbiased=False) + 1e-6)
            ratio = torch.exp(logp - flat["logp"][part])
            loss = -torch.min(ratio * gained, ratio.clamp(1 - clip, 1 + clip) * gained).mean()
            loss = loss + 0.5 * (value - target).pow(2).mean() - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--rules", nargs="+")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    flags = parser.parse_args()
    torch.manual_seed(flags.seed)
    envs = gymnasium.make_vec("regraft/Graph-v0", num_envs=flags.envs, models=flags.models,
                              rules=flags.rules, reward="change")
    agent = Agent(envs.single_observation_space, len(envs.operators), len(envs.rules))
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    observation, info = envs.reset(seed=flags.seed)
    over = np.zeros(flags.envs, bool)
    start = time.monotonic()
    for k in range(flags.iterations):
        flat, observation, over, best = collect(agent, envs, observation, over, flags.steps)
        update(agent, optimizer, flat)
        seconds = time.monotonic() - start
        if best:
            print(f"{(k + 1) * flags.envs * flags.steps} steps, {seconds:.0f} s: "
                  f"saved {np.mean(best):.2f} %", flush=True)
        if seconds > flags.seconds:
            break
    if flags.out:
        envs.export(flags.out)


if __name__ == "__main__":
    main()
