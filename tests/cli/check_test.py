#!/usr/bin/env python3
"""The numeric check from outside: random models of every float type pass it after optimisation, and
planted faults do not; what it did not compare is said.

  python check_test.py REGRAFT [TestClass[.test]]
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

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DONE, FAILED, BAD_INPUT = 0, 1, 3
REGRAFT = ""
HALF, BRAIN, FLOAT = TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT


def regraft(*arguments):
    return subprocess.run([REGRAFT, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=300)


def save(path, nodes, initializers, inputs, outputs):
    """Inputs and outputs: (name, type, shape)."""
    infos = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *infos, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


class Builder:
    """A random network of one float type, in the form in which it was trained."""

    def __init__(self, seed, dtype):
        self.rng = np.random.default_rng(seed)
        self.dtype, self.nodes, self.constants = dtype, [], []

    def constant(self, values):
        name = f"c{len(self.constants)}"
        values = np.asarray(values, np.float64)
        self.constants.append(helper.make_tensor(name, self.dtype, values.shape, values.flatten()))
        return name

    def call(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        return name

    def normal(self, *shape, scale=1.0):
        return self.constant(self.rng.standard_normal(shape) * scale)

    def batch_norm(self, x, channels):
        draw = self.rng.uniform
        return self.call("BatchNormalization", x, self.constant(draw(0.5, 2, channels)),
                         self.normal(channels), self.normal(channels),
                         self.constant(draw(0.1, 3, channels)))

    def conv_block(self, x, channels):
        y = self.batch_norm(self.call("Conv", x, self.normal(channels, channels, 3, 3, scale=0.2),
                                      pads=[1, 1, 1, 1]), channels)
        if self.rng.random() < 0.5:
            side = self.call("Conv", x, self.normal(channels, channels, 1, 1, scale=0.4))
            y = self.call("Add", y, self.batch_norm(side, channels))
        return self.call(self.rng.choice(["Relu", "Sigmoid", "Tanh"]), y)

    def dense_block(self, x, width):
        y = self.call("MatMul", x, self.normal(width, width, scale=0.3))
        y = self.call("Add", self.call("Mul", y, self.normal(width)), self.normal(width))
        if self.rng.random() < 0.5:
            z = self.call("MatMul", x, self.normal(width, width, scale=0.3))
            y = self.call("Add", y, self.call("Sub", z, self.normal(width)))
        if self.rng.random() < 0.3:
            y = self.call("Softmax", y, axis=-1)
        return self.call(self.rng.choice(["Relu", "Sigmoid", "Tanh"]), y)

    def write(self, path):
        conv = self.rng.random() < 0.5
        width = int(self.rng.integers(2, 7))
        shape = [2, width, 6, 6] if conv else [3, 5, width]
        v = "x"
        for _ in range(int(self.rng.integers(1, 4))):
            v = self.conv_block(v, width) if conv else self.dense_block(v, width)
        return save(path, self.nodes, self.constants, [("x", self.dtype, shape)],
                    [(v, self.dtype, shape)])


def with_fault(path, number, out):
    """A factor of 1.5 on the largest element of one constant, and 1 more."""
    model = onnx.load(path)
    reals = [t for t in model.graph.initializer if t.data_type in (HALF, BRAIN, FLOAT)]
    tensor = reals[number % len(reals)]
    values = numpy_helper.to_array(tensor).astype(np.float64)
    at = np.unravel_index(np.abs(values).argmax(), values.shape)
    values[at] = values[at] * 1.5 + 1
    tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, values.shape, values.flatten()))
    onnx.save(model, out)
    return out


class CheckCase(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = keep.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_exit(self, run, code):
        self.assertEqual(run.returncode, code, f"{run.args}\n{run.stdout}{run.stderr}")


class RandomModels(CheckCase):
    def optimised(self, seed, dtype):
        model = Builder(seed, dtype).write(self.path("in.onnx"))
        report = self.path("report.json")
        run = regraft("optimize", model, "-o", self.path("out.onnx"), "--budget", 2000, "--quiet",
                      "--cost", "roofline", "--json", report)
        self.assert_exit(run, DONE)
        return json.loads(pathlib.Path(report).read_text())

    def many(self, dtype, count, least_seen):
        """Some faults are below the type's rounding, or where a softmax does not see them."""
        rewritten, seen = 0, 0
        for seed in range(count):
            report = self.optimised(seed, dtype)
            rewritten += bool(report["applied"])
            self.assertTrue(report["check"]["complete"])
            fault = with_fault(self.path("out.onnx"), seed, self.path("fault.onnx"))
            run = regraft("check", self.path("in.onnx"), fault)
            self.assertIn(run.returncode, (DONE, FAILED), run.stderr)
            seen += run.returncode == FAILED
        print(f"{count} models, {rewritten} rewritten, {seen} planted faults seen")
        self.assertGreater(rewritten, count / 2)
        self.assertGreaterEqual(seen, least_seen * count)

    def test_float16(self):
        self.many(HALF, 42, 0.85)

    def test_bfloat16(self):
        self.many(BRAIN, 12, 0.6)

    def test_float32(self):
        self.many(FLOAT, 12, 0.85)

    def test_a_lone_batch_normalisation_in_float16(self):
        b = Builder(1, HALF)
        y = b.batch_norm("x", 3)
        save(self.path("in.onnx"), b.nodes, b.constants, [("x", HALF, [1, 3, 4, 4])],
             [(y, HALF, [1, 3, 4, 4])])
        self.assert_exit(regraft("optimize", self.path("in.onnx"), "-o", self.path("out.onnx")), DONE)


class WhatItSees(CheckCase):
    def model(self, name, nodes, shape, constants=(), out_shape=None):
        return save(self.path(name), nodes, constants, [("x", FLOAT, shape)],
                    [("y", FLOAT, out_shape or shape)])

    def test_a_clip_that_the_unit_interval_does_not_reach(self):
        bounds = [numpy_helper.from_array(np.float32(v), n) for v, n in ((-2, "low"), (2, "high"))]
        clip = self.model("clip.onnx", [helper.make_node("Clip", ["x", "low", "high"], ["y"])],
                          [4, 4], bounds)
        same = self.model("same.onnx", [helper.make_node("Identity", ["x"], ["y"])], [4, 4])
        self.assert_exit(regraft("check", clip, same), FAILED)
        self.assert_exit(regraft("check", same, same), DONE)

    def test_an_overflow_that_the_original_does_not_have(self):
        whole = self.model("whole.onnx", [helper.make_node("Softmax", ["x"], ["y"])], [4, 8])
        axes = numpy_helper.from_array(np.array([-1], np.int64), "axes")
        parts = self.model("parts.onnx", [
            helper.make_node("Exp", ["x"], ["e"]),
            helper.make_node("ReduceSum", ["e", "axes"], ["s"]),
            helper.make_node("Div", ["e", "s"], ["y"])], [4, 8], [axes])
        run = regraft("check", whole, parts)
        self.assert_exit(run, FAILED)
        self.assertIn("inputs", run.stdout)
        self.assert_exit(regraft("check", parts, whole), DONE)

    def test_a_small_channel(self):
        def scaled(name, small):
            weight = numpy_helper.from_array(np.array([[1, small], [-2, 2e-5]], np.float32), "w")
            return self.model(name, [helper.make_node("MatMul", ["x", "w"], ["y"])], [4, 2], [weight])
        self.assert_exit(regraft("check", scaled("a.onnx", 1e-5), scaled("b.onnx", 1.001e-5)), FAILED)

    def test_empty_tensors_and_sizes_of_zero(self):
        none = numpy_helper.from_array(np.zeros((0, 3), np.float32), "none")
        joined = self.model("joined.onnx", [
            helper.make_node("Concat", ["x", "none"], ["t"], axis=0),
            helper.make_node("Relu", ["t"], ["r"]), helper.make_node("Relu", ["r"], ["y"])],
            [2, 3], [none])
        self.assert_exit(regraft("optimize", joined, "-o", self.path("out.onnx")), DONE)
        twice = self.model("twice.onnx", [helper.make_node("Relu", ["x"], ["t"]),
                                          helper.make_node("Relu", ["t"], ["y"])], ["n", 3])
        once = self.model("once.onnx", [helper.make_node("Relu", ["x"], ["y"])], ["n", 3])
        report = self.path("report.json")
        self.assert_exit(regraft("check", twice, once, "--json", report), DONE)
        said = json.loads(pathlib.Path(report).read_text())
        self.assertIn({"n": 0}, said["sizes"])
        self.assertGreater(len(said["regimes"]), 5)
        self.assertTrue(said["complete"])

    def test_what_cannot_be_compared_is_said(self):
        report = self.path("report.json")

        def windowed(name, activations):
            """A window that no size fits, as far as the check goes."""
            nodes = [helper.make_node("MaxPool", ["x"], ["t0"], kernel_shape=[1000, 1])]
            for k in range(activations):
                nodes.append(helper.make_node("Relu", [f"t{k}"], [f"t{k + 1}"]))
            nodes[-1].output[0] = "y"
            return self.model(name, nodes, [1, 1, "h", "w"], [], [1, 1, "h2", "w2"])
        run = regraft("check", windowed("a.onnx", 1), windowed("b.onnx", 2), "--json", report)
        self.assert_exit(run, FAILED)
        self.assertIn("NOT COMPARED", run.stdout)
        said = json.loads(pathlib.Path(report).read_text())
        self.assertFalse(said["passed"])
        self.assertEqual(said["outputs_not_compared"], 1)

    def test_what_takes_too_much_memory_is_not_rewritten(self):
        report = self.path("report.json")
        model = self.model("in.onnx", [helper.make_node("Relu", ["x"], ["t"]),
                                       helper.make_node("Relu", ["t"], ["y"])], [40000, 40000])
        run = regraft("optimize", model, "-o", self.path("out.onnx"), "--json", report, "--memory", 1)
        self.assert_exit(run, DONE)
        self.assertIn("memory", run.stderr)
        said = json.loads(pathlib.Path(report).read_text())
        self.assertEqual(said["after"]["operators"], {"Relu": 2})
        self.assertEqual(said["check"]["outputs_not_compared"], 1)
        self.assertIn("memory", said["check"]["unfinished"])

    def test_other_output_types_are_refused(self):
        one = self.model("a.onnx", [helper.make_node("Relu", ["x"], ["y"])], [2])
        b = save(self.path("b.onnx"), [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.DOUBLE)],
                 [], [("x", FLOAT, [2])], [("y", TensorProto.DOUBLE, [2])])
        run = regraft("check", one, b)
        self.assert_exit(run, BAD_INPUT)
        self.assertIn("output 0", run.stderr)


if __name__ == "__main__":
    REGRAFT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
