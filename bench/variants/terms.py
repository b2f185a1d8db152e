"""Terms over ONNX operators: built, measured by shape, and written as a model.

A term is an operator, its operands and its attributes; equal terms are one node of the model.
"""
import dataclasses
import functools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass(frozen=True)
class Term:
    """`op` is the name of the ONNX operator, "input" or "const"; attributes are sorted pairs."""
    op: str
    args: tuple = ()
    attrs: tuple = ()

    def __getitem__(self, name):
        return dict(self.attrs)[name]

    def __hash__(self):
        return hash_of(self)


_HASHES = {}


def hash_of(term):
    """Computed once for each object: terms share their parts."""
    known = _HASHES.get(id(term))
    if known is None:
        known = (hash((term.op, term.args, term.attrs)), term)
        _HASHES[id(term)] = known
    return known[0]


def call(op, *args, **attrs):
    return Term(op, tuple(args), tuple(sorted(attrs.items())))


def tensor(name, *shape):
    return call("input", name=name, shape=shape)


def const(value):
    """A float32 constant."""
    array = np.asarray(value, dtype=np.float32)
    return call("const", shape=array.shape, data=array.tobytes())


def value(term):
    """The elements of a constant."""
    return np.frombuffer(term["data"], dtype=np.float32).reshape(term["shape"])


def is_scalar(term):
    return term.op == "const" and value(term).size == 1


def add(a, b): return call("Add", a, b)
def sub(a, b): return call("Sub", a, b)
def mul(a, b): return call("Mul", a, b)
def div(a, b): return call("Div", a, b)
def matmul(a, b): return call("MatMul", a, b)
def transpose(a, *perm): return call("Transpose", a, perm=perm)
def reshape(a, *shape): return call("Reshape", a, shape=shape)
def mean(a, *axes): return call("ReduceMean", a, axes=axes)
def total(a, *axes): return call("ReduceSum", a, axes=axes)
def largest(a, *axes): return call("ReduceMax", a, axes=axes)
def power(a, p): return call("Pow", a, const(p))
def sqrt(a): return call("Sqrt", a)
def unary(op, a): return call(op, a)


@functools.lru_cache(maxsize=None)
def shape_of(term):
    op, args = term.op, [shape_of(a) for a in term.args]
    if op in ("input", "const"):
        return term["shape"]
    if op == "MatMul":
        batch = np.broadcast_shapes(args[0][:-2], args[1][:-2])
        return (*batch, args[0][-2], args[1][-1])
    if op == "Transpose":
        return tuple(args[0][p] for p in term["perm"])
    if op in ("Reshape", "Expand"):
        return term["shape"]
    if op.startswith("Reduce"):
        rank = len(args[0])
        axes = [a % rank for a in term["axes"]]
        return tuple(1 if d in axes else n for d, n in enumerate(args[0]))
    if op == "Concat":
        axis = term["axis"] % len(args[0])
        joined = sum(a[axis] for a in args)
        return tuple(joined if d == axis else n for d, n in enumerate(args[0]))
    if op == "Slice":
        axis = term["axis"] % len(args[0])
        size = len(range(term["begin"], term["end"], term["step"]))
        return tuple(size if d == axis else n for d, n in enumerate(args[0]))
    return np.broadcast_shapes(*args)


class Writer:
    """Nodes of one model at an opset."""

    def __init__(self, opset):
        self.opset, self.names, self.nodes = opset, {}, []
        self.inputs, self.initializers = [], []

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.array(array), name))
        return name

    def name(self, term):
        if term not in self.names:
            self.names[term] = self.write(term)
        return self.names[term]

    def write(self, term):
        if term.op == "input":
            self.inputs.append(helper.make_tensor_value_info(
                term["name"], TensorProto.FLOAT, term["shape"]))
            return term["name"]
        if term.op == "const":
            return self.constant(value(term))
        inputs, attrs = [self.name(a) for a in term.args], dict(term.attrs)
        integers = lambda values: self.constant(np.asarray(values, dtype=np.int64))
        if term.op in ("Reshape", "Expand"):
            inputs.append(integers(attrs.pop("shape")))
        elif term.op == "Slice":
            for key in ("begin", "end", "axis", "step"):
                inputs.append(integers([attrs.pop(key)]))
        elif term.op.startswith("Reduce"):
            axes = attrs.pop("axes")
            attrs["keepdims"] = 1
            if self.opset >= (13 if term.op == "ReduceSum" else 18):
                inputs.append(integers(axes))
            else:
                attrs["axes"] = axes
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(term.op, inputs, [output], name=output, **attrs))
        return output


def model_of(term, inputs, opset):
    """All `inputs` are inputs of the model, needed or not."""
    writer = Writer(opset)
    for x in inputs:
        writer.name(x)
    result = writer.name(term)
    output = helper.make_tensor_value_info(result, TensorProto.FLOAT, shape_of(term))
    graph = helper.make_graph(writer.nodes, "variant", writer.inputs, [output],
                              writer.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    return model
