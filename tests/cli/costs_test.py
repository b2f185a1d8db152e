#!/usr/bin/env python3
"""Profiles, measurements and objectives from the command line.

  python costs_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
import untimed  # noqa: E402, F401
sys.path.insert(0, str(venv.ROOT / "bench/models"))

import onnx  # noqa: E402

import build_models  # noqa: E402

DONE, FAILED, USAGE, BAD_INPUT = 0, 1, 2, 3
REGRAFT = ""
ONE_RULE = ("#regraft-candidates 1\n"
            "add-comes-first  (matmul ?a (add ?b ?c)) => (add (matmul ?a ?b) (matmul ?a ?c))\n")


class Costs(unittest.TestCase):
    """Nothing that was measured before is seen, and nothing stays."""

    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        self.profiles = self.folder / "profiles"
        self.profiles.mkdir()
        self.out = self.folder / "out.onnx"
        self.report = self.folder / "report.json"

    def regraft(self, *arguments, **environment):
        mine = {"REGRAFT_PROFILES": str(self.profiles), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run([REGRAFT, *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300,
                              env={**os.environ, **mine, **environment})

    def done(self, *arguments, **environment):
        run = self.regraft(*arguments, **environment)
        self.assertEqual(run.returncode, DONE, f"{run.args}\n{run.stdout}{run.stderr}")
        return run.stdout

    def refused(self, place, *arguments, **environment):
        run = self.regraft(*arguments, **environment)
        self.assertEqual(run.returncode, BAD_INPUT, f"{run.stdout}{run.stderr}")
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, place)
        self.assertFalse(self.out.exists())

    def tiny(self, name="tiny_mobileone"):
        path = self.folder / f"{name}.onnx"
        onnx.save(build_models.MODELS[name](0), path)
        return path

    def calibrated(self, model):
        profile = self.profiles / "cpu.profile"
        self.done("calibrate", model, "--runtime", "cpu", "-o", profile, "--time", "2", "-q")
        return profile

    def optimized(self, model, *more, **environment):
        self.done("optimize", model, "-o", self.out, "--json", self.report, "--budget", "3000",
                  *more, **environment)
        return json.loads(self.report.read_text())

    def test_a_calibrated_machine_is_used_and_named(self):
        model = self.tiny()
        self.assertIn("roofline", self.optimized(model)["cost_model"])
        profile = self.calibrated(model)
        self.assertRegex(self.done("cost", "show", profile), r"(?s)cpu oneDNN.*dense-conv")
        self.assertRegex(self.done("cost", "show", profile, "--kernels"), r"conv %0 %1")
        self.assertRegex(self.done("cost", "predict", model), r"of which 0 \(0\.0 us\) are estimated")
        self.assertIn("estimated", self.done("cost", "predict", self.tiny("tiny_bert"), "--kernels"))
        report = self.optimized(model, "--target", "cpu")
        self.assertRegex(report["cost_model"], "profile of cpu oneDNN")
        self.assertLess(report["after"]["cost"], report["before"]["cost"])
        self.assertIn("roofline:", self.optimized(model, "--cost", "roofline")["cost_model"])
        self.assertIn("profile of cpu", self.optimized(model, "--cost", profile)["cost_model"])

    def test_a_second_calibration_measures_only_what_is_new(self):
        model, other = self.tiny(), self.tiny("tiny_bert")
        profile = self.calibrated(model)
        told = self.done("calibrate", model, "--runtime", "cpu", "-o", profile, "--time", "2")
        self.assertRegex(told, r"\b0 kernels measured")
        told = self.done("calibrate", other, "--runtime", "cpu", "-o", profile, "--time", "2")
        self.assertNotRegex(told, r"\b0 kernels measured")

    def test_plain_loops_calibrate_without_a_library(self):
        profile = self.profiles / "single.profile"
        self.done("calibrate", "--runtime", "single", "-o", profile)
        self.assertIn("otherwise", self.done("cost", "show", profile))
        before = self.optimized(self.tiny(), REGRAFT_PROFILES="")["cost_model"]
        self.assertNotEqual(self.optimized(self.tiny())["cost_model"], before)

    def test_the_last_word_is_a_measurement(self):
        report = self.optimized(self.tiny(), "--measure", "cpu", "--candidates", "2",
                                "--measure-time", "1")
        before, after = (report[side]["measured"]["microseconds"] for side in ("before", "after"))
        self.assertLessEqual(after, before)
        self.assertIn("oneDNN", report["measured_with"])
        self.assertTrue(report["check"]["passed"])
        self.assertTrue(list((self.folder / "cache/regraft").glob("*.profile")))

    def test_what_is_not_faster_leaves_the_model_as_it_was(self):
        candidates, rules = self.folder / "worse.candidates", self.folder / "worse.rules"
        candidates.write_text(ONE_RULE)
        self.done("verify", candidates, "-o", rules, "-q")
        model = self.folder / "sum.onnx"
        onnx.save(one_product(), model)
        report = self.optimized(model, "--rules", rules, "--measure", "cpu", "--measure-time", "1")
        self.assertTrue(report["kept"])
        self.assertEqual(report["before"]["operators"], report["after"]["operators"])
        self.assertEqual(onnx.load(model).graph.node, onnx.load(self.out).graph.node)

    def test_memory_is_an_objective(self):
        model = self.tiny("tiny_inception")
        for objective in ("memory", "mixed"):
            report = self.optimized(model, "--objective", objective)
            before, after = (report[s]["activation_bytes"] for s in ("before", "after"))
            self.assertGreater(before, 0)
            self.assertLessEqual(after, before)

    def test_models_are_timed_and_checked_on_the_cpu(self):
        model = self.tiny()
        self.optimized(model, "--check-on", "cpu")
        self.assertIn("agree", self.done("check", model, self.out, "--on", "cpu"))
        self.done("cost", "time", model, self.out, "--runtime", "cpu", "--time", "1", "--json",
                  self.report)
        timed = json.loads(self.report.read_text())["models"]
        self.assertEqual(len(timed), 2)
        self.assertTrue(all(t["microseconds"] > 0 and t["runs"] > 1 for t in timed))

    def test_variants_compute_the_same(self):
        model, folder = self.tiny("tiny_fire"), self.folder / "variants"
        self.done("cost", "variants", model, "--count", "5", "--dir", folder)
        variants = json.loads((folder / "variants.json").read_text())
        self.assertEqual(len({v["file"] for v in variants}), 5)
        for v in variants:
            self.done("check", model, v["file"], "--on", "cpu")

    def test_profiles_are_merged(self):
        a = self.calibrated(self.tiny())
        b = self.profiles / "single.profile"
        self.done("calibrate", "--runtime", "single", "-o", b, "-q")
        both = self.folder / "both.profile"
        self.done("cost", "merge", a, b, "-o", both)
        kept = a.read_bytes()
        self.refused("different files", "cost", "merge", a, b, "-o", a)
        self.assertEqual(a.read_bytes(), kept)
        self.assertRegex(self.done("cost", "show", both), r"(?s)cpu .*single ")

    def test_results_of_another_program_are_added(self):
        results, profile = self.folder / "results.json", self.folder / "new/added.profile"
        kernel = "%0 = input : float32[4] | %1 = relu %0 : float32[4] | outputs %1"
        results.write_text(json.dumps({
            "runtime": "onnxruntime", "version": "1", "device": "d", "threads": 1, "block": 16,
            "kernels": [{"signature": kernel, "microseconds": 3.5, "noise": 0.1, "runs": 7}]}))
        self.done("cost", "add", results, "-o", profile)
        self.assertRegex(self.done("cost", "show", profile, "--kernels"), r"3\.50.*relu %0")
        results.write_text(json.dumps({"runtime": "onnxruntime"}))
        self.refused("results.json", "cost", "add", results, "-o", profile)
        for text in ["{", "[" * 100000, json.dumps({"runtime": "onnxruntime", "version": "1", "device": "d",
                                                    "threads": 1e300, "kernels": []})]:
            results.write_text(text)
            self.refused("results.json", "cost", "add", results, "-o", profile)

    def test_bad_profiles_are_refused(self):
        model, bad = self.tiny(), self.folder / "bad.profile"
        optimize = ("optimize", model, "-o", self.out, "-q", "--cost")
        self.refused("bad.profile", *optimize, bad)
        bad.write_bytes(b"nonsense, not a profile")
        self.refused("bad.profile", *optimize, bad)
        bad.write_bytes(b"\x08\x63")
        self.refused("newer", *optimize, bad)
        self.refused("calibrate", *optimize, "onnxruntime")
        (self.profiles / "bad.profile").write_bytes(b"nonsense, not a profile")
        self.refused("bad.profile", *optimize, "auto")

    def test_runtimes_that_are_not_there_are_named(self):
        optimize = ("optimize", self.tiny(), "-o", self.out, "-q", "--measure")
        self.refused("onnxruntime", *optimize, "onnxruntime", REGRAFT_PYTHON="/bin/false")
        self.refused("/no/python", *optimize, "onnxruntime", REGRAFT_PYTHON="/no/python")
        if not pathlib.Path("/dev/nvidia0").exists():
            self.refused("no CUDA device", *optimize, "cuda")

    def test_wrong_use_is_exit_2(self):
        model = self.tiny()
        for arguments in (["--candidates", "2"], ["--measure", "abacus"], ["--objective", "beauty"]):
            run = self.regraft("optimize", model, "-o", self.out, *arguments)
            self.assertEqual(run.returncode, USAGE, run.stderr)


def one_product():
    from onnx import TensorProto, helper, numpy_helper
    import numpy as np
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.standard_normal((64, 64)).astype(np.float32), n)
               for n in "bc"]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [64, 64]) for n in "xy")
    nodes = [helper.make_node("Tanh", ["x"], ["t"]), helper.make_node("Add", ["t", "b"], ["s"]),
             helper.make_node("MatMul", ["x", "s"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y], weights[:1])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    REGRAFT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
