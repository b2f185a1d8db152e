"""Replays a file of claims and derivations (docs/kernel.md):

  python -m regraft.kernel FILE [--every N] [--start K]

The file is written by `regraft check --derivations ... --claims FILE`. Says how many derivations this
kernel accepts, and where its answer is not the one in the file; then the exit code is 1.
"""
import argparse
import sys
import time
from typing import NamedTuple

from .claims import read_claim
from .derivations import check
from .sizes import Refused

HEADER = "# regraft claims, format 1"


class Case(NamedTuple):
    name: str          # of the claim
    claim: list        # lines
    derivation: str
    accepted: bool     # by the kernel in C++


def read_cases(lines):
    """From the lines of a file; Refused names a line."""
    lines = iter(enumerate(lines, 1))
    number, header = next(lines, (1, ""))
    if header.rstrip("\n") != HEADER:
        raise Refused(f"line {number}: no file of claims of this version")
    name, claim = "", []
    for number, line in lines:
        kind, count, *rest = line.rstrip("\n").split(" ", 2) + ["", ""]
        if kind not in ("claim", "derivation") or not count.isdigit():
            raise Refused(f"line {number}: a claim or a derivation was expected")
        block = [text.rstrip("\n") for _, (_, text) in zip(range(int(count)), lines)]
        if len(block) < int(count):
            raise Refused(f"line {number}: the file ends within a {kind}")
        if kind == "claim":
            name, claim = rest[0], block
        elif rest[0] not in ("accepted", "refused"):
            raise Refused(f"line {number}: accepted or refused was expected")
        else:
            yield Case(name, claim, "\n".join(block), rest[0] == "accepted")


def why_refused(case):
    """Empty: this kernel accepts."""
    try:
        check(read_claim(case.claim), case.derivation)
    except Refused as refused:
        return str(refused) or "refused"
    except RecursionError:
        return "nested too deeply"
    return ""


def main():
    parser = argparse.ArgumentParser(prog="python -m regraft.kernel")
    parser.add_argument("file")
    parser.add_argument("--every", type=int, default=1, help="replay one in so many")
    parser.add_argument("--start", type=int, default=0, help="and this one first")
    flags = parser.parse_args()
    sys.setrecursionlimit(20_000)
    accepted = replayed = differ = 0
    start = time.monotonic()
    try:
        with open(flags.file, encoding="utf-8") as file:
            for k, case in enumerate(read_cases(file)):
                if k < flags.start or (k - flags.start) % flags.every:
                    continue
                why = why_refused(case)
                replayed, accepted = replayed + 1, accepted + (not why)
                if case.accepted != (not why):
                    differ += 1
                    print(f"differs: {case.name}: {why or 'accepted here'}")
    except (OSError, UnicodeDecodeError, Refused) as problem:
        print(f"{flags.file}: {problem}", file=sys.stderr)
        return 3
    print(f"{replayed} derivations replayed, {accepted} accepted, {differ} answers differ from the file's; "
          f"{time.monotonic() - start:.1f} s")
    return 1 if differ else 0
