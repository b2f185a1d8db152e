#!/usr/bin/env python3
"""Tries each feature of regraft and of other optimisers, and writes the table of them.

  python bench/features/run_features.py [--tools A ..] [--features KEY ..] [--report-only]

Each cell is what a probe returned, in a process of its own with a time limit. Evidence is kept in
bench/features.json; cells that are not tried now stay. docs/comparison.md is written from it.
Needs bench/requirements.txt.
"""
import argparse
import dataclasses
import importlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import features  # noqa: E402
import features_report  # noqa: E402

RECORD = ROOT / "bench/features.json"
PAGE = ROOT / "docs/comparison.md"
COLUMNS = ["regraft", "onnxsim", "onnxslim", "onnxruntime", "onnxscript"]
LIMIT = 240            # seconds for one cell
LONG = {"huge": 480, "interrupt": 400}
NEEDS_GB = 8           # of free memory, for `huge`


def free_gigabytes():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) / 1e6
    return 0.0


def tried(tool, probes, key):
    """The cell, in this process; what the tool prints is kept from the output."""
    import trial
    if key == "huge" and free_gigabytes() < NEEDS_GB:
        return None
    with trial.heard():
        try:
            return dataclasses.asdict(probes[key](tool))
        except Exception as problem:  # tools and probes have kinds of their own
            return dataclasses.asdict(trial.Cell(trial.UNCLEAR, "", key,
                                                 trial.first_line(problem)))


def ended(child, limit):
    """Whether it ended within the limit; it is killed otherwise, with what it started."""
    until = time.time() + limit
    while time.time() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def forked(tool, probes, key):
    """The same in a child of this process, which has loaded the tool but not used it."""
    limit = LONG.get(key, LIMIT)
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open(begin, "w") as out:
            json.dump(tried(tool, probes, key), out)
        os._exit(0)
    os.close(begin)
    fine = ended(child, limit)
    with open(end) as text:
        said = text.read()
    if fine and said:
        return json.loads(said)
    how = "crashed" if fine else f"no end after {limit} s"
    return {"verdict": "?", "note": "", "ran": key, "found": how}


def work(name, keys):
    """One line of JSON for each cell of a tool."""
    import package_values
    import tools
    import trials
    tool = tools.TOOLS[name]()
    probes = {**trials.TRIALS, **package_values.PROBES,
              **importlib.import_module(f"probes_{name}").PROBES}
    for key in keys:
        print(json.dumps([key, forked(tool, probes, key)]), flush=True)


def run(name, keys, record):
    child = subprocess.Popen([sys.executable, __file__, "--work", name, "--features", *keys],
                             stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        key, cell = json.loads(line)
        if cell is None:
            print(f"{name}, {features.NAMES[key]}: left out, less than {NEEDS_GB} GB are free")
            continue
        record["cells"].setdefault(key, {})[name] = shortened(cell)
        RECORD.write_text(text_of(record))
        print(f"{name}, {features.NAMES[key]}: {cell['verdict']} {cell['note']}", flush=True)
    if child.wait():
        sys.exit(f"{name}: the worker ended with status {child.returncode}")


def shortened(cell):
    """Evidence in few words, without the names of folders that exist no more."""
    import re
    clean = {k: re.sub(r"/\S*/features-\w+/|/\S*/(?=build/)", "", v) for k, v in cell.items()}
    return {k: v if len(v) <= 400 else v[:397] + "..." for k, v in clean.items()}


def text_of(record):
    return json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def versions():
    import importlib.metadata
    sys.path.insert(0, str(ROOT / "python"))
    import regraft
    found = {"regraft": regraft.__version__}
    for name in (*COLUMNS[1:], "onnx", "onnx-ir", "z3-solver", "gymnasium"):
        found[name] = importlib.metadata.version(name)
    return {"python": ".".join(map(str, sys.version_info[:2])), **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", nargs="+", default=COLUMNS, choices=COLUMNS)
    parser.add_argument("--features", nargs="+", default=list(features.NAMES),
                        choices=list(features.NAMES))
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--work", choices=COLUMNS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given.work, given.features)
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"cells": {}}
    if not given.report_only:
        record["versions"] = versions()
        record["date"] = time.strftime("%Y-%m-%d")
        for name in given.tools:
            run(name, given.features, record)
        RECORD.write_text(text_of(record))
    PAGE.write_text(features_report.page(record, COLUMNS))


if __name__ == "__main__":
    main()
