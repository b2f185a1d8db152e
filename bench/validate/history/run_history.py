#!/usr/bin/env python3
"""Mistakes that optimisers made, from their threads, judged by `regraft validate`.

  build/venv-bench/bin/python bench/validate/history/run_history.py --make     the second models
  build/venv-bench/bin/python bench/validate/history/run_history.py            all, and the report

--make runs the tools, old versions in environments below --venvs, and keeps what they write in
after/. Without it the pairs are read from there, judged by regraft and by onnxsim's certificates,
and shown to today's tools. Writes bench/history.json and bench/history.md.
"""
import argparse
import datetime
import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]

import onnx  # noqa: E402

import environments  # noqa: E402
import evaluate  # noqa: E402
import history_report  # noqa: E402
from threads import PAIRS  # noqa: E402

AFTER = HERE / "after"
TODAY = [("onnxruntime", "basic"), ("onnxruntime", "extended"), ("onnxsim",), ("onnxslim",),
         ("onnxscript",)]


def stored(pair):
    return AFTER / f"{pair.name}.textproto"


def after(pair):
    """The second model: written by hand, or what a tool wrote."""
    return pair.after or onnx.load(stored(pair), format="textproto")


def made(out):
    """The model that a tool wrote; None where it failed."""
    return onnx.load(out) if out.exists() else None


def make(pairs, venvs, folder):
    """Runs the tools that the pairs name, one process for each environment."""
    jobs = {}
    for pair in pairs:
        package, version, python, *options = pair.made
        name = options.pop(0) if options and options[0] == "onnx.optimizer" else package
        source, out = folder / f"{pair.name}.onnx", folder / f"{pair.name}.made.onnx"
        onnx.save(pair.before, source)
        place = environments.python_of(venvs, package, version, python)
        jobs.setdefault(place, []).append((pair, out, [name, source, out, *options]))
    AFTER.mkdir(exist_ok=True)
    for place, asked in jobs.items():
        results = environments.batch(place, [job for *_, job in asked])
        for (pair, out, _), (_, output) in zip(asked, results):
            model = made(out) or sys.exit(f"run_history: {pair.name}: {output[-300:]}")
            model.ClearField("metadata_props")
            onnx.save(model, stored(pair), format="textproto")


def validate(regraft, folder, pair, limit):
    """The report of regraft, its exit status and seconds."""
    paths = [*files(folder, pair), folder / "report.json"]
    paths[2].unlink(missing_ok=True)
    begun = time.monotonic()
    done = environments.run([regraft, "validate", *paths[:2], "--quiet", "--time", str(limit),
                             "--json", paths[2]], 2 * limit)
    found = {"seconds": time.monotonic() - begun, "exit": done.returncode if done else None,
             "error": done.stderr.strip()[:300] if done else "ran too long"}
    if paths[2].exists():
        found["report"] = json.loads(paths[2].read_text())
    return json.loads(json.dumps(found).replace(f"{folder}/", ""))


def files(folder, pair):
    return folder / f"{pair.name}.a.onnx", folder / f"{pair.name}.b.onnx"


def certified(python, folder, pairs, bound=()):
    """Verdicts of onnxsim's certificates, for each pair by name."""
    jobs = []
    for pair in pairs:
        jobs.append(["certify", *(folder / f"{pair.name}.{side}.fixed.onnx" for side in "ab"),
                     *bound])
        for model, path in zip((pair.before, after(pair)), jobs[-1][1:]):
            onnx.save(evaluate.fixed(model, pair), path)
    found = {}
    for pair, (status, output) in zip(pairs, environments.batch(python, jobs)):
        lines = output.strip().splitlines() or ["no output"]
        found[pair.name] = ({"outputs": {}, "details": [lines[-1][:300]]} if status
                            else json.loads(lines[-1]))
    return found


def certificates(pairs, args, folder):
    """What onnxsim says of each pair, for all inputs and for small ones."""
    python = environments.certify(args.venvs)
    free, bounded = (certified(python, folder, pairs, b) for b in ((), ("8",)))
    return {pair.name: {"certify": free[pair.name], "certify in [-8, 8]": bounded[pair.name]}
            for pair in pairs}


def today(folder, pairs):
    """What each tool makes of the first models now: unchanged, agree, differ, invalid, fails."""
    asked = []
    for pair in pairs:
        tools = [*TODAY]
        if pair.made and pair.made[0] in ("onnxoptimizer", "onnx"):
            tools.append(("onnxoptimizer", pair.made[-1]))
        for name, *options in tools:
            out = folder / f"{pair.name}.{len(asked)}.onnx"
            asked.append((pair, " ".join([name, *(options if name == "onnxruntime" else [])]), out,
                          [name, files(folder, pair)[0], out, *options]))
    environments.batch(sys.executable, [job for *_, job in asked])
    found = {}
    for pair, label, out, _ in asked:
        model = made(out)
        if model is None:
            said = "fails"
        elif shape_of(model) == shape_of(pair.before):
            said = "unchanged"
        else:
            said = evaluate.judged(pair, model)
        found.setdefault(pair.name, {})[label] = said
    return found


def shape_of(model):
    """Operators and their attributes, in order; Constant nodes count as initializers."""
    return [(n.op_type, sorted(a.SerializeToString() for a in n.attribute))
            for n in model.graph.node if n.op_type != "Constant"]


def write(pairs, folder):
    for pair in pairs:
        for model, path in zip((pair.before, after(pair)), files(folder, pair)):
            onnx.save(model, path)


def judge(pairs, args, folder):
    """All that is known of the pairs, by name."""
    write(pairs, folder)
    words = certificates(pairs, args, folder)
    now = today(folder, [p for p in pairs if p.group == "history"])
    found = {}
    for pair in pairs:
        found[pair.name] = {
            "name": pair.name, "group": pair.group, "thread": pair.thread,
            "expected": pair.expected, "gap": evaluate.compare(pair, after(pair)),
            "validate": validate(args.regraft, folder, pair, args.time),
            **words[pair.name], "today": now.get(pair.name, {})}
        print(pair.name, history_report.verdict(found[pair.name]), flush=True)
    return found


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", action="store_true", help="run the tools of --made pairs")
    parser.add_argument("--only", nargs="+", default=[], help="names of pairs")
    parser.add_argument("--export", help="write all pairs as ONNX files to this folder, and stop")
    parser.add_argument("--regraft", default=ROOT / "build/release/regraft")
    parser.add_argument("--venvs", default=ROOT / "build/venv-history")
    parser.add_argument("--time", type=float, default=60, help="seconds for each pair")
    parser.add_argument("--certify-only", action="store_true", help="only onnxsim's certificates")
    parser.add_argument("--validate-only", action="store_true",
                        help="only regraft anew; the rest as in history.json")
    parser.add_argument("--report-only", action="store_true", help="from history.json")
    return parser.parse_args()


def dumped(kept):
    """As JSON with a line for each pair; of a counterexample the first 64 elements."""
    for found in kept["pairs"].values():
        case = found["validate"].get("report", {}).get("counterexample") or {"inputs": {}}
        for tensor in case["inputs"].values():
            del tensor["data"][64:]
    pairs = ",\n".join(f"{json.dumps(n)}: {json.dumps(f)}" for n, f in kept["pairs"].items())
    rest = {key: value for key, value in kept.items() if key != "pairs"}
    return json.dumps(rest)[:-1] + ', "pairs": {\n' + pairs + "\n}}\n"


def export(folder):
    for pair in PAIRS:
        place = pathlib.Path(folder, pair.name)
        place.mkdir(parents=True, exist_ok=True)
        onnx.save(pair.before, place / "before.onnx")
        onnx.save(after(pair), place / "after.onnx")


def main():
    args = options()
    chosen = [p for p in PAIRS if not args.only or p.name in args.only]
    path = ROOT / "bench/history.json"
    kept = json.loads(path.read_text()) if path.exists() else {"pairs": {}}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        if args.make:
            return make([p for p in chosen if p.made], args.venvs, folder)
        if args.export:
            return export(args.export)
        if args.validate_only:
            write(chosen, folder)
            for pair in chosen:
                kept["pairs"][pair.name]["validate"] = validate(args.regraft, folder, pair,
                                                                args.time)
        elif args.certify_only:
            for name, said in certificates(chosen, args, folder).items():
                kept["pairs"][name].update(said)
        elif not args.report_only:
            kept["pairs"].update(judge(chosen, args, folder))
        if not args.report_only:
            kept["date"] = datetime.date.today().isoformat()
            done = environments.run([sys.executable, HERE / "tools.py", "versions"])
            kept["versions"] = json.loads(done.stdout)
            path.write_text(dumped(kept))
    (ROOT / "bench/history.md").write_text(history_report.text(kept, PAIRS, after))


if __name__ == "__main__":
    main()
