"""Reads and writes every stored ONNX model, and compares outputs in onnxruntime.

Usage: roundtrip_test.py IO_ROUNDTRIP MODE. Mode "same" leaves the graph alone, "canonical" merges
equal nodes, "folded" computes what depends on constants only (equal up to rounding). Models: Debian's libonnx-testdata and the light models in the
Python package onnx. Every model must come back valid and give the same outputs, bit for bit, where
onnxruntime runs the original. Skipped (77) without Python packages or models.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

try:
    import onnxruntime as ort
except ImportError:
    venv.skip("no onnxruntime")

DEBIAN = pathlib.Path("/usr/share/libonnx-testdata/data")
LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
BATCH = 200
TOLERANCE = 1e-4  # of folded models, relative to the largest output


def models():
    return sorted(DEBIAN.glob("*/*/model.onnx")) + sorted(LIGHT.glob("*.onnx"))


def roundtrip(tool, mode, pairs):
    """Runs the tool; returns {model: (calls, foreign)} or the message of a failure."""
    results = {}
    for first in range(0, len(pairs), BATCH):
        batch = pairs[first:first + BATCH]
        arguments = [str(path) for pair in batch for path in pair]
        done = subprocess.run([tool, mode, *arguments], capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        for (source, _), line in zip(batch, lines):
            word, *rest = line.split(" ")
            results[source] = (int(rest[0]), int(rest[1])) if word == "ok" else line
    return results


def stored_inputs(folder):
    """Inputs 0, 1, ... of the first stored data set; raises when one is of another kind."""
    inputs = []
    while (path := folder / "test_data_set_0" / f"input_{len(inputs)}.pb").exists():
        data = path.read_bytes()
        try:
            tensor = onnx.TensorProto.FromString(data)
            inputs.append(numpy_helper.to_array(tensor))
        except Exception:
            inputs.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
    return inputs


def feeds(session, source):
    given = session.get_inputs()
    if source.parent == LIGHT:
        rng = np.random.default_rng(1)
        return {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in given}
    return {i.name: x for i, x in zip(given, stored_inputs(source.parent))}


def session_of(path):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path, inputs):
    return session_of(path).run(None, inputs)


def same(a, b, mode="same"):
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if mode == "folded" and a.dtype.kind == "f":
            scale = np.max(np.abs(a), initial=1e-30, where=np.isfinite(a))
            return np.allclose(a, b, rtol=0, atol=TOLERANCE * float(scale), equal_nan=True)
        return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, mode) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], mode) for k in a)
    return a == b


def is_valid(path):
    try:
        onnx.checker.check_model(str(path))
        return True
    except Exception:
        return False


def compare(source, target, mode, counts, failures):
    if is_valid(source):
        counts["valid"] += 1
        if not is_valid(target):
            failures.append(f"{source}: no longer passes onnx.checker")
    counts["identical files"] += source.read_bytes() == target.read_bytes()
    try:
        inputs = feeds(session_of(source), source)
        before = run(source, inputs)
        if not same(before, run(source, inputs)):
            counts["random outputs"] += 1
            return
    except Exception:
        counts["not run by onnxruntime"] += 1
        return
    try:
        after = run(target, inputs)
    except Exception as problem:
        failures.append(f"{source}: onnxruntime refuses the result: {problem}")
        return
    counts["compared"] += 1
    if not same(before, after, mode):
        failures.append(f"{source}: other outputs")


def main():
    mode = sys.argv[2]
    sources = models()
    if not sources:
        venv.skip("no stored models")
    counts = dict.fromkeys(
        ["valid", "identical files", "compared", "random outputs", "not run by onnxruntime"], 0)
    failures = []
    calls = foreign = 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(s, pathlib.Path(folder) / f"{k}.onnx") for k, s in enumerate(sources)]
        results = roundtrip(sys.argv[1], mode, pairs)
        for source, target in pairs:
            result = results.get(source, "no answer: the tool ended early")
            if isinstance(result, str):
                failures.append(f"{source}: {result}")
                continue
            calls += result[0]
            foreign += result[1]
            compare(source, target, mode, counts, failures)
    print(f"{len(sources)} models, {mode}; " + ", ".join(f"{v} {k}" for k, v in counts.items()))
    print(f"nodes understood: {calls} of {calls + foreign}")
    for failure in failures[:50]:
        print(failure)
    print(f"failures: {len(failures)}")
    sys.exit(1 if failures or counts["compared"] == 0 else 0)


main()
