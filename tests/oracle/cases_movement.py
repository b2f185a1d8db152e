"""Random uses of operators that move elements: see cases.py."""
import numpy as np
from onnx import helper

from cases import Case, case, data, distinct_axes, flip, i64, shape_of, some_axis


@case("Slice")
def slice_(rng, opset):
    shape = shape_of(rng, 1, 4, 6)
    axes = distinct_axes(rng, len(shape))
    if opset < 10:
        axes = [a % len(shape) for a in axes]
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        start = int(rng.integers(0, size))
        end = int(rng.integers(start + 1, size + 1))
        step = int(rng.integers(1, 4)) if opset >= 10 else 1
        if opset >= 10 and rng.random() < 0.25:  # backwards
            start, end, step = end - 1, start - 1 if start > 0 else -size - 1, -step
        elif rng.random() < 0.3:
            start, end = start - size, 2 ** 31 if end == size else end - size
        starts.append(start), ends.append(end), steps.append(step)
    if opset < 10:
        return Case([data(rng, shape)], {"starts": starts, "ends": ends, "axes": axes})
    inputs = [data(rng, shape), i64(starts), i64(ends), i64(axes)]
    if any(s != 1 for s in steps) or flip(rng):
        inputs.append(i64(steps))
    return Case(inputs, constants=tuple(range(1, len(inputs))))


def perhaps_constant(rng):
    """Indices that are in the model, or an input of it."""
    return (1,) if flip(rng) else ()


@case("Gather")
def gather(rng, opset):
    shape = shape_of(rng, 1, 4)
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(len(shape)))
    low = -shape[axis] if opset >= 11 else 0
    index_shape = shape_of(rng, 0, 2, 3)
    indices = rng.integers(low, shape[axis], index_shape).astype(np.int64)
    return Case([data(rng, shape), np.array(indices)], {"axis": axis}, perhaps_constant(rng))


@case("Expand", first=8)
def expand(rng, opset):
    full = shape_of(rng, 1, 4)
    shape = [n if flip(rng) else 1 for n in full][int(rng.integers(0, len(full) + 1)):]
    target = [1 if rng.random() < 0.3 else n for n in full]
    return Case([data(rng, shape), i64(target)], constants=(1,))


@case("Tile")
def tile(rng, opset):
    shape = shape_of(rng, 1, 4)
    return Case([data(rng, shape), i64(rng.integers(1, 4, len(shape)))], constants=(1,))


@case("DepthToSpace")
def depth_to_space(rng, opset):
    block = int(rng.integers(1, 4))
    shape = shape_of(rng, 4, 4, 3)
    shape[1] *= block * block
    attributes = {"blocksize": block}
    if opset >= 11 and rng.random() < 0.7:
        attributes["mode"] = str(rng.choice(["DCR", "CRD"]))
    return Case([data(rng, shape)], attributes)


@case("SpaceToDepth")
def space_to_depth(rng, opset):
    block = int(rng.integers(1, 4))
    shape = shape_of(rng, 4, 4, 3)
    return Case([data(rng, [*shape[:2], shape[2] * block, shape[3] * block])], {"blocksize": block})


@case("Trilu", first=14)
def triangle(rng, opset):
    shape = shape_of(rng, 2, 4)
    inputs = [data(rng, shape)]
    if rng.random() < 0.7:
        inputs.append(np.array(rng.integers(-5, 6), dtype=np.int64))
    return Case(inputs, {"upper": int(flip(rng))} if rng.random() < 0.7 else {},
                tuple(range(1, len(inputs))))


def pad_inside(rng, opset):
    """Pads of the modes that copy."""
    shape = shape_of(rng, 1, 4)
    modes = ["reflect", "edge"] + (["wrap"] if opset >= 19 else [])
    mode = str(rng.choice(modes))
    most = [n if mode == "reflect" else 3 for n in shape] * 2
    pads = [int(rng.integers(0, n)) for n in most]
    attributes = {"mode": mode}
    if opset < 11:
        return Case([data(rng, shape)], attributes | {"pads": pads})
    if opset < 18 or flip(rng):
        return Case([data(rng, shape), i64(pads)], attributes, (1,))
    axes = [int(a) for a in rng.permutation(len(shape))[:int(rng.integers(1, len(shape) + 1))]]
    some = [pads[a] for a in axes] + [pads[a + len(shape)] for a in axes]
    axes = [a - len(shape) if flip(rng) else a for a in axes]
    return Case([data(rng, shape), i64(some), None, i64(axes)], attributes, (1, 3))


@case("Pad")
def pad(rng, opset):
    if rng.random() < 0.4:
        return pad_inside(rng, opset)
    shape = shape_of(rng, 1, 4)
    pads = [int(p) for p in rng.integers(0, 3, 2 * len(shape))]
    value = float(rng.choice([0.0, 0.0, 1.5]))
    if opset < 11:
        return Case([data(rng, shape)], {"pads": pads, "value": value})
    inputs = [data(rng, shape), i64(pads)] + ([np.array(value)] if flip(rng) else [])
    return Case(inputs, {}, tuple(range(1, len(inputs))))


@case("ReverseSequence", first=10)
def reverse_sequence(rng, opset):
    shape, batch = shape_of(rng, 2, 4), int(rng.integers(2))
    lengths = rng.integers(1, shape[1 - batch] + 1, shape[batch])
    attributes = {} if batch == 1 and flip(rng) else {"batch_axis": batch, "time_axis": 1 - batch}
    return Case([data(rng, shape), i64(lengths)], attributes, (1,))


@case("Compress", first=9)
def compress(rng, opset):
    shape = shape_of(rng, 1, 4)
    if rng.random() < 0.3:  # of the whole tensor
        count = int(np.prod(shape))
        condition = rng.random(int(rng.integers(1, count + 1))) < 0.6
        condition[int(rng.integers(len(condition)))] = True
        return Case([data(rng, shape), condition], {}, (1,))
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(len(shape)))
    condition = rng.random(int(rng.integers(1, shape[axis] + 1))) < 0.6
    condition[int(rng.integers(len(condition)))] = True
    attributes = {} if len(shape) == 1 and flip(rng) else {"axis": axis}
    return Case([data(rng, shape), condition], attributes, (1,))


@case("GatherElements", first=11)
def gather_elements(rng, opset):
    shape = shape_of(rng, 1, 4)
    axis = some_axis(rng, len(shape))
    index_shape = [int(rng.integers(1, n + 1)) for n in shape]
    indices = rng.integers(-shape[axis], shape[axis], index_shape)
    return Case([data(rng, shape), i64(indices)], {"axis": axis} if axis or flip(rng) else {},
                perhaps_constant(rng))


@case("GatherND", first=11)
def gather_nd(rng, opset):
    shape = shape_of(rng, 1, 4)
    batch = int(rng.integers(0, len(shape))) if opset >= 12 and flip(rng) else 0
    depth = int(rng.integers(1, len(shape) - batch + 1))
    front = shape[:batch] + shape_of(rng, 0, 2, 3)
    columns = [rng.integers(-n, n, front) for n in shape[batch:batch + depth]]
    return Case([data(rng, shape), i64(np.stack(columns, axis=-1))],
                {"batch_dims": batch} if batch else {}, perhaps_constant(rng))


@case("OneHot", first=9)
def one_hot(rng, opset):
    shape, depth = shape_of(rng, 0, 3), int(rng.integers(1, 5))
    low = -depth - 1 if opset >= 11 else 0
    indices = rng.integers(low, depth + 1, shape)
    attributes = {"axis": int(rng.integers(-len(shape) - 1, len(shape) + 1))} if flip(rng) else {}
    on_off = data(rng, [2]).astype(np.float32)  # onnxruntime has no other real type
    return Case([i64(indices), i64([depth] if flip(rng) else depth), on_off], attributes, (1,),
                typed_by=2)


@case("Range", first=11)
def range_(rng, opset):
    """Of constants: a long one, since short ones become constants."""
    kind, delta = np.int64 if flip(rng) else np.int32, int(rng.choice([-3, -1, 1, 2]))
    start, count = int(rng.integers(-9, 9)), 2 ** 14 + int(rng.integers(2, 9))
    numbers = [start, start + delta * (count - 1) + int(np.sign(delta)), delta]
    return Case([np.array(n, dtype=kind) for n in numbers], {}, (0, 1, 2))


@case("EyeLike", first=9)
def eye_like(rng, opset):
    attributes = {"k": int(rng.integers(-2, 3))} if flip(rng) else {}
    made = Case([data(rng, shape_of(rng, 2, 2))], attributes)
    if flip(rng):
        made.result = [np.float32, np.float64, np.int64][int(rng.integers(3))]
        attributes["dtype"] = helper.np_dtype_to_tensor_dtype(np.dtype(made.result))
    return made


def scattering(rng, opset, attributes):
    """Whether updates are added, which allows that indices occur twice."""
    adds = opset >= 16 and flip(rng)
    return adds, attributes | ({"reduction": "add"} if adds else {})


@case("ScatterElements", first=11)
def scatter_elements(rng, opset):
    shape = shape_of(rng, 1, 3)
    axis = some_axis(rng, len(shape))
    updates = [int(rng.integers(1, n + 1)) for n in shape]
    adds, attributes = scattering(rng, opset, {"axis": axis} if axis or flip(rng) else {})
    if adds:
        indices = rng.integers(-shape[axis], shape[axis], updates)
    else:  # distinct on each line
        order = np.argsort(rng.random([*(n for d, n in enumerate(updates) if d != axis % len(shape)),
                                       shape[axis]]), axis=-1)
        indices = np.moveaxis(order[..., :updates[axis]], -1, axis)
    return Case([data(rng, shape), i64(indices), data(rng, updates)], attributes, (1,))


@case("ScatterND", first=11)
def scatter_nd(rng, opset):
    shape = shape_of(rng, 1, 4)
    depth = int(rng.integers(1, len(shape) + 1))
    adds, attributes = scattering(rng, opset, {})
    places = list(np.ndindex(*shape[:depth]))
    chosen = rng.choice(len(places), int(rng.integers(1, len(places) + 1)), replace=adds)
    indices = i64([places[k] for k in chosen])
    if len(indices) % 2 == 0 and flip(rng):
        indices = indices.reshape(2, -1, depth)
    return Case([data(rng, shape), indices, data(rng, [*indices.shape[:-1], *shape[depth:]])],
                attributes, (1,))
