"""What a model of the zoo is, and whether others made of it compute the same; runs apart, because
models may be large and runtimes may crash.

  python bench/zoo/zoo_check.py [--hostile] ENTRY ORIGINAL [OTHER ...]

ENTRY is the model's record in zoo.json, as JSON. Prints a JSON list: nodes (those of sub-graphs,
too), bytes, sizes of the inputs left open, and for OTHER the largest difference at each setting of
the open sizes, as a share of the output's largest magnitude; or an error. onnxruntime runs without
optimisations of its own.

With --hostile also "hostile": for each of MAGNITUDES that the inputs are multiplied by, the largest
difference where the original's output is finite, and what is allowed: TOLERANCE, or SLACK times
what the original's output changes when its inputs do by NUDGE of themselves.
"""
import json
import os
import pathlib
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

from zoo_tools import MAGNITUDES, NUDGE, SLACK, TOLERANCE  # noqa: E402


def node_count(graph):
    """Nodes of a graph and of the graphs inside it."""
    total = len(graph.node)
    for node in graph.node:
        for a in node.attribute:
            total += sum(node_count(g) for g in [*a.graphs, *([a.g] if a.HasField("g") else [])])
    return total


def disk_bytes(path, model):
    folder, names = pathlib.Path(path).parent, set()
    for tensor in model.graph.initializer:
        names.update(e.value for e in tensor.external_data if e.key == "location")
    return os.path.getsize(path) + sum((folder / name).stat().st_size for name in names)


def inputs_of(model):
    fixed = {t.name for t in model.graph.initializer}
    return [v for v in model.graph.input if v.name not in fixed]


def open_sizes(model):
    """"input:axis" of each size of an input that is no number."""
    return [f"{v.name}:{axis}" for v in inputs_of(model)
            for axis, d in enumerate(v.type.tensor_type.shape.dim) if not d.HasField("dim_value")]


def facts(path):
    model = onnx.load(path, load_external_data=False)
    return {"nodes": node_count(model.graph), "bytes": disk_bytes(path, model),
            "open": open_sizes(model)}


def feed(model, entry, setting, batch=None):
    """Random inputs at one setting of the open sizes, the batch another if it is given."""
    draw = np.random.default_rng(1 + setting)
    sizes = {name: known[setting] for name, known in entry["dynamic"].items()}
    if batch is not None:
        sizes["batch"] = batch
    found = {}
    for v in inputs_of(model):
        tensor = v.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else sizes[d.dim_param]
                for d in tensor.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if kind.kind in "iub":
            least, greatest = entry["ranges"].get(v.name, [0, 1])
            found[v.name] = draw.integers(least, greatest + 1, dims).astype(kind)
        else:
            found[v.name] = draw.normal(size=dims).astype(kind)
    return found


def scaled(values, factor):
    """The fractions among the inputs times a number, or times one for each element."""
    def times(array):
        return array * np.broadcast_to(factor(array.shape), array.shape).astype(array.dtype)
    return {name: times(array) if array.dtype.kind == "f" else array
            for name, array in values.items()}


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def difference(expected, given):
    """Of one output; infinite where they cannot be compared."""
    if expected.shape != given.shape or expected.dtype != given.dtype:
        return float("inf")
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(expected, given) else float("inf")
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], given[~finite], equal_nan=True):
        return float("inf")
    a, b = expected[finite].astype(np.float64), given[finite].astype(np.float64)
    if not a.size or not np.isfinite(b).all():
        return 0.0 if not a.size else float("inf")
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-6))


def finite_difference(expected, given):
    """Where the expected one is finite; infinite where only the given one is not."""
    if expected.shape != given.shape or expected.dtype.kind != "f":
        return difference(expected, given)
    finite = np.isfinite(expected)
    return difference(np.where(finite, expected, 0).astype(expected.dtype),
                      np.where(finite, given, 0).astype(given.dtype))


def largest(measure, expected, given):
    return max((measure(a, b) for a, b in zip(expected, given)), default=0.0)


def outputs(path, feeds):
    running = session(path)
    return [running.run(None, values) for values in feeds]


def first_line(problem):
    return f"{type(problem).__name__}: {(str(problem).splitlines() or [''])[0]}"[:200]


def attempt(answer, work):
    """Adds to the answer what the work gives, or its error."""
    try:
        answer.update(work())
    except Exception as problem:  # onnx and onnxruntime raise many kinds
        answer["error"] = first_line(problem)
    return answer


def hostile_feeds(values):
    """{magnitude: (inputs, the same nudged)}."""
    if all(array.dtype.kind != "f" for array in values.values()):
        return {}
    draw, found = np.random.default_rng(0), {}
    for magnitude in MAGNITUDES:
        inputs = scaled(values, lambda _, by=magnitude: np.float64(by))
        nudged = scaled(inputs, lambda shape: 1 + NUDGE * draw.normal(size=shape))
        found[f"{magnitude:g}"] = (inputs, nudged)
    return found


class Expected:
    """What the original gives, and what others may differ from it."""

    def __init__(self, entry, original, with_hostile):
        model = onnx.load(original, load_external_data=False)
        usual = [feed(model, entry, k) for k in range(2 if entry["dynamic"] else 1)]
        pairs = hostile_feeds(usual[0]) if with_hostile else {}
        found = outputs(original, [*usual, *(values for pair in pairs.values() for values in pair)])
        self.with_hostile, self.names = with_hostile, list(pairs)
        self.feeds = [*usual, *(inputs for inputs, _ in pairs.values())]
        self.usual, rest = found[:len(usual)], found[len(usual):]
        self.hostile = rest[::2]
        self.allowed = [max(TOLERANCE, SLACK * largest(finite_difference, a, b))
                        for a, b in zip(rest[::2], rest[1::2])]

    def compare(self, path):
        found = outputs(path, self.feeds)
        answer = {"differences": [largest(difference, a, b) for a, b in zip(self.usual, found)]}
        if self.with_hostile:
            answer["hostile"] = {
                name: [largest(finite_difference, a, b), allowed] for name, a, b, allowed
                in zip(self.names, self.hostile, found[len(self.usual):], self.allowed)}
        return answer


def check(entry, original, others, with_hostile=False):
    known = []

    def expect():
        known.append(Expected(entry, original, with_hostile))
        return {}
    answers = [attempt(facts(original), expect)]
    for path in others:
        answer = attempt({}, lambda path=path: facts(path))
        if known and "error" not in answer:
            attempt(answer, lambda path=path: known[0].compare(path))
        answers.append(answer)
    return answers


if __name__ == "__main__":
    rest = [a for a in sys.argv[1:] if a != "--hostile"]
    print(json.dumps(check(json.loads(rest[0]), rest[1], rest[2:], len(rest) < len(sys.argv) - 1)))
