"""Runs models of a pair in onnxruntime with its optimisations off, on random multiples of 1/8."""
import numpy as np
import onnx

TOLERANCE = 1e-4  # relative to the largest element; the pairs are small
SEEDS = range(20)


def sizes_of(value, sizes):
    shape = value.type.tensor_type.shape
    return [d.dim_value if d.HasField("dim_value") else sizes.get(d.dim_param, 2)
            for d in shape.dim]


def fixed(model, pair):
    """A copy whose open sizes are the pair's."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    del copy.graph.value_info[:]
    for value in copy.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, sizes_of(value, pair.sizes)):
            dim.dim_value = size
    for value in copy.graph.output:
        value.type.tensor_type.ClearField("shape")
    return onnx.shape_inference.infer_shapes(copy)


def inputs(model, pair, seed):
    """Feeds for the graph inputs that are no initializers. Integer inputs that are shapes have one
    axis, and sizes that multiply to what they reshape; only pairs of a fixed size have them."""
    held = {t.name for t in model.graph.initializer}
    rng = np.random.default_rng(seed)
    found = {}
    for value in model.graph.input:
        if value.name in held:
            continue
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = sizes_of(value, pair.sizes)
        drawn = np.asarray(rng.integers(int(8 * pair.low), int(8 * pair.high) + 1, shape))
        if kind == np.int64:
            found[value.name] = np.full(shape, 2, kind)
        elif np.issubdtype(kind, np.integer):
            found[value.name] = np.asarray(drawn // 8, kind)
        else:
            found[value.name] = np.asarray(drawn / 8, kind)
    return found


def session(model):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def gap(first, second):
    """The largest difference relative to the largest element; infinite where shapes differ."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return np.inf
    a, b = first.astype(np.float64), second.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    return float(np.max(np.abs(np.nan_to_num(a) - np.nan_to_num(b)), initial=0)
                 / max(1, np.max(np.abs(np.nan_to_num(a)), initial=0)))


def compare(pair, after):
    """'invalid: why', or the largest gap over all seeds."""
    before = session(pair.before)
    try:
        changed = session(after)
    except Exception as error:  # whatever the runtime throws
        return f"invalid: {first_line(error)}"
    names = {value.name for value in changed.get_inputs()}
    largest = 0.0
    for seed in SEEDS:
        feeds = inputs(pair.before, pair, seed)
        expected = before.run(None, feeds)
        try:
            found = changed.run(None, {k: v for k, v in feeds.items() if k in names})
        except Exception as error:
            return f"invalid: {first_line(error)}"
        if len(expected) != len(found):
            return "invalid: an output is missing"
        largest = max(largest, *(gap(a, b) for a, b in zip(expected, found)))
    return largest


def first_line(error):
    return str(error).strip().splitlines()[0][:200]


def judged(pair, after):
    """agree, differ, or invalid."""
    found = compare(pair, after)
    if isinstance(found, str):
        return "invalid"
    return "agree" if found <= TOLERANCE else "differ"
