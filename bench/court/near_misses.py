"""Near misses of a model: changes after which a rewrite's conditions may no longer hold. Each
function yields (label, model); the caller drops what is no valid model."""
import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

REAL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
TWEAKS = {  # attributes that an operator may have, with values unlike the default
    "Conv": {"dilations": [[2, 2]], "strides": [[2, 2]], "pads": [[1, 0, 0, 1]],
             "auto_pad": ["SAME_LOWER"]},
    "ConvTranspose": {"strides": [[2, 2]], "output_padding": [[1, 1]], "pads": [[1, 0, 0, 1]]},
    "MaxPool": {"ceil_mode": [1], "dilations": [[2, 2]], "strides": [[2, 2]]},
    "AveragePool": {"ceil_mode": [1], "count_include_pad": [1], "pads": [[1, 1, 0, 0]]},
    "Gemm": {"alpha": [0.5], "beta": [0.0, 2.0], "transA": [1], "transB": [1]},
    "Softmax": {"axis": [0, 1, -2]}, "LogSoftmax": {"axis": [0, 1]},
    "LayerNormalization": {"axis": [1, -2], "epsilon": [0.5]},
    "Concat": {"axis": [0, -2]}, "Gather": {"axis": [1, -2]}, "Flatten": {"axis": [0, -1, 2]},
    "BatchNormalization": {"epsilon": [0.5]}, "Clip": {}, "Cast": {"to": [6, 9, 10, 1]},
    "ArgMax": {"keepdims": [0], "select_last_index": [1]}, "LeakyRelu": {"alpha": [-1.0, 2.0]},
    "Reshape": {"allowzero": [1]}, "Mod": {"fmod": [1]}, "TopK": {"largest": [0]},
    "CumSum": {"reverse": [1], "exclusive": [1]}}
for _name in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
    TWEAKS["Reduce" + _name] = {"keepdims": [0, 1], "axes": [[0], [1], [-1], [-2]],
                                "noop_with_empty_axes": [1]}


def copy(model):
    return onnx.ModelProto.FromString(model.SerializeToString())


def computed(model):
    """Types of the values between inputs and outputs."""
    outer = {v.name for v in (*model.graph.input, *model.graph.output)}
    return {v.name: v for v in model.graph.value_info if v.name not in outer}


def constants_as_nodes(model):
    if model.graph.initializer:
        made = copy(model)
        nodes = [helper.make_node("Constant", [], [t.name],
            value=t) for t in made.graph.initializer]
        nodes += made.graph.node
        for field, values in (("initializer", []), ("node", nodes)):
            made.graph.ClearField(field)
            getattr(made.graph, field).extend(values)
        yield "constants as nodes", made


def constants_as_inputs(model):
    """Each real constant becomes an input; then all do, keeping their values as defaults."""
    real = [t for t in model.graph.initializer if t.data_type in REAL and len(t.dims)]
    for tensor in real:
        made = copy(model)
        made.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type,
                                                              tensor.dims))
        yield f"default {tensor.name}", made
        made = copy(made)
        kept = [t for t in made.graph.initializer if t.name != tensor.name]
        made.graph.ClearField("initializer")
        made.graph.initializer.extend(kept)
        yield f"input {tensor.name}", made


def values_as_outputs(model):
    for name, value in computed(model).items():
        made = copy(model)
        made.graph.output.append(value)
        yield f"{name} as output", made


def another_type(model):
    for to in (TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT64):
        made = copy(model)
        for value in made.graph.input:
            if value.type.tensor_type.elem_type == TensorProto.FLOAT:
                value.type.tensor_type.elem_type = to
        dtype = helper.tensor_dtype_to_np_dtype(to)
        for tensor in made.graph.initializer:
            if tensor.data_type == TensorProto.FLOAT:
                with np.errstate(all="ignore"):
                    value = numpy_helper.to_array(tensor).astype(dtype)
                tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
        yield TensorProto.DataType.Name(to).lower(), made


def open_sizes(model):
    made = copy(model)
    for value in made.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_value > 1:
                dim.dim_param = f"N{dim.dim_value}"
    yield "open sizes", made
    made = copy(made)
    for value in made.graph.input:
        if value.type.tensor_type.shape.dim:
            first = value.type.tensor_type.shape.dim[0]
            size = first.dim_param[1:] if first.dim_param else first.dim_value
            first.dim_param = f"{value.name}_rows{size}"
    yield "open sizes apart", made


def another_shape(model):
    """One operand broadcast otherwise: a size 1, an axis less, an axis more, no elements."""
    for index, value in enumerate(model.graph.input):
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        shapes = [dims[:k] + [1] + dims[k + 1:] for k in range(len(dims))]
        shapes += [dims[1:], [1, *dims], [2, *dims], [0, *dims[1:]]]
        for shape in shapes:
            if shape != dims and dims:
                made = copy(model)
                to = made.graph.input[index].type.tensor_type
                to.CopyFrom(helper.make_tensor_type_proto(to.elem_type, shape).tensor_type)
                yield f"{value.name} {shape}", made
    scales = {name for node in model.graph.node if "Quantize" in node.op_type
              for name in node.input[1:2]}
    for index, tensor in enumerate(model.graph.initializer):
        if tensor.data_type not in REAL or tensor.name in scales:
            continue
        held = numpy_helper.to_array(tensor)
        cut = [held[(slice(None),) * k + (slice(0, 1),)] for k in range(held.ndim)]
        cut += [held[None], held[None, None], held[..., None], np.stack([held, held])]
        cut += [held.reshape(held.shape[1:])] if held.ndim and held.shape[0] == 1 else []
        cut += [np.zeros_like(held), -held]
        for value in cut:
            made = copy(model)
            made.graph.initializer[index].CopyFrom(
                numpy_helper.from_array(np.ascontiguousarray(value), tensor.name))
            made.graph.initializer[index].dims[:] = value.shape
            same = value.shape == held.shape
            yield f"{tensor.name} {list(value.shape)}" + (
                "" if not same else " negated" if value.any() else " zero"), made


def another_attribute(model):
    for index, node in enumerate(model.graph.node):
        present = {a.name: helper.get_attribute_value(a) for a in node.attribute
                   if a.type in (a.INT, a.INTS, a.FLOAT)}
        wanted = {k: list(v) for k, v in TWEAKS.get(node.op_type, {}).items()}
        for name, value in present.items():
            if name == "perm":
                wanted.setdefault(name, []).extend([value[::-1], sorted(value)])
            if name == "axis":
                wanted.setdefault(name, []).extend([-1 - value, value + 1])
        for name, values in wanted.items():
            for value in values:
                made = copy(model)
                kept = [a for a in made.graph.node[index].attribute if a.name != name]
                made.graph.node[index].ClearField("attribute")
                made.graph.node[index].attribute.extend([*kept, helper.make_attribute(name, value)])
                yield f"{node.op_type} {name}={value}", made


def used_twice(model):
    """One operand in place of another, and operands the other way round."""
    for index, node in enumerate(model.graph.node):
        if len(node.input) == 2 and node.input[0] != node.input[1]:
            for label, names in (("swapped", node.input[::-1]), ("first twice",
                [node.input[0]] * 2),
                                 ("second twice", [node.input[1]] * 2)):
                made = copy(model)
                made.graph.node[index].input[:] = names
                yield f"{node.op_type} {label}", made


def other_opset(model):
    for version in (11, 13, 18, 21, 23):
        made = copy(model)
        made.opset_import[0].version = version
        made.ir_version = 10 if version > 20 else 8
        yield f"opset {version}", made


CHANGES = [constants_as_nodes, constants_as_inputs, values_as_outputs, another_type, open_sizes,
           another_shape, another_attribute, used_twice, other_opset]


def near_misses(model):
    """Each with a label of its own."""
    times = collections.Counter()
    for change in CHANGES:
        for label, made in change(model):
            times[label] += 1
            yield label if times[label] == 1 else f"{label} ({times[label]})", made
