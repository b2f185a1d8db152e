"""Inputs for probes, and the comparison of outputs: what differs, and whether that is a mistake."""
import re

import numpy as np
import onnx

PLAIN = ["mixed", "negative", "positive", "large", "whole"]
EDGES = ["specials", "zeros"]
RANGES = {"mixed": (-4, 4), "negative": (-4, -0.25), "positive": (0.25, 4), "large": (-24, 24),
          "whole": (-3, 3)}
TOLERANCE = {"float16": 2e-2, "float32": 2e-3, "float64": 1e-5, "bfloat16": 1e-1}
SPECIALS = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -1e30, 1e30])


def numpy_type(value):
    return onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)


def shape_of(value, sizes):
    """Sizes; those left open are what their name ends in, or 2, 3, 4 in turn, kept by name."""
    def size(name):
        digits = re.search(r"\d+$", name)
        return sizes.setdefault(name, int(digits.group()) if digits else 2 + len(sizes) % 3)
    return [size(d.dim_param) if d.dim_param else d.dim_value
            for d in value.type.tensor_type.shape.dim]


def real(rng, kind, shape, bounds):
    """Multiples of 1/8, exact in every float type; of 1 for kind 'whole'."""
    if kind == "specials":
        drawn = rng.choice(SPECIALS, shape)
        return np.where(rng.random(shape) < 0.5, drawn, rng.integers(-8, 9, shape) / 8)
    if kind == "zeros":
        return np.zeros(shape)
    low, high = bounds
    step = 1 if kind == "whole" and high - low >= 2 else 8
    return np.asarray(rng.integers(int(np.ceil(low * step)), int(high * step) + 1, shape)) / step


def drawn(rng, kind, dtype, shape, given):
    if dtype == np.bool_:
        return np.asarray(rng.integers(0, 2, shape), bool)
    if np.issubdtype(dtype, np.integer):
        low, high = given or ((0, 7) if np.issubdtype(dtype, np.unsignedinteger) else (-3, 3))
        return np.asarray(rng.integers(int(low), int(high) + 1, shape)).astype(dtype)
    if given and kind in ("specials", "zeros"):
        kind = "mixed"
    with np.errstate(all="ignore"):
        return np.asarray(real(rng, kind, shape, given or RANGES.get(kind))).astype(dtype)


def feeds(probe, seed, kinds):
    """One feed for each kind; `probe.given` says which values an input may take."""
    held = {t.name for t in probe.model.graph.initializer}
    made = []
    for number, kind in enumerate(kinds):
        sizes, feed = dict(probe.sizes), {}
        for index, value in enumerate(probe.model.graph.input):
            given = probe.given.get(value.name)
            rng = np.random.default_rng([seed, number, index])
            if isinstance(given, np.ndarray):
                feed[value.name] = given
            else:
                feed[value.name] = drawn(rng, kind, numpy_type(value), shape_of(value, sizes),
                                         given)
        for name in held & set(feed):
            if number == 0:  # the first feed leaves defaults as they are
                del feed[name]
        made.append(feed)
    return made


def difference(expected, found):
    """None, or what differs between two dictionaries of outputs: (word, detail, edge)."""
    if isinstance(found, str):
        return "fails", found, False
    if list(expected) != list(found):
        return "interface", f"outputs {list(expected)} become {list(found)}", False
    first = None
    for name in expected:
        seen = gap(expected[name], found[name], name)
        if seen and not seen[2]:
            return seen
        first = first or seen
    return first


def gap(a, b, name):
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return None  # sequences and optionals: not compared
    if a.dtype != b.dtype:
        return "type", f"{name}: {a.dtype} becomes {b.dtype}", False
    if a.shape != b.shape:
        return "shape", f"{name}: {list(a.shape)} becomes {list(b.shape)}", False
    if a.dtype.kind not in "fiub" and a.dtype.name != "bfloat16":
        return None if np.array_equal(a, b) else ("values", f"{name} differs", False)
    bad = unequal(a, b)
    if not bad.any():
        return None
    wide = a.astype(np.float64)
    usual = bad & np.isfinite(wide)
    if a.dtype.kind == "f":
        usual &= np.abs(wide) < 1e4  # beyond: float16 overflows, float32 is coarse
    where = np.argwhere(usual if usual.any() else bad)[0]
    place = tuple(int(i) for i in where)
    return ("values", f"{name}{list(place)} is {a[place]} before and {b[place]} after",
            not usual.any())


def unequal(a, b):
    if a.dtype.kind in "iub":
        return a != b
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        finite = x[np.isfinite(x)]
        scale = max(1.0, float(np.max(np.abs(finite), initial=0)))
        close = np.abs(x - y) <= TOLERANCE.get(a.dtype.name, 1e-3) * scale
    return ~(close | (x == y) | (np.isnan(x) & np.isnan(y)))
