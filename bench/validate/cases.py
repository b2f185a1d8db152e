"""The pairs and the mutants that are validated, and what regraft says of one."""
import collections
import json
import os
import pathlib
import random
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))

import onnx  # noqa: E402

import doubles  # noqa: E402
import evaluator  # noqa: E402
import zoo_tools  # noqa: E402

TIME, MEMORY = 110, 4  # seconds and GB that regraft may take
PATIENCE = 180         # seconds until it is stopped
SHOWN_OPEN = 3


def pairs(folder):
    """A case for each pair that changed; a path in pairs.json may be relative to the folder."""
    found = []
    for record in json.loads((folder / "pairs.json").read_text()):
        if record.get("changed") in ("structure", "opset"):
            found.append({**record, "id": f"{record['model']}/{record['tool']}", "group": "pair",
                          "stratum": record["tool"], "before": str(folder / record["before"]),
                          "after": str(folder / record["after"])})
    return found


def mutants(folder):
    """A case for each mutant that the evaluator says differs."""
    found = []
    for record in json.loads((folder / "mutants.json").read_text())["mutants"]:
        if record["verdict"] == "differs":
            found.append({**record, "group": "mutant", "stratum": record["kind"],
                          "after": str(folder / record["after"])})
    return found


def sorted_out(folder):
    """How many mutants have which verdict of the evaluator, and its limits."""
    if not folder:
        return {}
    made = json.loads((folder / "mutants.json").read_text())
    return {**{key: made[key] for key in ("limit", "margin", "accident", "seed")},
            "verdicts": collections.Counter(m["verdict"] for m in made["mutants"])}


def stratified(cases, count, seed=1):
    """So many of the cases, as evenly as can be over their strata."""
    draw, strata = random.Random(seed), {}
    for case in cases:
        strata.setdefault(case["stratum"], []).append(case)
    for name in sorted(strata):
        draw.shuffle(strata[name])
    chosen = []
    while len(chosen) < count and any(strata.values()):
        chosen += [strata[name].pop() for name in sorted(strata) if strata[name]]
    return chosen[:count]


def chosen(cases, only, sample):
    cases = [case for case in cases if re.search(only, case["id"])]
    return stratified(cases, sample) if sample else cases


def command(regraft, case, report):
    return [regraft, "validate", case["before"], case["after"], "--quiet", "--time", TIME,
            "--memory", MEMORY, "--json", report]


def operators(rule):
    """Names of the operators in the text of a rule, each once."""
    return sorted(set(re.findall(r"(?<!\w)\(([a-z][\w.-]*)", rule)))


def summary(report):
    """What is kept of a report: verdicts, what was not decided, and whether it was replayed."""
    found = {"verdict": report["verdict"], "interface": report["interface"][:3],
             "outputs": [o["verdict"] for o in report["outputs"]],
             "reasons": sorted({o["reason"][:200] for o in report["outputs"] if o["reason"]}),
             "windows": len(report["windows"]), "constants": len(report["constants"])}
    if report["verdict"] == "unknown":
        found["open"] = [{"reason": o["reason"][:200], "rule": o["rule"][:400],
                          "operators": operators(o["rule"]), "a": o["a"], "b": o["b"]}
                         for o in report["unknown"][:SHOWN_OPEN]]
        found["apart"] = sorted({o["operator"] for o in report["apart"]})
    case = report["counterexample"]
    if case:
        found["counterexample"] = {
            "sizes": case["sizes"], "output": case["output"], "a": case.get("a"), "b": case.get("b"),
            "chosen": case["chosen"], "allowed": case.get("allowed"), "shapes": case.get("shapes"),
            "starts": case["starts"], "replayed": case["replayed"],
            "failure": case.get("failure", ""), "not_replayed": case.get("not_replayed", "")}
    return found


def validate(regraft, case):
    """Verdict, seconds and bytes at the peak of one case."""
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "report.json")
        ran = zoo_tools.run(command(regraft, case, path), PATIENCE)
        found = {"exit": ran["exit"], "seconds": round(ran["seconds"], 3), "memory": ran["memory"],
                 "processor": round(ran["processor"], 3),
                 "weights": sum(os.path.getsize(case[side]) for side in ("before", "after"))}
        if path.exists():
            return {**found, **summary(json.loads(path.read_text()))}
        return {**found, "verdict": "late" if "late" in ran else "failed", "told": ran["told"]}


def differences(entry, case):
    """What onnxruntime, its optimisations off, says of a pair: the largest differences, or why
    not."""
    found = zoo_tools.checked(entry, case["before"], [case["after"]])[-1]
    return {key: found[key] for key in ("differences", "error") if key in found}


def in_double(entry, case):
    """How far the sides are apart in double precision, as doubles.difference says."""
    before, after = onnx.load(case["before"]), onnx.load(case["after"])
    return doubles.difference(before, after, [v for _, v in evaluator.feeds(before, entry)])
