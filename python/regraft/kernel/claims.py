"""What a rule claims, from the operators' formulas as trees: docs/kernel.md, once more.

A formula is read, its choices are written out and its indices named; then what it evaluates is
listed, and it is multiplied out. These are separate passes, where the other kernel has one.
"""
import math
import struct
from fractions import Fraction
from typing import NamedTuple

from . import sizes
from .sizes import Refused, integer, literals, minus, negated, number, symbol, take
from .terms import (FUNCTIONS, Atom, apply, constant, difference, fraction, multiplied, put_fact,
                    put_poly, read_signs, scaled, sum_of)

DEPTH = 2_000
NO_BOUND = Fraction(2 ** 24 - 1) * 2 ** 104  # the largest number of 32 bits, or more
ARITHMETIC = ("plus", "minus", "times", "quotient", "least", "greatest")


class Partial(NamedTuple):
    """What is not defined everywhere, for the values of `bound` that satisfy `guard`."""
    atom: Atom
    bound: tuple
    guard: tuple


class Output(NamedTuple):
    given: list
    known: tuple
    needed: list
    left: tuple
    right: tuple
    partial_left: list
    partial_right: list


class Claim(NamedTuple):
    symbols: sizes.Symbols
    given: list
    needed: list
    outputs: list


# ---- Trees: (kind, ...) with parts last ----

class _Reader:
    """A tree from words, which are Polish notation."""

    def __init__(self, symbols, words):
        self.symbols, self.words, self.names = symbols, words, []

    def poly(self):
        return self.symbols.read(take(self.words))

    def polys(self, count):
        return tuple(self.poly() for _ in range(count))

    def count(self):
        n = integer(take(self.words))
        if not 0 <= n <= 100:
            raise Refused("a number of positions was expected")
        return n

    def bind(self, count):
        """Names that may stand in what follows."""
        names = [take(self.words) for _ in range(count)]
        for name in names:
            if name not in self.symbols.least:
                self.symbols.make(name)
                self.names.append(name)
        return names

    def tree(self, depth=0):
        if depth > DEPTH:
            raise Refused("a formula is nested too deeply")
        kind = take(self.words)
        parts = {"select": 2, "choose": 3, "apply": 1, "clip": 3, "sum": 1, "max": 1}
        more = lambda: [self.tree(depth + 1) for _ in range(parts.get(kind, 2))]
        if kind == "number":
            return kind, fraction(integer(take(self.words)), integer(take(self.words)))
        if kind == "real":
            return real(take(self.words))
        if kind in ("over", "integer"):
            return kind, self.poly()
        if kind == "read":
            return kind, integer(take(self.words)), self.polys(self.count())
        if kind in (*ARITHMETIC, "choose", "clip"):
            return kind, more()
        if kind == "apply":
            name = take(self.words)
            if name not in FUNCTIONS:
                raise Refused(f"there is no function {name[:40]}")
            return kind, name, more()
        if kind == "select":
            return kind, sizes.read_fact(self.symbols, self.words), more()
        if kind in ("sum", "max"):
            names = self.bind(1 if kind == "sum" else self.count())
            extents = self.polys(len(names))
            where = sizes.read_fact(self.symbols, self.words) if kind == "max" else ("all", [])
            return kind, names, extents, where, more()
        raise Refused(f"there is no formula {kind[:40]}")


class _Naming:
    """The tree again: each index has its own name, choices are products, clips are relus."""

    def __init__(self, symbols):
        self.symbols, self.next = symbols, 0

    def name(self):
        while True:
            name, self.next = f"k{self.next}", self.next + 1
            if name not in self.symbols.least:
                self.symbols.make(name)
                return name

    def named(self, tree, names):
        kind, *what = tree
        poly = lambda p: put_poly(self.symbols, p, names)
        part = lambda k, inside=names: self.named(what[-1][k], inside)
        if kind in ("over", "integer"):
            return kind, poly(what[0])
        if kind == "read":
            return kind, what[0], tuple(poly(p) for p in what[1])
        if kind in ARITHMETIC:
            return kind, [part(0), part(1)]
        if kind == "choose":  # each of its parts is read in this order
            return kind, [part(0), part(0), part(1), part(2), part(2)]
        if kind == "apply":
            return kind, what[0], [part(0)]
        if kind == "clip":
            return kind, [part(0), part(1), part(2)]
        if kind == "select":
            condition = put_fact(self.symbols, what[0], names)
            return kind, condition, [part(0), part(1)]
        if kind in ("sum", "max"):
            inside, bound, ranges = dict(names), [], []
            for old, extent in zip(what[0], what[1]):
                new = self.name()
                inside[old] = symbol(new)
                last = minus(minus(put_poly(self.symbols, extent, inside), symbol(new)), number(1))
                ranges += [("ge", symbol(new)), ("ge", last)]
                bound.append(new)
            where = put_fact(self.symbols, what[2], inside)
            return kind, tuple(bound), tuple(ranges + literals(where)), [part(0, inside)]
        return tree


def real(text):
    """A double, exactly, or a variable, as a tree."""
    if not text.startswith("#"):
        return "unknown", text
    x = struct.unpack("<d", struct.pack("<q", integer(text[1:])))[0]
    if not math.isfinite(x):
        raise Refused("a number is none")
    exact = Fraction(x)
    if 1024 % exact.denominator == 0 and abs(exact * 1024) < 10 ** 9:
        return "number", exact
    return ("unknown", text, exact) if abs(exact) < NO_BOUND else ("large", text, exact)


# ---- Values ----

def value(symbols, tree):
    """The sum of products that a named tree is."""
    kind, *what = tree
    part = lambda k: value(symbols, what[-1][k])
    if kind == "number":
        return constant(what[0])
    if kind in ("unknown", "large"):
        return sum_of(Atom("unknown", real=what[0]))
    if kind in ("over", "integer"):
        return sum_of(Atom(kind, positions=(what[0],)))
    if kind == "read":
        return sum_of(Atom(kind, what[0], what[1]))
    if kind == "apply":
        return apply(what[0], part(0))
    if kind in ARITHMETIC:
        return arithmetic(symbols, kind, part(0), part(1))
    if kind == "clip":
        return clipped(part(0), *what[-1][1:], part(1), part(2))
    if kind == "select":
        yes, no = tuple(literals(what[0])), tuple(literals(negated(what[0])))
        return (tuple(p._replace(guard=yes + p.guard) for p in part(0)) +
                tuple(p._replace(guard=no + p.guard) for p in part(1)))
    if kind == "choose":
        chosen = multiplied(symbols, part(0), part(2))
        left_out = multiplied(symbols, part(1), part(4))
        return chosen + part(3) + scaled(left_out, Fraction(-1))
    if kind == "sum":
        return tuple(p._replace(bound=what[0] + p.bound, guard=what[1] + p.guard) for p in part(0))
    return sum_of(Atom("max", argument=part(0), bound=what[0], guard=what[1]))


def arithmetic(symbols, kind, a, b):
    if kind == "plus":
        return a + b
    if kind == "minus":
        return difference(a, b)
    if kind == "least":
        return difference(a, apply("relu", difference(a, b)))
    if kind == "greatest":
        return b + apply("relu", difference(a, b))
    return multiplied(symbols, a, apply("recip", b) if kind == "quotient" else b)


def clipped(x, from_tree, to_tree, low, high):
    """min(max(x, low), high), where a bound that is too large is none."""
    no_low, no_high = from_tree[0] == "large", to_tree[0] == "large"
    if no_low and from_tree[2] > 0 or no_high and to_tree[2] < 0:
        raise Refused("a clip leaves nothing")
    if no_low:
        return x if no_high else difference(high, apply("relu", difference(high, x)))
    raised = apply("relu", difference(x, low))
    if no_high:
        return low + raised
    return difference(high, apply("relu", difference(difference(high, low), raised)))


def partial(symbols, tree, count_choices, bound=(), guard=()):
    """What is evaluated and is not defined everywhere, in order; inner ones first."""
    kind, *what = tree
    found = []
    if kind == "choose":
        for k, part in enumerate(what[-1]):
            if k < 2 or count_choices:
                found += partial(symbols, part, count_choices, bound, guard)
        return found
    if kind == "select":
        for part, condition in zip(what[-1], (what[0], negated(what[0]))):
            found += partial(symbols, part, count_choices, bound, guard + tuple(literals(condition)))
        return found
    more = (what[0], what[1]) if kind in ("sum", "max") else ((), ())
    for part in what[-1] if isinstance(what[-1], list) else []:
        found += partial(symbols, part, count_choices, bound + more[0], guard + more[1])
    if kind == "quotient":
        found.append(Partial(apply("recip", value(symbols, what[-1][1]))[0].atoms[0], bound, guard))
    if kind in ("over", "max") or kind == "apply" and FUNCTIONS[what[0]].domain != "everywhere":
        found.append(Partial(value(symbols, tree)[0].atoms[0], bound, guard))
    return found


# ---- Claims ----

def _side(symbols, words, count_choices):
    reader = _Reader(symbols, words)
    tree = reader.tree()
    if words:
        raise Refused("a formula goes on after its end")
    for name in reader.names:  # they mean nothing outside of the tree
        del symbols.least[name]
    named = _Naming(symbols).named(tree, {})
    return value(symbols, named), partial(symbols, named, count_choices)


def read_claim(lines):
    """Of the lines of a claim."""
    symbols, given, known, needed, outputs = sizes.Symbols(), [], [], [], []
    claimed = set()
    for line in lines:
        words = sizes.words_of(line)
        kind = take(words)
        if kind in ("size", "index"):
            claimed.add(words[0] if words else "")
            symbols.make(take(words), integer(take(words)) if kind == "size" else None)
        elif kind == "table":
            symbols.tables.append([symbols.read(w) for w in words])
            words = []
        elif kind == "given":
            given += literals(sizes.read_fact(symbols, words))
        elif kind == "needed":
            needed.append(sizes.read_fact(symbols, words))
        elif kind == "output":
            outputs.append({"given": list(given), "known": tuple(known), "needed": []})
        elif kind == "known":
            signs = read_signs(take(words))
            known.append((_side(symbols, words, False)[0], signs))
        elif not outputs:
            raise Refused("an output was expected")
        elif kind == "position":
            at, extent = symbols.read(take(words)), symbols.read(take(words))
            outputs[-1]["given"] += [("ge", at), ("ge", minus(minus(extent, at), number(1)))]
        elif kind == "requires":
            fact = sizes.read_fact(symbols, words)
            outputs[-1]["needed"] += [fact] if fact != ("all", []) else []
        elif kind in ("left", "right"):
            side, words = _side(symbols, words, kind == "right"), []
            outputs[-1][kind], outputs[-1]["partial_" + kind] = side
        else:
            raise Refused(f"a claim has no {kind[:40]}")
        if words:
            raise Refused("a line of a claim has too many words")
    symbols.claimed = claimed
    if not outputs or any(len(o) != len(Output._fields) for o in outputs):
        raise Refused("a claim is not complete")
    return Claim(symbols, given, needed, [Output(**o) for o in outputs])
