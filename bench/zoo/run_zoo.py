#!/usr/bin/env python3
"""What `regraft optimize` with its defaults makes of the exports of the zoo: does it compute the
same, and is it faster? Keeps the figures in bench/zoo/zoo.json and writes bench/zoo/zoo.md.

  python bench/zoo/run_zoo.py --zoo DIR [--only NAME ...] [--again] [--seconds S]
  python bench/zoo/run_zoo.py --table

DIR is what models/export_zoo.py wrote; needs the Python of bench/requirements.txt. A model that
zoo.json has already is left alone unless --again is given. Each model, its result and the model
again are timed in turn for S seconds.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import prose  # noqa: E402
import run_simplify
from run_simplify import HERE, ROOT, agreement, agrees, table

MODELS = ["original", "optimised", "again"]


def optimised(args, entry, source, target, report):
    line = [args.regraft, "optimize", source, "-o", target, "--json", report, "--quiet"]
    result = run_simplify.run(line)
    if result["exit"] != 0 or not os.path.exists(target):
        return {**result, "error": f"exit {result['exit']}: {result['told']}"}
    with open(report, encoding="utf-8") as file:
        told = json.load(file)
    counts = {side: sum(told[side]["operators"].values()) for side in ("before", "after")}
    return {**result, **run_simplify.checked(entry, source, [target])[1], "kept": told["kept"],
            "predicted": told["after"]["cost"] / max(told["before"]["cost"], 1e-9),
            "operators": counts}


def times(args, entry, source, target):
    line = [sys.executable, HERE / "zoo_time.py", json.dumps(entry), args.seconds, source, target,
            source]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False,
                          timeout=run_simplify.PATIENCE)
    if done.returncode:
        return {"error": (done.stderr.splitlines() or ["no answer"])[-1][:160]}
    runs = json.loads(done.stdout.splitlines()[-1])
    return dict(zip(MODELS, (statistics.median(r) for r in runs)))


def measured(args, entry):
    source = str(pathlib.Path(args.zoo, entry["file"]))
    with tempfile.TemporaryDirectory() as folder:
        target, report = (str(pathlib.Path(folder, n)) for n in ("out.onnx", "report.json"))
        found = {"entry": entry, "regraft": optimised(args, entry, source, target, report)}
        if "error" not in found["regraft"]:
            found["times"] = times(args, entry, source, target)
    return found


def ratio(case, model="optimised"):
    """How many times as fast as the original; None: not timed."""
    t = case.get("times", {})
    return t["original"] / t[model] if model in t else None


def means(cases):
    """Rows: which models, how many, geometric mean, least, most; of the original again."""
    groups = {"all": cases.values(),
              "evaluation form": [c for c in cases.values() if c["entry"]["form"] == "eval"],
              "training form": [c for c in cases.values() if c["entry"]["form"] != "eval"],
              "changed by a rule": [c for c in cases.values() if not c["regraft"].get("kept", 1)]}
    for name, group in groups.items():
        for model in MODELS[1:]:
            known = [r for r in (ratio(c, model) for c in group) if r]
            if not known:
                continue
            label = name if model == "optimised" else f"{name}: the original again"
            yield [label, len(known), f"{statistics.geometric_mean(known):.3f}",
                   f"{min(known):.2f}", f"{max(known):.2f}"]


def rows(cases):
    for name, case in cases.items():
        r = case["regraft"]
        if "error" in r:
            yield [name, "failed: " + r["error"], *[""] * 7]
            continue
        shown = [f"{x:.2f}" if x else "-" for x in (ratio(case), ratio(case, "again"))]
        yield [name, r["operators"]["before"], r["operators"]["after"], f"{r['predicted']:.3f}",
               *shown, agreement(r), f"{r['seconds']:.1f}", f"{r['memory'] / 1e6:.0f}"]


def document(kept):
    cases = kept["models"]
    same = sum(agrees(c["regraft"]) is True for c in cases.values())
    wrong = sum(agrees(c["regraft"]) is False for c in cases.values())
    head = ["model", "nodes", "after", "predicted", "faster", "original again", "difference",
            "seconds", "MB"]
    return prose.wrapped("\n".join([
        "# Optimising real exports", "",
        f"Of {len(cases)} models {same} agree with the original at two settings of their open "
        f"sizes, {wrong} do not.", "",
        "Written by `python bench/zoo/run_zoo.py` over the files of `models/export_zoo.py`; the "
        "figures are in `zoo.json`. `regraft optimize MODEL -o OUT`, nothing else. Then the model, "
        "the result and the model again run in turn in onnxruntime "
        f"{kept['onnxruntime']} with all its optimisations, one thread; medians of CPU time. "
        "*Faster* is the original's time by the result's. *Predicted* is the result's price by "
        "the original's.", "",
        *table(["models", "number", "geometric mean", "least", "most"], means(cases)),
        *table(head, rows(cases))]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zoo")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    store = HERE / "zoo.json"
    kept = json.loads(store.read_text()) if store.exists() else {"models": {}}
    if not args.table:
        import onnxruntime
        kept["onnxruntime"] = onnxruntime.__version__
        entries = json.loads(pathlib.Path(args.zoo, "zoo.json").read_text())
        for entry in entries:
            name = entry["name"]
            if (args.only and name not in args.only) or (name in kept["models"] and not args.again):
                continue
            kept["models"][name] = measured(args, entry)
            case = kept["models"][name]
            print(name, case["regraft"].get("error", f"{ratio(case) or 0:.3f}"), flush=True)
            store.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    (HERE / "zoo.md").write_text(document(kept))


if __name__ == "__main__":
    main()
