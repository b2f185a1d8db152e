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


UNPROVED = (  # the first whose pattern is in the prover's words
    ("a choice in a sum", r"a choice leaves out",
     "a choice within a sum may leave out what is undefined"),
    ("budget", r"steps used up", "the counted work of a proof was used up"),
    ("logarithm", r"\blog\[", "no law says that log(exp x) is x, exp(log x) is x, or that the "
                              "logarithm of a product is a sum"),
    ("bounds", r"340282346638528859811704183484516925440",
     "a bound that is left out is the largest float, a real number"),
    ("rounded values", r"\b(half|single|brain|step)\[",
     "no law says that what is rounded stays when it is rounded again, or that a truth value is "
     "exact in each type"),
    ("law of a function", r"stuck at", "a law of a function is missing, or a case of it"),
)
OTHER_VERDICTS = {
    "decimals": "a decimal is its double: 1/6 and 10^-9 are other real numbers",
    "some sizes": "proved at the shapes looked at, by the second prover alone",
    "refuted": "numbers differ",
    "other": "see the prover's words",
}
MEANINGS = {name: words for name, _, words in UNPROVED} | OTHER_VERDICTS


def is_decimal(number):
    """Whether the prover takes it for an unknown real."""
    return not (1024 * float(number)).is_integer()


def why_unproved(proof, text):
    """The class of a rule that is not proved for all sizes; "" of one that is."""
    verdict = proof["verdict"]
    if verdict in ("proved:all-sizes", "proved:solver"):
        return ""
    if verdict in ("proved:bounded", "refuted"):
        return "some sizes" if verdict == "proved:bounded" else "refuted"
    if any(map(is_decimal, re.findall(r"=(-?\d+(?:\.\d+)?(?:e-?\d+)?)\b", text))):
        return "decimals"
    found = (name for name, pattern, _ in UNPROVED if re.search(pattern, proof["detail"]))
    return next(found, "other")
