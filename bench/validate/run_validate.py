#!/usr/bin/env python3
"""Runs `regraft validate` on pairs and on mutants, and writes what it said of them.

  build/venv-bench/bin/python bench/validate/run_validate.py --pairs CACHE [--mutants DIR]

Each result is kept in --results as soon as it is known, by the program's digest and those of the
models: the same command goes on where it was stopped. --certify N shows N pairs and N mutants to
onnxsim's certificates, too. Writes bench/validate.md and bench/validate.json.
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import importlib.metadata
import json
import pathlib
import re
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]

import cases  # noqa: E402
import certificates  # noqa: E402
import validate_figures  # noqa: E402
import validate_report  # noqa: E402
from make_pairs import sha  # noqa: E402

PACKAGES = ["onnx", "onnxruntime", "onnxsim", "onnxslim", "onnxoptimizer", "onnxscript"]


class Results:
    """A journal: one line of JSON for each result; the last of a key counts."""

    def __init__(self, path):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                record = json.loads(line)
                self.known[record["key"]] = record["result"]
            except ValueError:  # the process was stopped while it wrote
                continue

    def get(self, key, work):
        """The result of the key; the work's, if it is not known yet."""
        with self.lock:
            if key in self.known:
                return self.known[key]
        result = work()
        with self.lock:
            self.known[key] = result
            with self.path.open("a") as journal:
                journal.write(json.dumps({"key": key, "result": result}) + "\n")
        return result


def key(case, program, *more):
    parts = [program, case["id"], case["before_digest"], case["after_digest"], cases.TIME,
             cases.MEMORY, *more]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def judge(case, regraft, program, entries, results):
    """The case with what regraft said; a right pair that is refuted is run in onnxruntime, a mutant
    that is proved in double precision."""
    said = results.get(key(case, program), lambda: cases.validate(regraft, case))
    if case["group"] == "pair" and said["verdict"] == "refuted":
        said = {**said, "ran": results.get(key(case, "onnxruntime"), lambda: cases.differences(
            entries[case["model"]], case))}
    if case["group"] == "mutant" and said["verdict"].startswith("proved"):
        said = {**said, "in double": results.get(key(case, "double"), lambda: cases.in_double(
            entries[case["model"]], case))}
    print(f"{said['verdict']:24} {said['seconds']:7.2f} s {said['memory'] >> 20:5} MiB "
          f"{case['stratum']:22} {case['id']} {said.get('told', '')}", flush=True)
    if "told" in said:  # names without folders are kept
        said = {**said, "told": re.sub(r"/\S*/", "", said["told"])}
    return {**case, "said": said}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=pathlib.Path, required=True)
    parser.add_argument("--mutants", type=pathlib.Path, help="folder of mutants.json")
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="folder of zoo.json")
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--sample", type=int, help="so many pairs, and so many mutants")
    parser.add_argument("--sample-mutants", type=int, help="so many mutants, and all pairs")
    parser.add_argument("--certify", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--regraft", type=pathlib.Path, default=ROOT / "build/release/regraft")
    parser.add_argument("--venvs", type=pathlib.Path, default=ROOT / "build/venv-history")
    parser.add_argument("--results", type=pathlib.Path,
                        default=ROOT / "build/validate-results.jsonl")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench",
                        help="folder of validate.md and validate.json")
    return parser.parse_args()


def main():
    args = options()
    entries = {e["name"]: e for e in json.loads((args.zoo / "zoo.json").read_text())}
    groups = [(cases.pairs(args.pairs), args.sample),
              (cases.mutants(args.mutants) if args.mutants else [],
               args.sample_mutants or args.sample)]
    picked = [case for group, sample in groups for case in cases.chosen(group, args.only, sample)]
    results, program = Results(args.results), sha(args.regraft)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        judged = list(pool.map(
            lambda case: judge(case, args.regraft, program, entries, results), picked))
    peers = certificates.judge(judged, args.certify, args.venvs, entries, results)
    kept = {"date": datetime.date.today().isoformat(), "program": program,
            "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
            "whole": not (args.only or args.sample or args.sample_mutants),
            "runs": validate_figures.runs(json.loads((args.pairs / "pairs.json").read_text())),
            "sorted": cases.sorted_out(args.mutants), "cases": judged, "certified": peers}
    figures = validate_figures.figures(kept)
    (args.out / "validate.json").write_text(validate_figures.dumped(figures, kept))
    (args.out / "validate.md").write_text(validate_report.text(figures))


if __name__ == "__main__":
    main()
