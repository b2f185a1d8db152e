"""Running models in onnxruntime and comparing what comes out."""
import numpy as np
import onnx
import onnxruntime as ort

ort.set_default_logger_severity(4)


def session(model, optimised=False):
    """Of a model, its bytes, or a path; without the runtime's own optimisations unless asked for."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    return ort.InferenceSession(source if isinstance(source, bytes) else str(source), options,
                                providers=["CPUExecutionProvider"])


RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def is_random(model):
    """Does it draw numbers with no seed of its own? Then two runs may be alike by chance only."""
    def in_nodes(nodes):
        return any(n.op_type in RANDOM and not any(a.name == "seed" for a in n.attribute) or
                   any(in_nodes(g.node) for a in n.attribute for g in [a.g, *a.graphs]) for n in nodes)
    return in_nodes(model.graph.node) or any(in_nodes(f.node) for f in model.functions)


def identical(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(identical(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(identical(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def is_real(array):
    return array.dtype.kind == "f" or array.dtype.name in ("bfloat16",)


def difference(actual, expected, rtol, atol):
    """None when equal within the tolerance, else what is wrong, in words."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return "another sequence"
        found = (difference(x, y, rtol, atol) for x, y in zip(actual, expected))
        return next((d for d in found if d), None)
    if not isinstance(expected, np.ndarray):
        return None if identical(actual, expected) else "another value"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, expected {list(expected.shape)}"
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    if not is_real(expected):
        return None if identical(actual, expected) else "other values"
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    bad = np.isfinite(expected) & ~np.isfinite(actual)
    if bad.any():
        return f"{actual[bad][0]} where {expected[bad][0]:.6g} is expected"
    finite = np.isfinite(expected) & np.isfinite(actual)
    excess = np.abs(actual[finite] - expected[finite]) - rtol * np.abs(expected[finite]) - atol
    if excess.size and excess.max() > 0:
        k = int(excess.argmax())
        return f"{actual[finite][k]:.9g} where {expected[finite][k]:.9g} is expected"
    return None
