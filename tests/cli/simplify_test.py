#!/usr/bin/env python3
"""What `regraft simplify` makes of models.

  python simplify_test.py REGRAFT [TestClass[.test]]
"""
import json
import os

import command_line
from command_line import BAD_INPUT, DONE, regraft

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def ints(name, values):
    return numpy_helper.from_array(np.array(values, dtype=np.int64), name)


def heads_of(x, y, constants):
    """y = x[batch,seq,12] reshaped to [batch,seq,3,4] as exporters write it."""
    constants += [ints(f"{y}_0", 0), ints(f"{y}_1", 1), ints(f"{y}_axes", [0]),
                  ints(f"{y}_tail", [3, 4])]
    nodes = [node("Shape", [x], [f"{y}_shape"])]
    for k in (0, 1):
        nodes += [node("Gather", [f"{y}_shape", f"{y}_{k}"], [f"{y}_d{k}"], axis=0),
                  node("Unsqueeze", [f"{y}_d{k}", f"{y}_axes"], [f"{y}_u{k}"])]
    nodes += [node("Concat", [f"{y}_u0", f"{y}_u1", f"{y}_tail"], [f"{y}_to"], axis=0),
              node("Reshape", [x, f"{y}_to"], [y])]
    return nodes


class Simplify(command_line.CommandLine):
    def model(self, nodes, inputs, outputs, constants=()):
        values = [[helper.make_tensor_value_info(name, kind[0] if kind else TensorProto.FLOAT, dims)
                   for name, dims, *kind in places] for places in (inputs, outputs)]
        graph = helper.make_graph(nodes, "g", *values, constants)
        path = os.path.join(self.folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        return path

    def simplified(self, path, *flags):
        out, report = (os.path.join(self.out_folder, n) for n in ("out.onnx", "report.json"))
        self.assert_exit(regraft("simplify", path, "-o", out, "--json", report, *flags), DONE)
        with open(report, encoding="utf-8") as file:
            return out, json.load(file)

    def assert_same(self, a, b, shapes):
        for shape in shapes:
            x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
            results = [onnxruntime.InferenceSession(p, providers=["CPUExecutionProvider"])
                       .run(None, {"x": x}) for p in (a, b)]
            for first, second in zip(*results):
                np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)

    def kinds(self, path):
        return sorted(n.op_type for n in onnx.load(path).graph.node)

    def test_computed_shapes_vanish_and_stay_dynamic(self):
        constants = []
        path = self.model(heads_of("x", "y", constants), [("x", ["batch", "seq", 12])],
                          [("y", ["batch", "seq", 3, 4])], constants)
        out, report = self.simplified(path)
        self.assertEqual(self.kinds(out), ["Reshape"])
        self.assertEqual(list(report["dynamic"]), ["batch", "seq"])
        self.assertEqual(report["before"]["operators"]["Shape"], 1)
        self.assertNotIn("Shape", report["after"]["operators"])
        self.assert_same(path, out, [(2, 5, 12), (1, 1, 12)])

    def test_equal_nodes_are_merged(self):
        nodes = [node("Relu", ["x"], ["a"]), node("Relu", ["x"], ["b"]),
                 node("Sigmoid", ["a"], ["c"]), node("Sigmoid", ["b"], ["d"]),
                 node("Mul", ["c", "d"], ["y"])]
        path = self.model(nodes, [("x", ["n", 3])], [("y", ["n", 3])])
        out, _ = self.simplified(path)
        self.assertEqual(self.kinds(out), ["Mul", "Relu", "Sigmoid"])
        self.assert_same(path, out, [(2, 3), (7, 3)])

    def test_what_hands_on_its_input_vanishes(self):
        nodes = [node("Identity", ["x"], ["a"]), node("Dropout", ["a"], ["b"]),
                 node("Cast", ["b"], ["c"], to=TensorProto.FLOAT), node("Relu", ["c"], ["y"])]
        path = self.model(nodes, [("x", ["n", 3])], [("y", ["n", 3])])
        out, _ = self.simplified(path)
        self.assertEqual(self.kinds(out), ["Relu"])
        self.assert_same(path, out, [(2, 3)])

    def test_calls_that_do_nothing_vanish(self):
        whole = [ints("zero", [0]), ints("eight", [8]), ints("second", [1]), ints("none", [0] * 8),
                 ints("once", [1] * 4), ints("same", [1, 8, 1, 1])]
        calls = [node("Slice", ["r", "zero", "eight", "second"], ["y"]),
                 node("Pad", ["r", "none"], ["y"]), node("Tile", ["r", "once"], ["y"]),
                 node("Expand", ["r", "same"], ["y"]), node("Split", ["r"], ["y"], axis=1),
                 node("Transpose", ["r"], ["y"], perm=[0, 1, 2, 3]),
                 node("MaxPool", ["r"], ["y"], kernel_shape=[1, 1]),
                 node("AveragePool", ["r"], ["y"], kernel_shape=[1, 1])]
        for call in calls:
            with self.subTest(call.op_type):
                dims = ["batch", 8, 6, 5]
                path = self.model([node("Relu", ["x"], ["r"]), call, node("Tanh", ["y"], ["z"])],
                                  [("x", dims)], [("z", dims)], whole)
                out, _ = self.simplified(path)
                self.assertEqual(self.kinds(out), ["Relu", "Tanh"])
                self.assert_same(path, out, [(2, 8, 6, 5)])

    def test_a_slice_of_a_part_stays(self):
        path = self.model([node("Slice", ["x", "zero", "seven", "second"], ["y"])],
                          [("x", [2, 8])], [("y", [2, 7])],
                          [ints("zero", [0]), ints("seven", [7]), ints("second", [1])])
        out, _ = self.simplified(path)
        self.assertEqual(self.kinds(out), ["Slice"])

    def test_constants_are_initialisers_and_equal_ones_are_one(self):
        weight = np.random.default_rng(2).normal(size=(32, 32)).astype(np.float32)
        same = [numpy_helper.from_array(weight, name) for name in ("w", "w2")]
        nodes = [node("Identity", ["w"], ["v"]),
                 node("Constant", [], ["two"], value=numpy_helper.from_array(np.float32(2))),
                 node("MatMul", ["x", "v"], ["a"]), node("Relu", ["a"], ["b"]),
                 node("MatMul", ["b", "w2"], ["c"]), node("Pow", ["c", "two"], ["d"]),
                 node("Cos", ["d"], ["y"])]
        path = self.model(nodes, [("x", ["n", 32])], [("y", ["n", 32])], same)
        out, _ = self.simplified(path)
        self.assertNotIn("Constant", self.kinds(out))
        self.assertNotIn("Identity", self.kinds(out))
        large = [t for t in onnx.load(out).graph.initializer if list(t.dims) == [32, 32]]
        self.assertEqual(len(large), 1)
        self.assert_same(path, out, [(2, 32)])

    def test_dead_nodes_go(self):
        path = self.model([node("Exp", ["x"], ["e"]), node("Relu", ["x"], ["y"])],
                          [("x", [2, 3])], [("y", [2, 3])])
        out, report = self.simplified(path)
        self.assertEqual([n.op_type for n in onnx.load(out).graph.node], ["Relu"])
        self.assertEqual(report["after"]["operators"], {"Relu": 1})

    def test_what_grows_too_large_stays(self):
        path = self.model([node("Expand", ["k", "s"], ["t"]), node("Add", ["x", "t"], ["y"])],
                          [("x", [200, 200])], [("y", [200, 200])],
                          [numpy_helper.from_array(np.ones((1, 1), np.float32), "k"),
                           ints("s", [200, 200])])
        out, _ = self.simplified(path)
        self.assertGreater(os.path.getsize(out), 160_000)
        out, report = self.simplified(path, "--max-size", "100kB")
        with open(out, "rb") as made, open(path, "rb") as original:
            self.assertEqual(made.read(), original.read())
        self.assertIn("more than the", report["discarded"])

    def test_sizes_can_be_fixed(self):
        constants = []
        path = self.model(heads_of("x", "y", constants), [("x", ["batch", "seq", 12])],
                          [("y", ["batch", "seq", 3, 4])], constants)
        out, report = self.simplified(path, "--dim", "seq=5")
        self.assertEqual(list(report["dynamic"]), ["batch"])
        self.assertEqual(report["fixed_dims"], ["seq=5"])
        dims = onnx.load(out).graph.input[0].type.tensor_type.shape.dim
        self.assertEqual((dims[0].dim_param, dims[1].dim_value), ("batch", 5))
        out, report = self.simplified(path, "--shape", "x=2,5,12")
        self.assertEqual(list(report["dynamic"]), [])
        self.assert_same(path, out, [(2, 5, 12)])

    def test_open_sizes_count_as_what_is_typical(self):
        inputs = [("ids", ["b", "n"], TensorProto.INT64), ("image", ["b", 3, "h", "w"]),
                  ("sound", ["b", "samples"]), ("cache", ["b", 2, "n", 8]),
                  ("step", []), ("place", [1, "n"], TensorProto.INT64)]
        nodes = [node("Identity", [name], [name + "_out"]) for name, *_ in inputs]
        path = self.model(nodes, inputs, [(name + "_out", *rest) for name, *rest in inputs])
        _, report = self.simplified(path)
        self.assertEqual(report["dynamic"],
                         {"b": 1, "n": 64, "h": 224, "w": 224, "samples": 4096})
        _, report = self.simplified(path, "--typical", "n=128", "--typical", "b=2")
        self.assertEqual(report["dynamic"],
                         {"b": 2, "n": 128, "h": 224, "w": 224, "samples": 4096})

    def test_sizes_that_do_not_fit_are_refused(self):
        path = self.model([node("Relu", ["x"], ["y"])], [("x", ["n", 3])], [("y", ["n", 3])])
        out = os.path.join(self.out_folder, "out.onnx")
        for flag, value, words in (("--dim", "m=2", "'m'"), ("--dim", "n", "NAME=SIZE"),
                                   ("--dim", "n=0", "NAME=SIZE"), ("--shape", "x=2", "2 axes"),
                                   ("--shape", "x=2,4", "axis 1"), ("--shape", "z=2,3", "'z'"),
                                   ("--shape", "x=", "NAME=SIZE"), ("--typical", "m=2", "'m'"),
                                   ("--typical", "n=x", "NAME=SIZE")):
            run = regraft("simplify", path, "-o", out, flag, value)
            self.assert_exit(run, BAD_INPUT)
            self.assertIn(words, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)
            self.assertFalse(os.path.exists(out))

    def assert_kept(self, nodes, shapes, constants, outputs, x=("N", 4)):
        """All values are those of the model; of outputs of another type, (name, type)."""
        places = [(n, None) if isinstance(n, str) else (n[0], None, n[1]) for n in outputs]
        path = self.model(nodes, [("x", list(x))], places, constants)
        out, _ = self.simplified(path)
        self.assert_same(path, out, shapes)
        return out

    def test_operators_put_zeros_beside_what_they_move(self):
        square = numpy_helper.from_array(np.full((4, 4), True), "c")
        self.assert_kept([node("Trilu", ["c"], ["t"], upper=1),
                          node("Where", ["t", "x", "low"], ["y"])], [(4, 4)],
                         [square, numpy_helper.from_array(np.float32(-5), "low")], ["y"])
        self.assert_kept([node("Shape", ["x"], ["s"]), node("Expand", ["one", "s"], ["o"]),
                          node("Trilu", ["o"], ["t"], upper=0),
                          node("Cast", ["t"], ["f"], to=TensorProto.FLOAT),
                          node("Mul", ["x", "f"], ["y"])], [(4, 4)], [ints("one", 1)], ["y"], x=(4, 4))
        rng = np.random.default_rng(2)
        weights = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n)
                   for n, s in (("w", (1, 8, 3)), ("r", (1, 8, 2)), ("z", (2, 2)))]
        weights[2] = numpy_helper.from_array(np.zeros((2, 2), np.float32), "z")
        self.assert_kept([node("EyeLike", ["z"], ["e"], dtype=1),
                          node("Unsqueeze", ["e", "axis"], ["h"]),
                          node("LSTM", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=2)],
                         [(3, 2, 3)], [*weights, ints("axis", [0])], ["y"], x=(3, 2, 3))

    def test_sizes_computed_with_floats_round_as_floats(self):
        for factor in (0.7, 0.9, 1.1, 0.5, 1.5):
            for kind, last in (("Mul", "Floor"), ("Mul", "Ceil"), ("Div", "Floor")):
                scale = numpy_helper.from_array(np.float32(factor), "scale")
                self.assert_kept([node("Shape", ["x"], ["s"]), node("Gather", ["s", "first"], ["n"]),
                                  node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
                                  node(kind, ["f", "scale"], ["g"]), node(last, ["g"], ["h"]),
                                  node("Cast", ["h"], ["y"], to=TensorProto.INT64)],
                                 [(n, 4) for n in (1, 3, 7, 10, 11)], [scale, ints("first", 0)],
                                 [("y", TensorProto.INT64)])
        scales = numpy_helper.from_array(np.array([1, 1, 2.3, 0.7], np.float32), "scales")
        self.assert_kept([node("Resize", ["x", "", "scales"], ["r"]), node("Shape", ["r"], ["y"])],
                         [(1, 1, 10, 10)], [scales], [("y", TensorProto.INT64)], x=(1, 1, 10, 10))

    def test_what_runtimes_understand_otherwise_stays(self):
        for reduction in ("ReduceSum", "ReduceProd"):
            opset_axes = [ints("none", np.zeros(0))] if reduction == "ReduceSum" else []
            self.assert_kept([node("Shape", ["x"], ["s"]),
                              node(reduction, ["s", "none"][:1 + len(opset_axes)], ["y"],
                                   noop_with_empty_axes=1, keepdims=0) if opset_axes else
                              node(reduction, ["s"], ["y"], keepdims=0)],
                             [(3, 4)], opset_axes, [("y", TensorProto.INT64)])
        self.assert_kept([node("NonZero", ["five"], ["y"]), node("Identity", ["x"], ["z"])],
                         [(1, 4)], [ints("five", 5)], [("y", TensorProto.INT64), "z"])
        least = numpy_helper.from_array(np.array([-2**31, 5], np.int32), "least")
        self.assert_kept([node("Neg", ["least"], ["n"]), node("Cast", ["n"], ["y"], to=7),
                          node("Identity", ["x"], ["z"])], [(1, 4)], [least],
                         [("y", TensorProto.INT64), "z"])
        image = numpy_helper.from_array(
            np.random.default_rng(3).normal(size=(1, 1, 5, 8)).astype(np.float32), "image")
        self.assert_kept([node("MaxPool", ["image"], ["y"], auto_pad="SAME_UPPER", dilations=[1, 2],
                               kernel_shape=[2, 3], strides=[1, 3]),
                          node("Identity", ["x"], ["z"])], [(1, 4)], [image], ["y", "z"])

    def test_stated_sizes_of_values_inside_may_be_of_another_batch(self):
        weights = numpy_helper.from_array(np.arange(16, dtype=np.int8).reshape(4, 4), "w")
        nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                 node("MatMulInteger", ["q", "w", "z"], ["i"]),
                 node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), node("Shape", ["f"], ["shape"]),
                 node("Gather", ["shape", "first"], ["n"]), node("Mul", ["f", "s"], ["scaled"]),
                 node("Concat", ["n", "rest"], ["to"], axis=0), node("Reshape", ["scaled", "to"], ["y"])]
        path = self.model(nodes, [("x", ["N", 4])], [("y", ["N", 2, 2])],
                          [weights, ints("first", [0]), ints("rest", [2, -1])])
        stale = onnx.load(path)
        stale.graph.value_info.append(helper.make_tensor_value_info("i", TensorProto.INT32, [1, 4]))
        onnx.save(stale, path)
        for flags in ((), ("--dim", "N=3")):
            self.assertIn("Shape", self.kinds(self.simplified(path, *flags)[0]))

    def test_casts_of_results_that_have_another_type_stay(self):
        half, whole = (TensorProto.FLOAT16,), (TensorProto.INT64,)
        scale = numpy_helper.from_array(np.ones(4, np.float32), "s")
        for nodes, kind in (
                ([node("RandomNormalLike", ["x"], ["n"], dtype=TensorProto.FLOAT)], whole),
                ([node("RandomUniformLike", ["x"], ["n"], dtype=TensorProto.FLOAT)], half),
                ([node("RMSNormalization", ["x", "s"], ["n"])], half),
                ([node("SimplifiedLayerNormalization", ["x", "s"], ["n"], epsilon=1e-5)], half)):
            kinds = sorted([nodes[0].op_type, "Cast", "Neg"])
            nodes += [node("Cast", ["n"], ["c"], to=kind[0]), node("Neg", ["c"], ["y"])]
            path = self.model(nodes, [("x", ["N", 4], *kind)], [("y", ["N", 4], *kind)], [scale])
            self.assertEqual(self.kinds(self.simplified(path)[0]), kinds)

    def test_sizes_that_no_run_can_have_are_refused(self):
        weights = numpy_helper.from_array(np.ones((8, 4), np.float32), "w")
        path = self.model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
                          [("x", ["n", "k"])], [("y", ["n", 4])], [weights])
        out = os.path.join(self.out_folder, "out.onnx")
        for size, expected in (("5", BAD_INPUT), ("1", BAD_INPUT), ("8", DONE)):
            run = regraft("simplify", path, "-o", out, "--dim", f"k={size}")
            self.assert_exit(run, expected)
            self.assertEqual(os.path.exists(out), expected == DONE)
            if expected != DONE:
                self.assertIn("'product' (MatMul)", run.stderr)


if __name__ == "__main__":
    command_line.main()
