"""What bounds a model in onnxruntime: the time in kernels that fusing leaves as they are.

  python bench/zoo/zoo_bound.py ENTRY MODEL ORIGINAL

ENTRY is the model's record in zoo.json, as JSON. One thread, the open sizes at the first of their two.
Prints as JSON: "heavy", the share of a run's time that the kernels of PRODUCTS take by
onnxruntime's own profiler; "bound", the speed-up if all else took none, null without such kernels;
"rest", the largest of the other kernels with their shares. Runs with the profiler and without take
turns; the time of a run is that without. What the profiler itself costs is taken off, of every
kernel alike, where the kernels would take longer than the run.
"""
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import onnx  # noqa: E402

import zoo_check  # noqa: E402
from regraft import runtime, statistic, trace  # noqa: E402

PRODUCTS = ["Conv", "ConvTranspose", "DeformConv", "MatMul", "Gemm", "Einsum", "Attention", "LSTM",
            "GRU", "RNN"]  # also as parts of names: FusedConv, MatMulNBits, MultiHeadAttention
NESTED = {"If", "Loop", "Scan"}  # their time is that of the nodes inside, which are there too
SECONDS = 1.0
LEAST_RUNS, MOST_RUNS = 9, 200


def heavy(operator):
    return any(part in operator for part in PRODUCTS)


def bound(nodes, total):
    """Of pairs (operator, time) and the time of a run."""
    over = max(0.0, sum(t for _, t in nodes) - total) / max(1, len(nodes))
    times = {}
    for operator, t in nodes:
        times[operator] = times.get(operator, 0.0) + max(0.0, t - over)
    products = min(total, sum(t for operator, t in times.items() if heavy(operator)))
    rest = sorted(((t, operator) for operator, t in times.items() if not heavy(operator)),
                  reverse=True)
    return {"heavy": products / total if total else 0.0,
            "bound": total / products if products else None,
            "rest": {operator: t / total for t, operator in rest[:3] if t}}


def profiled(entry, path, original):
    """Pairs (operator, microseconds) of the nodes, and the microseconds of a run."""
    values = zoo_check.feed(onnx.load(original, load_external_data=False), entry, 0)
    with tempfile.TemporaryDirectory() as folder:
        opened = runtime.session(path, 1, trace=str(pathlib.Path(folder, "trace")))
        plain, totals, begin = runtime.session(path), [], time.perf_counter()
        for runs in range(MOST_RUNS):
            if runs >= LEAST_RUNS and time.perf_counter() - begin > SECONDS:
                break
            opened.run(None, values)
            start = time.perf_counter()
            plain.run(None, values)
            totals.append(1e6 * (time.perf_counter() - start))
        nodes = trace.durations(opened)
    times = [(node.operator, statistic.summary_of_whole(node.microseconds)["microseconds"])
             for node in nodes if node.operator not in NESTED]
    return times, statistics.median(totals)


if __name__ == "__main__":
    print(json.dumps(bound(*profiled(json.loads(sys.argv[1]), *sys.argv[2:]))))
