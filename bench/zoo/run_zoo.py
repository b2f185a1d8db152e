#!/usr/bin/env python3
"""What `regraft optimize` with its defaults and other optimisers make of the exports of the zoo: do
they compute the same, are they faster, and what bounds them? Keeps the figures in
bench/zoo/zoo.json and writes bench/zoo/zoo.md.

  python bench/zoo/run_zoo.py --zoo DIR [--only NAME ...] [--again] [--cache DIR]
  python bench/zoo/run_zoo.py --zoo DIR [--only NAME ...] --cache DIR --peers-only
  python bench/zoo/run_zoo.py --table

DIR is what models/export_zoo.py wrote; needs the Python of bench/requirements.txt. A model that
zoo.json has already is left alone unless --again is given. With --cache the peers' results are kept
in a folder, and made only where they are missing; --peers-only does that and nothing else. Times
are worth something only while the machine does nothing else.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers  # noqa: E402
import zoo_peers  # noqa: E402
import zoo_report  # noqa: E402
from zoo_report import AGAIN, ORIGINAL, PLAIN, SETTINGS, THERE, TUNED  # noqa: E402
from zoo_tools import HERE, ROOT, answer, made_by, sound  # noqa: E402

FORMAT = 2       # of zoo.json
PATIENCE = 1200  # seconds of timing one model at one setting


def rounded(value):
    """The same with numbers of 4 digits, and without the folders of models in what programs say."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"/\S*/(?=[^/\s]+\.onnx\b)", "", value)
    return float(f"{value:.4g}") if isinstance(value, float) else value


def optimised(args, entry, source, target, *options):
    """What regraft took, facts of its result, and what its report says."""
    report = target.with_suffix(".json")
    line = [args.regraft, "optimize", source, "-o", target, "--json", report, "--quiet", *options]
    result = made_by(line, entry, source, target, "--hostile")
    if result.get("exit") != 0 or not report.exists():
        return result
    told = json.loads(report.read_text(encoding="utf-8"))
    cost = {side: told[side]["cost"] for side in ("before", "after")}
    return {**result, "kept": told["kept"], "sizes": told["dynamic"],
            "predicted": cost["after"] / max(cost["before"], 1e-9)}


def at_sizes(entry, sizes):
    """The entry with these sizes for its open dimensions: what regraft takes for typical."""
    dynamic = {name: [sizes.get(name, known[0])] * 2 for name, known in entry["dynamic"].items()}
    return {**entry, "dynamic": dynamic}


def job(entry, setting, files, args):
    """What zoo_time.py does at one setting; None: the model has no such setting."""
    threads, batch, passes = SETTINGS[setting]
    if batch is not None and "batch" not in entry["dynamic"]:
        return None
    models = [[name, "openvino" if name in THERE else "onnxruntime", str(path),
               THERE[0] if name in THERE else ORIGINAL] for name, path in files.items()]
    seconds = args.seconds if setting == next(iter(SETTINGS)) else args.seconds_more
    return {"entry": entry, "batch": batch, "threads": threads, "passes": passes,
            "seconds": seconds / passes, "models": models}


def times_of(entry, files, args):
    """By setting; the original says why it does not run at these sizes."""
    jobs = {setting: job(entry, setting, files, args) for setting in SETTINGS}
    return {setting: answer("zoo_time.py", json.dumps(todo), patience=PATIENCE)
            for setting, todo in jobs.items() if todo}


def runs(times):
    main = times[next(iter(SETTINGS))]
    return "error" not in main.get("models", {}).get(ORIGINAL, {})


def measured(args, entry, folder, cache):
    source = pathlib.Path(args.zoo, entry["file"])
    plain, tuned = folder / "plain.onnx", folder / "tuned.onnx"
    results = {"regraft": optimised(args, entry, source, plain),
               TUNED: optimised(args, entry, source, tuned, "--target", "openvino")}
    files = {ORIGINAL: source, "regraft": plain}
    for peer in zoo_peers.PEERS:
        results[peer], files[peer] = zoo_peers.made(peer, entry, source, cache)
    files.update({AGAIN: source, THERE[0]: source, TUNED: tuned, PLAIN: plain})
    results[PLAIN] = results["regraft"]
    files = {name: path for name, path in files.items() if sound(results.get(name, {"nodes": 0}))}
    del results[PLAIN]
    timed = at_sizes(entry, results["regraft"].get("sizes", {}))
    times = times_of(timed, files, args)
    if not runs(times):
        timed, times = entry, times_of(entry, files, args)
    best = files.get("regraft", source)
    return rounded({"entry": entry, "results": results, "times": times,
                    "bound": answer("zoo_bound.py", json.dumps(timed), best, source)})


def store(path, kept):
    """A line for each model."""
    head = json.dumps({key: value for key, value in kept.items() if key != "models"}, indent=1)
    models = ",\n".join(f"  {json.dumps(name)}: {json.dumps(case)}"
                        for name, case in kept["models"].items())
    new = path.with_suffix(".new")
    new.write_text(f'{head[:-2]},\n "models": {{\n{models}\n }}\n}}\n', encoding="utf-8")
    new.replace(path)


def loaded(path):
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return kept if kept.get("format") == FORMAT else {"format": FORMAT, "models": {}}


def about(args):
    """What the document says of the programs and the times."""
    names = [*zoo_peers.PEERS, "onnxruntime", "openvino"]
    return {"versions": {name: peers.version(name) for name in names},
            "seconds": [args.seconds, args.seconds_more]}


def measure_all(args, kept, cache):
    entries = json.loads(pathlib.Path(args.zoo, "zoo.json").read_text(encoding="utf-8"))
    asked = [e for e in entries if not args.only or e["name"] in args.only]
    missing = set(args.only) - {e["name"] for e in asked}
    if missing:
        sys.exit(f"{args.zoo}/zoo.json has no {', '.join(sorted(missing))}")
    for entry in asked:
        name = entry["name"]
        if args.peers_only:
            source = pathlib.Path(args.zoo, entry["file"])
            found = {p: zoo_peers.made(p, entry, source, cache)[0] for p in zoo_peers.PEERS}
            print(name, *(f"{p}: {zoo_report.told(r)};" for p, r in found.items()), flush=True)
        elif args.again or name not in kept["models"]:
            with tempfile.TemporaryDirectory() as folder:
                kept["models"][name] = measured(args, entry, pathlib.Path(folder), cache)
            store(args.keep, kept)
            print(zoo_report.line(name, kept["models"][name]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", metavar="DIR")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what zoo.json has already")
    parser.add_argument("--cache", metavar="DIR", type=pathlib.Path, help="of the peers' results")
    parser.add_argument("--peers-only", action="store_true", help="fill the cache")
    parser.add_argument("--seconds", type=float, default=6, help="one thread, batch 1: %(default)s")
    parser.add_argument("--seconds-more", type=float, default=2,
                        help="each other setting: %(default)s")
    parser.add_argument("--table", action="store_true", help="only write the document")
    parser.add_argument("--keep", type=pathlib.Path, default=HERE / "zoo.json")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "zoo.md")
    args = parser.parse_args()
    if not args.table and not args.zoo or args.peers_only and not args.cache:
        parser.error("--zoo is needed, and --cache for --peers-only")
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    kept = loaded(args.keep)
    if not args.table:
        with tempfile.TemporaryDirectory() as folder:
            cache = args.cache or pathlib.Path(folder)
            cache.mkdir(parents=True, exist_ok=True)
            if not args.peers_only:
                kept.update(about(args))
            measure_all(args, kept, cache)
    if not args.peers_only:
        if not kept["models"]:
            sys.exit(f"{args.keep}: no figures of this format")
        args.out.write_text(zoo_report.document(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
