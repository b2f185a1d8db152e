"""Shapes of rules as text: which operators they have, how many calls, and what remains of them
without attributes and names."""
import itertools
import re

TOKEN = re.compile(r"[()]|[^\s()]+")
INDEXED = re.compile(r"(?<=\w)\(([^()]*)\)")  # what floor(..) is of, in attributes
AFTER_SIDES = re.compile(r"  (?:where|for|proved|tested|refuted|unknown|numerics|origin|seal)\b")
COMMUTATIVE = {"add", "mul", "max", "min", "equal", "logical-and", "logical-or", "logical-xor"}


def sides_of(rule):
    """The calls of the left and of the right side of a rule's text."""
    head = AFTER_SIDES.split(rule)[0]
    while (plain := INDEXED.sub(r"[\1]", head)) != head:
        head = plain
    left, right = re.split(r" <?=> ", head)
    return left, right


def parsed(tokens):
    """A call as (operator, operands); a variable as its name."""
    token = next(tokens)
    if token != "(":
        return token
    name, operands = next(tokens), []
    for token in tokens:
        if token == ")":
            return name, operands
        if token == "(":
            operands.append(parsed(itertools.chain(token, tokens)))
        elif token.startswith("?"):
            operands.append(token)
        elif token.startswith("#") and operands:
            operands[-1] = ("output" + token, [operands[-1]])
    raise ValueError("a call has no end")


def terms_of(side):
    """One term for each output of a side."""
    return [parsed(iter(TOKEN.findall(text))) for text in re.split(r" ; ", side)]


def shape(term):
    """The term's text without attributes and names; operands of commutative operators sorted."""
    if isinstance(term, str):
        return "?"
    name, operands = term
    texts = [shape(o) for o in operands]
    return f"({' '.join([name, *(sorted(texts) if name in COMMUTATIVE else texts)])})"


def shapes(rule):
    """Shapes of both sides, in an order that a rule and its reverse share."""
    return tuple(sorted(" ; ".join(map(shape, terms_of(side))) for side in sides_of(rule)))


def operators(rule):
    return {name for side in sides_of(rule) for name in re.findall(r"\(([a-z][a-z0-9-]*)", side)}


def calls(side):
    """The number of different calls of a side."""
    found, starts = set(), []
    for m in re.finditer(r"[()]", side):
        if m[0] == "(":
            starts.append(m.start())
        else:
            found.add(side[starts.pop():m.end()])
    return len(found)


def size(rule):
    """Calls of the larger side."""
    return max(map(calls, sides_of(rule)))
