"""Reads the rules that `regraft rules show` prints: calls, signatures and conditions."""
import dataclasses
import re
import subprocess

TOKEN = re.compile(r"\(|\)(?:#\d+)?|[^\s()]+")
NUMBER = re.compile(r"[-+0-9.e*() inf]+")


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    operands: tuple
    attributes: tuple  # of (name, text)
    output: int = 0


@dataclasses.dataclass
class Rule:
    name: str
    left: list
    right: list
    reversible: bool
    conditions: list   # of (text, text)
    signatures: list   # of {variable: letters}


def call(tokens):
    """One term off the front of the tokens: a call, or the name of a variable."""
    token = tokens.pop(0)
    if token != "(":
        return token.removeprefix("?")
    name, operands, attributes = tokens.pop(0), [], []
    while not tokens[0].startswith(")"):
        if "=" in tokens[0]:
            attributes.append(tuple(tokens.pop(0).split("=", 1)))
        else:
            operands.append(call(tokens))
    end = tokens.pop(0)
    return Call(name, tuple(operands), tuple(attributes), int(end[2:] or 0))


def side(text):
    return [call(TOKEN.findall(part)) for part in text.split(";")]


def rule(line):
    name, rest = line.split("  ", 1)
    head, _, tail = rest.partition("  for ")
    body, _, conditions = head.partition("  where ")
    both = re.split(r" (<?=>) ", body)
    signatures = [dict(part.split(":") for part in option.split())
                  for option in tail.split("  ")[0].split(" | ")]
    return Rule(name, side(both[0]), side(both[2]), both[1] == "<=>",
                [tuple(c.split("=")) for c in conditions.split(",") if c], signatures)


def read(regraft, files):
    """The proved rules of rule files."""
    for file in files:
        done = subprocess.run([regraft, "rules", "show", file], capture_output=True, text=True,
                              check=True)
        for line in done.stdout.splitlines():
            if line and not line.startswith("#") and "  proved:" in line:
                yield rule(line)


class Values:
    """Numbers for the variables of a rule: sizes of tensors, and attributes."""

    def __init__(self, shapes):
        self.shapes, self.numbers = shapes, {}

    def evaluate(self, text):
        """An expression of sizes and variables; raises ValueError where something is unknown."""
        def known(match):
            word = match.group()
            if word.startswith("?"):
                value = self.numbers[word[1:]]
                if isinstance(value, list):
                    raise KeyError(word)
                return str(value)
            tensor, _, axis = word.rpartition(".")
            return str(self.shapes[tensor][int(axis)])
        try:
            text = re.sub(r"\?\w+|[A-Za-z]\w*\.-?\d+", known, text)
            if not NUMBER.fullmatch(text):
                raise ValueError(text)
            return eval(text, {"inf": float("inf"), "__builtins__": {}})
        except (KeyError, IndexError, SyntaxError, NameError, TypeError) as error:
            raise ValueError(text) from error

    def assign(self, word, number):
        """Makes a size or a variable this number, where the word is one."""
        if re.fullmatch(r"\?\w+", word):
            self.numbers[word[1:]] = number
        elif re.fullmatch(r"[A-Za-z]\w*\.-?\d+", word):
            tensor, _, axis = word.rpartition(".")
            self.shapes[tensor][int(axis)] = number
