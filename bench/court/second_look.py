#!/usr/bin/env python3
"""Runs the models of bench/court.json again, from their text and in new processes.

  build/venv-bench/bin/python bench/court/second_look.py [court.json]

Prints a line for each counted cause, and ends with status 1 where one is no longer made wrong.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import judge  # noqa: E402
import runs  # noqa: E402
from probe import Probe, inferred  # noqa: E402


def probe(cause):
    """The minimal model, its inputs as the counterexample has them."""
    model = onnx.parser.parse_model(cause["text"])
    made = inferred(model) or model
    given = {v.name: np.array(cause["feed"][v.name], runs.numpy_type(v))
             .reshape(shape(v, cause)) for v in made.graph.input if v.name in cause["feed"]}
    return Probe(cause["probe"], made, given)


def shape(value, cause):
    """As declared, where sizes are known: lists do not tell [0, 3] from [0]."""
    dims = value.type.tensor_type.shape.dim
    if all(not d.dim_param for d in dims):
        return [d.dim_value for d in dims]
    return np.shape(cause["feed"][value.name])


def levels(cause):
    if cause["tool"] == "onnxruntime":
        return [f"onnxruntime {level}" for level in cause["levels"]]
    return [cause["tool"]]


def again(cause, seed):
    """What is found now: a word, "right", or why it could not be run."""
    court = judge.Judge(seed)
    try:
        made = probe(cause)
        if not court.original(made):
            return "does not run"
        for tool in levels(cause):
            finding = court.judged(made, tool).finding
            if finding and not finding.edge:
                return finding.kind
        return "right"
    finally:
        court.stop()


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "court.json")
    known, gone = json.loads(path.read_text()), 0
    counted = [c for c in known["causes"] if c["counted"]]
    for number, cause in enumerate(counted, 1):
        said = again(cause, known["seed"])
        gone += said != cause["kind"]
        print(f"{number}. {cause['tool']} {cause['operators']}: {cause['kind']}, now {said}",
              flush=True)
    print(f"{len(counted) - gone} of {len(counted)} again")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
