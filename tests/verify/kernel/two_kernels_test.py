#!/usr/bin/env python3
"""The kernel in C++ and the one in Python give the same answers: to certificates of shipped rules, and
to mutants of these.

  KERNEL_CHECK=build/.../kernel_check two_kernels_test.py [FILE [MUTANTS]]

FILE has the cases (`kernel_facts --certificates`), default is tests/data/kernel/certificates.txt.
"""
import importlib.util
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sizes = load(ROOT / "python/regraft/kernel/sizes.py")


def read_cases(text):
    """Lists of lines, of which the last is the certificate."""
    cases, lines = [], []
    for line in text.split("\n"):
        if line:
            lines.append(line)
        if line.startswith("certificate"):
            cases.append(lines)
            lines = []
    return cases


def answer(lines):
    """What the kernel in Python says; empty: accepted."""
    try:
        symbols, facts = sizes.Symbols(), []
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "certificate":
                sizes.check_unsatisfiable(symbols, facts, rest)
                return ""
            words = sizes.words_of(rest)
            if word == "size":
                name, least = words
                symbols.make(name, sizes.integer(least))
            elif word == "index":
                symbols.make(*words)
            elif word == "table":
                symbols.tables.append([symbols.read(w) for w in words])
            else:
                facts.append(sizes.read_fact(symbols, words))
                sizes._Checker.end(words)
    except sizes.Refused as refused:
        return str(refused)
    raise AssertionError("a case without a certificate")


def mutant(lines, draw):
    """One number, operator, step or word of a case is changed."""
    lines = list(lines)
    at = len(lines) - 1 if draw.random() < 0.7 else draw.randrange(len(lines))
    word, _, rest = lines[at].partition(" ")
    kind = draw.randrange(5)
    steps = rest.split(";")
    if kind == 0 and word == "certificate":
        del steps[draw.randrange(len(steps))]
    elif kind == 1 and word == "certificate":
        j, k = draw.randrange(len(steps)), draw.randrange(len(steps))
        steps[j], steps[k] = steps[k], steps[j]
    elif kind == 2 and word == "certificate":
        k = draw.randrange(len(steps))
        steps[k] = re.sub(r"^\w+", draw.choice("lin times both least quotient lookup entry same either cases".split()), steps[k])
    else:
        places = [m for m in re.finditer(r"\d+|[-+*:/]", rest)]
        if places:
            m = draw.choice(places)
            new = draw.choice("-+*:/") if m[0] in "-+*:/" else str(max(0, int(m[0]) + draw.choice((-2, -1, 1, 2))))
            steps = [rest[:m.start()] + new + rest[m.end():]]
    lines[at] = f"{word} {';'.join(steps)}"
    return lines


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "tests/data/kernel/certificates.txt")
    cases = read_cases(path.read_text())
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000
    draw = random.Random(3)
    mutants = [mutant(draw.choice(cases), draw) for _ in range(wanted)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cases.txt"
        file.write_text("\n".join(line for case in cases + mutants for line in case) + "\n")
        done = subprocess.run([os.environ["KERNEL_CHECK"], file], capture_output=True, text=True, check=True)
    answers = done.stdout.split("\n")[:-1]
    assert len(answers) == len(cases) + len(mutants), (len(answers), done.stderr)
    accepted = 0
    for number, (case, said) in enumerate(zip(cases + mutants, answers)):
        why = answer(case)
        text = "\n".join(case)
        assert number >= len(cases) or said == "accepted", f"{text}\n{said}"
        assert (why == "") == (said == "accepted"), f"{text}\nC++: {said}\nPython: {why}"
        accepted += number >= len(cases) and why == ""
    assert len(cases) >= 100 and wanted // 50 < accepted < wanted // 2, (len(cases), accepted)
    print(f"{len(cases)} certificates accepted by both kernels; of {wanted} mutants both accept the same {accepted}")


if __name__ == "__main__":
    main()
