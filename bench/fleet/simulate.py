#!/usr/bin/env python3
"""How long would a fleet take for what no machine here can do? Simulates the tasks of `generate`
with the costs that were measured on smaller sizes, on N workers that share a store.

  python bench/fleet/simulate.py            prints the table of docs/fleet.md

A run is: shares of the last level, a barrier, merges, a barrier, then rounds: groups connected in
parallel, then the loose ones judged one after another by the command, which all wait for. A task
costs its work, a claim and a result; workers die and their work is done again when their lease has
expired. Sizes grow as they grew from the last size to the one before it.
"""
import heapq
import json
import pathlib
import random

GENERATE = pathlib.Path(__file__).resolve().parents[1] / "generate.json"
WORKERS = 64 * 32
LATENCY = 0.02          # seconds for a claim and a result together, on a shared file system
LEASE = 30.0            # seconds until a dead worker's task is another's
DEATHS = 1 / 86400      # of a worker, a second: once a day
SHARE_SECONDS = 30.0    # of work that a share is given
CONNECT_SECONDS = 1.0   # of work that a part of a round is given
SPREAD = 0.5            # of a task's time: sigma of its logarithm
RUN_BYTES = 16          # of an application in a sorted run
PAIR_BYTES = 24         # of an application in a group, there and back
ROUND = 2048            # groups, the least
ROUND_PART = 16         # and this part of the groups that are done


def measured(rows):
    """Costs for each unit of work, of a run that was measured."""
    done = sum(rows[key] for key in rows if key.startswith("removed:")) + rows["generalised"]
    judged = rows["generalised"] + sum(
        rows[key] for key in ("removed: false at other shapes", "removed: not equal on other inputs",
                              "removed: facts about constants"))
    after = rows["cpu_seconds"] - rows["enumerate_cpu_seconds"]
    return dict(application=rows["enumerate_cpu_seconds"] / rows["operator applications"],
                pair=after / done, judged=judged / done)


def grown(small, large, times):
    """Counts after `times` more sizes."""
    return {key: large[key] * (large[key] / small[key]) ** times
            for key in ("operator applications", "pairs", "classes of equal values")}


class Fleet:
    """Workers that take the next task when they are free."""

    def __init__(self, workers, seed=7):
        self.rng = random.Random(seed)
        self.free = [0.0] * workers
        self.lost = self.tasks = 0

    def stage(self, start, count, seconds):
        """`count` tasks of `seconds` from `start` on; when the last one is done."""
        workers = [max(start, t) for t in self.free]
        heapq.heapify(workers)
        ends, self.tasks = start, self.tasks + count
        for _ in range(count):
            at = heapq.heappop(workers)
            takes = seconds * self.rng.lognormvariate(-SPREAD * SPREAD / 2, SPREAD) + LATENCY
            while self.rng.random() < takes * DEATHS:
                self.lost += 1
                at += takes * self.rng.random() + LEASE
            heapq.heappush(workers, at + takes)
            ends = max(ends, at + takes)
        self.free = workers
        return ends


def rounds_of(groups, growing):
    """Sizes of the rounds."""
    done = 0
    while done < groups:
        size = max(ROUND, done // ROUND_PART) if growing else ROUND
        yield min(size, groups - done)
        done += size


def simulate(cost, counts, workers, judge_seconds, growing):
    """One run; hours and what it moved."""
    fleet = Fleet(workers)
    applications, pairs = counts["operator applications"], counts["pairs"]
    enumerate_seconds = applications * cost["application"]
    shares = max(1, int(enumerate_seconds / SHARE_SECONDS))
    end = fleet.stage(0.0, shares, enumerate_seconds / shares)
    end = fleet.stage(end, max(32, shares // 4), 0.2 * enumerate_seconds / max(32, shares // 4))
    enumerated, tasks = end, fleet.tasks
    settled = 0.0
    judged = cost["judged"] * pairs
    every = list(rounds_of(pairs, growing))
    sampled = every[::max(1, len(every) // 400)]      # rounds are alike: some stand for all
    weight, reached = len(every) / len(sampled), 0.0
    for size in sampled:
        work = size * cost["pair"]
        parts = max(1, min(int(work / CONNECT_SECONDS), size))
        begun, before = end, fleet.tasks
        end = fleet.stage(end, parts, work / parts)
        # The loose groups of a round: as many as of all, judged in turn.
        settle = judge_seconds * judged * size / pairs
        end += settle
        reached += (end - begun) * weight
        tasks += (fleet.tasks - before) * weight
        settled += settle * weight
    moved = applications * RUN_BYTES * 2 + pairs * PAIR_BYTES
    return dict(applications=applications, pairs=pairs, shares=shares, rounds=len(every),
                tasks=round(tasks), enumerate_hours=enumerated / 3600, round_hours=reached / 3600,
                judge_hours=settled / 3600, bytes=moved, lost=fleet.lost,
                cpu_hours=(enumerate_seconds * 1.2 + pairs * cost["pair"]) / 3600)


CASES = [("taso, size 6", "taso:4", "taso:5", 1), ("core, size 5", "core:2", "core:3", 2)]


def table(extra):
    """A row for each case and way to make rounds."""
    rows = json.loads(GENERATE.read_text())["rows"]
    known = {name: runs[0] for name, runs in rows.items()} | extra
    found = []
    for name, small, large, times in CASES:
        if small not in known:
            continue
        cost = measured(known[large])
        # What is judged takes the time that sizes without rounds in parallel spend on it.
        judge = 0.4 * (known["taso:3"]["cpu_seconds"]) / known["taso:3"]["generalised"]
        counts = grown(known[small], known[large], times)
        for growing in (False, True):
            found.append(dict(case=name, growing=growing,
                              **simulate(cost, counts, WORKERS, judge, growing)))
    return found


def main():
    extra = pathlib.Path(__file__).with_name("fleet.json")
    more = json.loads(extra.read_text()).get("sizes", {}) if extra.exists() else {}
    for row in table(more):
        print({key: round(value, 2) if isinstance(value, float) else value
               for key, value in row.items()})


if __name__ == "__main__":
    main()
