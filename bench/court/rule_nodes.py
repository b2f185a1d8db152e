"""Calls of rules as ONNX nodes."""
import numpy as np
from onnx import helper

from rule_text import Call

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
              "l2": "L2", "sum-square": "SumSquare", "log-sum": "LogSum",
              "log-sum-exp": "LogSumExp"}
REAL = ("value", "alpha", "beta", "gamma", "epsilon", "min", "max", "exponent")
LISTS = {"strides": (1, 1, 2), "pads": (0, 1), "dilations": (1, 1, 2), "kernel": (2, 3),
         "factors": (2, 3), "steps": (1, 2), "begins": (0, 1), "sizes": (1, 2), "indices": (0, 1),
         "shape": (2, 4), "repeats": (2, 3), "perm": (0,)}
SINGLE = ("axis", "group", "transA", "transB", "keepdims", "include_pad", "channels", "size",
    "flat",
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
