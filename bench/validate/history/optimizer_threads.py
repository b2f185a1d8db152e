"""Threads about onnx.optimizer, its successor onnxoptimizer, and onnxsim, which builds on it."""
import numpy as np

from build import ints, model, pair, positive, weights

NOW = None
FOLD = dict(w=weights(1, 3, 2, 3, 3), b=weights(6, 3), scale=weights(2, 3), shift=weights(3, 3),
            mean=weights(4, 3), var=positive(5, 3))
CONV_BATCHNORM = """g (float[N,2,5,5] x) => (float[N,3,3,3] y) {
  c = Conv<kernel_shape = [3, 3]>(x, w, b)
  y = BatchNormalization(c, scale, shift, mean, var) }"""


@pair("onnx/onnx#2446", "two Transposes are composed the wrong way round",
      passes="fuse_consecutive_transposes",
      said="Transposes by [1, 0, 2] and [0, 2, 1] become one by [2, 0, 1]; shape inference then "
           "contradicts the declared output. Repaired in onnx 1.7 by pull request #2470.",
      wrong="Axis i of the result is axis first[second[i]] of the input: [1, 2, 0]. The pass "
            "composed in the other order, which agrees only where the permutations commute.",
      condition="the order of composition",
      made=("onnx", "1.6.0", "3.7", "onnx.optimizer", "fuse_consecutive_transposes"))
def consecutive_transposes():
    return model("""g (float[2,3,4] x) => (float[3,4,2] y) {
      t = Transpose<perm = [1, 0, 2]>(x)  y = Transpose<perm = [0, 2, 1]>(t) }""", opset=9, ir=4)


@pair("pytorch/pytorch#7868", "the same in an exporter", passes="peephole pass of the exporter",
      said="transpose(1, 2).transpose(0, 1) is exported as one Transpose by [1, 2, 0]; [2, 0, 1] "
           "was expected.",
      wrong="The permutations were composed in the wrong order. On a cube the shapes agree, so "
            "only the numbers tell.", condition="the order of composition")
def torch_transposes():
    head = "g (float[3,3,3] x) => (float[3,3,3] y) { "
    return (model(head + """t = Transpose<perm = [0, 2, 1]>(x)
      y = Transpose<perm = [1, 0, 2]>(t) }"""),
            model(head + "y = Transpose<perm = [1, 2, 0]>(x) }"))


@pair("onnx/optimizer#35", "two Squeezes with negative axes", passes="fuse_consecutive_squeezes",
      said="[1, 5000, 1, 1] squeezed twice along -1 is [1, 5000]; the fused axes are [-1, 0], "
           "which gives [5000, 1]. The pass shifts axes as if they counted from the front.",
      wrong="An axis from the end does not move when an earlier axis disappears; one from the "
            "front does.", condition="axes are counted from the front before they are shifted",
      made=("onnxoptimizer", NOW, "3.11", "fuse_consecutive_squeezes"))
def squeeze_negative():
    return model("""g (float[1,5,1,1] x) => (float[1,5] y) {
      s = Squeeze(x, last)  y = Squeeze(s, last) }""", opset=13, ir=7, last=ints(-1))


@pair("onnx/optimizer#253", "the pass for Squeezes is said to change outputs",
      passes="fuse_consecutive_squeezes", expected="proved",
      said="A fuzzer's model differs by 5e-4 at most after this pass alone.",
      wrong="For axes from the front the pass is right; the model of the report was not rebuilt.",
      condition="none", made=("onnxoptimizer", NOW, "3.11", "fuse_consecutive_squeezes"))
def squeeze_positive():
    return model("""g (float[1,N,1,1] x) => (float[N] y) {
      s = Squeeze(x, outer)  y = Squeeze(s, inner) }""", opset=13, ir=7,
                 outer=ints(0, 2), inner=ints(1))


@pair("onnxsim/onnxsim#290", "zeros of a Pad become minus infinity of MaxPool", low=-4.0,
      high=-1.0, passes="fuse_pad_into_pool",
      said="A constant Pad with 0 is folded into MaxPool; it should be folded only for minus "
           "infinity. Maintainers confirm it with an all-negative input. onnxsim has since "
           "replaced the pass; onnx/optimizer#318 offers the same repair upstream.",
      wrong="MaxPool never chooses a padded element, but a zero that Pad wrote is an element.",
      condition="the padded value is minus infinity, or no element is negative",
      made=("onnxsim", "0.4.19", "3.10", ))
def pad_max_pool():
    return model("""g (float[N,1,4,4] x) => (float[N,1,4,4] y) {
      p = Pad(x, pads)  y = MaxPool<kernel_shape = [3, 3]>(p) }""", opset=13, ir=7,
                 pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("onnx/optimizer#318", "the same, upstream", low=-4.0, high=-1.0,
      passes="fuse_pad_into_pool",
      said="The pass folds Pad with 0, or with no value, into MaxPool. The pull request lets "
           "AveragePool fold zeros and MaxPool minus infinity only.",
      wrong="As in onnxsim#290; open sizes of the image here.",
      condition="the padded value is minus infinity, or no element is negative",
      sizes={"N": 1, "H": 4, "W": 5},
      made=("onnxoptimizer", NOW, "3.11", "fuse_pad_into_pool"))
def pad_max_pool_upstream():
    return model("""g (float[N,1,H,W] x) => (float[N,1,I,J] y) {
      p = Pad(x, pads)  y = MaxPool<kernel_shape = [3, 3], strides = [2, 2]>(p) }""", opset=13,
                 ir=7, pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("onnx/optimizer#108", "padding that AveragePool leaves out is counted",
      passes="fuse_pad_into_pool",
      said="When a Pad moves into AveragePool, count_include_pad has to become 1: the pull request "
           "sets it always.",
      wrong="The pool has padding of its own, which count_include_pad = 0 keeps out of the mean. "
            "Setting the attribute counts it, too. onnxruntime's repair of the same pass, #23190, "
            "refuses this case.",
      condition="the pool has no padding of its own, or counts it already",
      made=("onnxoptimizer", NOW, "3.11", "fuse_pad_into_pool"))
def pad_average_pool_twice():
    return model("""g (float[N,1,4,4] x) => (float[N,1,6,6] y) {
      p = Pad(x, pads)
      y = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(p) }""", opset=13, ir=7,
                 pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("onnx/optimizer#269", "the pass for pools is said to change outputs", expected="proved",
      passes="fuse_pad_into_pool",
      said="A fuzzer's model differs by 1.2e-4 after this pass alone.",
      wrong="For an AveragePool without padding of its own the pass is right: zeros counted in the "
            "pool are the zeros of the Pad. The model of the report was not rebuilt.",
      condition="none", made=("onnxoptimizer", NOW, "3.11", "fuse_pad_into_pool"))
def pad_average_pool_right():
    return model("""g (float[N,1,4,4] x) => (float[N,1,4,4] y) {
      p = Pad(x, pads)  y = AveragePool<kernel_shape = [3, 3]>(p) }""", opset=13, ir=7,
                 pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("onnx/optimizer#33", "pads are added beside auto_pad", passes="fuse_pad_into_conv",
      expected="invalid",
      said="A Pad folded into a Conv with auto_pad = SAME_UPPER leaves both attributes. A reviewer "
           "asks for auto_pad = NOTSET; merged years later as #251.",
      wrong="auto_pad and pads exclude each other; onnxruntime refuses the model, and a runtime "
            "that lets auto_pad win computes another shape.",
      condition="auto_pad is NOTSET",
      made=("onnxoptimizer", "0.3.8", "3.10", "fuse_pad_into_conv"))
def pad_conv_auto_pad():
    return model("""g (float[1,1,4,4] x) => (float[1,1,6,6] y) {
      p = Pad(x, pads)  y = Conv<auto_pad = "SAME_UPPER", kernel_shape = [3, 3]>(p, w) }""",
                 opset=13, ir=7, pads=ints(0, 0, 1, 1, 0, 0, 1, 1), w=weights(1, 1, 1, 3, 3))


@pair("onnx/optimizer#263", "a Slice of a Shape that starts late",
      passes="eliminate_slice_after_shape",
      said="Models that take parts of shapes drift, some by as much as 6.8, after this pass alone.",
      wrong="The Slice counts from the first entry of Shape's result, which is axis `start` of the "
            "tensor. The pass counts from axis 0. onnxsim's own version of the pass says so.",
      condition="starts and ends of the Slice are shifted by Shape's start",
      made=("onnxoptimizer", NOW, "3.11", "eliminate_slice_after_shape"))
def slice_after_shape():
    return model("""g (float[2,3,4,5] x) => (int64[2] y) {
      s = Shape<start = 1>(x)  y = Slice(s, first, second) }""", opset=15,
                 first=ints(0), second=ints(2))


@pair("onnx/optimizer#279", "folding Shape is said to change outputs", expected="proved",
      passes="eliminate_shape_op",
      said="Two fuzzer's models differ after this pass alone, also with runtime optimisations off.",
      wrong="For known sizes the pass is right, with start and end, too.",
      condition="none", made=("onnxoptimizer", NOW, "3.11", "eliminate_shape_op"))
def shape_folded():
    return model("""g (float[2,3,4,5] x, float[12] z) => (float[3,4] y) {
      s = Shape<start = 1, end = -1>(x)  y = Reshape(z, s) }""", opset=15)


@pair("onnx/optimizer#255", "outputs differ by 4e-6 after a normalisation is folded",
      passes="fuse_bn_into_conv", expected="proved-up-to-constants",
      said="Largest difference 3.8e-6, 2.8e-7 relative, on one model after this pass alone.",
      wrong="The fold is right. Its weights are rounded products and quotients: the bound says by "
            "how much.", condition="none",
      made=("onnxoptimizer", "0.3.8", "3.10", "fuse_bn_into_conv"))
def conv_batchnorm():
    return model(CONV_BATCHNORM, opset=13, ir=7, **FOLD)


@pair("onnx/optimizer#255", "the same fold by onnxruntime", passes="ConvBNFusion",
      expected="proved-up-to-constants",
      said="As above.", wrong="The fold is right; other roundings.", condition="none",
      made=("onnxruntime", NOW, "3.11", "basic"))
def conv_batchnorm_runtime():
    return model(CONV_BATCHNORM, opset=15, **FOLD)


@pair("onnx/optimizer#255", "the same fold, left to the graph", passes="fuse_bn_into_conv",
      expected="proved",
      said="As above. Since 0.3.9 the pass writes the products as operators on constants.",
      wrong="The fold is right, and nothing is rounded yet.", condition="none",
      made=("onnxoptimizer", NOW, "3.11", "fuse_bn_into_conv"))
def conv_batchnorm_in_graph():
    return model(CONV_BATCHNORM, opset=13, ir=7, **FOLD)


@pair("onnx/onnx#2677", "a folded normalisation is wrong in the Linux wheels",
      passes="fuse_bn_into_conv",
      said="The folded weights of one layer are totally wrong in the wheels of onnx 1.5 to 1.7 for "
           "Linux, and right when built from source. onnxsim#50 is how it was found.",
      wrong="The wheels' numbers are not known. The second model scales by variance + epsilon "
            "where its root is due: wrong by a factor, not by rounding.",
      condition="each constant is the fold's, up to rounding")
def batchnorm_wrong_factor():
    factor = (FOLD["scale"] / (FOLD["var"] + np.float32(1e-5))).astype(np.float32)
    folded = {"w": FOLD["w"] * factor[:, None, None, None],
              "b": (FOLD["b"] - FOLD["mean"]) * factor + FOLD["shift"]}
    return (model(CONV_BATCHNORM, opset=9, ir=7, **FOLD),
            model("""g (float[N,2,5,5] x) => (float[N,3,3,3] y) {
      y = Conv<kernel_shape = [3, 3]>(x, w, b) }""", opset=9, ir=7, **folded))


@pair("onnx/optimizer#274, #278, #283, #284, #285, #252", "passes that drop what does nothing",
      expected="proved",
      passes="eliminate_nop_dropout, _pad, _split, _transpose, _with_unit, _concat",
      said="Six reports on one fuzzer's model: each pass alone is said to move the same two "
           "outputs by 4e4 and 5e2.",
      wrong="The same outputs move whichever pass runs, so the cause is not in the passes. On the "
            "operators that they name they are right.",
      condition="none",
      made=("onnxoptimizer", NOW, "3.11",
            "eliminate_nop_dropout,eliminate_nop_pad,eliminate_nop_split,"
            "eliminate_nop_transpose,eliminate_nop_with_unit,eliminate_nop_concat"))
def nops():
    return model("""g (float[N,4] x) => (float[N,4] y) {
      a = Transpose<perm = [0, 1]>(x)  b = Pad(a, none)  c = Concat<axis = 0>(b)
      d = Mul(c, one)  e = Dropout(d)  f = Add(e, zero)  y = Relu(f) }""", opset=13, ir=7,
                 none=ints(0, 0, 0, 0), one=np.float32(1), zero=np.float32(0))


@pair("onnx/optimizer#281", "ArgMax no longer waits for Softmax", expected="proved",
      passes="eliminate_nop_monotone_argmax",
      said="One of the reports on that model: outputs move after this pass alone.",
      wrong="Softmax along the same axis keeps the order over the reals, so ArgMax is the same. In "
            "floating point two values may round to the same and change the first index.",
      condition="the same axis",
      made=("onnxoptimizer", NOW, "3.11", "eliminate_nop_monotone_argmax"))
def monotone_argmax():
    return model("""g (float[N,4] x) => (int64[N,1] y) {
      s = Softmax<axis = 1>(x)  y = ArgMax<axis = 1>(s) }""", opset=13, ir=7)


@pair("onnxsim/onnxsim#265", "two constants become one", passes="eliminate_duplicate_initializer",
      said="x / 2 + y * 4 becomes x / 2 + y * 2 with 0.4.19 after an export; skipping the pass "
           "for duplicate initializers helps.",
      wrong="Equal type and shape are not equal values.", condition="equal values")
def duplicate_initializer():
    head = "g (float[N] x, float[N] y) => (float[N] z) { a = Div(x, two)  "
    two = {"two": np.float32(2)}
    return (model(head + "b = Mul(y, four)  z = Add(a, b) }", opset=13, ir=7,
                  four=np.float32(4), **two),
            model(head + "b = Mul(y, two)  z = Add(a, b) }", opset=13, ir=7, **two))


@pair("onnxsim/onnxsim#1284", "pads are folded in the wrong order",
      passes="partial shape evaluation",
      said="A fuzzer's model moves by 0.36. Pull request #1293: values that shape propagation "
           "carries have no rank, so reversing the rows of a matrix reversed a flat list.",
      wrong="Exporters reverse pads by rows: reshape to [-1, 2], slice backwards, transpose. As a "
            "flat list the pairs are swapped, and rows are padded where columns should be.",
      condition="the propagated value has rank 1", sizes={"H": 2, "W": 3})
def partial_shape():
    return (model("""g (float[2,3] x) => (float[H,W] y) {
      r = Reshape(pairs, rows)  s = Slice(r, last, start, zero, back)
      t = Transpose<perm = [1, 0]>(s)  f = Reshape(t, flat)  y = Pad(x, f) }""", opset=13, ir=7,
                  pairs=ints(1, 2, 0, 0), rows=ints(-1, 2), last=ints(-1),
                  start=ints(-2 ** 63 + 1), zero=ints(0), back=ints(-1), flat=ints(-1)),
            model("g (float[2,3] x) => (float[H,W] y) { y = Pad(x, f) }", opset=13, ir=7,
                  f=ints(0, 2, 0, 1)))
