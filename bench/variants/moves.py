"""Identities of algebra, as someone might have written the same thing.

Each move takes a term and gives terms that are equal to it over the reals. `variant` makes random
ones at random places.
"""
import math

from terms import (add, call, const, div, is_scalar, matmul, mul, power, reshape, shape_of, sqrt,
                   sub, total, transpose, unary, value)

COMMUTES = ("Add", "Mul")


def commute(t):
    if t.op in COMMUTES:
        yield call(t.op, t.args[1], t.args[0])


def reassociate(t):
    if t.op in COMMUTES:
        a, b = t.args
        if a.op == t.op:
            yield call(t.op, a.args[0], call(t.op, a.args[1], b))
        if b.op == t.op:
            yield call(t.op, call(t.op, a, b.args[0]), b.args[1])


def distribute(t):
    if t.op == "Mul":
        for a, b in (t.args, t.args[::-1]):
            if a.op in ("Add", "Sub") and shape_of(a) == shape_of(t):
                yield call(a.op, mul(a.args[0], b), mul(a.args[1], b))


def factor(t):
    if t.op in ("Add", "Sub") and t.args[0].op == t.args[1].op == "Mul":
        for a in t.args[0].args:
            if a in t.args[1].args:
                rest = [next((p for p in m.args if p != a), a) for m in t.args]
                yield mul(call(t.op, *rest), a)


def negate(t):
    if t.op == "Sub":
        a, b = t.args
        yield add(a, unary("Neg", b))
        yield unary("Neg", sub(b, a))
    if t.op == "Neg":
        yield mul(t.args[0], const(-1))
    if t.op == "Add" and is_scalar(t.args[1]):
        yield sub(t.args[0], const(-value(t.args[1])))


def odd(t):
    """erf and tanh are odd."""
    if t.op in ("Erf", "Tanh") and t.args[0].op in ("Mul", "Div") and is_scalar(t.args[0].args[1]):
        a, c = t.args[0].args
        yield unary("Neg", unary(t.op, call(t.args[0].op, a, const(-value(c)))))


def quotient(t):
    if t.op == "Div":
        a, b = t.args
        if is_scalar(b):
            yield mul(a, const(1 / value(b)))
        else:
            yield mul(a, unary("Reciprocal", b))
    if t.op == "Mul":
        a, b = t.args
        if is_scalar(b):
            yield div(a, const(1 / value(b)))
        if b.op == "Reciprocal":
            yield div(a, b.args[0])
        if a.op == "Reciprocal":
            yield div(b, a.args[0])
    if t.op == "Reciprocal":
        yield div(const(1), t.args[0])


def move_factor(t):
    """A number times a product or quotient: it joins the other factor."""
    if t.op in ("Mul", "Div") and is_scalar(t.args[1]):
        a, c = t.args
        if a.op == "Mul":
            yield mul(call(t.op, a.args[0], c), a.args[1])
            yield mul(a.args[0], call(t.op, a.args[1], c))
        if a.op == "Div":
            yield div(call(t.op, a.args[0], c), a.args[1])


def split_factor(t):
    """A positive number as a product of two."""
    if t.op == "Mul" and is_scalar(t.args[1]) and value(t.args[1]).min() > 0:
        a, c = t.args
        root = math.sqrt(float(value(c)))
        if a.op in ("Mul", "MatMul"):
            yield call(a.op, mul(a.args[0], const(root)), mul(a.args[1], const(root)))


def powers(t):
    if t.op == "Pow" and is_scalar(t.args[1]):
        a, p = t.args[0], float(value(t.args[1]))
        if p == 2:
            yield mul(a, a)
        if p == 3:
            yield mul(mul(a, a), a)
            yield mul(a, power(a, 2))
        if p == 0.5:
            yield sqrt(a)
        if p == -0.5:
            yield unary("Reciprocal", sqrt(a))
    if t.op == "Mul" and t.args[0] == t.args[1]:
        yield power(t.args[0], 2)
    if t.op == "Sqrt":
        yield power(t.args[0], 0.5)
    if t.op == "Reciprocal" and t.args[0].op == "Sqrt":
        yield power(t.args[0].args[0], -0.5)
        yield sqrt(unary("Reciprocal", t.args[0].args[0]))
    if t.op == "Div" and t.args[1].op == "Sqrt":
        yield mul(t.args[0], power(t.args[1].args[0], -0.5))


def means(t):
    if t.op == "ReduceMean":
        x, axes = t.args[0], t["axes"]
        count = math.prod(shape_of(x)[a] for a in axes)
        yield div(total(x, *axes), const(count))
        yield mul(total(x, *axes), const(1 / count))
        if is_product_with_number(x):
            yield mul(call("ReduceMean", x.args[0], axes=axes), x.args[1])


def is_product_with_number(t):
    return t.op == "Mul" and is_scalar(t.args[1])


def sigmoids(t):
    if t.op == "Sigmoid":
        x = t.args[0]
        yield unary("Reciprocal", add(unary("Exp", unary("Neg", x)), const(1)))
        yield div(const(1), add(const(1), unary("Exp", unary("Neg", x))))
        yield mul(add(unary("Tanh", mul(x, const(0.5))), const(1)), const(0.5))


def transposes(t):
    """Transposes through elementwise operators and products."""
    if t.op == "Transpose":
        a, perm = t.args[0], t["perm"]
        if a.op in ("Mul", "Div", "Add", "Sub") and is_scalar(a.args[1]):
            yield call(a.op, transpose(a.args[0], *perm), a.args[1])
        if a.op == "Transpose":
            both = tuple(a["perm"][p] for p in perm)
            yield a.args[0] if both == tuple(range(len(both))) else transpose(a.args[0], *both)
        if a.op == "MatMul" and perm == swap(len(perm)):
            yield matmul(transpose(a.args[1], *perm), transpose(a.args[0], *perm))
    if t.op in ("Mul", "Div") and is_scalar(t.args[1]) and t.args[0].op == "Transpose":
        inner = t.args[0]
        yield transpose(call(t.op, inner.args[0], t.args[1]), *inner["perm"])
    if t.op == "MatMul" and len(shape_of(t)) == len(shape_of(t.args[0])) == len(
            shape_of(t.args[1])) and any(a.op == "Transpose" for a in t.args):
        perm = swap(len(shape_of(t)))
        yield transpose(matmul(transpose(t.args[1], *perm), transpose(t.args[0], *perm)), *perm)


def swap(rank):
    return (*range(rank - 2), rank - 1, rank - 2)


def scales(t):
    """A number beside a product of matrices."""
    if t.op in ("Mul", "Div") and is_scalar(t.args[1]) and t.args[0].op == "MatMul":
        a, b = t.args[0].args
        yield matmul(call(t.op, a, t.args[1]), b)
        yield matmul(a, call(t.op, b, t.args[1]))
    if t.op == "MatMul":
        for k in range(2):
            a = t.args[k]
            if a.op in ("Mul", "Div") and is_scalar(a.args[1]):
                operands = list(t.args)
                operands[k] = a.args[0]
                yield call(a.op, matmul(*operands), a.args[1])


def clips(t):
    if t.op == "Clip":
        x, low, high = t.args
        yield call("Min", call("Max", x, low), high)
        yield call("Max", call("Min", x, high), low)
        if value(low) == 0:
            yield call("Min", unary("Relu", x), high)


def reshapes(t):
    """Two reshapes for one."""
    if t.op == "Reshape" and t.args[0].op != "Reshape":
        yield reshape(reshape(t.args[0], math.prod(shape_of(t))), *t["shape"])


MOVES = (commute, reassociate, distribute, factor, negate, odd, quotient, move_factor, split_factor,
         powers, means, sigmoids, transposes, scales, clips, reshapes)


def parts_of(t):
    """All terms in t, each once, in a fixed order."""
    seen = {}

    def visit(part):
        if part not in seen:
            for a in part.args:
                visit(a)
            seen[part] = None
    visit(t)
    return list(seen)


def replaced(t, old, new):
    """t with `new` for every `old`."""
    done = {}

    def visit(part):
        if part == old:
            return new
        if part not in done:
            args = tuple(visit(a) for a in part.args)
            done[part] = part if args == part.args else call(part.op, *args, **dict(part.attrs))
        return done[part]
    return visit(t)


def step(t, rng):
    """One random move, the kind of move first: few kinds have most of the places."""
    by_kind = []
    for move in MOVES:
        places = [(part, new) for part in parts_of(t) for new in move(part)]
        if places:
            by_kind.append(places)
    if not by_kind:
        return t
    places = by_kind[rng.integers(len(by_kind))]
    old, new = places[rng.integers(len(places))]
    return replaced(t, old, new)


def variant(t, moves, rng):
    for _ in range(moves):
        t = step(t, rng)
    return t
