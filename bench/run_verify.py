#!/usr/bin/env python3
"""Judges rule files with `regraft verify`, and writes the table bench/verify.md.

  python3 bench/run_verify.py [--regraft PATH] [--files NAME ...] [--taso graph_subst.pb] [--threads N]
      [--before REVISION] [--beside PROGRAM]

Verdicts in the files are ignored: every rule is proved anew, but for the few that the derivation files know
as proved at sample shapes alone. What the generator finds is found anew, and
each of its candidates judged, at more shapes too. The rule files of another REVISION (git's) are judged anew
as well, and rules whose verdict is another one are listed with the reason. Plain Python.
"""
import argparse
import collections
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import prose

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILES = {path.stem: path for folder in ("substitutions", "substitutions/themes")
         for path in sorted((ROOT / folder).glob("*.rules"))}
GENERATED = {f"{ops}, as generated": ops for ops in ("core", "extended")}


def taso_file(given):
    """The file of TASO's rules, which is not ours to distribute; None where there is none."""
    path = pathlib.Path(given or os.environ.get("REGRAFT_TASO_RULES", ""))
    return path if path.is_file() else None


def verify(regraft, paths, threads, ops=None):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        if ops:
            paths = [pathlib.Path(folder, "candidates.rules")]
            subprocess.run([regraft, "generate", "--ops", ops, "-o", *paths, "--quiet"], check=True)
        start = time.monotonic()
        run = subprocess.run([regraft, "verify", *paths, "--json", report, "--quiet",
                              "--threads", str(threads)], capture_output=True, text=True)
        wall = time.monotonic() - start
        if run.returncode not in (0, 1):
            sys.exit(f"{paths}: exit code {run.returncode}: {run.stderr}")
        return json.loads(report.read_text()), wall


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0


def row(name, report, wall):
    judged = [r for r in report["rules"] if "milliseconds" in r and "same_as" not in r]
    verdicts = collections.Counter(r["verdict"] for r in judged)
    conditional = sum(bool(r.get("condition_found")) for r in judged)
    proved = sum(verdicts[v] for v in ("proved:all-sizes", "proved:solver", "proved", "proved under a condition"))
    holds = len(judged) - verdicts["refuted"]
    times = [r["milliseconds"] for r in judged]
    share = 100 * proved / holds if holds else 0
    conditional += verdicts["proved under a condition"]
    return (f"| {name} | {len(report['rules'])} | {len(judged)} | {proved} | {conditional} "
            f"| {verdicts['proved:bounded']} | {verdicts['refuted']} | {verdicts['unknown']} "
            f"| {share:.1f} % | {statistics.median(times):.1f} | {percentile(times, 0.95):.0f} "
            f"| {wall:.1f} s | {report['peak_bytes'] / 1e6:.0f} | {report.get('disagreements', 0)} |")


def summed(programs, threads, passes=3):
    """What all shipped files take in one command, by each program in turn, and one after the other."""
    together = {program: [] for program in programs}
    alone = []
    for _ in range(passes):
        for program, found in together.items():
            found.append(verify(program, FILES.values(), threads)[1])
        alone.append(sum(verify(programs[0], [path], threads)[1] for path in FILES.values()))
    middle = [statistics.median(found) for found in together.values()]
    each = ", ".join(f"{t:.1f}" for t in together[programs[0]])
    text = (f"\nAll {len(FILES)} shipped files in one command, which judges once what several of them have: "
            f"{middle[0]:.1f} s of wall time with {threads} threads (goal: 30 s), the median of {passes} passes that "
            f"took {each} s. One after the other, between these: {statistics.median(alone):.1f} s. What the derivation "
            "files know as proved at sample shapes alone is not tried for all sizes again.")
    if len(programs) > 1:
        text += (f" `{pathlib.Path(programs[1]).name}`, an older program, took {middle[1]:.1f} s in one command: "
                 f"{middle[1] / middle[0]:.2f} times as long.")
    return text + "\n"


NUMERICS = ("exact", "rounding", "rounding-f32", "unsafe", "unknown")


def numerics_row(name, report):
    """Verdicts of directions of proved rules about floating point, and what finding them took."""
    judged = [r for r in report["rules"] if "numerics" in r and "same_as" not in r
              and r["verdict"].startswith("proved")]
    ways = [r["numerics"][way] for r in judged for way in ("forward", "backward") if way in r["numerics"]]
    counts = collections.Counter(way["verdict"] for way in ways)
    times = [r["numerics"]["milliseconds"] for r in judged]
    if not times:
        return None
    return (f"| {name} | {len(judged)} | {len(ways)} | " + " | ".join(str(counts[v]) for v in NUMERICS) +
            f" | {sum(way['range_proved'] for way in ways)} | {sum(r['numerics']['samples'] for r in judged):,} "
            f"| {statistics.median(times):.1f} | {percentile(times, 0.95):.0f} |")


def numerics_table(rows):
    return "\n".join([
        "", "## Floating point", "",
        "What each direction of a proved rule does in floating point (docs/proofs.md says what the words mean); in how many of "
        "them intervals show that nothing can fail on the right that does not on the left; elements compared with their real "
        "values; CPU time of one rule.", "",
        "| file | rules | directions | " + " | ".join(NUMERICS) +
        " | range proved | samples | median ms | p95 ms |", "|---" * (7 + len(NUMERICS)) + "|", *rows, ""])


def changes(revision, regraft, threads):
    """A row for each rule of that revision's files that is judged otherwise than they say."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    rows = []
    listed = git("ls-tree", "--name-only", revision, "substitutions/").split()
    for path in map(pathlib.Path, listed):
        if path.suffix != ".rules":
            continue
        text = git("show", f"{revision}:{path}")
        said = dict(re.findall(r"^(\S+) +\(.* (proved:[a-z-]+)", text, re.M))
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, path.name)
            copy.write_text(text, encoding="utf-8")
            report, _ = verify(regraft, [copy], threads)
        for r in report["rules"]:
            if said.get(r["name"]) != r["verdict"]:
                reason = r["counterexample"] or r["detail"].split("at given shapes: ")[-1]
                rows.append(f"| {path.stem} | `{r['name']}` | {said.get(r['name'])} | {r['verdict']} "
                            f"| {reason} |")
    return rows


def changes_table(revision, rows):
    return "\n".join([
        "", "## Verdicts that changed", "",
        f"Of the rules of revision {revision} (`--before {revision}`), those that are judged otherwise now.", "",
        "| file | rule | before | now | reason |", "|---" * 5 + "|", *rows, ""])


def table(rows, threads, command):
    return "\n".join([
        "# The verifier", "",
        f"Written by `{command}`. {threads} threads on {os.cpu_count()} cores "
        f"({platform.processor() or platform.machine()}), load {os.getloadavg()[0]:.1f} at the end.", "",
        "`proved` is for all sizes, some of them `under a condition` that was found; `of those that hold` "
        "is their part of the rules that numbers do not refute. Milliseconds are CPU time of one rule. "
        "`taso` is judged for all that TASO's matcher lets through: broadcasting and groups included. "
        "The first rows are what ships; `as generated` are all candidates, from which it was made.", "",
        "| file | candidates | distinct | proved | of these under a condition | bounded | refuted | unknown "
        "| of those that hold | median ms | p95 ms | wall | peak MB | disagreements |",
        "|---" * 14 + "|", *rows, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--files", nargs="*", default=[*FILES, "taso", *GENERATED])
    parser.add_argument("--taso", help="TASO's graph_subst.pb")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--beside", metavar="PROGRAM", help="an older regraft, timed in turn with this one")
    parser.add_argument("--before", metavar="REVISION", help="judge its rule files, too")
    parser.add_argument("--out", default=str(ROOT / "bench/verify.md"))
    args = parser.parse_args()
    rows, numerics = [], []
    for name in args.files:
        ops = GENERATED.get(name)
        path = FILES.get(name) or taso_file(args.taso)
        if path is None and not ops:
            print(f"{name}: no such file, left out", file=sys.stderr)
            continue
        report, wall = verify(args.regraft, [path], args.threads, ops)
        rows.append(row(name, report, wall))
        numerics.append(numerics_row(name, report))
        print(rows[-1], numerics[-1], sep="\n", file=sys.stderr, flush=True)
    text = table(rows, args.threads, "python3 bench/run_verify.py")
    if set(FILES) <= set(args.files):
        text += summed([p for p in (args.regraft, args.beside) if p], args.threads)
    text += numerics_table([r for r in numerics if r])
    if args.before:
        text += changes_table(args.before, changes(args.before, args.regraft, args.threads))
    text = prose.wrapped(text)
    pathlib.Path(args.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
