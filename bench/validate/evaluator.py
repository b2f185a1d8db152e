"""Says by running whether two models compute the same: onnxruntime, its optimisations off, random
inputs at each setting of the open sizes, at several magnitudes, integers that the zoo keeps at one
value also drawn. It knows nothing of proofs.

Differences count where both outputs are finite, as a share of the output's largest magnitude. A
mutant differs where its difference is above LIMIT, and above MARGIN times what the right pair's
own sides differ there by rounding.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import zoo_check  # noqa: E402

LIMIT = 1e-3     # of an output's largest magnitude
MARGIN = 100     # times the rounding of the right pair
ACCIDENT = 1e-5  # up to here a mutant is equal by accident; between the two it is close
RIGHT = 1e-4     # what the sides of a right pair may differ
FACTORS = [1, 0.1, 10]
SETTINGS = 2


def difference(expected, given):
    """Of one output; infinite where shapes or types are others."""
    if expected.shape != given.shape or expected.dtype != given.dtype:
        return float("inf")
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(expected, given) else 1.0
    a, b = expected.astype(np.float64), given.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return 0.0
    return float(np.abs(a[both] - b[both]).max() / max(np.abs(a[both]).max(), 1e-6))


def widened(entry):
    """The record of a model with integers of one value drawn from 0 to it; None: it has none."""
    ranges = {name: [0, high] if low == high else [low, high]
              for name, (low, high) in entry["ranges"].items()}
    return {**entry, "ranges": ranges} if ranges != entry["ranges"] else None


def feeds(model, entry):
    """(what they are, inputs), those of magnitude 1 first."""
    usual = [zoo_check.feed(model, entry, setting) for setting in range(SETTINGS)]
    found = [(f"setting {k}", values) for k, values in enumerate(usual)]
    wide = widened(entry)
    if wide:
        found.append(("setting 1, wide", zoo_check.feed(model, wide, 1)))
    if any(array.dtype.kind == "f" for array in usual[0].values()):
        found += [(f"setting {k}, times {factor}",
                   zoo_check.scaled(values, lambda _, by=factor: np.float64(by)))
                  for factor in FACTORS if factor != 1 for k, values in enumerate(usual)]
    return found


def loaded(model):
    """A session of a ModelProto or of a file."""
    return zoo_check.session(model.SerializeToString() if isinstance(model, onnx.ModelProto)
                             else str(model))


class Evaluator:
    """What the first model of a pair gives, and how far the second's rounding is from it."""

    def __init__(self, entry, before, after):
        running, second = loaded(before), loaded(after)
        known = onnx.load(before, load_external_data=False) if not isinstance(
            before, onnx.ModelProto) else before
        self.known = []  # (what, inputs, outputs, differences of the second model)
        for what, values in feeds(known, entry):
            try:
                expected = running.run(None, values)
                given = second.run(None, values)
            except Exception:  # the magnitude is no input of this model
                if what == "setting 0":
                    raise
                continue
            self.known.append((what, values, expected,
                               [difference(a, b) for a, b in zip(expected, given)]))

    def right(self):
        """Whether the pair's own sides agree, as far as can be seen."""
        return all(max(floors, default=0) <= RIGHT for what, _, _, floors in self.known
                   if "times" not in what and "wide" not in what)

    def judge(self, mutant):
        """{verdict: differs | close | equal by accident | invalid, difference, at}."""
        try:
            running = loaded(mutant)
        except Exception as problem:  # whatever the runtime throws
            return {"verdict": "invalid", "why": zoo_check.first_line(problem)}
        worst, at = 0.0, ""
        for place, (what, values, expected, floors) in enumerate(self.known):
            try:
                given = running.run(None, values)
            except Exception as problem:
                return {"verdict": "invalid", "why": zoo_check.first_line(problem)}
            found = [difference(a, b) for a, b in zip(expected, given)]
            if place == 0 and float("inf") in found:
                return {"verdict": "invalid", "why": "another shape or type"}
            if any(d > max(LIMIT, MARGIN * floor) for d, floor in zip(found, floors)):
                return {"verdict": "differs", "difference": max(found), "at": what}
            if max(found, default=0) > worst:
                worst, at = max(found), what
        beyond = worst > ACCIDENT
        return {"verdict": "close" if beyond else "equal by accident", "difference": worst,
                "at": at}
