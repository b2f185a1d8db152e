"""Real numbers of the kernel as sums of products: docs/kernel.md, once more.

A sum is a tuple of products, and stands for what these add up to. Nothing here is changed in place;
two terms that are equal as Python values are the same as they stand.
"""
from fractions import Fraction
from typing import NamedTuple

from . import sizes
from .sizes import LARGEST, Refused, number, plus, symbol, times

MOST_PRODUCTS = 4_000


class Atom(NamedTuple):
    """A factor. kind: read, over (1 over a polynomial), integer, apply, max, unknown."""
    kind: str
    head: object = None  # the number of an input, the name of a function
    positions: tuple = ()
    real: str = ""
    argument: tuple | None = None
    bound: tuple = ()
    guard: tuple = ()


class Product(NamedTuple):
    coefficient: Fraction = Fraction(1)
    bound: tuple = ()
    guard: tuple = ()
    atoms: tuple = ()


def fraction(n, d=1):
    if d == 0 or -LARGEST in (n, d):
        raise Refused("that is no fraction")
    return small(Fraction(n, d))


def small(c):
    if not (-LARGEST < c.numerator < LARGEST and c.denominator < LARGEST):
        raise Refused("a number is too large")
    return c


def over(c):
    if not c:
        raise Refused("1 over the number 0")
    return 1 / c


def sum_of(atom):
    return (Product(atoms=(atom,)),)


def constant(c):
    return (Product(c),) if c else ()


def apply(function, argument):
    return sum_of(Atom("apply", function, argument=argument))


def scaled(s, c):
    return tuple(p._replace(coefficient=small(p.coefficient * c)) for p in s)


def difference(a, b):
    return a + scaled(b, Fraction(-1))


# ---- Symbols in polynomials, facts and terms ----

def in_poly(symbols, p, name):
    return any(_in_symbol(symbols, s, name) for product in p for s in product)


def _in_symbol(symbols, s, name):
    if isinstance(s, str):
        return s == name
    inner = [dict(part) for part in s[-2:]]
    if s[0] == "lookup":
        inner += symbols.tables[s[1]]
    return any(in_poly(symbols, part, name) for part in inner)


def in_fact(symbols, fact, name):
    if fact[0] in ("ge", "eq"):
        return in_poly(symbols, fact[1], name)
    return any(in_fact(symbols, part, name) for part in fact[1])


def within_product(symbols, p, name):
    """In guard or factors, whether the product binds it or not."""
    if any(in_fact(symbols, f, name) for f in p.guard):
        return True
    for a in p.atoms:
        if any(in_poly(symbols, e, name) for e in a.positions):
            return True
        if name in a.bound:
            continue
        if any(in_fact(symbols, f, name) for f in a.guard) or free_in(symbols, a.argument or (), name):
            return True
    return False


def free_in(symbols, s, name):
    return any(name not in p.bound and within_product(symbols, p, name) for p in s)


def only_symbol(p):
    """The symbol that p is; None: it is none."""
    for product in p:
        if len(product) == 1 and p == symbol(product[0]):
            return product[0]
    return None


def in_order(symbols, p):
    """The terms of a polynomial by the order in which names were made, constants first."""
    names = {name: (0, k) for k, name in enumerate(symbols.least)}
    rank = lambda s: names.get(s) or (1, repr(s))
    terms = [(tuple(sorted(product, key=rank)), c) for product, c in p.items()]
    return sorted(terms, key=lambda term: [rank(s) for s in term[0]])


# ---- Replacement: values is a dictionary from names to polynomials ----

def put_poly(symbols, p, values):
    result = {}
    for product, c in p.items():
        term = number(c)
        for s in product:
            term = times(term, _put_symbol(symbols, s, values))
        result = plus(result, term)
    return result


def _put_symbol(symbols, s, values):
    if isinstance(s, str):
        return values[s] if s in values else symbol(s)
    if s[0] == "quotient":
        n, d = (sizes.frozen(put_poly(symbols, dict(part), values)) for part in s[1:])
        return symbol(("quotient", n, d))
    entries = [put_poly(symbols, e, values) for e in symbols.tables[s[1]]]
    if entries not in symbols.tables:
        symbols.tables.append(entries)
    i, b = (sizes.frozen(put_poly(symbols, dict(part), values)) for part in s[2:])
    return symbol(("lookup", symbols.tables.index(entries), i, b))


def put_fact(symbols, fact, values):
    form, what = fact
    if form in ("ge", "eq"):
        return form, put_poly(symbols, what, values)
    return form, [put_fact(symbols, part, values) for part in what]


def put(symbols, s, values):
    for p in s:
        _check_scope(symbols, p.bound, values)
    return tuple(put_inside(symbols, p, values) for p in s)


def put_inside(symbols, p, values):
    """In guard and factors; what is bound stays."""
    return p._replace(guard=tuple(put_fact(symbols, f, values) for f in p.guard),
                      atoms=tuple(put_atom(symbols, a, values) for a in p.atoms))


def put_atom(symbols, a, values):
    _check_scope(symbols, a.bound, values)
    return a._replace(positions=tuple(put_poly(symbols, e, values) for e in a.positions),
                      guard=tuple(put_fact(symbols, f, values) for f in a.guard),
                      argument=None if a.argument is None else put(symbols, a.argument, values))


def _check_scope(symbols, bound, values):
    for name in bound:
        if name in values or any(in_poly(symbols, e, name) for e in values.values()):
            raise Refused("an index is bound twice")


# ---- Products of sums ----

def multiplied(symbols, a, b):
    if len(a) * len(b) > MOST_PRODUCTS:
        raise Refused("a formula is too large")
    return tuple(_both(symbols, p, q) for p in a for q in b)


def _both(symbols, p, q):
    for one, other in ((p, q), (q, p)):
        if any(s in other.bound or within_product(symbols, other, s) for s in one.bound):
            raise Refused("an index is bound twice")
    return Product(small(p.coefficient * q.coefficient), p.bound + q.bound, p.guard + q.guard,
                   p.atoms + q.atoms)


def only_product(s):
    """Of a sum that adds nothing up."""
    if len(s) != 1 or s[0].bound or s[0].guard or not s[0].coefficient:
        raise Refused("the argument is no single product")
    return s[0]


# ---- Functions, by name: what analysis knows of them ----

class Row(NamedTuple):
    domain: str = "everywhere"
    sign: str = "any"
    at_zero: bool = False     # f(0) = 0
    at_one: bool = False      # f(1) = 1
    idempotent: bool = False
    odd: bool = False
    increasing: bool = False
    rounds: bool = False      # its values are whole
    bounds: tuple | None = None


FUNCTIONS = {
    "relu": Row(sign="positive part", at_zero=True, at_one=True, idempotent=True, increasing=True),
    "sigmoid": Row(sign="positive", increasing=True, bounds=(0, 1)),
    "tanh": Row(sign="argument", at_zero=True, odd=True, increasing=True, bounds=(-1, 1)),
    "exp": Row(sign="positive", increasing=True),
    "sqrt": Row("not negative", "argument", at_zero=True, at_one=True, increasing=True),
    "erf": Row(sign="argument", at_zero=True, odd=True, increasing=True, bounds=(-1, 1)),
    "recip": Row("not zero", "argument", at_one=True, odd=True),
    "log": Row("positive", increasing=True),
    "step": Row(sign="positive part", at_zero=True, at_one=True, idempotent=True, increasing=True,
                rounds=True, bounds=(-1, 2)),
    "floor": Row(sign="from below", at_zero=True, at_one=True, idempotent=True, increasing=True,
                 rounds=True),
    "trunc": Row(sign="towards zero", at_zero=True, at_one=True, idempotent=True, odd=True,
                 increasing=True, rounds=True),
    "round": Row(sign="towards zero", at_zero=True, at_one=True, idempotent=True, odd=True,
                 increasing=True, rounds=True),
    "sin": Row(at_zero=True, odd=True, bounds=(-2, 2)),
    "cos": Row(bounds=(-2, 2)),
    "is-nan": Row(), "is-inf": Row(),
    "half": Row(sign="towards zero", at_zero=True, odd=True, increasing=True),
    "brain": Row(sign="towards zero", at_zero=True, odd=True, increasing=True),
    "single": Row(sign="towards zero", at_zero=True, odd=True, increasing=True),
}
DOMAINS = {"everywhere": frozenset((-1, 0, 1)), "not zero": frozenset((-1, 1)),
           "not negative": frozenset((0, 1)), "positive": frozenset((1,))}

# ---- Signs: sets of -1, 0, 1 ----

ANY, ZERO, POSITIVE = DOMAINS["everywhere"], frozenset((0,)), frozenset((1,))
NOT_NEGATIVE, NOT_ZERO = DOMAINS["not negative"], DOMAINS["not zero"]
SIGNS = {"<": frozenset((-1,)), "<=": frozenset((-1, 0)), "=": ZERO, ">": POSITIVE,
         ">=": NOT_NEGATIVE, "<>": NOT_ZERO}


def sign_of_number(c):
    return frozenset(((c > 0) - (c < 0),))


def signs_added(a, b):
    return frozenset(s for x in a for y in b for s in ((-1, 0, 1) if x * y < 0 else (x or y,)))


def signs_multiplied(a, b):
    return frozenset(x * y for x in a for y in b)


def read_signs(word):
    if word not in SIGNS:
        raise Refused("a sign was expected")
    return SIGNS[word]


def sign(symbols, known, s):
    """Of a sum, by its form and by what is known: a list of sums and their signs."""
    total = ZERO
    for p in s:
        total = signs_added(total, _sign_of_product(symbols, known, p))
    return _said(known, s, total)


def _said(known, s, signs):
    for other, of in known:
        if other == s:
            signs &= of
        if other == scaled(s, Fraction(-1)):
            signs &= frozenset(-x for x in of)
    return signs


def _sign_of_product(symbols, known, p):
    free = [k for k in known if not any(free_in(symbols, k[0], s) for s in p.bound)]
    signs, atoms = POSITIVE, list(p.atoms)
    while atoms:
        a = atoms.pop(0)
        of = _sign_of_atom(symbols, free, a)
        if a in atoms:  # a square
            atoms.remove(a)
            of = frozenset(x * x for x in of)
        signs = signs_multiplied(signs, of)
    if p.bound or p.guard:
        signs |= ZERO
    if p.atoms or signs != POSITIVE:
        signs = _said(known, (p._replace(coefficient=Fraction(1)),), signs)
    return signs_multiplied(sign_of_number(p.coefficient), signs)


def _sign_of_atom(symbols, known, a):
    signs = ANY
    if a.kind == "apply":
        signs = _image(FUNCTIONS[a.head], sign(symbols, known, a.argument))
    elif a.kind == "unknown" and a.real.startswith("#"):  # the bits of a double that is not 0
        signs = SIGNS["<" if a.real[1:2] == "-" else ">"]
    elif a.kind == "over":
        signs = _sign_of_atom(symbols, known, a._replace(kind="integer"))
    elif a.kind == "integer":
        least = symbols.least.get(only_symbol(a.positions[0]))
        if least is not None and least >= 0:
            signs = POSITIVE if least > 0 else NOT_NEGATIVE
    return _said(known, sum_of(a), signs)


def _image(row, x):
    if row.sign == "positive":
        return POSITIVE
    if row.sign == "positive part":
        return (x & POSITIVE) | (frozenset() if x <= POSITIVE else ZERO)
    if row.sign == "argument":
        return ANY if row.domain == "not negative" and -1 in x else x
    if row.sign == "from below":
        return x | (ZERO if 1 in x else frozenset())
    if row.sign == "towards zero":
        return x | ZERO
    return ANY
