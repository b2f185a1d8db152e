#!/usr/bin/env python3
"""Writes small models of the substitution families that pay, before and as one would write them.

  python bench/families/build_families.py --out DIR [--seed N] [--size small|bench]

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


def network(name, make, shapes, seed):
    """One model: make(b, *inputs) returns the name of the output, or of several."""
    b = Builder(name, seed)
    inputs = [b.input(f"x{k}", shape) for k, shape in enumerate(shapes)]
    results = make(b, *inputs)
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


def strided_twice(b, x, channels, inner, outer):
    y = b.relu(b.conv(x, channels, channels, 3, inner, 1))
    return [b.conv(y, channels, 2 * channels, 1, outer), b.conv(y, channels, channels, 1, outer)]


def ids(b, length):
    return b.input("ids", [1, length], onnx.TensorProto.INT64)


# A family: (input shapes, before, after), for given sizes. c: channels, h: height and width of an
# image, n: rows, d: columns, r: rank.

def conv_sums(c, h):
    return ([[1, c, h, h]],
            lambda b, x: add(b, b.conv_bn(x, c, c, 3, 1, 1), b.conv_bn(x, c, c, 1),
                             b.batch_norm(x, c)),
            lambda b, x: b.conv(x, c, c, 3, 1, 1, bias=True))


def pointwise_below_pooling(c, h):
    return ([[1, c, h, h]],
            lambda b, x: b.average_pool(b.conv(x, c, c // 2), 2, 2),
            lambda b, x: b.conv(b.average_pool(x, 2, 2), c, c // 2))


def only_some_rows(n, d):
    up = lambda b, x: b.relu(bias(b, product(b, x, d, 4 * d), 4 * d))
    down = lambda b, x: bias(b, product(b, x, 4 * d, d), d)
    return ([[1, n, d]],
            lambda b, x: first_row(b, down(b, up(b, x))),
            lambda b, x: down(b, up(b, first_row(b, x))))


def strides_move_up(c, h):
    return ([[1, c, h, h]],
            lambda b, x: strided_twice(b, x, c, 1, 2),
            lambda b, x: strided_twice(b, x, c, 2, 1))


def pointwise_above_upsampling(c, h):
    return ([[1, c, h, h], [1, c, 2 * h, 2 * h]],
            lambda b, x, y: b.conv(b.op("Concat", [upsampled(b, x), y], axis=1), 2 * c, c),
            lambda b, x, y: add(b, upsampled(b, b.conv(x, c, c)), b.conv(y, c, c)))


def reassociation(n, d):
    return ([[1, n, d], [1, d, n], [1, n, d]],
            lambda b, q, k, v: b.op("MatMul", [b.op("MatMul", [q, k]), v]),
            lambda b, q, k, v: b.op("MatMul", [q, b.op("MatMul", [k, v])]))


def linear_after_linear(n, d, inner):
    linear = lambda b, x, cin, cout: bias(b, product(b, x, cin, cout), cout)
    return ([[n, d]],
            lambda b, x: linear(b, linear(b, x, d, inner), inner, d),
            lambda b, x: linear(b, x, d, d))


def low_rank(n, d, r):
    return ([[n, d]],
            lambda b, x: add(b, product(b, x, d, d), product(b, product(b, x, d, r), r, d)),
            lambda b, x: product(b, x, d, d))


def layout_round_trips(c, h):
    return ([[1, c, h, h]],
            lambda b, x: flat(b, transposed(b, bias(b, transposed(b, flat(
                b, x, 1, c, h * h), 0, 2, 1), c), 0, 2, 1), 1, c, h, h),
            lambda b, x: b.op("Add", [x, b.normal("b", (c, 1, 1), 0.1)]))


def channel_permutation(c, h, groups):
    return ([[1, c, h, h]],
            lambda b, x: b.conv(shuffle(b, b.conv(x, c, c, groups=groups), groups, c, h), c, c),
            lambda b, x: b.conv(b.conv(x, c, c, groups=groups), c, c))


def group_widening(c, h, before, after):
    return ([[1, c, h, h]],
            lambda b, x: b.conv(x, c, c, 3, 1, 1, groups=before),
            lambda b, x: b.conv(x, c, c, 3, 1, 1, groups=after))


def space_to_depth(h):
    return ([[1, 3, h, h]],
            lambda b, x: b.conv(focus(b, x, h), 12, 32, 3, 1, 1),
            lambda b, x: b.conv(x, 3, 32, 6, 2, 2))


def factorised_embedding(words, n, narrow, wide):
    return ([],
            lambda b: bias(b, product(b, b.op("Gather", [
                b.normal("table", (words, narrow), 1), ids(b, n)]), narrow, wide), wide),
            lambda b: b.op("Gather", [b.normal("table", (words, wide), 1), ids(b, n)]))


def hard_swish_alone(c, h):
    return ([[1, c, h, h]],
            hard_swish,
            lambda b, x: b.op("Mul", [x, b.op("HardSigmoid", [x], alpha=1 / 6, beta=0.5)]))


def attention_weights(n, d, inner):
    return ([[1, n, d]],
            lambda b, x: b.op("MatMul", [product(b, x, d, inner),
                                         transposed(b, product(b, x, d, inner), 0, 2, 1)]),
            lambda b, x: b.op("MatMul", [product(b, x, d, d), transposed(b, x, 0, 2, 1)]))


def pooling_below_pointwise(c, h):
    return ([[1, c, h, h]],
            lambda b, x: b.conv(b.average_pool(x, 3, 1, 1, count_include_pad=1), c, c // 4),
            lambda b, x: b.average_pool(b.conv(x, c, c // 4), 3, 1, 1, count_include_pad=1))


def between_convolutions(family):
    """The family as a network has it: a 1x1 convolution before and one behind."""
    (shape,), before, after = family
    c = shape[1]
    return ([shape],
            lambda b, x: b.conv(before(b, b.conv(x, c, c)), c, c),
            lambda b, x: b.conv(after(b, b.conv(x, c, c)), c, c))


FAMILIES = {
    "01-conv-sums": conv_sums(32, 28),
    "02-pointwise-below-pooling": pointwise_below_pooling(64, 28),
    "03-only-some-rows": only_some_rows(64, 128),
    "04-strides-move-up": strides_move_up(64, 28),
    "05-pointwise-above-upsampling": pointwise_above_upsampling(64, 14),
    "06-reassociation": reassociation(512, 32),
    "07-linear-after-linear": linear_after_linear(16, 256, 1024),
    "08-low-rank": low_rank(16, 256, 16),
    "09-layout-round-trips": layout_round_trips(32, 28),
    "10-channel-permutation": channel_permutation(32, 28, 4),
    "11-group-widening": group_widening(128, 28, 32, 8),
    "12-space-to-depth": space_to_depth(64),
    "13-factorised-embedding": factorised_embedding(1000, 128, 64, 256),
    "14-hard-swish": hard_swish_alone(32, 28),
    "15-attention-weights": attention_weights(256, 64, 128),
    "16-pooling-below-pointwise": pooling_below_pointwise(128, 28),
}

# The same at the sizes that networks have.
BENCH_FAMILIES = {
    "01-conv-sums": conv_sums(64, 56),                                # RepVGG, ACNet
    "02-pointwise-below-pooling": pointwise_below_pooling(256, 56),   # DenseNet-121
    "03-only-some-rows": only_some_rows(128, 768),                    # BERT-base
    "04-strides-move-up": strides_move_up(128, 56),                   # ResNet
    "05-pointwise-above-upsampling": pointwise_above_upsampling(256, 20),  # YOLO necks
    "06-reassociation": reassociation(1024, 64),                      # linear attention
    "07-linear-after-linear": linear_after_linear(64, 768, 768),
    "08-low-rank": low_rank(16, 768, 64),                             # LoRA
    "09-layout-round-trips": layout_round_trips(128, 28),
    "10-channel-permutation": channel_permutation(128, 56, 4),        # ShuffleNet
    "11-group-widening": group_widening(256, 28, 32, 16),             # ResNeXt-50
    "12-space-to-depth": space_to_depth(320),                         # YOLOv5
    "13-factorised-embedding": factorised_embedding(30000, 128, 128, 768),  # ALBERT
    "14-hard-swish": between_convolutions(hard_swish_alone(64, 56)),  # MobileNetV3
    "15-attention-weights": attention_weights(1024, 512, 512),
    "16-pooling-below-pointwise": pooling_below_pointwise(192, 35),   # Inception-v3
}


# What was measured not to pay: name: (input shapes, network).

def wider_kernel(cin, c, h):
    return ([[1, cin, h, h]],
            lambda b, x: b.op("Concat", [b.relu(b.conv(x, cin, c)),
                                         b.relu(b.conv(x, cin, c, 3, 1, 1))], axis=1))


def split_consumer(c, h):
    return ([[1, c, h, h]],
            lambda b, x: [b.relu(b.conv(x, c, c, 3, 1, 1)),
                          b.relu(b.conv(x, c, 3 * c // 2, 3, 1, 1))])


def different_inputs(c, h):
    return ([[1, c, h, h]] * 2,
            lambda b, x, y: b.relu(add(b, b.conv(x, c, c, 3, 1, 1), b.conv(y, c, c, 3, 1, 1))))


def relu_between(n, d, inner):
    return ([[n, d]],
            lambda b, x: product(b, b.relu(product(b, x, d, inner)), inner, d))


def query_key_value(n, d):
    return ([[1, n, d]], lambda b, x: [bias(b, product(b, x, d, d), d) for _ in range(3)])


CONTROLS = {
    "control-wider-kernel": wider_kernel(64, 64, 28),
    "control-split-consumer": split_consumer(64, 28),
    "control-different-inputs": different_inputs(64, 28),
    "control-relu-between": relu_between(16, 256, 64),
}

BENCH_CONTROLS = {
    "control-wider-kernel": wider_kernel(16, 64, 55),                 # SqueezeNet's fire module
    "control-split-consumer": split_consumer(64, 56),
    "control-different-inputs": different_inputs(64, 56),
    "control-relu-between": relu_between(16, 768, 192),
    "control-query-key-value": query_key_value(128, 768),             # BERT-base
}

SIZES = {"small": (FAMILIES, CONTROLS), "bench": (BENCH_FAMILIES, BENCH_CONTROLS)}


def build(size, seed):
    """Pairs of a name, NN-name.before or NN-name.after, and the model."""
    families, controls = SIZES[size]
    for name, (shapes, before, after) in families.items():
        yield f"{name}.before", network(name, before, shapes, seed)
        yield f"{name}.after", network(name, after, shapes, seed)
    for name, (shapes, make) in controls.items():
        yield f"{name}.before", network(name, make, shapes, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", choices=SIZES, default="small",
                        help="bench: the sizes that networks have")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, model in build(args.size, args.seed):
        onnx.save(model, args.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
