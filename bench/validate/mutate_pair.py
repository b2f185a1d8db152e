"""Makes mutants of the second model of one pair; runs apart, because a runtime may crash on one.

  python mutate_pair.py JOB

JOB is JSON: "entry", the model's record in zoo.json; "before", "after"; "kinds", in the order in
which they are tried; "count", how many mutants that differ are wanted; "seed"; "stem", of their
files. Prints {"right": whether the pair's sides agree, "mutants": [...]}.
"""
import json
import pathlib
import random
import sys

import onnx

import evaluator
import layout_mutations
import mutations
import subject

KINDS = {
    "attribute": mutations.attribute, "axis": mutations.axis, "constant": mutations.constant,
    "operand swapped": mutations.swapped, "operand replaced": mutations.replaced,
    "node dropped": mutations.dropped, "Transpose": layout_mutations.transpose,
    "broadcast": layout_mutations.broadcast,
}
ATTEMPTS = 4  # at one kind, until it gives a mutant that differs


def mutated(known, kind, draw):
    """(what was done, the mutant); None where the model has no place for the kind."""
    made = KINDS[kind](known, draw)
    if not made:
        return None
    what, edit = made
    copy = onnx.ModelProto.FromString(known.model.SerializeToString())
    edit(copy)
    del copy.graph.value_info[:]  # they tell of the model before the change
    return what, copy


def attempts(known, judge, kind, draw):
    """Records of the mutants of one kind, each with its model; the last may differ."""
    found, said = [], set()
    for _ in range(ATTEMPTS):
        made = mutated(known, kind, draw)
        if made is None or made[0] in said:
            continue
        said.add(made[0])
        verdict = judge.judge(made[1])
        found.append(({"kind": kind, "what": made[0], **verdict}, made[1]))
        if verdict["verdict"] == "differs":
            break
    return found


def make(job):
    judge = evaluator.Evaluator(job["entry"], job["before"], job["after"])
    if not judge.right():
        return {"right": False, "mutants": []}
    feeds = [values for what, values, *_ in judge.known if what in ("setting 0", "setting 1")]
    known = subject.Subject(onnx.load(job["after"]), feeds)
    draw, found, count = random.Random(job["seed"]), [], 0
    for kind in job["kinds"]:
        if count == job["count"]:
            break
        for record, model in attempts(known, judge, kind, draw):
            if record["verdict"] == "differs":
                record["after"] = f"{job['stem']}-{count}.onnx"
                onnx.save(model, record["after"])
                count += 1
            found.append(record)
    return {"right": True, "mutants": found}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    pathlib.Path(given["stem"]).parent.mkdir(parents=True, exist_ok=True)
    print(json.dumps(make(given)))
