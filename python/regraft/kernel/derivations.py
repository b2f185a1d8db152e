"""Derivations: why a claim holds, step by step. docs/kernel.md, once more.

Nothing is searched for: each step is followed as it stands, or refused.
"""
from fractions import Fraction
from typing import NamedTuple

from . import sizes
from .laws import FACTORS, LAWS, Place, digits, index, read_list, take_common, without
from .sizes import Refused, integer, literals, minus, negated, number, plus, symbol, take
from .terms import (ANY, DOMAINS, FUNCTIONS, NOT_NEGATIVE, NOT_ZERO, POSITIVE, ZERO, Atom, Product,
                    constant, difference, fraction, free_in, in_fact, in_order, in_poly, multiplied,
                    only_product, only_symbol, over, put, put_atom, put_fact, put_inside, put_poly,
                    read_signs, scaled, sign, sign_of_number, signs_added, signs_multiplied, small,
                    sum_of, within_product)

NESTED, PRODUCTS = 40, 5_000


class Line:
    """"NAME WORD ... | CERTIFICATE | CERTIFICATE ..."."""

    def __init__(self, text):
        words, *self.certificates = text.split("|")
        self.words = sizes.words_of(words)

    def word(self):
        return take(self.words)

    def index(self, end):
        return index(self.word(), end)

    def certificate(self):
        if not self.certificates:
            raise Refused("a certificate is missing")
        return self.certificates.pop(0)

    def finish(self):
        if self.words or self.certificates:
            raise Refused("a line has too many parts")


class Lines:
    def __init__(self, text):
        self.rest = [line for line in text.split("\n") if line.strip(" ")][::-1]

    def next(self):
        if not self.rest:
            raise Refused("the derivation ends too early")
        return Line(self.rest.pop())


class Context(NamedTuple):
    """What holds: facts, and sums with the signs that they may have."""
    symbols: sizes.Symbols
    facts: tuple
    known: tuple = ()
    defined: list | None = None
    depth: int = 0

    def within(self, bound, guard):
        if any(in_fact(self.symbols, f, s) for s in bound for f in self.facts):
            raise Refused("a fact mentions a bound index")
        if any(free_in(self.symbols, k, s) for s in bound for k, _ in self.known):
            raise Refused("what is known mentions a bound index")
        return self._replace(facts=self.facts + tuple(guard))

    def only_facts(self):
        return self._replace(known=())

    def index(self, name):
        """The index of that name, which is made if it is not there."""
        if name in self.symbols.claimed:
            raise Refused("that names no index")
        if name not in self.symbols.least:
            self.symbols.make(name)
        return name

    def check_free(self, a, names):
        if any(free_in(self.symbols, sum_of(a), s) for s in names):
            raise Refused("an index stands outside of its range")

    def learnt(self, s, signs):
        if len(s) == 1 and s[0].coefficient:
            signs = signs_multiplied(signs, sign_of_number(s[0].coefficient))
            s = (s[0]._replace(coefficient=Fraction(1)),)
        return self._replace(known=self.known + ((s, signs),))

    def plain(self, fact):
        form, what = fact
        if form == "all":
            return all(map(self.plain, what))
        c = sizes.constant(what) if form != "any" else None
        if c is not None and (c == 0 or form == "ge" and c > 0):
            return True
        return fact in self.facts

    def need(self, fact, line):
        if not self.plain(fact):
            sizes.check_implied(self.symbols, self.facts, fact, line.certificate())

    def refute(self, line):
        sizes.check_unsatisfiable(self.symbols, self.facts, line.certificate())

    def sign(self, s):
        return sign(self.symbols, self.known, s)

    # Maps between ranges; a range is a product or a factor, of which bound and guard are asked for.

    def values(self, names, line):
        return {name: self.symbols.read(line.word()) for name in names}

    def need_guard(self, guard, values, line):
        for f in guard:
            self.need(put_fact(self.symbols, f, values), line)

    def bijection(self, a, b, line):
        """b's indices over a's."""
        to, back = self.values(b.bound, line), self.values(a.bound, line)
        for names, others, maps in ((b.bound, a.bound, to), (a.bound, b.bound, back)):
            if any(in_poly(self.symbols, e, s) for s in names if s not in others for e in maps.values()):
                raise Refused("an index stands outside of its range")
        in_a, in_b = (self.only_facts().within(x.bound, x.guard) for x in (a, b))
        in_a.need_guard(b.guard, to, line)
        in_b.need_guard(a.guard, back, line)
        for inside, names, there, home in ((in_a, a.bound, to, back), (in_b, b.bound, back, to)):
            for s in names:
                inside.need(("eq", minus(put_poly(self.symbols, home[s], there), symbol(s))), line)
        return to

    def show_zero(self, s, lines):
        Goal(self, s).run(lines)

    def need_equal(self, a, b, line, lines):
        shape = lambda x: (x.kind, x.head, len(x.positions), x.real, x.argument is None)
        if shape(a) != shape(b):
            raise Refused("two factors are not alike")
        for p, q in zip(a.positions, b.positions):
            self.need(("eq", minus(p, q)), line)
        if a.argument is None or a == b:
            return
        if a.kind != "max":
            self.show_zero(difference(a.argument, b.argument), lines)
            return
        more = lines.next()
        how = more.word()
        if how == "values":
            more.finish()
            self.show_zero(difference(sum_of(a), sum_of(b)), lines)
            return
        if how != "indices":
            raise Refused("indices were expected")
        self.check_free(a, b.bound)
        self.check_free(b, a.bound)
        to = self.bijection(a, b, more)
        more.finish()
        inside = self.within(a.bound, a.guard)
        inside.show_zero(difference(a.argument, put(self.symbols, b.argument, to)), lines)


    def need_reached(self, a, how, line):
        """Maximum a is of something."""
        if how == "reached":
            self.need_guard(a.guard, self.values(a.bound, line), line)
            return
        if how != "as" or self.defined is None:
            raise Refused("a reason was expected")
        y = self.defined[line.index(len(self.defined))]
        if y.atom.kind != "max":
            raise Refused("that is no maximum")
        at = self.values(y.bound, line)
        self.need_guard(y.guard, at, line)
        there = put_atom(self.symbols, y.atom, at)
        self.check_free(a, there.bound)
        values = self.values(a.bound, line)
        inside = self.only_facts().within(there.bound, there.guard)
        inside.need_guard(a.guard, values, line)


def domain_of(a):
    """What a partial function is of, and the signs for which it is defined."""
    if a.kind == "over":
        return sum_of(Atom("integer", positions=a.positions)), NOT_ZERO
    if a.kind != "apply":
        raise Refused("that is no partial function")
    return a.argument, DOMAINS[FUNCTIONS[a.head].domain]


def read_fraction(text):
    n, bar, d = text.partition("/")
    return fraction(integer(n), integer(d) if bar else 1)


def only_atom(s):
    p = only_product(s)
    if len(p.atoms) != 1 or p.coefficient != 1:
        raise Refused("that is no factor")
    return p.atoms[0]


class Goal:
    def __init__(self, context, s, target=None):
        if context.depth >= NESTED:
            raise Refused("derivations are nested too deeply")
        self.context = context._replace(depth=context.depth + 1)
        self.symbols, self.target, self.closed = context.symbols, target, False
        self.rewriting = False  # what is left will stand for the sum
        self.products, self.next = {}, 0
        self.add(s)

    # The goal.

    def add(self, s):
        for p in s:
            if len(self.products) >= PRODUCTS:
                raise Refused("too many products")
            if p.coefficient:
                self.products[self.next] = p
            self.next += 1

    def add_times(self, p, s):
        """The product times a value within its ranges."""
        for q in multiplied(self.symbols, (p._replace(bound=(), guard=()),), s):
            if any(in_fact(self.symbols, f, name) for f in p.guard for name in q.bound):
                raise Refused("an index stands outside of its range")
            if set(p.bound) & set(q.bound):
                raise Refused("an index is bound twice")
            self.add((q._replace(bound=p.bound + q.bound, guard=p.guard + q.guard),))

    def place(self, line):
        k = line.index(self.next)
        if k not in self.products:
            raise Refused(f"product {k} is not there")
        return k

    def take(self, line):
        return self.products.pop(self.place(line))

    def left(self):
        return tuple(p for _, p in sorted(self.products.items()))

    def close(self):
        self.products, self.closed = {}, True

    def inner(self, p):
        return self.context.within(p.bound, p.guard)

    def facts_in(self, p):
        return self.context.only_facts().within(p.bound, p.guard)

    def learn(self, s, signs):
        self.context = self.context.learnt(s, signs)

    def shown(self):
        if self.closed:
            return True
        if self.target:
            return self.context.sign(self.target[0]) <= self.target[1]
        return not self.products or self.context.sign(self.left()) <= ZERO

    def steps(self, lines):
        while True:
            line = lines.next()
            name = line.word()
            if name == "end":
                line.finish()
                return
            if name not in STEPS:
                raise Refused(f"there is no step {name[:40]}")
            STEPS[name](self, line, lines)
            line.finish()

    def rewritten(self, lines):
        """What the steps leave, which is equal to the sum."""
        self.rewriting = True
        self.steps(lines)
        return self.left()

    def only_to_show(self):
        if self.rewriting:
            raise Refused("the step does not keep the sum")

    def run(self, lines):
        self.steps(lines)
        if not self.shown():
            raise Refused("something is left")

    def in_parts(self, contexts, lines):
        for context in contexts:
            Goal(context, self.left(), self.target).run(lines)
        self.close()

    # Paths.

    def at_path(self, path):
        head, *rest = path.split(".")
        star = bool(rest) and rest[-1].endswith("*")
        if star:
            rest[-1] = rest[-1][:-1]
        if head == "all":
            found = self.left()
        elif head == "target" and self.target:
            found = self.target[0]
        elif head.startswith("#"):
            found = self.context.known[digits(head[1:], len(self.context.known))][0]
        else:
            k = digits(head, self.next)
            if k not in self.products:
                raise Refused("a path names nothing")
            found = (self.products[k],)
        bound, chosen, atom, several = [], head.isdigit(), None, False
        for word in rest:
            if several:
                raise Refused("a path goes on behind several factors")
            if atom is not None:
                found, bound, atom = argument_of(atom), bound + list(atom.bound), None
            if not chosen:
                found, chosen = (found[digits(word, len(found))],), True
                continue
            p = found[0]
            atoms = [p.atoms[digits(w, len(p.atoms))] for w in word.split(",")]
            several = len(atoms) > 1
            atom, bound, chosen = None if several else atoms[0], bound + list(p.bound), False
            found = sum_of(atoms[0])
            for a in atoms[1:]:
                found = multiplied(self.symbols, found, sum_of(a))
        if star:
            if atom is None:
                raise Refused("a path names nothing")
            found, bound = argument_of(atom), bound + list(atom.bound)
        if any(free_in(self.symbols, found, s) for s in bound):
            raise Refused("a path leads out of a range")
        return found

    # Steps on products.

    def pin(self, line, lines):
        p = self.take(line)
        s, e = p.bound[k := line.index(len(p.bound))], self.symbols.read(line.word())
        if in_poly(self.symbols, e, s):
            raise Refused("an index is expressed by itself")
        self.facts_in(p).need(("eq", minus(symbol(s), e)), line)
        self.add((put_inside(self.symbols, p._replace(bound=without(p.bound, [k])), {s: e}),))

    def drop(self, line, lines):
        self.facts_in(self.take(line)).refute(line)

    def refuted(self, line, lines):
        self.context.refute(line)
        self.close()

    def divide(self, line, lines):
        p = self.take(line)
        fact = sizes.read_fact(self.symbols, line.words)
        self.add(tuple(p._replace(guard=p.guard + tuple(literals(f))) for f in (fact, negated(fact))))

    def omit(self, line, lines):
        p = self.take(line)
        g = line.index(len(p.guard))
        fact, p = p.guard[g], p._replace(guard=without(p.guard, [g]))
        self.facts_in(p).need(fact, line)
        self.add((p,))

    def alias(self, line, lines):
        p = self.take(line)
        k, name = line.index(len(p.bound)), self.context.index(line.word())
        if name in p.bound or within_product(self.symbols, p, name):
            raise Refused("the name is taken")
        bound = p.bound[:k] + (name,) + p.bound[k + 1:]
        self.add((put_inside(self.symbols, p._replace(bound=bound), {p.bound[k]: symbol(name)}),))

    def value(self, line, lines):
        p = self.take(line)
        a = p.atoms[k := line.index(len(p.atoms))]
        if a.kind not in ("integer", "over") or a.kind == "over" and len(a.positions[0]) != 1:
            raise Refused("the factor is no whole number, or 1 over one term")
        for product, c in in_order(self.symbols, a.positions[0]):
            atoms = tuple(a._replace(positions=(symbol(s),)) for s in product)
            c = fraction(c) if a.kind == "integer" else fraction(1, c)
            self.add((p._replace(coefficient=small(p.coefficient * c), atoms=without(p.atoms, [k]) + atoms),))

    def count(self, line, lines):
        p = self.take(line)
        s = p.bound[k := line.index(len(p.bound))]
        i, j = line.index(len(p.guard)), line.index(len(p.guard))
        if i == j or p.guard[i][0] != "ge" or p.guard[j][0] != "ge":
            raise Refused("these are no bounds of the index")
        low = minus(symbol(s), p.guard[i][1])
        high = plus(plus(p.guard[j][1], symbol(s)), number(1))
        p = p._replace(bound=without(p.bound, [k]), guard=without(p.guard, [i, j]))
        if in_poly(self.symbols, low, s) or in_poly(self.symbols, high, s) or within_product(self.symbols, p, s):
            raise Refused("something reads the index")
        self.facts_in(p).need(("ge", minus(high, low)), line)
        self.add((p._replace(atoms=p.atoms + (Atom("integer", positions=(minus(high, low),)),)),))

    def inside(self, line, lines):
        p = self.take(line)
        a = p.atoms[k := line.index(len(p.atoms))]
        goal = Goal(self.inner(p).within(a.bound, a.guard), argument_of(a))
        a = a._replace(argument=goal.rewritten(lines))
        self.add((p._replace(atoms=p.atoms[:k] + (a,) + p.atoms[k + 1:]),))

    def body(self, line, lines):
        p = self.take(line)
        places = read_list(line.word(), len(p.bound))
        bound = tuple(p.bound[k] for k in places)
        p = p._replace(bound=without(p.bound, places))
        free = [g for g, f in enumerate(p.guard) if not any(in_fact(self.symbols, f, s) for s in p.bound)]
        guard = tuple(p.guard[g] for g in free)
        goal = Goal(self.context.within(bound, guard), (p._replace(guard=without(p.guard, free)),))
        for q in goal.rewritten(lines):
            self.add_times(Product(bound=bound, guard=guard), (q,))

    def multiply(self, line, lines):
        self.only_to_show()
        s, everything = self.at_path(line.word()), self.left()
        if any(free_in(self.symbols, s, name) for p in everything for name in p.bound):
            raise Refused("an index stands outside of its range")
        if not self.context.sign(s) <= NOT_ZERO:
            raise Refused("that may be 0")
        self.products = {}
        for p in everything:
            self.add_times(p, s)

    def check_scopes(self, p, q):
        for one, other in ((p, q), (q, p)):
            if any(free_in(self.symbols, (other,), s) for s in one.bound):
                raise Refused("an index stands outside of its range")

    def pair(self, line, lines):
        n, m = self.place(line), self.place(line)
        p, q = self.products[n], self.products[m]
        if n == m or len(p.atoms) != len(q.atoms):
            raise Refused("two products are not alike")
        self.check_scopes(p, q)
        order = [line.index(len(q.atoms)) for _ in q.atoms]
        if len(set(order)) < len(order):
            raise Refused("a factor is paired twice")
        to = self.context.bijection(p, q, line)
        inside = self.inner(p)
        for a, k in zip(p.atoms, order):
            inside.need_equal(a, put_atom(self.symbols, q.atoms[k], to), line, lines)
        del self.products[m]
        self.products[n] = p._replace(coefficient=small(p.coefficient + q.coefficient))
        if not self.products[n].coefficient:
            del self.products[n]

    def under(self, line, lines):
        p = self.take(line)
        body, inside = (Product(p.coefficient, atoms=p.atoms),), self.inner(p)
        while line.words:
            q = self.take(line)
            self.check_scopes(p, q)
            to = self.context.bijection(p, q, line)
            body += put(self.symbols, (Product(q.coefficient, atoms=q.atoms),), to)
        inside.show_zero(body, lines)

    def cases(self, line, lines):
        fact = sizes.read_fact(self.symbols, line.words)
        facts = (self.context.facts + tuple(literals(f)) for f in (fact, negated(fact)))
        self.in_parts([self.context._replace(facts=f) for f in facts], lines)

    def law(self, line, lines):
        name = line.word()
        if name not in LAWS:
            raise Refused(f"there is no law {name[:40]}")
        p = self.take(line)
        inside = self.inner(p)
        places = read_list(line.word(), len(p.atoms))
        if FACTORS.get(name, 1) not in (None, len(places)):
            raise Refused("the law is about other factors")
        atoms = tuple(p.atoms[k] for k in places)
        found = LAWS[name](Place(inside, atoms, line))
        self.add_times(p._replace(atoms=without(p.atoms, places)), found)

    def cancel(self, line, lines):
        p = self.take(line)
        quotient = p.atoms[k := line.index(len(p.atoms))]
        rest = self.denominator(quotient)
        t = line.index(len(rest))
        parts = [read_list(line.word(), len(x)) for x in p[1:]]
        if k in parts[2]:
            raise Refused("a factor is used twice")
        listed = Product(Fraction(1), *(tuple(x[i] for i in places) for x, places in zip(p[1:], parts)))
        parts[2].append(k)
        p = Product(p.coefficient, *(without(x, places) for x, places in zip(p[1:], parts)))
        if any(within_product(self.symbols, p, s) or free_in(self.symbols, sum_of(quotient), s) for s in listed.bound):
            raise Refused("an index stands outside of its range")
        inside = self.inner(p)
        if not inside.sign(domain_of(quotient)[0]) <= NOT_ZERO:
            raise Refused("that may be 0")
        c = over(rest[t].coefficient)
        inside.show_zero(difference((listed,), (rest[t]._replace(coefficient=Fraction(1)),)), lines)
        others = multiplied(self.symbols, sum_of(quotient), without(rest, [t]))
        self.add_times(p, constant(c) + scaled(others, -c))

    def denominator(self, a):
        if a.kind == "apply" and a.head == "recip":
            return a.argument
        if a.kind != "over":
            raise Refused("the factor is no quotient")
        whole = lambda product: tuple(Atom("integer", positions=(symbol(s),)) for s in product)
        return tuple(Product(fraction(c), atoms=whole(m)) for m, c in in_order(self.symbols, a.positions[0]))

    # Steps about what is known of real numbers.

    def by_sign(self, line, lines):
        s, signs = self.at_path(line.word()), read_signs(line.word())
        self.in_parts([self.context.learnt(s, one) for one in (signs, ANY - signs)], lines)

    def sign_by_terms(self, s, line, lines):
        signs = ZERO
        while line.words:
            c, *more = line.word().split(":")
            if len(more) > 1:
                raise Refused("a term was expected")
            c = read_fraction(c)
            term, of = constant(c), sign_of_number(c)
            for word in more[0].split("*") if more else []:
                known, its = self.context.known[digits(word, len(self.context.known))]
                of, term = signs_multiplied(of, its), multiplied(self.symbols, term, known)
            signs, s = signs_added(signs, of), difference(s, term)
        rest = Goal(self.context, s).rewritten(lines)
        return signs_added(signs, self.context.sign(rest))

    def infer(self, line, lines):
        s = self.at_path(line.word())
        self.learn(s, self.sign_by_terms(s, line, lines))

    def absurd(self, line, lines):
        if 0 in self.sign_by_terms((), line, lines):
            raise Refused("that is no contradiction")
        self.close()

    def order(self, line, lines):
        one, other = self.at_path(line.word()), self.at_path(line.word())
        a, b = only_atom(one), only_atom(other)
        if a.kind != "apply" or b.kind != "apply" or a.head != b.head or not FUNCTIONS[a.head].increasing:
            raise Refused("these are not values of one increasing function")
        for x in (a, b):
            if not self.context.sign(x.argument) <= DOMAINS[FUNCTIONS[a.head].domain]:
                raise Refused("the function may not be defined")
        signs = self.sign_by_terms(difference(a.argument, b.argument), line, lines)
        self.learn(difference(one, other), signs | ZERO)

    def factor(self, line, lines):
        s, signs = self.context.known[line.index(len(self.context.known))]
        if 0 in signs:
            raise Refused("that may be 0")
        a, rest = take_common(self.symbols, s, line.words)
        self.learn(a, NOT_ZERO)
        self.learn(rest, NOT_ZERO)

    def defined(self, line, lines):
        if self.context.defined is None:
            raise Refused("nothing is known to be defined")
        y = self.context.defined[line.index(len(self.context.defined))]
        at = self.context.values(y.bound, line)
        self.context.need_guard(y.guard, at, line)
        self.learn(*domain_of(put_atom(self.symbols, y.atom, at)))

    def whole(self, line, lines):
        p, signs = self.symbols.read(line.word()), read_signs(line.word())
        if signs not in (POSITIVE, NOT_NEGATIVE):
            raise Refused("a sign was expected")
        self.context.need(("ge", minus(p, number(1)) if signs == POSITIVE else p), line)
        self.learn(sum_of(Atom("integer", positions=(p,))), signs)

    def bounds(self, line, lines):
        s = self.at_path(line.word())
        a = only_atom(s)
        if a.kind != "apply":
            raise Refused("that is no function")
        if a.head == "exp":
            self.learn(difference(s, a.argument + constant(Fraction(1))), NOT_NEGATIVE)
            return
        if not FUNCTIONS[a.head].bounds:
            raise Refused("the function has no bounds")
        low, high = (constant(Fraction(x)) for x in FUNCTIONS[a.head].bounds)
        self.learn(difference(s, low), POSITIVE)
        self.learn(difference(high, s), POSITIVE)

    def total(self, line, lines):
        s, signs = self.at_path(line.word()), read_signs(line.word())
        if len(s) != 1 or signs == NOT_ZERO:
            raise Refused("such numbers may add up to anything")
        p = s[0]
        if line.words:
            self.context.need_guard(p.guard, self.context.values(p.bound, line), line)
        else:
            signs |= ZERO
        target = (Product(p.coefficient, atoms=p.atoms),), signs
        Goal(self.inner(p), (), target).run(lines)
        self.learn(s, signs)

    def maximum(self, path):
        s = self.at_path(path)
        a = only_atom(s)
        if a.kind != "max":
            raise Refused("that is no maximum")
        return s, a

    def stands_somewhere(self, name):
        known = [s for s, _ in self.context.known] + [self.left(), self.target[0] if self.target else ()]
        return (any(in_fact(self.symbols, f, name) for f in self.context.facts) or
                any(free_in(self.symbols, s, name) for s in known))

    def attain(self, line, lines):
        self.only_to_show()
        s, a = self.maximum(line.word())
        there = {}
        for name in a.bound:
            new = self.context.index(line.word())
            if symbol(new) in there.values() or self.stands_somewhere(new):
                raise Refused("the name is taken")
            there[name] = symbol(new)
        self.context.need_reached(a, line.word(), line)
        guard = [x for f in a.guard for x in literals(put_fact(self.symbols, f, there))]
        self.context = self.context._replace(facts=self.context.facts + tuple(guard))
        self.learn(difference(s, put(self.symbols, a.argument, there)), ZERO)

    def above(self, line, lines):
        s, a = self.maximum(line.word())
        at = self.context.values(a.bound, line)
        self.context.need_guard(a.guard, at, line)
        self.learn(difference(s, put(self.symbols, a.argument, at)), NOT_NEGATIVE)


STEPS = {name: getattr(Goal, name.replace("-", "_")) for name in
         "pin drop refuted divide omit alias value count inside body multiply pair under cases law cancel by-sign "
         "infer absurd order factor defined whole bounds total attain above".split()}


def argument_of(a):
    if a.argument is None:
        raise Refused("the factor has no argument")
    return a.argument


# ---- Claims ----

def check_needed(context, needed, lines):
    if not needed:
        return
    line = lines.next()
    if line.word() != "needed":
        raise Refused("what is needed was expected")
    for fact in needed:
        context.need(fact, line)
    line.finish()


def check_defined(context, x, lines):
    """Partial function x is defined for all values of its indices."""
    if x.atom.kind != "max":
        Goal(context.within(x.bound, x.guard), (), domain_of(x.atom)).run(lines)
        return
    inside = context.only_facts().within(x.bound, x.guard)
    line = lines.next()
    how = line.word()
    if how == "nowhere":
        inside.refute(line)
    else:
        inside.need_reached(x.atom, how, line)
    line.finish()


def sizes_replaced(context, output, lines):
    """Lines `size S E`: S is E by what is given, and becomes that in all that the output claims."""
    symbols = context.symbols
    while lines.rest and sizes.words_of(lines.rest[-1].split("|")[0])[:1] == ["size"]:
        line = lines.next()
        line.word()
        s, e = only_symbol(symbols.read(line.word())), symbols.read(line.word())
        if not isinstance(s, str):
            raise Refused("only what has a name is replaced")
        context.need(("eq", minus(symbol(s), e)), line)
        line.finish()
        value = {s: e}

        def partial(x):
            if any(name == s or in_poly(symbols, e, name) for name in x.bound):
                raise Refused("an index is bound twice")
            guard = tuple(put_fact(symbols, f, value) for f in x.guard)
            return x._replace(atom=put_atom(symbols, x.atom, value), guard=guard)

        output = output._replace(
            left=put(symbols, output.left, value), right=put(symbols, output.right, value),
            known=tuple((put(symbols, k, value), signs) for k, signs in output.known),
            partial_left=list(map(partial, output.partial_left)),
            partial_right=list(map(partial, output.partial_right)))
    return output


def check(claim, derivation):
    """Refused is raised unless the derivation shows the claim."""
    lines = Lines(derivation)
    check_needed(Context(claim.symbols, tuple(claim.given)), claim.needed, lines)
    for output in claim.outputs:
        given = Context(claim.symbols, tuple(output.given))
        check_needed(given, output.needed, lines)
        output = sizes_replaced(given, output, lines)
        context = given._replace(known=output.known, defined=list(output.partial_left))
        for x in output.partial_right:
            check_defined(context, x, lines)
            context.defined.append(x)
        context.show_zero(difference(output.left, output.right), lines)
    if lines.rest:
        raise Refused("the derivation goes on after its end")
