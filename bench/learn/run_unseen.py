#!/usr/bin/env python3
"""Is what was learned worth anything on exports of architectures that it has not seen?

  python bench/learn/run_unseen.py --zoo DIR [--work DIR] [--policy NAME=FILE ..]
  python bench/learn/run_unseen.py --zoo DIR --prices           # of exports that are in DIR
  python bench/learn/run_unseen.py                              # the page alone

DIR holds ONNX exports and zoo.json, which names the architecture and the family of each. Of each
architecture the largest export of at most --most nodes is taken. Models are listed by groups of
families, so that near twins are in one group. The shipped policy, `network`, was trained on random
cells and small networks (bench/models/training.py). Every method runs on every model by
`regraft bench learn`; where greedy descent is not the best, `regraft optimize` says what it comes to
as the price of the fused plan. Runs are kept under --work and not made again; figures go to
bench/learn/unseen.json, the page to bench/learn.md.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import unseen_report  # noqa: E402

COST = "cost/profiles/epyc-family25-model17.profile"
GROUPS = {
    "text": ["encoder", "decoder", "encoder-decoder"],
    "vision": ["vision-transformer", "clip", "hybrid", "mlp"],
    "speech": ["speech", "series", "recurrent"],
    "images": ["cnn", "segmentation", "detector", "style-transfer", "super-resolution", "flow"],
    "diffusion": ["diffusion"],
    "other": ["recommendation", "graph", "points"],
}
METHODS = ["greedy", "windows", "saturation", "portfolio", "uniform/scheduled",
           "cost-prior/scheduled"]  # and /scheduled of each policy
PRICED = ["greedy", "windows", "portfolio"]
KEPT = HERE / "unseen.json"
NEAR = 1e-3  # part of the least cost known
MOMENTS = (1000, 10000)


def models_of(zoo, most):
    """By group: an export of each architecture."""
    largest = {}
    for entry in json.loads((zoo / "zoo.json").read_text()):
        old = largest.get(entry["architecture"])
        if entry["nodes"] <= most and (old is None or entry["nodes"] > old["nodes"]):
            largest[entry["architecture"]] = entry
    group = {family: name for name, families in GROUPS.items() for family in families}
    found = {name: [] for name in GROUPS}
    for entry in sorted(largest.values(), key=lambda e: e["nodes"]):
        found[group[entry["family"]]].append(zoo / entry["file"])
    return found


def run(command):
    print("$", *command, flush=True)
    subprocess.run([str(c) for c in command], cwd=ROOT, check=True)


def search(args, name, models, methods):
    report = args.work / f"{name}.json"
    run([args.regraft, "bench", "learn", "--graphs", *models, "--policy", *args.policy,
         "--methods", *methods, "--budgets", args.budget, "--seconds", "0.01", "--cap", args.cap,
         "--search-seeds", args.seeds, "--expansions", "0", "--cost", COST, "--kept",
         args.work / "runs.jsonl", "--json", report, "-q"])
    return json.loads(report.read_text())


def searched(args):
    args.work.mkdir(parents=True, exist_ok=True)
    names = dict.fromkeys(text.split("=")[0] for text in args.policy)
    methods = [*METHODS, *(f"{name}/scheduled" for name in names)]
    kept = {"near": NEAR, "moments": MOMENTS, "budget": args.budget, "cap": args.cap,
            "seeds": args.seeds, "cost": COST, "methods": methods, "models": {}}
    for name, models in models_of(args.zoo.resolve(), args.most).items():
        for model, row in condensed(search(args, name, models, methods)).items():
            kept["models"][model] = {"group": name, **row}
    return kept


def condensed(report):
    """By model: what each run of each method came to."""
    rows = {}
    for graph in report["graphs"]:
        last = {(r["method"], r["seed"]): r for r in graph["runs"]}
        least = min(r["after"] for r in last.values())
        row = rows[graph["name"]] = {"before": graph["before"], "least": least, "runs": {}}
        for (method, _), r in last.items():
            first = next(((n, s) for n, s, cost in r["curve"] if cost <= least * (1 + NEAR)), None)
            if r["before"] <= least * (1 + NEAR):
                first = (1, 0)
            costs = [min([r["before"], *(c for n, _, c in r["curve"] if n <= at)])
                     for at in MOMENTS]
            row["runs"].setdefault(method, []).append(
                {"near": first, "candidates": r["candidates"], "seconds": r["seconds"],
                 "after": r["after"], "at": costs, "stop": r["stop"]})
    return rows


def price(args, model, method):
    """What `optimize` makes of a model, by the price of the fused plan: microseconds; None: not.
    Searches end by their budget, not by time: others use the machine."""
    report = args.work / "prices" / f"{model.stem}-{method}.json"
    if not report.exists():
        report.parent.mkdir(parents=True, exist_ok=True)
        command = [args.regraft, "optimize", model, "-o", args.work / "out.onnx", "--search",
                   method, "--no-measure", "--check", "0", "--threads", "1", "--cost", COST,
                   "--search-time", "0", "--budget", args.budget, "--json", report, "-q"]
        if subprocess.run([str(c) for c in command], cwd=ROOT).returncode:
            return None
    return json.loads(report.read_text())["after"]["cost"]


def add_prices(args, kept):
    """Of the exports that are there, on which greedy descent is not the best by sums over calls."""
    for name, model in unseen_report.hard(kept).items():
        file = args.zoo / f"{name}.onnx"
        if file.exists() and not all(model.get("prices", {}).get(m) for m in PRICED):
            model["prices"] = {m: price(args, file, m) for m in PRICED}
            write(kept)


def write(kept):
    KEPT.write_text(json.dumps(kept) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=520, help="nodes of an export")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/unseen")
    parser.add_argument("--regraft", type=pathlib.Path, default=ROOT / "build/release/regraft")
    parser.add_argument("--policy", nargs="+", metavar="NAME=FILE",
                        default=[f"network={ROOT}/rl/policies/default.policy"])
    parser.add_argument("--budget", type=int, default=30000, help="candidates of a run")
    parser.add_argument("--cap", type=float, default=15, help="seconds of a run")
    parser.add_argument("--seeds", type=int, default=2, help="of searches that draw numbers")
    parser.add_argument("--prices", action="store_true", help="nothing but the prices")
    args = parser.parse_args()
    if args.zoo and not args.prices:
        write(searched(args))
    if args.zoo:
        add_prices(args, json.loads(KEPT.read_text()))
    (HERE.parent / "learn.md").write_text(unseen_report.page(json.loads(KEPT.read_text())))


if __name__ == "__main__":
    main()
