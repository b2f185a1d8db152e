#!/usr/bin/env python3
"""Optimises the models of build_families.py and writes bench/families/families.md.

  python bench/families/run_families.py [--regraft EXE] [--search NAME] [--budget N]

A family is reached when the optimised model costs no more than the known better form, optimised
too. The exit status is 1 when one is not, or when the convolutions or products of a control change.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import build_families  # noqa: E402


def optimize(args, folder, model):
    report = folder / "report.json"
    command = [args.regraft, "optimize", folder / f"{model}.onnx", "-o", folder / "out.onnx",
               "--search", args.search, "--budget", str(args.budget), "--json", report, "--quiet", "--cost",
               "roofline",
               "--rules", *sorted((ROOT / "substitutions").glob("*.rules"))]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{model}: {run.stderr}")
    return json.loads(report.read_text())


def operators(side):
    return ", ".join(f"{n} {op}" for op, n in sorted(side["operators"].items()))


def heavy(side):
    return [side["operators"].get(op, 0) for op in ("Conv", "MatMul", "Gemm")]


def row(name, before, after):
    cost = before["after"]["cost"]
    reached = cost <= after["after"]["cost"] * (1 + 1e-9)
    rules = ", ".join(f"`{r}`" for r in before["applied"]) or "none"
    return reached, (f"| {name} | {before['before']['cost']:.1f} | {after['before']['cost']:.1f} | "
                     f"{cost:.1f} | {'yes' if reached else '**no**'} | "
                     f"{operators(before['after'])} | {rules} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regraft", default=ROOT / "build/release/regraft")
    parser.add_argument("--search", default="windows")
    parser.add_argument("--budget", type=int, default=300000)
    args = parser.parse_args()
    rows, controls, good = [], [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([sys.executable, HERE / "build_families.py", "--out", folder], check=True)
        for name in build_families.FAMILIES:
            reached, text = row(name, optimize(args, folder, f"{name}.before"),
                                optimize(args, folder, f"{name}.after"))
            good += reached
            rows.append(text)
        kept = 0
        for name in build_families.CONTROLS:
            r = optimize(args, folder, f"{name}.before")
            same = heavy(r["before"]) == heavy(r["after"])
            kept += same
            controls.append(f"| {name} | {operators(r['before'])} | {operators(r['after'])} | "
                            f"{'yes' if same else '**no**'} |")
    lines = ["# Families of substitutions", "",
             f"`python bench/families/run_families.py --search {args.search} --budget "
             f"{args.budget}`: predicted cost in us of the model, of the form known to be better, "
             "and of what the shipped rules make of the model. Reached: it costs no more than the "
             "better form optimised in the same way.", "",
             "| family | before | better form | found | reached | operators | rules |",
             "|---|---:|---:|---:|---|---|---|", *rows, "",
             f"{good} of {len(rows)} are reached.", "",
             "Controls, where nothing is to be won:", "",
             "| control | operators before | after | convolutions and products unchanged |", "|---|---|---|---|", *controls]
    (HERE / "families.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    sys.exit(good < len(rows) or kept < len(controls))


if __name__ == "__main__":
    main()
