"""A second look at a mutant that was proved: both models in double precision, where rounding is
nearly nothing and a wrong value stays wrong. ONNX's reference evaluator runs them; it knows nothing
of proofs."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.reference  # noqa: E402

FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
AGREE = 1e-9  # of an output's largest magnitude


def widen_tensor(tensor):
    if tensor.data_type == FLOAT:
        data = onnx.numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(onnx.numpy_helper.from_array(data, tensor.name))


def widen_node(node):
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR:
            widen_tensor(attribute.t)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            widen_graph(attribute.g)
        elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == FLOAT:
            attribute.i = DOUBLE
        elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            one = attribute.name == "value_float"
            data = np.float64(attribute.f if one else list(attribute.floats))
            attribute.CopyFrom(onnx.helper.make_attribute(
                "value", onnx.numpy_helper.from_array(np.asarray(data))))


def widen_graph(graph):
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == FLOAT:
            value.type.tensor_type.elem_type = DOUBLE
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for node in graph.node:
        widen_node(node)


def in_double(model):
    """A copy of the model that computes in double precision."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    widen_graph(wide.graph)
    return wide


def difference(before, after, feeds):
    """The largest difference of any output, as a share of that output's largest magnitude; infinite
    where shapes differ; None: the reference evaluator cannot run one of them."""
    try:
        runs = [onnx.reference.ReferenceEvaluator(in_double(model)) for model in (before, after)]
        worst = 0.0
        for values in feeds:
            wide = {name: array.astype(np.float64) if array.dtype == np.float32 else array
                    for name, array in values.items()}
            for a, b in zip(*(run.run(None, wide) for run in runs)):
                if a.shape != b.shape:
                    return float("inf")
                if a.size:
                    gap = np.abs(a.astype(np.float64) - b.astype(np.float64)).max()
                    worst = max(worst, float(gap / max(np.abs(a).max(), np.finfo(float).tiny)))
        return worst
    except Exception:  # whatever the evaluator throws
        return None
