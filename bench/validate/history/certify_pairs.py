"""The pairs that onnxsim 0.8.1 tests its own certificates with, rebuilt: what its tests say of them
in prose, in models of our own. Right ones are what onnxsim makes of the first model."""
import numpy as np
from onnx import numpy_helper

from build import ints, model, pair, positive, weights

SIM = ("onnxsim", None, "3.11")


def conv_batchnorm(size, out, pads=(0, 0, 0, 0), strides=(1, 1), tail="y = Relu(n)", seed=0):
    return model(f"""g (float[1,3,{size},{size}] x) => (float[1,4,{out},{out}] y) {{
      c = Conv<pads = {list(pads)}, strides = {list(strides)}>(x, w, b)
      n = BatchNormalization<epsilon = 0.00001>(c, scale, shift, mean, var)
      {tail} }}""", opset=15, w=weights(seed, 4, 3, 3, 3), b=weights(seed + 1, 4),
                 scale=positive(seed + 2, 4), shift=weights(seed + 3, 4),
                 mean=weights(seed + 4, 4), var=positive(seed + 5, 4))


def moved(made, name, by):
    """A copy with a number added to each element of one initializer."""
    copy = type(made).FromString(made.SerializeToString())
    for held in copy.graph.initializer:
        if held.name == name:
            held.CopyFrom(numpy_helper.from_array(
                (numpy_helper.to_array(held) + np.float32(by)).astype(np.float32), name))
    return copy


def own(title, said, **known):
    return pair("onnxsim 0.8.1, tests", title, group="certify", said=said, passes="",
                wrong="", condition="", **known)


@own("Conv, BatchNormalization, Relu, folded", "Proved.", made=SIM,
     expected="proved-up-to-constants")
def certify_conv_batchnorm():
    return conv_batchnorm(6, 4)


@own("two linear layers become Gemm", "Proved.", made=SIM, expected="proved")
def certify_linear():
    return model("""g (float[1,16] x) => (float[1,4] y) {
      a = MatMul(x, w1)  b = Add(a, b1)  r = Relu(b)  c = MatMul(r, w2)  y = Add(c, b2) }""",
                 opset=13, ir=7, w1=weights(1, 16, 8), b1=weights(2, 8), w2=weights(3, 8, 4),
                 b2=weights(4, 4))


@own("a model and itself", "Proved by structure.", expected="proved")
def certify_same():
    return conv_batchnorm(6, 4), conv_batchnorm(6, 4)


@own("a normalisation's shift is off by 1/4", "Refuted.")
def certify_shift():
    made = conv_batchnorm(6, 4, tail="y = Identity(n)")
    return made, moved(made, "shift", 0.25)


def coloured(w):
    return model("g (float[1,3,6,6] x) => (float[1,4,4,4] y) { y = Conv(x, w) }", w=w)


@own("red and blue weights swapped", "Refuted.")
def certify_channels():
    w = weights(5, 4, 3, 3, 3)
    return coloured(w), coloured(np.ascontiguousarray(w[:, ::-1]))


@own("red and blue swapped where they are alike", "Proved.", expected="proved")
def certify_grey():
    w = np.repeat(weights(5, 4, 1, 3, 3), 3, axis=1)
    return coloured(w), coloured(np.ascontiguousarray(w[:, ::-1]))


@own("Abs and Relu(x) + Relu(-x)", "Skipped: Abs is not known to it.", expected="proved")
def certify_absolute():
    head = "g (float[4] x) => (float[4] y) { "
    return (model(head + "y = Abs(x) }"),
            model(head + "a = Relu(x)  n = Neg(x)  b = Relu(n)  y = Add(a, b) }"))


@own("a fold at 64 x 64, padded", "Proved on a smaller image.", made=SIM,
     expected="proved-up-to-constants")
def certify_large():
    return conv_batchnorm(64, 64, pads=(1, 1, 1, 1), tail="y = Identity(n)", seed=10)


@own("a fold at 128 x 128, in steps of two", "Proved on a smaller image.", made=SIM,
     expected="proved-up-to-constants")
def certify_strides():
    return conv_batchnorm(128, 64, pads=(1, 1, 1, 1), strides=(2, 2), seed=20)


@own("the same at 64 x 64, with a bias off by 1/4", "Refuted on a smaller image, and lifted.")
def certify_large_bias():
    made = conv_batchnorm(64, 64, pads=(1, 1, 1, 1), tail="y = Identity(n)", seed=10)
    return made, moved(made, "b", 0.25)


@own("a fold of two layers, each with Conv and BatchNormalization",
     "Proved on a smaller image.", made=SIM, expected="proved-up-to-constants")
def certify_two_layers():
    parts = {}
    for layer in (1, 2):
        seed, channels = 30 + 10 * layer, (3, 2)[layer - 1]
        parts |= {f"w{layer}": weights(seed, 2, channels, 3, 3), f"b{layer}": weights(seed + 1, 2),
                  f"scale{layer}": positive(seed + 2, 2), f"shift{layer}": weights(seed + 3, 2),
                  f"mean{layer}": weights(seed + 4, 2), f"var{layer}": positive(seed + 5, 2)}
    return model("""g (float[1,3,32,32] x) => (float[1,2,32,32] y) {
      c1 = Conv<pads = [1, 1, 1, 1]>(x, w1, b1)
      n1 = BatchNormalization(c1, scale1, shift1, mean1, var1)  r = Relu(n1)
      c2 = Conv<pads = [1, 1, 1, 1]>(r, w2, b2)
      y = BatchNormalization(c2, scale2, shift2, mean2, var2) }""", opset=15, **parts)


@own("a constant added before a padded Conv, or after it",
     "Refuted at the border, lifted to the last row and column.")
def certify_border():
    w = weights(13, 4, 3, 3, 3)
    after = (w.sum(axis=(1, 2, 3)) / 2).reshape(1, 4, 1, 1)
    head = "g (float[1,3,64,64] x) => (float[1,4,64,64] y) { "
    return (model(head + "c = Conv<pads = [0, 0, 2, 2]>(x, w)  y = Add(c, after) }", w=w,
                  after=after),
            model(head + "a = Add(x, half)  y = Conv<pads = [0, 0, 2, 2]>(a, w) }", w=w,
                  half=np.float32(0.5)))


@own("Flatten and Reshape", "Skipped at this size.", expected="proved")
def certify_flatten():
    head = "g (float[1,3,16,16] x) => (float[1,1024] y) { c = Conv<pads = [1, 1, 1, 1]>(x, w)  "
    w = weights(15, 4, 3, 3, 3)
    return (model(head + "y = Flatten(c) }", w=w),
            model(head + "y = Reshape(c, flat) }", w=w, flat=ints(1, -1)))


@own("an image added, or its negative subtracted", "Skipped at this size.",
     expected="proved-up-to-constants")
def certify_image():
    head = "g (float[1,3,16,16] x) => (float[1,4,16,16] y) { c = Conv<pads = [1, 1, 1, 1]>(x, w)  "
    w, image = weights(16, 4, 3, 3, 3), weights(17, 1, 4, 16, 16)
    return (model(head + "y = Add(c, image) }", w=w, image=image),
            model(head + "y = Sub(c, image) }", w=w, image=-image))


@own("a bias off by 1/4 behind a Relu", "Refuted, but not by its bounds alone.")
def certify_relu_bias():
    made = model("g (float[1,3,6,6] x) => (float[1,4,4,4] y) { c = Conv(x, w, b)  y = Relu(c) }",
                 w=weights(18, 4, 3, 3, 3), b=weights(19, 4))
    return made, moved(made, "b", 0.25)
