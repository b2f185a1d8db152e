#!/usr/bin/env python3
"""How many well-known rewrites are proved, and how many follow from the shipped rules?

  python3 bench/known/run_known.py [--regraft PATH] [--threads N] [--time S]

`regraft verify` judges bench/known_rewrites.txt, `regraft rules derive` derives it from the shipped
files with its defaults: from all together, and what does not follow once more from those rules only
that have no operators but its own. What is not proved and what does not follow is listed with a
reason that the texts of the rules and the reports decide. Derivations of the second kind are ended
after --time seconds; the table says whether one was.
Writes bench/known.md and bench/known.json. Plain Python.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import known_list  # noqa: E402
import known_reasons  # noqa: E402
import known_report  # noqa: E402
import prose  # noqa: E402

SHIPPED = ROOT / "substitutions"
FILES = tuple(str(p.relative_to(SHIPPED).with_suffix("")) for p in
              sorted(SHIPPED.glob("*.rules")) + sorted(SHIPPED.glob("themes/*.rules")))
TOGETHER = "all files"


def clocks():
    """Wall seconds, and CPU seconds of the commands that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def since(start):
    return [round(now - then, 1) for now, then in zip(clocks(), start)]


def report_of(command, limit=None):
    """The JSON report of a command, its wall and CPU seconds, and whether it was ended after
    `limit` seconds, without a report; exit status 1 says that not all is well."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.json")
        start = clocks()
        try:
            done = subprocess.run([*map(str, command), "--json", path, "-q"], capture_output=True,
                                  text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return [], since(start), True
        seconds = since(start)
        if done.returncode not in (0, 1) or not path.exists():
            sys.exit(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()}")
        return json.loads(path.read_text(encoding="utf-8")), seconds, False


def shipped_file(name):
    return ROOT / f"substitutions/{name}.rules"


def derive(args, goals, files, limit=None):
    """The report, seconds, and whether the program was ended after `limit` seconds."""
    command = [args.regraft, "rules", "derive", goals, "--from", *files]
    return report_of([*command, "--threads", args.threads], limit)


def from_all(args):
    """What follows from all files together, and the rules that each derivation used."""
    rows, seconds, _ = derive(args, known_list.PATH, [shipped_file(n) for n in FILES])
    used = {r["name"]: r["used"] for r in rows if r["derived"]}
    print(f"{TOGETHER}: {len(used)}, {seconds} s", file=sys.stderr)
    return {"derived": list(used), "seconds": seconds, "commands": 1, "ended": 0}, used


def few_files(rules, own, folder):
    """Files of the rules that have no operators but these, one for each shipped file."""
    paths = []
    for name in FILES:
        stem = pathlib.Path(name).stem
        lines = [r.line for r in rules if r.file == stem and r.operators <= own]
        if lines:
            paths.append(pathlib.Path(folder, f"{stem}.rules"))
            paths[-1].write_text("\n".join(["# some of the shipped rules", *lines, ""]))
    return paths


def from_own_operators(args, goals, rules):
    """Names of the goals that follow from the shipped rules that have no operators but theirs."""
    derived, start, ended = [], clocks(), 0
    groups = {}
    for goal in goals:
        groups.setdefault(frozenset(known_reasons.operators(goal.text)), []).append(goal)
    for own, some in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            few, asked = few_files(rules, own, folder), pathlib.Path(folder, "goals.rules")
            if not few:
                continue
            asked.write_text("\n".join(["# goals", *(f"{g.name}  {g.text}" for g in some), ""]))
            rows, _, stopped = derive(args, asked, few, args.time)
        derived += [r["name"] for r in rows if r["derived"]]
        ended += stopped
    return {"derived": derived, "seconds": since(start), "commands": len(groups),
            "ended": ended}


def record(rewrite, proofs, found, used, rules):
    """All that is known of one rewrite."""
    r = {"name": rewrite.name, "group": rewrite.group, "source": rewrite.source,
         "text": rewrite.text, "unwritable": rewrite.lacks}
    if rewrite.lacks:
        return r
    proof = proofs[rewrite.name]
    r |= {"verdict": proof["verdict"], "milliseconds": round(proof["milliseconds"], 1),
          "conditions": proof["conditions"], "condition_found": proof["condition_found"],
          "detail": known_reasons.plain(proof),
          "unproved": known_reasons.why_unproved(proof, rewrite.text),
          "used": used.get(rewrite.name, []),
          "follows": [files for files, f in found.items() if rewrite.name in f["derived"]]}
    if not r["follows"]:
        r["why_not"] = known_reasons.why_not(rewrite.text, rules)
    elif TOGETHER not in r["follows"]:
        r["why_not"] = "limits of derive"
    return r


def judged(args):
    rewrites = known_list.load()
    written = [r for r in rewrites if not r.lacks]
    verified, seconds, _ = report_of([args.regraft, "verify", known_list.PATH, "--threads",
                                   args.threads])
    print(f"verify: {seconds} s", file=sys.stderr)
    proofs = {r["name"]: r for r in verified["rules"]}
    rules = [r for name in FILES for r in known_reasons.rules_of(shipped_file(name))]
    together, used = from_all(args)
    open_goals = [r for r in written if r.name not in used]
    found = {TOGETHER: together}
    found["own operators"] = from_own_operators(args, open_goals, rules)
    records = [record(r, proofs, found, used, rules) for r in rewrites]
    return {
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1),
                    "processor": platform.processor() or platform.machine(),
                    "threads": args.threads},
        "verify_seconds": seconds, "shipped_rules": len(rules),
        "runs": {label: {**f, "derived": len(f["derived"])} for label, f in found.items()},
        "rewrites": records}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--time", type=float, default=60,
                        help="seconds for the rewrites of one set of operators")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/known")
    parser.add_argument("--again", action="store_true", help="only write known.md anew")
    args = parser.parse_args()
    figures = args.out.with_suffix(".json")
    if not args.again:
        text = json.dumps(judged(args), indent=1, sort_keys=True)
        figures.write_text(text + "\n", encoding="utf-8")
    table = prose.wrapped(known_report.table(json.loads(figures.read_text(encoding="utf-8"))))
    args.out.with_suffix(".md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
