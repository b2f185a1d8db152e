"""Templates of rewrites that hold under conditions beyond their pattern: optional inputs, other
readers, tensors without elements, names, and what older opsets lack."""
import itertools

import numpy as np

from probe import add, ints, positive, weights

X = "float[2,2,6,6] x"


def f(*value):
    return np.array(value if len(value) != 1 else value[0], np.float32)


for axes, pads in (((0, 1, 3, 2), (0, 0, 1, 0, 0, 0, 0, 0)), ((-2, -1), (1, 0, 0, 2)),
                   ((2, 3, 0, 1), (1, 0, 0, 0, 0, 2, 0, 0)), ((3, 2), (1, 0, 0, 2)),
                   ((1, 0, 2, 3), (0, 0, 1, 0) * 2)):
    for op, known in (("Conv(p, w)", dict(w=weights(1, 3, 2, 3, 3))),
                      ("ConvTranspose(p, w)", dict(w=weights(1, 2, 3, 3, 3))),
                      ("MaxPool<kernel_shape=[3,3]>(p)", {}),
                      ("AveragePool<kernel_shape=[3,3], count_include_pad=1>(p)", {}),
                      ("Pad(p, k, , a)", {}), ("Relu(p)", {})):
        add(f"pad of axes {axes} {op}", X, f"p = Pad(x, k, , a) y = {op}", opset=18, a=ints(*axes),
            k=ints(*pads), **known)
for zero, (t, dtype) in itertools.product((0, 3, 100), (("uint8", np.uint8), ("int8", np.int8))):
    add(f"pad integer conv {zero} {t}", f"{t}[1,1,4,4] x", "p = Pad(x, k) y = ConvInteger(p, w, z)",
        outputs="int32[1,1,A,B] y", k=ints(0, 0, 1, 1, 0, 0, 1, 1), z=np.array(zero, dtype),
        w=np.arange(4).reshape(1, 1, 2, 2).astype(dtype))

for rows, bias in itertools.product(((2, 1), (1, 2), (2, 3), (1, 1), (3, 1, 2)),
                                    ((2, 3), (6, 3), (1, 3), (3,), (3, 1, 3), (1,), (2, 1))):
    add(f"rows {rows} product bias {bias}", f"float[{','.join(map(str, rows))},4] x",
        "c = MatMul(x, w) y = Add(c, k)", w=weights(1, 4, 3), k=weights(2, *bias))
for op, shape, factor in itertools.product(
        ("Mul", "Add"), ((8, 1), (1, 8), (2, 1, 4), (4, 2), (8,)), ((4,), (), (1,), (2, 1))):
    for bias in ("", ", b"):
        more = dict(b=weights(2, 4)) if bias else {}
        text = f"c = Gemm<transB=1>(x, w{bias}) r = Reshape(c, s) y = {op}(r, k)"
        known = dict(w=weights(1, 4, 3), s=ints(*shape), k=positive(3, *factor), **more)
        add(f"gemm reshape {op} {shape} {factor}{bias}", "float[2,3] x", text, **known)
        add(f"gemm read twice reshape {op} {shape} {factor}{bias}", "float[2,3] x",
            text + " z = Neg(c)", outputs="y, z", **known)

SIZES = (("4,0", 4, (0,)), ("0,3", 5, (0,)), ("2,3", 3, (-1,)), ("2,3", 2, (0,)), ("0,3", 0, (3,)))
for (sizes, first, rest), zero in itertools.product(SIZES, (0, 1)):
    add(f"concat sizes {sizes} {first} {rest} {zero}", f"float[{sizes}] x, int64[1] v",
        f"s = Concat<axis=0>(v, k) y = Reshape<allowzero={zero}>(x, s)", k=ints(*rest),
        given={"v": ints(first)})
    add(f"concat sizes cast {sizes} {first} {rest} {zero}", f"float[{sizes}] x, float[1] v",
        f"s = Concat<axis=0>(v, k) c = Cast<to=7>(s) y = Reshape<allowzero={zero}>(x, c)",
        k=f(*rest, 0)[:1], given={"v": np.array([first], np.float32)})
for axis, (sizes, part) in itertools.product((0, 1), (("2,0", (1, 0)), ("0,2", (0, 3)),
                                                      ("2,3", (0, 3)), ("2,3", (2, 0)))):
    add(f"concat empty {axis} {sizes} {part}", f"float[{sizes}] x",
        f"c = Concat<axis={axis}>(x, k) y = Relu(c)", k=np.zeros(part, np.float32))
for axis in (0, 1, 2, -1, 3):
    for sizes in ("2,0,4", "0,3,4", "2,3,0", "2,3,4"):
        add(f"flatten sizes {axis} {sizes}", f"float[{sizes}] x", f"y = Flatten<axis={axis}>(x)")

for one, other in itertools.product(("Flatten<axis=0>", "Flatten<axis=1>", "Flatten<axis=2>"),
                                    repeat=2):
    add(f"twice {one} {other}", "float[2,3,4] x", f"a = {one}(x) b = {other}(x) y = Neg(a) "
        "z = Abs(b)", outputs="y, z")
for one, other in itertools.product(("Max Min", "Min Max", "Min Min", "Max Max", "Clip Clip",
                                     "Relu Clip", "Clip Relu"), repeat=2):
    def chain(ops, number):
        first, second = ops.split()
        low, high = (f"{'abcd'[2 * number + k]}{number}" for k in (0, 1))
        read = {"Relu": "", "Clip": f", {low}, {high}"}
        return (f"r{number} = {first}(x{read.get(first, ', ' + low)}) "
                f"s{number} = {second}(r{number}{read.get(second, ', ' + high)}) ")
    text = chain(one, 0) + chain(other, 1)
    known = dict(a0=f(-1), b0=f(2), c1=f(1), d1=f(3))
    add(f"twice {one} {other}", "float[2,3] x", text + "y = Neg(s0) z = Abs(s1)", outputs="y, z",
        **{k: v for k, v in known.items() if k in text})
for first, second in (("Max", "Min"), ("Min", "Max"), ("Min", "Min"), ("Max", "Max")):
    for a, b in itertools.product(((), (1,), (1, 1), (3,), (1, 3), (2, 1, 1)), repeat=2):
        low, high = (-1, 2) if first == "Max" else (2, -1)
        add(f"bounds {first} {second} {a} {b}", "float[3] x",
            f"r = {first}(x, a) y = {second}(r, b)", a=np.full(a, low, np.float32),
            b=np.full(b, high, np.float32))
    for opset in (8, 9, 10, 11, 12):
        add(f"bounds {first} {second} opset {opset}", "float[2,3] x",
            f"r = {first}(x, a) y = {second}(r, b)", opset=opset, a=f(-1), b=f(2))

for reduction, rows in itertools.product(("none", "add", "mul", "max", "min"),
                                         ((0, 1, 2), (1, 0, 2), (0, 1), (-3, -2, -1))):
    add(f"scatter rows {reduction} {rows}", f"float[3,2] x, float[{len(rows)},2] u",
        f'r = ScatterND<reduction="{reduction}">(x, i, u) y = Neg(r)', opset=18,
        i=np.array(rows, np.int64)[:, None])
    add(f"scatter elements {reduction} {rows}", f"float[3,2] x, float[{len(rows)},2] u",
        f'r = ScatterElements<axis=0, reduction="{reduction}">(x, i, u) y = Neg(r)', opset=18,
        i=np.repeat(np.array(rows, np.int64)[:, None], 2, 1))
for opset in (7, 9, 11, 13):
    for shape in ((4,), (2, 4), (1,)):
        add(f"gemm zero bias {opset} {shape}", "float[2,3] x", "c = Gemm(x, w, b) y = Relu(c)",
            opset=opset, w=weights(1, 3, 4), b=np.zeros(shape, np.float32))
for a, b, first, second, last in (
        ("4,1,1", "4,1,1", (2, 2), (2, 2), (4, 1, 1)), ("2,2", "2,2", (1, 2, 2), (2, 2), (2, 2)),
        ("3,2,1,1", "1,2,1,1", (1, 2, 3, 1), (1, 2, 1, 1), (3, 2, 1, 1)),
        ("8,1,1", "2,2,2", (2, 2, 2), (2, 2, 2), (2, 2, 2)),
        ("2,3,4", "4,5", (6, 4), (4, 5), (2, 3, 5))):
    add(f"product reshaped {a} {b}", f"float[{a}] x, float[{b}] z",
        "u = Reshape(x, k) v = Reshape(z, l) c = MatMul(u, v) y = Reshape(c, s)", k=ints(*first),
        l=ints(*second), s=ints(*last))
    add(f"product reshaped left {a} {b}", f"float[{a}] x, float[{','.join(map(str, second))}] z",
        "u = Reshape(x, k) c = MatMul(u, z) y = Reshape(c, s)", k=ints(*first), s=ints(*last))

for opset in (13, 14, 17, 21):
    for target, sizes in (((3, 2), "3,2"), ((6, -1), "6,N"), ((-1, 2), "N,2")):
        add(f"reshape to input {opset} {target}", "float[2,3] x, int64[2] v", "y = Reshape(x, v)",
            outputs=f"float[{sizes}] y", opset=opset, given={"v": ints(*target)})
INDICES = {"scalar": ints(1)[0], "one": ints(1), "matrix": ints(1)[None], "last": ints(-1)}
for (label, index), axis in itertools.product(INDICES.items(), (0, 1)):
    for size in ("float[2,3] x", "float[N,3] x"):
        add(f"shape gathered {label} {size}", size, "s = Shape(x) y = Gather(s, i)", i=index)
        for shape in ((2, 1), (1, 2)):
            add(f"shape reshaped {shape} gathered {label} {axis} {size}", size,
                f"s = Shape(x) r = Reshape(s, k) y = Gather<axis={axis}>(r, i)", k=ints(*shape),
                i=index * (shape[axis] - 1))
for op, offset in itertools.product(("Add", "Sub", "Mul", "Div", "Mod", "Min"), (-5, 2, 1)):
    for last in ("Abs", "Neg", "Sign"):
        add(f"size {op} {offset} {last}", "float[N] x",
            f"s = Shape(x) a = {op}(s, k) y = {last}(a)", k=ints(offset))

for opset, axis in itertools.product((11, 12, 13, 17, 18), (0, 1, -1)):
    for new in (0, 1):
        add(f"sequence joined {axis} {new} {opset}", "float[2,3] x, float[2,3] z",
            f"q = SequenceConstruct(x, z) y = ConcatFromSequence<axis={axis}, new_axis={new}>(q)",
            outputs="float[A,B,C] y" if new else "float[A,B] y", opset=opset)
    for label, parts, keep in itertools.product(("two", "chunks", "uneven", "none"), (0, 1),
                                                (0, 1)):
        known = {"two": dict(k=ints(2, 2)), "chunks": dict(k=ints(2)[0]), "uneven": dict(
            k=ints(3)[0]), "none": {}}[label]
        add(f"sequence split {label} {axis} {keep} {opset} {parts}", "float[4,4] x",
            f"q = SplitToSequence<axis={axis}, keepdims={keep}>(x{', k' if known else ''}) "
            "y = SequenceAt(q, i)", outputs="float[A] y" if label == "none" and not keep else
            "float[A,B] y", opset=opset, i=ints(parts)[0], **known)
    if axis == 0:
        add(f"sequence of ones {opset}", "float[2,3] x", "q = SplitToSequence<axis=0, keepdims=0>"
            "(x, k) y = SequenceAt(q, i)", outputs="float[A,B] y", opset=opset, k=ints(1, 1),
            i=ints(0)[0])

for number, (start, end, step) in enumerate(((-1, 2, 1), (3, -1, -1), (0, 3, 2), (1, 3, 1),
                                             (2, -3, -2))):
    for axis in (0, 1):
        add(f"gather of range {(start, end, step)} {axis}", "float[4,4] x, int64 b, int64 e, "
            f"int64 d{number}", f"r = Range(b, e, d{number}) y = Gather<axis={axis}>(x, r)",
            given={"b": np.array(start), "e": np.array(end), f"d{number}": np.array(step)})
SHAPES = {"": "x", "start": "x", "other": "z"}
for (label, read), zero, last in itertools.product(SHAPES.items(), (0, 1), ((-1,), (4, -1), (8,))):
    part = "<start=1>" if label == "start" else ""
    add(f"shape gathers reshape {label} {zero} {last}", "float[N2,M3,4,2] x" + (
        ", float[M3,N2] z" if label == "other" else ""),
        f"s = Shape{part}({read}) a = Gather(s, i) b = Gather(s, j) u = Unsqueeze(a, o) "
        f"v = Unsqueeze(b, o) c = Concat<axis=0>(u, v, k) y = Reshape<allowzero={zero}>(x, c)",
        i=ints(0)[0], j=ints(1)[0], o=ints(0), k=ints(*last))
for keep, axes in itertools.product((0, 1), ("", ", k")):
    add(f"any infinite {keep} {axes}", "float[2,3] x", f"i = IsInf(x) c = Cast<to=7>(i) "
        f"s = ReduceSum<keepdims={keep}>(c{axes}) y = Greater(s, z)", z=ints(0)[0],
        **(dict(k=ints(1)) if axes else {}))

WIDE = weights(1, 16, 16, 3, 3)
for call, known in (("MaxPool<kernel_shape=[3,3], strides=[2,2], ceil_mode=1>(c)", {}),
                    ("AveragePool<kernel_shape=[3,3], strides=[2,2], ceil_mode=1>(c)", {}),
                    ('AveragePool<kernel_shape=[2,2], auto_pad="SAME_UPPER">(c)', {}),
                    ("GlobalAveragePool(c)", {}), ("Transpose<perm=[0,2,3,1]>(c)", {}),
                    ("Concat<axis=1>(c, c)", {}), ("Concat<axis=2>(c, c)", {}), ("Mul(c, c)", {}),
                    ("Add(c, k)", dict(k=positive(1, 16, 1, 1))), ("Softmax<axis=1>(c)", {}),
                    ('Resize<mode="nearest">(c, , k)', dict(k=f(1, 1, 2, 2))),
                    ('Resize<mode="linear">(c, , k)', dict(k=f(1, 1, 2, 2))),
                    ("Conv<group=16>(c, k)", dict(k=weights(2, 16, 1, 2, 2))),
                    ("ReduceMean<axes=[1]>(c)", {}), ("LeakyRelu<alpha=-2.0>(c)", {})):
    for how in ("", ", pads=[0,1,2,0]", ", dilations=[2,2]"):
        add(f"wide conv{how} {call}", "float[1,16,7,7] x",
            f"c = Conv<kernel_shape=[3,3]{how}>(x, w) y = {call}", w=WIDE, **known)
