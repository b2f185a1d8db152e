#!/usr/bin/env python3
"""What models are optimised for, and the measurement that confirms it.

  python targets_test.py REGRAFT [TestClass[.test]]
"""
import json
import math
import os
import sys

import command_line
from command_line import DONE, USAGE, regraft

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


class SmallModels(command_line.CommandLine):
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


class Targets(SmallModels):
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


BOTH = {"onnxruntime": "1.0", "openvino": "9.9"}


class Runtimes(SmallModels):
    """With a worker that says what it is told to: nothing is timed."""

    def fake(self, **said):
        self.log = os.path.join(self.keep.name, "requests")
        return command_line.fake_worker(log=self.log, **{"runtimes": BOTH, **said})

    def requests(self, operation):
        with open(self.log, encoding="utf-8") as file:
            asked = [json.loads(line) for line in file]
        return [a for a in asked if a["op"] == operation]

    def test_openvino_confirms_what_is_for_openvino(self):
        path = self.tanh_gelu()
        env = self.fake(made={"openvino": 0.5})
        out, report = self.optimised(path, "--target", "openvino", env=env)
        self.assertIn("openvino 9.9", report["measured_with"])
        self.assertEqual(report["target"], "openvino")
        self.assertEqual(set(self.requests("models")[0]["runtimes"]), {"openvino"})
        first, again = self.requests("models")[0]["files"][:2]
        self.assertEqual((first, again), (path, path))
        self.assertEqual(report["after"]["measured"]["microseconds"], 50)
        self.assertFalse([k for k in self.kinds(out) if ":" in k])
        self.assertEqual([o.domain for o in onnx.load(out).opset_import], [""])
        self.assertNotIn("faster_runtime", report)
        self.assert_same(path, out)

    def test_what_is_slower_there_is_not_taken(self):
        path = self.useless()
        env = self.fake(made={"openvino": 1.5})
        out, report = self.optimised(path, "--target", "openvino", env=env)
        self.assertTrue(report["kept"])
        with open(path, "rb") as before, open(out, "rb") as after:
            self.assertEqual(before.read(), after.read())

    def test_without_openvino_the_price_decides(self):
        env = self.fake(runtimes={"onnxruntime": "1.0"})
        _, report = self.optimised(self.useless(), "--target", "openvino", env=env)
        self.assertRegex(report["note"], "not timed: openvino cannot be measured")
        self.assertNotIn("measured_with", report)

    def test_openvino_can_be_measured_with(self):
        env = self.fake(made={"openvino": 0.5})
        _, report = self.optimised(self.useless(), "--target", "openvino", "--measure", "openvino",
                                   env=env)
        self.assertIn("openvino 9.9", report["measured_with"])
        self.assertEqual(self.requests("kernels"), [])
        for arguments in (["calibrate", "--runtime", "openvino"], ["cost", "kernels", "x", "--dir",
                                                                   "y", "--runtime", "openvino"]):
            self.assert_exit(regraft(*arguments), USAGE)

    def test_a_faster_runtime_is_named(self):
        path = self.useless()
        env = self.fake(times={"onnxruntime": 100, "openvino": 60})
        _, report = self.optimised(path, env=env)
        faster = report["faster_runtime"]
        self.assertEqual((faster["runtime"], faster["version"]), ("openvino", "9.9"))
        self.assertAlmostEqual(faster["ratio"], 0.6)
        run = regraft("optimize", path, "-o", self.out, env={**os.environ, **env})
        self.assertIn("openvino 9.9 takes 0.60 times as long", run.stdout)
        for said in ({"times": {"onnxruntime": 100, "openvino": 99.9}},
                     {"times": {"onnxruntime": 100, "openvino": 60}, "noise": 0.5},
                     {"runtimes": {"onnxruntime": "1.0"}}):
            _, report = self.optimised(path, env=self.fake(**said))
            self.assertNotIn("faster_runtime", report, said)
        _, report = self.optimised(path, "--no-measure", env=env)
        self.assertNotIn("faster_runtime", report)

    def test_a_description_is_never_run(self):
        path = self.tanh_gelu()
        out, report = self.optimised(path, "--target", "tensorrt", env=self.fake())
        self.assertRegex(report["note"], "never run")
        self.assertNotIn("measured_with", report)
        self.assertFalse([k for k in self.kinds(out) if ":" in k])
        self.assertIn("cuda", report["cost_model"])
        self.assertIn("19500 GFLOP/s", report["cost_model"])  # of a card, not of this processor
        self.assertFalse(os.path.exists(self.log))
        self.assertRegex(regraft("optimize", "--help").stdout, "tensorrt: never run")
        self.assert_exit(regraft("optimize", path, "-o", self.out, "--measure", "tensorrt"), USAGE)
        old = onnx.load(self.useless())
        old.opset_import[0].version = 8
        onnx.save(old, path)
        os.remove(os.path.join(self.out_folder, "out.onnx"))
        os.remove(os.path.join(self.out_folder, "report.json"))
        run = regraft("optimize", path, "-o", self.out, "--target", "tensorrt")
        self.assert_refused(run, "model.onnx: operator set 8; tensorrt reads 9 to 25")

    def raced(self, env):
        report = os.path.join(self.out_folder, "report.json")
        model = os.path.relpath(self.useless())  # the worker is in another folder
        run = regraft("bench", "runtimes", model, "--threads", "2", "--measure-time", "0.1",
                      "--json", report, env={**os.environ, **env})
        self.assert_exit(run, DONE)
        with open(report, encoding="utf-8") as file:
            rows = json.load(file)["results"]
        return run.stdout, {(r["runtime"], r["threads"], r["model"]): r for r in rows}

    def test_runtimes_race(self):
        env = self.fake(times={"onnxruntime": 100, "openvino": 80}, made={"openvino": 0.5})
        text, rows = self.raced(env)
        self.assertEqual(set(rows), {(r, n, m) for r in ("onnxruntime", "openvino", "cpu")
                                     for n in (1, 2) for m in ("original", "optimised")})
        self.assertEqual(rows["openvino", 1, "optimised"]["microseconds"], 40)
        self.assertAlmostEqual(rows["openvino", 2, "optimised"]["ratio"], 0.2)
        self.assertAlmostEqual(rows["openvino", 1, "original"]["ratio"], 0.8)
        for row in rows.values():
            self.assertGreaterEqual(row["runs"], 7)
            self.assertGreater(row["microseconds"], 0)
        self.assertRegex(text, r"openvino 9.9 +1 +optimised +0.040 +0.0 % +0.400")
        opened = self.requests("open")[0]["models"]
        self.assertEqual(len(opened), 8)
        self.assertTrue(all(os.path.isabs(m["file"]) for m in opened))

    def test_without_python_the_own_executor_is_timed(self):
        _, rows = self.raced(NO_PYTHON)
        self.assertEqual({r for r, _, _ in rows}, {"cpu"})


def onnx_shape(path):
    return [d.dim_value for d in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]


if __name__ == "__main__":
    command_line.main()
