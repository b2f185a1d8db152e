"""Laws: what factors of a product are equal to. docs/kernel.md has the table.

Each law gets a Place and returns a sum; Refused: it does not hold there, or is not known to.
"""
from fractions import Fraction
from typing import NamedTuple

from .sizes import Refused, integer, minus, symbol, take
from .terms import (DOMAINS, FUNCTIONS, NOT_NEGATIVE, POSITIVE, SIGNS, ZERO, Atom, Product, apply, constant,
                    fraction, free_in, in_poly, multiplied, only_product, over, put, scaled, sign, sum_of)


class Place(NamedTuple):
    """Factors of a product, what holds there, and the line that is read."""
    context: object
    atoms: tuple
    line: object

    @property
    def symbols(self):
        return self.context.symbols

    @property
    def known(self):
        return self.context.known

    @property
    def words(self):
        return self.line.words

    @property
    def f(self):
        return self.atoms[0].head if self.atoms[0].kind == "apply" else None

    @property
    def x(self):
        if self.atoms[0].argument is None:
            raise Refused("the factor is no function")
        return self.atoms[0].argument

    @property
    def row(self):
        if self.f is None:
            raise Refused("the factor is no function")
        return FUNCTIONS[self.f]

    @property
    def maximum(self):
        return self.atoms[0].kind == "max"

    def of(self, x):
        """The function, or the maximum over the same range, of x."""
        return sum_of(self.atoms[0]._replace(argument=x))

    def need_constant(self, x=()):
        """The factor is a maximum of something, in which x is one number."""
        if any(free_in(self.symbols, x, name) for name in self.atoms[0].bound):
            raise Refused("an index stands outside of its range")
        self.context.need_reached(self.atoms[0], self.line.word(), self.line)

    def has(self, s, signs):
        return sign(self.symbols, self.known, s) <= signs

    def need(self, s, signs):
        if not self.has(s, signs):
            raise Refused("the sign is not known")

    def product(self, a, b):
        return multiplied(self.symbols, a, b)

    def index(self, end):
        return index(take(self.words), end)


def digits(word, end):
    """The same, of digits alone: in paths and terms."""
    if not word.isdigit():
        raise Refused("a number was expected")
    return index(word, end)


def index(word, end):
    n = integer(word)
    if not 0 <= n < end:
        raise Refused(f"there is no number {n}")
    return n


def read_list(word, end):
    if word == "-":
        return []
    places = [index(w, end) for w in word.split(",")]
    if len(set(places)) < len(places):
        raise Refused("a list of numbers was expected")
    return places


def only(at, *functions):
    if at.f not in functions:
        raise Refused("there is no such law of that function")


def without(items, places):
    return tuple(x for k, x in enumerate(items) if k not in places)


def take_common(symbols, s, words):
    """The factors that each product has at the places that are named for it, and what they leave."""
    rest, y = [], None
    for p in s:
        places = read_list(take(words), len(p.atoms))
        atoms = tuple(p.atoms[k] for k in places)
        if y is not None and atoms != y:
            raise Refused("the factors differ")
        y = atoms
        if any(free_in(symbols, sum_of(a), name) for a in y for name in p.bound):
            raise Refused("the factor is bound")
        rest.append(p._replace(atoms=without(p.atoms, places)))
    if y is None:
        raise Refused("there is no factor")
    return (Product(atoms=y),), tuple(rest)


def positive(at):
    only(at, "relu", "step")
    at.need(at.x, NOT_NEGATIVE if at.f == "relu" else POSITIVE)
    return at.x if at.f == "relu" else constant(Fraction(1))


def negative(at):
    only(at, "relu", "step")
    at.need(at.x, SIGNS["<="])
    return ()


def of_number(at):
    x = at.x
    if len(x) > 1 or x and x[0]._replace(coefficient=None) != Product(None):
        raise Refused("the argument is no number")
    c = x[0].coefficient if x else Fraction(0)
    if at.maximum:
        at.need_constant()
        return constant(c)
    row = at.row
    values = {("exp", 0): 1, ("cos", 0): 1, ("log", 1): 0, ("recip", 0): 0}
    if (at.f, c) in values:
        return constant(Fraction(values[at.f, c]))
    if c == 0 and row.at_zero or c == 1 and row.at_one:
        return constant(c)
    if at.f == "recip":
        return constant(1 / c)
    if at.f in ("floor", "trunc"):
        return constant(Fraction(int(c) if at.f == "trunc" else c.numerator // c.denominator))
    only(at, "sqrt")
    root = fraction(integer(take(at.words)), integer(take(at.words)))
    if root < 0 or root * root != c:
        raise Refused("that is not the root")
    return constant(root)


def whole(a):
    if a.kind == "integer":
        return True
    rounds = a.kind == "apply" and FUNCTIONS[a.head].rounds
    return rounds or (a.kind == "apply" and a.head == "relu" and whole_sum(a.argument))


def whole_sum(s):
    return all(p.coefficient.denominator == 1 and all(map(whole, p.atoms)) for p in s)


def again(at):
    x, row = at.x, at.row
    if at.f in ("floor", "trunc", "round") and whole_sum(x):
        return x
    p = only_product(x)
    plain = p.coefficient == 1
    inner = p.atoms[0].head if len(p.atoms) == 1 and p.atoms[0].kind == "apply" else None
    if plain and at.f in ("half", "brain", "single"):
        if all(a.kind == "apply" and a.head == "step" for a in p.atoms):
            return x
        if inner == at.f or at.f == "single" and inner in ("half", "brain"):
            return x
    if plain and inner == at.f and row.idempotent:
        return x
    raise Refused("the function may change that")


def part(at):
    k = at.index(len(at.x))
    n = at.x[k]
    if at.maximum:
        at.need_constant((n,))
    else:
        only(at, "floor")
        if not whole_sum((n,)):
            raise Refused("the part is not known to be whole")
    return at.of(without(at.x, [k])) + (n,)


def multiple(at):
    c = fraction(integer(take(at.words)), integer(take(at.words)))
    if not c:
        raise Refused("a multiple by 0")
    of = at.of(scaled(at.x, 1 / c))
    if at.maximum and c > 0:
        at.need_constant()
        return scaled(of, c)
    row = at.row
    if at.f == "recip":
        return scaled(of, 1 / c)
    if at.f == "relu" and c > 0 or row.odd and c == -1:
        return scaled(of, c)
    if at.f == "step" and c > 0 or at.f == "cos" and c == -1:
        return of
    raise Refused("the function is no multiple there")


def by_exp(at):
    only(at, "sigmoid", "tanh")
    one = constant(Fraction(1))
    of = lambda c: apply("recip", one + apply("exp", scaled(at.x, Fraction(c))))
    return of(-1) if at.f == "sigmoid" else one + scaled(of(2), Fraction(-2))


def exponents(at):
    only(at, "exp")
    chosen = []
    while at.words:
        chosen.append(at.index(len(at.x)))
    x = tuple(p for k, p in enumerate(at.x) if k in chosen)
    return at.product(apply("exp", x), apply("exp", without(at.x, chosen)))


def equal_parts(at):
    n = integer(take(at.words))
    only(at, "exp")
    if not 1 <= n <= 16:
        raise Refused("no such power")
    one = result = apply("exp", scaled(at.x, Fraction(1, n)))
    for _ in range(n - 1):
        result = at.product(result, one)
    return result


def both(at):
    a, b = at.atoms
    only(at, "exp", "sqrt")
    if b.kind != "apply" or b.head != at.f or at.f == "sqrt" and a != b:
        raise Refused("the factors are others")
    if at.f == "exp":
        return apply("exp", a.argument + b.argument)
    at.need(at.x, NOT_NEGATIVE)
    return at.x


def undo(at):
    p = only_product(at.x)
    if p.coefficient == 1 and p.atoms:
        a = p.atoms[0]
        inner = a.head if a.kind == "apply" and len(p.atoms) == 1 else None
        if at.f == "sqrt" and p.atoms == (a, a):
            at.need(sum_of(a), NOT_NEGATIVE)
            return sum_of(a)
        if (at.f, inner) == ("log", "exp"):
            return a.argument
        if (at.f, inner) == ("exp", "log"):
            at.need(a.argument, POSITIVE)
            return a.argument
    raise Refused("there is nothing to undo")


def factors(at):
    p = only_product(at.x)
    chosen = set()
    while at.words:
        chosen.add(at.index(len(p.atoms)))
    only(at, "log", "sqrt")
    x = (Product(atoms=tuple(a for k, a in reversed([*enumerate(p.atoms)]) if k in chosen)),)
    y = (p._replace(atoms=without(p.atoms, chosen)),)
    for s in (x, y):
        at.need(s, POSITIVE if at.f == "log" else NOT_NEGATIVE)
    one, other = apply(at.f, x), apply(at.f, y)
    return one + other if at.f == "log" else at.product(one, other)


def inverse(at):
    only(at, "recip")
    p = only_product(at.x)
    result = constant(1 / p.coefficient)
    for a in p.atoms:
        result = at.product(result, _inverse_of(at, a))
    return result


def _inverse_of(at, a):
    if a.kind in ("integer", "over"):
        return sum_of(a._replace(kind="over" if a.kind == "integer" else "integer"))
    inner = a.head if a.kind == "apply" else None
    if inner == "recip":
        return a.argument
    if inner == "exp":
        return apply("exp", scaled(a.argument, Fraction(-1)))
    if inner == "sqrt" and at.has(a.argument, NOT_NEGATIVE):
        return at.product(sum_of(a), apply("recip", a.argument))
    return apply("recip", sum_of(a))


def common(at):
    of, rest = take_common(at.symbols, at.x, at.words)
    if at.maximum:
        at.need(of, NOT_NEGATIVE)
        at.need_constant(of)
        return at.product(of, at.of(rest))
    only(at, "recip", "step", "relu", "sqrt")
    inner = at.of(rest)
    if at.f == "recip":
        return at.product(apply("recip", of), inner)
    at.need(of, POSITIVE if at.f == "step" else NOT_NEGATIVE)
    if at.f == "step":
        return inner
    if at.f == "relu":
        return at.product(of, inner)
    at.need(rest, NOT_NEGATIVE)
    return at.product(apply("sqrt", of), inner)


def fact(at):
    s = at.known[at.index(len(at.known))][0]
    if not at.has(s, ZERO):
        raise Refused("that may differ from 0")
    t = at.index(len(s))
    p = only_product((s[t],))
    if p.atoms != at.atoms:
        raise Refused("the factors are others")
    return scaled(without(s, [t]), -over(p.coefficient))


def over_quotient(at):
    only(at, "sqrt", "log")
    p = only_product(at.x)
    inner = p.atoms[0] if p.coefficient == 1 and len(p.atoms) == 1 else None
    if inner is None or inner.kind != "apply" or inner.head != "recip":
        raise Refused("the argument is no quotient")
    x = inner.argument
    if at.f == "log":
        at.need(x, POSITIVE)
        return scaled(apply("log", x), Fraction(-1))
    at.need(x, NOT_NEGATIVE)
    return at.product(apply("sqrt", x), apply("recip", x))


def only_value(at):
    """A maximum whose indices have one value each."""
    (a,) = at.atoms
    if a.kind != "max":
        raise Refused("that is no maximum")
    values = at.context.values(a.bound, at.line)
    if any(in_poly(at.symbols, e, name) for e in values.values() for name in a.bound):
        raise Refused("an index stands outside of its range")
    inside = at.context.only_facts().within(a.bound, a.guard)
    for name in a.bound:
        inside.need(("eq", minus(symbol(name), values[name])), at.line)
    at.context.need_reached(a, at.line.word(), at.line)
    return put(at.symbols, a.argument, values)


def increasing(at):
    """A maximum of values of an increasing function."""
    (a,) = at.atoms
    if a.kind != "max":
        raise Refused("that is no maximum")
    p = only_product(a.argument)
    if p.coefficient != 1 or len(p.atoms) != 1 or p.atoms[0].kind != "apply":
        raise Refused("the argument is no function")
    g, x = p.atoms[0].head, p.atoms[0].argument
    inside = at.context.within(a.bound, a.guard)
    if not FUNCTIONS[g].increasing or not inside.sign(x) <= DOMAINS[FUNCTIONS[g].domain]:
        raise Refused("the function may not increase")
    at.need_constant()
    return apply(g, at.of(x))


LAWS = {"positive": positive, "negative": negative, "number": of_number, "again": again,
        "part": part, "times": multiple, "by-exp": by_exp, "exponents": exponents, "equal-parts": equal_parts,
        "both": both, "undo": undo, "factors": factors, "inverse": inverse, "common": common,
        "fact": fact, "over": over_quotient, "only": only_value, "increasing": increasing}
FACTORS = {"both": 2, "fact": None}  # of others one
