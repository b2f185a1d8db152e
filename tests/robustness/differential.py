#!/usr/bin/env python3
"""Optimises many models and compares them with their originals in onnxruntime.

  python differential.py backend REGRAFT [--searches windows,portfolio] [--sample N] [--json F]
  python differential.py random REGRAFT [--count N] [--seed N] [--json F]

backend: ONNX's test models (see backend_models.py), each as it is and in rewritable surroundings, against
the recorded outputs and against what onnxruntime computes of the original. random: models drawn by
random_models.py at several sizes of the dynamic dimensions and at ordinary and hostile magnitudes. None that
onnxruntime runs may be refused, none may compute something else, no finite result may become infinite or
undefined, and each result must load.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import backend_models  # noqa: E402
import random_models  # noqa: E402
import runtime  # noqa: E402
import surroundings  # noqa: E402

LIMIT_S = 120  # of one optimisation; one that takes longer fails
RTOL, ATOL = 1e-3, 1e-6  # beside the original: of an element; of the largest one in its tensor


class Campaign:
    def __init__(self, args):
        self.args = args
        self.counts = collections.Counter()
        self.failures = []
        self.rewritten = set()
        self.applied = collections.Counter()

    def optimise(self, source, target, search):
        """The report, or the failure's text."""
        report = pathlib.Path(f"{target}.json")
        command = [self.args.regraft, "optimize", str(source), "-o", str(target), "--quiet",
                   "--threads", "1", "--time", str(self.args.time), "--search", search, "--no-measure", "--json", str(report)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S,
                                  errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return f"no answer in {LIMIT_S} s"
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
        return json.loads(report.read_text())

    def fail(self, name, search, text):
        self.counts["failures"] += 1
        self.failures.append(f"{name} [{search}]: {text}")

    def took(self, name, report):
        if report.get("applied"):
            self.counts["rewritten runs"] += 1
            self.rewritten.add(name)
            self.applied.update(report["applied"])

    def summary(self):
        return {"counts": dict(sorted(self.counts.items())), "rewritten": len(self.rewritten),
                "rules applied": len(self.applied), "failures": self.failures}


def feeds_of(session, inputs):
    return {i.name: x for i, x in zip(session.get_inputs(), inputs)}


def original_outputs(model, inputs):
    """What onnxruntime makes of it; None when it does not run it, or not the same way twice."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = runtime.session(model)
            first = s.run(None, feeds_of(s, inputs))
            if not runtime.identical(first, runtime.session(model).run(None, feeds_of(s, inputs))):
                return None
            return first
    except Exception:
        return None


def tolerance(array, rtol):
    """Absolute: of the largest magnitude of its tensor."""
    if not isinstance(array, np.ndarray) or not runtime.is_real(array) or not array.size:
        return 0.0
    x = np.abs(array.astype(np.float64))
    x = x[np.isfinite(x)]
    coarse = {2: 1e-2}.get(array.dtype.itemsize, rtol)
    return float(coarse * x.max()) if x.size else 0.0


def judge_backend(campaign, case, kind, model, search, folder):
    name = f"{case.name} {kind}"
    source, target = folder / "in.onnx", folder / "out.onnx"
    source.write_bytes(model.SerializeToString())
    before = original_outputs(source, case.inputs) if case.inputs is not None else None
    if before is None:
        campaign.counts["not run by onnxruntime"] += 1
    report = campaign.optimise(source, target, search)
    if isinstance(report, str):
        if before is None:
            campaign.counts["refused, not run by onnxruntime either"] += 1
        else:
            campaign.fail(name, search, report)
        return
    campaign.took(name, report)
    if before is None:
        return
    try:
        runtime.session(target, optimised=True)
        s = runtime.session(target)
        after = s.run(None, feeds_of(s, case.inputs))
    except Exception as problem:
        campaign.fail(name, search, f"onnxruntime refuses the result: {str(problem)[:300]}")
        return
    if runtime.is_random(model):
        campaign.counts["draws random numbers: run, not compared"] += 1
        return
    campaign.counts["compared with the original"] += 1
    for k, (x, y) in enumerate(zip(after, before)):
        wrong = runtime.difference(x, y, RTOL, tolerance(y, ATOL))
        if wrong:
            campaign.fail(name, search, f"output {k}: {wrong}")
            return
    against_recorded(campaign, case, name, search, before, after)


def against_recorded(campaign, case, name, search, before, after):
    if case.outputs is None:
        return
    for k, expected in enumerate(case.outputs):
        expected = np.asarray(expected) if np.isscalar(expected) else expected
        rtol = max(case.rtol, RTOL)
        if runtime.difference(before[k], expected, rtol, case.atol):
            campaign.counts["onnxruntime differs from the recorded output"] += 1
            return
        wrong = runtime.difference(after[k], expected, rtol, case.atol + tolerance(before[k], ATOL))
        if wrong:
            campaign.fail(name, search, f"recorded output {k}: {wrong}")
            return
    campaign.counts["compared with the recorded outputs"] += 1


def models_of(case):
    yield "as it is", case.model
    rng = np.random.default_rng([7, *case.name.encode()])
    around = surroundings.wrapped(case, rng)
    if around is not None:
        yield "in surroundings", around


def run_backend(args):
    campaign = Campaign(args)
    cases = list(backend_models.all_cases())
    if not cases:
        venv.skip("no stored models")
    if args.sample:
        rng = np.random.default_rng(args.seed)
        cases = [cases[k] for k in sorted(rng.permutation(len(cases))[:args.sample])]
    campaign.counts["models"] = len(cases)

    def work(case):
        for kind, model in models_of(case):
            campaign.counts[f"models {kind}"] += 1
            for search in args.searches.split(","):
                with tempfile.TemporaryDirectory() as folder:
                    judge_backend(campaign, case, kind, model, search, pathlib.Path(folder))
    for_all(args, cases, work)
    return campaign


def for_all(args, items, work):
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for k, _ in enumerate(pool.map(work, items)):
            if args.progress and (k + 1) % 100 == 0:
                print(f"{k + 1} of {len(items)}", file=sys.stderr, flush=True)


def judge_random(campaign, made, search, folder):
    source, target = folder / "in.onnx", folder / "out.onnx"
    source.write_bytes(made.model.SerializeToString())
    before = runtime.session(source)
    report = campaign.optimise(source, target, search)
    if isinstance(report, str):
        campaign.fail(made.name, search, report)
        return
    campaign.took(made.name, report)
    try:
        onnx.checker.check_model(str(target), full_check=True)
        runtime.session(target, optimised=True)
        after = runtime.session(target)
    except Exception as problem:
        campaign.fail(made.name, search, f"the result does not load: {str(problem)[:300]}")
        return
    for label, feeds in made.inputs():
        expected = before.run(None, feeds)
        try:
            actual = after.run(None, feeds)
        except Exception as problem:
            campaign.fail(made.name, search, f"{label}: the result does not run: {str(problem)[:300]}")
            return
        campaign.counts["compared runs"] += 1
        wrong = random_models.difference(made, feeds, actual, expected)
        if wrong:
            campaign.fail(made.name, search, f"{label}: {wrong}")
            return


def run_random(args):
    campaign = Campaign(args)
    campaign.counts["models"] = args.count
    searches = args.searches.split(",")

    def work(number):
        made = random_models.make(args.seed, number)
        with tempfile.TemporaryDirectory() as folder:
            judge_random(campaign, made, searches[number % len(searches)], pathlib.Path(folder))
    for_all(args, range(args.first, args.first + args.count), work)
    return campaign


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["backend", "random"])
    parser.add_argument("regraft")
    parser.add_argument("--searches", default="windows,portfolio")
    parser.add_argument("--sample", type=int, default=0, help="only so many of the backend models")
    parser.add_argument("--count", type=int, default=5000, help="random models")
    parser.add_argument("--first", type=int, default=0, help="number of the first random model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, default=10, help="seconds of one search")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--json")
    args = parser.parse_args()
    campaign = {"backend": run_backend, "random": run_random}[args.part](args)
    summary = {"part": args.part, "seed": args.seed, **campaign.summary()}
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(summary, indent=1) + "\n")
    for key, value in summary["counts"].items():
        print(f"{key}: {value}")
    print(f"rewritten: {summary['rewritten']} models by {summary['rules applied']} rules")
    for failure in campaign.failures[:100]:
        print(failure)
    return 1 if campaign.failures or not campaign.counts["models"] else 0


if __name__ == "__main__":
    sys.exit(main())
