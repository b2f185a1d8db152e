"""Delta debugging: the smallest model that a tool still gets wrong in the same way."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from near_misses import REAL, copy
from probe import inferred


def pruned(model):
    """Without nodes, constants and inputs that no output needs."""
    wanted, kept = {o.name for o in model.graph.output}, []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            kept.insert(0, copy_node(node))
            wanted |= used(node)
    for field, values in (("node", kept),
                          ("initializer", [t for t in model.graph.initializer if t.name in wanted]),
                          ("input", [i for i in model.graph.input if i.name in wanted])):
        values = [type(v).FromString(v.SerializeToString()) for v in values]
        model.graph.ClearField(field)
        getattr(model.graph, field).extend(values)
    return model


def copy_node(node):
    return onnx.NodeProto.FromString(node.SerializeToString())


def used(node):
    """Names that a node reads, those of its sub-graphs as well."""
    names = set(node.input)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names |= used(inner)
    return names


def types(model):
    graph = model.graph
    return {v.name: v for group in (graph.value_info, graph.input, graph.output) for v in group}


def outputs_cut(model):
    """Fewer outputs; an inner value in place of the outputs."""
    names = [o.name for o in model.graph.output]
    inner = list(model.graph.value_info)
    for group in [[o] for o in model.graph.output] + [[v] for v in inner]:
        if [v.name for v in group] != names:
            made = copy(model)
            made.graph.ClearField("output")
            made.graph.output.extend(group)
            yield made


def inputs_cut(model):
    """An inner tensor becomes an input; a constant that is computed becomes an initializer's."""
    for value in model.graph.value_info:
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        made = copy(model)
        for node in made.graph.node:
            for index, name in enumerate(node.output):
                if name == value.name:
                    node.output[index] = name + "_unused"
        made.graph.input.append(value)
        yield made


def nodes_bypassed(model):
    known = types(model)
    for index, node in enumerate(model.graph.node):
        for operand in node.input:
            one, other = known.get(operand), known.get(node.output[0])
            if one is not None and other is not None and one.type == other.type \
                    and node.output[0] not in {o.name for o in model.graph.output}:
                made = copy(model)
                for later in made.graph.node:
                    later.input[:] = [operand if n == node.output[0] else n for n in later.input]
                del made.graph.node[index]
                yield made


def attributes_dropped(model):
    for index, node in enumerate(model.graph.node):
        for place in range(len(node.attribute)):
            made = copy(model)
            del made.graph.node[index].attribute[place]
            yield made


def constants_plain(model):
    """Real constants of one number as scalars; sizes that are open become fixed."""
    for index, tensor in enumerate(model.graph.initializer):
        if tensor.data_type in REAL and len(tensor.dims):
            value = numpy_helper.to_array(tensor)
            if value.size == 1:
                made = copy(model)
                made.graph.initializer[index].CopyFrom(
                    numpy_helper.from_array(value.reshape(()), tensor.name))
                yield made
    for index, value in enumerate(model.graph.input):
        if any(d.dim_param for d in value.type.tensor_type.shape.dim):
            made = copy(model)
            for d in made.graph.input[index].type.tensor_type.shape.dim:
                if d.dim_param:
                    digits = "".join(c for c in d.dim_param if c.isdigit())
                    d.dim_value = int(digits[-1]) if digits else 2
            yield made


def float_again(model):
    """float32 in place of other real types."""
    others = {TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64}
    for kind in others & {v.type.tensor_type.elem_type for v in model.graph.input}:
        made = copy(model)
        for value in made.graph.input:
            if value.type.tensor_type.elem_type == kind:
                value.type.tensor_type.elem_type = TensorProto.FLOAT
        for tensor in made.graph.initializer:
            if tensor.data_type == kind and kind in REAL:
                tensor.CopyFrom(numpy_helper.from_array(
                    numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
        yield made


def opset_usual(model):
    made = copy(model)
    if made.opset_import[0].version != 17:
        made.opset_import[0].version = 17
        yield made


def defaults_dropped(model):
    """Constants that are also inputs: constants only."""
    held = {t.name for t in model.graph.initializer}
    for index, value in enumerate(model.graph.input):
        if value.name in held:
            made = copy(model)
            del made.graph.input[index]
            yield made


STEPS = [outputs_cut, inputs_cut, nodes_bypassed, defaults_dropped, opset_usual, float_again,
         constants_plain, attributes_dropped]


def size(model):
    """What a step must not make larger."""
    return len(model.graph.node), len(model.graph.output)


def reduced(model, still, infer=inferred, tries=150):
    """The smallest model found for which `still(model)` holds; it must hold for `model`."""
    improved = True
    while improved and tries > 0:
        improved = False
        for step in STEPS:
            for made in step(model):
                made = infer(pruned(made))
                if made is None or not made.graph.node or size(made) > size(model) or tries <= 0 \
                        or made.SerializeToString() == model.SerializeToString():
                    continue
                tries -= 1
                if still(made):
                    model, improved = made, True
                    break
    return model


def named(model):
    """The same with short names, in order: x0.. for inputs, k0.. for constants, v0.. for values."""
    graph, new = model.graph, {}
    if any(a.HasField("g") for n in graph.node for a in n.attribute):
        return model
    for letter, values in (("x", [i.name for i in graph.input]),
                           ("k", [t.name for t in graph.initializer]),
                           ("y", [o.name for o in graph.output]),
                           ("v", [o for n in graph.node for o in n.output])):
        fresh = [n for n in dict.fromkeys(values) if n and n not in new]
        new.update({name: f"{letter}{k}" for k, name in enumerate(fresh)})
    made = copy(model)
    for node in made.graph.node:
        node.name = ""
        node.input[:] = [new.get(n, n) for n in node.input]
        node.output[:] = [new.get(n, n) for n in node.output]
    for value in (*made.graph.input, *made.graph.output, *made.graph.value_info,
                  *made.graph.initializer):
        value.name = new.get(value.name, value.name)
    made.graph.name = "g"
    made.doc_string = made.producer_name = made.producer_version = ""
    return made


def text(model):
    """A model as ONNX text, without types of inner values."""
    made = copy(model)
    made.graph.ClearField("value_info")
    return onnx.printer.to_text(made)


def operators(model):
    """Operator types in order, with the attributes that are left and types other than float."""
    def one(node):
        names = sorted(a.name for a in node.attribute if a.type not in (a.GRAPH, a.GRAPHS))
        return node.op_type + (f"<{', '.join(names)}>" if names else "")
    kinds = {helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type).name
             for i in model.graph.input} - {"float32"}
    held = {t.name for t in model.graph.initializer}
    default = ["default"] if held & {i.name for i in model.graph.input} else []
    return " ".join([one(n) for n in model.graph.node] + sorted(kinds) + default)
