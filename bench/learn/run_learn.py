#!/usr/bin/env python3
"""Do agents that learned find cheaper graphs, or find them sooner? Trains them, compares them with
searches that learned nothing, and writes bench/learn/agents.md and bench/learn/figures/*.svg.

  python bench/learn/run_learn.py [--work DIR] [--only STAGE ...] [--quick] [--agents NAME ...] [--jobs N]

Stages: models, train, evaluate, speed, report; each goes on where it was stopped. Everything is
kept under --work. With --jobs, so many commands run side by side, each in one thread: no more than
there are cores. --quick goes through all of it with next to nothing to learn from: its figures mean
nothing.
The report needs bench/requirements.txt (matplotlib), the models onnx and numpy.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "models")]

import learn_report  # noqa: E402
import learn_runs  # noqa: E402
import learn_scores  # noqa: E402
import training  # noqa: E402

AGENTS = ["ppo", "world-model", "planner"]
STAGES = ["models", "train", "evaluate", "speed", "report"]
TEMPERATURES = [0.1, 0.5, 0.75, 1.0, 1.2, 1.5, 1.75, 2.0, 2.5, 3.0]
CLASSICAL = ["greedy", "windows", "backtracking-1.0", "backtracking-1.05", "backtracking-1.1",
             "taso", "partial-order", "beam", "annealing", "mcts", "saturation", "portfolio"]
GENERAL = "planner"  # the agent that is to work on models it has not seen


@dataclasses.dataclass
class Protocol:
    """What is trained on what, and compared where."""
    single: list      # models that an agent is trained on one by one, and evaluated on
    training: list    # models that the general agent is trained on
    families: list    # other architectures
    sizes: list       # architectures of the training, at other sizes
    planned: list     # of the families: where each step is planned too
    more_rules: list  # models to meet rules on that the training had not
    training_seeds: int = 5
    search_seeds: int = 10
    sweep_seeds: int = 3     # of controllers at each temperature
    part_seeds: int = 5      # of trainings with four of five rules
    budgets: tuple = (1000, 10000, 100000)
    seconds: tuple = (0.1, 1)
    cap: float = 3           # seconds for the largest budget
    expansions: int = 50000  # of backtracking
    expanding: float = 120   # seconds that it may take
    iterations: dict = dataclasses.field(
        default_factory=lambda: {"ppo": 20, "world-model": 2, "planner": 200})
    # By agent; of one model by agent and model.
    minutes: dict = dataclasses.field(
        default_factory=lambda: {"ppo": 10, "ppo-bert_base": 5, "world-model": 10, "planner": 30})
    temperatures: tuple = tuple(TEMPERATURES)

    def changed(self, texts):
        """With fields from NAME=JSON; of what is by agent, only some may be given."""
        values = {}
        for text in texts:
            name, _, value = text.partition("=")
            if name not in {f.name for f in dataclasses.fields(self)}:
                sys.exit(f"run_learn: the protocol has no '{name}'")
            value, old = json.loads(value), getattr(self, name)
            values[name] = {**old, **value} if isinstance(old, dict) else value
        return dataclasses.replace(self, **values)

    def models(self):
        return sorted({*self.single, *self.training, *self.families, *self.sizes,
                       *self.more_rules})


FULL = Protocol(
    single=["squeezenet1_1", "resnet18", "resnet50", "inception_v3", "bert_base"],
    training=list(training.MODELS),
    families=["inception_v3", "resnext50", "nasnet_a", "vit_b16", "shufflenet_v2", "densenet121"],
    sizes=["resnet34_320", "bert_base", "bert_12x384", "lora_mlp_12", "mobileone_s0", "decoder_2k",
           "yolov5s"],
    planned=["inception_v3", "resnext50", "nasnet_a"],
    more_rules=["nasnet_a", "shufflenet_v2", "densenet121", "bert_base"])
QUICK = Protocol(
    single=["squeezenet1_1", "tiny_vit"], training=["tiny_resnet", "tiny_lora"],
    families=["tiny_inception", "tiny_repvgg"], sizes=["resnet10", "tiny_bert"],
    planned=["tiny_repvgg"], more_rules=["tiny_inception"], training_seeds=2, search_seeds=2,
    budgets=(100, 1000), seconds=(0.03, 0.3), cap=1, expansions=50,
    iterations={a: 2 for a in AGENTS}, minutes={a: 2 for a in AGENTS}, temperatures=(0.5, 1.0))


class Failed(Exception):
    """A command did."""


@dataclasses.dataclass
class Job:
    """A training: a command that is done when its marker is there."""
    name: str
    command: list
    marker: pathlib.Path


def split_rules(text, part=5):
    """The lines of a rule file without every fifth rule; what begins with # stays."""
    kept, rules = [], 0
    for line in text.splitlines(keepends=True):
        is_rule = line.strip() and not line.startswith("#")
        rules += bool(is_rule)
        if not is_rule or rules % part:
            kept.append(line)
    return "".join(kept)


def with_scores(found):
    """Reports of runs with what they say, and one of all models that the general agent has not
    seen. The least cost known of a model is that of all of them."""
    runs = {n: r for n, r in found.items() if "methods" in r}
    if {"families", "sizes"} <= runs.keys():
        runs["held-out"] = {**runs["families"],
                            "graphs": runs["families"]["graphs"] + runs["sizes"]["graphs"]}
    least = learn_scores.least_costs(runs.values())
    return {**found, **{n: learn_scores.scored(r, least) for n, r in runs.items()}}


class Bench:
    def __init__(self, args):
        self.quick = args.quick
        self.protocol = (QUICK if args.quick else FULL).changed(args.set)
        self.agents, self.general = args.agents, args.general
        self.regraft, self.speed = args.build / "regraft", args.build / "bench/rl_bench"
        self.parallel = args.jobs
        self.work = args.work
        for folder in ("models", "policies", "rules", "evaluate"):
            (self.work / folder).mkdir(parents=True, exist_ok=True)
        self.commands = []

    def model(self, name):
        return self.work / "models" / f"{name}.onnx"

    def policy(self, agent, on, seed):
        return self.work / "policies" / f"{agent}-{on}-{seed}.policy"

    def policies(self, agent, on):
        files = [self.policy(agent, on, s) for s in range(self.protocol.training_seeds)]
        return [f for f in files if f.exists()]

    def rules(self):
        """Four of five rules of each shipped file."""
        files = []
        for path in sorted((ROOT / "substitutions").glob("*.rules")):
            files.append(self.work / "rules" / path.name)
            files[-1].write_text(split_rules(path.read_text()))
        return files

    def train_command(self, agent, graphs, out, seed, more=()):
        p = self.protocol
        minutes = p.minutes.get(out.stem.rpartition("-")[0], p.minutes[agent])
        return [self.regraft, "train", "--agent", agent, "--graphs", *map(self.model, graphs),
                "--iterations", p.iterations[agent], "--time", 60 * minutes, "--seed",
                seed, "-o", out, "--log", out.with_suffix(".csv"), "-q", *self.threads(), *more]

    def threads(self):
        """Of a command that runs beside others."""
        return ["--threads", 1] if self.parallel > 1 else []

    def jobs(self):
        p, jobs = self.protocol, []

        def add(agent, on, graphs, seeds=p.training_seeds, more=()):
            for seed in range(seeds):
                out = self.policy(agent, on, seed)
                drift = ["--json", out.with_suffix(".json")] if agent == "world-model" else []
                command = self.train_command(agent, graphs, out, seed, [*drift, *more])
                jobs.append(Job(out.stem, command, out.with_suffix(".done")))

        if self.general in self.agents:
            add(self.general, "training", p.training)
            add(self.general, "four-fifths", p.training, p.part_seeds, ["--rules", *self.rules()])
        if "world-model" in self.agents:
            jobs.append(self.sweep())
        for agent in self.agents:
            if agent != GENERAL:
                for graph in p.single:
                    add(agent, graph, [graph])
        return jobs

    def sweep(self):
        """Agents trained in dreams of several temperatures, on the last of the single models."""
        out = self.work / "policies/sweep.policy"
        table = self.work / "evaluate/sweep.json"
        more = ["--sweep", *self.protocol.temperatures, "--sweep-seeds",
                self.protocol.sweep_seeds, "--json", table]
        return Job("sweep", self.train_command("world-model", self.protocol.single[-1:], out, 0,
                                               more), out.with_suffix(".done"))

    def bench_command(self, name, graphs, policies, more=()):
        p = self.protocol
        named = [f"{label}={file}" for label, files in policies for file in files]
        return [self.regraft, "bench", "learn", "--graphs", *map(self.model, graphs),
                "--budgets", *p.budgets, "--seconds", *p.seconds, "--cap", p.cap,
                "--search-seeds", p.search_seeds, "--expansions", p.expansions,
                "--expanding", p.expanding,
                "--kept", self.work / "evaluate" / f"{name}.jsonl",
                "--json", self.work / "evaluate" / f"{name}.json",
                *(["--policy", *named] if named else []), *more]

    def evaluations(self):
        """Name, models, policies by name, and what else the command is told."""
        p = self.protocol
        general = [(self.general, self.policies(self.general, "training"))]
        parts = [*general, ("four-fifths", self.policies(self.general, "four-fifths"))]
        some = ("--methods", *CLASSICAL, "/alone", "/greedy", "/scheduled")
        yield "families", p.families, general, some
        yield "sizes", p.sizes, general, some
        yield "planned", p.planned, general, ("--methods", *learn_runs.BASELINES, "/planned")
        yield "rules", p.more_rules, parts, (
            "--methods", *learn_runs.BASELINES,
            *(f"{name}/scheduled" for name in ("uniform", "cost-prior")),
            *(f"{name}/scheduled" for name, files in parts if files))
        for graph in p.single:
            single = [(a, self.policies(a, graph)) for a in AGENTS if a != GENERAL]
            methods = [*learn_runs.BASELINES, "/alone", "/greedy"]
            methods += [f"{a}/sampled" for a, files in single if files]
            yield f"single-{graph}", [graph], single, ("--methods", *methods)

    def run(self, command):
        command = [str(c) for c in command]
        print("$", shlex.join(command), flush=True)
        where = {"REGRAFT_BENCH_MODELS": str(self.work / "models")}  # rl_bench looks there
        result = subprocess.run(command, env={**os.environ, **where})
        if result.returncode:
            raise Failed(f"{shlex.join(command[:4])} ... ended with {result.returncode}")

    def run_all(self, todo):
        """Calls, so many side by side. When one fails, those that did not begin do not."""
        with concurrent.futures.ThreadPoolExecutor(self.parallel) as pool:
            futures = [pool.submit(call) for call in todo]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except Failed:
                pool.shutdown(cancel_futures=True)
                raise

    def shown(self, command):
        """As it would be typed in the root of the sources."""
        return shlex.join(str(c).replace(f"{ROOT}/", "") for c in command)

    def do_models(self):
        missing = [n for n in self.protocol.models() if not self.model(n).exists()]
        if missing:
            self.run([sys.executable, HERE.parent / "models/build_models.py", "--out",
                      self.work / "models", *missing])

    def train(self, job):
        self.run(job.command)
        job.marker.write_text(shlex.join(map(str, job.command)) + "\n")

    def do_train(self):
        self.run_all([lambda job=job: self.train(job) for job in self.jobs()
                      if not job.marker.exists()])

    def do_evaluate(self):
        commands = [self.bench_command(*evaluation) for evaluation in self.evaluations()]
        self.run_all([lambda c=c: self.run(c) for c in commands])

    def do_speed(self):
        self.run([self.speed, f"--benchmark_out={self.work}/evaluate/speed.json",
                  "--benchmark_out_format=json"])

    def do_report(self):
        found = {p.stem: json.loads(p.read_text())
                 for p in sorted((self.work / "evaluate").glob("*.json"))}
        found = with_scores(found)
        examples = [job.command for job in self.jobs()[:1]]
        examples += [self.bench_command(*next(self.evaluations())), [self.speed]]
        context = {"protocol": dataclasses.asdict(self.protocol), "agents": self.agents,
                   "quick": self.quick, "cores": os.cpu_count(), "jobs": self.parallel,
                   "commands": [self.shown(c) for c in examples]}
        out = self.work / "report" if self.quick else HERE
        learn_report.write(out, found, self.work / "policies", context)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/learn")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--quick", action="store_true",
                        help="next to no budgets; the report goes to WORK/report")
    parser.add_argument("--agents", nargs="+", choices=AGENTS, default=AGENTS)
    parser.add_argument("--general", choices=AGENTS, default=GENERAL,
                        help="the agent that is evaluated on models it has not seen")
    parser.add_argument("--jobs", type=int, default=1, help="commands that run side by side")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=JSON",
                        help="another protocol: search_seeds=2 cap=10 'minutes={\"ppo\": 5}'")
    args = parser.parse_args()
    bench = Bench(args)
    try:
        for stage in STAGES:
            if stage in args.only:
                getattr(bench, f"do_{stage}")()
    except Failed as why:
        sys.exit(f"run_learn: {why}")


if __name__ == "__main__":
    main()
