"""Convolutional networks. Each function takes a seed and returns an onnx.ModelProto."""
from builder import Builder


def basic_block(b, x, cin, cout, stride):
    y = b.conv_bn_relu(x, cin, cout, 3, stride, 1)
    y = b.conv_bn(y, cout, cout, 3, 1, 1)
    shortcut = x if stride == 1 and cin == cout else b.conv_bn(x, cin, cout, 1, stride)
    return b.relu(b.op("Add", [y, shortcut])), cout


def bottleneck_block(b, x, cin, width, stride):
    cout = 4 * width
    y = b.conv_bn_relu(x, cin, width, 1)
    y = b.conv_bn_relu(y, width, width, 3, stride, 1)
    y = b.conv_bn(y, width, cout, 1)
    shortcut = x if stride == 1 and cin == cout else b.conv_bn(x, cin, cout, 1, stride)
    return b.relu(b.op("Add", [y, shortcut])), cout


def caffe_block(b, x, cin, width, stride):
    """He et al.'s own release has the stride in the first 1x1 convolution."""
    cout = 4 * width
    y = b.conv_bn_relu(x, cin, width, 1, stride)
    y = b.conv_bn_relu(y, width, width, 3, 1, 1)
    y = b.conv_bn(y, width, cout, 1)
    shortcut = x if stride == 1 and cin == cout else b.conv_bn(x, cin, cout, 1, stride)
    return b.relu(b.op("Add", [y, shortcut])), cout


def grouped_block(b, x, cin, width, stride):
    """Xie et al., Aggregated Residual Transformations for Deep Neural Networks, 2017: 32 groups."""
    inner, cout = 2 * width, 4 * width
    y = b.conv_bn_relu(x, cin, inner, 1)
    y = b.conv_bn_relu(y, inner, inner, 3, stride, 1, groups=32)
    y = b.conv_bn(y, inner, cout, 1)
    shortcut = x if stride == 1 and cin == cout else b.conv_bn(x, cin, cout, 1, stride)
    return b.relu(b.op("Add", [y, shortcut])), cout


def resnet(name, block, depths, widths, size, classes, seed, batch=1):
    """He et al., Deep Residual Learning for Image Recognition, 2016; batch norms not folded."""
    b = Builder(name, seed)
    x = b.input("input", [batch, 3, size, size])
    channels = widths[0]
    x = b.conv_bn_relu(x, 3, channels, 7, 2, 3)
    x = b.max_pool(x, 3, 2, 1)
    for stage, (depth, width) in enumerate(zip(depths, widths)):
        for k in range(depth):
            x, channels = block(b, x, channels, width, 2 if k == 0 and stage > 0 else 1)
    b.output(b.classifier(x, channels, classes), "logits", [batch, classes])
    return b.model()


def fire(b, x, cin, squeeze, expand):
    """Squeeze by 1x1, expand by 1x1 beside 3x3, concatenate."""
    x = b.relu(b.conv(x, cin, squeeze, 1, bias=True))
    left = b.relu(b.conv(x, squeeze, expand, 1, bias=True))
    right = b.relu(b.conv(x, squeeze, expand, 3, 1, 1, bias=True))
    return b.op("Concat", [left, right], axis=1), 2 * expand


def squeezenet(seed):
    """Iandola et al., SqueezeNet, 2016, version 1.1."""
    b = Builder("squeezenet1_1", seed)
    x = b.relu(b.conv(b.input("input", [1, 3, 224, 224]), 3, 64, 3, 2, bias=True))
    channels = 64
    for stage in ([(16, 64), (16, 64)], [(32, 128), (32, 128)],
                  [(48, 192), (48, 192), (64, 256), (64, 256)]):
        x = b.max_pool(x, 3, 2, ceil_mode=1)
        for squeeze, expand in stage:
            x, channels = fire(b, x, channels, squeeze, expand)
    x = b.relu(b.conv(x, channels, 1000, 1, bias=True))
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])], axis=1)
    b.output(x, "logits", [1, 1000])
    return b.model()


def tiny_fire(seed):
    b = Builder("tiny_fire", seed)
    x = b.input("input", ["batch", 8, 12, 12])
    x, channels = fire(b, x, 8, 4, 6)
    b.output(x, "features", ["batch", channels, 12, 12])
    return b.model()


# Inception-v3 (Szegedy et al., Rethinking the Inception Architecture, 2016). A branch is a list of
# convolutions (channels, kernel, stride, padding), each with batch norm and relu.

def branch(b, x, cin, layers):
    for cout, kernel, stride, pad in layers:
        x = b.conv_bn_relu(x, cin, cout, kernel, stride, pad, epsilon=1e-3)
        cin = cout
    return x


def mixed(b, x, cin, branches, pool):
    """Branches and the pooled branch side by side; returns the value and its channels."""
    parts = [branch(b, x, cin, layers) for layers in branches]
    channels = sum(layers[-1][0] for layers in branches)
    if pool is None:
        parts.append(b.max_pool(x, 3, 2))
        channels += cin
    else:
        averaged = b.average_pool(x, 3, 1, 1, count_include_pad=1)
        parts.append(branch(b, averaged, cin, [(pool, 1, 1, 0)]))
        channels += pool
    return b.op("Concat", parts, axis=1), channels


def inception_a(b, x, cin, pool):
    return mixed(b, x, cin, [[(64, 1, 1, 0)], [(48, 1, 1, 0), (64, 5, 1, 2)],
                             [(64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 1, 1)]], pool)


def inception_b(b, x, cin):
    return mixed(b, x, cin, [[(384, 3, 2, 0)],
                             [(64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 2, 0)]], None)


def inception_c(b, x, cin, width):
    row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return mixed(b, x, cin, [
        [(192, 1, 1, 0)],
        [(width, 1, 1, 0), (width, *row), (192, *column)],
        [(width, 1, 1, 0), (width, *column), (width, *row), (width, *column), (192, *row)]], 192)


def inception_d(b, x, cin):
    return mixed(b, x, cin, [
        [(192, 1, 1, 0), (320, 3, 2, 0)],
        [(192, 1, 1, 0), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2, 0)]], None)


def inception_e(b, x, cin):
    row, column = (384, (1, 3), 1, (0, 1)), (384, (3, 1), 1, (1, 0))
    middle = branch(b, x, cin, [(384, 1, 1, 0)])
    double = branch(b, x, cin, [(448, 1, 1, 0), (384, 3, 1, 1)])
    fork = lambda v: b.op("Concat", [branch(b, v, 384, [row]), branch(b, v, 384, [column])], axis=1)
    averaged = b.average_pool(x, 3, 1, 1, count_include_pad=1)
    parts = [branch(b, x, cin, [(320, 1, 1, 0)]), fork(middle), fork(double),
             branch(b, averaged, cin, [(192, 1, 1, 0)])]
    return b.op("Concat", parts, axis=1), 320 + 4 * 384 + 192


def inception_v3(seed):
    b = Builder("inception_v3", seed)
    x = b.input("input", [1, 3, 299, 299])
    x = branch(b, x, 3, [(32, 3, 2, 0), (32, 3, 1, 0), (64, 3, 1, 1)])
    x = branch(b, b.max_pool(x, 3, 2), 64, [(80, 1, 1, 0), (192, 3, 1, 0)])
    x, channels = b.max_pool(x, 3, 2), 192
    for pool in (32, 64, 64):
        x, channels = inception_a(b, x, channels, pool)
    x, channels = inception_b(b, x, channels)
    for width in (128, 160, 160, 192):
        x, channels = inception_c(b, x, channels, width)
    x, channels = inception_d(b, x, channels)
    for _ in range(2):
        x, channels = inception_e(b, x, channels)
    b.output(b.classifier(x, channels, 1000), "logits", [1, 1000])
    return b.model()


def tiny_inception(seed):
    b = Builder("tiny_inception", seed)
    x = b.input("input", [1, 8, 10, 10])
    x, channels = mixed(b, x, 8, [[(4, 1, 1, 0)], [(3, 1, 1, 0), (4, 5, 1, 2)],
                                  [(3, 1, 1, 0), (5, 3, 1, 1)]], 4)
    b.output(x, "features", [1, channels, 10, 10])
    return b.model()


def densenet(name, blocks, growth, channels, size, classes, seed):
    """Huang et al., Densely Connected Convolutional Networks, 2017: batch norm before convolution;
    between blocks a 1x1 convolution, then average pooling."""
    b = Builder(name, seed)
    x = b.conv_bn_relu(b.input("input", [1, 3, size, size]), 3, channels, 7, 2, 3)
    x = b.max_pool(x, 3, 2, 1)
    for k, layers in enumerate(blocks):
        parts = [x]
        for _ in range(layers):
            joined = b.op("Concat", parts, axis=1) if len(parts) > 1 else x
            parts.append(dense_layer(b, joined, channels, growth))
            channels += growth
        x = b.relu(b.batch_norm(b.op("Concat", parts, axis=1), channels))
        if k + 1 < len(blocks):
            x = b.average_pool(b.conv(x, channels, channels // 2), 2, 2)
            channels //= 2
    b.output(b.classifier(x, channels, classes), "logits", [1, classes])
    return b.model()


def dense_layer(b, x, channels, growth):
    x = b.conv(b.relu(b.batch_norm(x, channels)), channels, 4 * growth)
    return b.conv(b.relu(b.batch_norm(x, 4 * growth)), 4 * growth, growth, 3, 1, 1)


MODELS = {
    "densenet121": lambda seed: densenet("densenet121", [6, 12, 24, 16], 32, 64, 224, 1000, seed),
    "resnet50_caffe": lambda seed: resnet("resnet50_caffe", caffe_block, [3, 4, 6, 3],
                                          [64, 128, 256, 512], 224, 1000, seed),
    "tiny_densenet": lambda seed: densenet("tiny_densenet", [2, 2], 4, 8, 32, 10, seed),
    "resnet18": lambda seed: resnet("resnet18", basic_block, [2, 2, 2, 2], [64, 128, 256, 512],
                                    224, 1000, seed),
    "resnet50": lambda seed: resnet("resnet50", bottleneck_block, [3, 4, 6, 3],
                                    [64, 128, 256, 512], 224, 1000, seed),
    "resnext50": lambda seed: resnet("resnext50", grouped_block, [3, 4, 6, 3],
                                     [64, 128, 256, 512], 224, 1000, seed),
    "inception_v3": inception_v3,
    "squeezenet1_1": squeezenet,
    "tiny_resnet": lambda seed: resnet("tiny_resnet", basic_block, [1, 1], [8, 16], 32, 10, seed,
                                       "batch"),
    "tiny_fire": tiny_fire,
    "tiny_inception": tiny_inception,
}
