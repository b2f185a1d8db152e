#!/usr/bin/env python3
"""Probes optimisers for wrong rewrites, reduces what is found, and writes bench/court.md.

  build/venv-bench/bin/python bench/court/run.py --minutes 30
  ... --only onnxslim --work DIR      one tool; DIR keeps what was judged, to go on later

More than half of the time goes to probes, the rest to making findings small. bench/court.json has
all of it, bench/court-found.json the probes that found causes: the next run begins with them.
bench/court-applied.json has the rules that a tool applies, for `regraft rules atlas --court`.
"""
import argparse
import glob
import hashlib
import json
import os
import pathlib
import pickle
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]

import applied  # noqa: E402
import cluster  # noqa: E402
import court_report  # noqa: E402
import found  # noqa: E402
import judge  # noqa: E402
import optimisers  # noqa: E402
import passes  # noqa: E402
import probes  # noqa: E402
import reduce  # noqa: E402
import rule_models  # noqa: E402
import rule_text  # noqa: E402

ALIKE = 4   # findings of one tool, kind and set of operators that are reduced
BASES, MISSES = 24, 256  # of these, one in so many goes to regraft, which takes longer than others
JUDGING = 0.6  # of the time; the rest is for reductions
CONTAINED = ("onnxruntime basic", "onnxruntime all")  # not for rules: extended has their rewrites


class Journal:
    """Lines of JSON that survive the process; keys that are there are not judged again."""

    def __init__(self, path):
        self.path, self.rows, self.lock = path, [], threading.Lock()
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    self.rows.append(json.loads(line))
                except ValueError:
                    pass  # the last line of a run that was stopped
        self.keys = {tuple(r["key"]) for r in self.rows}
        self.resumed = bool(self.rows)

    def add(self, row):
        with self.lock:
            self.rows.append(row)
            self.keys.add(tuple(row["key"]))
            with self.path.open("a") as out:
                out.write(json.dumps(row) + "\n")


class Turns:
    """Items that several threads take in turn."""

    def __init__(self, items):
        self.items, self.lock = iter(items), threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            return next(self.items)


def in_parallel(options, work, items, until):
    """Calls `work(court, item)` for items, until the time is over; each thread has a court with
    processes of its own. Returns how many were done; what an item raised goes to options.errors."""
    turns = Turns(items)

    def serve():
        court, done = judge.Judge(options.seed), 0
        try:
            for item in turns:
                try:
                    work(court, item)
                    done += 1
                except Exception:  # one probe must not end the others
                    options.errors.append(traceback.format_exc())
                if time.monotonic() > until:
                    break
        finally:
            court.stop()
        return done
    with ThreadPoolExecutor(options.jobs) as pool:
        return sum(f.result() for f in [pool.submit(serve) for _ in range(options.jobs)])


def rule_probes(options):
    """Models of the shipped rules, made once."""
    path = options.work / f"rules-{options.seed}.pickle"
    if not path.exists():
        files = sorted(glob.glob(str(ROOT / "substitutions/*.rules")))
        rules = list(rule_text.read(optimisers.REGRAFT, files))
        shares = [rules[k::options.jobs] for k in range(options.jobs)]
        with ThreadPoolExecutor(options.jobs) as pool:
            made = list(pool.map(lambda share: rule_models.probes(share, options.seed), shares))
        probes_made = sorted((p for share in made for p in share), key=lambda p: p.name)
        path.write_bytes(pickle.dumps((len(rules), probes_made)))
    return pickle.loads(path.read_bytes())


def sampled(probe):
    """Is this probe one of those that regraft optimises, and validates results of?"""
    digest = hashlib.sha256(probe.name.encode()).digest()
    return digest[0] % (MISSES if ";" in probe.name else BASES) == 0


def judge_one(court, probe, tools, journal, kept, before=()):
    """Judges what is not in the journal yet, and keeps findings. regraft optimises what found
    something before, too."""
    checked = sampled(probe)
    optimised = checked or probe.name in before
    asked = [t for t in tools if (probe.name, t) not in journal.keys
             and not (probe.name.startswith("rule ") and t in CONTAINED)]
    if not asked:
        return
    runs = bool(court.original(probe))
    seen = {}
    for tool in asked:
        if not runs or tool == "regraft" and not optimised:
            journal.add({"key": [probe.name, tool], "outcome": "not tried"})
            continue
        judged = court.judged(probe, tool)
        row = {"key": [probe.name, tool], "outcome": "changed" if judged.changed else "unchanged"}
        if judged.finding:
            row.update(finding=judged.finding.kind, edge=judged.finding.edge,
                       detail=judged.finding.detail)
        if judged.changed and judged.result and tool != "onnxruntime all" \
                and (checked or tool == "regraft"):
            if judged.result not in seen:
                seen[judged.result] = court.validated(probe, judged.result)
            row["validate"] = seen[judged.result]["verdict"]
            row["why"] = seen[judged.result].get("error", "")
        if probe.rule and judged.changed and not judged.finding and judged.result:
            row["applied"] = applied.applies(probe, judged.result)
        journal.add(row)
        disagree = row.get("validate") == "refuted" and not judged.finding \
            or str(row.get("validate")).startswith("proved") and judged.finding
        if disagree or judged.finding and not judged.finding.edge:
            name = hashlib.sha256(f"{probe.name}\n{tool}".encode()).hexdigest()[:16]
            (kept / name).write_bytes(pickle.dumps((probe, tool, row, judged.result)))


def judge_all(options, journal, kept, rules, until):
    before = found.read()
    order = probes.stream(rules, options.seed, first=before)
    try:
        return in_parallel(options, lambda court, probe: judge_one(
            court, probe, options.tools, journal, kept, before), order, until)
    finally:
        order.close()


def coarse(probe, tool, row):
    """What findings have in common that are likely to be one; constants that are inputs as well
    are one kind, whatever reads them."""
    graph = probe.model.graph
    both = {t.name for t in graph.initializer} & {i.name for i in graph.input}
    kinds = ("default",) if both else tuple(sorted({n.op_type for n in graph.node} - {"Constant"}))
    return optimisers.package(tool), row["finding"], said(row["finding"], row["detail"]), kinds


def said(kind, detail):
    """The head of an error message, which tells errors apart."""
    return detail.partition(":")[0] if kind in ("fails", "crash") else ""


def findings_in_turn(kept):
    """Findings to reduce: one of each coarse kind first, then more; those of probes that found
    causes before, small models and lower levels before others."""
    rounds, before = {}, set(found.read())
    loaded = [pickle.loads(p.read_bytes()) for p in sorted(kept.glob("*"))]
    loaded.sort(key=lambda f: (f[0].name not in before, len(f[0].model.graph.node),
                               optimisers.TOOLS.index(f[1]), f[0].name))
    taken, levels = {}, set()
    for probe, tool, row, _ in loaded:
        if "finding" not in row or row["edge"]:
            continue
        same = (optimisers.package(tool), row["finding"], probe.name)
        kind = coarse(probe, tool, row)
        if same not in levels and taken.get(kind, 0) < ALIKE:
            levels.add(same)
            taken[kind] = taken.get(kind, 0) + 1
            rounds.setdefault(taken[kind], []).append((probe, tool, row))
    return [finding for number in sorted(rounds) for finding in rounds[number]]


def reduce_one(court, probe, tool, kind, detail):
    """The small model with all that the report says of it; None where it does not happen again."""
    def still(model):
        made = probe.with_model(model)
        if not court.original(made):
            return None
        finding = court.judged(made, tool).finding
        same = finding and finding.kind == kind and said(kind, finding.detail) == said(kind, detail)
        return finding if same and not finding.edge else None
    if not still(probe.model):
        return None
    model = reduce.reduced(probe.model, still, court.inferred)
    made = probe.with_model(model)
    judged = court.judged(made, tool)
    report = court.validated(made, judged.result) if judged.result else {"verdict": "no result"}
    finding = judged.finding
    return {"tool": optimisers.package(tool), "kind": kind, "detail": finding.detail,
            "level": tool.partition(" ")[2], "edge": finding.edge, "probe": probe.name,
            "agreed": court.agreed(made, finding.feed), "nodes": len(model.graph.node),
            "operators": reduce.operators(model), "text": reduce.text(model),
            "after": reduce.text(optimisers.parsed(judged.result)) if judged.result else "",
            "pass": passes.responsible(court, made, tool, kind),
            "validate": report["verdict"], "said": report.get("error", ""),
            "feed": {k: v.tolist() for k, v in (finding.feed or {}).items()}}


def reduce_all(options, kept, journal, until):
    def one(court, finding):
        probe, tool, row = finding
        if (probe.name, tool) not in journal.keys:
            journal.add({"key": [probe.name, tool], "finding": reduce_one(
                court, probe, tool, row["finding"], row["detail"])})
    return in_parallel(options, one, findings_in_turn(kept), until)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="probes at a time")
    parser.add_argument("--only", choices=[*optimisers.TOOLS, "onnxruntime"])
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/court")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench")
    parser.add_argument("--report-only", action="store_true", help="from what is in --work")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error("--jobs: at least 1")
    options.errors = []
    options.tools = [t for t in optimisers.TOOLS
                     if options.only in (None, t, optimisers.package(t))]
    return options


def main():
    options = arguments()
    kept = options.work / "findings"
    kept.mkdir(parents=True, exist_ok=True)
    judged, reductions = (Journal(options.work / f"{n}.jsonl") for n in ("judged", "reduced"))
    begun, options.resumed = time.monotonic(), judged.resumed
    total, rules = rule_probes(options)
    if not options.report_only:
        judge_all(options, judged, kept, rules, begun + 60 * JUDGING * options.minutes)
        reduce_all(options, kept, reductions, begun + 60 * options.minutes)
    findings = [r["finding"] for r in reductions.rows if r["finding"]]
    causes = cluster.clusters(findings, cluster.known())
    named = {p.name: p.rule for p in rules}
    tried = {named[r["key"][0]] for r in judged.rows
             if r["key"][0] in named and r["outcome"] != "not tried"}
    court_report.write(options, judged.rows, causes, total, len(tried))
    found.write(options.out, [c["probe"] for c in causes if c["verdict"] == "stands"])
    applied.write(options.out / "court-applied.json", judged.rows, rules)
    counted = sum(map(cluster.counted, causes))
    print(f"{len(judged.rows)} judged, {len(findings)} reduced, {len(causes)} causes, "
          f"{counted} counted")
    if options.errors:
        sys.exit(f"court: {len(options.errors)} probes raised an error; the first:\n"
                 + options.errors[0])


if __name__ == "__main__":
    main()
