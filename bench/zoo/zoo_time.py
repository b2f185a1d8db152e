"""Times models that compute the same, in turn; runs apart, because a runtime keeps what it
allocated.

  python bench/zoo/zoo_time.py JOB

JOB is JSON: "entry", the models' record in zoo.json; "batch", null or the size of an open batch;
"threads"; "passes", and the "seconds" of each; "models": [name, runtime, file, name of the model
that it is compared with]. The other open sizes have the first of their two. Each pass is a process
with sessions of its own, which every other pass opens in the opposite order; two are enough where
that takes long. Prints the number of rounds, the figures of zoo_figures.py, and the processor.
"""
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import sys
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import zoo_check  # noqa: E402
import zoo_figures  # noqa: E402
from regraft import runtime, timing  # noqa: E402

LEAST_ROUNDS, MOST_ROUNDS = 5, 2000
FEWEST_ROUNDS, LATE = 3, 8.0  # where it is late by so many seconds
FEWEST_PASSES, SLOW = 2, 15.0  # where it takes so many seconds to open the sessions


class Given:
    """The same inputs for every session."""

    def __init__(self, values):
        self.values = values

    def of(self, _):
        return self.values


def one_round(runners, draw):
    """Each once, in a random order: nobody always runs after the same other, which leaves the
    caches as it likes. What runs first has one that is not timed before it."""
    order = [runners[k] for k in draw.permutation(len(runners))]
    if order:
        order[-1].run()
        del order[-1].samples[-1:]
    for runner in order:
        runner.run()


def rounds(runners, seconds):
    """Those of one runtime run together, as another runtime leaves more behind."""
    draw, end = np.random.default_rng(0), time.perf_counter() + seconds
    for done in range(MOST_ROUNDS):
        late = time.perf_counter() - end
        if late > 0 and done >= LEAST_ROUNDS or late > LATE and done >= FEWEST_ROUNDS:
            return
        for group in runners:
            one_round([r for r in group if not r.error], draw)


def one_pass(job, backwards):
    """{name: microseconds, or the error}, and how many seconds it took to begin."""
    begin = time.perf_counter()
    models = sorted(job["models"][::-1] if backwards else job["models"], key=lambda m: m[1],
                    reverse=True)  # OpenVINO's are opened first each time
    original = onnx.load(job["models"][0][2], load_external_data=False)
    inputs = Given(zoo_check.feed(original, job["entry"], 0, job["batch"]))
    runners = [timing.runner(path, runtime, job["threads"], "cpu", inputs)
               for _, runtime, path, _ in models]
    # The session that a process opens last is several percent faster: this one is not timed.
    runners.append(timing.runner(job["models"][-1][2], "onnxruntime", job["threads"], "cpu",
                                 inputs))
    kinds = sorted({model[1] for model in models})
    opening = time.perf_counter() - begin
    rounds([[r for r, m in zip(runners, models) if m[1] == kind] for kind in kinds],
           job["seconds"])
    found = {model[0]: runner.error or runner.samples for model, runner in zip(models, runners)}
    return found, opening


def timed(job):
    spawn = multiprocessing.get_context("spawn")
    passes, opening = [], 0.0
    with concurrent.futures.ProcessPoolExecutor(1, spawn, max_tasks_per_child=1) as pool:
        while len(passes) < (min(FEWEST_PASSES, job["passes"]) if opening > SLOW
                             else job["passes"]):
            found, opening = pool.submit(one_pass, job, len(passes) % 2 == 1).result()
            passes.append(found)
    found = zoo_figures.figures(passes, {name: of for name, _, _, of in job["models"]})
    return {"rounds": sum(len(p[job["models"][0][0]]) for p in passes), "models": found,
            "device": runtime.device()["device"]}


if __name__ == "__main__":
    print(json.dumps(timed(json.loads(sys.argv[1]))))
