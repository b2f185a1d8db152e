"""What the repaired tools make of the same models, or of the nearest one that they still change."""
from build import PAIRS, ints, model, pair, weights

import onnxruntime_threads  # noqa: F401
import optimizer_threads  # noqa: F401
import python_threads  # noqa: F401

RUNTIME = ("onnxruntime", None, "3.11", "basic")
SLIM = ("onnxslim", None, "3.11")


def before(name):
    return next(p.before for p in PAIRS if p.name == name)


def repaired(thread, title, passes, made, condition, said="The repair of the thread above."):
    return pair(thread, title, expected="proved", passes=passes, made=made, condition=condition,
                said=said, wrong="The condition is checked now, so the change is right.")


@repaired("microsoft/onnxruntime#32228", "an identity Transpose, repaired",
          "GemmTransposeFusion", RUNTIME, "perm = [1, 0], which is now checked")
def gemm_identity_repaired():
    return before("gemm_identity_transpose")


@repaired("microsoft/onnxruntime#32228", "a real Transpose", "GemmTransposeFusion", RUNTIME,
          "perm = [1, 0], which is now checked", "The case that the pass is made for.")
def gemm_transpose():
    return model("""g (float[3,N] x) => (float[N,4] y) {
      t = Transpose<perm = [1, 0]>(x)  y = Gemm(t, w, b) }""", w=weights(1, 3, 4),
                 b=weights(2, 4))


@repaired("microsoft/onnxruntime#23190", "a Pad in AveragePool, repaired", "PadFusion", RUNTIME,
          "count_include_pad = 1, which the pass now sets")
def pad_average_pool_repaired():
    return before("pad_average_pool")


@repaired("microsoft/onnxruntime#28144", "an int8 DequantizeLinear, repaired",
          "QDQPropagationTransformer", RUNTIME, "output_dtype, which the pass now sets")
def qdq_signed_repaired():
    return before("qdq_signed")


@repaired("onnx/onnx#2470", "two Transposes, repaired", "fuse_consecutive_transposes",
          ("onnxoptimizer", None, "3.11", "fuse_consecutive_transposes"),
          "the order of composition, which is now right")
def consecutive_transposes_repaired():
    return before("consecutive_transposes")


@repaired("inisis/OnnxSlim#277", "Slices along two axes", "EliminationSlice", SLIM,
          "distinct axes of all users, which are now checked")
def slim_slices_repaired():
    return model("""g (float[8,N] x) => (float[6,M] y) {
      s = Slice(x, two, eight, zero, one)  t = Slice(s, one, four, one, one)  y = Relu(t) }""",
                 zero=ints(0), one=ints(1), two=ints(2), four=ints(4), eight=ints(8))


@repaired("inisis/OnnxSlim#21", "the pads of a one-dimensional Conv, repaired", "FusionPadConv",
          SLIM, "positions by rank, which are now right")
def slim_pad_one_axis_repaired():
    return before("slim_pad_one_axis")


@repaired("onnx/onnx#707", "a number for each channel becomes a bias", "FusionConvAdd", SLIM,
          "the constant is [C, 1, 1], which is now checked")
def slim_conv_channels():
    return model("""g (float[N,2,4,4] x) => (float[N,2,4,2] y) {
      c = Conv<kernel_shape = [1, 3], pads = [0, 0, 0, 0]>(x, w)  d = Add(c, b)
      y = Relu(d) }""", w=weights(1, 2, 2, 1, 3), b=weights(2, 1, 2, 1, 1))
