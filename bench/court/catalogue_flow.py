"""Templates of sub-graphs, quantised layers, graph outputs, and names."""
import itertools

import numpy as np

from probe import add, ints, positive, weights

YES, NO = np.array(True), np.array(False)


def f(value):
    return np.array(value, np.float32)


BRANCHES = {
    "plain": ("() => (float[2,3] u) { u = Neg(x) }", "() => (float[2,3] v) { v = Relu(x) }"),
    "captured": ("() => (float[2,3] u) { u = Add(a, k) }",
    "() => (float[2,3] v) { v = Mul(a, k) }"),
    "same names": ("() => (float[2,3] u) { t = Neg(a) u = Exp(t) }",
                   "() => (float[2,3] u) { t = Relu(a) u = Sign(t) }"),
    "captured only": ("() => (float[2,3] u) { u = Identity(a) }",
                      "() => (float[2,3] v) { v = Identity(x) }"),
    "constant inside": ("() => (float[2,3] u) { k9 = Constant<value_float=2.0>() u = Mul(x, k9) }",
                        "() => (float[2,3] v) { k9 = Constant<value_float=3.0>() v = Mul(x, k9) }"),
    "repeated": ("() => (float[2,3] u) { p = Abs(x) u = Add(p, p) }",
                 "() => (float[2,3] v) { p = Abs(x) q = Abs(x) v = Sub(p, q) }")}
for label, (then, other) in BRANCHES.items():
    for name, condition in (("yes", YES), ("no", NO), ("one", np.array([True])), ("open", None)):
        more = {} if condition is None else {"c": condition}
        if "k" in then.split("{")[1].replace("k)", "k )").split():
            more["k"] = f(3)
        inputs = "float[2,3] x" + (", bool c" if condition is None else "")
        branches = f"If(c) <then_branch = g1 {then}, else_branch = g2 {other}>"
        add(f"if {label} {name}", inputs, f"a = Abs(x) r = {branches} y = Add(r, a)", **more)
        add(f"if {label} {name} output", inputs, f"a = Abs(x) y = {branches} z = Neg(a)",
            outputs="y, z", **more)
    add(f"if {label} computed", "float[2,3] x", "a = Abs(x) s = Shape(x) d = Gather(s, i) "
        f"c = Equal(d, w) r = If(c) <then_branch = g1 {then}, else_branch = g2 {other}> y = Neg(r)",
        i=ints(0)[0], w=ints(2)[0], **({"k": f(3)} if "k)" in then else {}))
BODIES = {
    "sum": "g1 (int64 i, bool c0, float[2] s) => (bool d, float[2] t, float[2] o) "
           "{ d = Identity(c0) t = Add(s, x) o = Identity(t) }",
    "invariant": "g1 (int64 i, bool c0, float[2] s) => (bool d, float[2] t, float[2] o) "
                 "{ d = Identity(c0) e = Exp(x) t = Add(s, e) o = Mul(e, k) }",
    "swallow": "g1 (int64 i, bool c0, float[2] s) => (bool d, float[2] t, float[2] o) "
               "{ d = Identity(c0) n = Neg(s) m = Neg(n) t = Sub(m, k) o = Identity(s) }",
    "counter": "g1 (int64 i, bool c0, float[2] s) => (bool d, float[2] t, float[2] o) "
               "{ d = Identity(c0) j = Cast<to=1>(i) t = Add(s, j) o = Mul(s, j) }",
    "constants": "g1 (int64 i, bool c0, float[2] s) => (bool d, float[2] t, float[2] o) "
                 "{ d = Identity(c0) k2 = Add(k, k) t = Add(s, k2) o = Mul(s, k2) }"}
for label, body in BODIES.items():
    for count in (0, 1, 3):
        add(f"loop {label} {count}", "float[2] x",
            f"a = Abs(x) t, o = Loop(n, c, a) <body = {body}> "
            "y = Neg(t)", outputs="float[2] y, float[K,2] o", n=ints(count)[0], c=YES,
            **({"k": f(2)} if "k)" in body or "k," in body else {}))
    add(f"loop {label} never", "float[2] x", f"a = Abs(x) t, o = Loop(n, c, a) <body = {body}> "
        "y = Neg(t)", outputs="float[2] y, float[K,2] o", n=ints(3)[0], c=NO,
        **({"k": f(2)} if "k" in body else {}))
add("loop shared constant", "float[2] x",
    "w = Mul(x, k) t = Loop(n, c, w) <body = g1 (int64 i, bool c1, "
    "float[2] s) => (bool d, float[2] u) { d = Identity(c1) u = Mul(s, k) }> y = Add(t, w)",
    outputs="float[2] y", n=ints(2)[0], c=YES, k=f(2))
add("scan", "float[2] x, float[3,2] z", "s, o = Scan<num_scan_inputs = 1, body = g1 (float[2] a, "
    "float[2] b) => (float[2] c, float[2] d) { c = Add(a, b) e = Neg(c) d = Neg(e) }>(x, z) "
    "y = Relu(s)", outputs="y, o")

SCALES = dict(s=f(0.125), z=np.uint8(100), s2=f(0.25), z2=np.uint8(90), t=f(0.125), i=np.int8(3))
Q, D = "q = QuantizeLinear(x, {}) ", "d = DequantizeLinear(q, {}) "
R, Y = "r = QuantizeLinear(d, {}) ", "y = DequantizeLinear({}, {})"
for text in (Q.format("s, z") + Y.format("q", "s, z"),
             Q.format("s, z") + D.format("s, z") + R.format("s, z") + Y.format("r", "s, z"),
             Q.format("s, z") + D.format("s, z") + R.format("s2, z2") + Y.format("r", "s2, z2"),
             Q.format("s, z") + D.format("s2, z2") + "y = QuantizeLinear(d, s, z)",
             Q.format("s, i") + D.format("s, i") + R.format("s, z") + Y.format("r", "s, z"),
             Q.format("s, i") + Y.format("q", "s, i")):
    used = {k: v for k, v in SCALES.items() if f", {k}" in text}
    add(f"qdq {text}", "float[2,3] x", text, **used)
    add(f"qdq relu {text}", "float[2,3] x", text.replace("(x", "(a").replace("q =",
        "a = Relu(x) q =", 1),
        **used)
    add(f"qdq outputs {text}", "float[2,3] x", text, outputs="y, q", **used)
for op, more in {"Relu(d)": {}, "Clip(d, lo, hi)": dict(lo=f(0), hi=f(6)),
                 "Clip(d, lo, hi) ": dict(lo=f(-1), hi=f(2)), "MaxPool<kernel_shape=[2,2]>(d)": {},
                 "AveragePool<kernel_shape=[2,2]>(d)": {}, "Reshape(d, k)": dict(k=ints(1, -1)),
                 "Transpose<perm=[0,1,3,2]>(d)": {}, "Softmax<axis=1>(d)": {}, "Sigmoid(d)": {},
                 "Concat<axis=1>(d, d)": {}, "Add(d, d)": {}, "Mul(d, d)": {},
                 "Resize<mode=\"nearest\">(d, , sz)": dict(sz=np.array([1, 1, 2, 2], np.float32)),
                 "Slice(d, k, k2)": dict(k=ints(0, 0, 0, -2), k2=ints(1, 1, 2, 9)),
                 "ReduceMean<axes=[2,3]>(d)": {}, "GlobalAveragePool(d)": {}, "LeakyRelu(d)": {},
                 "ArgMax<axis=1>(d)": {}, "Pad(d, k)": dict(k=ints(0, 0, 1, 1, 0, 0, 1, 1)),
                 "Where(m, d, d)": dict(m=NO), "Identity(d)": {}, "Expand(d, k)": dict(k=ints(2, 1,
                 1, 1)),
                 "Gather<axis=3>(d, k)": dict(k=ints(-1, 0)), "Neg(d)": {}, "Abs(d)": {},
                 "Squeeze(d, k)": dict(k=ints(0)), "Conv(d, w)": dict(w=weights(1, 2, 1, 2, 2)),
                 "MatMul(d, d)": {}, "Gemm0": {},
                 "InstanceNormalization(d, g, g)": dict(g=weights(1, 1)),
                 "Split2": {}}.items():
    for (first, second), last in itertools.product((("s, z", "s, z"), ("s, z", "s2, z2"), ("s, i",
        "s, i"),
                                                    ("s", "s"), ("s, z", "s, i")), ("", "x")):
        if op in ("Gemm0", "Split2"):
            continue
        held = {k: v for k, v in SCALES.items() if k in (first + ", " + second).split(", ")}
        if "ArgMax" in op:
            add(f"qdq {op} {first} {last}", "float[1,1,4,4] x", f"q = QuantizeLinear(x, {first}) "
                f"d = DequantizeLinear(q, {first}) y = {op}", **held)
            continue
        add(f"qdq {op} {first} {second} {last}", "float[1,1,4,4] x",
            f"q = QuantizeLinear(x, {first}) "
            f"d = DequantizeLinear(q, {first}) e = {op} r = QuantizeLinear(e, {second}) "
            f"y = DequantizeLinear(r, {second})", outputs="y, e" if last else "y", **held, **more)
    if op not in ("Gemm0", "Split2"):
        add(f"quantised {op} early", "float[1,1,4,4] d", f"e = {op} q = QuantizeLinear(e, s, z) "
            "y = DequantizeLinear(q, s, z)" if "Arg" not in op else f"y = {op}",
            **({} if "Arg" in op else dict(s=f(0.125), z=np.uint8(100))), **more)
for scale, zero in ((f(0.125), np.int8(0)), (np.array([0.125, 0.25], np.float32), np.zeros(2,
    np.int8)),
                    (f(0.125), np.int8(3)), (f(0.125), np.uint8(128))):
    for axis in (0, 1):
        axis_text = f"<axis={axis}>" if scale.ndim else ""
        known = dict(w=np.arange(-4, 4).reshape(2, 1, 2, 2).astype(zero.dtype), k=scale, l=zero)
        for zx in (np.uint8(100), np.int8(3)):
            add(f"qdq conv {scale} {zero} {axis} {zx.dtype}", "float[1,1,4,4] x",
                f"q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) v = DequantizeLinear"
                f"{axis_text}(w, k, l) e = Conv(d, v) r = QuantizeLinear(e, s2, z) "
                "y = DequantizeLinear(r, s2, z)", s=f(0.125), z=zx, s2=f(0.25), **known)
            add(f"qdq matmul {scale} {zero} {axis} {zx.dtype}", "float[3,2] x",
                f"q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) v = DequantizeLinear"
                f"{axis_text}(w, k, l) e = MatMul(d, v) r = QuantizeLinear(e, s2, z) "
                "y = DequantizeLinear(r, s2, z)", s=f(0.125), z=zx, s2=f(0.25),
                **{**known, "w": known["w"].reshape(2, 4)[:, :2].copy()})
            add(f"qdq gemm {scale} {zero} {axis} {zx.dtype}", "float[3,2] x",
                f"q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) v = DequantizeLinear"
                f"{axis_text}(w, k, l) e = Gemm<transB=1, alpha=2.0>(d, v) "
                "r = QuantizeLinear(e, s2, z) y = DequantizeLinear(r, s2, z)", s=f(0.125), z=zx,
                s2=f(0.25), **{**known, "w": known["w"].reshape(2, 4)[:, :2].copy()})
add("dynamic quantised", "float[3,2] x",
    "q, s, z = DynamicQuantizeLinear(x) m = MatMulInteger(q, w, z) "
    "c = Cast<to=1>(m) k = Mul(s, t) y = Mul(c, k)", w=np.array([[1, -2], [3, 4]], np.int8),
    t=f(0.5))
add("dynamic quantised bias", "float[3,2] x",
    "q, s, z = DynamicQuantizeLinear(x) m = MatMulInteger(q, w, z) "
    "c = Cast<to=1>(m) k = Mul(s, t) p = Mul(c, k) y = Add(p, b)",
    w=np.array([[1, -2], [3, 4]], np.int8), t=f(0.5), b=weights(1, 3, 1))

for op in ("Identity", "Relu", "Transpose<perm=[0,1]>", "Dropout", "Cast<to=1>", "Flatten", "Sum",
           "Concat<axis=0>"):
    add(f"output of input {op}", "float[2,3] x", f"y = {op}(x)")
    add(f"two outputs {op}", "float[2,3] x", f"y = {op}(x) z = {op}(x)", outputs="y, z")
    add(f"chained outputs {op}", "float[2,3] x", f"y = {op}(x) z = {op}(y)", outputs="y, z")
    add(f"chained and used {op}", "float[2,3] x", f"a = Neg(x) y = {op}(a) z = {op}(y) w = Exp(z)",
        outputs="z, y, w, a")
    add(f"constant output {op}", "float[2,3] x", f"y = {op}(k) z = Neg(x)", outputs="y, z",
        k=weights(1, 2, 3))
add("input is no output", "float[2,3] x, float[2,3] unused", "y = Neg(x)")
add("initializer as output", "float[2] x", "y = Identity(k) z = Add(x, k)", outputs="y, z",
    k=weights(1, 2))
add("squared difference", "float[2,3] x", "m = ReduceMean<axes=[1]>(x) d = Sub(x, m) y = Mul(d, d)")
add("sum of products", "float[2,3] x, float[2,3] z", 'y = Einsum<equation="ij,ij->i">(x, z)')
for equation in ("ij,jk->ik", "ij,kj->ik", "ij,ij->ij", "ii->i", "ij->ji", "ij,jk->ki", "ij,j->i"):
    for shape in ("[3,3]", "[3]"):
        one = "," not in equation
        add(f"einsum {equation} {shape}", "float[3,3] x" + ("" if one else f", float{shape} z"),
            f'e = Einsum<equation="{equation}">(x{"" if one else ", z"}) y = Neg(e)')
