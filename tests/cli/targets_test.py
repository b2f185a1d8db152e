#!/usr/bin/env python3
"""What models are optimised for, and the measurement that confirms it.

  python targets_test.py REGRAFT [TestClass[.test]]
"""
import json
import math
import os
import sys

import command_line
from command_line import DONE, regraft

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

PYTHON = {"REGRAFT_PYTHON": sys.executable}
NO_PYTHON = {"REGRAFT_PYTHON": "/nowhere/python"}


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def number(name, value):
    return numpy_helper.from_array(np.float32(value), name)


class Targets(command_line.CommandLine):
    def model(self, nodes, shape, constants=()):
        values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
                  for name in ("x", "y")]
        graph = helper.make_graph(nodes, "g", *values, constants)
        path = os.path.join(self.folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        return path

    def tanh_gelu(self):
        """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), at an opset without Gelu."""
        nodes = [node("Mul", ["x", "x"], ["xx"]), node("Mul", ["xx", "x"], ["xxx"]),
                 node("Mul", ["xxx", "c"], ["cubic"]), node("Add", ["x", "cubic"], ["inner"]),
                 node("Mul", ["inner", "s"], ["scaled"]), node("Tanh", ["scaled"], ["t"]),
                 node("Add", ["t", "one"], ["u"]), node("Mul", ["x", "u"], ["v"]),
                 node("Mul", ["v", "half"], ["y"])]
        return self.model(nodes, [64, 256], [number("c", 0.044715), number("half", 0.5),
                                             number("s", math.sqrt(2 / math.pi)), number("one", 1)])

    def useless(self):
        """A model with something to drop."""
        weight = numpy_helper.from_array(
            np.random.default_rng(3).normal(size=(256, 256)).astype(np.float32) / 16, "w")
        nodes = [node("Identity", ["x"], ["a"]), node("MatMul", ["a", "w"], ["b"]),
                 node("Mul", ["b", "one"], ["c"]), node("Relu", ["c"], ["y"])]
        return self.model(nodes, [256, 256], [weight, number("one", 1)])

    def optimised(self, path, *flags, env=None):
        out, report = (os.path.join(self.out_folder, n) for n in ("out.onnx", "report.json"))
        run = regraft("optimize", path, "-o", out, "--json", report, *flags,
                      env={**os.environ, **(env or PYTHON)})
        self.assert_exit(run, DONE)
        with open(report, encoding="utf-8") as file:
            return out, json.load(file)

    def kinds(self, path):
        return sorted(f"{n.domain}:{n.op_type}" if n.domain else n.op_type
                      for n in onnx.load(path).graph.node)

    def assert_same(self, a, b):
        x = np.random.default_rng(1).normal(size=onnx_shape(a)).astype(np.float32)
        first, second = (onnxruntime.InferenceSession(p, providers=["CPUExecutionProvider"])
                         .run(None, {"x": x})[0] for p in (a, b))
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)

    def test_the_default_is_confirmed_by_measuring(self):
        path = self.useless()
        out, report = self.optimised(path)
        self.assertIn("onnxruntime", report["measured_with"])
        self.assertGreater(report["spread"], 0)
        self.assertGreater(report["before"]["measured"]["runs"], 0)
        self.assert_same(path, out)

    def test_without_the_runtime_the_price_decides_and_says_so(self):
        out, report = self.optimised(self.useless(), env=NO_PYTHON)
        self.assertIn("not timed", report["note"])
        self.assertNotIn("measured_with", report)
        self.assertEqual(self.kinds(out), ["MatMul", "Relu"])
        out, report = self.optimised(self.useless(), "--no-measure")
        self.assertNotIn("note", report)
        self.assertNotIn("measured_with", report)
        self.assertEqual(self.kinds(out), ["MatMul", "Relu"])

    def test_operators_of_the_runtime_are_written_for_it_alone(self):
        path = self.tanh_gelu()
        certificate = os.path.join(self.out_folder, "c.json")
        out, report = self.optimised(path, "--no-measure", "--certificate", certificate)
        self.assertEqual(self.kinds(out), ["com.microsoft:FastGelu"])
        self.assertEqual(report["target"], "onnxruntime")
        self.assertEqual(report["after"]["operators"], {"com.microsoft:FastGelu": 1})
        self.assertIn("com.microsoft", [o.domain for o in onnx.load(out).opset_import])
        onnx.checker.check_model(onnx.load(out))
        self.assert_same(path, out)
        self.assert_exit(regraft("check", path, out, "--certificate", certificate), DONE)
        self.assert_exit(regraft("check", path, out), DONE)
        for flags in (["--portable"], ["--target", "onnx"], ["--target", "cpu"]):
            out, report = self.optimised(path, "--no-measure", *flags)
            self.assertFalse([k for k in self.kinds(out) if ":" in k], flags)
            self.assertEqual([o.domain for o in onnx.load(out).opset_import], [""])
            self.assert_same(path, out)

    def test_a_certificate_says_which_operators_are_allowed(self):
        path = self.tanh_gelu()
        certificate = os.path.join(self.out_folder, "c.json")
        out, _ = self.optimised(path, "--no-measure", "--certificate", certificate)
        with open(certificate, encoding="utf-8") as file:
            said = json.load(file)
        self.assertIs(said["microsoft"], True)
        said["microsoft"] = False
        with open(certificate, "w", encoding="utf-8") as file:
            json.dump(said, file)
        run = regraft("check", path, out, "--certificate", certificate)
        self.assertNotEqual(run.returncode, DONE)


def onnx_shape(path):
    return [d.dim_value for d in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]


if __name__ == "__main__":
    command_line.main()
