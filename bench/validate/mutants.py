#!/usr/bin/env python3
"""Makes mutants of the second models of right pairs: each computes something else than the first.

  build/venv-bench/bin/python bench/validate/mutants.py --zoo DIR --pairs CACHE --out DIR \\
      [--count 2000] [--seed 1]

Small models are preferred, and models, tools and kinds take turns. OUT/mutants.json has a record of
every mutant: kind, what was done, and the verdict of evaluator.py: differs, close (too close to
rounding to say), equal by accident, or invalid. Only those that differ have a file and count.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import evaluator  # noqa: E402
import mutate_pair  # noqa: E402
from make_pairs import changed, sha  # noqa: E402

MOST_NODES, MOST_BYTES, SMALL = 600, 60e6, 8e6
EACH = 5        # mutants of a small pair in one turn; of another there is 1
PATIENCE = 300  # seconds for one pair
TURNS = 4


def eligible(records):
    return [r for r in changed(records)
            if max(r["nodes"]) < MOST_NODES and max(r["bytes"]) < MOST_BYTES]


def in_turn(records, draw):
    """Neighbours are of different tools and models."""
    groups = collections.defaultdict(list)
    for record in records:
        groups[record["tool"]].append(record)
    for group in groups.values():
        draw.shuffle(group)
    found = []
    while any(groups.values()):
        found += [groups[tool].pop() for tool in sorted(groups) if groups[tool]]
    return found


class Made:
    """All mutants so far."""

    def __init__(self, args):
        self.args, self.lock = args, threading.Lock()
        self.records, self.pairs = [], {}
        self.counts = collections.Counter()

    def wanted(self):
        """Kinds, those with the fewest mutants first; None when there are enough."""
        with self.lock:
            if sum(self.counts.values()) >= self.args.count:
                return None
            return sorted(mutate_pair.KINDS, key=lambda kind: self.counts[kind])

    def add(self, pair, turn, found):
        name = f"{pair['model']}/{pair['tool']}"
        with self.lock:
            self.pairs[name] = found.get("error") or ("right" if found["right"] else "differs")
            for number, record in enumerate(found.get("mutants", [])):
                self.records.append(
                    {"id": f"{name}#{turn}.{number}", "model": pair["model"],
                     "tool": pair["tool"], "before": pair["before"],
                     "before_digest": pair["before_digest"], **finished(record, self.args.out)})
                self.counts[record["kind"]] += record["verdict"] == "differs"
            (self.args.out / "mutants.json").write_text(self.text())

    def text(self):
        rows = ",\n".join(json.dumps(r) for r in sorted(self.records, key=lambda r: r["id"]))
        settings = {"seed": self.args.seed, "limit": evaluator.LIMIT, "margin": evaluator.MARGIN,
                    "accident": evaluator.ACCIDENT, "pairs": self.pairs}
        return json.dumps(settings)[:-1] + f', "mutants": [\n{rows}\n]}}\n'


def finished(record, folder):
    """Its file's digest; the file is named from the folder of mutants.json."""
    if "after" not in record:
        return record
    return {**record, "after_digest": sha(record["after"]),
            "after": str(pathlib.Path(record["after"]).relative_to(folder))}


def run(pair, turn, entry, made):
    kinds = made.wanted()
    if kinds is None:
        return
    stem = made.args.out / pair["model"] / f"{pair['tool']}-{turn}"
    job = {"entry": entry, "before": pair["before"], "after": pair["after"], "kinds": kinds,
           "count": EACH if max(pair["bytes"]) < SMALL else 1, "stem": str(stem),
           "seed": f"{made.args.seed} {turn} {pair['model']} {pair['tool']}"}
    try:
        done = subprocess.run([sys.executable, HERE / "mutate_pair.py", json.dumps(job)],
                              capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        found = (json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else
                 {"error": f"ended with {done.returncode}: {done.stderr.strip()[-160:]}"})
    except subprocess.TimeoutExpired:
        found = {"error": f"no end after {PATIENCE} s"}
    made.add(pair, turn, found)
    print(pair["model"], pair["tool"], found.get("error", ""), sum(made.counts.values()),
          dict(made.counts), flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="folder of zoo.json")
    parser.add_argument("--pairs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    args = options()
    entries = {e["name"]: e for e in json.loads((args.zoo / "zoo.json").read_text())}
    args.out.mkdir(parents=True, exist_ok=True)
    pairs = in_turn(eligible(json.loads((args.pairs / "pairs.json").read_text())),
                    random.Random(args.seed))
    made = Made(args)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for turn in range(TURNS):
            list(pool.map(lambda pair, turn=turn: run(pair, turn, entries[pair["model"]], made),
                          pairs))
    verdicts = collections.Counter(r["verdict"] for r in made.records)
    print(f"{sum(made.counts.values())} mutants of {len(pairs)} pairs; {dict(verdicts)}")


if __name__ == "__main__":
    main()
