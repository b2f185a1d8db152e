#!/usr/bin/env python3
"""Attacks regraft, keeps the figures in bench/robustness.json, and writes bench/robustness.md.

  python3 bench/run_robustness.py [--parts NAME,...] [--take FOLDER] [--quick]

Parts: fuzz (libFuzzer targets; SECONDS each with --fuzz-seconds), false-rules, backend (ONNX's models with
the default search), portfolio (the same with that search), random, crash. Each
part replaces its own figures and leaves the others as they are. --take reads a part's figures from
FOLDER/PART.json, as the part's own command writes it, instead of running it; --quick runs a hundredth.
Needs scripts/build, the target false_rules, and the Python of scripts/python-env.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import prose

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / "bench/robustness.json"
TOOLS = ROOT / "tests/robustness"


def command_of(part, args, out):
    """What runs a part and writes its figures to `out`."""
    python = os.environ.get("REGRAFT_PYTHON", str(ROOT / ".venv/bin/python"))
    part_of = 100 if args.quick else 1
    regraft = args.regraft
    backend = [python, str(TOOLS / "differential.py"), "backend", regraft, "--json", out,
               *(["--sample", "30"] if args.quick else [])]
    return {
        "false-rules": [str(ROOT / "build/release/tests/verify/false_rules"), "--count",
                        str(10_000 // part_of), "--seed", "2026", "--json", out, str(ROOT)],
        "backend": [*backend, "--searches", "windows"],
        "portfolio": [*backend, "--searches", "portfolio", "--time", "1"],
        "random": [python, str(TOOLS / "differential.py"), "random", regraft, "--json", out,
                   "--searches", "windows", "--count", str(5_000 // part_of)],
        "crash": [python, str(TOOLS / "crash.py"), regraft, "--moments", str(100 // part_of),
                  "--json", out],
    }[part]


def fuzz(args):
    seconds = 5 if args.quick else args.fuzz_seconds
    subprocess.run([str(ROOT / "scripts/fuzz"), "all", str(seconds)], check=True)
    done = subprocess.run([str(ROOT / "scripts/fuzz"), "--report"], check=True, capture_output=True)
    return json.loads(done.stdout)


def figures(part, args):
    if args.take:
        path = pathlib.Path(args.take, f"{part}.json")
        return json.loads(path.read_text()) if path.exists() else None
    if part == "fuzz":
        return fuzz(args)
    with tempfile.TemporaryDirectory() as folder:
        out = str(pathlib.Path(folder, "figures.json"))
        subprocess.run(command_of(part, args, out), check=False)
        return json.loads(pathlib.Path(out).read_text())


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(str(c) for c in row) + " |" for row in rows), ""]


def bullets(items, none):
    return [*(f"* {i}" for i in items), ""] if items else [none, ""]


def fuzz_section(kept):
    rows, total, findings = [], 0, []
    for target, f in sorted(kept.items()):
        total += f.get("executions", 0)
        found = f.get("findings", [])
        findings += [f"{target}: {text}" for text in found]
        rows.append([target, f"{f.get('executions', 0):,}", f"{f.get('seconds', 0):,.0f}",
                     f.get("edges", 0), f.get("features", 0), f.get("corpus", 0), len(found)])
    rows.append(["all", f"{total:,}", f"{sum(f.get('seconds', 0) for f in kept.values()):,.0f}", "", "", "",
                 len(findings)])
    return ["## Fuzzing", "",
            "libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer over every reader "
            "([tests/fuzz](../tests/fuzz)); `scripts/fuzz all SECONDS`.", "",
            *table(["target", "executions", "seconds", "edges", "features", "corpus", "findings"], rows),
            "Findings, each mended with a test:", "", *bullets(findings, "None.")]


def false_rules_section(kept):
    keys = ["mutants", "false", "false_proved", "false_refuted", "false_unknown", "equivalent", "open"]
    rows = [[name, *(c.get(k, 0) for k in keys)] for name, c in sorted(kept["by_change"].items())]
    rows.append(["all", *(kept.get(k, 0) for k in keys)])
    return ["## False rules", "",
            f"Mutants of the {kept['rules']} shipped rules, seed {kept['seed']}, {kept['cpu_seconds']:.0f} s of "
            "CPU. `false` is certain and found without the prover: interval arithmetic over both sides, with "
            "exact zeros told by a prime field. `equivalent` was proved and no difference was found; `open` "
            "was neither proved nor shown false.", "",
            *table(["change", *(k.replace("_", ", ") for k in keys)], rows),
            *bullets([f"`{w['rule']}`: {w.get('difference', 'refuted by the verifier’s own numbers')}"
                      for w in kept["wrong"]], "No false rule was proved.")]


def mended(part):
    """What a part of tests/robustness found; the run that is shown may be older than the repairs."""
    found = json.loads((TOOLS / "findings.json").read_text(encoding="utf-8")).get(part, [])
    return ["What was found, and mended with tests:", "", *bullets(found, "Nothing.")]


def differential_section(title, text, kept, part):
    rows = [[name, f"{n:,}"] for name, n in kept["counts"].items()]
    rows.append(["models rewritten", f"{kept['rewritten']:,}"])
    rows.append(["different rules applied", kept["rules applied"]])
    return [f"## {title}", "", text, "", *table(["what", "count"], rows),
            *bullets(kept["failures"][:40], "No failure."), *mended(part)]


def crash_section(kept):
    rows = [[c["job"], c["way"], c["moments"],
             ", ".join(f"{n} exit {code}" for code, n in sorted(c["exit_codes"].items())),
             len(c["problems"])] for c in kept["campaigns"]]
    problems = [f"{c['job']}, {c['way']}: {p}" for c in kept["campaigns"] for p in c["problems"]]
    return ["## Crashes", "",
            f"Each command ended at random moments by `kill -9`, SIGTERM, and a full disk ({kept['full_disk']}); "
            "then every file must be what it was or whole, and the same command must finish.", "",
            *table(["command", "way", "moments", "exit codes", "problems"], rows),
            *bullets(problems, "No half-written file; each rerun finished."), *mended("crash")]


BACKEND = ("Each as it is and in surroundings that rules rewrite and that change no value, against the recorded "
           "outputs and against onnxruntime's of the original without its optimisations")
SECTIONS = {
    "fuzz": fuzz_section,
    "false-rules": false_rules_section,
    "backend": lambda kept: differential_section(
        "ONNX's test models", f"{BACKEND}, with the default search.", kept, "backend"),
    "portfolio": lambda kept: differential_section(
        "ONNX's test models, portfolio", f"{BACKEND}, with `--search portfolio --time 1`.", kept, "portfolio"),
    "random": lambda kept: differential_section(
        "Random models", "With the default search, against onnxruntime without its optimisations, at two sizes of "
        "each dynamic dimension and at ordinary, tiny, large (1e4; 1e2 in float16), logit-like (200; 50), tied and equal inputs. A "
        "result that is finite must stay finite, and its error beside double precision must be explained by "
        "the original's.", kept, "random"),
    "crash": crash_section,
}


def document(kept):
    lines = ["# Robustness", "",
             "Written by `python3 bench/run_robustness.py`; the figures are in `robustness.json`. What is "
             "trusted, and what each part was attacked with, is in [docs/proofs.md](../docs/proofs.md).", ""]
    for part, section in SECTIONS.items():
        if part in kept:
            lines += section(kept[part])
    lines += [f"Measured on {platform.system()} {platform.machine()}, {os.cpu_count()} cores.", ""]
    return prose.wrapped("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(SECTIONS))
    parser.add_argument("--take", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fuzz-seconds", type=int, default=300, metavar="SECONDS")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--out", default=str(ROOT / "bench/robustness.md"))
    parser.add_argument("--keep", default=str(KEPT), help="where figures are kept")
    args = parser.parse_args()
    path = pathlib.Path(args.keep)
    kept = json.loads(path.read_text()) if path.exists() else {}
    for part in args.parts.split(","):
        if part not in SECTIONS:
            sys.exit(f"no part {part!r}; there are {', '.join(SECTIONS)}")
        found = figures(part, args)
        if found is not None:
            kept[part] = found
            path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    pathlib.Path(args.out).write_text(document(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
