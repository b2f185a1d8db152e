"""The blocks: ways to write each, and the operators of the target that it should become."""
import dataclasses
import math

import numpy as np

from terms import (add, call, const, div, largest, matmul, mean, mul, power, reshape, sqrt, sub,
                   tensor, total, transpose, unary)

RNG = np.random.default_rng(7)


def weight(*shape, scale=1.0):
    return const(RNG.standard_normal(shape) * scale)


@dataclasses.dataclass
class Block:
    name: str
    inputs: list
    ways: list      # terms that are equal
    operators: set  # one of them is in the best form; empty: it is judged by its price alone


def square(x):
    return mul(x, x)


def layernorm(x, axis, gain, shift, epsilon=1e-5):
    centred = sub(x, mean(x, axis))
    variances = [mean(power(centred, 2), axis),
                 sub(mean(square(x), axis), square(mean(x, axis)))]
    scaled = [div(centred, sqrt(add(v, const(epsilon)))) for v in variances]
    return [add(mul(s, gain), shift) for s in scaled]


def last_axis():
    x = tensor("x", 8, 128, 256)
    return Block("layernorm", [x], layernorm(x, 2, weight(256), weight(256)),
                 {"LayerNormalization"})


def channels_first():
    x = tensor("x", 2, 64, 28, 28)
    return Block("layernorm-channels-first", [x],
                 layernorm(x, 1, weight(64, 1, 1), weight(64, 1, 1)), {"LayerNormalization"})


def rmsnorm():
    x, w = tensor("x", 8, 128, 256), weight(256)
    v = add(mean(square(x), 2), const(1e-6))
    ways = [mul(mul(x, unary("Reciprocal", sqrt(v))), w), mul(mul(x, power(v, -0.5)), w),
            mul(div(x, sqrt(v)), w)]
    return Block("rmsnorm", [x], ways, {"RMSNormalization", "SimplifiedLayerNormalization"})


def skip_layernorm():
    x, skip = tensor("x", 4, 128, 64), tensor("skip", 4, 128, 256)
    product, bias = matmul(x, weight(64, 256, scale=0.1)), weight(256)
    sums = [add(add(product, bias), skip), add(skip, add(bias, product)),
            add(product, add(skip, bias))]
    gain, shift = weight(256), weight(256)
    ways = [way for s in sums for way in layernorm(s, 2, gain, shift)]
    return Block("bias-skip-layernorm", [x, skip], ways,
                 {"SkipLayerNormalization", "LayerNormalization"})


def gelu_erf():
    x = tensor("x", 4, 128, 512)
    e = unary("Erf", div(x, const(math.sqrt(2))))
    ways = [mul(mul(x, add(e, const(1))), const(0.5)), mul(mul(x, const(0.5)), add(e, const(1))),
            add(mul(x, const(0.5)), mul(mul(x, const(0.5)), e)),
            mul(x, add(mul(e, const(0.5)), const(0.5)))]
    return Block("gelu-erf", [x], ways, {"Gelu"})


def gelu_tanh():
    x = tensor("x", 4, 128, 512)
    c, k = const(math.sqrt(2 / math.pi)), const(0.044715)
    inner = [mul(add(x, mul(power(x, 3), k)), c),
             mul(mul(x, add(mul(square(x), k), const(1))), c)]
    ways = [mul(mul(x, const(0.5)), add(unary("Tanh", i), const(1))) for i in inner]
    return Block("gelu-tanh", [x], ways, {"Gelu", "FastGelu"})


def silu():
    x = tensor("x", 4, 128, 512)
    ways = [mul(x, unary("Sigmoid", x)), div(x, add(const(1), unary("Exp", unary("Neg", x))))]
    return Block("silu", [x], ways, {"Swish", "QuickGelu"})


def quick_gelu():
    x = tensor("x", 4, 128, 512)
    ways = [mul(x, unary("Sigmoid", mul(x, const(1.702))))]
    return Block("quick-gelu", [x], ways, {"Swish", "QuickGelu"})


def softmax_parts():
    x = tensor("x", 2, 8, 128, 128)
    e, plain = unary("Exp", sub(x, largest(x, 3))), unary("Exp", x)
    ways = [div(e, total(e, 3)), div(plain, total(plain, 3)),
            unary("Exp", call("LogSoftmax", x, axis=3))]
    return Block("softmax", [x], ways, {"Softmax"})


def masked_softmax():
    x, mask = tensor("x", 2, 8, 128, 128), tensor("mask", 2, 1, 128, 128)
    s = add(mul(x, const(0.125)), mask)
    e = unary("Exp", sub(s, largest(s, 3)))
    ways = [call("Softmax", s, axis=3), div(e, total(e, 3))]
    return Block("masked-softmax", [x, mask], ways, {"Softmax"})


def halves(x, axis, size):
    part = lambda a, b: call("Slice", x, axis=axis, begin=a, end=b, step=1)
    return part(0, size // 2), part(size // 2, size)


def rotary(interleaved):
    heads, places, size = 8, 128, 64
    x = tensor("x", 2, heads, places, size)
    angle = np.outer(np.arange(places), 10000.0 ** (-np.arange(0, size, 2) / size))
    if interleaved:
        cos, sin = const(np.cos(angle)), const(np.sin(angle))
        part = lambda k: call("Slice", x, axis=3, begin=k, end=size, step=2)
        even, odd = part(0), part(1)
        wide = lambda t: reshape(t, 2, heads, places, size // 2, 1)
        turned = (sub(mul(even, cos), mul(odd, sin)), add(mul(even, sin), mul(odd, cos)))
        ways = [reshape(call("Concat", *map(wide, turned), axis=4), 2, heads, places, size)]
    else:
        cos, sin = (const(np.concatenate([f(angle)] * 2, axis=1)) for f in (np.cos, np.sin))
        low, high = halves(x, 3, size)
        ways = [add(mul(x, cos), mul(call("Concat", unary("Neg", high), low, axis=3), sin))]
        cos, sin = const(np.cos(angle)), const(np.sin(angle))
        ways.append(call("Concat", sub(mul(low, cos), mul(high, sin)),
                         add(mul(high, cos), mul(low, sin)), axis=3))
    return Block("rotary-interleaved" if interleaved else "rotary-half", [x], ways,
                 {"RotaryEmbedding"})


def repeat_kv():
    heads, groups, size = 4, 3, 64
    q = tensor("q", 2, heads * groups, 8, size)
    k, v = (tensor(n, 2, heads, 256, size) for n in "kv")
    def repeat(t):
        wide = call("Expand", reshape(t, 2, heads, 1, 256, size),
                    shape=(2, heads, groups, 256, size))
        return reshape(wide, 2, heads * groups, 256, size)
    scores = mul(matmul(q, transpose(repeat(k), 0, 1, 3, 2)), const(size ** -0.5))
    early = matmul(mul(q, const(size ** -0.5)), transpose(repeat(k), 0, 1, 3, 2))
    ways = [matmul(call("Softmax", s, axis=3), repeat(v)) for s in (scores, early)]
    return Block("repeat-kv", [q, k, v], ways, set())


def attention(masked):
    heads, places, size = 8, 128, 32
    q, k, v = (tensor(n, 2, places, heads * size) for n in "qkv")
    mask = tensor("mask", 2, 1, places, places)
    split = lambda t: transpose(reshape(t, 2, places, heads, size), 0, 2, 1, 3)
    turned = transpose(split(k), 0, 1, 3, 2)
    direct = transpose(reshape(k, 2, places, heads, size), 0, 2, 3, 1)
    scale = const(size ** -0.5)
    scores = [mul(matmul(split(q), turned), scale),
              div(matmul(split(q), direct), const(size ** 0.5)),
              matmul(mul(split(q), scale), direct), matmul(split(q), mul(turned, scale)),
              matmul(split(mul(q, scale)), turned)]
    if masked:
        scores = [add(s, mask) for s in scores]
    ways = [reshape(transpose(matmul(call("Softmax", s, axis=3), split(v)), 0, 2, 1, 3),
                    2, places, heads * size) for s in scores]
    return Block("attention-masked" if masked else "attention", [q, k, v] + [mask] * masked, ways,
                 {"MultiHeadAttention", "Attention"})


def leaky_relu():
    x, slope = tensor("x", 2, 64, 28, 28), 0.1
    ways = [call("PRelu", x, const(np.full((64, 1, 1), slope))), call("PRelu", x, const([slope])),
            call("Max", x, mul(x, const(slope))),
            sub(unary("Relu", x), mul(unary("Relu", unary("Neg", x)), const(slope))),
            call("LeakyRelu", x, alpha=slope)]
    return Block("leaky-relu", [x], ways, {"LeakyRelu"})


def hard_swish():
    x = tensor("x", 2, 64, 28, 28)
    gate = call("Clip", add(x, const(3)), const(0), const(6))
    ways = [div(mul(x, gate), const(6)), mul(x, div(gate, const(6))),
            mul(x, call("HardSigmoid", x, alpha=1 / 6, beta=0.5))]
    return Block("hard-swish", [x], ways, {"HardSwish"})


BLOCKS = [last_axis, channels_first, rmsnorm, skip_layernorm, gelu_erf, gelu_tanh, silu, quick_gelu,
          softmax_parts, masked_softmax, lambda: rotary(False), lambda: rotary(True), repeat_kv,
          lambda: attention(False), lambda: attention(True), leaky_relu, hard_swish]
