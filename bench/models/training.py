"""The models that agents are trained on: small, and of other families or sizes than those they are
judged by. Written only when asked for, by name or as "training".

cell-NN: random cells of convolutions, poolings and sums, stacked, as architecture search meets
them. The others are small residual, fire, mobile and re-parameterised networks, transformers and
decoders.
"""
import numpy as np

import cnn
import decoder
import mobile
import reparam
import transformer
from builder import Builder
from nas import separable

CELLS = 36


def random_operation(b, rng, x, channels):
    kind = rng.choice(["pointwise", "conv", "separable", "mean", "max", "none", "factors"])
    if kind == "pointwise":
        return b.conv_bn(b.relu(x), channels, channels, 1)
    if kind == "conv":
        return b.conv_bn_relu(x, channels, channels, 3, 1, 1)
    if kind == "separable":
        return separable(b, x, channels, int(rng.choice([3, 5])))
    if kind == "mean":
        return b.average_pool(x, 3, 1, 1, count_include_pad=int(rng.integers(2)))
    if kind == "max":
        return b.max_pool(x, 3, 1, 1)
    if kind == "factors":
        x = b.conv(x, channels, channels, (1, 3), 1, (0, 1))
        return b.conv_bn(x, channels, channels, (3, 1), 1, (1, 0))
    return x


def random_cells(name, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    b = Builder(name, seed)
    size, channels = int(rng.choice([28, 32, 56])), int(rng.choice([16, 32, 64]))
    x = b.conv_bn_relu(b.input("input", [1, 3, size, size]), 3, channels, 3, 1, 1)
    for _ in range(int(rng.integers(1, 4))):
        parts = [b.conv_bn_relu(x, channels, channels, 1), x]
        for _ in range(int(rng.integers(3, 6))):
            left, right = (parts[int(rng.integers(len(parts)))] for _ in range(2))
            parts.append(b.op("Add", [random_operation(b, rng, left, channels),
                                      random_operation(b, rng, right, channels)]))
        used = {i for n in b.nodes for i in n.input}
        ends = [p for p in parts if p not in used] or parts[-1:]
        joined = b.op("Concat", ends, axis=1) if len(ends) > 1 else ends[0]
        x = b.conv_bn_relu(joined, channels * len(ends), channels, 1)
    b.output(b.classifier(x, channels, 10), "logits", [1, 10])
    return b.model()


def fires(name, seed, stages, size):
    b = Builder(name, seed)
    channels = stages[0][0]
    x = b.relu(b.conv(b.input("input", [1, 3, size, size]), 3, channels, 3, 2, bias=True))
    for squeeze, expand in stages:
        x, channels = cnn.fire(b, x, channels, squeeze, expand)
    b.output(b.op("Flatten", [b.op("GlobalAveragePool", [x])], axis=1), "features", [1, channels])
    return b.model()


def named(name, make, *arguments, **more):
    return name, lambda seed: make(name, *arguments, seed, **more)


MODELS = dict([
    *(named(f"cell-{k:02}", random_cells) for k in range(CELLS)),
    named("basic-8", cnn.resnet, cnn.basic_block, [1, 1, 1], [32, 64, 128], 64, 10),
    named("bottleneck-6", cnn.resnet, cnn.bottleneck_block, [1, 2], [32, 64], 64, 10),
    named("caffe-6", cnn.resnet, cnn.caffe_block, [1, 2], [32, 64], 64, 10),
    ("fires", lambda seed: fires("fires", seed, [(16, 64), (32, 96), (32, 128)], 64)),
    named("repvgg", reparam.repvgg, [1, 2, 2], [32, 48, 96], 64, 10),
    named("mobileone", reparam.mobileone, [32, 48, 64], [1, 2], 3, 64, 10),
    named("bert-2", transformer.bert, 2, 256, 4, 1024, 1000, 1, 64),
    ("bert-3-cls", lambda seed: transformer.bert("bert-3-cls", 3, 192, 3, 768, 500, 1, 32, seed,
                                                 only_pooled=True)),
    named("albert-2", transformer.albert, 2, 256, 4, 1024, 1000, 64, 48),
    named("lora-2", transformer.lora_mlp, 2, 16, 512, 8),
    named("decoder-1", decoder.decoder, 1, 128, 4, 16),
    named("detector", mobile.detector, 8, 1, 64, 4),
])

