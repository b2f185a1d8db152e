#!/usr/bin/env python3
"""How much of the zoo does the import understand? Writes bench/zoo/coverage.md and coverage.json.

  python3 bench/zoo/run_coverage.py --zoo DIR [--regraft EXE] [--out FILE] [--keep FILE]

DIR is what models/export_zoo.py wrote. Plain Python; runs `regraft stats` on each file.
"""
import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import prose  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTED = ("nodes", "understood", "unused", "inner", "parameters", "bytes", "multiply_adds",
           "activations", "unknown_values")


def measured(entry, args):
    """What `regraft stats` says of a file, beside its entry in zoo.json."""
    path = pathlib.Path(args.zoo, entry["file"])
    done = subprocess.run([args.regraft, "stats", str(path), "--json", "-"], capture_output=True,
                          text=True, timeout=600, check=False)
    about = {key: entry[key] for key in ("name", "architecture", "family", "exporter", "form")}
    about["dynamic"] = sorted(entry["dynamic"])
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {**about, "error": lines[-1] if lines else f"exit {done.returncode}"}
    report = json.loads(done.stdout)
    return {**about, **{key: report[key] for key in COUNTED},
            "operators": report["operators"], "reasons": report["reasons"]}


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(str(c) for c in row) + " |" for row in rows), ""]


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def sums(models):
    return sum(m["understood"] for m in models), sum(m["nodes"] for m in models)


def grouped(models, key):
    """A row for each group, and one for all: its models, nodes, share, and whole models."""
    groups = {}
    for m in models:
        groups.setdefault(key(m), []).append(m)
    for name, members in [*sorted(groups.items()), ("all", models)]:
        known, nodes = sums(members)
        mean = sum(m["understood"] / m["nodes"] for m in members if m["nodes"]) / len(members)
        whole = sum(m["understood"] == m["nodes"] for m in members)
        yield [name, len(members), f"{nodes:,}", share(known, nodes), f"{100 * mean:.1f} %", whole]


def left(models):
    """By reason and operator: [nodes, models]."""
    found = {}
    for m in models:
        for reason, types in m["reasons"].items():
            for kind, nodes in types.items():
                cell = found.setdefault(reason, {}).setdefault(kind, [0, 0])
                cell[0] += nodes
                cell[1] += 1
    return found


def left_section(models, longest=40):
    lines, found = ["## What is left", "",
                    "Nodes that the import carries without understanding them, by the first thing "
                    "that is missing.", ""], left(models)
    by_size = sorted(found.items(), key=lambda item: -sum(n for n, _ in item[1].values()))
    for reason, types in by_size:
        total = sum(n for n, _ in types.values())
        lines += [f"### {reason}: {total:,} nodes", ""]
        ordered = sorted(types.items(), key=lambda item: (-item[1][0], item[0]))
        rows = [[kind, f"{nodes:,}", count] for kind, (nodes, count) in ordered[:longest]]
        lines += table(["operator", "nodes", "models"], rows)
        if len(ordered) > longest:
            lines += [f"And {len(ordered) - longest} other operators.", ""]
    return lines


def model_rows(models):
    for m in models:
        dynamic = ", ".join(m["dynamic"]) or "-"
        largest = sorted(((n, kind, reason) for reason, types in m["reasons"].items()
                          for kind, n in types.items()), reverse=True)[:3]
        why = ", ".join(f"{kind} {n}" for n, kind, _ in largest)
        yield [m["architecture"], m["exporter"] + (", train" if m["form"] == "train" else ""),
               dynamic, f"{m['nodes']:,}", share(m["understood"], m["nodes"]), why]


def document(kept):
    models = [m for m in kept if "error" not in m]
    failed = [m for m in kept if "error" in m]
    known, nodes = sums(models)
    architectures = len({m["architecture"] for m in models})
    lines = ["# What the import understands", "",
             f"{share(known, nodes)} of {nodes:,} nodes, in {len(models)} exports of "
             f"{architectures} architectures. Written by `python3 bench/zoo/run_coverage.py` over the "
             "files of `models/export_zoo.py`; the figures are in `coverage.json`.", "",
             "A node of the file counts when its outputs are needed. It is understood when it "
             "became an operator call or a constant, or when nothing in the graph needs it any "
             "more, as with shape arithmetic whose result is known. Nodes in sub-graphs do not "
             "count.", "",
             "## By exporter", ""]
    head = ["models", "nodes", "understood", "mean share", "understood whole"]
    lines += table(["exporter", *head], grouped(models, lambda m: m["exporter"]))
    lines += ["## By family", "", *table(["family", *head], grouped(models, lambda m: m["family"]))]
    lines += left_section(models)
    lines += ["## Models", "", *table(["model", "exporter", "open sizes", "nodes", "understood",
                                       "most of what is left"], model_rows(models))]
    if failed:
        lines += ["Not read:", "", *(f"* {m['name']}: {m['error']}" for m in failed), ""]
    return prose.wrapped("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zoo", required=True, metavar="DIR")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--out", default=str(ROOT / "bench/zoo/coverage.md"))
    parser.add_argument("--keep", default=str(ROOT / "bench/zoo/coverage.json"))
    args = parser.parse_args()
    entries = json.loads(pathlib.Path(args.zoo, "zoo.json").read_text(encoding="utf-8"))
    kept = []
    for entry in entries:
        kept.append(measured(entry, args))
        m = kept[-1]
        print(f"{m['name']}: " + (m.get("error") or share(m["understood"], m["nodes"])), flush=True)
    pathlib.Path(args.keep).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    pathlib.Path(args.out).write_text(document(kept), encoding="utf-8")
    return 1 if any("error" in m for m in kept) else 0


if __name__ == "__main__":
    sys.exit(main())
