#!/usr/bin/env python3
"""How fast is the graph that a few measurements find? Writes bench/measured.md and
bench/measured.json.

  python bench/measured/run_measured.py --zoo DIR --kept DIR [--only NAME ...] [--measure]
  python bench/measured/run_measured.py                         # the page alone

Needs bench/requirements.txt. For each model `regraft optimize --pool` writes graphs that compute the
same, and each is timed in onnxruntime in many interleaved rounds (time_pool.py). That is kept in
--kept, and done where it is missing with --measure. The rest is replay: `regraft bench measured` lets
each way of choosing draw its measurements from one half of the rounds, and the other half says what
the graphs that it ends with really take.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import measured_report  # noqa: E402

MODELS = [
    "gpt2-dynamo", "patch_tst-dynamo", "albert-script-batch", "mpnet-script-batch",
    "clip_vision-script-batch", "spectrogram_transformer-script-batch", "electra-dynamo-batch",
    "llama-dynamo", "qwen2_cache-dynamo", "modernbert-dynamo", "gemma2-dynamo",
    "llama_cache-dynamo-batch-past", "t5_encoder-script-batch-sequence",
    "distilbert-script-batch-sequence", "hubert-script-batch", "wav2vec2-script-batch-samples",
    "whisper_decoder-script-batch-sequence", "qwen2-dynamo-batch-sequence",
    "clip_text-script-batch", "whisper_encoder-dynamo", "mobilenet_v3_small-dynamo",
    "shufflenet_v2-dynamo-batch", "keyword_spotter-dynamo-batch", "crnn-dynamo", "tcn-dynamo",
]
GRAPHS, LEAST_GRAPHS = 256, 32
BUDGETS = [4, 8, 16, 32, 64, 128]
FIGURES = HERE.parent / "measured.json"


def regraft(args, *arguments):
    run = subprocess.run([args.regraft, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"regraft {arguments[0]}: {run.stderr.strip()}")


def measure(args, name):
    """The pool of a model, timed: NAME.json with what is known of each graph, and its times."""
    model = args.zoo / f"{name}.onnx"
    profile = args.kept / "measured.profile"
    regraft(args, "calibrate", model, "--runtime", "onnxruntime", "-o", profile, "--time",
            args.calibration, "-q")
    with tempfile.TemporaryDirectory(dir=args.kept) as temporary:
        folder = pathlib.Path(temporary)
        regraft(args, "optimize", model, folder / "result.onnx", "--cost", profile, "--no-measure",
                "--check", 0, "--search-time", args.search, "--candidates", GRAPHS, "--pool",
                folder / "pool", "-q")
        times = folder / "times.json"
        subprocess.run([sys.executable, str(HERE / "time_pool.py"), str(folder / "pool"),
                        str(args.timing), str(times)], check=True)
        pool = json.loads((folder / "pool/pool.json").read_text())
        timed = json.loads(times.read_text())
        known = {g["file"]: g for g in pool["graphs"]}
        if len(timed["files"]) < LEAST_GRAPHS:
            raise RuntimeError(f"{len(timed['files'])} graphs run")
        pool["graphs"] = [known[file] for file in timed.pop("files")]
        pool.update(timed)
        shutil.copy(write(folder / "whole.json", pool), args.kept / f"{name}.json")


def write(path, content):
    path.write_text(json.dumps(content))
    return path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=pathlib.Path)
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names")
    parser.add_argument("--measure", action="store_true", help="the pools that are missing")
    for what, seconds in (("calibration", 30), ("search", 8), ("timing", 40)):
        parser.add_argument(f"--{what}", type=float, default=seconds, help="seconds for each model")
    parser.add_argument("--seeds", type=int, default=20, help="replays of each way of choosing")
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    return parser.parse_args()


def measure_all(args):
    for name in MODELS:
        if args.only and not any(part in name for part in args.only):
            continue
        if (args.kept / f"{name}.json").exists() or not (args.zoo / f"{name}.onnx").exists():
            continue
        try:
            measure(args, name)
            print(name, flush=True)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)


def main():
    args = arguments()
    if args.kept:
        args.kept.mkdir(parents=True, exist_ok=True)
        if args.measure:
            measure_all(args)
        pools = [f for name in MODELS if (f := args.kept / f"{name}.json").exists()]
        regraft(args, "bench", "measured", *pools, "--budgets", *BUDGETS, "--seeds", args.seeds,
                "--json", FIGURES, "-q")
    (HERE.parent / "measured.md").write_text(
        measured_report.page(json.loads(FIGURES.read_text())))


if __name__ == "__main__":
    main()
