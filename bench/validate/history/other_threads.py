"""Threads about other compilers, whose passes are rebuilt as pairs of ONNX models by hand."""
import numpy as np

from build import ints, model, pair, weights


@pair("onnx/onnx-mlir#2210", "two casts become the second one", passes="FuseCastCastPattern",
      low=-3.0, high=3.0,
      said="int32 to bool to int16 becomes int32 to int16: -2 should give 1 and gives -2. Whether "
           "integer casts may be merged depends on whether they saturate.",
      wrong="A bool has two values.", condition="the first cast loses nothing")
def mlir_casts():
    head = "g (int32[N] x) => (int16[N] y) { "
    return (model(head + "b = Cast<to = 9>(x)  y = Cast<to = 5>(b) }", opset=13, ir=7),
            model(head + "y = Cast<to = 5>(x) }", opset=13, ir=7))


@pair("openvinotoolkit/openvino#31833", "two sums along axes of different tensors",
      passes="ReduceMerge",
      said="Two ReduceSum along the last axis with keep_dims = false are merged along [-1, -1] "
           "instead of [-1, -2]. Pull request #31841 maps the second axes back.",
      wrong="The second sum counts axes of a tensor that has lost one. Axis 1 of the result is "
            "axis 2 of the input. On a cube the shapes agree.",
      condition="axes of the second sum are mapped back, or keepdims = 1")
def openvino_sums():
    head = "g (float[3,3,3] x) => (float[3] y) { "
    first, second = {"first": ints(0)}, {"second": ints(1)}
    return (model(head + """s = ReduceSum<keepdims = 0>(x, first)
      y = ReduceSum<keepdims = 0>(s, second) }""", opset=13, ir=7, **first, **second),
            model(head + "y = ReduceSum<keepdims = 0>(x, both) }", opset=13, ir=7,
                  both=ints(0, 1)))


@pair("NVIDIA/TensorRT#4606", "Clip to [0, 6] becomes Relu", passes="MatMul, Add, activation",
      said="In chains of MatMul, Add and Clip the upper bound is lost when the lower one is 0.",
      wrong="Relu has no upper bound.", condition="the upper bound is infinite", low=-8.0,
      high=8.0)
def tensorrt_clip():
    head = "g (float[N,3] x) => (float[N,4] y) { m = MatMul(x, w)  a = Add(m, b)  "
    known = {"w": weights(1, 3, 4), "b": weights(2, 4)}
    return (model(head + "y = Clip(a, low, high) }", low=np.float32(0), high=np.float32(6),
                  **known),
            model(head + "y = Relu(a) }", **known))


@pair("hidet-org/hidet#97", "Clip loses its bounds in a fusion", passes="operator fusion",
      said="A Clip to [-1, 1] lets 6 through after graph optimisation.",
      wrong="The bounds belong to the operator.", condition="operands are carried over")
def hidet_clip():
    head = "g (float[N,M] x) => (float[N,M] y) { "
    return (model(head + "y = Clip(x, low, high) }", low=np.float32(-1), high=np.float32(1)),
            model(head + "y = Clip(x) }"))


@pair("apple/coremltools#2807", "a factor for each row becomes one for each channel",
      passes="fuse_layernorm_or_instancenorm",
      said="gamma of shape [1, 1, 4, 1] squeezes to a vector and is taken for an instance norm's; "
           "the pull request checks shapes, not just ranks.",
      wrong="The factor varies along the height. As an InstanceNormalization's scale it varies "
            "along the channels. With 4 of both, nothing fails.",
      condition="gamma is [1, C, 1, 1]")
def coreml_instance_norm():
    gamma = weights(1, 4)
    return (model("""g (float[N,4,4,3] x) => (float[N,4,4,3] y) {
      n = InstanceNormalization<epsilon = 0.125>(x, one, none)  y = Mul(n, gamma) }""",
                  one=np.ones(4, np.float32), none=np.zeros(4, np.float32),
                  gamma=gamma.reshape(1, 1, 4, 1)),
            model("""g (float[N,4,4,3] x) => (float[N,4,4,3] y) {
      y = InstanceNormalization<epsilon = 0.125>(x, gamma, none) }""", gamma=gamma,
                  none=np.zeros(4, np.float32)))


@pair("apache/tvm#19420", "Softmax of opset 11 read as of opset 13", passes="import",
      said="Only the meaning of opset 13 is implemented. Before, the axes from the given one on "
           "are flattened; the numbers are wrong without a warning.",
      wrong="With the default axis 12 elements are normalised before opset 13, 4 since.",
      condition="the opset is at least 13, or the axis is the last")
def tvm_softmax():
    head = "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax<axis = "
    return model(head + "1>(x) }", opset=11, ir=6), model(head + "-1>(x) }", opset=13, ir=7)
