#!/usr/bin/env python3
"""bench/features: docs/comparison.md is what its record says, and the quick probes of regraft find
the same again; a probe can also fail.

  python features_test.py [TestClass[.test]]
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/features"), str(venv.ROOT / "bench")]

import onnx  # noqa: E402

import features  # noqa: E402
import features_report  # noqa: E402
import models  # noqa: E402
import probes_regraft  # noqa: E402
import run_features  # noqa: E402
import tools  # noqa: E402
import trial  # noqa: E402
import trials  # noqa: E402

RECORD = json.loads(run_features.RECORD.read_text())
# Those that take seconds, need other tools, or what is built elsewhere.
SLOW = {"huge", "interrupt", "measured", "memory", "progress", "time", "deterministic", "gym",
        "proof", "counterexample", "compare", "wheel", "platforms", "dependencies", "pythons",
        "bisect", "graphs", "explain", "no runtime", "bfloat16", "newest", "onnx_ir", "unchanged"}


def own_probes():
    return {**trials.TRIALS, **probes_regraft.PROBES}


class Page(unittest.TestCase):
    def test_is_what_the_record_says(self):
        self.assertEqual(run_features.PAGE.read_text(),
                         features_report.page(RECORD, run_features.COLUMNS))

    def test_each_feature_has_a_cell_of_each_tool(self):
        self.assertEqual(set(RECORD["cells"]), set(features.NAMES))
        for key in features.NAMES:
            for tool in run_features.COLUMNS:
                with self.subTest(key, tool=tool):
                    cell = RECORD["cells"][key][tool]
                    self.assertIn(cell["verdict"], ("yes", "partly", "no", "value"))
                    self.assertTrue(cell["ran"])
                    self.assertLess(len(cell["note"]), 60)
                    if cell["verdict"] == "partly":
                        self.assertTrue(cell["note"])

    def test_features_are_told_apart_and_explained(self):
        names = [name for _, entries in features.SECTIONS for _, name, _ in entries]
        self.assertEqual(len(set(names)), len(names))
        for _, entries in features.SECTIONS:
            for _, _, how in entries:
                self.assertTrue(how.endswith("."))

    def test_a_note_is_numbered_once(self):
        notes = []
        cell = {"verdict": "partly", "note": "words"}
        self.assertEqual([features_report.cell_text(cell, notes) for _ in range(2)],
                         ["partly (1)"] * 2)
        self.assertEqual(features_report.cell_text(None, notes), "?")


class Models(unittest.TestCase):
    def test_are_valid(self):
        for key, (builders, *_) in trials.TRANSFORMED.items():
            for build in builders:
                with self.subTest(key):
                    onnx.checker.check_model(build(), full_check=True)


class Idle(trial.Tool):
    """A tool that does nothing, and one that does the wrong thing."""
    name = "idle"

    def __init__(self, change=lambda model: model):
        self.ways = [trial.Way("", "nothing", change)]


def spoilt(model):
    for node in model.graph.node:
        if node.op_type == "Relu":
            node.op_type = "Sigmoid"
    return model


class Trials(unittest.TestCase):
    def test_a_tool_that_does_nothing_simplifies_nothing(self):
        keeps = {"parallel", "names"}
        for key in trials.TRANSFORMED:
            if key in SLOW or key in keeps:
                continue
            with self.subTest(key):
                self.assertEqual(trials.TRIALS[key](Idle()).verdict, "no")

    def test_a_wrong_result_does_not_count(self):
        def folded(model):
            made = models.branches_by_hand()
            return spoilt(made)
        self.assertEqual(trials.TRIALS["branches"](Idle(folded)).verdict, "no")
        right = trials.TRIALS["branches"](Idle(lambda model: models.branches_by_hand()))
        self.assertEqual(right.verdict, "yes")

    def test_words_that_are_found_leave_a_cell_open(self):
        tool = Idle()
        tool.described = [trial.absent]
        self.assertEqual(trial.absent(tool, "unclear").verdict, "?")
        self.assertEqual(trial.absent(tool, "unlikely words").verdict, "no")


class Regraft(unittest.TestCase):
    def test_the_quick_probes_find_the_same(self):
        library = tools.ROOT / "build/release/libregraft.so"
        if not library.exists() or not pathlib.Path(tools.PROGRAM).exists():
            venv.skip("the library is not built")
        tool, probes = tools.Regraft(), own_probes()
        for key in features.NAMES:
            if key in SLOW or key not in probes:
                continue
            with self.subTest(key):
                cell = run_features.tried(tool, probes, key)
                kept = RECORD["cells"][key]["regraft"]
                self.assertEqual(cell["verdict"], kept["verdict"], cell["found"])
                if cell["verdict"] != "yes":  # else by which way: that depends on the processor
                    self.assertEqual(cell["note"], kept["note"], cell["found"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
