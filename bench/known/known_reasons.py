"""Why a well-known rewrite is not proved, or does not follow from the shipped rules: classes that
the texts of the rules and the prover's words decide."""
import dataclasses
import functools
import re

from known_terms import operators, shapes, size

ENUMERATED = 3  # calls up to which the shipped files were enumerated


@dataclasses.dataclass
class Shipped:
    file: str
    line: str
    operators: frozenset
    shapes: tuple


@functools.lru_cache
def rules_of(path):
    """The rules of a shipped file."""
    rules = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            text = line.split("  ", 1)[1]
            rules.append(Shipped(path.stem, line, frozenset(operators(text)), shapes(text)))
    return rules


WHY_NOT = {
    "limits of derive": "follows when fewer rules are given: the e-graph is full, or its rounds "
                        "are over, before the sides meet",
    "operator": "some operator of it is in no shipped rule, so in no grammar",
    "axes or ranks": "a shipped rule has the same calls, with other axes, permutations, ranks or "
                     "numbers",
    "theme": "its operators are in shipped rules, but in none together: no grammar has them",
    "size": f"a side has more than {ENUMERATED} calls, and the shipped rules do not compose to it",
    "attributes": "a rule with its operators ships; its attributes, shapes or conditions differ, "
                  "or its terms are another arrangement of them",
}


def why_not(text, rules):
    """The first class that fits a rule that does not follow."""
    own = operators(text)
    missing = sorted(own - frozenset().union(*(r.operators for r in rules)))
    if missing:
        return f"operator: {', '.join(missing)}"
    if shapes(text) in {r.shapes for r in rules}:
        return "axes or ranks"
    if size(text) > ENUMERATED:
        return "size"
    return "attributes" if any(own <= r.operators for r in rules) else "theme"


def plain(proof):
    """The prover's words, short: where it stopped, or how many shapes it looked at."""
    if proof["verdict"] == "refuted":
        return proof["counterexample"]
    words = proof["detail"].split("; at given shapes")[0]
    return words if len(words) <= 120 else words[:117] + "..."


UNPROVED = (
    (r"power|leaves out", "a power by cases", "a side that leaves out what is undefined elsewhere "
     "is proved only where a root is defined anyway; a real power has cases"),
    (r"steps used up", "budget", "the counted work of a proof was used up"),
    (r"stuck at .*\blog\[", "logarithm", "no law says that log(exp x) is x, exp(log x) is x, or "
     "that the logarithm of a product is a sum"),
    (r"stuck at .*\bclip\[-?340282|clip\[0\.0+340282", "bounds", "a bound that is left out is the "
     "largest float, a real number"),
    (r"real\[|stuck at .*clip\[|recip\[ .*sqrt", "decimals", "a decimal is its double: 1/6 and "
     "10^-9 are other real numbers"),
    (r"\b(half|single|brain)\[|step\[", "rounding of truths", "no law says that a rounded number "
     "stays when it is rounded again, or that truth values are exact in each type"),
    (r"stuck at", "law of a function", "a law of a function is missing"),
)


def why_unproved(detail):
    """Class and explanation of a verdict `unknown`."""
    for pattern, name, words in UNPROVED:
        if re.search(pattern, detail):
            return name, words
    return "other", "see the prover's words"
