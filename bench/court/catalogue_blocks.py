"""Templates of blocks: layer normalisation, activations by formula, attention, softmax."""
import numpy as np

from probe import add, ints, positive, weights

F = np.float32


def f(value):
    return np.array(value, F)


def layer_norm(axes, keep=1, opset=17, body="y = Add(g, b)"):
    mean = f"ReduceMean<axes={axes}, keepdims={keep}>"
    return (f"m = {mean}(x) d = Sub(x, m) q = Pow(d, two) v = {mean}(q) e = Add(v, eps) "
            f"s = Sqrt(e) n = Div(d, s) g = Mul(n, w) {body}")


for axes, shape in (([-1], (4,)), ([2], (4,)), ([1], (4,)), ([1], (3, 1)), ([-2], (3, 1)),
                    ([1, 2], (3, 4)), ([-2, -1], (4,)), ([0], (4,)), ([-1], ()), ([-1], (1,)),
                    ([-1], (3, 1)), ([-1], (3, 4)), ([-1], (2, 1, 1)), ([-1], (1, 1, 4)),
                    ([-1], (5, 2, 3, 4)), ([0, 2], (4,))):
    known = dict(two=f(2), eps=f(0.01), w=weights(1, *shape), b=weights(2, *shape))
    add(f"layernorm {axes} {shape}", "float[2,3,4] x", layer_norm(axes), **known)
    add(f"layernorm {axes} {shape} bias row", "float[2,3,4] x", layer_norm(axes),
        **{**known, "b": weights(2, 4)})
    add(f"layernorm {axes} {shape} scalar bias", "float[2,3,4] x", layer_norm(axes),
        **{**known, "b": weights(2)})
    add(f"rmsnorm {axes} {shape}", "float[2,3,4] x",
        f"q = Pow(x, two) m = ReduceMean<axes={axes}>(q) e = Add(m, eps) s = Sqrt(e) "
        "n = Div(x, s) y = Mul(n, w)", two=f(2), eps=f(0.01), w=weights(1, *shape))
    add(f"rmsnorm mul {axes} {shape}", "float[2,3,4] x",
        f"q = Mul(x, x) m = ReduceMean<axes={axes}>(q) e = Add(m, eps) s = Sqrt(e) "
        "r = Reciprocal(s) n = Mul(x, r) y = Mul(w, n)", eps=f(0.01), w=weights(1, *shape))
for label, text in {
        "two means": "m = ReduceMean<axes=[-1]>(x) l = ReduceMean<axes=[1]>(x) d = Sub(x, m) "
                     "c = Sub(x, l) q = Pow(c, two) v = ReduceMean<axes=[-1]>(q)",
        "cube": "m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) q = Pow(d, three) "
                "v = ReduceMean<axes=[-1]>(q)",
        "abs": "m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) q = Abs(d) "
               "v = ReduceMean<axes=[-1]>(q)",
        "sum": "m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) q = Pow(d, two) "
               "v = ReduceMean<axes=[1]>(q)",
        "reversed": "m = ReduceMean<axes=[-1]>(x) d = Sub(m, x) q = Pow(d, two) "
                    "v = ReduceMean<axes=[-1]>(q)"}.items():
    used = {k: v for k, v in dict(two=f(2), three=f(3)).items() if k in text}
    add(f"layernorm {label}", "float[2,3,4] x", text + " e = Add(v, eps) a = Abs(e) s = Sqrt(a) "
        "n = Div(d, s) g = Mul(n, w) y = Add(g, b)", eps=f(0.5), w=weights(1, 4), b=weights(2, 4),
        **used)
    add(f"layernorm {label} plain", "float[2,3,4] x", text + " e = Add(v, eps) s = Sqrt(e) "
        "n = Div(d, s) g = Mul(n, w) y = Add(g, b)", eps=f(60), w=weights(1, 4), b=weights(2, 4),
        **used)
for eps in ((1,), (1, 1, 1), (4,), (3, 1)):
    add(f"layernorm epsilon {eps}", "float[2,3,4] x", layer_norm([-1]), two=f(2),
        eps=positive(3, *eps), w=weights(1, 4), b=weights(2, 4))
    add(f"rmsnorm epsilon {eps}", "float[2,3,4] x", "q = Pow(x, two) m = ReduceMean<axes=[-1]>(q) "
        "e = Add(m, eps) s = Sqrt(e) n = Div(x, s) y = Mul(n, w)", two=f(2),
        eps=positive(3, *eps), w=weights(1, 4))
for axis in (-1, 1, 2, 0):
    shape = {-1: (4,), 2: (4,), 1: (3, 4), 0: (2, 3, 4)}[axis]
    for skip in ("[2,3,4]", "[1,3,4]", "[3,4]", "[4]", "[2,1,4]"):
        add(f"skip layernorm {axis} {skip}", f"float[2,3,4] x, float{skip} z",
            f"a = Add(x, z) y = LayerNormalization<axis={axis}, epsilon=0.1>(a, w, b)",
            outputs="y", w=weights(1, *shape), b=weights(2, *shape))
    add(f"skip bias layernorm {axis}", "float[2,3,4] x, float[2,3,4] z",
        f"c = Add(x, k) a = Add(c, z) y = LayerNormalization<axis={axis}>(a, w, b)",
        outputs="y, a", k=weights(3, 4), w=weights(1, *shape), b=weights(2, *shape))
    add(f"layernorm scale {axis}", "float[2,3,4] x",
        f"n = LayerNormalization<axis={axis}>(x, w) g = Mul(n, k) y = Add(g, k)",
        w=weights(1, *shape), k=weights(3, 4))

for half, root, one in ((0.5, 1.4142135, 1), (0.5, 1.41, 1), (0.6, 1.4142135, 1),
                        (0.5, 1.4142135, 2), (0.5, 2, 1)):
    known = dict(half=f(half), root=f(root), one=f(one))
    add(f"gelu {half} {root} {one}", "float[2,4] x",
        "d = Div(x, root) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)", **known)
    add(f"gelu early {half} {root} {one}", "float[2,4] x",
        "d = Div(x, root) e = Erf(d) a = Add(e, one) h = Mul(x, half) y = Mul(h, a)", **known)
    add(f"bias gelu {half} {root} {one}", "float[2,4] x",
        "z = Add(x, b) d = Div(z, root) e = Erf(d) a = Add(e, one) m = Mul(z, a) y = Mul(m, half)",
        b=weights(1, 4), **known)
    add(f"gelu other {half} {root} {one}", "float[2,4] x, float[2,4] z",
        "d = Div(x, root) e = Erf(d) a = Add(e, one) m = Mul(z, a) y = Mul(m, half)", **known)
for shape in ((4,), (1,), (1, 4), (2, 1), (), (3, 2, 4)):
    add(f"bias gelu operator {shape}", "float[2,4] x", "z = Add(x, b) y = Gelu(z)", opset=20,
        b=weights(1, *shape))
    add(f"bias gelu tanh {shape}", "float[2,4] x", 'z = Add(b, x) y = Gelu<approximate="tanh">(z)',
        opset=20, b=weights(1, *shape))
for cubic, inner in ((0.044715, 0.7978845), (0.05, 0.7978845), (0.044715, 0.8)):
    add(f"fast gelu {cubic} {inner}", "float[2,4] x",
        "p = Pow(x, three) c = Mul(p, k) s = Add(x, c) i = Mul(s, r) t = Tanh(i) a = Add(t, one) "
        "h = Mul(x, half) y = Mul(h, a)", three=f(3), k=f(cubic), r=f(inner), one=f(1), half=f(0.5))
    add(f"fast gelu mul {cubic} {inner}", "float[2,4] x",
        "q = Mul(x, k) r2 = Mul(q, x) o = Add(r2, one) u = Mul(x, r) i = Mul(u, o) t = Tanh(i) "
        "a = Add(t, one) m = Mul(x, a) y = Mul(m, half)", k=f(cubic), r=f(inner), one=f(1),
        half=f(0.5))
for alpha in (1.702, 1, 2):
    add(f"quick gelu {alpha}", "float[2,4] x", "m = Mul(x, k) s = Sigmoid(m) y = Mul(x, s)",
        k=f(alpha))
    add(f"quick gelu other {alpha}", "float[2,4] x, float[2,4] z",
        "m = Mul(x, k) s = Sigmoid(m) y = Mul(z, s)", k=f(alpha))
add("quick gelu vector", "float[2,4] x", "m = Mul(x, k) s = Sigmoid(m) y = Mul(x, s)",
    k=weights(1, 4))
add("hard swish", "float[2,4] x", "h = HardSigmoid<alpha=0.1666667, beta=0.5>(x) y = Mul(x, h)")
add("hard swish other", "float[2,4] x", "h = HardSigmoid<alpha=0.2, beta=0.5>(x) y = Mul(x, h)")
add("hard swish clip", "float[2,4] x", "a = Add(x, three) c = Clip(a, zero, six) "
    "m = Mul(x, c) y = Div(m, six)", three=f(3), zero=f(0), six=f(6))
add("mish", "float[2,4] x", "s = Softplus(x) t = Tanh(s) y = Mul(x, t)")

for opset in (11, 12, 13, 17):
    for axis in (1, -1, 0):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            add(f"{op} {opset} {axis}", "float[2,3,4] x",
                f"t = Transpose<perm=[0,2,1]>(x) s = {op}<axis={axis}>(t) "
                "y = Transpose<perm=[0,2,1]>(s)", opset=opset)
            add(f"{op} log {opset} {axis}", "float[2,3,4] x",
                f"s = {op}<axis={axis}>(x) l = Log(s) y = {op}<axis={axis}>(s)",
                outputs="y, l" if op == "Softmax" else "y", opset=opset)
        for shape in ("[2,3,4]", "[2,1,4]", "[1,3,4]", "[4]", "[3,1]", "[2,1,1]", "[5,2,3,4]"):
            add(f"bias softmax {opset} {axis} {shape}", f"float[2,3,4] x, float{shape} z",
                f"a = Add(x, z) y = Softmax<axis={axis}>(a)", opset=opset)
add("softmax omitted 11", "float[2,3,4] x", "y = Softmax(x)", opset=11)
add("softmax by formula", "float[2,3,4] x", "m = ReduceMax<axes=[-1]>(x) d = Sub(x, m) e = Exp(d) "
    "s = ReduceSum(e, axes) y = Div(e, s)", axes=ints(-1))
add("softmax wrong sum", "float[2,3,4] x", "m = ReduceMax<axes=[-1]>(x) d = Sub(x, m) e = Exp(d) "
    "s = ReduceSum(e, axes) y = Div(e, s)", axes=ints(1))
add("logsumexp", "float[2,3] x", "e = Exp(x) s = ReduceSum(e, axes) y = Log(s)", axes=ints(-1))
add("attention", "float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v",
    "t = Transpose<perm=[0,1,3,2]>(k) s = MatMul(q, t) d = Div(s, r) p = Softmax<axis=-1>(d) "
    "y = MatMul(p, v)", r=f(2))
add("attention other scale", "float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v",
    "t = Transpose<perm=[0,1,3,2]>(k) s = MatMul(q, t) d = Mul(s, r) p = Softmax<axis=2>(d) "
    "y = MatMul(p, v)", r=f(2))
add("dropout", "float[2,3] x", "d = Dropout(x) y = Relu(d)")
add("dropout mask", "float[2,3] x", "d, m = Dropout(x) y = Relu(d)", outputs="y, m")
add("dropout training off", "float[2,3] x", "d, m = Dropout(x, r, t) y = Relu(d)", outputs="y, m",
    r=f(0.5), t=np.array(False))
add("dropout add", "float[2,3] x, float[2,3] z", "a = Add(x, b) d = Dropout(a, r) y = Add(d, z)",
    b=weights(1, 3), r=f(0.5))
