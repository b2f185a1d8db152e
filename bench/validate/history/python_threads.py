"""Threads about the optimisers written in Python, onnxslim and onnxscript."""
from build import ints, model, pair, weights

NOW = None
ONE = {"step": ints(1)}
PADDED = """g (float[1,1,4,4] x) => (float[1,1,4,4] y) {{
  p = Pad<mode = "{mode}">(x, pads{value})
  c = Conv<kernel_shape = [3, 3], pads = [0, 0, 0, 0]>(p, w)  y = Relu(c) }}"""
AROUND = {"pads": ints(0, 0, 1, 1, 0, 0, 1, 1), "w": weights(1, 1, 1, 3, 3)}
EARLY = ("onnxslim", "0.1.27", "3.10")
LATER = ("onnxslim", "0.1.82", "3.10")


@pair("inisis/OnnxSlim#53", "a reflecting Pad becomes a Conv's zeros", passes="FusionPadConv",
      said="The maintainer calls the earlier fusion of Pad and Conv wrong, in #21, and replaces "
           "it. A contributor names the missing checks: inputs and attributes of Pad.",
      wrong="Conv pads with zeros; this Pad repeats what is inside.",
      condition="mode is constant", made=EARLY)
def slim_pad_reflect():
    return model(PADDED.format(mode="reflect", value=""), opset=13, ir=7, **AROUND)


@pair("inisis/OnnxSlim#53", "a Pad with ones becomes a Conv's zeros", passes="FusionPadConv",
      said="As above.", wrong="Conv pads with zeros; this Pad writes a constant 2.",
      condition="the padded value is 0", made=EARLY)
def slim_pad_value():
    return model(PADDED.format(mode="constant", value=", two"), opset=13, ir=7,
                 two=weights(1, low=16, high=17), **AROUND)


@pair("inisis/OnnxSlim#21", "the pads of a one-dimensional Conv", passes="FusionPadConv",
      said="The contributor guesses that the fusion goes wrong with Conv1d and Conv3d.",
      wrong="The pass takes the pads of two spatial axes by position. With one axis the padding at "
            "its end is read where there is none, so the output is shorter.",
      condition="positions follow the rank", made=EARLY)
def slim_pad_one_axis():
    return model("""g (float[1,2,6] x) => (float[1,2,T] y) {
      p = Pad<mode = "constant">(x, pads)
      c = Conv<kernel_shape = [3], pads = [0, 0]>(p, w)  y = Relu(c) }""", opset=13, ir=7,
                 pads=ints(0, 0, 2, 0, 0, 1), w=weights(1, 2, 2, 3))


@pair("inisis/OnnxSlim#277", "two Slices of one Slice", passes="EliminationSlice",
      expected="invalid",
      said="Outputs change and accuracy drops unless EliminationSlice is skipped. The repair "
           "checks all users before it changes the graph.",
      wrong="One user slices another axis and is merged; the other slices the same axis and is "
            "not, but the Slice that it reads is already cut off.",
      condition="either all users are merged or none", made=LATER)
def slim_slice_users():
    return model("""g (float[8,8] x) => (float[6,3] y, float[3,8] z) {
      s = Slice(x, two, eight, zero, step)  t = Slice(s, one, four, one, step)  y = Relu(t)
      u = Slice(s, one, four, zero, step)  z = Neg(u) }""",
                 zero=ints(0), one=ints(1), two=ints(2), four=ints(4), eight=ints(8), **ONE)


@pair("tsingmicro-toolchain/OnnxSlim#13", "Slices along axis 1 and axis -1",
      passes="EliminationSlice", expected="invalid",
      said="A conformer does not run after slimming; the maintainer names EliminationSlice, and "
           "repairs merging in #15.",
      wrong="Axis 1 and axis -1 of a matrix are the same, so two Slices one after the other became "
            "one Slice that names an axis twice.",
      condition="axes are counted from the front before they are compared", made=LATER)
def slim_slice_negative():
    return model("""g (float[8,8] x) => (float[8,3] y) {
      s = Slice(x, two, eight, one, step)  t = Slice(s, one, four, last, step)  y = Relu(t) }""",
                 one=ints(1), two=ints(2), four=ints(4), eight=ints(8), last=ints(-1), **ONE)


@pair("inisis/OnnxSlim#323", "a bias of rank 5 becomes Gemm's C", passes="FusionGemm",
      expected="invalid",
      said="MatMul plus a bias of rank 5 becomes a Gemm that onnxruntime refuses: C must broadcast "
           "to the product.",
      wrong="The sum has rank 5. Gemm's result has rank 2, and its C may not enlarge it.",
      condition="C broadcasts one way to the product", made=EARLY)
def slim_bias_rank():
    return model("""g (float[3,4] x) => (float[1,1,1,3,5] y) {
      m = MatMul(x, w)  t = Add(m, b)  y = Relu(t) }""",
                 w=weights(1, 4, 5), b=weights(2, 1, 1, 1, 1, 5))


@pair("inisis/OnnxSlim#210", "a bias for each row of a batch becomes Gemm's C",
      passes="FusionGemm", expected="invalid",
      said="The bias that is fused may have dimensions that a Reshape made; the Gemm then fails "
           "with an invalid bias shape.",
      wrong="The batch is flattened into rows, but the bias belongs to rows of one matrix.",
      condition="the bias is constant along all but the last axis", made=LATER)
def slim_bias_rows():
    return model("""g (float[2,3,4] x) => (float[2,3,5] y) {
      m = MatMul(x, w)  t = Add(m, b)  y = Relu(t) }""", w=weights(1, 4, 5), b=weights(2, 3, 5))


@pair("inisis/OnnxSlim#323", "a bias that enlarges the product, after the repair",
      passes="FusionGemm",
      said="Pull request #324 checks the shape of C against the product.",
      wrong="Here the bias [3, 1] broadcasts against rows of length 1 of the unflattened product, "
            "and makes them 3. Against the flattened product it fits, so the check passes.",
      condition="C broadcasts to the product before it is flattened",
      made=("onnxslim", NOW, "3.11"))
def slim_bias_expanding():
    return model("""g (float[3,1,4] x) => (float[3,K,5] y) {
      m = MatMul(x, w)  t = Add(m, b)  y = Relu(t) }""", w=weights(1, 4, 5), b=weights(2, 3, 1))


@pair("inisis/OnnxSlim#82", "a matrix from the left becomes one from the right",
      passes="FusionGemm",
      said="Two pull requests, #46 and #82, repair the Gemm fusion without saying what was wrong. "
           "This case was found by reading the pass; later versions leave it alone.",
      wrong="The product is w x. The pass looks for the operand that is not constant and makes it "
            "Gemm's first, so the result is x w.",
      condition="the constant is the second operand", made=LATER)
def slim_left_matrix():
    return model("""g (float[4,4] x) => (float[4,4] y) {
      m = MatMul(w, x)  t = Add(m, b)  y = Relu(t) }""", w=weights(1, 4, 4), b=weights(2, 4))


@pair("onnx/onnx#707", "a row added to an image becomes a bias for each channel",
      passes="FusionConvAdd",
      said="The review of the first such pass, fuse_add_bias_into_conv, asks for the shapes of "
           "bias and convolution before anything is fused. onnxslim had the case until 2026.",
      wrong="A vector of length 2 broadcasts along the last axis, the width. As a bias it is added "
            "along the channels, which are 2 as well.",
      condition="the constant is [C, 1, 1], or constant", made=LATER)
def slim_conv_row():
    return model("""g (float[1,2,4,4] x) => (float[1,2,4,2] y) {
      c = Conv<kernel_shape = [1, 3], pads = [0, 0, 0, 0]>(x, w)  d = Add(c, b)
      y = Relu(d) }""", w=weights(1, 2, 2, 1, 3), b=weights(2, 2))


@pair("tsingmicro-toolchain/OnnxSlim#38", "Shape's start and end are ignored",
      passes="constant folding",
      said="A Shape with start = 2 is folded to four numbers where two were meant.",
      wrong="The folded shape is that of all axes.", condition="start and end are applied",
      made=("onnxslim", "0.1.60", "3.10"))
def slim_shape_start():
    return model("""g (float[2,3,4,5] x, float[2,60] z) => (float[A,B,C] y) {
      s = Shape<start = 1, end = 3>(x)  c = Concat<axis = 0>(s, rest)  r = Reshape(z, c)
      y = Relu(r) }""", opset=15, rest=ints(-1))


CROPPED = """g (float[1,1,6,6] x) => (float[1,1,{out},{out}] y) {{
  p = Pad(x, pads)  y = Conv<kernel_shape = [3, 3]{more}>(p, w) }}"""
CROP = {"pads": ints(0, 0, -1, -1, 0, 0, -1, -1), "w": weights(1, 1, 1, 3, 3)}


@pair("microsoft/onnxscript#2838", "a Pad that crops becomes negative padding",
      passes="fuse_pad_into_conv", expected="invalid",
      said="The optimiser writes a Conv with negative pads, which the standard forbids.",
      wrong="A Conv cannot crop.", condition="no padding is negative",
      made=("onnxscript", "0.6.2", "3.11"))
def script_crop():
    return model(CROPPED.format(out=2, more=""), **CROP)


@pair("microsoft/onnxscript#2838", "a crop and padding cancel out", passes="fuse_pad_into_conv",
      said="The same pass; the sum of the crop and of Conv's own padding is 0, so the model is "
           "valid.",
      wrong="Cropping and then padding with zeros replaces the border by zeros. Without both the "
            "border is read.", condition="no padding is negative",
      made=("onnxscript", "0.6.2", "3.11"))
def script_crop_and_pad():
    return model(CROPPED.format(out=4, more=", pads = [1, 1, 1, 1]"), **CROP)
