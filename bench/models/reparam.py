"""Networks that are trained with several branches and deployed with one (training form here)."""
from builder import Builder


def mobileone_branches(b, x, cin, cout, kernel, stride, groups, copies):
    """Sum of an identity batch norm (where shapes allow), a 1x1 scale branch (where the kernel is
    larger than 1) and `copies` convolutions, each with its own batch norm."""
    gain = (copies + 2) ** -0.5
    parts = []
    if cin == cout and stride == 1:
        parts.append(b.batch_norm(x, cin, gain=gain))
    if kernel > 1:
        parts.append(b.conv_bn(x, cin, cout, 1, stride, 0, groups, gain=gain))
    for _ in range(copies):
        parts.append(b.conv_bn(x, cin, cout, kernel, stride, kernel // 2, groups, gain=gain))
    return b.relu(total(b, parts))


def total(b, parts):
    value = parts[0]
    for part in parts[1:]:
        value = b.op("Add", [value, part])
    return value


def mobileone(name, widths, depths, copies, size, classes, seed):
    """Vasu et al., MobileOne, 2023: depthwise 3x3 then pointwise 1x1 blocks."""
    b = Builder(name, seed)
    channels = min(64, widths[0])
    x = b.input("input", [1, 3, size, size])
    x = mobileone_branches(b, x, 3, channels, 3, 2, 1, 1)
    for depth, width in zip(depths, widths):
        for k in range(depth):
            stride = 2 if k == 0 else 1
            x = mobileone_branches(b, x, channels, channels, 3, stride, channels, copies)
            x = mobileone_branches(b, x, channels, width, 1, 1, 1, copies)
            channels = width
    b.output(b.classifier(x, channels, classes), "logits", [1, classes])
    return b.model()


def repvgg_block(b, x, cin, cout, stride):
    gain = 3 ** -0.5
    parts = [b.conv_bn(x, cin, cout, 3, stride, 1, gain=gain),
             b.conv_bn(x, cin, cout, 1, stride, gain=gain)]
    if cin == cout and stride == 1:
        parts.append(b.batch_norm(x, cin, gain=gain))
    return b.relu(total(b, parts))


def repvgg(name, depths, widths, size, classes, seed):
    """Ding et al., RepVGG, 2021: 3x3 beside 1x1 beside identity."""
    b = Builder(name, seed)
    channels = min(64, widths[0])
    x = repvgg_block(b, b.input("input", [1, 3, size, size]), 3, channels, 2)
    for depth, width in zip(depths, widths):
        for k in range(depth):
            x = repvgg_block(b, x, channels, width, 2 if k == 0 else 1)
            channels = width
    b.output(b.classifier(x, channels, classes), "logits", [1, classes])
    return b.model()


MODELS = {
    "mobileone_s0": lambda seed: mobileone("mobileone_s0", [48, 128, 256, 1024], [2, 8, 10, 1], 4,
                                           224, 1000, seed),
    "repvgg_a0": lambda seed: repvgg("repvgg_a0", [2, 4, 14, 1], [48, 96, 192, 1280], 224, 1000,
                                     seed),
    "tiny_mobileone": lambda seed: mobileone("tiny_mobileone", [8, 12], [1, 2], 2, 32, 10, seed),
    "tiny_repvgg": lambda seed: repvgg("tiny_repvgg", [2, 1], [8, 16], 32, 10, seed),
}
