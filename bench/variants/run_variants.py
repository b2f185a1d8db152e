#!/usr/bin/env python3
"""Blocks that a runtime has as one operator, written in many ways: how many does regraft reach?

  python bench/variants/run_variants.py [--seed N] [--count N] [--blocks NAME ...] [--keep DIR]
                                        [--out bench/variants] [--regraft EXE]

Makes random variants of each block (blocks.py) by random identities (moves.py), checks in
onnxruntime that all compute the same, optimises each with `regraft optimize --no-measure`, and
writes OUT.md and OUT.json. A variant is a hit when the result is predicted to cost no more than the
cheapest result of its block, or has the same operators. The exit status is 1 when fewer than 95 %
are hits, or a result computes something else.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import prose  # noqa: E402
from blocks import BLOCKS  # noqa: E402
from moves import variant  # noqa: E402
from terms import model_of  # noqa: E402

OPSETS = (13, 16, 17, 18, 20, 21)
MOST_MOVES = 4
TOLERANCE = 2e-4  # of the largest element: single precision, two-moment variances
DEAR = 1.02       # a price that is higher by more is a miss


def make_variants(block, count, seed, folder):
    """Files, no two of the same term."""
    rng = np.random.default_rng([seed, *block.name.encode()])
    seen, files = set(), []
    for attempt in range(50 * count):
        if len(files) == count:
            break
        way = block.ways[rng.integers(len(block.ways))]
        term = variant(way, int(rng.integers(MOST_MOVES + 1)), rng)
        opset = int(rng.choice(OPSETS))
        if (term, opset) in seen:
            continue
        seen.add((term, opset))
        file = folder / f"{block.name}-{len(files):02}.onnx"
        onnx.save(model_of(term, block.inputs, opset), file)
        files.append(file)
    return files


def run_model(file, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def difference(a, b):
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))


def optimise(regraft, file, extra):
    out, report = file.with_suffix(".out.onnx"), file.with_suffix(".json")
    command = [regraft, "optimize", file, "-o", out, "--no-measure", "--quiet", "--json", report,
               "--threads", "1", *extra]
    start = time.monotonic()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode:
        return {"error": done.stderr.strip(), "seconds": seconds}
    j = json.loads(report.read_text(encoding="utf-8"))
    return {"before": j["before"]["operators"], "operators": j["after"]["operators"],
            "cost_before": j["before"]["cost"], "cost": j["after"]["cost"],
            "applied": j["applied"], "stop": j["search"]["stop_reason"], "seconds": seconds}


def plain(operators):
    """Names without domains."""
    return collections.Counter({name.split(":")[-1]: n for name, n in operators.items()})


def listed(operators):
    return ", ".join(f"{n} {op}" for op, n in sorted(operators.items()))


def judge(block, rows):
    """Sets hit, in_operator and why of each row."""
    good = [r for r in rows if "error" not in r]
    best = min(good, key=lambda r: r["cost"], default=None)
    for r in rows:
        r["hit"] = r["in_operator"] = False
        if "error" in r:
            r["why"] = r["error"]
            continue
        r["in_operator"] = bool(block.operators & set(plain(r["operators"])))
        cheap = r["cost"] <= DEAR * best["cost"]
        r["hit"] = cheap or plain(r["operators"]) == plain(best["operators"])
        r["why"] = "" if r["hit"] else f"{r['cost'] / best['cost']:.2f} of the cheapest: " + listed(
            r["operators"])
        if r["difference"] > TOLERANCE:
            r["hit"], r["why"] = False, f"computes something else: {r['difference']:.1e}"
    return best


def run_block(args, make, folder):
    block = make()
    files = make_variants(block, args.count, args.seed, folder)
    rng = np.random.default_rng(args.seed)
    feeds = {x["name"]: rng.standard_normal(x["shape"]).astype(np.float32) for x in block.inputs}
    first = run_model(files[0], feeds)
    apart = [difference(run_model(f, feeds), first) for f in files]
    if max(apart) > TOLERANCE:
        sys.exit(f"{files[int(np.argmax(apart))]}: the variants differ by {max(apart):.1e}")
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda f: optimise(args.regraft, f, args.extra), files))
    for file, row in zip(files, rows):
        row["variant"] = file.stem
        if "error" not in row:
            row["difference"] = difference(run_model(file.with_suffix(".out.onnx"), feeds), first)
    best = judge(block, rows)
    return {"block": block.name, "variants": rows, "hits": sum(r["hit"] for r in rows),
            "in_operator": sum(r["in_operator"] for r in rows),
            "best": best and {"operators": best["operators"], "cost": best["cost"]}}


def table(args, results):
    hits = sum(r["hits"] for r in results)
    count = sum(len(r["variants"]) for r in results)
    lines = ["# Variants of blocks", "",
             f"`python bench/variants/run_variants.py --seed {args.seed} --count {args.count}`: "
             "each block is written in many ways by random identities, and optimised without "
             "measuring. A hit costs, as predicted, no more than the cheapest result of its block, "
             "or has the same operators. Operator: the result has the target's operator.", "",
             f"{hits} of {count} are hits ({100 * hits / count:.1f} %).", "",
             "| block | hits | operator | cheapest form | before us | after us | seconds |",
             "|---|---:|---:|---|---:|---:|---:|"]
    for r in results:
        good = [v for v in r["variants"] if "error" not in v]
        middle = lambda key: f"{np.median([v[key] for v in good]):.1f}" if good else "-"
        lines.append(f"| {r['block']} | {r['hits']} of {len(r['variants'])} | {r['in_operator']} | "
                     f"{listed(r['best']['operators']) if r['best'] else '-'} | "
                     f"{middle('cost_before')} | {middle('cost')} | {middle('seconds')} |")
    misses = [v for r in results for v in r["variants"] if not v["hit"]]
    if misses:
        lines += ["", "Misses:", "", "| variant | before | why |", "|---|---|---|"]
        for v in misses:
            lines.append(f"| {v['variant']} | {listed(v.get('before', {}))} | {v['why']} |")
    return prose.wrapped("\n".join(lines)) + "\n", hits, count


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regraft", default=ROOT / "build/release/regraft")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="variants of each block")
    parser.add_argument("--blocks", nargs="+", help="only these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path, help="folder for models and reports")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/variants")
    parser.add_argument("--extra", nargs=argparse.REMAINDER, default=[],
                        help="further flags of regraft optimize")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for make in BLOCKS:
            if args.blocks and make().name not in args.blocks:
                continue
            results.append(run_block(args, make, folder))
            r = results[-1]
            print(f"{r['block']}: {r['hits']} of {len(r['variants'])}, "
                  f"{r['in_operator']} in the operator", flush=True)
    text, hits, count = table(args, results)
    args.out.with_suffix(".md").write_text(text, encoding="utf-8")
    head = {"seed": args.seed, "count": args.count, "hits": hits, "variants": count}
    figures = json.dumps({**head, "blocks": results}, indent=1)
    args.out.with_suffix(".json").write_text(figures + "\n", encoding="utf-8")
    print(f"{hits} of {count}; {args.out.with_suffix('.md')}")
    return 0 if hits >= 0.95 * count else 1


if __name__ == "__main__":
    sys.exit(main())
