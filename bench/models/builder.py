"""A small layer over onnx.helper: nodes, initialisers with random weights, and the usual blocks.

Weights are drawn so that activations neither vanish nor explode, from a generator that is seeded
for each model: the same name and seed give the same file.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Collects one graph. Values are names; every method adds nodes and returns an output's name."""

    def __init__(self, name, seed=0, opset=17):
        self.name = name
        self.opset = opset
        self.rng = np.random.default_rng([seed, *name.encode()])
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.counts = {}

    def fresh(self, stem):
        count = self.counts.get(stem, 0)
        self.counts[stem] = count + 1
        return f"{stem}_{count}"

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, name, shape, dtype=TensorProto.FLOAT):
        """Makes `value` the graph output `name`: the node that makes it gets that name."""
        for node in self.nodes:
            node.output[:] = [name if o == value else o for o in node.output]
            node.input[:] = [name if i == value else i for i in node.input]
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def constant(self, stem, array):
        name = self.fresh(stem)
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def floats(self, stem, array):
        return self.constant(stem, np.asarray(array, dtype=np.float32))

    def ints(self, stem, values):
        return self.constant(stem, np.asarray(values, dtype=np.int64))

    def normal(self, stem, shape, scale):
        return self.floats(stem, self.rng.standard_normal(shape, dtype=np.float32) * scale)

    def op(self, op_type, inputs, outputs=1, **attributes):
        """One node. Returns the output's name, or a list when there are several."""
        name = self.fresh(op_type.lower())
        names = [f"{name}_out"] if outputs == 1 else [f"{name}_out{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    # Blocks of convolutional networks. Kernel, stride and padding are numbers or pairs.

    def conv(self, x, cin, cout, kernel=1, stride=1, pad=0, groups=1, bias=False):
        kernel, stride, pad = pair(kernel), pair(stride), pair(pad)
        fan_in = cin // groups * kernel[0] * kernel[1]
        inputs = [x, self.normal("conv_weight", (cout, cin // groups, *kernel), (2 / fan_in) ** 0.5)]
        if bias:
            inputs.append(self.normal("conv_bias", (cout,), 0.05))
        return self.op("Conv", inputs, kernel_shape=kernel, strides=stride, pads=[*pad, *pad],
                       dilations=[1, 1], group=groups)

    def batch_norm(self, x, channels, epsilon=1e-5, gain=1.0):
        uniform = lambda low, high: self.rng.uniform(low, high, channels)
        scale = self.floats("bn_scale", uniform(0.6, 1.2) * gain)
        shift = self.floats("bn_shift", uniform(-0.1, 0.1))
        mean = self.floats("bn_mean", uniform(-0.1, 0.1))
        var = self.floats("bn_var", uniform(0.7, 1.4))
        return self.op("BatchNormalization", [x, scale, shift, mean, var], epsilon=epsilon)

    def relu(self, x):
        return self.op("Relu", [x])

    def conv_bn(self, x, cin, cout, kernel=1, stride=1, pad=0, groups=1, epsilon=1e-5, gain=1.0):
        x = self.conv(x, cin, cout, kernel, stride, pad, groups)
        return self.batch_norm(x, cout, epsilon, gain)

    def conv_bn_relu(self, *args, **kwargs):
        return self.relu(self.conv_bn(*args, **kwargs))

    def pool(self, kind, x, kernel, stride, pad=0, **attributes):
        kernel, stride, pad = pair(kernel), pair(stride), pair(pad)
        return self.op(kind, [x], kernel_shape=kernel, strides=stride, pads=[*pad, *pad],
                       **attributes)

    def max_pool(self, x, kernel, stride, pad=0, **attributes):
        return self.pool("MaxPool", x, kernel, stride, pad, **attributes)

    def average_pool(self, x, kernel, stride, pad=0, **attributes):
        return self.pool("AveragePool", x, kernel, stride, pad, **attributes)

    def classifier(self, x, channels, classes):
        """Global average pool, flatten, Gemm: the end of most image classifiers."""
        x = self.op("Flatten", [self.op("GlobalAveragePool", [x])], axis=1)
        weight = self.normal("fc_weight", (classes, channels), channels ** -0.5)
        bias = self.normal("fc_bias", (classes,), 0.05)
        return self.op("Gemm", [x, weight, bias], alpha=1.0, beta=1.0, transB=1)

    # Blocks of transformers.

    def linear(self, x, cin, cout):
        """MatMul and Add, the form that exporters write for inputs of rank 3."""
        weight = self.normal("matmul_weight", (cin, cout), cin ** -0.5)
        return self.op("Add", [self.op("MatMul", [x, weight]), self.normal("bias", (cout,), 0.05)])

    def layer_norm(self, x, width, epsilon):
        scale = self.floats("ln_scale", self.rng.uniform(0.7, 1.3, width))
        shift = self.floats("ln_shift", self.rng.uniform(-0.1, 0.1, width))
        if self.opset >= 17:
            return self.op("LayerNormalization", [x, scale, shift], axis=-1, epsilon=epsilon)
        centred = self.op("Sub", [x, self.op("ReduceMean", [x], axes=[-1], keepdims=1)])
        square = self.op("Pow", [centred, self.floats("two", 2.0)])
        variance = self.op("ReduceMean", [square], axes=[-1], keepdims=1)
        deviation = self.op("Sqrt", [self.op("Add", [variance, self.floats("epsilon", epsilon)])])
        scaled = self.op("Mul", [self.op("Div", [centred, deviation]), scale])
        return self.op("Add", [scaled, shift])

    def gelu(self, x):
        """x * (1 + erf(x / sqrt 2)) / 2, in the order in which exporters write it."""
        erf = self.op("Erf", [self.op("Div", [x, self.floats("sqrt2", 2.0 ** 0.5)])])
        shifted = self.op("Add", [erf, self.floats("one", 1.0)])
        return self.op("Mul", [self.op("Mul", [x, shifted]), self.floats("half", 0.5)])

    def heads(self, x, heads, size, order):
        split = self.op("Reshape", [x, self.ints("head_shape", [0, 0, heads, size])])
        return self.op("Transpose", [split], perm=order)

    def attention(self, x, width, heads, mask=None):
        """Multi-head self attention: three projections, softmax, output projection."""
        size = width // heads
        query = self.heads(self.linear(x, width, width), heads, size, [0, 2, 1, 3])
        key = self.heads(self.linear(x, width, width), heads, size, [0, 2, 3, 1])
        value = self.heads(self.linear(x, width, width), heads, size, [0, 2, 1, 3])
        scores = self.op("MatMul", [query, key])
        scores = self.op("Div", [scores, self.floats("sqrt_size", size ** 0.5)])
        if mask is not None:
            scores = self.op("Add", [scores, mask])
        mixed = self.op("MatMul", [self.op("Softmax", [scores], axis=-1), value])
        mixed = self.op("Transpose", [mixed], perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", [mixed, self.ints("merge_shape", [0, 0, width])])
        return self.linear(mixed, width, width)

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs,
                                  self.initializers)
        model = helper.make_model(graph, producer_name="regraft-bench",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        onnx.checker.check_model(model, full_check=True)
        return model


def pair(value):
    return [value, value] if isinstance(value, int) else list(value)
