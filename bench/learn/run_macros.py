#!/usr/bin/env python3
"""Do rules composed of searches (regraft learn-rules) pay on models that they were not learnt from?

  python bench/learn/run_macros.py REGRAFT MODELS --learnt NAME=FILE..
  python bench/learn/run_macros.py                                      # the page alone

MODELS is a folder that shares no architecture with what was mined. Each is optimised by greedy
descent with the shipped rules, with each file of learnt rules beside them, and by the searchers
with a hundred times the candidates that greedy descent looked at (20,000 at least). Costs are
predicted, of the fused plan. Seconds are those of the command; `search` is the search alone. Runs
that are in bench/learn/macros.json are not made again; the page is bench/learn/macros.md.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = HERE / "macros.json"
sys.path.insert(0, str(HERE.parent))

from prose import wrapped  # noqa: E402

SEARCHERS = ("windows", "saturation", "portfolio")
LEAST_BUDGET, TIMES = 20_000, 100
CLOSE = 1.001  # as good as the best


def run(regraft, model, search, rules, budget, limit):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        shipped = sorted((ROOT / "substitutions").glob("*.rules"))
        shipped = [f for f in shipped if f.name != "macros.rules"]
        command = [regraft, "optimize", model, "-o", f"{folder}/out.onnx", "--search", search,
                   "--no-measure", "--check", "0", "--threads", "1", "-q", "--json", report,
                   "--search-time", str(limit), "--rules", *shipped, *rules]
        if budget:
            command += ["--budget", str(budget)]
        start = time.monotonic()
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode:
            return {"error": done.stderr.strip()[-200:]}
        j = json.loads(report.read_text())
    return {"cost": j["after"]["cost"], "sum": j["after"]["sum"],
            "candidates": j["search"]["candidates"], "search": j["search"]["seconds"],
            "seconds": seconds, "stop": j["search"]["stop_reason"]}


def measure(args, kept):
    learnt = dict(text.split("=", 1) for text in args.learnt)
    models = sorted(pathlib.Path(args.models).glob("*.onnx"), key=lambda f: f.stat().st_size)
    for model in models:
        runs = kept["models"].setdefault(model.stem, {})

        def do(name, *what):
            if name not in runs:
                runs[name] = run(args.regraft, model, *what)
                KEPT.write_text(json.dumps(kept, indent=1) + "\n")

        do("greedy", "greedy", [], 0, 0)  # without a limit: cut off, it would make others look good
        for name, file in learnt.items():
            do(name, "greedy", [file], 0, 0)
        if "error" in runs["greedy"]:
            continue
        budget = max(LEAST_BUDGET, TIMES * runs["greedy"]["candidates"])
        for search in () if args.only_greedy else SEARCHERS:
            do(search, search, [], budget, args.limit)


def page(kept):
    whole = {m: r for m, r in kept["models"].items() if set(kept["methods"]) <= set(r)}
    rows = {m: r for m, r in whole.items() if not any("error" in x for x in r.values())}
    best = {m: min(x["cost"] for x in r.values()) for m, r in rows.items()}
    n = len(rows)
    lines = ["# Rules learnt of searches, on models that they were not learnt from", "",
             "Written by `bench/learn/run_macros.py`, which says what is run. Costs are predicted, of "
             f"the fused plan; no time of a model was measured. {n} exports, none of an architecture "
             f"that was mined; searches ended after {kept['limit']:g} s at the latest, greedy descent "
             "by itself. The machine was shared, so seconds are upper bounds.", "",
             "| method | within 0.1 % of the best | mean gap, % | better than greedy | worse | "
             "search, s, median | worst | ended by time |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for name in kept["methods"]:
        costs = {m: rows[m][name]["cost"] for m in rows}
        close = sum(costs[m] <= CLOSE * best[m] for m in rows)
        gap = 100 * sum(costs[m] / best[m] - 1 for m in rows) / max(n, 1)
        better = sum(costs[m] < rows[m]["greedy"]["cost"] / CLOSE for m in rows)
        worse = sum(costs[m] > CLOSE * rows[m]["greedy"]["cost"] for m in rows)
        spent = sorted(rows[m][name]["search"] for m in rows)
        late = sum(rows[m][name]["stop"] == "time" for m in rows)
        lines.append(f"| {name} | {close} of {n} | {gap:.2f} | {better} | {worse} | "
                     f"{spent[n // 2]:.2f} | {spent[-1]:.2f} | {late} |")
    lines += ["", "A search that time ended is no reference: what it would have found is not known, and "
              "it may end above greedy descent, which is never cut off here.", "", "## Models on which the methods differ", "",
              "Percent of what greedy descent with the shipped rules ends at; below 0 is better.", "",
              "| model | " + " | ".join(kept["methods"][1:]) + " |",
              "|---|" + "--:|" * (len(kept["methods"]) - 1)]
    for m, r in rows.items():
        base = r["greedy"]["cost"]
        changes = [100 * (r[k]["cost"] / base - 1) for k in kept["methods"][1:]]
        if any(abs(c) >= 0.05 for c in changes):
            lines.append(f"| {m} | " + " | ".join(f"{c:+.2f}" for c in changes) + " |")
    lines += ["", f"Left out, as a run failed or is missing: {len(kept['models']) - n}."]
    return wrapped("\n".join(lines)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regraft", nargs="?")
    parser.add_argument("models", nargs="?")
    parser.add_argument("--learnt", nargs="+", default=[], help="NAME=FILE of learnt rules")
    parser.add_argument("--only-greedy", action="store_true",
                        help="leave the searchers to another run")
    parser.add_argument("--limit", type=float, default=20, help="seconds of a search")
    args = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"models": {}}
    if args.models:
        names = [text.split("=", 1)[0] for text in args.learnt]
        kept["methods"] = ["greedy", *names, *SEARCHERS]
        kept["limit"] = args.limit
        measure(args, kept)
    (HERE / "macros.md").write_text(page(kept))


if __name__ == "__main__":
    main()
