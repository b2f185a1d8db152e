#!/usr/bin/env python3
"""Times in onnxruntime what regraft and other optimisers make of the families and of real models,
and writes bench/peers.md from what bench/peers.json keeps.

  python bench/run_peers.py [--only NAME ...] [--again] [--optimize ARGS]
  python bench/run_peers.py --table

Needs bench/requirements.txt. Every case is timed in one run in which the original, regraft's, the
peers' and the form made by hand take turns, with all of onnxruntime's own optimisations and one
thread. A case that is in peers.json already is left alone unless --again is given.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE / "models"), str(HERE / "families"), str(HERE)]

import onnx  # noqa: E402

import build_families  # noqa: E402
import build_models  # noqa: E402
import peers  # noqa: E402
import run_models  # noqa: E402
from regraft import runtime, timing  # noqa: E402

# The speed-up that rewriting by hand gave where it was measured; None: nothing is to be won.
MODELS = {"mobileone_s0": 3.4, "repvgg_a0": 1.13, "densenet121": 1.06, "resnet50_caffe": 1.10,
          "resnet50": None, "resnet18": None, "resnext50": None, "inception_v3": None,
          "squeezenet1_1": None, "mobilenet_v3": None, "shufflenet_v2": None, "yolov5s": None,
          "bert_base": None, "bert_base_cls": None, "minilm_cls": None, "albert_embedding": None,
          "lora_mlp": None, "vit_b16": None, "nasnet_a": None}
TOOLS = ["regraft", *peers.PEERS]
LEAST = 0.98       # of the original's speed that no case may fall below
TOLERANCE = 1e-4   # of an output's largest magnitude
PASSES = 3         # of timing, with new sessions
PATIENCE = 1800    # seconds for one optimiser on one model


def cases(only):
    """The names of all, or of those that contain one of `only`."""
    families, controls = build_families.SIZES["bench"]
    names = [*families, *controls, *MODELS]
    return [n for n in names if not only or any(part in n for part in only)]


def write_models(name, folder):
    """original.onnx, and by-hand.onnx where there is one."""
    families, controls = build_families.SIZES["bench"]
    if name in families:
        shapes, before, after = families[name]
        onnx.save(build_families.network(name, before, shapes, 0), folder / "original.onnx")
        onnx.save(build_families.network(name, after, shapes, 0), folder / "by-hand.onnx")
    elif name in controls:
        shapes, make = controls[name]
        onnx.save(build_families.network(name, make, shapes, 0), folder / "original.onnx")
    else:
        onnx.save(build_models.MODELS[name](0), folder / "original.onnx")


def command(tool, folder, args):
    source, target = folder / "original.onnx", folder / f"{tool}.onnx"
    if tool == "regraft":
        return [args.regraft, "optimize", source, "-o", target, "--quiet",
                *shlex.split(args.optimize)]
    return [sys.executable, HERE / "peers.py", tool, source, target]


def optimise(tool, folder, args):
    """{"seconds", "error", "difference"}: error is empty when the model may be timed."""
    begin = time.perf_counter()
    try:
        run = subprocess.run(list(map(str, command(tool, folder, args))), capture_output=True,
                             text=True, timeout=PATIENCE,
                             env={**os.environ, "REGRAFT_PYTHON": sys.executable})
        told = [line for line in run.stderr.splitlines() if line.strip()]
        error = "" if run.returncode == 0 else f"exit {run.returncode}: {''.join(told[-1:])}"[:200]
    except subprocess.TimeoutExpired:
        error = f"no end after {PATIENCE} s"
    except OSError as failure:
        error = str(failure)
    done = {"seconds": time.perf_counter() - begin, "error": error, "difference": None}
    if not error:
        done.update(compared(folder / "original.onnx", folder / f"{tool}.onnx"))
    return done


def compared(original, optimised):
    try:
        difference = float(run_models.runtime_error(original, optimised))
    except Exception as failure:  # onnxruntime raises many kinds
        return {"error": f"{type(failure).__name__}: {str(failure).splitlines()[0]}"[:200]}
    wrong = not difference <= TOLERANCE
    return {"difference": difference, "error": f"differs by {difference:.1e}" if wrong else ""}


def run_case(name, args):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_models(name, folder)
        done = {tool: optimise(tool, folder, args) for tool in TOOLS}
        timed = ["original", *(t for t in TOOLS if not done[t]["error"])]
        if (folder / "by-hand.onnx").exists():
            timed.append("by-hand")
        files = [str(folder / f"{t}.onnx") for t in timed]
        passes = [timing.time_models(files, 1, args.seconds / PASSES) for _ in range(PASSES)]
    for k, tool in enumerate(timed):
        done.setdefault(tool, {}).update(joined([results[k] for results in passes]))
    return done


def joined(results):
    """Of several passes, each with sessions of its own: where a session's memory lies alone is
    worth a few percent."""
    failed = [r for r in results if "error" in r]
    if failed:
        return failed[0]
    medians = {key: statistics.median(r[key] for r in results) for key in ("microseconds", "ratio")}
    apart = max(abs(r["ratio"] - medians["ratio"]) for r in results) / medians["ratio"]
    return {**medians, "noise": max(r["noise"] for r in results), "ratio_noise": apart,
            "runs": sum(r["runs"] for r in results)}


def version(args):
    told = subprocess.run([args.regraft, "--version"], capture_output=True, text=True).stdout
    return {"regraft": told.split()[-1], **{p: peers.version(p) for p in peers.PEERS}}


def speed(case, tool):
    """How many times as fast as the original; None when it could not be timed."""
    return 1 / case[tool]["ratio"] if "ratio" in case.get(tool, {}) else None


def share(case):
    """Of the time that the form made by hand saves, what regraft saves."""
    regraft, by_hand = (case.get(t, {}).get("ratio") for t in ("regraft", "by-hand"))
    if regraft is None or by_hand is None or by_hand >= 1:
        return None
    return (1 - regraft) / (1 - by_hand)


def number(value, form="{:.2f}x"):
    return form.format(value).replace("x", "×") if value is not None else "–"


def cell(case, tool):
    found = speed(case, tool)
    if found is None:
        return "failed" if case[tool].get("error") else "–"
    return f"**{number(found)}**" if found < LEAST else number(found)


def noise(case):
    return max(side["ratio_noise"] / side["ratio"] for side in case.values() if "ratio" in side)


def line(name, case, columns):
    cells = [name, f"{case['original']['microseconds'] / 1000:.3f}",
             *(cell(case, t) for t in TOOLS), *columns, f"{100 * noise(case):.1f} %",
             *(f"{case[t]['seconds']:.1f}" for t in TOOLS)]
    return "| " + " | ".join(cells) + " |"


def head(columns):
    names = ["", "original, ms", *TOOLS, *columns, "noise", *(f"{t}, s" for t in TOOLS)]
    return ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]


def section(title, names, kept, columns, extra):
    rows = [line(n, kept[n], extra(n, kept[n])) for n in names if n in kept]
    return [f"## {title}", "", *head(columns), *rows, ""] if rows else []


def summary(names, kept):
    lines = ["## In short", "", "| | cases | geometric mean | least | failed |",
             "|---|---:|---:|---:|---:|"]
    for tool in TOOLS:
        found = [s for n in names if (s := speed(kept[n], tool)) is not None]
        if found:
            lines.append(f"| {tool} | {len(found)} | {number(statistics.geometric_mean(found))} | "
                         f"{number(min(found))} | {len(names) - len(found)} |")
    return [*lines, ""]


def failures(names, kept):
    lines = [f"* {n}, {t}: {kept[n][t]['error']}" for n in names for t in TOOLS
             if kept[n][t].get("error")]
    return ["## Failures", "", *lines, ""] if lines else []


def table(data):
    families, controls = build_families.SIZES["bench"]
    kept = data["cases"]
    names = [n for n in [*families, *controls, *MODELS] if n in kept]
    told = ", ".join(f"{n} {v}" for n, v in data["versions"].items() if v)
    machine = data["machine"]
    by_hand = lambda n, c: [cell(c, "by-hand"), number(
        100 * share(c) if share(c) is not None else None, "{:.0f} %")]
    wanted = lambda n, c: [number(MODELS[n])]
    return "\n".join([
        "# Beside other optimisers", "",
        f"`python bench/run_peers.py`: {told}, onnxruntime {machine['version']} on "
        f"{machine['device']}, one thread, all of its own optimisations on. Speed-ups over the",
        "original, which is what onnxruntime makes of a model by itself: medians over pairs of",
        "runs beside each other. noise: the widest 95 % interval of the row, half of it. Below "
        f"{LEAST:.2f}× is bold. s: seconds to optimise.",
        f"regraft was called with `{data['optimize']}`. All results agree with the original within "
        f"{TOLERANCE:.0e} of an", "output's largest magnitude, or count as failed.", "",
        *summary(names, kept),
        *section("Families", families, kept, ["by hand", "share of it"], by_hand),
        *section("Where nothing is to be won", controls, kept, [], lambda n, c: []),
        *section("Models", MODELS, kept, ["by hand, reported"], wanted),
        *failures(names, kept)])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names")
    parser.add_argument("--again", action="store_true", help="also what is in peers.json already")
    parser.add_argument("--table", action="store_true", help="write the table and time nothing")
    parser.add_argument("--seconds", type=float, default=20, help="of timing for each case")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--optimize", default="--measure onnxruntime",
                        help="arguments of regraft optimize; %(default)s unless said")
    parser.add_argument("--kept", type=pathlib.Path, default=HERE / "peers.json")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "peers.md")
    args = parser.parse_args()
    data = json.loads(args.kept.read_text()) if args.kept.exists() else {"cases": {}}
    if not args.table:
        data.update(machine=runtime.device(), versions=version(args), optimize=args.optimize)
    for name in [] if args.table else cases(args.only):
        if name in data["cases"] and not args.again:
            continue
        data["cases"][name] = run_case(name, args)
        args.kept.write_text(json.dumps(data, indent=1) + "\n")
        args.out.write_text(table(data))
        print(name, *(f"{t} {cell(data['cases'][name], t)}" for t in [*TOOLS, "by-hand"]
                      if t in data["cases"][name]), flush=True)
    args.out.write_text(table(data))


if __name__ == "__main__":
    main()
