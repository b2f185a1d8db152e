"""Templates of layers that optimisers fuse: convolutions, pools, products, normalisations."""
import numpy as np

from probe import add, ints, positive, weights

W, B = weights(1, 3, 2, 3, 3), weights(2, 3)
BN = dict(scale=weights(3, 3), shift=weights(4, 3), mean=weights(5, 3), var=positive(6, 3))
X = "float[2,2,6,6] x"
CONV = "c = Conv<kernel_shape=[3,3]>(x, w, b) "

for attributes in ("", ", pads=[1,1,1,1]", ", strides=[2,2]", ", dilations=[2,2]",
                   ', auto_pad="SAME_UPPER"', ', auto_pad="VALID"'):
    conv = f"c = Conv<kernel_shape=[3,3]{attributes}>(x, w, b) "
    add(f"conv{attributes} bn", X, conv + "y = BatchNormalization(c, scale, shift, mean, var)",
        w=W, b=B, **BN)
    add(f"pad conv{attributes}", X, "p = Pad(x, pads) " + conv.replace("(x", "(p") +
        "y = Identity(c)", w=W, b=B, pads=ints(0, 0, 1, 1, 0, 0, 1, 1))
add("conv bn without bias", X, "c = Conv<kernel_shape=[3,3]>(x, w) "
    "y = BatchNormalization<epsilon=0.5>(c, scale, shift, mean, var)", w=W, **BN)
add("conv bn relu", X, CONV + "n = BatchNormalization(c, scale, shift, mean, var) y = Relu(n)",
    w=W, b=B, **BN)
add("conv group bn", "float[2,2,5,5] x", "c = Conv<group=2>(x, w) "
    "y = BatchNormalization(c, scale, shift, mean, var)", w=weights(1, 4, 1, 3, 3),
    scale=weights(1, 4), shift=weights(2, 4), mean=weights(3, 4), var=positive(4, 4))
add("bn conv", X, "c = BatchNormalization(x, scale, shift, mean, var) "
    "y = Conv<pads=[1,1,1,1]>(c, w)", w=W, scale=weights(1, 2), shift=weights(2, 2),
    mean=weights(3, 2), var=positive(4, 2))
add("convtranspose bn", X, "c = ConvTranspose(x, w) "
    "y = BatchNormalization(c, scale, shift, mean, var)", w=weights(1, 2, 3, 3, 3), **BN)
add("convtranspose group bn", "float[2,4,4,4] x", "c = ConvTranspose<group=2>(x, w) "
    "y = BatchNormalization(c, scale, shift, mean, var)", w=weights(1, 4, 3, 3, 3),
    scale=weights(1, 6), shift=weights(2, 6), mean=weights(3, 6), var=positive(4, 6))
for op in ("Add", "Mul", "Sub", "Div"):
    for label, shape in dict(channels=(3, 1, 1), batch=(1, 3, 1, 1), scalar=(), one=(1,),
                             row=(4,), column=(4, 1), plane=(4, 4), full=(2, 3, 4, 4),
                             rows=(1, 1, 4, 4), wide=(5, 2, 3, 4, 4), outer=(1, 1, 3, 1,
                                 1)).items():
        add(f"conv {op} {label}", X, CONV + f"y = {op}(c, k)", w=W, b=B, k=positive(7, *shape))
    add(f"conv {op} cube", "float[3,2,5,5] x", CONV + f"y = {op}(c, k)", w=W, b=B,
        k=positive(7, 3))
    add(f"conv {op} without bias", X, f"c = Conv(x, w) y = {op}(k, c)", w=W, k=positive(7, 3, 1, 1))
    add(f"convtranspose {op}", X, f"c = ConvTranspose(x, w) y = {op}(c, k)",
        w=weights(1, 2, 3, 3, 3), k=positive(7, 3, 1, 1))
    add(f"conv1d {op}", "float[2,2,6] x", f"c = Conv(x, w) y = {op}(c, k)", w=weights(1, 3, 2, 3),
        k=positive(7, 3, 1))
add("conv conv add", X, "c = Conv(x, w) d = Conv(x, v) y = Add(c, d)", w=W, v=weights(8, 3, 2, 3,
    3))
for act in ("Relu", "Sigmoid", "Tanh", "LeakyRelu<alpha=0.3>", "HardSigmoid<alpha=0.3, beta=0.4>",
            "Elu", "Clip", "HardSwish", "Softplus", "Selu", "ThresholdedRelu<alpha=0.5>"):
    add(f"conv {act}", X, CONV + f"y = {act}(c)", w=W, b=B)
    add(f"conv add {act}", X + ", float[2,3,4,4] z", CONV + f"d = Add(z, c) y = {act}(d)", w=W, b=B)
    add(f"gemm {act}", "float[2,3] x", f"c = Gemm<alpha=0.5>(x, w, b) y = {act}(c)",
        w=weights(1, 3, 4), b=weights(2, 4))
    add(f"matmul {act}", "float[2,3] x", f"c = MatMul(x, w) y = {act}(c)", w=weights(1, 3, 4))
add("conv clip", X, CONV + "y = Clip(c, lo, hi)", w=W, b=B, lo=np.float32(-1), hi=np.float32(2))
add("conv clip open", X + ", float lo", CONV + "y = Clip(c, lo)", w=W, b=B, given={"lo": (0, 1)})
add("conv add twice", X + ", float[2,3,4,4] z", CONV + "d = Add(c, z) e = Add(d, c) y = Relu(e)",
    w=W, b=B)
add("conv add self", X, CONV + "y = Add(c, c)", w=W, b=B)

for mode in ("constant", "reflect", "edge", "wrap"):
    for op in ("Conv(p, w)", "MaxPool<kernel_shape=[3,3]>(p)", "AveragePool<kernel_shape=[3,3]>(p)",
               "AveragePool<kernel_shape=[3,3], count_include_pad=1>(p)",
               "AveragePool<kernel_shape=[3,3], ceil_mode=1, strides=[2,2]>(p)",
               "MaxPool<kernel_shape=[2,2], dilations=[2,2]>(p)",
               'MaxPool<kernel_shape=[3,3], auto_pad="SAME_UPPER">(p)',
               "LpPool<kernel_shape=[3,3]>(p)", "ConvTranspose(p, u)"):
        more = dict(w=W) if "Conv(" in op else dict(u=weights(1, 2, 3, 3, 3)) \
            if "ConvT" in op else {}
        add(f"pad {mode} {op}", X, f'p = Pad<mode="{mode}">(x, pads) y = {op}',
            opset=19, pads=ints(0, 0, 1, 1, 0, 0, 1, 2), **more)
        if mode == "constant":
            for value in (0, 1.5, -np.inf):
                add(f"pad {value} {op}", X, f"p = Pad(x, pads, v) y = {op}", opset=18,
                    pads=ints(0, 0, 1, 0, 0, 0, 0, 1), v=np.float32(value), **more)
            add(f"pad negative {op}", X, f"p = Pad(x, pads) y = {op}", opset=18,
                pads=ints(0, 0, -1, 0, 0, 0, 1, 0), **more)
            add(f"pad channels {op}", "float[2,1,6,6] x", f"p = Pad(x, pads) y = {op}", opset=18,
                pads=ints(0, 1, 1, 0, 0, 0, 0, 0), **more)
            add(f"pad axes {op}", X, f"p = Pad(x, pads, , axes) y = {op}", opset=18,
                pads=ints(2, 1, 0, 1), axes=ints(3, -2), **more)
for first, second in (((0, 1), (2, 0)), ((0, -1), (1, 0)), ((1, 1), (0, -2))):
    for modes in (("constant", "constant"), ("reflect", "reflect"), ("constant", "edge")):
        add(f"pad {first} pad {second} {modes}", "float[3,5] x",
            f'p = Pad<mode="{modes[0]}">(x, a, v) y = Pad<mode="{modes[1]}">(p, b)',
            a=ints(0, first[0], 0, first[1]), b=ints(0, second[0], 0, second[1]),
            v=np.float32(modes[0] == modes[1]))
for pool in ("MaxPool", "AveragePool"):
    add(f"{pool} {pool}", X, f"p = {pool}<kernel_shape=[2,2]>(x) y = {pool}<kernel_shape=[2,2]>(p)")
    add(f"{pool} ceil", "float[1,1,6,6] x", f"y = {pool}<kernel_shape=[3,3], strides=[2,2], "
        "ceil_mode=1, pads=[1,1,0,0]>(x)")
add("maxpool indices", "float[1,1,4,4] x",
    "p, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) y = Relu(p)", outputs="y, i")
add("global pool", X, "p = GlobalAveragePool(x) y = Flatten(p)")
add("global pool mean", X, "p = ReduceMean<axes=[2,3]>(x) y = Relu(p)")

for t in ((0, 0), (0, 1), (1, 0), (1, 1)):
    a, w = ("float[3,2] x" if t[0] else "float[2,3] x"), weights(1, *((4, 3) if t[1] else (3, 4)))
    call = f"Gemm<transA={t[0]}, transB={t[1]}, alpha=0.5, beta=2.0>"
    for label, shape in dict(row=(4,), column=(2, 1), full=(2, 4), scalar=(), one=(1, 1)).items():
        add(f"gemm {t} {label}", a, f"c = {call}(x, w, b) y = Relu(c)", w=w, b=weights(2, *shape))
        add(f"gemm {t} add {label}", a, f"c = {call}(x, w) y = Add(c, b)", w=w,
            b=weights(2, *shape))
        add(f"gemm {t} sum {label}", a + ", float[2,4] z",
            f"c = {call}(x, w, b) y = Sum(c, z)", w=w, b=weights(2, *shape))
    add(f"transpose gemm {t}", "float[3,2] x" if not t[0] else "float[2,3] x",
        f"i = Transpose<perm=[1,0]>(x) g = {call}(i, w) y = Transpose<perm=[1,0]>(g)", w=w)
    add(f"transpose weight gemm {t}", a, f"v = Transpose(w) y = {call}(x, v)", w=w.T.copy())
    add(f"identity transpose gemm {t}", "float[3,3] x", "i = Transpose<perm=[0,1]>(x) "
        f"y = {call}(i, w)", w=weights(1, 3, 3))
    add(f"gemm gemm {t}", "float[3,3] x", f"g = {call}(x, w, b) y = {call}(g, w)",
        w=weights(1, 3, 3), b=weights(2, 3))
for label, shape in dict(row=(4,), column=(3, 1), full=(3, 4), scalar=(), one=(1,), cube=(2, 3, 4),
                         outer=(1, 4), wide=(2, 1, 4), five=(5, 1, 3, 4)).items():
    for op in ("Add", "Mul", "Div", "Sub"):
        add(f"matmul {op} {label}", "float[3,2] x", f"c = MatMul(x, w) y = {op}(c, b)",
            w=weights(1, 2, 4), b=positive(2, *shape))
    add(f"batched matmul add {label}", "float[2,3,2] x", "c = MatMul(x, w) y = Add(b, c)",
        w=weights(1, 2, 4), b=weights(2, *shape))
add("matmul vector add", "float[2] x", "c = MatMul(x, w) y = Add(c, b)", w=weights(1, 2, 4),
    b=weights(2, 4))
add("matmul vectors add", "float[2] x, float[2] z", "c = MatMul(x, z) y = Add(c, b)",
    b=weights(2, 1))
for perm in ([1, 0], [0, 1]):
    add(f"transpose {perm} matmul", "float[3,3] x", f"t = Transpose<perm={perm}>(x) "
        "s = Mul(t, k) c = MatMul(s, w) y = Div(c, k)", w=weights(1, 3, 4), k=np.float32(2))
for perm in ([0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0]):
    add(f"batched transpose {perm} matmul", "float[3,3,3] x, float[3,3,3] z",
        f"t = Transpose<perm={perm}>(x) u = Transpose<perm={perm}>(z) y = MatMul(t, u)")
for shape in ((), (1,), (1, 1), (1, 1, 1), (4,)):
    add(f"matmul scaled {shape}", "float[2,4] x, float[4,4] z",
        "s = Mul(x, k) c = MatMul(s, z) y = Mul(c, k)", k=positive(1, *shape))
add("matmul bn", "float[2,3] x",
    "c = MatMul(x, w) y = BatchNormalization(c, scale, shift, mean, var)",
    w=weights(1, 3, 3), **BN)
add("matmul reshape bn", "float[2,3] x", "c = MatMul(x, w) r = Reshape(c, s) "
    "y = BatchNormalization(r, scale, shift, mean, var)", w=weights(1, 3, 3), s=ints(2, 3, 1), **BN)
add("gemm bn", "float[2,3] x", "c = Gemm<alpha=0.5, beta=2.0>(x, w, b) "
    "y = BatchNormalization(c, scale, shift, mean, var)", w=weights(1, 3, 3), b=B, **BN)
add("gemm transposed bn", "float[2,3] x", "c = Gemm<transB=1>(x, w) "
    "y = BatchNormalization(c, scale, shift, mean, var)", w=weights(1, 3, 3), **BN)
add("matmul chain", "float[2,3] x", "c = MatMul(x, w) y = MatMul(c, v)", w=weights(1, 3, 4),
    v=weights(2, 4, 3))
