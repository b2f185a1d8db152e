"""A language model's decoder with the attention of every head written out: many nodes."""
import numpy as np

from builder import Builder


def decoder(name, layers, width, heads, length, seed):
    """RMS norms from single operators, one projection for all queries, keys and values, rotary
    positions, a gated feed-forward part."""
    b = Builder(name, seed)
    size = width // heads
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(size) // 2 * 2 / size))
    rotary = b.floats("cos", np.cos(angles)), b.floats("sin", np.sin(angles))
    mask = b.floats("mask", np.triu(np.full((length, length), -1e9), 1))
    x = b.input("hidden", [1, length, width])
    for _ in range(layers):
        y = rms_norm(b, x, width)
        parts = b.op("Split", [product(b, y, width, 3 * width)], outputs=3 * heads, axis=-1)
        mixed = [head(b, parts[k::heads], size, rotary, mask) for k in range(heads)]
        joined = b.op("Concat", mixed, axis=-1)
        x = b.op("Add", [x, product(b, joined, width, width)])
        y = rms_norm(b, x, width)
        gate = product(b, y, width, 2 * width)
        gate = b.op("Mul", [gate, b.op("Sigmoid", [gate])])
        y = b.op("Mul", [gate, product(b, y, width, 2 * width)])
        x = b.op("Add", [x, product(b, y, 2 * width, width)])
    b.output(rms_norm(b, x, width), "out", [1, length, width])
    return b.model()


def product(b, x, cin, cout):
    return b.op("MatMul", [x, b.normal("weight", (cin, cout), cin ** -0.5)])


def rms_norm(b, x, width):
    square = b.op("Mul", [x, x])
    mean = b.op("ReduceMean", [square], axes=[-1], keepdims=1)
    root = b.op("Sqrt", [b.op("Add", [mean, b.floats("epsilon", 1e-6)])])
    return b.op("Mul", [b.op("Div", [x, root]), b.normal("gain", (width,), 1.0)])


def head(b, parts, size, rotary, mask):
    query, key, value = rotate(b, parts[0], size, rotary), rotate(b, parts[1], size, rotary), parts[2]
    scores = b.op("MatMul", [query, b.op("Transpose", [key], perm=[0, 2, 1])])
    scores = b.op("Mul", [scores, b.floats("scale", size ** -0.5)])
    weights = b.op("Softmax", [b.op("Add", [scores, mask])], axis=-1)
    return b.op("MatMul", [weights, value])


def rotate(b, x, size, rotary):
    def half(first, last):
        return b.op("Slice", [x, b.ints("begin", [first]), b.ints("end", [last]),
                              b.ints("axes", [-1])])

    turned = b.op("Concat", [b.op("Neg", [half(size // 2, size)]), half(0, size // 2)], axis=-1)
    return b.op("Add", [b.op("Mul", [x, rotary[0]]), b.op("Mul", [turned, rotary[1]])])


MODELS = {
    "decoder_2k": lambda seed: decoder("decoder_2k", 5, 240, 20, 64, seed),
    "decoder_20k": lambda seed: decoder("decoder_20k", 48, 240, 20, 64, seed),
}
