#!/usr/bin/env python3
"""Makes pairs of models: each model of the zoo, and what each tool makes of it.

  build/venv-bench/bin/python bench/validate/make_pairs.py --zoo DIR --out CACHE [--missing]

Each tool runs in a process of its own. CACHE/pairs.json has a record of every run: model, tool, its
version, the file, what changed (structure, opset, nothing), or the error. Files in which nothing
changed are not kept. --missing runs only what has no record yet.
"""
import argparse
import concurrent.futures
import hashlib
import importlib.metadata
import json
import pathlib
import re
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/zoo"))

import onnx  # noqa: E402

import structure  # noqa: E402
import zoo_tools  # noqa: E402

OPSET = 21  # that the converter is asked for
TOOLS = {  # arguments of history/tools.py before and after the two files
    "onnxruntime-basic": (["onnxruntime"], ["basic"]),
    "onnxruntime-extended": (["onnxruntime"], ["extended"]),
    "onnxsim": (["onnxsim"], []),
    "onnxslim": (["onnxslim"], []),
    "onnxoptimizer": (["onnxoptimizer"], []),
    "onnxscript": (["onnxscript"], []),
    "converter": (["converter"], [str(OPSET)]),
    "regraft": None,
}
PACKAGES = {"onnxruntime-basic": "onnxruntime", "onnxruntime-extended": "onnxruntime",
            "converter": "onnx"}
PATIENCE = 120  # seconds for one tool on one model


def sha(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def versions(regraft):
    """Of each tool; regraft has its digest."""
    found = {tool: importlib.metadata.version(PACKAGES.get(tool, tool))
             for tool in TOOLS if tool != "regraft"}
    return {**found, "regraft": sha(regraft)}


def command(tool, source, target, regraft):
    if TOOLS[tool] is None:
        return [regraft, "optimize", source, "-o", target, "--search-time", "3", "--no-measure",
                "--portable", "--quiet", "--threads", "1", "--memory", "4"]
    head, tail = TOOLS[tool]
    return [sys.executable, HERE / "history/tools.py", *head, source, target, *tail]


class Source:
    """A model of the zoo, described when it is first asked for."""

    def __init__(self, entry, folder):
        self.entry, self.path = entry, folder / entry["file"]
        self.lock, self.known = threading.Lock(), None

    def described(self):
        with self.lock:
            if self.known is None:
                self.known = structure.describe(onnx.load(self.path)), sha(self.path)
            return self.known


def make(source, tool, args, version):
    """The record of one tool on one model."""
    target = args.out / source.entry["name"] / f"{tool}.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    record = {"model": source.entry["name"], "tool": tool, "version": version}
    ran = zoo_tools.run(command(tool, source.path, target, args.regraft), PATIENCE)
    record["seconds"] = round(ran["seconds"], 2)
    if "late" in ran or ran["exit"] != 0 or not target.exists():
        target.unlink(missing_ok=True)
        late = {"late": ran["late"]} if "late" in ran else {}
        return {**record, **late, "error": ran["told"] or f"exit {ran['exit']}"}
    (before, digest), after = source.described(), structure.describe(onnx.load(target))
    record.update(changed=structure.change(before, after), before=str(source.path),
                  before_digest=digest, nodes=[before[2], after[2]],
                  bytes=[source.path.stat().st_size, target.stat().st_size])
    if record["changed"] == "nothing":
        record["same_bytes"] = sha(target) == digest
        target.unlink()
        return record
    return {**record, "after": str(target), "after_digest": sha(target)}


class Records:
    """pairs.json, written anew with each record."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.known = {}
        if path.exists():
            self.known = {(r["model"], r["tool"]): r for r in json.loads(path.read_text())}

    def add(self, record):
        with self.lock:
            self.known[record["model"], record["tool"]] = record
            lines = ",\n".join(json.dumps(self.known[key]) for key in sorted(self.known))
            fresh = self.path.with_suffix(".new")
            fresh.write_text(f"[\n{lines}\n]\n")
            fresh.replace(self.path)


def attempt(job, args, version, records):
    source, tool = job
    try:
        record = make(source, tool, args, version[tool])
    except Exception as problem:  # a tool may write anything
        record = {"model": source.entry["name"], "tool": tool, "version": version[tool],
                  "error": f"{type(problem).__name__}: {problem}"[:160]}
    records.add(record)
    print(record["model"], tool, record.get("error") or record["changed"], record.get("seconds"),
          flush=True)


def settled(record):
    """Whether another run is to say the same: it did not end late for want of a processor."""
    return record is not None and record.get("late", PATIENCE) >= 0.9 * PATIENCE


def changed(records):
    """The pairs that count."""
    return [r for r in records if r.get("changed") in ("structure", "opset")]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="folder of zoo.json")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the pairs")
    parser.add_argument("--only", default="", help="models whose names match")
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    parser.add_argument("--missing", action="store_true", help="only what has no record yet")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--regraft", type=pathlib.Path, default=ROOT / "build/release/regraft")
    return parser.parse_args()


def main():
    args = options()
    args.out.mkdir(parents=True, exist_ok=True)
    entries = json.loads((args.zoo / "zoo.json").read_text())
    entries = sorted((e for e in entries if re.search(args.only, e["name"])),
                     key=lambda e: e["bytes"] + 50000 * e["nodes"])
    records, version = Records(args.out / "pairs.json"), versions(args.regraft)
    jobs = [(source, tool) for source in (Source(e, args.zoo) for e in entries)
            for tool in args.tools
            if not (args.missing and settled(records.known.get((source.entry["name"], tool))))]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda job: attempt(job, args, version, records), jobs))
    found = list(records.known.values())
    print(f"{len(found)} runs, {len(changed(found))} pairs that changed, "
          f"{sum('error' in r for r in found)} failed")


if __name__ == "__main__":
    main()
