"""What onnxsim's certificates say of the same pairs and mutants. They need fixed shapes: the open
sizes have the first of the two that the zoo knows."""
import json
import pathlib
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "history"), str(HERE.parent)]

import onnx  # noqa: E402

import cases  # noqa: E402
import environments  # noqa: E402
import evaluate  # noqa: E402
import history_report  # noqa: E402

TIME = 120                 # seconds for one pair
ADDRESSES = 16 * 1024**3   # bytes of addresses that it may take


def fixed(path, entry, out):
    sizes = types.SimpleNamespace(sizes={name: both[0] for name, both in entry["dynamic"].items()})
    onnx.save(evaluate.fixed(onnx.load(path), sizes), out)


def certify(python, case, entry):
    """{word: proved | skipped | refuted | error, details}."""
    with tempfile.TemporaryDirectory() as place:
        both = [str(pathlib.Path(place, f"{side}.onnx")) for side in ("before", "after")]
        try:
            for side, path in zip(("before", "after"), both):
                fixed(case[side], entry, path)
        except Exception as problem:  # onnx raises many kinds
            return {"word": "error", "details": [f"{type(problem).__name__}: {problem}"[:200]]}
        done = environments.run(["prlimit", f"--as={ADDRESSES}", python,
                                 str(HERE / "history/tools.py"), "certify", *both], TIME)
    if done is None:
        return {"word": "error", "details": [f"no end after {TIME} s"]}
    if done.returncode:
        return {"word": "error", "details": done.stderr.strip().splitlines()[-1:]}
    said = json.loads(done.stdout.strip().splitlines()[-1])
    return {"word": history_report.certified({"certify": said}),
            "details": [text[:200] for text in said["details"][:3]]}


def judge(judged, count, venvs, entries, results):
    """What they say of so many pairs and so many mutants: [{id, group, word}], beside what regraft
    said."""
    if not count:
        return []
    python, found = environments.certify(venvs), []
    for group in ("pair", "mutant"):
        for case in cases.stratified([c for c in judged if c["group"] == group], count):
            key = f"certify {case['before_digest']} {case['after_digest']} {TIME}"
            said = results.get(key, lambda case=case: certify(python, case, entries[case["model"]]))
            found.append({"id": case["id"], "group": group, "regraft": case["said"]["verdict"],
                          **said})
            print(f"certified: {said['word']:10} {case['id']}", flush=True)
    return found
