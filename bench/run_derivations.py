#!/usr/bin/env python3
"""Measures the derivations beside the shipped rule files, and what finding them costs; writes the last
part of bench/kernel.md.

  python bench/run_derivations.py REGRAFT [--every N] [--times N]

For each file: `regraft check --derivations`, then `regraft verify` of one rule in N (default: all), in turn with
`--no-kernel` and with `--no-replay`, and of the rules that have a proof without a derivation. Seconds of verifying
are medians of CPU, all threads together.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

import prose

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench/kernel.md"
HEADING = "# Derivation files\n"


def report_of(command, folder):
    path = pathlib.Path(folder) / "report.json"
    run = subprocess.run([*map(str, command), "-q", "--json", str(path)], stdout=subprocess.DEVNULL)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit {run.returncode}")
    return json.loads(path.read_text(encoding="utf-8"))


def verified(regraft, header, rules, folder, how="--no-replay"):
    """The report on these lines of a rule file, proved without what is at hand."""
    path = pathlib.Path(folder) / "some.rules"
    path.write_text("\n".join([*header, *rules]) + "\n", encoding="utf-8")
    return report_of([regraft, "verify", path, how, "-o", pathlib.Path(folder) / "out.rules"], folder)


def kind_of(missing):
    """What a search that ended says, without the names in it."""
    kind, _, what = missing.split("\n")[0].partition(": ")
    if kind == "certificate":
        return kind
    what = re.sub(r"^-?\d+(/\d+)? ?", "", what)  # the coefficient
    if what.startswith("sum"):
        return f"{kind}: a sum"
    name = re.match(r"[a-z]*", what).group() or "a number"
    names = {"t": "an element", "f": "a function", "largest": "a maximum", "recip": "a quotient of sizes"}
    return f"{kind}: {names.get(name, name)}"


def measure(regraft, rules, every, times, folder):
    lines = rules.read_text(encoding="utf-8").splitlines()
    header = [line for line in lines if line.startswith("#regraft")]
    body = {line.split()[0]: line for line in lines if line and not line.startswith("#")}
    derivations = rules.with_suffix(".derivations.gz")
    replay = report_of([regraft, "check", rules, "--derivations", derivations], folder)
    open_rules = [r["name"] for r in replay["rules"] if r["accepted"] < r["proofs"]]
    some = list(body.values())[::every]
    seconds = {"--no-kernel": [], "--no-replay": []}
    for _ in range(times):
        for how, all_seconds in seconds.items():
            all_seconds.append(verified(regraft, header, some, folder, how)["cpu_seconds"])
    alone, cpu = (statistics.median(s) for s in seconds.values())
    missing = []
    if open_rules:
        for rule in verified(regraft, header, [body[name] for name in open_rules], folder)["rules"]:
            missing += [(rule["name"], x["missing"]) for x in rule["kernel"]["prover_only"]]
    return {"file": str(rules.relative_to(ROOT / "substitutions").with_suffix("")),
            "rules": len(replay["rules"]), "proofs": sum(r["proofs"] for r in replay["rules"]),
            "accepted": sum(r["accepted"] for r in replay["rules"]),
            "bytes": derivations.stat().st_size, "open": len(open_rules), "missing": missing,
            "replay": replay["seconds"], "median": replay["median_milliseconds"],
            "alone": alone, "cpu": cpu}


def page(rows, every):
    total = {k: sum(r[k] for r in rows) for k in ("rules", "proofs", "accepted", "bytes", "open", "replay", "cpu",
                                                   "alone")}
    some = "all rules" if every == 1 else f"one rule in {every} of each file"
    text = [HEADING, "Printed by `python bench/run_derivations.py REGRAFT`. `scripts/derivations` writes the files; "
            "`regraft check F.rules --derivations F.derivations.gz` replays them. "
            "Replays are timed on two cores, others at work.",
            "", "| file | rules | checked whole | proofs | accepted | bytes | replay, s |", "|---|---|---|---|---|---|---|"]
    for r in rows + [{"file": "together", **total}]:
        text.append(f"| {r['file']} | {r['rules']:,} | {r['rules'] - r['open']:,} "
                    f"| {r['proofs']:,} | {r['accepted']:,} "
                    f"({100 * r['accepted'] / r['proofs']:.2f} %) | {r['bytes']:,} | {r['replay']:.1f} |")
    text += ["", f"The median of the files' median replays is {statistics.median(r['median'] for r in rows):.2f} ms "
             "for a proof. `python tests/verify/kernel/shipped_test.py REGRAFT 1` "
             "asks the kernel in Python about each of them.", "",
             f"What derivations cost where none are at hand: {some}, verified anew by the "
             "provers alone (`--no-kernel`), and with derivations of all that they prove (`--no-replay`). "
             "A proof that another one's derivation fits needs no prover.", "",
             "| file | provers, CPU s | with derivations, CPU s | more |", "|---|---|---|---|"]
    for r in rows + [{"file": "together", **total}]:
        more = 100 * (r["cpu"] / max(r["alone"], 1e-3) - 1)
        text.append(f"| {r['file']} | {r['alone']:.2f} | {r['cpu']:.2f} | {more:.0f} % |")
    kinds, rules = collections.Counter(), collections.defaultdict(set)
    for r in rows:
        for name, missing in r["missing"]:
            kinds[kind_of(missing)] += 1
            rules[kind_of(missing)].add(name)
    text += ["", "Proofs without a derivation, by where the search ended (`left`: a product that nothing takes "
             "away; `defined`: a function that is not shown to be defined; `certificate`: a fact about sizes "
             "that the solver says and that has none):", "", "| proofs | rules | where it ended | one of the rules |",
             "|---|---|---|---|"]
    for what, count in kinds.most_common():
        text.append(f"| {count} | {len(rules[what])} | `{what}` | `{min(rules[what], key=len)}` |")
    return prose.wrapped("\n".join(text)) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("regraft")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--times", type=int, default=3)
    flags = parser.parse_args()
    files = sorted((ROOT / "substitutions").glob("*.rules")) + sorted((ROOT / "substitutions/themes").glob("*.rules"))
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(flags.regraft, f, flags.every, flags.times, folder) for f in files
                if f.with_suffix(".derivations.gz").exists()]
    before = PAGE.read_text(encoding="utf-8").split(HEADING)[0]
    PAGE.write_text(before + page(rows, flags.every), encoding="utf-8")


if __name__ == "__main__":
    main()
