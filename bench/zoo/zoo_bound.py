"""What bounds a model in onnxruntime: the time in kernels that fusing leaves as they are.

  python bench/zoo/zoo_bound.py ENTRY MODEL ORIGINAL

ENTRY is the model's record in zoo.json, as JSON. By onnxruntime's own profiler, one thread, the
open sizes at their first setting. Prints as JSON: "heavy", the share of all kernels' time that
those of HEAVY take; "bound", the speed-up if the others took none, null without heavy ones; "rest",
the largest of the others with their shares. What onnxruntime does between kernels is not counted.
"""
import json
import os
import pathlib
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


def bound(times):
    """Of {operator: time}."""
    total = sum(times.values())
    products = sum(t for operator, t in times.items() if heavy(operator))
    rest = sorted(((t, operator) for operator, t in times.items() if not heavy(operator)),
                  reverse=True)
    return {"heavy": products / total if total else 0.0,
            "bound": total / products if products else None,
            "rest": {operator: t / total for t, operator in rest[:3] if t}}


def profiled(entry, path, original):
    """{operator: microseconds of a run}."""
    values = zoo_check.feed(onnx.load(original, load_external_data=False), entry, 0)
    with tempfile.TemporaryDirectory() as folder:
        opened = runtime.session(path, 1, trace=str(pathlib.Path(folder, "trace")))
        begin = time.perf_counter()
        for runs in range(MOST_RUNS):
            if runs >= LEAST_RUNS and time.perf_counter() - begin > SECONDS:
                break
            opened.run(None, values)
        nodes = trace.durations(opened)
    times = {}
    for node in nodes:
        if node.operator not in NESTED:
            own = statistic.summary_of_whole(node.microseconds)["microseconds"]
            times[node.operator] = times.get(node.operator, 0.0) + own
    return times


if __name__ == "__main__":
    print(json.dumps(bound(profiled(json.loads(sys.argv[1]), *sys.argv[2:]))))
