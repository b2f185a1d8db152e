"""Reads bench/known_rewrites.txt: well-known rewrites as rules, each with its group and source."""
import dataclasses
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[1] / "known_rewrites.txt"
UNWRITABLE = re.compile(r"# Unwritable ([a-z0-9-]+) \[([a-z ]+)\]: (.+)")
RULE = re.compile(r"([a-z0-9][a-z0-9-]*)  (\(.+)")


@dataclasses.dataclass
class Rewrite:
    name: str
    group: str
    source: str
    text: str    # the rule; of an unwritable one what it does, in words
    lacks: str   # what the rule language lacks to say it, or ""


def entry_of(line, group, source):
    """The rewrite that a line says, or None."""
    if found := UNWRITABLE.fullmatch(line):
        name, lacks, words = found.groups()
        return Rewrite(name, group, source, words, lacks)
    found = RULE.fullmatch(line)
    return Rewrite(found[1], group, source, found[2], "") if found else None


def read(text):
    """The rewrites of the list, in its order. ValueError: a line that is none of its kinds, an
    entry without group or source, or a source without an entry."""
    rewrites, group, source = [], "", ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("# Group: "):
            group = line.removeprefix("# Group: ")
        elif line.startswith("# Source: "):
            if source:
                raise ValueError(f"line {number}: a source follows a source")
            source = line.removeprefix("# Source: ")
        elif entry := entry_of(line, group, source):
            if not (group and source):
                raise ValueError(f"line {number}: {entry.name} has no group or no source")
            rewrites.append(entry)
            source = ""
        elif line and (group or not line.startswith("#")):
            raise ValueError(f"line {number}: no group, source, rule or unwritable rewrite")
    if source:
        raise ValueError("the last source has no entry")
    return rewrites


def load():
    return read(PATH.read_text(encoding="utf-8"))
