#!/usr/bin/env python3
"""Times `regraft generate` over op sets and sizes, and writes the table bench/generate.md.

  python3 bench/run_generate.py [--regraft PATH] [--runs N] [--only SET:SIZE ...] [--large]

Each row is the median of N runs, interleaved over the rows (one run for what takes over a minute); a run that --time ends is marked as stopped.
One more run of the rows with an audit draws random pairs of equal terms and derives them from the candidates.
--large adds the runs of many minutes. Rows that were not asked for stay as bench/generate.json has them. Plain Python.
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

ROOT = pathlib.Path(__file__).resolve().parents[1]
# set, size, targets: enumeration CPU s, enumeration bytes, whole command wall s
ROWS = [
    ("taso", 2, None, None, None),
    ("taso", 3, 0.10, 24e6, 5),
    ("core", 3, None, None, 300),
    ("taso", 4, 3.0, 300e6, 120),
    ("extended", 3, None, None, 1800),
]
LARGE = [("taso", 5, None, 8e9, 3600)]
LONG_SECONDS = 60
AUDITS = {"taso:3": 1000, "taso:4": 1000}  # random pairs
STAGES = [
    ("operator applications", "applications"),
    ("pairs", "pairs"),
    ("removed: commutativity, another name of a call", "commuted"),
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
        return json.loads(report.read_text())


def human(n):
    return f"{n / 1e6:.0f} MB" if n < 1e9 else f"{n / 1e9:.1f} GB"


def against(value, target, text):
    if target is None:
        return text(value)
    return f"{text(value)} ({'under' if value < target else 'over'} {text(target)})"


def seconds(x):
    return f"{x:.3f} s" if x < 1 else f"{x:.1f} s"


def table(results, audits):
    yield "# The generator"
    yield ""
    yield "Written by `python3 bench/run_generate.py`: medians of " \
        "interleaved runs, of one for what takes minutes; targets in brackets. CPU seconds are of all threads."
    yield f"Machine: {os.cpu_count()} cores, {platform.processor() or platform.machine()}."
    yield ""
    yield "| op set | size | applications | enumeration CPU | wall | peak | whole command, wall | " \
        "CPU | peak | candidates |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for (ops, size, cpu, memory, wall), reports in results.items():
        def mid(key, reports=reports):
            return statistics.median(r[key] for r in reports)
        yield (f"| {ops} | {size} | {mid('operator applications'):,.0f} "
               f"| {against(mid('enumerate_cpu_seconds'), cpu, seconds)} "
               f"| {seconds(mid('enumerate_wall_seconds'))} "
               f"| {against(mid('enumerate_peak_bytes'), memory, human)} "
               f"| {against(mid('wall_seconds'), wall, seconds)} | {seconds(mid('cpu_seconds'))} "
               f"| {human(mid('peak_bytes'))} | {mid('candidates'):,.0f}"
               f"{'' if reports[0]['complete'] else ' (stopped)'} |")
    yield ""
    yield "## What each stage left"
    yield ""
    yield "| op set | size | " + " | ".join(short for _, short in STAGES) + " |"
    yield "|---|---" * 1 + "|---" * len(STAGES) + "|"
    for (ops, size, *_), reports in results.items():
        yield f"| {ops} | {size} | " + " | ".join(f"{reports[0][k]:,}" for k, _ in STAGES) + " |"
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
    args = parser.parse_args()
    rows = ROWS + (LARGE if args.large else [])
    if args.only:
        rows = [r for r in ROWS + LARGE if f"{r[0]}:{r[1]}" in args.only]
    results = {row: [] for row in rows}
    for _ in range(args.runs):
        for row in rows:
            done = results[row]
            if done and done[0]["wall_seconds"] > LONG_SECONDS:
                continue
            done.append(run(args.regraft, row[0], row[1], args.memory, args.time))
            print(row[0], row[1], f"{done[-1]['wall_seconds']:.1f} s", file=sys.stderr)
    data = kept()
    for row, reports in results.items():
        key = f"{row[0]}:{row[1]}"
        data["rows"][key] = reports
        if key in AUDITS:
            report = run(args.regraft, row[0], row[1], args.memory, args.time, AUDITS[key])
            data["audits"][key] = report["audit"]
    (ROOT / "bench/generate.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    results = {row: data["rows"][f"{row[0]}:{row[1]}"] for row in ROWS + LARGE
               if f"{row[0]}:{row[1]}" in data["rows"]}
    text = "\n".join(table(results, data["audits"]))
    pathlib.Path(args.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
