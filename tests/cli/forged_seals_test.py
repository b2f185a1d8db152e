#!/usr/bin/env python3
"""False rules with seals that fit: seals guard against accidents, so the numeric check must refuse
what such a database makes of a model, and `verify` must refute the rules.

  python forged_seals_test.py REGRAFT SEAL_RULES [TestClass[.test]]
"""
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

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DONE = 0
REGRAFT = SEAL_RULES = ""
HEADER = '#regraft-rules 3  generator="a forger"  prover="nobody"\n'
CLAIM = "proved:all-sizes  numerics:exact"

# What is false, cheaper, and wrong at some inputs only: the rule, and nodes of a model that it fits.
FALSE = {
    "beyond the usual range": (f"r  (clip ?x min=-2 max=2) => ?x  for x:nn  {CLAIM}",
                               [helper.make_node("Clip", ["x", "low", "high"], ["y"])]),
    "below zero": (f"r  (relu ?x) => ?x  for x:nn  {CLAIM}", [helper.make_node("Relu", ["x"], ["y"])]),
    "beyond a bound": (f"r  (relu (clip ?x min=-2 max=2)) => (relu ?x)  for x:nn  {CLAIM}",
                       [helper.make_node("Clip", ["x", "low", "high"], ["t"]),
                        helper.make_node("Relu", ["t"], ["y"])]),
    "for large numbers": (f"r  (tanh (tanh ?x)) => (tanh ?x)  for x:nn  {CLAIM}",
                          [helper.make_node("Tanh", ["x"], ["t"]),
                           helper.make_node("Tanh", ["t"], ["y"])]),
    "everywhere": (f"r  (add (mul ?a ?b) ?a) => (mul ?a ?b)  for a:nn b:nn  {CLAIM}",
                   [helper.make_node("Mul", ["x", "x2"], ["t"]),
                    helper.make_node("Add", ["t", "x"], ["y"])]),
}


def regraft(*arguments):
    return subprocess.run([REGRAFT, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=300)


class ForgedSeals(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)

    def rules(self, line):
        path = self.folder / "forged.rules"
        subprocess.run([SEAL_RULES, path], input=HEADER + line + "\n", text=True, check=True)
        return path

    def model(self, nodes):
        bounds = [numpy_helper.from_array(np.array(v, np.float32), name)
                  for name, v in (("low", -2), ("high", 2))]
        used = {name for n in nodes for name in n.input}
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 5])
                  for name in ("x", "x2") if name in used]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5])
        graph = helper.make_graph(nodes, "g", inputs, [output],
                                  [b for b in bounds if b.name in used])
        path = self.folder / "in.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  path)
        return path

    def optimise(self, line, nodes, *options):
        out = self.folder / "out.onnx"
        run = regraft("optimize", self.model(nodes), "-o", out, "--rules", self.rules(line), "-q",
                      *options)
        return run, out

    def test_the_rules_are_taken_as_they_stand(self):
        for where, (line, nodes) in FALSE.items():
            with self.subTest(where):
                run, out = self.optimise(line, nodes, "--check", 0)
                self.assertEqual(run.returncode, DONE, run.stderr)
                self.assertLess(len(onnx.load(out).graph.node), len(nodes) + 1)
                self.assertNotEqual([n.op_type for n in onnx.load(out).graph.node],
                                    [n.op_type for n in nodes])

    def test_the_check_refuses_what_they_make(self):
        for where, (line, nodes) in FALSE.items():
            with self.subTest(where):
                run, out = self.optimise(line, nodes)
                self.assertNotEqual(run.returncode, DONE, where)
                self.assertIn("differ", run.stdout + run.stderr)
                self.assertFalse(out.exists())

    def test_verify_refutes_them(self):
        for where, (line, _) in FALSE.items():
            with self.subTest(where):
                run = regraft("verify", self.rules(line), "-o", self.folder / "proved.rules", "-q")
                self.assertEqual(run.returncode, DONE, run.stderr)
                self.assertNotIn("=>", (self.folder / "proved.rules").read_text())


if __name__ == "__main__":
    REGRAFT, SEAL_RULES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main(verbosity=2)
