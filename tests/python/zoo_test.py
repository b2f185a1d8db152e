#!/usr/bin/env python3
"""bench/zoo: speed-ups and intervals, the check at hostile magnitudes, what bounds a model, and the
document, from made-up times.

  python zoo_test.py [TestClass[.test]]
"""
import json
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench" / "zoo"), str(venv.ROOT / "bench")]

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import peers  # noqa: E402
import run_zoo  # noqa: E402
import zoo_bound  # noqa: E402
import zoo_check  # noqa: E402
import zoo_figures  # noqa: E402
import zoo_peers  # noqa: E402
import zoo_report  # noqa: E402
import zoo_time  # noqa: E402
import zoo_tools  # noqa: E402

ENTRY = {"name": "m", "file": "m.onnx", "architecture": "m", "form": "eval", "nodes": 2,
         "dynamic": {"batch": [1, 3]}, "ranges": {}}


def write(path, nodes, sizes=("batch", 4)):
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, inputs, [output]) for op, inputs, output in nodes], "m",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, sizes)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)])
    onnx.save(onnx.helper.make_model(graph, ir_version=8, opset_imports=[
        onnx.helper.make_opsetid("", 17)]), path)
    return str(path)


class Figures(unittest.TestCase):
    def test_the_ratio_is_that_of_runs_beside_each_other(self):
        reference = [100.0, 900.0, 110.0, 100.0, 105.0]
        found = zoo_figures.speed([(reference, [t / 2 for t in reference])])
        for key in ("ratio", "low", "high"):
            self.assertAlmostEqual(found[key], 2.0)

    def test_the_interval_holds_what_differs_between_rounds_and_between_passes(self):
        draw = np.random.default_rng(0)
        noisy = lambda centre: (draw.normal(centre, 2, 200).tolist(), [100.0] * 200)
        alike = zoo_figures.speed([noisy(100), noisy(100)])
        apart = zoo_figures.speed([noisy(90), noisy(110)])
        self.assertLess(alike["high"] - alike["low"], 0.02)
        self.assertLess(alike["low"], 1.0)
        self.assertGreater(alike["high"], 1.0)
        self.assertLess(apart["low"], 0.92)
        self.assertGreater(apart["high"], 1.08)

    def test_an_error_in_one_pass_leaves_no_figure(self):
        passes = [{"a": [2000.0], "b": [1000.0], "c": [1.0]}, {"a": [2000.0], "b": [1000.0],
                                                              "c": "gone"}]
        found = zoo_figures.figures(passes, {"a": "a", "b": "a", "c": "a"})
        self.assertEqual(list(found["a"]), ["ms"])
        self.assertAlmostEqual(found["a"]["ms"], 2.0)
        self.assertAlmostEqual(found["b"]["ratio"], 2.0)
        self.assertEqual(found["c"], {"error": "gone"})


class Rounds(unittest.TestCase):
    def test_each_runs_once_a_round_and_the_kinds_stay_together(self):
        ran = []

        class Counter:
            def __init__(self, name):
                self.name, self.error, self.samples = name, "", []

            def run(self):
                ran.append(self.name)
                self.samples.append(1.0)
        groups = [[Counter("a1"), Counter("a2"), Counter("a3")], [Counter("b1")], []]
        zoo_time.rounds(groups, 0.0)
        for runner in groups[0] + groups[1]:
            self.assertEqual(len(runner.samples), zoo_time.LEAST_ROUNDS)
        for start in range(0, len(ran), 6):  # with one that is not timed before each kind
            self.assertEqual([name[0] for name in ran[start:start + 6]], list("aaaabb"))

    def test_models_are_timed_and_one_that_does_not_run_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            good = write(pathlib.Path(folder, "good.onnx"), [("Exp", ["x"], "y")])
            fixed = write(pathlib.Path(folder, "fixed.onnx"), [("Exp", ["x"], "y")], (1, 4))
            found = zoo_tools.answer("zoo_time.py", json.dumps(
                {"entry": ENTRY, "batch": 8, "threads": 1, "passes": 2, "seconds": 0.01,
                 "models": [["original", "onnxruntime", good, "original"],
                            ["same", "onnxruntime", good, "original"],
                            ["fixed", "onnxruntime", fixed, "original"]]}))
        self.assertGreater(found["models"]["same"]["ratio"], 0)
        self.assertIn("error", found["models"]["fixed"])


class Check(unittest.TestCase):
    def compared(self, original, other):
        with tempfile.TemporaryDirectory() as folder:
            paths = [write(pathlib.Path(folder, name), nodes)
                     for name, nodes in (("a.onnx", original), ("b.onnx", other))]
            return zoo_check.check(ENTRY, paths[0], paths[1:], with_hostile=True)[1]

    def test_what_overflows_only_in_the_result_is_wrong(self):
        found = self.compared([("Div", ["x", "x"], "q"), ("Mul", ["q", "x"], "a"),
                               ("Sqrt", ["a"], "y")],
                              [("Mul", ["x", "x"], "s"), ("Mul", ["s", "s"], "f"),
                               ("Div", ["f", "s"], "b"), ("Div", ["b", "x"], "a"),
                               ("Sqrt", ["a"], "y")])
        self.assertLess(max(found["differences"]), zoo_tools.TOLERANCE)
        difference, allowed = found["hostile"]["1e+12"]
        self.assertGreater(difference, allowed)
        self.assertIs(zoo_tools.agrees(found), False)

    def test_what_overflows_only_in_the_original_is_not(self):
        found = self.compared([("Exp", ["x"], "e"), ("Log", ["e"], "y")],
                              [("Identity", ["x"], "y")])
        self.assertLess(found["hostile"]["10000"][0], 1e-3)

    def test_rounding_that_the_original_enlarges_is_allowed(self):
        found = self.compared([("Sin", ["x"], "y")],
                              [("Add", ["x", "x"], "t"), ("Sub", ["t", "x"], "s"),
                               ("Sin", ["s"], "y")])
        self.assertGreater(found["hostile"]["1e+12"][1], 0.1)
        self.assertIs(zoo_tools.agrees(found), True)


class Bound(unittest.TestCase):
    def test_products_and_the_rest(self):
        found = zoo_bound.bound([("FusedConv", 60.0), ("MatMulNBits", 20.0), ("Transpose", 6.0),
                                 ("Add", 5.0), ("Transpose", 6.0)], 100.0)
        self.assertAlmostEqual(found["heavy"], 0.8)
        self.assertAlmostEqual(found["bound"], 1.25)
        self.assertEqual(list(found["rest"]), ["Transpose", "Add"])

    def test_no_products(self):
        self.assertIsNone(zoo_bound.bound([("Add", 5.0)], 6.0)["bound"])

    def test_what_the_profiler_costs_is_taken_off(self):
        found = zoo_bound.bound([("Conv", 12.0), ("Add", 6.0), ("Mul", 1.0), ("Sub", 1.0)], 12.0)
        self.assertAlmostEqual(found["heavy"], 10 / 12)  # two of each
        self.assertAlmostEqual(found["rest"]["Add"], 4 / 12)
        self.assertNotIn("Mul", found["rest"])

    def test_of_a_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write(pathlib.Path(folder, "m.onnx"), [("MatMul", ["x", "x"], "p"),
                                                          ("Exp", ["p"], "y")], (128, 128))
            times, total = zoo_bound.profiled({**ENTRY, "dynamic": {}}, path, path)
        self.assertEqual({operator for operator, _ in times}, {"MatMul", "Exp"})
        self.assertGreater(total, 0)


class Peers(unittest.TestCase):
    def test_the_types_of_a_transformer(self):
        known = {"bert": (None, "", 1), "t5": (None, "", 0), "gpt2": (None, "", 1)}
        self.assertEqual(peers.attempts(known, "t5"), [("t5", 0), ("bert", 1), ("bert", 0)])
        self.assertEqual(peers.attempts(known, "distilbert"), [("bert", 1), ("bert", 0)])
        self.assertEqual(peers.attempts(known, "resnet"), [("bert", 1), ("bert", 0)])

    def test_a_program_that_does_not_end_is_told(self):
        found = zoo_tools.made_by(["sleep", "60"], ENTRY, "", "", patience=0.1)
        self.assertEqual(found["error"], "no end after 0.1 s")
        self.assertLess(found["late"], 0.1)  # it computed nothing

    def test_a_result_is_kept_unless_the_time_ended_for_want_of_a_processor(self):
        answers = iter([{"error": "no end", "late": 1.0}, {"error": "no end", "late": 59.0}])
        made_by = zoo_tools.made_by
        self.addCleanup(setattr, zoo_tools, "made_by", made_by)
        zoo_tools.made_by = lambda *_, **__: next(answers)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            source = write(folder / "m.onnx", [("Exp", ["x"], "y")])
            seconds = [zoo_peers.made("onnxslim", ENTRY, source, folder)[0]["late"]
                       for _ in range(3)]
        self.assertEqual(seconds, [1.0, 59.0, 59.0])


def result(**more):
    return {"exit": 0, "seconds": 1.0, "memory": 8e7, "nodes": 1, "differences": [1e-7],
            "hostile": {"1e+12": [1e-6, 1e-4]}, **more}


def timed(**ratios):
    models = {"original": {"ms": 1.0}, zoo_report.THERE[0]: {"ms": 0.5}}
    models.update({name.replace("_", " "): {"ms": 1 / r, "ratio": r, "low": r - 0.01,
                                            "high": r + 0.01} for name, r in ratios.items()})
    return {"rounds": 9, "device": "d", "models": models}


def case(name, regraft, **more):
    results = {"regraft": result(kept=False, predicted=0.9), zoo_report.TUNED: result()}
    results.update({peer: result() for peer in zoo_peers.PEERS})
    results.update(more)
    ratios = {"regraft": regraft, "original_again": 1.0}
    ratios.update({p: 1.05 for p in zoo_peers.PEERS if zoo_tools.sound(results[p])})
    return {"entry": {**ENTRY, "name": name}, "results": results,
            "times": {zoo_report.MAIN: timed(**ratios)},
            "bound": {"heavy": 0.8, "bound": 1.25, "rest": {"Add": 0.2}}}


class Document(unittest.TestCase):
    def setUp(self):
        self.kept = {"format": run_zoo.FORMAT, "versions": {"onnxsim": "1"}, "seconds": [6, 2],
                     "models": {
            "a": case("a", 1.2, onnxsim=result(differences=[0.5]), onnxslim={"error": "exit 139"}),
            "b": case("b", 0.9)}}

    def test_summary(self):
        text = zoo_report.document(self.kept)
        self.assertIn("| regraft | 2 | 1.039 | 1.039 | - | 1.039 | 0.90 (0.89 to 0.91) | b | 1.20 "
                      "| 1 | 1 | 0 | 0 |", text)
        self.assertIn("| onnxsim | 1 | 1.050 | 1.050 | - | 1.050 | 1.05 (1.04 to 1.06) | b | 1.05 "
                      "| 0 | 0 | 1 | 0 |", text)
        self.assertIn("| b | 1.05 | 0 | 0 | 0 | 1 |", text)
        self.assertIn("| b | 0.90 (0.89 to 0.91) | onnxsim | 1.05 (1.04 to 1.06) |", text)

    def test_models(self):
        text = zoo_report.document(self.kept)
        self.assertIn("| a | 1.00 | 1.20 | 1.19 to 1.21 | 1.00 | wrong | failed | 1.05 | 1.05 | "
                      "1.05 | 80 % | 1.25 | - | - | - | - |", text)
        self.assertIn("| b | 1.00 | **0.90** |", text)
        self.assertIn("* a, onnxsim: differs by 5e-01", text)
        self.assertIn("* a, onnxslim: exit 139", text)

    def test_it_is_kept_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "zoo.json")
            run_zoo.store(path, self.kept)
            self.assertEqual(run_zoo.loaded(path), self.kept)
            path.write_text('{"models": {"a": 1}}')  # of another format
            self.assertEqual(run_zoo.loaded(path)["models"], {})

    def test_settings_that_a_model_lacks(self):
        args = types.SimpleNamespace(seconds=6, seconds_more=2)
        closed = {**ENTRY, "dynamic": {}}
        files = {"original": "m.onnx", zoo_report.THERE[0]: "m.onnx"}
        self.assertIsNone(run_zoo.job(closed, zoo_report.BATCH, files, args))
        self.assertEqual(run_zoo.job(ENTRY, zoo_report.BATCH, files, args)["batch"], 8)
        self.assertEqual([m[1] for m in run_zoo.job(ENTRY, zoo_report.MAIN, files, args)["models"]],
                         ["onnxruntime", "openvino"])


if __name__ == "__main__":
    unittest.main()
