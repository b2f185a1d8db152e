"""Times on this machine, in onnxruntime, what models consist of, for regraft's cost model.

  python -m regraft.profile MODEL.onnx ... [--profile FILE] [--threads N] [--provider cpu|cuda]
  python -m regraft.profile --serve

Each kernel that onnxruntime launches for the models is timed once and kept in FILE; a later call
times only what FILE lacks. Exit status 3: bad input.
"""
import argparse
import hashlib
import json
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional

from . import kernels, program, runtime, timing
from .program import Failure

SECONDS_EACH = 0.5  # at most, of timing a kernel
SAMPLE, LEAST = 12, 20.0  # kernels timed twice, of so many microseconds


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def wanted(args: argparse.Namespace, block: int, folder: str) -> List[Dict[str, str]]:
    """The kernels of the models that the profile lacks."""
    known = ["--profile", args.profile] if args.profile.exists() else []
    program.call("cost", "kernels", *args.models, "--runtime", "onnxruntime", "--block",
                 block, "--dir", folder, "--quiet", *known)
    listed = json.loads((pathlib.Path(folder) / "kernels.json").read_text())
    for kernel in listed:
        kernel["file"] = str(pathlib.Path(folder) / kernel["file"])
    return listed


def timed_kernels(args: argparse.Namespace, listed: List[Dict[str, str]]) -> List[Dict[str, Any]]:
    """Those that could be timed; the others are told about."""
    seconds = args.seconds or max(5.0, SECONDS_EACH * len(listed))
    results = kernels.time_kernels(listed, args.threads, seconds, args.provider)
    good = []
    for kernel, result in zip(listed, results):
        if "error" in result:
            say(f"not timed: {kernel['signature']}: {result['error']}")
        else:
            good.append({"signature": kernel["signature"], **result})
    return good


def spread(args: argparse.Namespace, good: List[Dict[str, Any]],
           listed: List[Dict[str, str]]) -> Optional[float]:
    """How far two timings of one kernel are apart, in the median over a sample; None of nothing."""
    files = {kernel["signature"]: kernel for kernel in listed}
    slow = sorted((k for k in good if k["microseconds"] >= LEAST), key=lambda k: k["microseconds"])
    sample = slow[::len(slow) // SAMPLE + 1]
    again = kernels.time_kernels([files[k["signature"]] for k in sample], args.threads,
                                 max(2.0, SECONDS_EACH * len(sample)), args.provider)
    ratios = [r["microseconds"] / k["microseconds"] for k, r in zip(sample, again)
              if r.get("microseconds")]
    return statistics.median(max(r, 1 / r) - 1 for r in ratios) if ratios else None


def timed_models(args: argparse.Namespace) -> List[Dict[str, Any]]:
    found = []
    for model in args.models:
        result = timing.time_models([str(model)], args.threads, args.seconds or 10.0,
                                    args.provider)[0]
        if "error" in result:
            say(f"not timed: {model}: {result['error']}")
            continue
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        found.append({"name": model.name, "sha256": digest, **result})
        say(f"{model.name}: {result['microseconds'] / 1000:.3f} ms, "
            f"+-{100 * result['noise']:.2f} %, {result['runs']} runs")
    return found


def profile(args: argparse.Namespace) -> int:
    for model in args.models:
        if not model.is_file():
            raise Failure(f"{model}: no such file")
    begin = time.perf_counter()
    machine = runtime.device(args.provider, args.threads)
    with tempfile.TemporaryDirectory() as folder:
        listed = wanted(args, machine["block"], folder)
        say(f"{machine['device']}, {machine['runtime']} {machine['version']}, "
            f"{args.threads} thread(s): {len(listed)} kernels to time")
        timed = timed_kernels(args, listed) if listed else []
        results = {**machine, "kernels": timed, "spread": spread(args, timed, listed),
                   "measured": int(time.time()),
                   "overhead": kernels.overhead(args.threads, provider=args.provider),
                   "models": timed_models(args) if args.whole else []}
        path = pathlib.Path(folder) / "results.json"
        path.write_text(json.dumps(results))
        program.call("cost", "add", path, "-o", args.profile)
    say(f"{args.profile}: {len(results['kernels'])} of {len(listed)} kernels added in "
        f"{time.perf_counter() - begin:.1f} s")
    return 0 if len(results["kernels"]) == len(listed) else 1


def arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m regraft.profile", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--profile", type=pathlib.Path, default=program.user_profile(),
                        help="the file to add to; %(default)s unless said")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--provider", choices=sorted(runtime.PROVIDERS), default="cpu")
    parser.add_argument("--seconds", type=float,
                        help="time for kernels; unless said, half a second for each at most")
    parser.add_argument("--whole", action="store_true", help="time the whole models too")
    parser.add_argument("--serve", action="store_true",
                        help="answer requests on stdin instead (for other programs)")
    args = parser.parse_args(given)
    if not args.serve and not args.models:
        parser.error("no model given")
    return args


def main(given: List[str]) -> int:
    args = arguments(given)
    if args.serve:
        from .worker import serve
        return serve()
    try:
        return profile(args)
    except Failure as failure:
        say(str(failure))
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
