"""Templates of arithmetic: casts, clips, units, constants to fold, integers, comparisons."""
import itertools

import numpy as np

from probe import add, ints, positive, weights

F, D, H, I, L, U8, S8, BOOL, U32 = 1, 11, 10, 6, 7, 2, 3, 9, 12
NAMES = {F: "float", D: "double", H: "float16", I: "int32", L: "int64", U8: "uint8", S8: "int8",
         BOOL: "bool", U32: "uint32"}


def f(*value):
    return np.array(value if len(value) != 1 else value[0], np.float32)


for source, middle, end in itertools.product((F, L, I, D, BOOL, S8), (I, S8, BOOL, H, F, D, L),
                                             (F, I, L, BOOL, D)):
    add(f"cast {NAMES[source]} {NAMES[middle]} {NAMES[end]}", f"{NAMES[source]}[2,3] x",
        f"a = Cast<to={middle}>(x) y = Cast<to={end}>(a)",
        given={"x": (-3000, 3000)} if source == L and H == middle else None)
for source in (F, I, H):
    add(f"cast same {source}", f"{NAMES[source]}[2,3] x", f"a = Cast<to={source}>(x) y = Neg(a)")
    for op in ("Neg(a)", "Abs(a)", "Add(a, a)", "Mul(a, a)", "Div(a, a)", "Sqrt(a)", "Relu(a)"):
        add(f"cast down up {op} {source}", f"{NAMES[source]}[2,3] x",
            f"a = Cast<to={H}>(x) b = {op} y = Cast<to={source}>(b)")
add("castlike", "float[2,3] x, int32[1] z", "a = CastLike(x, z) y = CastLike(a, x)")

for (a, b), (c, d) in itertools.product(((0, 6), (-1, 1), (3, 2)), ((-3, -2), (1, 2), (5, 9), (2,
    1))):
    add(f"clip {a} {b} clip {c} {d}", "float[2,3] x", "s = Clip(x, a, b) y = Clip(s, c, d)",
        a=f(a), b=f(b), c=f(c), d=f(d))
    add(f"min {a} max {c}", "float[2,3] x", "s = Min(x, a) y = Max(s, c)", a=f(a), c=f(c))
    add(f"max {a} min {d}", "float[2,3] x", "s = Max(a, x) y = Min(d, s)", a=f(a), d=f(d))
for low, high in ((-1, 1), (1, 2), (0, 6), (-3, -1), (None, 2), (1, None), (None, -2), (2, 1)):
    call = f"Clip(r, {'lo' if low is not None else ''}{', hi' if high is not None else ''})"
    held = {k: f(v) for k, v in (("lo", low), ("hi", high)) if v is not None}
    add(f"relu clip {low} {high}", "float[2,3] x", f"r = Relu(x) y = {call}", **held)
    add(f"clip relu {low} {high}", "float[2,3] x", f"c = {call.replace('(r', '(x')} y = Relu(c)",
        **held)
    for kind, dtype in ((I, np.int32), (U8, np.uint8), (S8, np.int8), (L, np.int64), (D,
        np.float64)):
        if kind != U8 or (low or 0) >= 0 and (high or 0) >= 0:
            add(f"clip {NAMES[kind]} {low} {high}", f"{NAMES[kind]}[2,3] r",
                f"c = {call} y = Identity(c)", **{k: v.astype(dtype) for k, v in held.items()})
add("relu clip open", "float[2,3] x, float lo", "r = Relu(x) y = Clip(r, lo)")
add("relu clip 6", "float[2,3] x", "r = Relu(x) y = Clip<min=1.0, max=2.0>(r)", opset=9)
add("relu relu", "float[2,3] x", "r = Relu(x) s = Relu(r) y = Relu(s)")
for op in ("Abs", "Neg", "Not0", "Floor", "Ceil", "Round", "Sign", "Reciprocal", "Sqrt", "Exp",
    "Log",
           "Sigmoid", "Tanh", "Elu", "HardSigmoid", "Erf", "Sin", "Identity",
           "LeakyRelu<alpha=-0.5>"):
    if op != "Not0":
        for second in ("Abs", "Neg", "Relu", "Sqrt", "Log", "Exp", "Floor", "Sign"):
            add(f"{op} {second}", "float[2,3] x", f"a = {op}(x) y = {second}(a)")
        add(f"{op} twice", "float[2,3] x", f"a = {op}(x) y = {op}(a)")

UNITS = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1, "Pow": 1}
for op, unit in UNITS.items():
    for shape in ((), (1,), (1, 1), (3,), (2, 3), (1, 2, 3), (4, 2, 3), (2, 1, 3), (1, 1, 1), (0,)):
        for value in (unit, 0, 1, 2, -1, -0.0):
            for swapped in (0, 1):
                text = f"s = {op}(k, x)" if swapped else f"s = {op}(x, k)"
                if value not in (unit,) and shape not in ((), (3,)):
                    continue
                sizes = "float[1,3] x" if shape == (0,) else "float[2,3] x"
                sizes = "float[2,1] x" if shape == (3,) and value == unit else sizes
                add(f"{op} {value} {shape} swapped {swapped}", sizes, text + " y = Identity(s)",
                    k=np.full(shape, value, np.float32))
    for kind in (np.int32, np.int64, np.float16, np.float64, np.uint8):
        t = {"int32": "int32", "int64": "int64", "float16": "float16", "float64": "double",
             "uint8": "uint8"}[np.dtype(kind).name]
        for value in (unit, 2):
            add(f"{op} {t} {value}", f"{t}[2,3] x", f"s = {op}(x, k) y = Identity(s)",
                k=np.array(value, kind), given={"x": (1, 5)})
            add(f"{op} {op} {t} {value}", f"{t}[2,3] x", f"s = {op}(x, k) y = {op}(s, l)",
                k=np.array(value, kind), l=np.array(3, kind), given={"x": (7, 9)})
    add(f"{op} zero size", "float[0,3] x", f"s = {op}(x, k) y = Identity(s)", k=f(unit))
    add(f"{op} widened rank", "float[3] x", f"s = {op}(x, k) y = Identity(s)",
        k=np.full((1, 1), unit, np.float32))
    add(f"{op} scalar widened", "float x", f"s = {op}(x, k) y = Identity(s)",
        k=np.full((1,), unit, np.float32))
for text in ("Sub(x, x)", "Div(x, x)", "Max(x, x)", "Min(x, x)", "Xor0", "Sum(x)", "Mean(x)",
             "Max(x)", "Min(x, x, x)", "Sum(x, x, x)", "Mean(x, x)"):
    if text != "Xor0":
        add(text, "float[2,3] x", f"s = {text} y = Neg(s)")
for first, second in itertools.product(("Add", "Sub", "Mul", "Div"), repeat=2):
    for shape in ((), (3,), (2, 1), (4, 1, 3)):
        add(f"{first} k {second} l {shape}", "float[2,3] x",
            f"s = {first}(x, k) y = {second}(s, l)",
            k=f(2), l=positive(1, *shape))
        add(f"{first} k then x by {second} {shape}", "float[2,3] x, float[2,3] z",
            f"s = {first}(k, x) y = {second}(z, s)", k=positive(1, *shape), given={"x": (5, 9)})
    add(f"div of one {first} {second}", "float[2,3] x, float[2,3] z",
        f"r = Div(k, x) s = {first}(r, z) y = {second}(z, r)", outputs="y, s", k=f(1),
        given={"x": (1, 4)})
add("div of ones mul", "float[3] x, float[3] z", "r = Div(k, x) y = Mul(z, r)",
    k=np.ones((2, 3), np.float32), given={"x": (1, 4)})
add("div int of one mul", "int32[3] x, int32[3] z", "r = Div(k, x) y = Mul(z, r)",
    k=np.array(1, np.int32), given={"x": (2, 4)})
add("div int of one mul long", "int64[3] x, int64[3] z", "r = Div(k, x) y = Mul(z, r)",
    k=np.array(1, np.int64), given={"x": (2, 4)})
for exponent in (0, 1, 2, 3, 0.5, -1, -0.5):
    for t in ("float", "int32", "double", "float16", "int64"):
        add(f"pow {t} {exponent}", f"{t}[2,3] x", "s = Pow(x, k) y = Neg(s)", k=f(exponent),
            given={"x": (1, 4)})
    add(f"pow vector {exponent}", "float[2,3] x", "s = Pow(x, k) y = Neg(s)",
        k=np.full((4, 1, 1), exponent, np.float32), given={"x": (1, 4)})
add("sqrt square", "float[2,3] x", "s = Sqrt(x) y = Mul(s, s)", given={"x": (0, 4)})
add("square sqrt", "float[2,3] x", "s = Mul(x, x) y = Sqrt(s)")
add("pow two sqrt", "float[2,3] x", "s = Pow(x, k) y = Sqrt(s)", k=f(2))

CONSTANTS = {  # folded: the value must be what the operator computes
    "mod": ("y = Mod(a, b)", "int"), "fmod": ("y = Mod<fmod=1>(a, b)", "both"),
    "div": ("y = Div(a, b)", "both"), "pow": ("y = Pow(a, c)", "both"), "sub": ("y = Sub(a, b)",
    "both"),
    "shift": ('y = BitShift<direction="RIGHT">(a, c)', "uint"), "max": ("y = Max(a, b)", "both"),
    "left": ('y = BitShift<direction="LEFT">(a, c)', "uint"), "sign": ("y = Sign(a)", "both"),
    "round": ("h = Mul(a, q) y = Round(h)", "real"), "abs": ("y = Abs(a)", "both"),
    "cumsum": ("y = CumSum<exclusive=1, reverse=1>(a, z)", "both"), "neg": ("y = Neg(a)", "both"),
    "argmax": ("y = ArgMax<select_last_index=1>(d)", "both"), "topk": ("y, i = TopK(a, k)", "both"),
    "argmin": ("y = ArgMin<axis=-1, select_last_index=1, keepdims=0>(d)", "both"),
    "cast int": ("y = Cast<to=6>(a)", "real"), "cast half": ("y = Cast<to=10>(a)", "both"),
    "cast byte": ("y = Cast<to=3>(a)", "both"), "erf": ("y = Erf(a)", "real"),
    "mean": ("y = ReduceMean(a)", "both"), "prod": ("y = ReduceProd(a)", "both"),
    "nonzero": ("y = NonZero(a)", "both"), "unique": ("y, i, j, n = Unique(d)", "both"),
    "equal": ("y = Equal(a, b)", "both"), "matmul": ("y = MatMul(a, b)", "both"),
    "onehot": ("y = OneHot(c, k, v)", "both"), "isnan": ("y = IsNaN(a)", "real"),
    "range": ("s = ReduceSum(k) y = Range(z, s, o)", "int64"), "tile": ("y = Tile(a, k)", "both"),
    "gathernd": ("y = GatherND(d, k)", "both"), "trilu": ("y = Trilu<upper=0>(d)", "both"),
    "eye": ("y = EyeLike<k=1>(d)", "both"), "resize": ("r = Unsqueeze(d, g) y = Resize(r, , s)",
    "real"),
    "hardmax": ("y = Hardmax(d)", "real"), "celu": ("y = Celu<alpha=0.5>(a)", "real"),
    "clip": ("y = Clip(a, e, o)", "both"), "where": ("m = Less(a, b) y = Where(m, a, b)", "both"),
    "einsum": ('y = Einsum<equation="i,j->ij">(a, b)', "both"), "log": ("y = Log(a)", "real"),
    "atan": ("y = Atan(a)", "real"), "reciprocal": ("y = Reciprocal(a)", "real"),
    "quantize": ("y = QuantizeLinear(a, q, p)", "real"), "mean of": ("y = Mean(a, b)", "real"),
    "gelu": ('y = Gelu<approximate="tanh">(a)', "real"), "not": ("m = Less(a, b) y = Not(m)",
    "both"),
    "bitwise": ("y = BitwiseXor(a, b)", "int"), "lrn": ("r = Unsqueeze(d, g) y = LRN<size=3>(r)",
    "real"),
    "slice": ("y = Slice(a, j, l, z1, t)", "both"), "reverse": (
        "y = ReverseSequence<batch_axis=1, time_axis=0>(d, n3)", "both")}
for name, (body, kinds) in CONSTANTS.items():
    for dtype in (np.float32, np.float64, np.float16, np.int32, np.int64, np.int8, np.uint8,
        np.uint64):
        whole, t = np.issubdtype(dtype, np.integer), np.dtype(dtype)
        if kinds == "real" and whole or kinds == "int" and not whole \
                or kinds == "int64" and dtype != np.int64 \
                or kinds == "uint" and t.kind != "u":
            continue
        a = [7, 3, 5, 250 if t.kind == "u" else -7] if whole else [2.5, -3.5, 0.5, 7]
        b = [2, 3, 4, 2] if whole else [-1.25, 2, 3, 2]
        held = dict(a=np.array(a, dtype), b=np.array(b, dtype), c=np.array([2, 1, 0, 3], dtype),
                    d=np.array([[1, 2, 2], [2, 1, 2]], dtype), z=np.array(0, np.int64),
                    z1=ints(0), k=ints(2), q=np.array(0.5, dtype), p=np.uint8(7),
                    v=np.array([1, 4], dtype), o=np.array(2, dtype), e=np.array(1, dtype),
                    g=ints(0, 1), s=f(1, 1, 2, 1.5), j=ints(-1), l=ints(-99), t=ints(-2),
                    n3=ints(1, 2, 1))
        import re
        used = set(re.findall(r"\b[a-z]\d?\b", body.split("=", 1)[1]))
        made = set(re.findall(r"\b([a-z])\s*(?:,|=)", re.sub(r"\([^)]*\)|<[^>]*>", "", body)))
        add(f"fold {name} {t.name}", "float[1] x", body + " w = Neg(x)", outputs="y, w", opset=20,
            **{k: held[k] for k in used & set(held) - made})

for op in ("Equal", "Less", "Greater", "GreaterOrEqual", "LessOrEqual"):
    for t in ("float", "int64"):
        add(f"not {op} {t}", f"{t}[3] x, {t}[3] z", f"e = {op}(x, z) y = Not(e)")
        add(f"{op} where {t}", f"{t}[3] x, {t}[3] z",
            f"e = {op}(x, z) n = Not(e) y = Where(n, x, z)")
        add(f"{op} self {t}", f"{t}[3] x", f"e = {op}(x, x) y = Not(e)")
add("not not", "bool[3] x", "a = Not(x) y = Not(a)")
add("not where shared", "bool[3] c, float[3] x, float[3] z",
    "a = Not(c) y = Where(a, x, z) b = Not(a)", outputs="y, b")
add("where same", "bool[2,3] c, float[3] x", "y = Where(c, x, x)")
for value in (True, False):
    for shape in ((), (1,), (4, 1, 1), (3,)):
        add(f"where constant {value} {shape}", "float[1,3] x, float[2,1] z", "a = Where(c, x, z) "
            "y = Neg(a)", c=np.full(shape, value))
        for op in ("And", "Or", "Xor"):
            add(f"{op} {value} {shape}", "bool[2,3] x", f"a = {op}(x, c) y = Not(a)",
                c=np.full(shape, value))
for axis in (0, 1, -1):
    for op in ("Softmax", "Relu", "Sigmoid", "Neg", "Exp", "Sqrt", "Log", "Tanh", "Abs", "Floor",
               "LogSoftmax", "Sign", "Cast<to=6>"):
        add(f"argmax {op} {axis}", "float[2,3] x", f"s = {op}(x) y = ArgMax<axis={axis}>(s)")
add("topk sorted", "float[2,5] x", "v, i = TopK<axis=-1, largest=0>(x, k) y = Neg(v)",
    outputs="y, i", k=ints(3))
add("cumsum cumsum", "float[3,4] x", "a = CumSum<reverse=1>(x, k) y = CumSum<exclusive=1>(a, k)",
    k=ints(1)[0])
add("isinf any", "float[2,3] x", "i = IsInf(x) c = Cast<to=6>(i) s = ReduceSum<keepdims=0>(c) "
    "y = Greater(s, z)", z=np.array(0, np.int32))
add("isinf positive any", "float[2,3] x", "i = IsInf<detect_negative=0>(x) c = Cast<to=6>(i) "
    "s = ReduceSum<keepdims=0>(c) y = Greater(s, z)", z=np.array(0, np.int32))
add("common subexpression", "float[2,3] x", "a = Exp(x) b = Exp(x) y = Sub(a, b) z = Mul(a, b)",
    outputs="y, z")
add("common with attributes", "float[2,3] x", "a = Elu<alpha=0.5>(x) b = Elu<alpha=0.5000001>(x) "
    "c = Elu(x) d = Sub(a, c) y = Sub(b, d)")
add("equal constants", "float[2,3] x", "a = Add(x, k) b = Mul(x, l) y = Sub(a, b)", k=f(0.0),
    l=f(-0.0))
add("equal bytes", "float[2,2] x",
    "a = Reshape(x, s) b = Reshape(x, t) y = Add(a, c) z = Cast<to=1>(u)",
    outputs="y, z, b", s=ints(4), t=ints(1, 4), c=np.zeros(1, np.float32), u=np.zeros(1, np.int32))
