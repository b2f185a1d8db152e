#!/usr/bin/env python3
"""Floating point from outside: what is finite in onnxruntime before is finite after, whatever the searcher, and
what a rule does in floating point is in its line, in the counts and in the reports.

  python numerics_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
import untimed  # noqa: E402, F401

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

REGRAFT = ""
ROWS, WIDTH = 8, 64


def model(nodes, shape, outputs, initialisers):
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outs = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
    data = [numpy_helper.from_array(np.asarray(a, np.float32), n) for n, a in initialisers.items()]
    return helper.make_model(helper.make_graph(nodes, "g", info, outs, data),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def attention():
    """Softmax of scores whose exponentials are there already: exp(s) / sum(exp(s)) costs less."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["s"]),
             helper.make_node("Softmax", ["s"], ["p"], axis=-1),
             helper.make_node("Exp", ["s"], ["e"]),
             helper.make_node("ReduceSum", ["e", "axes"], ["t"], keepdims=1)]
    m = model(nodes, [ROWS, WIDTH], ["p", "e", "t"], {"w": np.eye(WIDTH)})
    m.graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), "axes"))
    return m


def small_divisors():
    """x / b / c, where b c is 0 in float32."""
    nodes = [helper.make_node("Div", ["x", "b"], ["y"]), helper.make_node("Div", ["y", "c"], ["z"])]
    return model(nodes, [ROWS, WIDTH], ["z"], {"b": np.full(WIDTH, 1e-30), "c": np.full(WIDTH, 1e-30)})


def run(m, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def searchers():
    text = subprocess.run([REGRAFT, "optimize", "--help"], capture_output=True, text=True).stdout
    names = re.search(r"--search\b.*?\{([^}]*)\}", text, re.S).group(1)
    return [name.strip() for name in names.split(",")]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def regraft(self, *args, code=0):
        run = subprocess.run([REGRAFT, *map(str, args)], capture_output=True, text=True, cwd=self.path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def optimized(self, m, *flags):
        onnx.save(m, self.path / "in.onnx")
        self.regraft("optimize", "in.onnx", "-o", "out.onnx", "--budget", 2000, "--check", 0,
                     "--json", "report.json", *flags)
        return onnx.load(self.path / "out.onnx"), json.loads((self.path / "report.json").read_text())


class StaysFinite(Case):
    """What is finite before is finite after."""

    def setUp(self):
        super().setUp()
        logits = np.random.default_rng(1).uniform(-200, 200, (ROWS, WIDTH)).astype(np.float32)
        logits[0, 0], logits[1] = 200, -200
        self.logits = logits

    def assert_softmax(self, m):
        before, after = run(attention(), self.logits)[0], run(m, self.logits)[0]
        self.assertTrue(np.isfinite(before).all())
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-6)

    def test_softmax_with_every_searcher(self):
        self.assertGreater(len(searchers()), 5)
        for search in searchers():
            with self.subTest(search):
                m, _ = self.optimized(attention(), "--search", search)
                self.assertIn("Softmax", [n.op_type for n in m.graph.node])
                self.assert_softmax(m)

    def test_real_numerics_are_what_the_name_says(self):
        """The rule is there, and harmful: over the reals it is right."""
        m, report = self.optimized(attention(), "--numerics", "real", "--search", "greedy",
                                   "--cost", "roofline")
        self.assertNotIn("Softmax", [n.op_type for n in m.graph.node])
        self.assertFalse(np.isfinite(run(m, self.logits)[0]).all())
        small = np.random.default_rng(2).uniform(-1, 1, (ROWS, WIDTH)).astype(np.float32)
        np.testing.assert_allclose(run(m, small)[0], run(attention(), small)[0], rtol=1e-5)
        self.assertEqual(report["numerics"], "real")
        self.assertEqual(report["unsafe_rules"], 0)

    def test_divisors_do_not_become_zero(self):
        x = np.full((ROWS, WIDTH), 1e-38, np.float32)
        self.assertTrue(np.isfinite(run(small_divisors(), x)[0]).all())
        for search in searchers():
            with self.subTest(search):
                m, report = self.optimized(small_divisors(), "--search", search)
                self.assertTrue(np.isfinite(run(m, x)[0]).all())
                self.assertEqual(report["numerics"], "rounding")
                self.assertGreater(report["unsafe_rules"], 50)
        m, _ = self.optimized(small_divisors(), "--numerics", "real", "--search", "greedy",
                              "--cost", "roofline")
        self.assertFalse(np.isfinite(run(m, x)[0]).all())

    def test_exact_changes_no_bit(self):
        """A reshape of sums is moved, and not regrouped."""
        nodes = [helper.make_node("Transpose", ["x"], ["a"], perm=[1, 0]),
                 helper.make_node("Transpose", ["a"], ["b"], perm=[1, 0]),
                 helper.make_node("MatMul", ["b", "v"], ["c"]), helper.make_node("MatMul", ["c", "w"], ["y"])]
        rng = np.random.default_rng(3)
        m = model(nodes, [ROWS, WIDTH], ["y"],
                  {"v": rng.normal(size=(WIDTH, WIDTH)), "w": rng.normal(size=(WIDTH, 4))})
        exact, _ = self.optimized(m, "--numerics", "exact")
        x = rng.normal(size=(ROWS, WIDTH)).astype(np.float32)
        self.assertEqual([n.op_type for n in exact.graph.node], ["MatMul", "MatMul"])
        np.testing.assert_array_equal(run(exact, x)[0], run(m, x)[0])
        rounding, _ = self.optimized(m)
        self.assertEqual([n.op_type for n in rounding.graph.node], ["MatMul"])


class Reports(Case):
    """Verdicts in rule files and reports."""

    RULES = """# candidates
softmax  (softmax ?a axis=-1) <=> (div (exp ?a) (reduce-sum (exp ?a) axes=-1 keepdims=1))  for a:nn
twice  (neg (neg ?a)) => ?a  for a:nn
"""

    def test_verify_finds_and_writes_them(self):
        (self.path / "in.rules").write_text(self.RULES)
        self.regraft("verify", "in.rules", "-o", "out.rules", "--json", "report.json")
        lines = (self.path / "out.rules").read_text().splitlines()
        line = next(text for text in lines if text.startswith("softmax "))
        self.assertRegex(line, r"numerics:unsafe\[float32 a=\[.*nan after.*\]/rounding  seal=")
        self.assertRegex(next(text for text in lines if text.startswith("twice ")), "numerics:exact  seal=")
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual(report["numerics"], {"unsafe": 1, "rounding": 1, "exact": 1})
        rules = {r["name"]: r["numerics"] for r in report["rules"]}
        self.assertEqual(rules["softmax"]["forward"]["verdict"], "unsafe")
        self.assertEqual(rules["softmax"]["backward"]["verdict"], "rounding")
        self.assertIn("float32", rules["softmax"]["forward"]["witness"])
        self.assertNotIn("backward", rules["twice"])
        stats = self.regraft("rules", "stats", "out.rules")
        self.assertRegex(stats, r"numerics exact +1\n")
        self.assertRegex(stats, r"numerics unsafe +1\n")

    def test_a_verdict_is_under_the_seal(self):
        (self.path / "in.rules").write_text(self.RULES)
        self.regraft("verify", "in.rules", "-o", "out.rules")
        text = (self.path / "out.rules").read_text()
        onnx.save(attention(), self.path / "in.onnx")
        (self.path / "edited.rules").write_text(re.sub(r"numerics:unsafe\[.*\]/", "numerics:rounding/", text))
        self.regraft("optimize", "in.onnx", "-o", "out.onnx", "--rules", "edited.rules", code=3)
        self.regraft("optimize", "in.onnx", "-o", "out.onnx", "--rules", "out.rules")

    def test_shipped_files_carry_verdicts(self):
        for name in ("core", "extended", "hand"):
            path = venv.ROOT / "substitutions" / f"{name}.rules"
            lines = [text for text in path.read_text().splitlines() if not text.startswith("#")]
            for text in lines:
                self.assertRegex(text, r"  numerics:(exact|rounding|rounding-f32\[|unsafe\[)")
                self.assertNotIn("numerics:unknown", text)


if __name__ == "__main__":
    REGRAFT = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
