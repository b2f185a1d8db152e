"""Templates of what moves elements: transpositions, reshapes, slices, concatenations, sizes."""
import itertools

import numpy as np

from probe import add, ints, positive, weights

BIG = 2 ** 62
X = "float[2,3,4] x"

for a, b in (([1, 0, 2], [0, 2, 1]), ([1, 2, 0], [1, 2, 0]), ([2, 0, 1], [1, 2, 0]),
             ([0, 2, 1], [0, 2, 1]), ([2, 1, 0], [1, 2, 0])):
    add(f"transpose {a} {b}", X, f"t = Transpose<perm={a}>(x) y = Transpose<perm={b}>(t)")
    for op in ("Relu", "Softmax<axis=1>", "ReduceMean<axes=[1]>",
        "ReduceMax<axes=[0,-1], keepdims=0>",
               "ArgMax<axis=-1>", "LayerNormalization<axis=1>", "Cast<to=6>", "Not0", "CumSum",
               "Slice", "Pad", "Squeeze", "Unsqueeze", "Split", "Concat", "Gather", "Tile",
               "Flatten<axis=1>",
               "Where", "Resize", "Expand", "QDQ", "Identity", "Add", "Sub", "PRelu"):
        if op == "Not0" or (b == [2, 1, 0] and op == "Identity"):
            continue
        back = f"y = Transpose<perm={b}>(s)"
        body, more = f"s = {op}(t)", {}
        if op == "CumSum":
            body, more = "s = CumSum<exclusive=1, reverse=1>(t, k)", dict(k=ints(1)[0])
        elif op == "Slice":
            body, more = "s = Slice(t, k, e, a, d)", dict(k=ints(-1, 0), e=ints(-BIG, 2),
                                                          a=ints(-1, 0), d=ints(-1, 1))
        elif op == "Pad":
            body, more = "s = Pad(t, k, v)", dict(k=ints(1, 0, 2, 0, -1, 0), v=np.float32(3))
        elif op == "LayerNormalization<axis=1>":
            body, more = "s = LayerNormalization<axis=2>(t, k)", dict(k=positive(1, 1))
        elif op in ("Squeeze", "Flatten<axis=1>", "ReduceMax<axes=[0,-1], keepdims=0>"):
            body = {"Squeeze": "r = ReduceSum(t, k) s = Squeeze(r, k)"}.get(op, body)
            more = dict(k=ints(-2)) if op == "Squeeze" else {}
            back = "y = Transpose(s)"
        elif op == "Unsqueeze":
            body, more, back = "s = Unsqueeze(t, k)", dict(k=ints(0, -1)), \
                "y = Transpose<perm=[1,0,2,4,3]>(s)"
        elif op == "Split":
            body, more = "s, r = Split<axis=-1>(t, k)", dict(k=ints(1, a and [2, 3, 4][a[-1]] - 1))
        elif op == "Concat":
            body = "s = Concat<axis=-2>(t, t)"
        elif op == "Gather":
            body, more = "s = Gather<axis=-1>(t, k)", dict(k=ints(-1, 0))
        elif op == "Tile":
            body, more = "s = Tile(t, k)", dict(k=ints(1, 2, 3))
        elif op == "Where":
            body, more = "c = Greater(t, k) s = Where(c, t, k)", dict(k=weights(1, 1, 1))
        elif op == "Resize":
            body, more = 's = Resize<mode="nearest">(t, , k)', dict(
                k=np.array([1, 2, 1], np.float32))
        elif op == "Expand":
            body, more, back = "s = Expand(t, k)", dict(k=ints(2, 1, 1, 1)), \
                "y = Transpose<perm=[0,3,1,2]>(s)"
        elif op == "QDQ":
            body, more = "q = QuantizeLinear(t, k, z) s = DequantizeLinear(q, k, z)", dict(
                k=np.float32(0.125), z=np.uint8(100))
        elif op in ("Add", "Sub", "PRelu"):
            body, more = f"s = {op}(t, k)", dict(k=weights(2, [2, 3, 4][a[-1]]))
        add(f"transpose {a} {op} {b}", X, f"t = Transpose<perm={a}>(x) {body} {back}", **more)
for a, b in itertools.product(([0, -1], [6, 4], [2, 0, 2, -1], [24], [0, 0, 0]),
                              ([0, -1], [0, 4, -1], [-1, 3, 4], [-1])):
    for zero in ("", "<allowzero=1>"):
        if zero and 0 in b:
            continue
        add(f"reshape {a} {b} {zero}", "float[2,3,4] x",
            f"r = Reshape(x, a) y = Reshape{zero}(r, b)",
            opset=14, a=ints(*a), b=ints(*b))
add("reshape zero size", "float[0,3] x",
    "r = Reshape<allowzero=1>(x, a) y = Reshape<allowzero=1>(r, b)",
    opset=14, a=ints(3, 0), b=ints(0, 5))
add("reshape transpose", "float[2,3,4] x", "r = Reshape(x, a) t = Transpose<perm=[0,2,1]>(r) "
    "y = Reshape(t, b)", a=ints(2, 4, 3), b=ints(6, 4))
add("shuffle", "float[1,6,2,2] x", "r = Reshape(x, a) t = Transpose<perm=[0,2,1,3,4]>(r) "
    "y = Reshape(t, b)", a=ints(1, 2, 3, 2, 2), b=ints(1, 6, 2, 2))
for text in ("y = Flatten<axis=1>(r)", "y = Flatten<axis=-1>(r)", "y = Flatten<axis=0>(r)"):
    add(f"flatten {text}", "float[2,3,4] x", "r = Relu(x) " + text)
    add(f"flatten flat {text}", "float[1,12] x", "r = Relu(x) " + text)

STEPS = [((0, 2, 1), (0, 1, 1)), ((-1, -BIG, -1), (0, 2, 1)), ((0, BIG, 2), (0, BIG, 2)),
         ((-1, -BIG, -2), (-1, -BIG, -1)), ((1, -1, 1), (1, BIG, 1)), ((-3, BIG, 1), (0, -1, 1)),
         ((3, 1, -1), (0, BIG, 1)), ((0, BIG, 1), (2, 4, 1)), ((5, 9, 1), (0, 3, 1)),
         ((4, 0, -1), (1, 3, 1)), ((1, 4, 1), (-1, BIG, 1))]
for (b1, e1, s1), (b2, e2, s2) in STEPS:
    for axis1, axis2 in ((1, 1), (1, -1), (-2, 1), (1, 0), (0, 0)):
        add(f"slices {(b1, e1, s1)} {(b2, e2, s2)} axes {axis1} {axis2}", "float[5,6] x",
            "s = Slice(x, a, b, c, d) y = Slice(s, e, f, g, h)", a=ints(b1), b=ints(e1),
            c=ints(axis1), d=ints(s1), e=ints(b2), f=ints(e2), g=ints(axis2), h=ints(s2))
    add(f"slice {(b1, e1, s1)} kept", "float[5,6] x", "s = Slice(x, a, b, c, d) "
        "y = Slice(s, e, f, g, h) z = Relu(s)", outputs="y, z", a=ints(b1), b=ints(e1), c=ints(0),
        d=ints(s1), e=ints(b2), f=ints(e2), g=ints(1), h=ints(s2))
    add(f"slice no axes {(b1, e1, s1)} {(b2, e2, s2)}", "float[5,6] x",
        "s = Slice(x, a, b, , d) y = Slice(s, e, f)", a=ints(b1, 0), b=ints(e1, 6), d=ints(s1, 1),
        e=ints(0, 1), f=ints(9, 3))
for axis in (0, 1, -1):
    add(f"split concat {axis}", "float[4,4] x", f"a, b = Split<axis={axis}>(x) "
        f"y = Concat<axis={axis}>(a, b)", opset=13)
    add(f"split swapped {axis}", "float[4,4] x", f"a, b = Split<axis={axis}>(x) "
        f"y = Concat<axis={axis}>(b, a)", opset=13)
    add(f"split crossed {axis}", "float[4,4] x", f"a, b = Split<axis={axis}>(x) "
        f"y = Concat<axis={-2 if axis else -1}>(a, b)", opset=13)
    add(f"slices concat {axis}", "float[4,4] x", "a = Slice(x, o, t, k) b = Slice(x, t, u, k) "
        f"y = Concat<axis={axis}>(a, b)", o=ints(0), t=ints(2), u=ints(4), k=ints(axis))
    add(f"slices apart {axis}", "float[4,4] x", "a = Slice(x, o, t, k) b = Slice(x, t, u, k) "
        "y = Sub(a, b)", o=ints(0), t=ints(2), u=ints(4), k=ints(axis))
    add(f"concat concat {axis}", "float[2,2] x, float[2,2] z",
        f"a = Concat<axis={axis}>(x, z) b = Concat<axis={axis}>(z, x) c = Concat<axis=0>(a, b) "
        "y = Relu(c)")
    add(f"concat one {axis}", "float[2,2] x", f"c = Concat<axis={axis}>(x) y = Relu(c)")
    add(f"split one {axis}", "float[2,2] x", f"c = Split<axis={axis}>(x, k) y = Relu(c)", k=ints(2))
    add(f"gathers {axis}", "float[4,4] x", f"a = Gather<axis={axis}>(x, i) b = Gather<axis={axis}>"
        "(x, j) y = Sub(a, b)", i=ints(-1)[0], j=ints(1)[0])
    add(f"gather gather {axis}", "float[4,4] x", f"a = Gather<axis={axis}>(x, i) "
        f"y = Gather<axis={axis}>(a, j)", i=ints(-1, 0, 2), j=ints(-1, 1))
    add(f"gather all {axis}", "float[3,3] x", f"a = Gather<axis={axis}>(x, i) y = Relu(a)",
        i=ints(0, 1, 2))
    add(f"gather slice {axis}", "float[4,4] x", f"a = Gather<axis={axis}>(x, i) y = Relu(a)",
        i=np.array([[1]], np.int64))
    add(f"gather range {axis}", "float[4,4] x", f"a = Gather<axis={axis}>(x, i) y = Relu(a)",
        i=ints(1, 2, 3))
    add(f"three gathers {axis}", "float[3,3] x", " ".join(
        f"{n} = Gather<axis={axis}>(x, {i})" for n, i in zip("abc", "ijk")) +
        " d = Add(a, b) y = Div(d, c)", i=ints(0)[0], j=ints(1)[0], k=ints(2)[0])
    add(f"three gathers out of order {axis}", "float[3,3] x", " ".join(
        f"{n} = Gather<axis={axis}>(x, {i})" for n, i in zip("abc", "ijk")) +
        " d = Sub(a, b) y = Sub(d, c)", i=ints(1)[0], j=ints(0)[0], k=ints(-1)[0])
for a, b in itertools.product(((0,), (-1,), (0, 2), (2,), (-1, 0)), ((0,), (1,), (-1,), (0, -1))):
    for shape in ("1,3,1,1", "1,1,2,1", "2,1,1"):
        add(f"squeeze {a} {b} {shape}", f"float[{shape}] x", "s = Squeeze(x, a) y = Squeeze(s, b)",
            a=ints(*a), b=ints(*b))
    add(f"unsqueeze {a} {b}", "float[3,2] x", "s = Unsqueeze(x, a) y = Unsqueeze(s, b)",
        a=ints(*a), b=ints(*b))
    add(f"unsqueeze squeeze {a} {b}", "float[1,3,2] x", "s = Unsqueeze(x, a) y = Squeeze(s, b)",
        a=ints(*a), b=ints(*b))
add("squeeze all", "float[1,3,1] x", "s = Squeeze(x) y = Unsqueeze(s, a)", a=ints(-1))
for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd", "ReduceL2", "ReduceLogSumExp"):
    for axes, keep in (((0,), 0), ((1,), 0), ((-1,), 0), ((1, 2), 0), ((-1,), 1), ((0, 2), 0)):
        for u in ((0,), (1,), (-1,)) + (((1, 2),) if len(axes) == 2 else ()):
            add(f"{op} {axes} {keep} unsqueeze {u}", X, f"r = {op}<keepdims={keep}>(x, a) "
                "y = Unsqueeze(r, u)", opset=18, a=ints(*axes), u=ints(*u))
        add(f"{op} {axes} {keep} squeeze", X, f"r = {op}<keepdims=1>(x, a) y = Squeeze(r, a)",
            opset=18, a=ints(*axes))
        add(f"{op} {op} {axes} {keep}", X,
            f"r = {op}<keepdims=1>(x, a) y = {op}<keepdims={keep}>(r, b)",
            opset=18, a=ints(*axes), b=ints(1))
    for noop in (0, 1):
        add(f"{op} noop {noop}", X, f"r = {op}<noop_with_empty_axes={noop}>(x) y = Neg(r)",
            opset=18)
        add(f"{op} empty {noop}", X, f"r = {op}<noop_with_empty_axes={noop}>(x, a) y = Neg(r)",
            opset=18, a=np.zeros(0, np.int64))
    add(f"{op} of ones", "float[2,1,4] x", f"r = {op}<keepdims=1>(x, a) y = Neg(r)", opset=18,
        a=ints(1))
for shape in ((2, 3), (1, 3), (1, 1), (3,), (1,), (4, 2, 3), (1, 2, 1)):
    add(f"expand {shape}", "float[2,3] x" if shape != (1, 2, 1) else "float[2,3] x",
        "e = Expand(x, s) y = Relu(e)", s=ints(*shape))
    add(f"expand add {shape}", "float[1,3] x, float[2,1] z", "e = Expand(x, s) y = Add(e, z)",
        s=ints(*shape))
    add(f"tile {shape}", "float[2,3] x", "e = Tile(x, s) y = Neg(e)", s=ints(*(shape + (1,))[:2]))
for start, end in ((0, 2), (1, None), (-1, None), (-2, -1), (1, 1), (0, -5), (0, 9), (None, None)):
    text = ", ".join(f"{k}={v}" for k, v in (("start", start), ("end", end)) if v is not None)
    for size in ("float[2,3,4] x", "float[N,3,M] x"):
        call = f"Shape<{text}>(x)" if text else "Shape(x)"
        add(f"shape {text} {size}", size, f"y = {call}", opset=15)
        add(f"shape {text} {size} gather", size, f"s = {call} y = Gather(s, i)", opset=15,
            i=ints(-1)) if (start, end) not in ((1, 1), (0, -5)) else None
        add(f"shape {text} {size} slice", size, f"s = {call} y = Slice(s, a, b)", opset=15,
            a=ints(-2), b=ints(BIG))
        add(f"shape {text} {size} fill", size, f"s = {call} y = ConstantOfShape(s)", opset=15)
add("shape concat reshape", "float[N,3,M] x", "s = Shape(x) b = Slice(s, o, e) "
    "c = Concat<axis=0>(b, k) y = Reshape(x, c)", o=ints(0), e=ints(1), k=ints(-1))
add("shape gathers reshape", "float[N,3,M] x", "s = Shape(x) a = Gather(s, i) b = Gather(s, j) "
    "c = Unsqueeze(a, z) d = Unsqueeze(b, z) e = Concat<axis=0>(c, k, d) y = Reshape(x, e)",
    i=ints(0)[0], j=ints(2)[0], k=ints(-1), z=ints(0))
add("shape gathers swapped", "float[N,3,M] x", "s = Shape(x) a = Gather(s, i) b = Gather(s, j) "
    "c = Unsqueeze(a, z) d = Unsqueeze(b, z) e = Concat<axis=0>(d, k, c) y = Reshape(x, e)",
    i=ints(0)[0], j=ints(2)[0], k=ints(-1), z=ints(0))
add("shape of another", "float[N,6] x, float[N,2,3] z", "s = Shape(z) y = Reshape(x, s)")
add("size", "float[N,3,M] x", "s = Size(x) k = Cast<to=1>(s) t = ReduceSum(x) y = Div(t, k)")
for mode, where in itertools.product(("nearest", "linear", "cubic"), (
        "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")):
    for scale in ((1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 0.5, 1)):
        add(f"resize {mode} {where} {scale}", "float[1,1,3,4] x", "a = Relu(x) "
            f'y = Resize<mode="{mode}", coordinate_transformation_mode="{where}">(a, , s)',
            s=np.array(scale, np.float32))
    add(f"resize sizes {mode} {where}", "float[1,1,3,4] x",
        f'y = Resize<mode="{mode}", coordinate_transformation_mode="{where}">(x, , , s)',
        s=ints(1, 1, 3, 4))
add("resize crop", "float[1,1,4,4] x", 'y = Resize<mode="linear", coordinate_transformation_mode='
    '"tf_crop_and_resize">(x, r, s)', r=np.array([0, 0, .25, 0, 1, 1, .75, 1], np.float32),
    s=np.ones(4, np.float32))
add("depth to space", "float[1,4,2,2] x", "d = DepthToSpace<blocksize=2>(x) "
    "y = SpaceToDepth<blocksize=2>(d)")
add("depth to space crd", "float[1,8,2,2] x", 'd = DepthToSpace<blocksize=2, mode="CRD">(x) '
    "y = SpaceToDepth<blocksize=2>(d)")
add("focus", "float[1,2,4,4] x", "a = Slice(x, o, e, k, t) b = Slice(x, i, e, k, t) "
    "y = Concat<axis=1>(a, b)", o=ints(0), i=ints(1), e=ints(4), k=ints(2), t=ints(2))
add("trilu trilu", "float[4,4] x", "a = Trilu<upper=1>(x, k) y = Trilu<upper=0>(a, k)",
    k=ints(-1)[0])
add("scatter", "float[3,3] x, float[1,3] u", "r = ScatterElements<axis=0>(x, i, u) y = Relu(r)",
    i=np.array([[0, 1, -1]], np.int64))
add("scatter all", "float[3] x, float[3] u", "y = ScatterND(x, i, u)",
    i=np.array([[0], [2], [1]], np.int64))
