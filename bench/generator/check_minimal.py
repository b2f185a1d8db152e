#!/usr/bin/env python3
"""Does any rule of the shipped files follow from all the others together, within `rules derive`'s defaults?

  python3 bench/generator/check_minimal.py [--regraft PATH] [--files FILE ...] [--alone] [--sample N] [--threads N]
      [--json FILE]

Asks `regraft rules minimise` of all files together, which drops what follows, and prints it. Exit code 0: nothing
follows. `--alone` asks of each file by itself, by way of terms no larger than a rule's own sides (`--slack 0`): what
its generation drops but for limits and for families, which are written later. `--sample N` asks of N rules drawn at random, each by `rules derive` from all the others: another way to
the same answer. Plain Python.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rules_of(path):
    """Lines that are rules."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def dropped(args, files, *more):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        run = subprocess.run([args.regraft, "rules", "minimise", *files, "-o", folder, "--json", report, "--quiet",
                              "--threads", str(args.threads), *more], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"exit code {run.returncode}: {run.stderr}")
        return json.loads(report.read_text())


def dropped_alone(args):
    """Of each file by itself."""
    results = [dropped(args, [file], "--slack", "0") for file in args.files]
    for file, r in zip(args.files, results):
        print(f"{file.name}: {len(r['dropped'])} of {r['rules']} rules follow from its others")
    return {"rules": sum(r["rules"] for r in results), "dropped": [d for r in results for d in r["dropped"]]}


def following(args, files):
    """Of some rules those that follow from all the others."""
    everything = [(file, line) for file in files for line in rules_of(file)]
    drawn = random.Random(1).sample(everything, min(args.sample, len(everything)))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        goal, rest = pathlib.Path(folder, "goal.rules"), pathlib.Path(folder, "rest")
        rest.mkdir()
        for file, line in drawn:
            goal.write_text(f"# a rule\n{line}\n")
            others = []
            for other in files:
                others.append(rest / other.name)
                kept = [x for x in rules_of(other) if x != line]
                others[-1].write_text("\n".join(["# the others", *kept, ""]))
            report = pathlib.Path(folder, "report.json")
            subprocess.run([args.regraft, "rules", "derive", goal, "--from", *others, "--json", report, "--quiet"],
                           check=False, capture_output=True)
            answer = json.loads(report.read_text())[0]
            if answer["derived"]:
                found.append({"name": answer["name"], "file": file.name,
                              "reason": "follows from " + " ".join(answer["used"])})
    return {"rules": len(drawn), "dropped": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=ROOT / "build/release/regraft")
    parser.add_argument("--files", nargs="+", type=pathlib.Path,
                        default=sorted((ROOT / "substitutions").glob("*.rules")))
    parser.add_argument("--sample", type=int, default=0, help="rules to draw; 0: all, by rules minimise")
    parser.add_argument("--alone", action="store_true", help="each file by itself, without slack")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path, help="file of what follows")
    args = parser.parse_args()
    begin = time.monotonic()
    if args.alone:
        result = dropped_alone(args)
    else:
        result = following(args, args.files) if args.sample else dropped(args, args.files)
    for rule in result["dropped"]:
        print(f"{rule['file']}: {rule['name']}: {rule['reason']}")
    print(f"{len(result['dropped'])} of {result['rules']} rules follow from the others "
          f"({time.monotonic() - begin:.0f} s)")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if result["dropped"] else 0


if __name__ == "__main__":
    sys.exit(main())
