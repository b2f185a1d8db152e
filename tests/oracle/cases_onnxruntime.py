"""Random uses of onnxruntime's own operators (domain com.microsoft): see cases.py. Its kernels for
the CPU are the oracle; they take float32."""
import numpy as np
from onnx import helper, shape_inference, TensorProto
from onnx.reference.op_run import OpRun

from cases import Case, case, conv, data, flip, shape_of
from cases_layers import single

OWN = "com.microsoft:"


@case(OWN + "Gelu")
def gelu(rng, opset):
    return Case([single(rng, shape_of(rng))])


@case(OWN + "FastGelu")
def fast_gelu(rng, opset):
    shape = shape_of(rng)
    return Case([single(rng, shape)] + ([single(rng, shape[-1:])] if flip(rng) else []))


@case(OWN + "BiasGelu")
def bias_gelu(rng, opset):
    shape = shape_of(rng)
    return Case([single(rng, shape), single(rng, shape[-1:])])


@case(OWN + "QuickGelu")
def quick_gelu(rng, opset):
    return Case([single(rng, shape_of(rng))],
                {"alpha": float(rng.uniform(0.5, 3))} if flip(rng) else {})


@case("SimplifiedLayerNormalization")
def simplified_layer_normalization(rng, opset):
    shape = shape_of(rng, 2, 3)
    axis = int(rng.integers(1, len(shape)))
    attributes = {"axis": axis} if axis < len(shape) - 1 or flip(rng) else {}
    if flip(rng):
        attributes["epsilon"] = float(rng.uniform(0.1, 1))
    return Case([single(rng, shape), single(rng, shape[axis:])], attributes)


def skip_normalization(weights):
    """Of data, a skip connection and up to so many vectors."""
    def make(rng, opset):
        shape = [*shape_of(rng, 1, 2), int(rng.integers(2, 6))]
        vectors = [single(rng, shape[-1:]) for _ in range(int(rng.integers(1, weights + 1)))]
        attributes = {"epsilon": float(rng.uniform(0.1, 1))} if flip(rng) else {}
        return Case([single(rng, shape), single(rng, shape), *vectors], attributes,
                    outputs=4 if flip(rng) else 1, unnamed=(1, 2))
    return make


case(OWN + "SkipLayerNormalization")(skip_normalization(3))
case(OWN + "SkipSimplifiedLayerNormalization")(skip_normalization(2))


@case(OWN + "FusedMatMul")
def fused_matmul(rng, opset):
    rows, inner, columns = (int(n) for n in rng.integers(1, 5, 3))
    batch = shape_of(rng, 1, 2) if flip(rng) else []
    attributes = {name: 1 for name in ("transA", "transB") if flip(rng)}
    if flip(rng):
        attributes["alpha"] = float(rng.uniform(-2, 2))
    left = [inner, rows] if "transA" in attributes else [rows, inner]
    right = [columns, inner] if "transB" in attributes else [inner, columns]
    return Case([single(rng, batch + left), single(rng, (batch if flip(rng) else []) + right)],
                attributes)


@case(OWN + "FusedGemm")
def fused_gemm(rng, opset):
    m, k, n = (int(n) for n in rng.integers(1, 5, 3))
    attributes = {name: 1 for name in ("transA", "transB") if flip(rng)}
    for name in ("alpha", "beta"):
        if flip(rng):
            attributes[name] = float(rng.uniform(-2, 2))
    a = [k, m] if "transA" in attributes else [m, k]
    b = [n, k] if "transB" in attributes else [k, n]
    inputs = [single(rng, a), single(rng, b)]
    if flip(rng) or "beta" in attributes:
        inputs.append(single(rng, [[n], [1, n], [m, n], [m, 1]][int(rng.integers(4))]))
    kind = ["Relu", "Tanh", "Sigmoid", "LeakyRelu"][int(rng.integers(4))]
    attributes["activation"] = kind
    if kind == "LeakyRelu":
        attributes["activation_alpha"] = float(rng.uniform(0.1, 0.5))
    return Case(inputs, attributes)


ACTIVATIONS = {"Relu": [], "Tanh": [], "Sigmoid": [], "LeakyRelu": [0.25], "Clip": [-0.5, 1.5],
               "HardSigmoid": [0.25, 0.5]}


def convolved(made, opset):
    """The shape of a convolution's result."""
    names = [f"x{k}" for k in range(len(made.inputs))]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Conv", names, ["y"], **made.attributes)], "shape",
        [info(n, TensorProto.FLOAT, x.shape) for n, x in zip(names, made.inputs)],
        [info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    inferred = shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape
    return [d.dim_value for d in inferred.dim]


@case(OWN + "FusedConv")
def fused_conv(rng, opset):
    made = conv(rng, opset)
    made.inputs = [x.astype(np.float32) for x in made.inputs]
    if len(made.inputs) == 3 and flip(rng):
        made.inputs.append(single(rng, convolved(made, opset)))
    kind = list(ACTIVATIONS)[int(rng.integers(len(ACTIVATIONS)))]
    made.attributes["activation"] = kind
    if ACTIVATIONS[kind]:
        made.attributes["activation_params"] = ACTIVATIONS[kind]
    return made


@case(OWN + "MultiHeadAttention")
def multi_head_attention(rng, opset):
    batch, heads, queries, keys, size, width = (int(n) for n in rng.integers(1, 4, 6))
    if flip(rng):
        keys = queries
    widths = [heads * size, heads * size, heads * width]
    inputs = [single(rng, [batch, n, w]) for n, w in zip((queries, keys, keys), widths)]
    inputs.append(single(rng, [sum(widths)]) if flip(rng) else None)
    attributes = {"num_heads": heads}
    if flip(rng):
        inputs += [None, single(rng, [n if flip(rng) else 1 for n in (batch, heads)] +
                                [queries, keys])]
    if flip(rng):
        attributes["scale"] = float(rng.uniform(0.5, 2))
    if keys == queries and flip(rng):
        attributes["unidirectional"] = 1
    return Case(inputs, attributes)


@case(OWN + "RotaryEmbedding")
def rotary_embedding(rng, opset):
    batch, heads, places, pairs, rows = (int(n) for n in rng.integers(1, 4, 5))
    size, attributes = 2 * pairs, {}
    shape = [batch, places, heads * size]
    if flip(rng):
        size += 2
        shape[2] = heads * size
        attributes |= {"rotary_embedding_dim": 2 * pairs, "num_heads": heads}
    elif flip(rng):
        shape = [batch, heads, places, size]
    if flip(rng):
        attributes["interleaved"] = 1
    rows += places
    start = rng.integers(0, rows - places + 1, [1])
    positions = start if flip(rng) else rng.integers(0, rows, [batch, places])
    angles = data(rng, [rows, pairs], -3, 3)
    return Case([single(rng, shape), positions.astype(np.int64),
                 np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)], attributes)


class BiasSoftmax(OpRun):
    """onnxruntime has it for graphics cards alone: here it is said in numpy."""
    op_domain = "com.microsoft"

    def _run(self, x, bias, axis=None, is_inner_broadcast=None):
        axis = (1 if axis is None else axis) % x.ndim
        rows = (x + bias).astype(np.float64).reshape(*x.shape[:axis], -1)
        powers = np.exp(rows - rows.max(-1, keepdims=True))
        return ((powers / powers.sum(-1, keepdims=True)).reshape(x.shape).astype(x.dtype),)


REFERENCES = [BiasSoftmax]


@case(OWN + "BiasSoftmax")
def bias_softmax(rng, opset):
    shape = shape_of(rng, 2, 4)
    bias = [n if flip(rng) else 1 for n in shape]
    attributes = {"axis": int(rng.integers(-len(shape), len(shape)))} if flip(rng) else {}
    return Case([single(rng, shape), single(rng, bias)], attributes | {"is_inner_broadcast": 1})
