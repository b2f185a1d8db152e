"""Networks for small devices, and a detector, in the form that older exporters write."""
from builder import Builder


def clipped(b, x):
    """min(max(x + 3, 0), 6)"""
    shifted = b.op("Add", [x, b.floats("three", 3.0)])
    return b.op("Clip", [shifted, b.floats("zero", 0.0), b.floats("six", 6.0)])


def hard_swish(b, x):
    return b.op("Div", [b.op("Mul", [x, clipped(b, x)]), b.floats("six", 6.0)])


def squeeze_excite(b, x, channels):
    inner = max(8, (channels // 4 + 4) // 8 * 8)
    y = b.relu(b.conv(b.op("GlobalAveragePool", [x]), channels, inner, bias=True))
    y = clipped(b, b.conv(y, inner, channels, bias=True))
    return b.op("Mul", [x, b.op("Div", [y, b.floats("six", 6.0)])])


# Kernel, inner channels, channels out, squeeze and excite, hard swish, stride.
MOBILENET_V3_LARGE = [
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
    (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1),
    (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
    (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)]


def mobilenet_v3(name, rows, size, last, wide, classes, seed):
    """Howard et al., Searching for MobileNetV3, 2019."""
    b = Builder(name, seed)
    x = hard_swish(b, b.conv_bn(b.input("input", [1, 3, size, size]), 3, 16, 3, 2, 1))
    cin = 16
    for kernel, inner, cout, excite, swish, stride in rows:
        act = (lambda v: hard_swish(b, v)) if swish else b.relu
        y = x if inner == cin else act(b.conv_bn(x, cin, inner))
        y = act(b.conv_bn(y, inner, inner, kernel, stride, kernel // 2, groups=inner))
        y = squeeze_excite(b, y, inner) if excite else y
        y = b.conv_bn(y, inner, cout)
        x = b.op("Add", [y, x]) if stride == 1 and cin == cout else y
        cin = cout
    x = b.op("GlobalAveragePool", [hard_swish(b, b.conv_bn(x, cin, last))])
    x = b.op("Flatten", [x], axis=1)
    for before, after in ((last, wide), (wide, classes)):
        x = x if before == last else hard_swish(b, x)
        x = b.op("Gemm", [x, b.normal("fc_weight", (after, before), before ** -0.5),
                          b.normal("fc_bias", (after,), 0.05)], transB=1)
    b.output(x, "logits", [1, classes])
    return b.model()


def shuffled(b, x, channels, size):
    """The channels of two halves in turn."""
    x = b.op("Reshape", [x, b.ints("split_shape", [1, 2, channels // 2, size, size])])
    x = b.op("Transpose", [x], perm=[0, 2, 1, 3, 4])
    return b.op("Reshape", [x, b.ints("join_shape", [1, channels, size, size])])


def shuffle_unit(b, x, cin, cout, size, stride):
    half = cout // 2
    if stride == 1:
        left, right = b.op("Split", [x], outputs=2, axis=1)
        inner = half
    else:
        left = b.conv_bn(x, cin, cin, 3, 2, 1, groups=cin)
        left = b.conv_bn_relu(left, cin, half)
        right, inner = x, cin
    right = b.conv_bn_relu(right, inner, half)
    right = b.conv_bn(right, half, half, 3, stride, 1, groups=half)
    right = b.conv_bn_relu(right, half, half)
    return shuffled(b, b.op("Concat", [left, right], axis=1), cout, size)


def shufflenet_v2(name, depths, widths, last, size, classes, seed):
    """Ma et al., ShuffleNet V2, 2018."""
    b = Builder(name, seed)
    x = b.conv_bn_relu(b.input("input", [1, 3, size, size]), 3, 24, 3, 2, 1)
    x, cin, size = b.max_pool(x, 3, 2, 1), 24, size // 4
    for depth, cout in zip(depths, widths):
        size //= 2
        for k in range(depth):
            x = shuffle_unit(b, x, cin, cout, size, 1 if k else 2)
            cin = cout
    x = b.conv_bn_relu(x, cin, last)
    b.output(b.classifier(x, last, classes), "logits", [1, classes])
    return b.model()


def silu_conv(b, x, cin, cout, kernel=1, stride=1):
    """Batch norm is folded already, as the exporter of the detector does it."""
    y = b.conv(x, cin, cout, kernel, stride, kernel // 2, bias=True)
    return b.op("Mul", [y, b.op("Sigmoid", [y])])


def csp(b, x, cin, cout, depth, shortcut=True):
    """Two 1x1 paths, one through bottlenecks, joined."""
    half = cout // 2
    y = silu_conv(b, x, cin, half)
    for _ in range(depth):
        inner = silu_conv(b, silu_conv(b, y, half, half), half, half, 3)
        y = b.op("Add", [y, inner]) if shortcut else inner
    joined = b.op("Concat", [y, silu_conv(b, x, cin, half)], axis=1)
    return silu_conv(b, joined, cout, cout)


def focus(b, x, size):
    """Every other row, then every other column, in four parts: eight slices."""
    far = 2 ** 63 - 1
    part = lambda v, axis, begin: b.op("Slice", [
        v, b.ints("begin", [begin]), b.ints("end", [far]), b.ints("axes", [axis]),
        b.ints("steps", [2])])
    parts = [part(part(x, 2, i), 3, j) for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
    return b.op("Concat", parts, axis=1)


def pyramid_pooling(b, x, channels):
    x = silu_conv(b, x, channels, channels // 2)
    pooled = [b.max_pool(x, k, 1, k // 2) for k in (5, 9, 13)]
    return silu_conv(b, b.op("Concat", [x, *pooled], axis=1), 2 * channels, channels)


def enlarged(b, x):
    return b.op("Resize", [x, "", b.floats("scales", [1, 1, 2, 2])], mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def detector(name, width, depth, size, classes, seed):
    """The small YOLOv5 of release 5 (Jocher et al.): four slices first, upsampling in the neck."""
    b = Builder(name, seed)
    join = lambda *values: b.op("Concat", list(values), axis=1)
    w = width
    x = silu_conv(b, focus(b, b.input("images", [1, 3, size, size]), size), 12, w, 3)
    x = csp(b, silu_conv(b, x, w, 2 * w, 3, 2), 2 * w, 2 * w, depth)
    fine = csp(b, silu_conv(b, x, 2 * w, 4 * w, 3, 2), 4 * w, 4 * w, 3 * depth)
    middle = csp(b, silu_conv(b, fine, 4 * w, 8 * w, 3, 2), 8 * w, 8 * w, 3 * depth)
    x = pyramid_pooling(b, silu_conv(b, middle, 8 * w, 16 * w, 3, 2), 16 * w)
    low = silu_conv(b, csp(b, x, 16 * w, 16 * w, depth, False), 16 * w, 8 * w)
    x = csp(b, join(enlarged(b, low), middle), 16 * w, 8 * w, depth, False)
    mid = silu_conv(b, x, 8 * w, 4 * w)
    small = csp(b, join(enlarged(b, mid), fine), 8 * w, 4 * w, depth, False)
    x = join(silu_conv(b, small, 4 * w, 4 * w, 3, 2), mid)
    medium = csp(b, x, 8 * w, 8 * w, depth, False)
    x = join(silu_conv(b, medium, 8 * w, 8 * w, 3, 2), low)
    large = csp(b, x, 16 * w, 16 * w, depth, False)
    for k, (value, channels) in enumerate(((small, 4 * w), (medium, 8 * w), (large, 16 * w))):
        cells = size // (8 << k)
        y = b.conv(value, channels, 3 * (classes + 5), bias=True)
        y = b.op("Reshape", [y, b.ints("grid", [1, 3, classes + 5, cells, cells])])
        b.output(b.op("Transpose", [y], perm=[0, 1, 3, 4, 2]), f"boxes{k}",
                 [1, 3, cells, cells, classes + 5])
    return b.model()


MODELS = {
    "mobilenet_v3": lambda seed: mobilenet_v3("mobilenet_v3", MOBILENET_V3_LARGE, 224, 960, 1280,
                                              1000, seed),
    "shufflenet_v2": lambda seed: shufflenet_v2("shufflenet_v2", [4, 8, 4], [116, 232, 464], 1024,
                                                224, 1000, seed),
    "yolov5s": lambda seed: detector("yolov5s", 32, 1, 320, 80, seed),
    "tiny_mobilenet": lambda seed: mobilenet_v3(
        "tiny_mobilenet", [(3, 16, 16, 1, 0, 2), (5, 24, 16, 0, 1, 1)], 32, 24, 16, 10, seed),
    "tiny_shufflenet": lambda seed: shufflenet_v2("tiny_shufflenet", [2], [16], 24, 32, 10, seed),
    "tiny_detector": lambda seed: detector("tiny_detector", 8, 1, 64, 2, seed),
}
