"""Networks that architecture search found, on which graph optimisers are compared."""
from builder import Builder


def nas_rnn(seed, steps=5, width=512):
    """Zoph and Le, Neural Architecture Search with Reinforcement Learning, 2017, the recurrent
    cell of appendix A, unrolled."""
    b = Builder("nas_rnn", seed)
    weight = [[b.normal("weight", (width, width), width ** -0.5) for _ in range(8)]
              for _ in range(2)]
    hidden = b.input("hidden", [1, width])
    for step in range(steps):
        hidden = nas_cell(b, b.input(f"x{step}", [1, width]), hidden, weight)
    b.output(hidden, "out", [1, width])
    return b.model()


def nas_cell(b, x, hidden, weight):
    tanh = lambda v: b.op("Tanh", [v])
    sigmoid = lambda v: b.op("Sigmoid", [v])
    add = lambda p, q: b.op("Add", [p, q])
    mul = lambda p, q: b.op("Mul", [p, q])
    t = [add(b.op("MatMul", [x, weight[0][k]]), b.op("MatMul", [hidden, weight[1][k]]))
         for k in range(8)]
    first = add(b.relu(t[0]), sigmoid(t[3]))
    second = add(sigmoid(t[1]), tanh(t[2]))
    third = mul(sigmoid(t[4]), tanh(t[5]))
    fourth = mul(sigmoid(t[6]), b.relu(t[7]))
    left = add(sigmoid(second), tanh(third))
    right = mul(tanh(first), tanh(fourth))
    return tanh(mul(tanh(left), tanh(right)))


class Map:
    """A feature map: its name, its channels, its height."""

    def __init__(self, x, channels, size):
        self.x, self.channels, self.size = x, channels, size


def nasnet_a(seed, repeats=4, filters=44, size=56):
    """Zoph et al., Learning Transferable Architectures for Scalable Image Recognition, 2018: three
    stages of normal cells with reduction cells between them, without the stem."""
    b = Builder("nasnet_a", seed)
    stem = b.conv_bn(b.input("input", [1, 3, size, size]), 3, filters, 3, 1, 1)
    before = here = Map(stem, filters, size)
    for stage in range(3):
        if stage > 0:
            filters *= 2
            before, here = here, reduction_cell(b, before, here, filters)
        for _ in range(repeats):
            before, here = here, normal_cell(b, before, here, filters)
    b.output(b.classifier(b.relu(here.x), here.channels, 1000), "logits", [1, 1000])
    return b.model()


def fitted(b, value, filters, size):
    """The value with so many channels, at that height."""
    return b.conv_bn(b.relu(value.x), value.channels, filters, 1, value.size // size)


def separable(b, x, filters, kernel, stride=1):
    """Depthwise and pointwise convolution, twice, each after a relu."""
    for s in (stride, 1):
        x = b.conv(b.relu(x), filters, filters, kernel, s, kernel // 2, groups=filters)
        x = b.conv_bn(x, filters, filters, 1)
    return x


def normal_cell(b, before, here, filters):
    p, h = fitted(b, before, filters, here.size), fitted(b, here, filters, here.size)
    add = lambda x, y: b.op("Add", [x, y])
    mean = lambda x: b.average_pool(x, 3, 1, 1, count_include_pad=0)
    parts = [
        p,
        add(separable(b, h, filters, 3), h),
        add(separable(b, p, filters, 3), separable(b, h, filters, 5)),
        add(mean(h), p),
        add(mean(p), mean(p)),
        add(separable(b, p, filters, 5), separable(b, p, filters, 3))]
    return Map(b.op("Concat", parts, axis=1), 6 * filters, here.size)


def reduction_cell(b, before, here, filters):
    p, h = fitted(b, before, filters, here.size), fitted(b, here, filters, here.size)
    add = lambda x, y: b.op("Add", [x, y])
    first = add(separable(b, p, filters, 7, 2), separable(b, h, filters, 5, 2))
    largest = b.max_pool(h, 3, 2, 1)
    second = add(largest, separable(b, p, filters, 7, 2))
    third = add(b.average_pool(h, 3, 2, 1, count_include_pad=0), separable(b, p, filters, 5, 2))
    fourth = add(largest, separable(b, first, filters, 3))
    fifth = add(b.average_pool(first, 3, 1, 1, count_include_pad=0), second)
    parts = [second, third, fourth, fifth]
    return Map(b.op("Concat", parts, axis=1), 4 * filters, here.size // 2)


MODELS = {"nas_rnn": nas_rnn, "nasnet_a": nasnet_a}
