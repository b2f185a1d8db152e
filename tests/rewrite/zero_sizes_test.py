"""The shipped rules where a size of the model is 0 when it runs.

Usage: zero_sizes_test.py REWRITE_ZERO_SIZES [SIGNATURES [RULES..]]. Each rule is applied to models in which one size
is open; with that size 0 and 3, onnxruntime must run what was made wherever it runs what was there,
with outputs of the same shapes, and at 0 of the same values. Where onnxruntime does not compute what
ONNX says (a product over nothing is what lay in memory, Gemm adds no bias to it), ONNX's reference
evaluator is asked instead. Skipped (77) without the Python packages.
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
import onnx.reference  # noqa: E402
import onnxruntime  # noqa: E402

onnxruntime.set_default_logger_severity(4)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception:
        return None


def without_end(session, path):
    """onnxruntime does not return from a convolution over no channels: is one of these here when N is 0?"""
    if not any(node.op_type == "Conv" for node in onnx.load(path).graph.node):
        return False
    open_axes = [(k, axis) for k, i in enumerate(session.get_inputs())
                 for axis, size in enumerate(i.shape) if isinstance(size, str)]
    return any(k > 0 or axis == 1 for k, axis in open_axes)


def feeds_for(session, size):
    rng = np.random.default_rng(1)
    return {i.name: rng.uniform(0.5, 1.5, [size if isinstance(d, str) else d for d in i.shape])
            .astype(np.float32) for i in session.get_inputs()}


def run(session, size):
    """Outputs with N = size; None where onnxruntime stops."""
    try:
        return session.run(None, feeds_for(session, size))
    except Exception:
        return None


def by_the_standard(path, session, size):
    return onnx.reference.ReferenceEvaluator(onnx.load(path)).run(None, feeds_for(session, size))


def same(xs, ys):
    return all(np.allclose(x, y, rtol=1e-3, atol=1e-4, equal_nan=True) for x, y in zip(xs, ys))


def compare(before, after, paths, size):
    """(what happened, problem or None)"""
    expected = run(before, size)
    if expected is None:
        return "does not run before", None
    actual = run(after, size)
    if actual is None:
        return "stops", f"runs at N={size} before and not after"
    for x, y in zip(expected, actual):
        if x.shape != y.shape:
            return "shape", f"shape {x.shape} at N={size} became {y.shape}"
    if same(expected, actual):
        return "empty" if all(x.size == 0 for x in expected) else "values agree", None
    if size == 0:
        meant = [by_the_standard(path, s, size) for path, s in zip(paths, (before, after))]
        departs = not same(meant[0], expected) or not same(meant[1], actual)
        if departs and same(*meant):
            return "values agree by the standard, not in onnxruntime", None
    return "values", f"other values at N={size}: {expected[0].ravel()[:4]} became {actual[0].ravel()[:4]}"


def main():
    tool, signatures, *files = sys.argv[1:] + ([] if len(sys.argv) > 2 else ["1"])
    files = files or sorted(map(str, (venv.ROOT / "substitutions").glob("*.rules")))
    tally, problems, left = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tool, folder, signatures, *files], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr)
            return 1
        for line in done.stdout.splitlines():
            word, rule, size, *paths = line.split("\t")
            if word == "left":
                left.append(f"{rule} at {size}")
                continue
            before, after = map(session_of, paths)
            if before is None or after is None:
                problems.append(f"{rule} at {size}: does not load {before is None} {after is None}")
                continue
            if any(map(without_end, (before, after), paths)):
                tally[0, "does not return"] += 1
                continue
            for n in (0, 3):
                what, problem = compare(before, after, paths, n)
                tally[n, what] += 1
                if problem:
                    problems.append(f"{rule} at {size}: {problem}")
    for (n, what), count in sorted(tally.items()):
        print(f"N={n}: {count} {what}")
    print(f"not applied where a size is open: {len(left)} places of "
          f"{len({place.split()[0] for place in left})} directed rules")
    for place in left[:2000]:
        print("  " + place)
    print(f"{len(problems)} problems")
    for problem in problems[:40]:
        print(problem)
    return 1 if problems or tally[0, "empty"] < 500 or tally[0, "values agree"] < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
