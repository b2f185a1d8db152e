"""Sides of rules as ONNX models of fixed sizes."""
import dataclasses
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from probe import Probe, inferred, positive
from rule_text import Call, Values
from workers import Worker

SAME = {  # operators that ONNX has with the same operands, and the names of their attributes there
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "relu": "Relu",
    "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "sqrt": "Sqrt", "erf": "Erf", "log": "Log",
    "softplus": "Softplus", "mish": "Mish", "matmul": "MatMul", "gemm": "Gemm", "conv": "Conv",
    "batchnorm": "BatchNormalization", "transpose": "Transpose", "concat": "Concat", "abs": "Abs",
    "global-avgpool": "GlobalAveragePool", "global-maxpool": "GlobalMaxPool", "sign": "Sign",
    "softmax": "Softmax", "reciprocal": "Reciprocal", "floor": "Floor", "ceil": "Ceil",
    "round": "Round", "sin": "Sin", "cos": "Cos", "max": "Max", "min": "Min", "max-of": "Max",
    "min-of": "Min", "sum-of": "Sum", "mean-of": "Mean", "leaky-relu": "LeakyRelu", "elu": "Elu",
    "prelu": "PRelu", "selu": "Selu", "softsign": "Softsign", "hard-swish": "HardSwish",
    "gelu": "Gelu", "hard-sigmoid": "HardSigmoid", "layernorm": "LayerNormalization",
    "instancenorm": "InstanceNormalization", "where": "Where", "equal": "Equal",
    "greater": "Greater", "less": "Less", "logical-not": "Not", "logical-xor": "Xor",
    "maxpool": "MaxPool", "avgpool": "AveragePool", "log-softmax": "LogSoftmax"}
NAMES = {"kernel": "kernel_shape", "include_pad": "count_include_pad"}
REDUCTIONS = {"sum": "Sum", "mean": "Mean", "max": "Max", "min": "Min", "prod": "Prod", "l1": "L1",
              "l2": "L2", "sum-square": "SumSquare", "log-sum": "LogSum", "log-sum-exp": "LogSumExp"}
REAL = ("value", "alpha", "beta", "gamma", "epsilon", "min", "max", "exponent")
LISTS = {"strides": (1, 1, 2), "pads": (0, 1), "dilations": (1, 1, 2), "kernel": (2, 3),
         "factors": (2, 3), "steps": (1, 2), "begins": (0, 1), "sizes": (1, 2), "indices": (0, 1),
         "shape": (2, 4), "repeats": (2, 3), "perm": (0,)}
SINGLE = ("axis", "group", "transA", "transB", "keepdims", "include_pad", "channels", "size", "flat",
          "half_pixel") + REAL


class Builder:
    """Writes calls as nodes; equal calls once."""

    def __init__(self, values, order):
        self.values, self.order = values, order
        self.nodes, self.constants, self.written = [], {}, {}
        self.ranks = {name: len(shape) for name, shape in values.shapes.items()}

    def constant(self, value):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def attribute(self, name, text, length):
        """The numbers of an attribute; variables that stand for a whole list are drawn here."""
        if name in SINGLE:
            return self.number(name, text)
        if text.startswith("?") and "," not in text and text[1:].isidentifier() and length:
            drawn = [self.order.choice(LISTS[name]) for _ in range(length)]
            held = self.values.numbers.setdefault(text[1:], drawn)
            return list(held) if isinstance(held, list) else [held]
        return [int(self.number(name, part)) for part in text.split(",")]

    def number(self, name, text):
        for word in {w for w in text.replace("*", "+").split("+") if w.startswith("?")}:
            choices = (0.5, 2.0, 1.0) if name in REAL else LISTS.get(name, (1, 2))
            choices = (0.125,) if name == "epsilon" else choices
            self.values.numbers.setdefault(word[1:], self.order.choice(choices))
        return self.values.evaluate(text)

    def term(self, term):
        if not isinstance(term, Call):
            return term
        key = (term.name, term.operands, term.attributes)
        if key not in self.written:
            self.written[key] = self.write(term)
        return self.written[key][term.output]

    def rank(self, term):
        """How many axes: needed only for attributes that are drawn as lists."""
        if not isinstance(term, Call):
            return self.ranks[term]
        return max((self.rank(t) for t in term.operands), default=0)

    def write(self, term):
        inputs = [self.term(t) for t in term.operands]
        rank = self.rank(term)
        lengths = {"strides": rank - 2, "dilations": rank - 2, "kernel": rank - 2,
                   "factors": rank - 2, "pads": 2 * (rank if term.name == "pad" else rank - 2)}
        at = {name: self.attribute(name, text, lengths.get(name, rank))
              for name, text in term.attributes}
        special = getattr(self, "write_" + term.name.replace("-", "_"), None)
        if special:
            return special(inputs, at, rank)
        if term.name.startswith("reduce-"):
            axes = self.constant(np.array(at["axes"], np.int64))
            return self.node("Reduce" + REDUCTIONS[term.name[7:]], [inputs[0], axes],
                             keepdims=int(at.get("keepdims", 0)))
        at.pop("flat", None)
        whole = {NAMES.get(k, k): v if isinstance(v, list) else float(v) if k in REAL else int(v)
                 for k, v in at.items()}
        return self.node(SAME[term.name], inputs, **whole)

    def write_full(self, inputs, at, rank):
        return [self.constant(np.full(at.get("shape", []), at.get("value", 0), np.float32))]

    def write_identity_matrix(self, inputs, at, rank):
        return [self.constant(np.eye(int(at["size"]), dtype=np.float32))]

    def write_identity_kernel(self, inputs, at, rank):
        channels, group = int(at["channels"]), int(at.get("group", 1))
        value = np.zeros([channels, channels // group, *at["kernel"]], np.float32)
        for k in range(channels):
            value[(k, k % (channels // group), *at["centre"])] = 1
        return [self.constant(value)]

    def write_average_kernel(self, inputs, at, rank):
        value = np.full([int(at["channels"]), 1, *at["kernel"]], 1, np.float32)
        return [self.constant(value / np.prod(at["kernel"]))]

    def write_power(self, inputs, at, rank):
        return self.node("Pow", [*inputs, self.constant(np.float32(at["exponent"]))])

    def write_clip(self, inputs, at, rank):
        bounds = [self.constant(np.float32(at[k])) if k in at else "" for k in ("min", "max")]
        return self.node("Clip", [*inputs, *bounds])

    def write_reshape(self, inputs, at, rank):
        return self.node("Reshape", [*inputs, self.constant(np.array(at["shape"], np.int64))])

    def write_expand(self, inputs, at, rank):
        return self.node("Expand", [*inputs, self.constant(np.array(at["shape"], np.int64))])

    def write_tile(self, inputs, at, rank):
        return self.node("Tile", [*inputs, self.constant(np.array(at["repeats"], np.int64))])

    def write_split(self, inputs, at, rank):
        sizes = self.constant(np.array(at["sizes"], np.int64))
        return self.node("Split", [*inputs, sizes], len(at["sizes"]), axis=int(at["axis"]))

    def write_slice(self, inputs, at, rank):
        begins, sizes = at["begins"], at["sizes"]
        steps = at.get("steps") or [1] * len(begins)
        ends = [b + (s - 1) * t + 1 for b, s, t in zip(begins, sizes, steps)]
        lists = [begins, ends, list(range(len(begins))), steps]
        return self.node("Slice", [*inputs, *(self.constant(np.array(v, np.int64)) for v in lists)])

    def write_gather(self, inputs, at, rank):
        index = np.array(at["indices"], np.int64).reshape(at.get("shape", []))
        return self.node("Gather", [*inputs, self.constant(index)], axis=int(at.get("axis", 0)))

    def write_pad(self, inputs, at, rank):
        return self.node("Pad", [*inputs, self.constant(np.array(at["pads"], np.int64)),
                                 self.constant(np.float32(at.get("value", 0)))])

    def write_gelu_tanh(self, inputs, at, rank):
        return self.node("Gelu", inputs, approximate="tanh")

    def write_swish(self, inputs, at, rank):
        scaled = inputs[0]
        if at.get("alpha", 1) != 1:
            scaled, = self.node("Mul", [scaled, self.constant(np.float32(at["alpha"]))])
        return self.node("Mul", [inputs[0], *self.node("Sigmoid", [scaled])])

    def resize(self, inputs, at, rank, **how):
        scales = self.constant(np.array([1, 1, *at["factors"]], np.float32))
        return self.node("Resize", [inputs[0], "", scales], **how)

    def write_resize_nearest(self, inputs, at, rank):
        return self.resize(inputs, at, rank, mode="nearest", nearest_mode="floor",
                           coordinate_transformation_mode="asymmetric")

    def write_resize_linear(self, inputs, at, rank):
        return self.resize(inputs, at, rank, mode="linear", coordinate_transformation_mode=
                           "half_pixel" if at.get("half_pixel", 1) else "asymmetric")


def side_model(terms, values, order):
    """A side of a rule; None where these numbers make no valid model."""
    builder = Builder(values, order)
    try:
        results = [builder.term(t) for t in terms]
    except (KeyError, ValueError, IndexError, TypeError, ArithmeticError):
        return None
    for k, name in enumerate(results):
        builder.nodes.append(helper.make_node("Identity", [name], [f"y{k}"]))
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s)
              for n, s in values.shapes.items()]
    graph = helper.make_graph(
        builder.nodes, "g", inputs, [onnx.ValueInfoProto(name=f"y{k}") for k in range(len(results))],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in builder.constants.items()])
    return inferred(helper.make_model(graph, ir_version=10, producer_name="court",
                                      opset_imports=[helper.make_opsetid("", 20)]))


def without_identities(model):
    """The outputs' Identity nodes taken away, where a node computes the output."""
    made = {o for n in model.graph.node for o in n.output if n.op_type != "Identity"}
    renamed = {}
    for node in model.graph.node:
        if node.op_type == "Identity" and node.input[0] in made:
            renamed.setdefault(node.input[0], node.output[0])
    kept = [n for n in model.graph.node
            if n.op_type != "Identity" or renamed.get(n.input[0]) != n.output[0]]
    for node in kept:
        node.output[:] = [renamed.get(n, n) for n in node.output]
        node.input[:] = [renamed.get(n, n) for n in node.input]
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in kept]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    return inferred(model)


def sizes(signature, attempt, order):
    """Shapes for the letters: by place from the last axis, all equal, or at random."""
    place = [4, 3, 2, 2, 2]
    each = {0: lambda k: place[k], 1: lambda k: 4, 2: lambda k: 2, 3: lambda k: 3}.get(
        attempt, (lambda k: order.choice((2, 3, 4, 6))) if attempt % 2 else
        (lambda k: order.choice((2, 4))))
    return {name: [] if letters == "-" else [
        1 if c == "1" else each(len(letters) - 1 - k) for k, c in enumerate(letters)]
        for name, letters in signature.items()}


def kernels(terms):
    """Variables that are weights of convolutions."""
    for term in terms:
        if isinstance(term, Call):
            if term.name == "conv" and isinstance(term.operands[1], str):
                yield term.operands[1]
            yield from kernels(term.operands)


def probe(rule, seed, attempts=40):
    """The rule's source side with the sizes that are found first; None where none fit."""
    for attempt in range(attempts):
        order = random.Random(f"{rule.name} {seed} {attempt}")
        shapes = sizes(order.choice(rule.signatures[:4]), attempt, order)
        for name in kernels(rule.left + rule.right):
            if attempt >= 2 and name in shapes:
                shapes[name][2:] = [order.choice((1, 2, 3)) for _ in shapes[name][2:]]
        values = Values(shapes)
        try:
            for left, right in rule.conditions:
                values.assign(left, values.evaluate(right))
        except (ValueError, IndexError):
            pass
        both = [side_model(terms, values, order) for terms in (rule.left, rule.right)]
        if all(both) and both[0].graph.output == both[1].graph.output and holds(rule, values):
            before, after = (without_identities(m) for m in both)
            if before and after:
                return Probe(f"rule {rule.name}", before, rule=rule.name, target=after)
    return None


def holds(rule, values):
    try:
        return all(values.evaluate(a) == values.evaluate(b) for a, b in rule.conditions)
    except ValueError:
        return False


def weights_constant(made):
    """The same with all inputs but the largest as positive constants, for tools that fold weights."""
    largest = max(made.model.graph.input, key=lambda i: np.prod(dims(i), initial=1))

    def held(model):
        model = onnx.ModelProto.FromString(model.SerializeToString())
        kept = [i for i in model.graph.input if i.name == largest.name]
        for k, value in enumerate(model.graph.input):
            if value.name != largest.name:
                model.graph.initializer.append(
                    numpy_helper.from_array(positive(k, *dims(value)), value.name))
        model.graph.ClearField("input")
        model.graph.input.extend(kept)
        return inferred(model)
    both = held(made.model), held(made.target)
    return dataclasses.replace(made, name=f"{made.name}, constant", model=both[0], target=both[1]) \
        if all(both) else None


def dims(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def both_probes(rule, seed):
    made = probe(rule, seed)
    constant = weights_constant(made) if made and len(made.model.graph.input) > 1 else None
    return [p for p in (made, constant) if p]


def probes(rules, seed):
    """In a process of its own: shape inference aborts on some sizes below 0."""
    worker, made = Worker("rule_models"), []
    for rule in rules:
        said, found = worker.ask(30, "both_probes", rule, seed)
        made += found if said == "done" else []
    worker.stop()
    return made
