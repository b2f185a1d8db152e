"""Threads about onnxruntime's graph optimisations."""
import numpy as np

from build import ints, model, pair, positive, weights

NOW = None  # the version that is installed beside regraft's benchmarks
MOMENTS = """m = ReduceMean<axes = [-1], keepdims = {keep}>(x)
  c = Sub(x, m)  q = Pow(c, two)
  v = ReduceMean<axes = [-1], keepdims = {keep}>(q)
  e = Add(v, eps)  s = Sqrt(e)  n = Div(c, s)"""
PARTS = {"two": np.float32(2), "eps": np.float32(0.125)}


def layer_norm(shape, out, tail, keep=1, **initializers):
    return model(f"""g (float[{shape}] x) => (float[{out}] y) {{
  {MOMENTS.format(keep=keep)}
  {tail} }}""", **PARTS, **initializers)


IDENTITY = dict(
    passes="GemmTransposeFusion",
    wrong="The pass drops a Transpose before Gemm and flips transA or transB. It looked at the "
          "operator's name only. A Transpose whose perm is [0, 1] changes nothing, so the flag "
          "must not flip.",
    condition="perm = [1, 0]",
    made=("onnxruntime", "1.27.0", "3.11", "basic"))


@pair("microsoft/onnxruntime#32228", "an identity Transpose becomes transA", **IDENTITY,
      said="MatMul and Add behind a Transpose with perm [0, 1] give wrong numbers without any "
           "warning when the operand is square, and an error when it is not.")
def gemm_identity_transpose():
    return model("""g (float[3,3] x) => (float[3,4] y) {
      t = Transpose<perm = [0, 1]>(x)  m = MatMul(t, w)  y = Add(m, b) }""",
                 w=weights(1, 3, 4), b=weights(2, 4))


@pair("microsoft/onnxruntime#32417", "the same with a Gemm", **IDENTITY,
      said="A Gemm whose first input is an identity Transpose fails from the basic level on. The "
           "reporter's operand is not square; with a square one the numbers are wrong.")
def gemm_identity_input():
    return model("""g (float[3,3] x) => (float[3,4] y) {
      t = Transpose<perm = [0, 1]>(x)  y = Gemm(t, w, b) }""",
                 w=weights(1, 3, 4), b=weights(2, 4))


@pair("microsoft/onnxruntime#32418", "the same on the second operand", **IDENTITY,
      said="An identity Transpose on Gemm's weight turns into transB = 1.")
def gemm_identity_weight():
    return model("""g (float[N,3] x, float[3,3] w) => (float[N,3] y) {
      t = Transpose<perm = [0, 1]>(w)  y = Gemm(x, t, b) }""", b=weights(2, 3))


@pair("microsoft/onnxruntime#30513", "a LayerNormalization is seen where keepdims is 0",
      passes="LayerNormFusion",
      said="The fusion matches the two ReduceMean without reading keepdims. With keepdims = 0 the "
           "mean has lost an axis and is broadcast along another one. Some shapes then fail to "
           "load, others give wrong numbers. Pull request #31144 offers a check.",
      wrong="With keepdims = 0 and a square input, x - mean subtracts from each column the mean of "
            "the row of the same index. LayerNormalization subtracts each row's own mean.",
      condition="keepdims = 1 on both means", made=("onnxruntime", NOW, "3.11", "basic"))
def layer_norm_keepdims():
    return layer_norm("4,4", "4,4", "h = Mul(n, scale)  y = Add(h, bias)", keep=0,
                      scale=weights(1, 4), bias=weights(2, 4))


@pair("microsoft/onnxruntime#25855", "a scale that is broadcast becomes a scale along the axis",
      passes="LayerNormFusion",
      said="At the extended level the fusion accepts a scale whose shape is not that of the "
           "normalised axes. Shapes that broadcasting allowed mean something else in the kernel; "
           "outputs were wrong on DirectML.",
      wrong="A scale of shape [4, 1] multiplies each row by one number. As the scale of a "
            "LayerNormalization over the last axis the same four numbers multiply the columns.",
      condition="the scale's shape equals that of the normalised axes")
def layer_norm_row_scale():
    flat = {"scale": weights(1, 4), "bias": weights(2, 4)}
    before = layer_norm("N,4,4", "N,4,4", "h = Mul(n, scale)  y = Add(h, bias)",
                        **{k: v.reshape(4, 1) for k, v in flat.items()})
    return before, model("""g (float[N,4,4] x) => (float[N,4,4] y) {
      y = LayerNormalization<axis = -1, epsilon = 0.125>(x, scale, bias) }""", **flat)


@pair("microsoft/onnxruntime#32603", "a scale that makes the tensor larger is fused",
      passes="LayerNormFusion", expected="invalid",
      said="The fusion compares ranks and known sizes, not whether Mul and Add keep the shape. An "
           "input of width 1 times a scale of width 2 has width 2; LayerNormalization keeps 1.",
      wrong="The output has another shape, and the kernel refuses a scale of that size.",
      condition="broadcasting with scale and bias does not enlarge the normalised tensor",
      made=("onnxruntime", NOW, "3.11", "basic"))
def layer_norm_expanding_scale():
    return layer_norm("3,1", "3,2", "h = Mul(n, scale)  y = Add(h, bias)",
                      scale=weights(1, 2), bias=weights(2, 2))


@pair("microsoft/onnxruntime#31980", "the same in the fusion of RMS norms",
      passes="SimplifiedLayerNormFusion", expected="invalid",
      said="A Mul behind the normalisation is taken as its scale even where its shape does not "
           "match the last dimension; the session then fails at run time.",
      wrong="The output has another shape, and the kernel refuses the scale.",
      condition="the scale's shape equals the last dimension",
      made=("onnxruntime", NOW, "3.11", "extended"))
def simplified_layer_norm_scale():
    return layer_norm("3,1", "3,2", "y = Mul(scale, n)", scale=weights(1, 2))


@pair("microsoft/onnxruntime#4293", "fusing LayerNormalization changes the output",
      expected="proved", passes="LayerNormFusion",
      said="Outputs of a transformer move after the fusion of layer normalisation.",
      wrong="For this pattern it is not wrong: both sides are the same function over the reals, "
            "and differ by the rounding of a sum in another order.",
      condition="none", made=("onnxruntime", NOW, "3.11", "basic"))
def layer_norm_right():
    return layer_norm("N,4", "N,4", "h = Mul(n, scale)  y = Add(h, bias)",
                      scale=weights(1, 4), bias=weights(2, 4))


@pair("microsoft/onnxruntime#22177", "zeros of a Pad are no longer counted by AveragePool",
      passes="PadFusion",
      said="A Pad moved into AveragePool needs count_include_pad = 1. Pull request #23190 sets it, "
           "and refuses pools that have pads of their own which they do not count.",
      wrong="AveragePool divides by the elements that it counts. Zeros that were elements of the "
            "padded tensor become padding, which the default leaves out of the count.",
      condition="count_include_pad = 1, or no padding in the pool",
      made=("onnxruntime", "1.20.1", "3.11", "basic"))
def pad_average_pool():
    return model("""g (float[N,1,4,4] x) => (float[N,1,4,4] y) {
      p = Pad(x, pads)  y = AveragePool<kernel_shape = [3, 3]>(p) }""",
                 pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("microsoft/onnxruntime#18136", "zeros of a Pad become minus infinity of MaxPool",
      passes="PadFusion", low=-4.0, high=-1.0,
      said="The pull request that brought the pass asks that the padding be constant zero, for "
           "Conv and MaxPool alike. It is onnxsim's #290 in another tool; no report was found.",
      wrong="MaxPool never chooses a padded element. A zero that Pad wrote is an element, and the "
            "largest of a window whose other elements are negative.",
      condition="the padded value is minus infinity, or no element is negative",
      made=("onnxruntime", NOW, "3.11", "basic"))
def pad_max_pool_runtime():
    return model("""g (float[N,1,4,4] x) => (float[N,1,4,4] y) {
      p = Pad(x, pads)  y = MaxPool<kernel_shape = [3, 3]>(p) }""",
                 pads=ints(0, 0, 1, 1, 0, 0, 1, 1))


@pair("microsoft/onnxruntime#27845", "a QuantizeLinear is inserted without its type",
      passes="QDQPropagationTransformer",
      said="DequantizeLinear of int8 without a zero point is propagated through Transpose. The "
           "inserted QuantizeLinear has no output_dtype, so it is uint8 and negative values "
           "become 0. Pull request #28144 repairs it.",
      wrong="QuantizeLinear without zero point and output_dtype makes uint8: it saturates at 0.",
      condition="the inserted QuantizeLinear has the type of what DequantizeLinear read",
      made=("onnxruntime", "1.24.1", "3.11", "basic"))
def qdq_signed():
    return model("""g (int8[2,4] x) => (float[4,2] y) {
      d = DequantizeLinear(x, s)  y = Transpose(d) }""", opset=21, ir=10, s=np.float32(0.5))


@pair("microsoft/onnxruntime#25259", "two pairs of QuantizeLinear become one",
      passes="DoubleQDQPairsRemover",
      said="Outputs of a quantised model differ with and without optimisations; switching off "
           "DoubleQDQPairsRemover and QDQSelectorActionTransformer removes the difference.",
      wrong="Rounding to multiples of 1/4 between 0 and 63.75 and then to multiples of 1/8 between "
            "-16 and 15.875 is not one rounding: the pass computes a third scale of its own.",
      condition="both pairs have the same scale and zero point",
      made=("onnxruntime", NOW, "3.11", "basic"))
def qdq_double():
    return model("""g (float[2,4] x) => (float[2,4] y) {
      a = QuantizeLinear(x, s1, z1)  b = DequantizeLinear(a, s1, z1)
      c = QuantizeLinear(b, s2, z2)  y = DequantizeLinear(c, s2, z2) }""", opset=13, ir=7,
                 s1=np.float32(0.25), z1=np.uint8(0), s2=np.float32(0.125), z2=np.uint8(128))


@pair("microsoft/onnxruntime#32132", "an integer kernel rounds to the neighbouring step",
      expected="proved", passes="QDQSelectorActionTransformer",
      said="Quantised pools and convolutions at the extended level differ from the unoptimised "
           "run by one or two steps of the scale.",
      wrong="Not wrong over the reals: QLinearAveragePool computes the rounded average that the "
            "three operators describe. Its kernel rounds ties another way.",
      condition="none", made=("onnxruntime", NOW, "3.11", "extended"))
def qdq_average_pool():
    return model("""g (float[1,2,4,4] x) => (float[1,2,3,3] y) {
      a = QuantizeLinear(x, s1, z)  b = DequantizeLinear(a, s1, z)
      p = AveragePool<kernel_shape = [2, 2]>(b)
      c = QuantizeLinear(p, s2, z)  y = DequantizeLinear(c, s2, z) }""", opset=13, ir=7,
                 s1=np.float32(0.125), z=np.uint8(128), s2=np.float32(0.0625))


@pair("microsoft/onnxruntime#11994", "float to int32 to bool becomes float to bool",
      passes="CastElimination", low=-1.0, high=1.0,
      said="0.2 cast to int32 and then to bool is true, but should be false. Returning the integer "
           "as well makes the difference go away.",
      wrong="Casting to int32 cuts the fraction off, so 0.2 is 0 and false. Casting directly to "
            "bool asks whether the value is 0.",
      condition="the first cast loses nothing that the second one sees",
      made=("onnxruntime", "1.20.1", "3.11", "basic"))
def cast_to_bool():
    return model("""g (float[N] x) => (bool[N] y) {
      i = Cast<to = 6>(x)  y = Cast<to = 9>(i) }""", opset=14, ir=7)


@pair("microsoft/onnxruntime#4039", "float to int32 to float disappears", passes="CastElimination",
      said="Two casts, to an integer and back, have no effect in 1.3: the fraction is kept.",
      wrong="The integer between them has no fraction.",
      condition="the first cast loses nothing")
def cast_and_back():
    return (model("""g (float[N] x) => (float[N] y) {
      i = Cast<to = 6>(x)  y = Cast<to = 1>(i) }""", opset=11, ir=6),
            model("g (float[N] x) => (float[N] y) { y = Identity(x) }", opset=11, ir=6))


@pair("microsoft/onnxruntime#24340", "multiplying by [1] is dropped, and with it an axis",
      passes="NoopElimination",
      said="The extended level fails on a Concat: an element that was a vector of length 1 is a "
           "scalar, since the product with a vector of one 1 was removed.",
      wrong="A scalar times a vector of length 1 is a vector of length 1.",
      condition="the constant's rank is not above the other operand's")
def scalar_times_one():
    return (model("g (float z) => (float[1] y) { m = Mul(z, one)  y = Relu(m) }",
                  one=np.ones(1, np.float32)),
            model("g (float z) => (float y) { y = Relu(z) }"))


@pair("microsoft/onnxruntime#12517", "a Softmax along an inner axis becomes one over the rest",
      passes="BiasSoftmaxFusion",
      said="The fused kernel follows Softmax before opset 13, which flattens all axes from the "
           "given one. Since opset 13 only that axis is normalised. Pull request #12517 fuses the "
           "last axis only.",
      wrong="Softmax along axis 1 of three normalises 3 elements; the kernel normalises 12. The "
            "second model writes the kernel in standard operators.",
      condition="axis is the last one since opset 13")
def bias_softmax():
    head = "g (float[N,3,4] x, float[N,3,4] b) => (float[N,3,4] y) { a = Add(x, b)  "
    return (model(head + "y = Softmax<axis = 1>(a) }", opset=13, ir=7),
            model(head + """f = Flatten<axis = 1>(a)  s = Softmax<axis = 1>(f)
      y = Reshape(s, like) }""", opset=13, ir=7, like=ints(-1, 3, 4)))


@pair("microsoft/onnxruntime#20951", "the shape of one input is read from another",
      passes="ShapeInputMerge", sizes={"N": 2, "K": 3, "M": 5},
      said="x plus its own number of columns becomes x plus the number of columns of the other "
           "input, state, in a nightly version.",
      wrong="The pass merges Shape nodes whose inputs have the same inferred shape. Unknown sizes "
            "without a name are not equal.",
      condition="every size of both inputs is known, or is the same symbol")
def shape_input_merge():
    def side(which):
        return model(f"""g (float[N,K] x, float[N,M] state) => (float[N,L] y) {{
      s = Shape({which})  k = Gather(s, one)  f = Cast<to = 1>(k)  a = Add(x, f)
      y = Concat<axis = 1>(state, a) }}""", one=np.int64(1))
    return side("x"), side("state")


@pair("microsoft/onnxruntime#4898", "a dynamic shape becomes a constant", passes="ReshapeFusion",
      sizes={"N": 5},
      said="A Reshape to a computed shape is saved with a constant one, which holds for the batch "
           "of the example only.",
      wrong="The first size of the result is the batch, not 2.",
      condition="the replaced sizes are constants, or a single -1 or 0 that stands for them")
def reshape_constant():
    return (model("""g (float[N,6] x) => (float[N,2,3] y) {
      s = Shape(x)  k = Gather(s, zero)  t = Concat<axis = 0>(k, rest)  y = Reshape(x, t) }""",
                  zero=ints(0), rest=ints(2, 3)),
            model("g (float[N,6] x) => (float[K,2,3] y) { y = Reshape(x, t) }",
                  t=ints(2, -1, 3)))


@pair("microsoft/onnxruntime#22512", "a batched MatMul becomes a Gemm", passes="MatMulBNFusion",
      expected="invalid",
      said="MatMul and BatchNormalization on tensors of rank 3 are fused into a Gemm, which needs "
           "rank 2: a valid model does not load. Pull request #22762 asks for rank 2.",
      wrong="BatchNormalization scales axis 1, which is the last axis for rank 2 only.",
      condition="both operands have rank 2")
def matmul_batchnorm():
    scale, shift, mean = weights(2, 3), weights(3, 3), weights(4, 3)
    var, w = positive(5, 3), weights(1, 3, 3)
    factor = scale / np.sqrt(var + np.float32(1e-5))
    return (model("""g (float[2,3,3] x) => (float[2,3,3] y) {
      m = MatMul(x, w)  y = BatchNormalization(m, scale, shift, mean, var) }""",
                  w=w, scale=scale, shift=shift, mean=mean, var=var),
            model("g (float[2,3,3] x) => (float[2,3,3] y) { y = Gemm(x, w, b) }",
                  w=(w * factor).astype(np.float32),
                  b=(shift - mean * factor).astype(np.float32)))


@pair("microsoft/onnxruntime#10950", "a product with [1] moves into MatMul",
      passes="MatMulScaleFusion", expected="invalid",
      said="A scalar times a vector of length 1, multiplied with a matrix, fails after the factor "
           "has moved into the MatMul: a scalar is no operand of MatMul.",
      wrong="The product made a vector of the scalar; without it the rank is 0.",
      condition="the scaled operand keeps its rank without the factor")
def matmul_scalar():
    return (model("g (float z) => (float[4] y) { v = Mul(z, one)  y = MatMul(v, w) }",
                  one=np.ones(1, np.float32), w=weights(1, 1, 4)),
            model("g (float z) => (float[4] y) { y = MatMul(z, w) }", w=weights(1, 1, 4)))


@pair("microsoft/onnxruntime#3764", "a sum that broadcasts becomes a Gemm",
      passes="MatMulAddFusion", expected="invalid",
      said="A model without Gemm fails in a Gemm: a column plus a row was fused.",
      wrong="A [3, 1] product plus a [1, 4] row is [3, 4]. Gemm's C may not enlarge its output.",
      condition="the added tensor broadcasts to the product's shape")
def matmul_add_expanding():
    head = "g (float[3,3] x, float[3,1] b, float[1,4] c) => (float[3,4] y) { k = Mul(two, c)  "
    two = {"two": np.float32(2)}
    return (model(head + "m = MatMul(x, b)  y = Add(m, k) }", **two),
            model(head + "y = Gemm(x, b, k) }", **two))


@pair("microsoft/onnxruntime#32105", "a Reshape of a shape is merged with a Reshape of data",
      passes="ReshapeFusion", expected="invalid",
      said="Where a Reshape computes the shape input of another Reshape, the two are fused as if "
           "it were the data. The session fails with a type error from the basic level on.",
      wrong="The fused node reshapes the integers of the shape, not x. No model is saved; the "
            "second one is what the error message describes.",
      condition="the first Reshape feeds the data input of the second")
def reshape_of_shape():
    return (model("""g (float[4] x, int64[2] s) => (float[2,2] y) {
      t = Reshape(s, two)  y = Reshape(x, t) }""", two=ints(2)),
            model("g (float[4] x, int64[2] s) => (float[2,2] y) { y = Reshape(s, two) }",
                  two=ints(2)))
