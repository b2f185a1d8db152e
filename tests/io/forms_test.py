"""What operators say that ONNX and onnxruntime accept, against both.

Usage: forms_test.py IO_FORMS. One model for each operator, element type, opset and sample, as it would
be written: ONNX's checker must accept each; onnxruntime must load and run each that is said to run,
and must not load one whose element type is said not to. Skipped (77) without the Python packages.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

onnxruntime.set_default_logger_severity(4)


def checker_says(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as failure:
        return str(failure).strip().splitlines()[0]
    return None


def runtime_says(model):
    """None when it loads and runs, else where it stopped and why."""
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
    except Exception as failure:
        return "load", str(failure).splitlines()[0][:200]
    types = {onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type).name
             for i in [*model.graph.input, *model.graph.output]}
    if "bfloat16" in types:  # numpy has none
        return None
    try:
        session.run(None, {i.name: feed(i.type.tensor_type) for i in model.graph.input})
    except Exception as failure:
        return "run", str(failure).splitlines()[0][:200]
    return None


def feed(tensor):
    return np.ones([d.dim_value for d in tensor.shape.dim],
                   onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def is_inlined(model, opset):
    """Loaded although it is said not to be: at some opsets onnxruntime inlines function bodies on
    types that it has no kernel for."""
    return any(onnx.defs.get_schema(n.op_type, int(opset)).has_function for n in model.graph.node)


def problem_of(opset, verdict, path):
    model = onnx.load(path)
    if wrong := checker_says(model):
        return f"the checker refuses it: {wrong}"
    stopped = runtime_says(model)
    if verdict == "runs" and stopped:
        return f"onnxruntime does not {stopped[0]} it: {stopped[1]}"
    if verdict == "specified" and stopped is None and not is_inlined(model, opset):
        return "onnxruntime runs it"
    return None


def main():
    tally, problems = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], folder], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            operator, kind, opset, verdict, rest = line.split("\t")
            tally[verdict, kind] += 1
            if verdict == "refused":
                tally["because " + " ".join(rest.split()[2:])] += 1
            elif problem := problem_of(opset, verdict, rest):
                problems.append(f"{operator} on {kind} at opset {opset}: {problem}")
    for key, count in sorted(tally.items(), key=str):
        print(count, key if isinstance(key, str) else " ".join(key))
    print(f"{sum(n for k, n in tally.items() if isinstance(k, tuple))} models, {len(problems)} problems")
    for problem in problems[:40]:
        print(problem)
    few = any(tally["runs", kind] < 100 for kind in ("float32", "float64", "float16"))
    return 1 if problems or few else 0


if __name__ == "__main__":
    sys.exit(main())
