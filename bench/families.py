#!/usr/bin/env python3
"""Do the shipped rules imply the families of substitutions that pay? Writes bench/families.md.

  python3 bench/families.py [--regraft EXE] [--from RULES ...] [--candidates RULES ...]
                            [--out FILE] [--time S]

Each line of tests/data/families/*.rules is a step of a family, or (-whole) composed of several. A
step is carried when `regraft rules derive` makes its sides equal with the rules of --from. For one
that is not the table says how far it is: derived from --candidates only (found, not proved), proved
when it is given to the prover (not found), or neither. Plain Python. The exit status is 1 when a
step is not carried.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHIPPED = [ROOT / "substitutions" / name for name in ("core.rules", "extended.rules")]


def report_of(command, folder):
    """Runs a subcommand that writes a JSON report; exit status 1 says only that not all is well."""
    path = pathlib.Path(folder) / "report.json"
    path.unlink(missing_ok=True)
    done = subprocess.run([*command, "--json", path], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not path.exists():
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()}")
    return json.loads(path.read_text(encoding="utf-8"))


def derived(args, goals, rules, folder):
    """Name of each goal -> names of the rules that suffice, or None."""
    if not rules:
        return {}
    command = [args.regraft, "rules", "derive", goals, "--from", *rules]
    rows = report_of([*command, "--time", str(args.time), "-q"], folder)
    return {row["name"]: row["used"] if row["derived"] else None for row in rows}


def verdicts(args, goals, folder):
    """Name of each goal -> verdict and its detail."""
    command = [args.regraft, "verify", goals, "-o", pathlib.Path(folder) / "proved.rules", "-q"]
    rows = report_of(command, folder)["rules"]
    return {row["name"]: (row["verdict"], row["detail"]) for row in rows}


def listed(rules):
    return ", ".join(f"`{rule}`" for rule in rules)


def why(name, from_candidates, verdict):
    """Why a step is not carried."""
    kind, detail = verdict
    if from_candidates.get(name) is not None:
        return f"found, not proved: {listed(from_candidates[name])}"
    if kind in ("proved:all-sizes", "proved:solver"):
        return "not found (its proof succeeds)"
    return f"not found; its proof: {kind}" + (f", {detail[:60]}" if kind == "unknown" else "")


def rows_of(args, goals, folder):
    carried = derived(args, goals, args.rules, folder)
    candidates = derived(args, goals, args.candidates, folder)
    proofs = verdicts(args, goals, folder)
    for name, used in carried.items():
        proof = proofs.get(name, ("joined with its reverse", ""))
        text = why(name, candidates, proof) if used is None else listed(used)
        yield name, "no" if used is None else "yes", text.replace("|", "\\|")


def title_of(goals):
    return goals.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def table(args, folder):
    lines, carried, total = [], 0, 0
    for goals in sorted((ROOT / "tests/data/families").glob("*.rules")):
        rows = list(rows_of(args, goals, folder))
        good = sum(ok == "yes" for _, ok, _ in rows)
        carried, total = carried + good, total + len(rows)
        lines += [f"\n## {goals.stem}: {good} of {len(rows)}\n", title_of(goals), ""]
        lines += ["| step | carried | by, or why not |", "|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        print(f"{goals.stem}: {good} of {len(rows)}", flush=True)
    return lines, carried, total


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regraft", type=pathlib.Path, default=ROOT / "build/release/regraft")
    parser.add_argument("--from", dest="rules", nargs="+", type=pathlib.Path,
                        default=[p for p in SHIPPED if p.exists()])
    parser.add_argument("--candidates", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/families.md")
    parser.add_argument("--time", type=float, default=120, help="seconds for each family")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines, carried, total = table(args, folder)
    names = listed(p.name for p in args.rules)
    head = ["# Families of substitutions", "",
            f"{carried} of {total} steps follow from {names}. Written by `bench/families.py`."]
    args.out.write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    print(f"{carried} of {total} steps carried; {args.out}")
    return 0 if carried == total else 1


if __name__ == "__main__":
    sys.exit(main())
