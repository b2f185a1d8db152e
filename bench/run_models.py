#!/usr/bin/env python3
"""Optimises real models and writes the table bench/models.md.

  python bench/run_models.py [--models DIR] [--exported DIR] [--time S] [--only NAME ...] [--tiny]

Models: those of bench/models/build_models.py (made here when DIR lacks them), what
bench/models/export_torch.py wrote into --exported, and the light models of the onnx package. Each is
optimised with `regraft optimize --check 1`, checked by onnx.checker, and compared with the original
in onnxruntime. The exit status is 1 when any of that fails.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before onnxruntime is loaded

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOLERANCE = 1e-4  # of the runtime's outputs, over the largest magnitude of each


@dataclasses.dataclass
class Row:
    name: str
    report: dict = dataclasses.field(default_factory=dict)
    runtime_error: float = float("nan")
    latency: tuple = (float("nan"), float("nan"))  # milliseconds before and after
    problem: str = ""


def build(folder, tiny):
    """Makes the built models that are not there yet: the full-size ones, or the tiny ones."""
    sys.path.insert(0, str(ROOT / "bench/models"))
    import build_models
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in build_models.MODELS.items():
        path = folder / f"{name}.onnx"
        wanted = name.startswith("tiny_") == tiny and not name.startswith("decoder_")
        if wanted and not path.exists():
            onnx.save(make(0), path)


def light_models():
    return sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))


def collect(args):
    build(args.models, args.tiny)
    found = [(f"{p.stem} (built)", p) for p in sorted(args.models.glob("*.onnx"))
             if p.stem.startswith("tiny_") == args.tiny]
    if not args.tiny and args.exported.exists():
        found += [(p.stem.replace(".", " (torch ") + ")", p)
                  for p in sorted(args.exported.glob("*.onnx"))]
    found += [(f"{p.stem} (onnx package)", p) for p in light_models()]
    return [(n, p) for n, p in found if not args.only or any(o in n for o in args.only)]


def session(path, level="ORT_DISABLE_ALL"):
    """By default a runtime that computes what the file says, without rewrites of its own."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def random_feeds(runtime):
    rng = np.random.default_rng(11)
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
    feeds = {}
    for value in runtime.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in value.shape]
        feeds[value.name] = rng.standard_normal(shape).astype(types[value.type]) \
            if value.type in types else rng.integers(0, 2, shape)
    return feeds


def runtime_error(before, after):
    """Largest difference of any output, over that output's largest magnitude."""
    first = session(before)
    feeds = random_feeds(first)
    expected = first.run(None, feeds)
    del first
    worst = 0.0
    for a, b in zip(expected, session(after).run(None, feeds)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if a.size:
            a, b = a.astype(np.float64), b.astype(np.float64)
            worst = max(worst, np.abs(a - b).max() / max(np.abs(a).max(), 1e-30))
    return worst


def latency(before, after):
    """Median milliseconds of one inference with all of onnxruntime's optimisations, one thread, the
    two models in turn."""
    runtimes = [session(path, "ORT_ENABLE_ALL") for path in (before, after)]
    feeds = random_feeds(runtimes[0])
    times = ([], [])
    start = time.perf_counter()
    while len(times[0]) < 5 or (len(times[0]) < 51 and time.perf_counter() - start < 8):
        for runtime, taken in zip(runtimes, times):
            begin = time.perf_counter()
            runtime.run(None, feeds)
            taken.append(1000 * (time.perf_counter() - begin))
    return tuple(statistics.median(taken) for taken in times)


def run(name, path, args):
    row = Row(name)
    with tempfile.TemporaryDirectory() as folder:
        out, report = os.path.join(folder, "out.onnx"), os.path.join(folder, "report.json")
        done = subprocess.run([args.regraft, "optimize", str(path), "--cost", "roofline", "-o", out, "--json", report,
                               "--time", str(args.time), "--check", "1", "--quiet"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            row.problem = f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
            return row
        row.report = json.loads(pathlib.Path(report).read_text())
        try:
            onnx.checker.check_model(out, full_check=True)
            row.runtime_error = runtime_error(path, out)
            if not row.runtime_error <= TOLERANCE:
                row.problem = f"onnxruntime: relative error {row.runtime_error:.2e}"
            if not args.tiny:
                row.latency = latency(path, out)
        except Exception as failure:
            row.problem = f"{type(failure).__name__}: {str(failure).splitlines()[0][:160]}"
    return row


def cells(row):
    if not row.report:
        return [row.name] + [""] * 9 + [row.problem]
    before, after = row.report["before"], row.report["after"]
    change = lambda form: f"{form(before)} → {form(after)}"
    saved = 100 * (1 - after["cost"] / before["cost"]) if before["cost"] else 0
    return [row.name, change(lambda side: sum(side["operators"].values())),
            change(lambda side: f"{side['cost'] / 1000:.2f}"), f"{saved:.1f} %",
            change(lambda side: f"{side['parameters'] / 1e6:.2f}"),
            f"{row.latency[0]:.2f} → {row.latency[1]:.2f} ({row.latency[0] / row.latency[1]:.2f}×)",
            f"{row.report['check']['max_relative']:.1e}", f"{row.runtime_error:.1e}",
            f"{row.report['seconds']:.1f}", f"{row.report['peak_bytes'] / 2 ** 20:.0f}",
            row.problem or "ok"]


def table(rows, args):
    head = ["model", "operators", "cost, ms", "saved", "parameters, M", "onnxruntime, ms", "check", "error",
            "time, s", "peak, MiB", "result"]
    version = subprocess.run([args.regraft, "--version"], capture_output=True, text=True).stdout.strip()
    lines = [
        "# Real models", "",
        f"`python bench/run_models.py --time {args.time:g}` with {version}, onnxruntime "
        f"{onnxruntime.__version__}, {os.cpu_count()} cores ({platform.machine()}).", "",
        "Cost is predicted by the roofline model of one core. onnxruntime, ms: median of interleaved runs with all",
        "of its own optimisations, one thread, before → after (speed-up). check: largest relative",
        "difference in regraft's own evaluation of both models in double precision. error: the same in onnxruntime, in",
        "its float32, with its own rewrites off; at most 1e-4 is demanded. built: bench/models/build_models.py;",
        "torch: bench/models/export_torch.py, dynamo or TorchScript exporter; all with random weights.", "",
        "| " + " | ".join(head) + " |", "|---|" + "---:|" * 9 + "---|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    good = sum(not row.problem for row in rows)
    return "\n".join([*lines, "", f"{good} of {len(rows)} models are optimised, checked and agree.", ""])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--exported", type=pathlib.Path, default=ROOT / "build/exported")
    parser.add_argument("--tiny", action="store_true", help="tiny built models instead of all others")
    parser.add_argument("--time", type=float, default=20)
    parser.add_argument("--only", nargs="*", help="parts of names")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/models.md")
    args = parser.parse_args(arguments)
    rows = []
    for name, path in collect(args):
        rows.append(run(name, path, args))
        print(" | ".join(cells(rows[-1])), flush=True)
        args.out.write_text(table(rows, args))
    return 1 if any(row.problem for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
