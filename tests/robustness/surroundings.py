"""Puts a model into surroundings that the shipped rules rewrite and that change no value.

Before each real input and behind each real output stand pairs of operators that cancel (two
negations, a transposition and its inverse, two reshapes, a factor and its reciprocal). So the operators
of the model itself become neighbours of rewrites, whatever they are. An input without axes is a parameter
(a ratio, a bound) and stays as it is: onnxruntime 1.31 infers a computed ratio's shape for Dropout's result.
A model without real inputs and outputs gets one more output: its first numeric output as real numbers.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

REAL = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16}
NUMERIC = {TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8}
FIRST_OPSET = 7  # of the broadcasting that these operators rely on


class Wrapper:
    def __init__(self, model, rng):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.rng = rng
        self.before, self.behind = [], []
        self.count = 0

    def name(self, stem="value"):
        self.count += 1
        return f"surrounding_{stem}_{self.count}"

    def constant(self, array):
        name = self.name("constant")
        self.model.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, inputs, output, **attributes):
        return helper.make_node(kind, inputs, [output], name=self.name("node"), **attributes)

    def cancelling(self, source, target, element, shape):
        """Nodes that compute `target`, which equals `source`, in two of the ways there are."""
        ways = [self.negations, self.factors]
        if shape is not None and len(shape) >= 2:
            ways.append(self.transpositions)
        if shape is not None and len(shape) >= 1 and all(d > 0 for d in shape):
            ways.append(self.reshapes)
        first, second = self.rng.permutation(len(ways))[:2]
        middle = self.name()
        return [*ways[first](source, middle, element, shape), *ways[second](middle, target, element, shape)]

    def negations(self, source, target, _element, _shape):
        middle = self.name()
        return [self.node("Neg", [source], middle), self.node("Neg", [middle], target)]

    def factors(self, source, target, element, _shape):
        middle, dtype = self.name(), helper.tensor_dtype_to_np_dtype(element)
        two, half = self.constant(np.array(2, dtype)), self.constant(np.array(0.5, dtype))
        return [self.node("Mul", [source, two], middle), self.node("Mul", [middle, half], target)]

    def transpositions(self, source, target, _element, shape):
        middle = self.name()
        perm = [int(k) for k in self.rng.permutation(len(shape))]
        back = [perm.index(k) for k in range(len(perm))]
        return [self.node("Transpose", [source], middle, perm=perm),
                self.node("Transpose", [middle], target, perm=back)]

    def reshapes(self, source, target, _element, shape):
        middle = self.name()
        flat, whole = self.constant(np.array([-1], np.int64)), self.constant(np.array(shape, np.int64))
        return [self.node("Reshape", [source, flat], middle),
                self.node("Reshape", [middle, whole], target)]

    def rename(self, old, new):
        """In every node of the main graph and of sub-graphs that see it."""
        def in_graph(graph):
            for node in graph.node:
                for k, name in enumerate(node.input):
                    if name == old:
                        node.input[k] = new
                for attribute in node.attribute:
                    for sub in [attribute.g, *attribute.graphs]:
                        own = {i.name for i in sub.input} | {i.name for i in sub.initializer}
                        if old not in own:
                            in_graph(sub)
                            for output in sub.output:
                                if output.name == old:
                                    output.name = new
        in_graph(self.model.graph)

    def wrap_input(self, info, array):
        inner = self.name("input")
        self.rename(info.name, inner)
        for output in self.model.graph.output:
            if output.name == info.name:
                return  # an input that is an output keeps its name
        self.before += self.cancelling(info.name, inner, info.type.tensor_type.elem_type,
                                       list(array.shape))

    def wrap_output(self, info, array):
        inner = self.name("output")
        found = False
        for node in self.model.graph.node:
            for k, name in enumerate(node.output):
                if name == info.name:
                    node.output[k], found = inner, True
        if not found:
            return
        self.rename(info.name, inner)
        shape = None if array is None else list(array.shape)
        self.behind += self.cancelling(inner, info.name, info.type.tensor_type.elem_type, shape)

    def add_real_output(self, info, array):
        real, out = self.name(), self.name("extra")
        shape = None if array is None else list(array.shape)
        self.behind.append(self.node("Cast", [info.name], real, to=TensorProto.FLOAT))
        self.behind += self.cancelling(real, out, TensorProto.FLOAT, shape)
        self.model.graph.output.append(helper.make_tensor_value_info(out, TensorProto.FLOAT, shape))

    def finish(self):
        nodes = [*self.before, *self.model.graph.node, *self.behind]
        del self.model.graph.node[:]
        self.model.graph.node.extend(nodes)
        return self.model


def element_of(info):
    return info.type.tensor_type.elem_type if info.type.HasField("tensor_type") else None


def wrapped(case, rng):
    """The model of the case in such surroundings; None when its kind allows none."""
    opset = max([o.version for o in case.model.opset_import if o.domain in ("", "ai.onnx")], default=0)
    if opset < FIRST_OPSET or case.inputs is None:
        return None
    w = Wrapper(case.model, rng)
    graph = w.model.graph
    given = {i.name for i in graph.initializer}
    free = [i for i in graph.input if i.name not in given]
    outputs = list(graph.output)
    recorded = case.outputs or [None] * len(outputs)
    arrays = [x if isinstance(x, np.ndarray) else None for x in recorded]
    for info, array in zip(free, case.inputs):
        if element_of(info) in REAL and isinstance(array, np.ndarray) and array.ndim > 0:
            w.wrap_input(info, array)
    for info, array in zip(outputs, arrays):
        if element_of(info) in REAL:
            w.wrap_output(info, array)
    if not w.before and not w.behind:
        for info, array in zip(outputs, arrays):
            if element_of(info) in NUMERIC and array is not None:
                w.add_real_output(info, array)
                break
    return w.finish() if w.before or w.behind else None
