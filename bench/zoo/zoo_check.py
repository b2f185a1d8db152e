"""What a model of the zoo is, and whether others made of it compute the same; runs apart, because
models may be large and runtimes may crash.

  python bench/zoo/zoo_check.py ENTRY ORIGINAL [OTHER ...]

ENTRY is the model's record in zoo.json, as JSON. Prints a JSON list: nodes (those of sub-graphs,
too), bytes, sizes of the inputs left open, and for OTHER the largest difference at each setting of
the open sizes, as a share of the output's largest magnitude; or an error. onnxruntime runs without
optimisations of its own.
"""
import json
import os
import pathlib
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402


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


def feed(model, entry, setting):
    """Random inputs at one setting of the open sizes."""
    draw = np.random.default_rng(1 + setting)
    found = {}
    for v in inputs_of(model):
        tensor = v.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else entry["dynamic"][d.dim_param][setting]
                for d in tensor.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if kind.kind in "iub":
            least, greatest = entry["ranges"].get(v.name, [0, 1])
            found[v.name] = draw.integers(least, greatest + 1, dims).astype(kind)
        else:
            found[v.name] = draw.normal(size=dims).astype(kind)
    return found


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


def check(entry, original, others):
    settings = range(2 if entry["dynamic"] else 1)
    known = {}

    def expect():
        model = onnx.load(original, load_external_data=False)
        feeds = [feed(model, entry, k) for k in settings]
        known["pairs"] = list(zip(feeds, outputs(original, feeds)))
        return {}

    def compare(path):
        found = outputs(path, [values for values, _ in known.get("pairs", [])])
        return {"differences": [max(difference(a, b) for a, b in zip(expected, given))
                                for (_, expected), given in zip(known["pairs"], found)]}
    answers = [attempt(facts(original), expect)]
    for path in others:
        answer = attempt({}, lambda path=path: facts(path))
        if "pairs" in known and "error" not in answer:
            attempt(answer, lambda path=path: compare(path))
        answers.append(answer)
    return answers


if __name__ == "__main__":
    print(json.dumps(check(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:])))
