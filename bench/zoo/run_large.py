#!/usr/bin/env python3
"""Times `regraft` on large models, and takes its peak memory. Writes bench/zoo/large.json and .md.

  python bench/zoo/run_large.py

Builds the models itself; needs the Python of bench/requirements.txt. Each command runs in a process
of its own, `--runs` times; the figures are of the median run. Memory is the process' peak resident
set. Predicted costs are those of the default price, in microseconds.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/models"))

import onnx  # noqa: E402

import build_models  # noqa: E402
import prose  # noqa: E402

MODELS = ["decoder_2k", "decoder_20k", "nasnet_a"]
COMMANDS = {"stats": ["stats", "--quiet"], "simplify": ["simplify", "--check", "0", "--quiet"],
            "optimize": ["optimize", "--check", "0", "--quiet", "--no-measure"]}


def timed(command):
    """(seconds, peak bytes) of a run that must succeed."""
    read, write = os.pipe()
    code = ("import os,resource,subprocess,sys,time; t=time.monotonic(); "
            "r=subprocess.run(sys.argv[2:]).returncode; s=time.monotonic()-t; "
            "k=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss; "
            "os.write(int(sys.argv[1]), f'{r} {s} {k}'.encode())")
    subprocess.run([sys.executable, "-c", code, str(write), *command], pass_fds=[write], check=True)
    os.close(write)
    returned, seconds, kilobytes = os.read(read, 200).decode().split()
    os.close(read)
    if returned != "0":
        sys.exit(f"{' '.join(command)} ended with {returned}")
    return float(seconds), int(kilobytes) * 1024


def measured(regraft, name, folder, runs):
    path, out, report = folder / f"{name}.onnx", folder / "out.onnx", folder / "report.json"
    model = build_models.MODELS[name](0)
    onnx.save(model, path)
    row = {"name": name, "nodes": len(model.graph.node), "bytes": path.stat().st_size}
    for label, words in COMMANDS.items():
        command = [regraft, words[0], str(path), *words[1:]]
        if label != "stats":
            command += ["-o", str(out), "--json", str(report)]
        results = sorted(timed(command) for _ in range(runs))
        row[label] = {"seconds": results[len(results) // 2][0],
                      "peak_bytes": results[len(results) // 2][1]}
        if label != "stats":
            told = json.loads(report.read_text())
            row[label]["nodes"] = len(onnx.load(out, load_external_data=False).graph.node)
            row[label]["cost"] = [told["before"]["cost"], told["after"]["cost"]]
    return row


def document(rows):
    lines = ["# Large models", "",
             "Written by `python bench/zoo/run_large.py`; the figures are in `large.json`. Seconds and "
             "peak resident memory of whole commands, `optimize` with `--no-measure`; predicted cost "
             "before and after.", "",
             "| model | nodes | MB | command | seconds | peak MB | nodes after | predicted us |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        for label in COMMANDS:
            c = r[label]
            after = f"{c['nodes']:,}" if "nodes" in c else ""
            cost = f"{c['cost'][0]:,.0f} to {c['cost'][1]:,.0f}" if "cost" in c else ""
            lines.append(f"| {r['name']} | {r['nodes']:,} | {r['bytes'] / 1e6:.1f} | `{label}` | "
                         f"{c['seconds']:.2f} | {c['peak_bytes'] / 1e6:.0f} | {after} | {cost} |")
    return prose.wrapped("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=MODELS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(args.regraft, name, pathlib.Path(folder), args.runs) for name in args.only]
    (HERE / "large.json").write_text(json.dumps(rows, indent=1) + "\n")
    (HERE / "large.md").write_text(document(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
