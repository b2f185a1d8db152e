#!/usr/bin/env python3
"""Times `regraft generate` over op sets and sizes, and writes the table bench/generate.md.

  python3 bench/run_generate.py [--regraft PATH] [--runs N] [--only SET:SIZE ...] [--large]

Each row is the median of N runs, interleaved over the rows (one run for what takes over a minute); a run that --time ends is marked as stopped.
One more run of the rows with an audit draws random pairs of equal terms and derives them from the candidates.
--large adds the runs of many minutes. --seeds N compares the candidates of N seeds instead: the sets of rules,
whatever their names and shapes; of what only some seeds find it says what `regraft verify` says. Rows that were not asked for stay as bench/generate.json has them. Plain Python.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import prose

ROOT = pathlib.Path(__file__).resolve().parents[1]
# set, size, targets: enumeration bytes, seconds from the command to a proved file on two cores
ROWS = [
    ("taso", 2, None, None),
    ("taso", 3, 24e6, 2),
    ("core", 3, None, 15),
    ("taso", 4, 300e6, 15),
    ("extended", 3, None, None),
]
LARGE = [("extended", 4, None, None), ("core", 4, None, 1800), ("taso", 5, 6e9, 1800)]
LONG_SECONDS = 60
AUDITS = {"taso:3": 1000, "taso:4": 1000}  # random pairs
STAGES = [
    ("operator applications", "applications"),
    ("pairs", "pairs"),
    ("removed: commutativity, another name of a call", "commuted"),
    ("removed: a group with other names", "renamed group"),
    ("removed: followers of equal calls", "followers"),
    ("removed: renaming", "renaming"),
    ("removed: common subgraph", "common subgraph"),
    ("removed: follows from several rules", "several rules"),
    ("removed: not equal on other inputs", "chance"),
    ("removed: facts about constants", "constants"),
    ("removed: false at other shapes", "false elsewhere"),
    ("generalised", "generalised"),
    ("rules removed: the right side contains the left", "growing"),
    ("rules removed: the same after generalisation", "duplicates"),
    ("rules removed: follow from smaller ones", "derivable"),
    ("candidates", "candidates"),
]


def run(regraft, ops, size, memory, limit, audit=0):
    with tempfile.TemporaryDirectory() as folder:
        out, report = pathlib.Path(folder, "c.rules"), pathlib.Path(folder, "r.json")
        command = [regraft, "generate", "--ops", ops, "--max-size", str(size), "-o", out,
                   "--json", report, "--quiet", "--memory", str(memory), "--time", str(limit),
                   "--audit", str(audit)]
        subprocess.run(command, check=True)
        result = json.loads(report.read_text())
        if audit == 0:
            result["proving"] = proving(regraft, out, pathlib.Path(folder, "v.json"), limit)
        return result


def proving(regraft, rules, report, limit):
    """What it takes to prove what was found."""
    subprocess.run([regraft, "verify", rules, "-o", rules.with_suffix(".proved"), "--json", report, "--quiet",
                    "--time", str(limit)], check=False)
    said = json.loads(report.read_text())
    return {k: said[k] for k in ("seconds", "cpu_seconds", "proved", "bounded", "refuted", "unknown", "joined")}


def candidates_of(regraft, ops, size, seed, memory, folder):
    """The rules without names and shapes, each with its line."""
    out = pathlib.Path(folder, f"{seed}.rules")
    subprocess.run([regraft, "generate", "--ops", ops, "--max-size", str(size), "--seed", str(seed),
                    "-o", out, "--quiet", "--memory", str(memory)], check=True)
    header, *lines = out.read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line.startswith(tuple("abcdefghijklmnopqrstuvwxyz"))]
    return header, {line.split("  for ")[0].split("  ", 1)[1]: line for line in rules}


def proved(regraft, header, lines, folder):
    """How many of these lines the verifier proves."""
    path, report = pathlib.Path(folder, "some.rules"), pathlib.Path(folder, "some.json")
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    subprocess.run([regraft, "verify", path, "--json", report, "--quiet"], check=False)
    return json.loads(report.read_text())["proved"]


def compare_seeds(regraft, row, seeds, memory):
    """Table rows: what all seeds find, and what only some do."""
    ops, size = row[:2]
    with tempfile.TemporaryDirectory() as folder:
        runs = [candidates_of(regraft, ops, size, seed, memory, folder)
                for seed in range(1, seeds + 1)]
        union = {}
        for _, rules in runs:
            union.update(rules)
        common = set.intersection(*(set(rules) for _, rules in runs))
        some = [line for key, line in sorted(union.items()) if key not in common]
        good = proved(regraft, runs[0][0], some, folder) if some else 0
    return (f"| {ops} | {size} | {seeds} | {len(common):,} | {len(some):,} | {good:,} |")


def human(n):
    return f"{n / 1e6:.0f} MB" if n < 1e9 else f"{n / 1e9:.1f} GB"


def against(value, target, text):
    if target is None:
        return text(value)
    return f"{text(value)} ({'under' if value < target else 'over'} {text(target)})"


def left_open(unknown):
    return f" ({unknown:,.0f} unknown or not reached)" if unknown else ""


def seconds(x):
    return f"{x:.3f} s" if x < 1 else f"{x:.1f} s"


def table(results, audits):
    yield "# The generator"
    yield ""
    yield "Written by `python3 bench/run_generate.py`: medians of so many interleaved runs; targets in brackets. " \
        "CPU seconds are of all threads. The last column is the whole command, to a file of proved rules with the " \
        "derivations that were found: half of its CPU seconds, the least that two idle cores would take. Wall seconds " \
        "are of a machine that others use meanwhile."
    yield ""
    yield f"Machine: {os.cpu_count()} cores, {platform.processor() or platform.machine()}, load " \
        f"{os.getloadavg()[0]:.0f} at the end. Under load CPU seconds are up to twice those of an idle machine."
    yield ""
    yield "| op set | size | runs | applications | enumeration CPU | wall | peak | `generate`, CPU | wall | peak " \
        "| candidates | `verify`, CPU | wall | proved | both |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (ops, size, memory, wall), reports in results.items():
        def mid(key, reports=reports):
            return statistics.median(r[key] for r in reports)

        def proof(key, reports=reports):
            return statistics.median(r["proving"][key] for r in reports)
        proved = all("proving" in r for r in reports)
        yield (f"| {ops} | {size} | {len(reports)} | {mid('operator applications'):,.0f} "
               f"| {seconds(mid('enumerate_cpu_seconds'))} | {seconds(mid('enumerate_wall_seconds'))} "
               f"| {against(mid('enumerate_peak_bytes'), memory, human)} "
               f"| {seconds(mid('cpu_seconds'))} | {seconds(mid('wall_seconds'))} "
               f"| {human(mid('peak_bytes'))} | {mid('candidates'):,.0f}"
               f"{'' if reports[0]['complete'] else ' (stopped)'} | " +
               (f"{seconds(proof('cpu_seconds'))} | {seconds(proof('seconds'))} "
                f"| {proof('proved') + proof('bounded'):,.0f}{left_open(proof('unknown'))} "
                f"| {against((mid('cpu_seconds') + proof('cpu_seconds')) / 2, wall, seconds)} |"
                if proved else "| | | |"))
    yield ""
    yield "## What each stage left"
    yield ""
    yield "| op set | size | " + " | ".join(short for _, short in STAGES) + " |"
    yield "|---|---" * 1 + "|---" * len(STAGES) + "|"
    for (ops, size, *_), reports in results.items():
        yield f"| {ops} | {size} | " + " | ".join(f"{reports[0].get(k, 0):,}" for k, _ in STAGES) + " |"
    yield ""
    yield "## Do random pairs follow?"
    yield ""
    yield "| op set | size | pairs drawn | derived in their most general form | derived at the sizes " \
        "of the enumeration | false at other shapes | open |"
    yield "|---|---|---|---|---|---|---|"
    for key, a in audits.items():
        ops, size = key.split(":")
        yield (f"| {ops} | {size} | {a['random pairs']:,} "
               f"| {a['derived from the candidates, in general']:,} "
               f"| {a['derived at the sizes of the enumeration']:,} "
               f"| {a['false at other shapes']:,} | {a['open']:,} |")
    yield ""


SEED_HEAD = ("", "## Do seeds agree?", "",
             "| op set | size | seeds | found by all | by some only | proved of these |",
             "|---|---|---|---|---|---|")


def kept():
    """Reports of earlier runs: rows by SET:SIZE, and audits."""
    path = ROOT / "bench/generate.json"
    return json.loads(path.read_text()) if path.exists() else {"rows": {}, "audits": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="SET:SIZE")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--memory", type=float, default=16)
    parser.add_argument("--time", type=float, default=150, help="seconds for one run")
    parser.add_argument("--out", default=str(ROOT / "bench/generate.md"))
    parser.add_argument("--seeds", type=int, default=0, help="compare the candidates of so many")
    args = parser.parse_args()
    rows = ROWS + (LARGE if args.large else [])
    if args.only:
        rows = [r for r in ROWS + LARGE if f"{r[0]}:{r[1]}" in args.only]
    data = kept()
    if args.seeds:
        for row in rows:
            line = compare_seeds(args.regraft, row, args.seeds, args.memory)
            data.setdefault("seeds", {})[f"{row[0]}:{row[1]}"] = line
            print(line, file=sys.stderr)
        rows = []
    results = {row: [] for row in rows}
    for _ in range(args.runs):
        for row in rows:
            done = results[row]
            if done and done[0]["wall_seconds"] > LONG_SECONDS:
                continue
            done.append(run(args.regraft, row[0], row[1], args.memory, args.time))
            print(row[0], row[1], f"{done[-1]['wall_seconds']:.1f} s", file=sys.stderr)
    for row, reports in results.items():
        key = f"{row[0]}:{row[1]}"
        data["rows"][key] = reports
        if key in AUDITS:
            report = run(args.regraft, row[0], row[1], args.memory, args.time, AUDITS[key])
            data["audits"][key] = report["audit"]
    (ROOT / "bench/generate.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    results = {row: data["rows"][f"{row[0]}:{row[1]}"] for row in ROWS + LARGE
               if f"{row[0]}:{row[1]}" in data["rows"]}
    lines = list(table(results, data["audits"]))
    if data.get("seeds"):
        lines = [*lines[:-1], *SEED_HEAD, *data["seeds"].values(), ""]
    text = "\n".join(lines)
    pathlib.Path(args.out).write_text(prose.wrapped(text), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
