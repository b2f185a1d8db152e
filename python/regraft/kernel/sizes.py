"""Facts about sizes and the certificates that show them: docs/kernel.md, once more.

The kernel that proofs are checked with is written in C++ (verify/kernel/). This was written from its
documentation alone, so that an error would have to be made twice. It is not made to be fast, and
uses nothing but whole numbers of any length; what the page says is too large is refused here too.

A polynomial is a dictionary from products to coefficients, a product a sorted tuple of symbols. A
symbol is a string; or ("quotient", n, d), ("lookup", table, i, b) with polynomials as tuples of their
sorted terms, so that two symbols of the same parts are the same value.
"""
import re
import sys

LARGEST, TERMS, FACTORS, DEPTH = 2 ** 63, 1_000, 40, 40
FACT_DEPTH, PARTS, FACTS, OPEN = 20, 10_000, 20_000, 1_000
INTEGER = re.compile(r"-?[0-9]+")
TOKEN = re.compile(r"[0-9]+|[A-Za-z_][A-Za-z0-9_.]*|[-+*/()\[\]{},]")


class Refused(Exception):
    """What is not accepted, and why in one line."""


def integer(text):
    if not INTEGER.fullmatch(text) or not -LARGEST <= int(text) < LARGEST:
        raise Refused(f"not an integer: {text[:40]}")
    return int(text)


# ---- Polynomials ----

def polynomial(terms):
    """From pairs of a product and a number."""
    result = {}
    for product, number in terms:
        result[product] = result.get(product, 0) + number
    result = {product: number for product, number in result.items() if number}
    if len(result) > TERMS or any(len(product) > FACTORS for product in result):
        raise Refused("a polynomial is too long")
    if any(not -LARGEST <= number < LARGEST for number in result.values()):
        raise Refused("a number is too large")
    return result


def number(value):
    return {(): value} if value else {}


def symbol(name):
    return {(name,): 1}


def plus(a, b, times=1):
    return polynomial([*a.items(), *((product, times * c) for product, c in b.items())])


def minus(a, b):
    return plus(a, b, -1)


def times(a, b):
    return polynomial((tuple(sorted(p + q, key=repr)), c * d) for p, c in a.items() for q, d in b.items())


def constant(p):
    """The number that p is; None: it is not one."""
    return p.get((), 0) if all(product == () for product in p) else None


def frozen(p):
    return tuple(sorted(p.items(), key=repr))


def divided(p, k):
    if k < 1:
        raise Refused("division by a number below 1")
    if any(product and c % k for product, c in p.items()):
        raise Refused("the divisor does not divide a coefficient")
    return polynomial((product, c // k) for product, c in p.items())  # // rounds down


class Symbols:
    """Names with their least values (None: there is none), and tables of polynomials."""

    def __init__(self):
        self.least, self.tables = {}, []
        self.claimed = set()  # names of what a claim is about, which no step binds

    def make(self, name, least=None):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
            raise Refused(f"not a name: {name}")
        if name in self.least:
            raise Refused(f"a second symbol is named {name}")
        self.least[name] = least

    def read(self, text):
        """A polynomial from its text."""
        tokens = TOKEN.findall(text)
        if "".join(tokens) != text:
            raise Refused(f"no polynomial: {text[:60]}")
        p, rest = self._sum(tokens, 0, 1)
        if rest != len(tokens):
            raise Refused(f"no polynomial: {text[:60]}")
        return p

    def _sum(self, tokens, at, depth):
        if depth > DEPTH:
            raise Refused("a polynomial is nested too deeply")
        negative = tokens[at:at + 1] == ["-"]
        p, at = self._term(tokens, at + negative, depth)
        p = minus({}, p) if negative else p
        while tokens[at:at + 1] in (["+"], ["-"]):
            q, after = self._term(tokens, at + 1, depth)
            p, at = plus(p, q, 1 if tokens[at] == "+" else -1), after
        return p, at

    def _term(self, tokens, at, depth):
        p, at = self._factor(tokens, at, depth)
        while tokens[at:at + 1] == ["*"]:
            q, at = self._factor(tokens, at + 1, depth)
            p = times(p, q)
        return p, at

    def _parts(self, tokens, at, depth, ends):
        """Polynomials, each of them followed by one of the tokens in `ends`."""
        parts = []
        for end in ends:
            p, at = self._sum(tokens, at, depth + 1)
            if tokens[at:at + 1] != [end]:
                raise Refused(f"{end} is missing")
            parts.append(p)
            at += 1
        return parts, at

    def _factor(self, tokens, at, depth):
        if at >= len(tokens):
            raise Refused("a polynomial ends too early")
        token = tokens[at]
        if token == "(":
            (p,), at = self._parts(tokens, at + 1, depth, ")")
            return p, at
        if token == "[":
            (n, d), at = self._parts(tokens, at + 1, depth, "/]")
            return symbol(("quotient", frozen(n), frozen(d))), at
        if token == "{":
            if tokens[at + 2:at + 3] != [","] or not tokens[at + 1].isdigit():
                raise Refused("a table is missing")
            table = integer(tokens[at + 1])
            if table >= len(self.tables):
                raise Refused(f"there is no table {table}")
            (i, b), at = self._parts(tokens, at + 3, depth, ",}")
            return symbol(("lookup", table, frozen(i), frozen(b))), at
        if token[0].isdigit():
            return number(integer(token)), at + 1
        if token not in self.least:
            raise Refused(f"nothing is named {token[:60]}")
        return symbol(token), at + 1


# ---- Facts: ("ge", p), ("eq", p), ("all", [facts]), ("any", [facts]) ----

def negated(fact):
    form, what = fact
    if form == "ge":
        return "ge", minus(number(-1), what)
    if form == "eq":
        return "any", [("ge", minus(what, number(1))), ("ge", minus(number(-1), what))]
    return "any" if form == "all" else "all", [negated(part) for part in what]


def words_of(text):
    return [word for word in text.split(" ") if word]


def read_fact(symbols, words, depth=0):
    """The fact that the list of words begins with, whose words leave the list."""
    if depth > FACT_DEPTH:
        raise Refused("a fact is nested too deeply")
    form = take(words)
    if form in ("ge", "eq"):
        return form, symbols.read(take(words))
    if form not in ("all", "any"):
        raise Refused(f"ge, eq, all or any was expected, not {form[:40]}")
    count = integer(take(words))
    if not 0 <= count <= PARTS:
        raise Refused("a fact cannot have that many parts")
    return form, [read_fact(symbols, words, depth + 1) for _ in range(count)]


def take(words):
    if not words:
        raise Refused("a line ends too early")
    return words.pop(0)


def literals(fact):
    """An `all` as its parts."""
    return [x for part in fact[1] for x in literals(part)] if fact[0] == "all" else [fact]


# ---- Certificates ----

class _Checker:
    """Follows the steps. A case is a call of `case`, which returns when it is closed."""

    def __init__(self, symbols, certificate):
        self.symbols = symbols
        steps = (words_of(step) for step in re.split("[;\n]", certificate))
        self.steps = iter([words for words in steps if words])

    def case(self, facts, depth=0):
        if depth > OPEN:
            raise Refused("cases are nested too deeply")
        while True:
            if len(facts) > FACTS:
                raise Refused("too many facts")
            words = next(self.steps, None)
            if words is None:
                raise Refused("a case stays open")
            name = take(words)
            if name in ("either", "cases"):
                parts = getattr(self, name)(facts, words)
                self.end(words)
                for part in parts:
                    self.case(facts + literals(part), depth + 1)
                return
            if name not in ("lin", "times", "both", "least", "quotient", "lookup", "entry", "same"):
                raise Refused(f"there is no step {name[:40]}")
            new = getattr(self, name)(facts, words)
            self.end(words)
            facts = facts + new
            for form, p in new:
                value = constant(p)
                if value is not None and (value < 0 or (form == "eq" and value != 0)):
                    return

    @staticmethod
    def end(words):
        if words:
            raise Refused("the step has too many words")

    # What a word says.

    @staticmethod
    def fact(facts, word):
        k = integer(word)
        if not 0 <= k < len(facts):
            raise Refused(f"there is no fact {k}")
        return facts[k]

    def literal(self, facts, word):
        fact = self.fact(facts, word)
        if fact[0] == "any":
            raise Refused(f"fact {word} is no literal")
        return fact

    def not_negative(self, facts, p, word):
        q = self.literal(facts, word)[1]
        more = constant(p) if constant(p) is not None else constant(minus(p, q))
        if more is None or more < 0:
            raise Refused("something is not shown to be at least 0")

    def zero(self, facts, p, word):
        form, q = self.fact(facts, word)
        if p and not (form == "eq" and (p == q or p == minus({}, q))):
            raise Refused("something is not shown to be 0")

    def made(self, words, *kinds):
        """The quotient or lookup that a word is."""
        p = self.symbols.read(take(words))
        for product in p:
            if len(product) == 1 and p == symbol(product[0]) and product[0][0] in kinds:
                return p, product[0]
        raise Refused("not such a symbol")

    # Steps: each returns its conclusions, a distinction its cases.

    def lin(self, facts, words):
        total, form = {}, "eq"
        while words:
            word = take(words)
            if word[0] == "/":
                return [("ge", divided(total, integer(word[1:])))]
            factor, colon, product = word.rpartition(":") if word.count(":") == 1 else ("", "", word)
            scale = integer(factor) if colon else 1
            chosen = [self.literal(facts, k) for k in product.split("*")]
            vanishes = any(f == "eq" for f, _ in chosen)
            if scale < 0 and not vanishes:
                raise Refused("a negative multiple of an inequality")
            form = form if vanishes else "ge"
            part = number(scale)
            for _, p in chosen:
                part = times(part, p)
            total = plus(total, part)
        return [(form, total)]

    def times(self, facts, words):
        form, p = self.fact(facts, take(words))
        if form != "eq":
            raise Refused("only an equality has multiples of any sign")
        return [("eq", times(p, self.symbols.read(take(words))))]

    def both(self, facts, words):
        (_, p), (_, q) = (self.literal(facts, take(words)) for _ in "IJ")
        if plus(p, q):
            raise Refused("the two facts are not opposite")
        return [("eq", p)]

    def least(self, facts, words):
        name = take(words)
        value = self.symbols.least.get(name)
        if value is None:
            raise Refused("no symbol with a least value")
        return [("ge", minus(symbol(name), number(value)))]

    def quotient(self, facts, words):
        q, (_, n, d) = self.made(words, "quotient")
        n, d = dict(n), dict(d)
        self.not_negative(facts, minus(d, number(1)), take(words))
        rest = minus(n, times(q, d))
        return [("ge", rest), ("ge", minus(minus(d, number(1)), rest))]

    def lookup(self, facts, words):
        value, (_, _, _, bound) = self.made(words, "lookup")
        last = minus(dict(bound), number(1))
        self.not_negative(facts, last, take(words))
        return [("ge", value), ("ge", minus(last, value))]

    def entry(self, facts, words):
        value, (_, table, position, bound) = self.made(words, "lookup")
        k, entries = integer(take(words)), self.symbols.tables[table]
        if not 0 <= k < len(entries):
            raise Refused("no such entry")
        self.zero(facts, minus(dict(position), number(k)), take(words))
        self.not_negative(facts, entries[k], take(words))
        self.not_negative(facts, minus(minus(dict(bound), number(1)), entries[k]), take(words))
        return [("eq", minus(value, entries[k]))]

    def same(self, facts, words):
        (p, a), (q, b) = (self.made(words, "quotient", "lookup") for _ in "AB")
        if a[:-2] != b[:-2]:
            raise Refused("two symbols of different kinds")
        self.zero(facts, minus(dict(a[-2]), dict(b[-2])), take(words))
        self.zero(facts, minus(dict(a[-1]), dict(b[-1])), take(words))
        return [("eq", minus(p, q))]

    def either(self, facts, words):
        p = self.symbols.read(take(words))
        return [("ge", p), ("ge", minus(number(-1), p))]

    def cases(self, facts, words):
        form, parts = self.fact(facts, take(words))
        if form != "any":
            raise Refused("the fact has no cases")
        return parts


def check_unsatisfiable(symbols, facts, certificate):
    """Refused is raised unless the certificate shows that no integers satisfy all the facts."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * OPEN))
    checker = _Checker(symbols, certificate)
    checker.case([("ge", number(1)), *(x for fact in facts for x in literals(fact))])
    if next(checker.steps, None) is not None:
        raise Refused("it goes on after its last case")


def check_implied(symbols, facts, fact, certificate):
    check_unsatisfiable(symbols, [*facts, negated(fact)], certificate)
