#!/usr/bin/env python3
"""Which rules do searches apply, and what do models cost afterwards?

  python3 bench/generator/rules_of_searches.py MODELS... [--rules FOLDER] [--names FILE] [--regraft PATH]

Optimises each model (a file, or the .onnx files of a folder) with the rule files of the folder, priced by the
roofline: a line for each with its cost before and after, and the geometric mean of the ratios. --names writes the
rules that were applied. Such rules stay in the shipped files though they follow from others: `rules minimise --keep`.
Plain Python.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def models_of(paths):
    for path in paths:
        yield from sorted(path.glob("*.onnx")) if path.is_dir() else [path]


def optimised(args, model, folder):
    """The report of one run; None where there is none."""
    report = pathlib.Path(folder, "report.json")
    report.unlink(missing_ok=True)
    command = [args.regraft, "optimize", model, "-o", pathlib.Path(folder, "out.onnx"), "--no-measure", "--cost",
               "roofline", "--search-time", "10", "--check", "0", "--threads", "1", "--json", report, "--quiet"]
    try:
        subprocess.run(command, check=False, capture_output=True, timeout=args.timeout,
                       env={**os.environ, "REGRAFT_RULES": str(args.rules)})
    except subprocess.TimeoutExpired:
        return None
    return json.loads(report.read_text()) if report.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--rules", type=pathlib.Path, default=ROOT / "substitutions")
    parser.add_argument("--names", type=pathlib.Path, help="file of the rules that were applied")
    parser.add_argument("--regraft", default=ROOT / "build/release/regraft")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a model")
    args = parser.parse_args()
    used, ratios, left_out = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        for model in models_of(args.models):
            report = optimised(args, model, folder)
            if report is None:
                left_out.append(model.name)
                continue
            before, after = report["before"]["cost"], report["after"]["cost"]
            ratios.append(math.log(after / before))
            used.update({name.rstrip("~") for name in report["applied"]})
            print(f"{model.name} {before:.2f} {after:.2f}", flush=True)
    if not ratios:
        sys.exit("no model was optimised")
    print(f"{len(ratios)} models, geometric mean {math.exp(sum(ratios) / len(ratios)):.4f}, "
          f"{len(used)} rules applied; left out: {' '.join(left_out) or 'none'}")
    if args.names:
        args.names.write_text("".join(f"{name}\n" for name in sorted(used)))


if __name__ == "__main__":
    main()
