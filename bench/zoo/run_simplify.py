#!/usr/bin/env python3
"""What `regraft simplify`, onnxsim and onnxslim make of the exports of the zoo. Keeps the figures
in bench/zoo/simplify.json and writes bench/zoo/simplify.md.

  python bench/zoo/run_simplify.py --zoo DIR [--only NAME ...] [--again] [--tools NAME ...]
  python bench/zoo/run_simplify.py --table

DIR is what models/export_zoo.py wrote; needs the Python of bench/requirements.txt. Each program
runs by its command line, in a process of its own, one at a time. A model that simplify.json has
already is left alone unless --again is given. With --tools the figures of the others stay.
"""
import argparse
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import prose  # noqa: E402
from zoo_tools import (HERE, ROOT, TOLERANCE, agreement, agrees, checked, made_by,  # noqa: E402
                       sound, table)

PEERS = ["onnxsim", "onnxslim"]
TOOLS = ["regraft", *PEERS]


def command(tool, source, target, args):
    if tool == "regraft":
        return [args.regraft, *args.command.split(), source, "-o", target]
    return [str(pathlib.Path(sys.executable).parent / tool), source, target]


def result_of(tool, entry, source, args):
    """Facts of what a program makes of a model, and what its run took."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(pathlib.Path(folder, tool + ".onnx"))
        return made_by(command(tool, source, target, args), entry, source, target)


def measured(entry, before, args):
    """{"original": facts, tool: its result}; a program that was not asked keeps its result."""
    source = str(pathlib.Path(args.zoo, entry["file"]))
    found = {"entry": entry, "original": before.get("original") or checked(entry, source, [])[0]}
    for tool in TOOLS:
        found[tool] = (result_of(tool, entry, source, args) if tool in args.tools
                       else before.get(tool, {"error": "not run"}))
    return found


def best_peer(case):
    """The least nodes of a peer whose result is sound; None without one."""
    return min((case[p]["nodes"] for p in PEERS if sound(case[p])), default=None)


def at_most(case):
    """Has regraft's result at most as many nodes as the better peer's?"""
    best = best_peer(case)
    return sound(case["regraft"]) and (best is None or case["regraft"]["nodes"] <= best)


def nodes_of(result):
    if "nodes" not in result:
        return "failed"
    return f"{result['nodes']:,}" + ("" if sound(result) else " (wrong)")


def kept_sizes(case, tool):
    open_before, open_after = case["original"].get("open", []), case[tool].get("open")
    if not open_before or open_after is None:
        return "-"
    return f"{sum(size in open_after for size in open_before)}/{len(open_before)}"


def number(result, key, scale, form="{:.1f}"):
    return form.format(result[key] / scale) if key in result else "-"


def node_rows(cases):
    for name, case in cases.items():
        yield [name, f"{case['original'].get('nodes', 0):,}", *(nodes_of(case[t]) for t in TOOLS),
               "" if at_most(case) else "more", agreement(case["regraft"]),
               *(kept_sizes(case, t) for t in TOOLS)]


def cost_rows(cases):
    for name, case in cases.items():
        yield [name, number(case["original"], "bytes", 1e6),
               *(number(case[t], "bytes", 1e6) for t in TOOLS),
               *(number(case[t], "seconds", 1) for t in TOOLS),
               *(number(case[t], "memory", 1e6, "{:.0f}") for t in TOOLS)]


def total_rows(cases):
    for tool in TOOLS:
        results = [case[tool] for case in cases.values()]
        kept = [k.split("/") for k in (kept_sizes(c, tool) for c in cases.values()) if k != "-"]
        yield [tool, sum("nodes" in r for r in results),
               sum(agrees(r) is True for r in results), sum(agrees(r) is False for r in results),
               f"{sum(r['nodes'] for r in results if sound(r)):,}",
               f"{sum(a == b for a, b in kept)} of {len(kept)}",
               f"{sum(r.get('seconds', 0) for r in results):.0f}",
               f"{max((r.get('memory', 0) for r in results), default=0) / 1e6:.0f}"]


def failures(cases):
    for name, case in cases.items():
        for tool in TOOLS:
            result = case[tool]
            if "error" in result:
                yield f"* {name}, {tool}: {result['error'].strip()}"
            elif agrees(result) is False:
                yield f"* {name}, {tool}: differs by {max(result['differences']):.1e}"
        if "error" in case["original"]:
            yield f"* {name}, not compared, as onnxruntime refuses it: {case['original']['error']}"


def document(kept):
    cases = kept["models"]
    good = sum(at_most(case) for case in cases.values())
    fewer = sum(sound(c["regraft"]) and (best_peer(c) is None or
                                         c["regraft"]["nodes"] < best_peer(c))
                for c in cases.values())
    versions = ", ".join(f"{name} {v}" for name, v in kept["versions"].items())
    lines = ["# Simplifying real exports", "",
             f"On {good} of {len(cases)} models regraft leaves at most as many nodes as the better "
             f"of {' and '.join(PEERS)}; on {fewer} it leaves fewer.", "",
             "Written by `python bench/zoo/run_simplify.py` over the files of `models/export_zoo.py`; "
             f"the figures are in `simplify.json`. {versions}. Each program ran by its command "
             "line with its defaults. Nodes are those of sub-graphs, too. Results are compared "
             "with the original in onnxruntime without its optimisations, at two settings of the "
             f"open sizes. An output may differ by {TOLERANCE:.0e} of its largest magnitude. A "
             "result that differs by more is wrong, and counts for nobody.", "",
             *table(["program", "results", "agree", "wrong", "nodes", "keep all open sizes",
                     "seconds", "MB at most"], total_rows(cases)),
             "## Nodes", "", "The last columns: the largest difference of regraft's result, and "
             "how many open sizes of the inputs each program keeps.", "",
             *table(["model", "original", *TOOLS, "than the better", "differs by",
                     *(f"{t} sizes" for t in TOOLS)], node_rows(cases)),
             "## Bytes, seconds, memory", "",
             *table(["model", "MB", *(f"{t} MB" for t in TOOLS), *(f"{t} s" for t in TOOLS),
                     *(f"{t} peak MB" for t in TOOLS)], cost_rows(cases)),
             "## What failed", "", *(list(failures(cases)) or ["Nothing."]), ""]
    return prose.wrapped("\n".join(lines))


def versions(args):
    told = subprocess.run([args.regraft, "--version"], capture_output=True, text=True, check=False)
    return {"regraft": told.stdout.split()[-1],
            **{peer: importlib.metadata.version(peer) for peer in [*PEERS, "onnxruntime"]}}


def measure_all(kept, args):
    entries = json.loads(pathlib.Path(args.zoo, "zoo.json").read_text(encoding="utf-8"))
    kept["versions"] = versions(args)
    for entry in entries:
        name = entry["name"]
        if args.only and not any(part in name for part in args.only):
            continue
        if kept["models"].get(name, {}).get("entry") == entry and not args.again:
            continue
        before = kept["models"].get(name, {})
        if before.get("entry") != entry:
            before = {}  # exported anew
        case = kept["models"][name] = measured(entry, before, args)
        pathlib.Path(args.keep).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {case['original'].get('nodes')} nodes; "
              + ", ".join(f"{t} {nodes_of(case[t])}" for t in TOOLS), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names that contain one of these")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--table", action="store_true", help="only write the document")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--command", default="simplify", help="of regraft, with options")
    parser.add_argument("--out", default=str(HERE / "simplify.md"))
    parser.add_argument("--keep", default=str(HERE / "simplify.json"))
    args = parser.parse_args()
    path = pathlib.Path(args.keep)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
    if not args.table:
        if not args.zoo:
            parser.error("--zoo is needed")
        measure_all(kept, args)
    pathlib.Path(args.out).write_text(document(kept), encoding="utf-8")
    return 0 if all(sound(case["regraft"]) for case in kept["models"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
