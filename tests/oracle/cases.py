"""Random uses of ONNX operators: for each node type a function of (random generator, opset) that
returns a Case. Shapes are small and attributes cover what the specification allows. A type that has
no function here is tried with default attributes on random tensors of one shape."""
import dataclasses

import numpy as np
import onnx

OPSETS = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
CASES = {}   # node type -> (function, first opset, last opset)


@dataclasses.dataclass
class Case:
    """`inputs` are arrays, or None for an omitted input; `constants` are the positions of those that
    are initialisers of the model."""
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    constants: tuple = ()
    outputs: int = 1
    unnamed: tuple = ()    # positions of outputs that are left out
    typed_by: int = 0      # the input whose element type the outputs have
    result: object = None  # the outputs' element type where it is none of an input


def case(*types, first=7, last=99):
    def register(function):
        for name in types:
            CASES[name] = (function, first, last)
        return function
    return register


def data(rng, shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape)


def shape_of(rng, low=1, high=4, size=4):
    return [int(n) for n in rng.integers(1, size + 1, rng.integers(low, high + 1))]


def flip(rng):
    return bool(rng.integers(2))


def some_axis(rng, rank):
    """An axis, counted from either end."""
    return int(rng.integers(-rank, rank))


def distinct_axes(rng, rank):
    count = int(rng.integers(1, rank + 1))
    axes = sorted(int(a) for a in rng.choice(rank, count, replace=False))
    return [a - rank if flip(rng) else a for a in axes]


def i64(values):
    return np.array(values, dtype=np.int64)


def broadcastable(rng):
    """Two shapes that broadcast to one."""
    full = shape_of(rng)
    def weaken():
        shape = [n if rng.random() < 0.7 else 1 for n in full]
        return shape[int(rng.integers(0, len(shape) + 1)):] if flip(rng) else shape
    return (full, weaken()) if flip(rng) else (weaken(), full)


def whole_numbers(rng, made):
    """The same with integers."""
    kind = np.int64 if flip(rng) else np.int32
    made.inputs = [np.array(np.round(4 * x), dtype=kind) for x in made.inputs]
    return made


@case("Add", "Sub", "Mul")
def arithmetic(rng, opset):
    a, b = broadcastable(rng)
    made = Case([data(rng, a), data(rng, b)])
    return whole_numbers(rng, made) if rng.random() < 0.3 else made


@case("Div")
def division(rng, opset):
    a, b = broadcastable(rng)
    divisor = data(rng, b, 0.5, 3.0) * rng.choice([-1.0, 1.0], b)
    return Case([data(rng, a), divisor])


def several(rng, opset):
    count, shape = int(rng.integers(1, 5)), shape_of(rng)
    if opset < 8:  # no broadcasting
        return Case([data(rng, shape) for _ in range(count)])
    weaken = lambda: [n if rng.random() < 0.7 else 1 for n in shape]
    return Case([data(rng, shape if k == 0 else weaken()[int(rng.integers(0, 2)):])
                 for k in range(count)])


case("Sum", "Mean")(several)


@case("Max", "Min")
def extreme(rng, opset):
    made = several(rng, opset)
    return whole_numbers(rng, made) if opset >= 12 and rng.random() < 0.3 else made


@case("Neg", "Abs")
def sign_change(rng, opset):
    made = unary(rng, opset)
    return whole_numbers(rng, made) if rng.random() < 0.3 else made


@case("Relu", "Sigmoid", "Tanh", "Exp", "Sin", "Cos", "Softsign", "Identity")
def unary(rng, opset):
    return Case([data(rng, shape_of(rng, 0))])


@case("Erf", first=9)
def erf(rng, opset):
    return unary(rng, opset)


@case("HardSwish", first=14)
def hard_swish(rng, opset):
    return Case([data(rng, shape_of(rng, 0), -5.0, 5.0)])


@case("Log", "Reciprocal")
def positive(rng, opset):
    return Case([data(rng, shape_of(rng, 0), 0.1, 4.0)])


@case("Floor", "Ceil")
def to_integers(rng, opset):
    shape = shape_of(rng, 0)
    halves = np.array(rng.integers(-8, 9, shape) / 2.0)
    return Case([np.where(rng.random(shape) < 0.5, halves, data(rng, shape))])


case("Round", first=11)(to_integers)
case("Sign", first=9)(to_integers)


@case("Pow")
def power(rng, opset):
    if flip(rng):
        return general_power(rng, opset)
    exponent = float(rng.choice([2, 3, 0, 1, -1, -2, 0.5, 0.5]))
    return Case([data(rng, shape_of(rng), 0.5, 2.0), np.array(exponent)], {}, (1,))


def general_power(rng, opset):
    """Of any base where all exponents are whole, which may be integers."""
    a, b = broadcastable(rng)
    if flip(rng):
        return Case([data(rng, a, 0.1, 3.0), data(rng, b)])
    base, exponent = data(rng, a, 0.3, 2.0) * rng.choice([-1.0, 1.0], a), rng.integers(-4, 5, b)
    whole = opset >= 12 and flip(rng)
    return Case([base, np.array(exponent if whole else exponent.astype(np.float64))])


def with_attributes(*names):
    def make(rng, opset):
        attributes = {name: float(rng.uniform(0.1, 1.5)) for name in names}
        return Case([data(rng, shape_of(rng), -3.0, 3.0)], attributes if rng.random() < 0.7 else {})
    return make


case("LeakyRelu", "Elu")(with_attributes("alpha"))
case("Selu")(with_attributes("alpha", "gamma"))
case("Celu", first=12)(with_attributes("alpha"))
case("ThresholdedRelu", first=10)(with_attributes("alpha"))
case("Swish", first=24)(with_attributes("alpha"))


@case("Gelu", first=20)
def gelu(rng, opset):
    mode = {} if rng.random() < 0.3 else {"approximate": str(rng.choice(["none", "tanh"]))}
    return Case([data(rng, shape_of(rng), -3.0, 3.0)], mode)


@case("PRelu")
def prelu(rng, opset):
    shape = shape_of(rng)
    slope = [n if rng.random() < 0.7 else 1 for n in shape]
    return Case([data(rng, shape), data(rng, slope[int(rng.integers(0, len(slope))):])])


@case("Dropout")
def dropout(rng, opset):
    x = data(rng, shape_of(rng))
    if opset < 12:
        return Case([x], {"ratio": float(rng.random())} if flip(rng) else {})
    inputs = [x, np.array(0.3)] if flip(rng) else [x]
    if len(inputs) == 2 and flip(rng):
        inputs.append(np.array(False))
    return Case(inputs, {}, tuple(range(1, len(inputs))))


def truths(rng, shape):
    return np.array(rng.random(shape) < 0.5)


def comparison(rng, opset):
    a, b = broadcastable(rng)
    halves = lambda shape: np.array(rng.integers(-2, 3, shape) / 2.0)
    return Case([halves(a), halves(b)], result=np.bool_)


case("Greater", "Less")(comparison)
case("GreaterOrEqual", "LessOrEqual", first=12)(comparison)


@case("Equal")
def equal(rng, opset):
    made = comparison(rng, opset)
    if opset < 11:
        kind = np.int64 if flip(rng) else np.bool_
        made.inputs = [x.astype(kind) for x in made.inputs]
    return made


@case("And", "Or", "Xor")
def logic(rng, opset):
    a, b = broadcastable(rng)
    return Case([truths(rng, a), truths(rng, b)])


@case("Not")
def logical_not(rng, opset):
    return Case([truths(rng, shape_of(rng, 0))])


@case("Where", first=9)
def where(rng, opset):
    a, b = broadcastable(rng)
    condition = [n if rng.random() < 0.7 else 1 for n in a]
    inputs = [data(rng, a), data(rng, b)]
    if flip(rng):  # what is left out may be infinite
        inputs[1] = np.array(np.where(rng.random(b) < 0.3, -np.inf, inputs[1]))
    return Case([truths(rng, condition), *inputs], typed_by=1)


@case("IsNaN", first=9)
def is_nan(rng, opset):
    shape = shape_of(rng, 0)
    values = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.5], shape)
    return Case([np.array(values)], result=np.bool_)


@case("IsInf", first=10)
def is_inf(rng, opset):
    made = is_nan(rng, opset)
    for name in ("detect_negative", "detect_positive"):
        if flip(rng):
            made.attributes[name] = int(flip(rng))
    return made


@case("Cast")
def cast(rng, opset):
    to = rng.choice([np.float32, np.float64, np.float16, np.bool_])
    shape = shape_of(rng, 0)
    x = truths(rng, shape) if flip(rng) else np.array(data(rng, shape) * rng.integers(0, 2, shape))
    if rng.random() < 0.3:
        to, x = (np.int64 if flip(rng) else np.int32), np.array(4 * x if x.dtype != bool else x)
    elif rng.random() < 0.2:
        x = np.array(rng.integers(-9, 9, shape), dtype=np.int64 if flip(rng) else np.int32)
    return Case([x], {"to": int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(to)))}, result=to)


@case("CastLike", first=15)
def cast_like(rng, opset):
    made = cast(rng, opset)
    like = np.zeros([1], made.result)
    return Case([made.inputs[0], like], {}, (1,), result=made.result)


@case("Sqrt")
def square_root(rng, opset):
    return Case([data(rng, shape_of(rng, 0), 0.0, 4.0)])


@case("HardSigmoid")
def hard_sigmoid(rng, opset):
    attributes = {"alpha": float(rng.uniform(0.1, 1)), "beta": float(rng.uniform(0, 1))}
    return Case([data(rng, shape_of(rng))], attributes if flip(rng) else {})


@case("Clip")
def clip(rng, opset):
    low, high = -float(rng.random()), float(rng.random())
    x = data(rng, shape_of(rng))
    if opset < 11:
        return Case([x], {"min": low, "max": high})
    low = np.array(low) if rng.random() < 0.8 else None
    high = np.array(high) if rng.random() < 0.8 else None
    return Case([x, low, high], constants=(1, 2))


@case("Softmax")
def softmax(rng, opset):
    shape = shape_of(rng, 1, 4)
    if opset < 13:  # one axis there only when it is the last
        return Case([data(rng, shape)], {"axis": len(shape) - 1})
    return Case([data(rng, shape)], {"axis": some_axis(rng, len(shape))} if flip(rng) else {})


@case("MatMul")
def matmul(rng, opset):
    m, k, n = (int(v) for v in rng.integers(1, 5, 3))
    form = int(rng.integers(5))
    if form == 0:
        return Case([data(rng, [k]), data(rng, [k, n])])
    if form == 1:
        return Case([data(rng, [m, k]), data(rng, [k])])
    if form == 2:
        return Case([data(rng, [m, k]), data(rng, [k, n])])
    a, b = broadcastable(rng)
    return Case([data(rng, [*a[:3], m, k]), data(rng, [*b[:3], k, n])]) if form == 3 and a[:3] == b[:3] \
        else Case([data(rng, [2, m, k]), data(rng, [*([2] if flip(rng) else [3, 1]), k, n])])


@case("Gemm")
def gemm(rng, opset):
    m, k, n = (int(v) for v in rng.integers(1, 5, 3))
    left, right = int(flip(rng)), int(flip(rng))
    inputs = [data(rng, [k, m] if left else [m, k]), data(rng, [n, k] if right else [k, n])]
    if opset < 11 or rng.random() < 0.8:
        inputs.append(data(rng, [[m, n], [n], [1, n], [m, 1]][int(rng.integers(4))]))
    attributes = {"transA": left, "transB": right}
    if flip(rng):
        attributes |= {"alpha": float(rng.uniform(0.5, 2)), "beta": float(rng.uniform(0.5, 2))}
    return Case(inputs, attributes)


def window(rng, spatial, dilated):
    """Attributes of a sliding window; padding is smaller than the kernel."""
    kernel = [int(k) for k in rng.integers(1, 4, spatial)]
    attributes = {"kernel_shape": kernel}
    if rng.random() < 0.7:
        attributes["strides"] = [int(s) for s in rng.integers(1, 4, spatial)]
    if dilated and rng.random() < 0.5:
        attributes["dilations"] = [int(d) for d in rng.integers(1, 3, spatial)]
    choice = rng.random()
    if choice < 0.5:
        attributes["pads"] = [int(rng.integers(0, k)) for k in kernel * 2]
    elif choice < 0.65 and "dilations" not in attributes:
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    return attributes


def conv_transpose_window(rng, spatial):
    """Attributes of a transposed convolution."""
    attributes = window(rng, spatial, True)
    if flip(rng):
        strides = attributes.get("strides", [1] * spatial)
        attributes["output_padding"] = [int(rng.integers(0, s)) for s in strides]
    return attributes


@case("Conv")
def conv(rng, opset):
    spatial, group = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    cin, cout = int(rng.integers(1, 3)), group * int(rng.integers(1, 3))
    attributes = window(rng, spatial, True)
    kernel = attributes["kernel_shape"]
    sizes = [int(n) for n in rng.integers(6, 9 if spatial < 3 else 7, spatial)]
    inputs = [data(rng, [int(rng.integers(1, 3)), cin * group, *sizes]), data(rng, [cout, cin, *kernel])]
    if flip(rng):
        inputs.append(data(rng, [cout]))
    if flip(rng):
        del attributes["kernel_shape"]
    if group > 1:
        attributes["group"] = group
    return Case(inputs, attributes)


def pool(rng, dilated, ceil):
    spatial = int(rng.integers(1, 4))
    attributes = window(rng, spatial, dilated)
    sizes = [int(n) for n in rng.integers(6, 9 if spatial < 3 else 7, spatial)]
    if ceil and "auto_pad" not in attributes and rng.random() < 0.3:
        attributes["ceil_mode"] = 1
    return Case([data(rng, [int(rng.integers(1, 3)), int(rng.integers(1, 4)), *sizes])], attributes)


@case("MaxPool")
def max_pool(rng, opset):
    return pool(rng, opset >= 10, opset >= 10)


@case("AveragePool")
def average_pool(rng, opset):
    made = pool(rng, opset >= 19, opset >= 10)
    if flip(rng):
        made.attributes["count_include_pad"] = 1
    return made


@case("GlobalAveragePool")
def global_average_pool(rng, opset):
    return Case([data(rng, shape_of(rng, 3, 5, 3))])


@case("BatchNormalization")
def batch_normalization(rng, opset):
    shape = shape_of(rng, 2, 5, 3)
    vector = lambda low, high: data(rng, [shape[1]], low, high)
    inputs = [data(rng, shape), vector(-2, 2), vector(-1, 1), vector(-1, 1), vector(0.1, 2)]
    attributes = {"epsilon": float(rng.uniform(1e-5, 1e-2))} if flip(rng) else {}
    return Case(inputs, attributes)


@case("LayerNormalization", first=17)
def layer_normalization(rng, opset):
    shape = shape_of(rng, 1, 4)
    shape[-1] += 1
    axis = -1 if rng.random() < 0.6 else some_axis(rng, len(shape))
    inner = shape[axis:]
    inputs = [data(rng, shape), data(rng, inner)] + ([data(rng, inner)] if flip(rng) else [])
    attributes = {} if axis == -1 and flip(rng) else {"axis": axis}
    made = Case(inputs, attributes | {"epsilon": float(rng.uniform(1e-5, 1e-2))})
    if rng.random() < 0.3:  # the moments as well, which are of float32
        made.outputs, made.inputs = 3, [x.astype(np.float32) for x in inputs]
    return made


@case("Transpose")
def transpose(rng, opset):
    shape = shape_of(rng, 1, 5)
    perm = [int(p) for p in rng.permutation(len(shape))]
    return Case([data(rng, shape)], {"perm": perm} if rng.random() < 0.8 else {})


@case("Reshape")
def reshape(rng, opset):
    shape = shape_of(rng, 1, 4)
    target = [n for n in shape if n > 1]
    rng.shuffle(target)
    if len(target) > 1 and flip(rng):
        target[:2] = [target[0] * target[1]]
    if flip(rng):
        target.insert(int(rng.integers(0, len(target) + 1)), 1)
    if target and target[0] == shape[0] and flip(rng):
        target[0] = 0
    if len(target) > 1 and flip(rng):
        target[-1] = -1
    return Case([data(rng, shape), i64(target)], constants=(1,))


@case("Flatten")
def flatten(rng, opset):
    shape = shape_of(rng, 1, 4)
    low = -len(shape) if opset >= 11 else 0
    axis = int(rng.integers(low, len(shape) + 1))
    return Case([data(rng, shape)], {"axis": axis} if rng.random() < 0.8 and len(shape) else {})


def with_axes(x, axes, opset, first_input_opset):
    """The axes as an attribute, or as a constant input from that opset on."""
    if opset < first_input_opset:
        return Case([x], {"axes": axes})
    return Case([x, i64(axes)], constants=(1,))


@case("Squeeze")
def squeeze(rng, opset):
    shape = shape_of(rng, 1, 4)
    ones = distinct_axes(rng, len(shape))
    if opset < 11:
        ones = [a % len(shape) for a in ones]
    for axis in ones:
        shape[axis] = 1
    if rng.random() < 0.2:
        return Case([data(rng, shape)])
    return with_axes(data(rng, shape), ones, opset, 13)


@case("Unsqueeze")
def unsqueeze(rng, opset):
    shape = shape_of(rng, 0, 3)
    rank = len(shape) + int(rng.integers(1, 3))
    axes = [int(a) for a in rng.choice(rank, rank - len(shape), replace=False)]
    if opset >= 11 and flip(rng):
        axes = [a - rank for a in axes]
    return with_axes(data(rng, shape), axes, opset, 13)


@case("Concat")
def concat(rng, opset):
    shape = shape_of(rng, 1, 4)
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(len(shape)))
    inputs = []
    for _ in range(int(rng.integers(1, 5))):
        shape[axis] = int(rng.integers(1, 4))
        inputs.append(data(rng, shape))
    return Case(inputs, {"axis": axis})


@case("Split")
def split(rng, opset):
    shape = shape_of(rng, 1, 4)
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(len(shape)))
    parts = [int(n) for n in rng.integers(1, 4, rng.integers(1, 4))]
    even = rng.random() < 0.3
    if even:
        parts = parts[:1] * len(parts)
    shape[axis] = sum(parts)
    made = Case([data(rng, shape)], {"axis": axis}, outputs=len(parts))
    if not even and opset < 13:
        made.attributes["split"] = parts
    elif not even:
        made.inputs.append(i64(parts))
        made.constants = (1,)
    elif opset >= 18:
        made.attributes["num_outputs"] = len(parts)
    return made


def reduction(first_input_opset, low=-2.0, high=2.0):
    def make(rng, opset):
        shape = shape_of(rng, 1, 4)
        keep = {} if flip(rng) else {"keepdims": int(flip(rng))}
        axes = distinct_axes(rng, len(shape))
        if opset < 11:
            axes = [a % len(shape) for a in axes]
        if rng.random() < 0.2:
            return Case([data(rng, shape, low, high)], keep)
        made = with_axes(data(rng, shape, low, high), axes, opset, first_input_opset)
        made.attributes |= keep
        return made
    return make


case("ReduceSum")(reduction(13))
case("ReduceMean", "ReduceMax")(reduction(18))


@case("Resize", first=11)
def resize(rng, opset):
    shape = shape_of(rng, 3, 4, 4)
    factors = [1.0, 1.0] + [float(f) for f in rng.integers(1, 4, len(shape) - 2)]
    mode = str(rng.choice(["nearest", "linear"]))
    coordinates = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attributes = {"mode": mode,
                  "coordinate_transformation_mode": str(rng.choice(coordinates))}
    if mode == "nearest":
        rounding = ["floor", "round_prefer_floor", "round_prefer_ceil", "ceil"]
        attributes["nearest_mode"] = str(rng.choice(rounding))
    roi = np.array([], dtype=np.float32) if opset < 13 else None
    if flip(rng):
        return Case([data(rng, shape), roi, np.array(factors, dtype=np.float32)], attributes, (1, 2))
    sizes = i64([int(n * f) for n, f in zip(shape, factors)])
    return Case([data(rng, shape), roi, np.array([], dtype=np.float32) if opset < 13 else None,
                 sizes], attributes, (1, 2, 3))


@case("Upsample", last=9)
def upsample(rng, opset):
    shape = shape_of(rng, 4, 4, 3)
    factors = [1.0, 1.0, *(float(f) for f in rng.integers(1, 4, 2))]
    attributes = {"mode": str(rng.choice(["nearest", "linear"]))}
    if opset < 9:
        return Case([data(rng, shape)], attributes | {"scales": factors})
    return Case([data(rng, shape), np.array(factors, dtype=np.float32)], attributes, (1,))


def register_by_schema(kind):
    """Cases for an operator without required attributes; False when it has some."""
    schema = onnx.defs.get_schema(kind)
    if any(attribute.required for attribute in schema.attributes.values()):
        return False
    first = min(s.since_version for s in onnx.defs.get_all_schemas_with_history()
                if s.name == kind and s.domain == "")

    def same_shapes(rng, opset):
        shape = shape_of(rng)
        return Case([data(rng, shape) for _ in range(schema.min_input)])
    case(kind, first=max(first, 7))(same_shapes)
    return True
