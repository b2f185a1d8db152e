"""Random models: small graphs of common operators with dynamic dimensions, over three element types.

`make(seed, number)` is deterministic. A model that onnxruntime does not load is drawn again.
"""
import dataclasses
import itertools
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import runtime

ELEMENTS = {np.float32: TensorProto.FLOAT, np.float16: TensorProto.FLOAT16, np.float64: TensorProto.DOUBLE}
SIZES = [1, 3, 5, 2]  # of dynamic dimensions
ATTEMPTS = 50


@dataclasses.dataclass
class Value:
    name: str
    dims: list  # numbers, or names of dynamic dimensions

    @property
    def rank(self):
        return len(self.dims)

    def fixed(self, axis):
        return isinstance(self.dims[axis], int)

    def image(self, least=1):
        """N, C, H, W with at least so many rows and columns."""
        return self.rank == 4 and all(self.fixed(k) for k in (1, 2, 3)) and min(self.dims[2:]) >= least


def draw(rng, items):
    return items[int(rng.integers(len(items)))]


class Builder:
    """Each method that is named in `STEPS` adds operators to one value and returns the new value, or
    None when they do not fit it."""

    def __init__(self, rng, element, opset):
        self.rng, self.element, self.opset = rng, element, opset
        self.nodes, self.constants, self.values = [], [], []

    def name(self, stem):
        return f"{stem}_{len(self.nodes)}_{len(self.constants)}"

    def constant(self, array, element=None):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.asarray(array, element or self.element), name))
        return name

    def weights(self, *shape, scale=None):
        fan = max(1, int(np.prod(shape[1:])))
        scale = scale or 1 / np.sqrt(fan)
        return self.constant(self.rng.standard_normal(shape) * scale)

    def integers(self, values):
        return self.constant(values, np.int64)

    def add(self, kind, inputs, dims, outputs=1, **attributes):
        names = [f"{self.name('v')}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=self.name("n"), **attributes))
        made = [Value(n, d) for n, d in zip(names, dims if outputs > 1 else [dims])]
        return made if outputs > 1 else made[0]

    def axis(self, x, least=1):
        fit = [k for k in range(x.rank) if x.fixed(k) and x.dims[k] >= least]
        return draw(self.rng, fit) if fit else None

    def alike(self, x):
        """Another value of the same shape."""
        same = [v for v in self.values if v.dims == x.dims]
        return draw(self.rng, same)

    # Elementwise.
    def unary(self, x):
        return self.add(draw(self.rng, ["Relu", "Neg", "Sigmoid", "Tanh", "Relu", "Erf", "Abs",
                                        "Identity", "LeakyRelu", "HardSigmoid", "Softplus"]),
                        [x.name], x.dims)

    def clip(self, x):
        low, high = sorted(self.rng.integers(-6, 7, 2).tolist())
        bounds = draw(self.rng, [(0, 6), (low, high), (-1, 1)])
        return self.add("Clip", [x.name, self.constant(bounds[0]), self.constant(bounds[1])], x.dims)

    def bounded_exp(self, x):
        low = self.add("Tanh", [x.name], x.dims)
        return self.add("Exp", [low.name], x.dims)

    def root(self, x):
        positive = self.add("Relu", [x.name], x.dims)
        return self.add("Sqrt", [positive.name], x.dims)

    def binary(self, x):
        kind = draw(self.rng, ["Add", "Sub", "Mul", "Add", "Div", "Max", "Min"])
        other = self.alike(x)
        if kind == "Div":  # by what is not 0
            other = self.bounded_exp(other)
        pair = [x.name, other.name]
        return self.add(kind, pair if self.rng.random() < 0.5 or kind == "Div" else pair[::-1], x.dims)

    def with_constant(self, x):
        kind = draw(self.rng, ["Add", "Sub", "Mul", "Div"])
        shape = draw(self.rng, [(), (1,), tuple(d if isinstance(d, int) and k == x.rank - 1 else 1
                                                for k, d in enumerate(x.dims))])
        value = self.rng.standard_normal(shape) if kind != "Div" else self.rng.uniform(0.5, 2, shape)
        if self.rng.random() < 0.2:
            value = np.full(shape, draw(self.rng, [0.0, 1.0, -1.0, 2.0]) if kind != "Div" else 1.0)
        return self.add(kind, [x.name, self.constant(value)], x.dims)

    def factored(self, x):
        """a * c + b * c."""
        other, c = self.alike(x), self.weights(1)
        left = self.add("Mul", [x.name, c], x.dims)
        right = self.add("Mul", [other.name, c], x.dims)
        return self.add("Add", [left.name, right.name], x.dims)

    def softmax(self, x):
        if x.rank < 1:
            return None
        return self.add("Softmax", [x.name], x.dims, axis=int(self.rng.integers(-x.rank, x.rank)))

    def normalised_exp(self, x):
        """Softmax written out, of bounded logits."""
        if x.rank < 1:
            return None
        e = self.bounded_exp(x)
        total = self.reduced("ReduceSum", e, [x.rank - 1])
        return self.add("Div", [e.name, total.name], x.dims)

    # Data movement.
    def transpose(self, x):
        if x.rank < 2:
            return None
        perm = [int(k) for k in self.rng.permutation(x.rank)]
        return self.add("Transpose", [x.name], [x.dims[k] for k in perm], perm=perm)

    def reshape(self, x):
        pairs = [k for k in range(x.rank - 1) if x.fixed(k) and x.fixed(k + 1)]
        if not pairs:
            return None
        k = draw(self.rng, pairs)
        dims = [*x.dims[:k], x.dims[k] * x.dims[k + 1], *x.dims[k + 2:]]
        target = [0 if j < k else -1 if isinstance(d, str) else d for j, d in enumerate(dims)]
        if target.count(-1) > 1:
            return None
        return self.add("Reshape", [x.name, self.integers(target)], dims)

    def concat(self, x):
        axis = self.axis(x)
        if axis is None or x.dims[axis] > 32:
            return None
        dims = list(x.dims)
        dims[axis] *= 2
        return self.add("Concat", [x.name, self.alike(x).name], dims, axis=axis)

    def split(self, x):
        axis = self.axis(x, least=2)
        if axis is None:
            return None
        first = int(self.rng.integers(1, x.dims[axis]))
        sizes = [first, x.dims[axis] - first]
        shapes = [[s if k == axis else d for k, d in enumerate(x.dims)] for s in sizes]
        parts = self.add("Split", [x.name, self.integers(sizes)], shapes, outputs=2, axis=axis)
        if self.rng.random() < 0.5:
            return self.add("Concat", [p.name for p in parts], x.dims, axis=axis)
        self.values.append(parts[1])
        return parts[0]

    def slice(self, x):
        axis = self.axis(x, least=2)
        if axis is None:
            return None
        begin = int(self.rng.integers(0, x.dims[axis] - 1))
        step = draw(self.rng, [1, 1, 2])
        size = len(range(begin, x.dims[axis], step))
        dims = [size if k == axis else d for k, d in enumerate(x.dims)]
        return self.add("Slice", [x.name, *(self.integers([v]) for v in (begin, x.dims[axis], axis, step))],
                        dims)

    def gather(self, x):
        axis = self.axis(x, least=2)
        if axis is None:
            return None
        taken = self.rng.integers(0, x.dims[axis], 3).tolist()
        dims = [3 if k == axis else d for k, d in enumerate(x.dims)]
        return self.add("Gather", [x.name, self.integers(taken)], dims, axis=axis)

    def pad(self, x):
        if not x.image():
            return None
        pads = [0, 0, 1, 1, 0, 0, 1, 1]
        dims = [*x.dims[:2], x.dims[2] + 2, x.dims[3] + 2]
        return self.add("Pad", [x.name, self.integers(pads)], dims)

    def squeeze(self, x):
        out = self.add("Unsqueeze", [x.name, self.integers([0])], [1, *x.dims])
        return self.add("Squeeze", [out.name, self.integers([0])], x.dims)

    # Reductions and products.
    def reduced(self, kind, x, axes):
        dims = [1 if k in axes else d for k, d in enumerate(x.dims)]
        if kind == "ReduceSum" or self.opset >= 18:
            return self.add(kind, [x.name, self.integers(axes)], dims, keepdims=1)
        return self.add(kind, [x.name], dims, axes=axes, keepdims=1)

    def reduce(self, x):
        if x.rank < 1:
            return None
        kind = draw(self.rng, ["ReduceMean", "ReduceSum", "ReduceMax"])
        return self.reduced(kind, x, [int(self.rng.integers(x.rank))])

    def centred(self, x):
        if x.rank < 1:
            return None
        mean = self.reduced("ReduceMean", x, [x.rank - 1])
        return self.add("Sub", [x.name, mean.name], x.dims)

    def layer_norm(self, x):
        if self.opset < 17 or x.rank < 1 or not x.fixed(-1):
            return None
        n = x.dims[-1]
        return self.add("LayerNormalization", [x.name, self.weights(n, scale=1), self.weights(n, scale=1)],
                        x.dims, axis=-1)

    def linear(self, x):
        if x.rank < 2 or not x.fixed(-1):
            return None
        n = draw(self.rng, [3, 4, 8])
        y = self.add("MatMul", [x.name, self.weights(x.dims[-1], n)], [*x.dims[:-1], n])
        return self.add("Add", [y.name, self.weights(n)], y.dims) if self.rng.random() < 0.6 else y

    def gemm(self, x):
        if x.rank != 2 or not x.fixed(1):
            return None
        n = draw(self.rng, [3, 4, 8])
        return self.add("Gemm", [x.name, self.weights(x.dims[1], n), self.weights(n)], [x.dims[0], n])

    def scores(self, x):
        if x.rank < 2 or not x.fixed(-1):
            return None
        turned = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        other = self.alike(x)
        key = self.add("Transpose", [other.name], [other.dims[k] for k in turned], perm=turned)
        y = self.add("MatMul", [x.name, key.name], [*x.dims[:-1], x.dims[-2]])
        y = self.add("Mul", [y.name, self.constant(0.25)], y.dims)
        return self.add("Softmax", [y.name], y.dims, axis=-1) if self.rng.random() < 0.6 else y

    # Images.
    def conv(self, x):
        if not x.image(3):
            return None
        kernel, out = draw(self.rng, [1, 3]), draw(self.rng, [2, 4])
        stride = draw(self.rng, [1, 1, 2])
        pad = kernel // 2
        dims = [x.dims[0], out, *((d + 2 * pad - kernel) // stride + 1 for d in x.dims[2:])]
        bias = [self.weights(out)] if self.rng.random() < 0.5 else []
        y = self.add("Conv", [x.name, self.weights(out, x.dims[1], kernel, kernel), *bias], dims,
                     kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2)
        return self.batch_norm(y) if self.rng.random() < 0.5 else y

    def batch_norm(self, x):
        if not x.image():
            return None
        n = x.dims[1]
        positive = self.constant(self.rng.uniform(0.5, 2, n))
        return self.add("BatchNormalization", [x.name, self.weights(n, scale=1), self.weights(n, scale=1),
                                               self.weights(n, scale=1), positive], x.dims)

    def pool(self, x):
        if not x.image(2):
            return None
        kind = draw(self.rng, ["MaxPool", "AveragePool"])
        dims = [*x.dims[:2], *(d - 1 for d in x.dims[2:])]
        return self.add(kind, [x.name], dims, kernel_shape=[2, 2])

    def global_pool(self, x):
        return None if not x.image() else self.add("GlobalAveragePool", [x.name], [*x.dims[:2], 1, 1])


STEPS = {name: weight for weight, names in {
    3: ["unary", "binary", "with_constant", "linear", "conv", "transpose"],
    2: ["softmax", "reduce", "concat", "split", "slice", "scores", "gemm", "clip", "factored"],
    1: ["bounded_exp", "root", "normalised_exp", "reshape", "gather", "pad", "squeeze", "centred",
        "layer_norm", "batch_norm", "pool", "global_pool"]}.items() for name in names}


@dataclasses.dataclass
class Made:
    """A model, what feeds it, and a double precision reference."""
    name: str
    model: onnx.ModelProto
    element: type
    given: list
    seed: list

    def inputs(self):
        """(label, feeds) at two settings of the dynamic dimensions and several magnitudes."""
        symbols = sorted({d for v in self.given for d in v.dims if isinstance(d, str)})
        for start in (0, 1):
            sizes = dict(zip(symbols, itertools.islice(itertools.cycle(SIZES), start, None)))
            for regime in REGIMES:
                rng = np.random.default_rng([*self.seed, start, len(regime)])
                feeds = {v.name: REGIMES[regime](rng, [sizes.get(d, d) for d in v.dims], self.element)
                         .astype(self.element) for v in self.given}
                yield f"{regime}, {sizes}", feeds

    def reference(self, feeds, unit=0.0):
        """Outputs in double precision, all inputs and constants moved by up to `unit` of themselves; None when
        ONNX's evaluator does not run the model."""
        draw = np.random.default_rng(3)

        def moved(array):
            return array.astype(np.float64) * (1 + unit * draw.uniform(-1, 1, array.shape))
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        for k, constant in enumerate(model.graph.initializer):
            if constant.data_type == ELEMENTS[self.element]:
                array = moved(numpy_helper.to_array(constant))
                model.graph.initializer[k].CopyFrom(numpy_helper.from_array(array, constant.name))
        for info in [*model.graph.input, *model.graph.output]:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                wide = {k: moved(x) for k, x in feeds.items()}
                return ReferenceEvaluator(model).run(None, wide)
        except Exception:
            return None


def largest(element):
    return 1e2 if element is np.float16 else 1e4


REGIMES = {
    "ordinary": lambda rng, shape, t: rng.standard_normal(shape),
    "tiny": lambda rng, shape, t: rng.standard_normal(shape) * (1e-3 if t is np.float16 else 1e-6),
    "large values": lambda rng, shape, t: rng.uniform(-1, 1, shape) * largest(t),
    "logits": lambda rng, shape, t: rng.uniform(-1, 1, shape) * (50 if t is np.float16 else 200),
    "ties, zeros": lambda rng, shape, t: rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], shape),
    "all equal": lambda rng, shape, t: np.full(shape, rng.choice([0.0, 3.0, -7.0])),
}


def drawn(rng, name, seed):
    element = draw(rng, [np.float32] * 5 + [np.float16, np.float64])
    b = Builder(rng, element, int(rng.integers(13, 22)))
    dims = draw(rng, [["batch", 3, 8, 8], ["batch", "seq", 8], ["batch", 6], ["batch", 2, "seq", 4],
                      ["batch", 4, 6, 6]])
    given = [Value(f"x{k}", list(dims)) for k in range(int(rng.integers(1, 4)))]
    b.values += given
    names, weights = list(STEPS), np.array(list(STEPS.values()), float)
    for _ in range(int(rng.integers(4, 13))):
        x = b.values[-1] if rng.random() < 0.7 else draw(rng, b.values)
        step = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        y = getattr(b, step)(x)
        if y is not None:
            b.values.append(y)
    used = {n for node in b.nodes for n in node.input}
    ends = [v for v in b.values if v.name not in used and v not in given][-3:] or [b.values[-1]]
    if ends[0] in given:
        return None
    kind = ELEMENTS[element]
    graph = helper.make_graph(
        b.nodes, name, [helper.make_tensor_value_info(v.name, kind, v.dims) for v in given],
        [helper.make_tensor_value_info(v.name, kind, v.dims) for v in ends], b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", b.opset)])
    model.ir_version = 10
    return Made(name, model, element, given, seed)


def make(seed, number):
    for attempt in range(ATTEMPTS):
        key = [seed, number, attempt]
        made = drawn(np.random.default_rng(key), f"random {seed}/{number}", key)
        if made is None:
            continue
        try:
            runtime.session(made.model)
            return made
        except Exception:
            continue
    raise AssertionError(f"no model in {ATTEMPTS} attempts: {seed}/{number}")


COARSE = {np.float64: (1e-10, 1e-11), np.float32: (1e-4, 1e-5), np.float16: (2e-2, 5e-3)}
SCALE = {np.float64: 1e-9, np.float32: 1e-3, np.float16: 3e-2}  # of the largest value
WORSE = 64  # times the original's own largest error


def sensitivity(made, feeds, k, reference, finite, known):
    """By how much output k moves when inputs and constants move by a rounding: where values cancel, the original
    may be exact by chance."""
    other = made.reference(feeds, np.finfo(made.element).eps)
    if other is None:
        return 0.0
    change = np.abs(np.asarray(other[k], np.float64)[finite][known] - reference)
    least = float(np.finfo(made.element).smallest_subnormal)
    return float(change[np.isfinite(change)].max(initial=least))


def difference(made, feeds, actual, expected):
    """None, or what is wrong: another shape or type, infinite or undefined where the original is finite, or
    an error that the original's error against double precision does not explain."""
    reference = None
    for k, (x, y) in enumerate(zip(actual, expected)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"output {k}: {x.dtype}{list(x.shape)}, expected {y.dtype}{list(y.shape)}"
        if not y.size:
            continue
        x, y = x.astype(np.float64), y.astype(np.float64)
        finite = np.isfinite(y)
        if not np.isfinite(x[finite]).all():
            return f"output {k}: {x[finite & ~np.isfinite(x)][0]} where the original is finite"
        if not finite.any():
            continue
        rtol, scaled = COARSE[made.element]
        x, y = x[finite], y[finite]
        if (np.abs(x - y) <= rtol * np.abs(y) + scaled * np.abs(y).max()).all():
            continue
        reference = reference or made.reference(feeds)
        if reference is None:
            return f"output {k}: differs by {np.abs(x - y).max():.3g}, no reference"
        r = np.asarray(reference[k], np.float64)[finite]
        known = np.isfinite(r)
        error, own = np.abs(x - r)[known], np.abs(y - r)[known]
        allowed = WORSE * max(own.max(initial=0), sensitivity(made, feeds, k, r[known], finite, known))
        if error.size and error.max() > allowed + SCALE[made.element] * np.abs(r[known]).max():
            return (f"output {k}: error {error.max():.3g}, the original's {own.max():.3g}, largest "
                    f"value {np.abs(r[known]).max():.3g}")
    return None
