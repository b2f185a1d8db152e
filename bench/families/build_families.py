#!/usr/bin/env python3
"""Writes small models of the substitution families that pay, before and as one would write them.

  python bench/families/build_families.py --out DIR [--seed N]

NN-name.before.onnx is what an optimiser gets, NN-name.after.onnx the form that is known to be better;
their weights differ, only costs are compared. A control has no after-form: nothing is to be won.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
from builder import Builder  # noqa: E402


def network(name, build, shapes, seed):
    """One model: build(b, *inputs) returns the name of the output."""
    b = Builder(name, seed)
    inputs = [b.input(f"x{k}", shape) for k, shape in enumerate(shapes)]
    results = build(b, *inputs)
    graph = onnx.helper.make_graph(b.nodes, name, b.inputs, [], b.initializers)
    imports = [onnx.helper.make_opsetid("", b.opset)]
    inferred = onnx.shape_inference.infer_shapes(
        onnx.helper.make_model(graph, opset_imports=imports))
    known = {v.name: v for v in inferred.graph.value_info}
    b.outputs = [known[r] for r in (results if isinstance(results, list) else [results])]
    return b.model()


def add(b, *xs):
    total = xs[0]
    for x in xs[1:]:
        total = b.op("Add", [total, x])
    return total


def product(b, x, cin, cout):
    return b.op("MatMul", [x, b.normal("w", (cin, cout), cin ** -0.5)])


def bias(b, x, width):
    return b.op("Add", [x, b.normal("b", (width,), 0.1)])


def shuffle(b, x, groups, channels, size):
    x = b.op("Reshape", [x, b.ints("shape", [1, groups, channels // groups, size, size])])
    x = b.op("Transpose", [x], perm=[0, 2, 1, 3, 4])
    return b.op("Reshape", [x, b.ints("shape", [1, channels, size, size])])


def upsampled(b, x):
    return b.op("Resize", [x, "", b.floats("scales", [1, 1, 2, 2])], mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def focus(b, x, size):
    def part(i, j):
        return b.op("Slice", [x, b.ints("begin", [i, j]), b.ints("end", [size, size]),
                              b.ints("axes", [2, 3]), b.ints("steps", [2, 2])])
    return b.op("Concat", [part(0, 0), part(1, 0), part(0, 1), part(1, 1)], axis=1)


def hard_swish(b, x):
    y = b.op("Clip", [b.op("Add", [x, b.floats("three", 3.0)]), b.floats("zero", 0.0),
                      b.floats("six", 6.0)])
    return b.op("Div", [b.op("Mul", [x, y]), b.floats("six", 6.0)])


def first_row(b, x):
    return b.op("Gather", [x, b.constant("first", np.int64(0))], axis=1)


def transposed(b, x, *perm):
    return b.op("Transpose", [x], perm=list(perm))


def flat(b, x, *shape):
    return b.op("Reshape", [x, b.ints("shape", shape)])


def strided_twice(b, x, inner, outer):
    y = b.relu(b.conv(x, 64, 64, 3, inner, 1))
    return [b.conv(y, 64, 128, 1, outer), b.conv(y, 64, 64, 1, outer)]


# name: (input shapes, before, after)
FAMILIES = {
    "01-conv-sums": ([[1, 32, 28, 28]],
        lambda b, x: add(b, b.conv_bn(x, 32, 32, 3, 1, 1), b.conv_bn(x, 32, 32, 1),
                         b.batch_norm(x, 32)),
        lambda b, x: b.conv(x, 32, 32, 3, 1, 1, bias=True)),
    "02-pointwise-below-pooling": ([[1, 64, 28, 28]],
        lambda b, x: b.average_pool(b.conv(x, 64, 32), 2, 2),
        lambda b, x: b.conv(b.average_pool(x, 2, 2), 64, 32)),
    "03-only-some-rows": ([[1, 64, 128]],
        lambda b, x: first_row(b, bias(b, product(
            b, b.relu(bias(b, product(b, x, 128, 512), 512)), 512, 128), 128)),
        lambda b, x: bias(b, product(b, b.relu(bias(b, product(
            b, first_row(b, x), 128, 512), 512)), 512, 128), 128)),
    "04-strides-move-up": ([[1, 64, 28, 28]],
        lambda b, x: strided_twice(b, x, 1, 2),
        lambda b, x: strided_twice(b, x, 2, 1)),
    "05-pointwise-above-upsampling": ([[1, 64, 14, 14], [1, 64, 28, 28]],
        lambda b, x, y: b.conv(b.op("Concat", [upsampled(b, x), y], axis=1), 128, 64),
        lambda b, x, y: add(b, upsampled(b, b.conv(x, 64, 64)), b.conv(y, 64, 64))),
    "06-reassociation": ([[1, 512, 32], [1, 32, 512], [1, 512, 32]],
        lambda b, q, k, v: b.op("MatMul", [b.op("MatMul", [q, k]), v]),
        lambda b, q, k, v: b.op("MatMul", [q, b.op("MatMul", [k, v])])),
    "07-linear-after-linear": ([[16, 256]],
        lambda b, x: bias(b, product(b, bias(b, product(b, x, 256, 1024), 1024), 1024, 256), 256),
        lambda b, x: bias(b, product(b, x, 256, 256), 256)),
    "08-low-rank": ([[16, 256]],
        lambda b, x: add(b, product(b, x, 256, 256), product(b, product(b, x, 256, 16), 16, 256)),
        lambda b, x: product(b, x, 256, 256)),
    "09-layout-round-trips": ([[1, 32, 28, 28]],
        lambda b, x: flat(b, transposed(b, bias(b, transposed(b, flat(
            b, x, 1, 32, 784), 0, 2, 1), 32), 0, 2, 1), 1, 32, 28, 28),
        lambda b, x: b.op("Add", [x, b.normal("b", (32, 1, 1), 0.1)])),
    "10-channel-permutation": ([[1, 32, 28, 28]],
        lambda b, x: b.conv(shuffle(b, b.conv(x, 32, 32, groups=4), 4, 32, 28), 32, 32),
        lambda b, x: b.conv(b.conv(x, 32, 32, groups=4), 32, 32)),
    "11-group-widening": ([[1, 128, 28, 28]],
        lambda b, x: b.conv(x, 128, 128, 3, 1, 1, groups=32),
        lambda b, x: b.conv(x, 128, 128, 3, 1, 1, groups=8)),
    "12-space-to-depth": ([[1, 3, 64, 64]],
        lambda b, x: b.conv(focus(b, x, 64), 12, 32, 3, 1, 1),
        lambda b, x: b.conv(x, 3, 32, 6, 2, 2)),
    "13-factorised-embedding": ([],
        lambda b: bias(b, product(b, b.op("Gather", [
            b.normal("table", (1000, 64), 1), ids(b)]), 64, 256), 256),
        lambda b: b.op("Gather", [b.normal("table", (1000, 256), 1), ids(b)])),
    "14-hard-swish": ([[1, 32, 28, 28]],
        hard_swish,
        lambda b, x: b.op("Mul", [x, b.op("HardSigmoid", [x], alpha=1 / 6, beta=0.5)])),
    "15-attention-weights": ([[1, 256, 64]],
        lambda b, x: b.op("MatMul", [product(b, x, 64, 128),
                                     transposed(b, product(b, x, 64, 128), 0, 2, 1)]),
        lambda b, x: b.op("MatMul", [product(b, x, 64, 64), transposed(b, x, 0, 2, 1)])),
    "16-pooling-below-pointwise": ([[1, 128, 28, 28]],
        lambda b, x: b.conv(b.average_pool(x, 3, 1, 1, count_include_pad=1), 128, 32),
        lambda b, x: b.average_pool(b.conv(x, 128, 32), 3, 1, 1, count_include_pad=1)),
}

# What was measured not to pay: name: (input shapes, network).
CONTROLS = {
    "control-wider-kernel": ([[1, 64, 28, 28]],
        lambda b, x: b.op("Concat", [b.relu(b.conv(x, 64, 64)),
                                     b.relu(b.conv(x, 64, 64, 3, 1, 1))], axis=1)),
    "control-split-consumer": ([[1, 64, 28, 28]],
        lambda b, x: [b.relu(b.conv(x, 64, 64, 3, 1, 1)), b.relu(b.conv(x, 64, 96, 3, 1, 1))]),
    "control-different-inputs": ([[1, 64, 28, 28], [1, 64, 28, 28]],
        lambda b, x, y: b.relu(add(b, b.conv(x, 64, 64, 3, 1, 1), b.conv(y, 64, 64, 3, 1, 1)))),
    "control-relu-between": ([[16, 256]],
        lambda b, x: product(b, b.relu(product(b, x, 256, 64)), 64, 256)),
}


def ids(b):
    return b.input("ids", [1, 128], onnx.TensorProto.INT64)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, (shapes, before, after) in FAMILIES.items():
        for side, build in (("before", before), ("after", after)):
            onnx.save(network(name, build, shapes, args.seed), args.out / f"{name}.{side}.onnx")
    for name, (shapes, build) in CONTROLS.items():
        onnx.save(network(name, build, shapes, args.seed), args.out / f"{name}.before.onnx")


if __name__ == "__main__":
    main()
