#!/usr/bin/env python3
"""What `regraft stats` says of models.

  python stats_test.py REGRAFT [TestClass[.test]]
"""
import json
import os

import command_line
from command_line import BAD_INPUT, DONE, regraft

import onnx
from onnx import TensorProto, helper


def save(path, nodes, inputs, outputs, constants=()):
    values = [[helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in places]
              for places in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *values, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def floats(name, dims):
    count = 1
    for d in dims:
        count *= d
    return helper.make_tensor(name, TensorProto.FLOAT, dims, [0.5] * count)


class Stats(command_line.CommandLine):
    def stats(self, path):
        report = os.path.join(self.out_folder, "report.json")
        run = regraft("stats", path, "--json", report)
        self.assert_exit(run, DONE)
        with open(report, encoding="utf-8") as file:
            return json.load(file), run.stdout

    def model(self, nodes, inputs, outputs, constants=()):
        path = os.path.join(self.folder, "model.onnx")
        save(path, nodes, inputs, outputs, constants)
        return path

    def test_a_dense_layer_is_understood_and_counted(self):
        path = self.model(
            [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
            [("x", TensorProto.FLOAT, [5, 4])], [("y", TensorProto.FLOAT, [5, 3])],
            [floats("w", [4, 3])])
        report, text = self.stats(path)
        self.assertEqual((report["nodes"], report["understood"], report["reasons"]), (2, 2, {}))
        self.assertEqual(report["operators"]["MatMul"], {"nodes": 1, "understood": 1})
        self.assertEqual(report["parameters"], 12)
        self.assertEqual(report["bytes"], os.path.getsize(path))
        self.assertAlmostEqual(report["multiply_adds"], 5 * 4 * 3, delta=5 * 3)
        self.assertEqual(report["activations"], 30)
        self.assertEqual(list(report["dynamic"]), [])
        self.assertIn("100.0 % understood", text)

    def test_each_carried_node_has_its_reason(self):
        path = self.model(
            [helper.make_node("Strange", ["x"], ["s"], domain="own"),
             helper.make_node("Relu", ["s"], ["y"]),
             helper.make_node("Div", ["k", "k"], ["n"]),
             helper.make_node("Det", ["x"], ["d"])],
            [("x", TensorProto.FLOAT, ["N", 4, 4]), ("k", TensorProto.INT64, [2])],
            [("y", TensorProto.FLOAT, None), ("n", TensorProto.INT64, [2]),
             ("d", TensorProto.FLOAT, ["N"])])
        report, text = self.stats(path)
        self.assertEqual(report["reasons"],
                         {"unknown operator": {"own:Strange": 1, "Det": 1},
                          "element type unknown": {"Relu": 1}, "not real-valued": {"Div": 1}})
        self.assertEqual((report["nodes"], report["understood"]), (4, 0))
        self.assertEqual(list(report["dynamic"]), ["N"])
        self.assertEqual(report["inputs"][0], {"name": "x", "type": "float32", "dims": ["N", 4, 4]})
        self.assertRegex(text, r"own:Strange +1 +0 +unknown operator 1")

    def test_forms_and_shapes_that_are_not_known(self):
        path = self.model(
            [helper.make_node("Reshape", ["x", "to"], ["r"]),
             helper.make_node("Relu", ["r"], ["y"])],
            [("x", TensorProto.FLOAT, [2, 3]), ("to", TensorProto.INT64, ["n"])],
            [("y", TensorProto.FLOAT, None)])
        report, _ = self.stats(path)
        self.assertEqual(report["reasons"], {"form": {"Reshape": 1}, "shape unknown": {"Relu": 1}})
        self.assertEqual(report["unknown_values"], 2)

    def test_what_nothing_needs_is_left_out(self):
        path = self.model(
            [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Det", ["x"], ["unread"])],
            [("x", TensorProto.FLOAT, [3, 3])], [("y", TensorProto.FLOAT, [3, 3])])
        report, _ = self.stats(path)
        self.assertEqual((report["nodes"], report["understood"], report["unused"]), (1, 1, 1))
        self.assertNotIn("Det", report["operators"])

    def test_bodies_are_counted_apart(self):
        body = helper.make_graph([helper.make_node("Neg", ["x"], ["z"])], "b", [],
                                 [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])])
        path = self.model(
            [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
            [("x", TensorProto.FLOAT, [2]), ("c", TensorProto.BOOL, [])],
            [("y", TensorProto.FLOAT, [2])])
        report, _ = self.stats(path)
        self.assertEqual((report["nodes"], report["understood"], report["inner"]), (1, 0, 2))

    def test_json_on_standard_output(self):
        path = self.tiny("resnet18")
        run = regraft("stats", path, "--json", "-")
        self.assert_exit(run, DONE)
        self.assertGreater(json.loads(run.stdout)["nodes"], 10)

    def test_bad_input(self):
        path = os.path.join(self.folder, "bad.onnx")
        with open(path, "wb") as file:
            file.write(b"no model")
        self.assert_refused(regraft("stats", path), "bad.onnx")
        self.assert_exit(regraft("stats", "/nowhere.onnx"), BAD_INPUT)


if __name__ == "__main__":
    command_line.main()
