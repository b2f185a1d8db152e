"""Random uses of normalisations, reductions, pools and products: see cases.py."""
import numpy as np

from cases import (Case, case, conv_transpose_window, data, distinct_axes, flip, i64, pool, reduction,
                   shape_of, some_axis)

case("ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")(reduction(18))
case("ReduceLogSum")(reduction(18, 0.5, 3.0))


@case("ReduceProd")
def product(rng, opset):
    """With a zero now and then."""
    made = reduction(18)(rng, opset)
    x = made.inputs[0]
    made.inputs[0] = np.where(rng.random(x.shape) < 0.02, 0.0, x)
    return made


@case("CumSum", first=11)
def cumulative_sum(rng, opset):
    shape = shape_of(rng, 1, 4)
    attributes = {name: 1 for name in ("exclusive", "reverse") if flip(rng)}
    return Case([data(rng, shape), np.array(some_axis(rng, len(shape)), dtype=np.int64)],
                attributes, (1,))


@case("LogSoftmax")
def log_softmax(rng, opset):
    shape = shape_of(rng, 1 if opset >= 13 else 2, 4)
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(len(shape)))
    return Case([data(rng, shape)], {"axis": axis} if flip(rng) else {})


def single(rng, shape):
    """Of the type that onnxruntime takes, where ONNX's reference is wrong."""
    return data(rng, shape).astype(np.float32)


def with_epsilon(rng, attributes=None):
    return (attributes or {}) | ({"epsilon": float(rng.uniform(0.1, 1))} if flip(rng) else {})


@case("InstanceNormalization")
def instance_normalization(rng, opset):
    shape = shape_of(rng, 3, 5, 3)
    shape[-1] += 1
    return Case([data(rng, shape), data(rng, shape[1:2]), data(rng, shape[1:2])], with_epsilon(rng))


@case("GroupNormalization", first=18)
def group_normalization(rng, opset):
    shape, groups = shape_of(rng, 3, 5, 3), int(rng.integers(1, 4))
    shape[1] *= groups
    shape[-1] += 1
    each = [groups] if opset < 21 else shape[1:2]
    return Case([data(rng, shape), data(rng, each), data(rng, each)],
                with_epsilon(rng, {"num_groups": groups}))


@case("RMSNormalization", first=23)
def rms_normalization(rng, opset):
    shape = shape_of(rng, 1, 4)
    axis = -1 if rng.random() < 0.6 else some_axis(rng, len(shape))
    attributes = {} if axis == -1 and flip(rng) else {"axis": axis}
    return Case([data(rng, shape), data(rng, shape[axis:])], with_epsilon(rng, attributes))


@case("MeanVarianceNormalization", first=9)
def mean_variance_normalization(rng, opset):
    shape = shape_of(rng, 4, 4, 3)
    shape[-1] += 2
    return Case([single(rng, shape)], {} if flip(rng) else {"axes": [*distinct_axes(rng, 3), 3]})


@case("LpNormalization")
def lp_normalization(rng, opset):
    shape = shape_of(rng, 1, 4)
    attributes = {"p": int(rng.integers(1, 3))} if flip(rng) else {}
    if flip(rng):
        attributes["axis"] = some_axis(rng, len(shape))
    signs = rng.choice([-1.0, 1.0], shape) if flip(rng) else rng.choice([0.0, 0.0, 1.0], shape)
    return Case([data(rng, shape, 0.5, 2.0) * signs], attributes)


@case("LRN")
def local_response_normalization(rng, opset):
    shape = shape_of(rng, 4, 4, 5)
    attributes = {"size": 2 * int(rng.integers(0, 4)) + 1}
    for name in ("alpha", "beta", "bias"):
        if rng.random() < 0.7:
            attributes[name] = float(rng.uniform(0.2, 2))
    return Case([single(rng, shape)], attributes)


@case("GlobalMaxPool")
def global_max_pool(rng, opset):
    return Case([single(rng, shape_of(rng, 3, 5, 3))])


@case("LpPool")
def lp_pool(rng, opset):
    made = pool(rng, opset >= 18, opset >= 18)
    if flip(rng):
        made.attributes["p"] = int(rng.integers(1, 4))
    return made


@case("GlobalLpPool", last=21)
def global_lp_pool(rng, opset):
    return Case([single(rng, shape_of(rng, 3, 5, 3))],
                {"p": int(rng.integers(1, 4))} if flip(rng) else {})


@case("ConvTranspose")
def conv_transpose(rng, opset):
    spatial, group = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    cin, cout = group * int(rng.integers(1, 3)), int(rng.integers(1, 3))
    attributes = conv_transpose_window(rng, spatial)
    sizes = [int(n) for n in rng.integers(3, 6 if spatial < 3 else 4, spatial)]
    inputs = [single(rng, [int(rng.integers(1, 3)), cin, *sizes]),
              single(rng, [cin, cout, *attributes["kernel_shape"]])]
    if flip(rng):
        inputs.append(single(rng, [cout * group]))
    if rng.random() < 0.3:
        give_output_shape(rng, attributes, sizes)
    if flip(rng):
        del attributes["kernel_shape"]
    if group > 1:
        attributes["group"] = group
    return Case(inputs, attributes)


def give_output_shape(rng, attributes, sizes):
    """In the place of pads: a little less than what comes without any."""
    count = len(sizes)
    strides, dilations, more = (attributes.get(name, [fallback] * count) for name, fallback in
                                (("strides", 1), ("dilations", 1), ("output_padding", 0)))
    whole = [s * (n - 1) + p + d * (k - 1) + 1 for n, k, s, d, p in
             zip(sizes, attributes["kernel_shape"], strides, dilations, more)]
    attributes.pop("pads", None)
    attributes.pop("auto_pad", None)
    attributes["output_shape"] = [max(1, n - int(rng.integers(0, 3))) for n in whole]
    if flip(rng):
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->", "ii->i", "i,j->ij",
             "bhqd,bhkd->bhqk", "...ij,...jk->...ik", "ij,jk", "ba", "...a->a...", "bij,jk->kib",
             "i,i->", "bnd,b->nd", "ijj,jk->ki", "...,...", "A b , b c -> c A"]


@case("Einsum", first=12)
def einsum(rng, opset):
    equation = EQUATIONS[int(rng.integers(len(EQUATIONS)))]
    sizes = {letter: int(rng.integers(1, 5)) for letter in sorted(set(equation))}
    front = shape_of(rng, 0, 2, 3)
    inputs = []
    for term in equation.replace(" ", "").split("->")[0].split(","):
        letters = [sizes[c] for c in term.replace("...", "")]
        at = term.find("...")
        inputs.append(data(rng, letters if at < 0 else letters[:at] + front + letters[at:]))
    return Case(inputs, {"equation": equation})


@case("Attention", first=23)
def attention(rng, opset):
    batch, kv_heads, queries, keys, size, width = (int(n) for n in rng.integers(1, 4, 6))
    heads = kv_heads * int(rng.integers(1, 3))
    shapes = [[heads, queries, size], [kv_heads, keys, size], [kv_heads, keys, width]]
    attributes = {}
    if flip(rng):
        inputs = [data(rng, [batch, *s]) for s in shapes]
    else:
        inputs = [data(rng, [batch, n, h * d]) for h, n, d in shapes]
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    if flip(rng):
        full = [batch, heads, queries, keys]
        front = [n if flip(rng) else 1 for n in full[:2]]
        inputs.append(data(rng, [*front, *full[2:]][int(rng.integers(0, 3)):]))
    if flip(rng):
        attributes["is_causal"] = 1
    for name in ("scale", "softcap"):
        if rng.random() < 0.4:
            attributes[name] = float(rng.uniform(0.5, 2))
    return Case(inputs, attributes)


@case("RotaryEmbedding", first=23)
def rotary_embedding(rng, opset):
    batch, heads, places = (int(n) for n in rng.integers(1, 4, 3))
    size, attributes = 2 * int(rng.integers(1, 4)), {}
    dim = size
    if flip(rng):
        size += 2 * int(rng.integers(0, 3))
        attributes["rotary_embedding_dim"] = dim
    if flip(rng):
        shape = [batch, heads, places, size]
    else:
        shape, attributes["num_heads"] = [batch, places, heads * size], heads
    if flip(rng):
        attributes["interleaved"] = 1
    angles = data(rng, [batch, places, dim // 2], -3, 3)
    return Case([data(rng, shape), np.cos(angles), np.sin(angles)], attributes)
