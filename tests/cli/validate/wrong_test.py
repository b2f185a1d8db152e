#!/usr/bin/env python3
"""`regraft validate` on pairs of models that are wrong on purpose: none is ever proved, and each
counterexample can be repeated with nothing but the report.

  python wrong_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import sys

import validation  # finds command_line  # noqa: F401

import command_line
from command_line import CommandLine, FAILED, regraft

import numpy as np
import onnx
import onnxruntime

import pair_models as pairs
from pair_models import BOOL, FLOAT, INT32, INT64, chain, floats, ints, model, node, one

UNDECIDED = 5
TYPES = {"float32": np.float32, "float16": np.float16, "float64": np.float64, "bool": np.bool_,
         "int64": np.int64, "int32": np.int32, "uint8": np.uint8, "int8": np.int8}


def unfolded_epsilon(w, b, scale, bias, mean, variance, epsilon):
    return pairs.folded(w, b, scale, bias, mean, variance, np.float32(1e-2))


def forgotten_bias(w, b, scale, bias, mean, variance, epsilon):
    factor = scale / np.sqrt(variance + epsilon)
    return w * factor[:, None, None, None], bias - mean * factor


def scaled_inputs(w, b, scale, bias, mean, variance, epsilon):
    w2, b2 = pairs.folded(w, b, scale, bias, mean, variance, epsilon)
    return w2[::-1].copy(), b2


def convolution(**attributes):
    return one("Conv", ("x", "w"), {"w": floats(3, 2, 3, 3)}, (pairs.IMAGE,), ("y", None),
               **attributes)


def pool(op, **attributes):
    return one(op, ports=(pairs.IMAGE,), out=("y", None), kernel_shape=[3, 3], **attributes)


def cube(op, opset=13, **attributes):
    return one(op, ports=(("x", [2, 3, 4]),), out=("y", None), opset=opset, **attributes)


def repeated(first, second, source):
    """z as often as the input `source` is long; `first`, `second`: the inputs' sizes."""
    return model([node("Shape", [source], ["s"]), node("Expand", ["z", "s"], ["y"])],
                 [("u", [first]), ("v", [second]), ("z", [1])], [("y", ["Q"])])


def defaulted(value):
    return model([node("Mul", ["x", "w"], ["y"])], [pairs.X, ("w", [4])],
                 data={"w": np.full(4, value, np.float32)})


def integers(k):
    return model([node("Add", ["x", "c"], ["y"])], [("x", [2], INT64)], [("y", [2], INT64)],
                 {"c": ints(7, k)})


def cast(to):
    nodes = [node("Cast", ["x"], ["h"], to=to), node("Cast", ["h"], ["y"], to=FLOAT)] if to else \
        [node("Identity", ["x"], ["y"])]
    return model(nodes)


def random_pair(shared):
    names = ["p", "p"] if shared else ["p", "q"]
    nodes = [node("RandomNormal", [], [n], shape=[2, 4]) for n in sorted(set(names))]
    return model([*nodes, node("Sub", names, ["d"]), node("Add", ["x", "d"], ["y"])])


def two_outputs(first, second):
    return model([node("Relu", ["x"], [first]), node("Neg", ["x"], [second])],
                 outputs=[("a", [2, 4]), ("b", [2, 4])])


def odd(**said):
    """A node of an operator that nobody knows."""
    domain, version = said.pop("domain", "odd"), said.pop("version", 1)
    return model([node("Odd", ["x"], ["y"], domain=domain, **said)], domains=[(domain, version)])


def captured(constant):
    """If(c) then x + k else x, k being a constant from outside."""
    then = onnx.helper.make_graph([node("Add", ["x", "k"], ["t"])], "then", [],
                                  [pairs.port(("t", [2, 4]))])
    other = onnx.helper.make_graph([node("Identity", ["x"], ["e"])], "else", [],
                                   [pairs.port(("e", [2, 4]))])
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                 [pairs.X, ("c", [], BOOL)], data={"k": np.float32(constant)})


def wrong_pairs():
    """By name; what optimisers have got wrong, and what a prover could."""
    x_z = (pairs.X, ("z", [2, 4]))
    w = floats(4, 4)
    return {
        "operands exchanged": (
            one("Sub", ("x", "z"), ports=x_z), one("Sub", ("z", "x"), ports=x_z)),
        "node dropped": (chain("Relu", "Sigmoid"), one("Sigmoid")),
        "another function": (one("Relu"), one("Sigmoid")),
        "relu before negation": (chain("Relu", "Neg"), chain("Neg", "Relu")),
        "transpose dropped": (
            one("Transpose", ports=(("x", [4, 4]),), out=("y", [4, 4]), perm=[1, 0]),
            one("Identity", ports=(("x", [4, 4]),), out=("y", [4, 4]))),
        "transpose as reshape": (
            one("Transpose", out=("y", [4, 2]), perm=[1, 0]),
            one("Reshape", ("x", "s"), {"s": ints(4, 2)}, out=("y", [4, 2]))),
        "permutations in the other order": (
            cube("Transpose", perm=[1, 2, 0]), cube("Transpose", perm=[2, 0, 1])),
        "softmax of opset 12 and 13": (cube("Softmax", 12), cube("Softmax", 13)),
        "another axis": (cube("ReduceSum", 11, axes=[1]), cube("ReduceSum", 11, axes=[2])),
        "keepdims": (
            cube("ReduceMean", 11, axes=[1]), cube("ReduceMean", 11, axes=[1], keepdims=0)),
        "argmax of the last": (
            one("ArgMax", out=("y", [2, 1], INT64), axis=1, select_last_index=0),
            one("ArgMax", out=("y", [2, 1], INT64), axis=1, select_last_index=1)),
        "concat order": (one("Concat", ("x", "z"), ports=x_z, out=("y", [4, 4]), axis=0),
                         one("Concat", ("z", "x"), ports=x_z, out=("y", [4, 4]), axis=0)),
        "strides": (convolution(strides=[1, 1], pads=[1, 1, 1, 1]),
                    convolution(strides=[2, 2], pads=[1, 1, 1, 1])),
        "pads on one side": (convolution(pads=[1, 1, 1, 1]), convolution(pads=[2, 2, 0, 0])),
        "auto_pad upper and lower": (convolution(auto_pad="SAME_UPPER", strides=[2, 2]),
                                     convolution(auto_pad="SAME_LOWER", strides=[2, 2])),
        "dilations": (convolution(pads=[1, 1, 1, 1]),
                      convolution(pads=[2, 2, 2, 2], dilations=[2, 2])),
        "ceil_mode": (pool("MaxPool", strides=[2, 2]),
                      pool("MaxPool", strides=[2, 2], ceil_mode=1)),
        "count_include_pad": (pool("AveragePool", pads=[1, 1, 1, 1]),
                              pool("AveragePool", pads=[1, 1, 1, 1], count_include_pad=1)),
        "pad with zero before a maximum": (
            pool("MaxPool", pads=[1, 1, 1, 1]),
            model([node("Pad", ["x", "p"], ["h"]),
                   node("MaxPool", ["h"], ["y"], kernel_shape=[3, 3])],
                  [pairs.IMAGE], [("y", None)], {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)})),
        "batch norm: another epsilon": (pairs.normalised(None), pairs.normalised(unfolded_epsilon)),
        "batch norm: bias forgotten": (pairs.normalised(None), pairs.normalised(forgotten_bias)),
        "batch norm: channels reversed": (pairs.normalised(None), pairs.normalised(scaled_inputs)),
        "weight not transposed": (
            one("Gemm", ("x", "w"), {"w": w}, transB=1), one("Gemm", ("x", "w"), {"w": w})),
        "alpha forgotten": (
            one("Gemm", ("x", "w"), {"w": w}, alpha=0.5), one("Gemm", ("x", "w"), {"w": w})),
        "a weight changed": (
            one("MatMul", ("x", "w"), {"w": w}),
            one("MatMul", ("x", "w"), {"w": w + np.float32(1e-3) * (w == w[1, 2])})),
        "a number changed": (one("Mul", ("x", "c"), {"c": np.float32(0.1)}),
                             one("Mul", ("x", "c"), {"c": np.float32(0.10001)})),
        "bias along the other axis": (
            one("Add", ("x", "b"), {"b": floats(4, 1)}, (("x", [4, 4]),), ("y", [4, 4])),
            one("Add", ("x", "b"), {"b": floats(4)}, (("x", [4, 4]),), ("y", [4, 4]))),
        "clip bounds": (one("Clip", ("x", "l", "h"), {"l": np.float32(0), "h": np.float32(6)}),
                        one("Clip", ("x", "l"), {"l": np.float32(0)})),
        "leaky slope": (one("LeakyRelu", alpha=0.01), one("LeakyRelu", alpha=0.1)),
        "gather of other rows": tuple(
            one("Gather", ("x", "i"), {"i": ints(*rows)}, axis=1, out=("y", [2, 2]))
            for rows in ((0, 1), (1, 0))),
        "slice one off": tuple(
            one("Slice", ("x", "s", "e", "a"), {"s": ints(k), "e": ints(k + 2), "a": ints(1)},
                out=("y", [2, 2])) for k in (0, 1)),
        "cast to an integer dropped": (cast(INT32), cast(None)),
        "cast to a truth value dropped": (cast(BOOL), cast(None)),
        "root of a square": (model([node("Mul", ["x", "x"], ["h"]), node("Sqrt", ["h"], ["y"])]),
                             one("Identity")),
        "outputs exchanged": (two_outputs("a", "b"), two_outputs("b", "a")),
        "a loop once less": (pairs.loop(["Neg"], 3), pairs.loop(["Neg"], 2)),
        "a loop's body": (pairs.loop(["Relu"]), pairs.loop(["Sigmoid"])),
        "a scan's body": (pairs.scan(["Relu"]), pairs.scan(["Abs"])),
        "a branch": (pairs.branches(["Relu"], ["Neg"]), pairs.branches(["Relu"], ["Identity"])),
        "branches exchanged": (pairs.branches(["Exp"], ["Neg"]), pairs.branches(["Neg"], ["Exp"])),
        "what a branch captures": (pairs.branches(["Exp"], ["Neg"], ["Relu"]),
                                   pairs.branches(["Exp"], ["Neg"], ["Sigmoid"])),
        "a constant that a branch captures": (captured(1), captured(2)),
        "a function": (pairs.function(["Relu", "Neg"]), pairs.function(["Neg", "Relu"])),
        "one random number for two": (random_pair(False), random_pair(True)),
        "two random numbers for one": (random_pair(True), random_pair(False)),
        "zero point": (pairs.quantised(1, 0), pairs.quantised(1, 3)),
        "scale": (pairs.quantised(1, 0, 0.1), pairs.quantised(1, 0, 0.11)),
        "another domain": (odd(), odd(domain="even")),
        "another version of a domain": (odd(), odd(version=2)),
        "another attribute of an unknown operator": (odd(size=1), odd(size=2)),
        "an unknown operator of a known name": (
            one("Relu"), model([node("Relu", ["x"], ["y"], domain="odd")], domains=[("odd", 1)])),
        "sizes taken for equal": (repeated("N", "M", "u"), repeated("K", "K", "v")),
        "sizes taken for equal to numbers": (repeated(4, 5, "u"), repeated("K", "K", "v")),
        "another default of an input": (defaulted(2), defaulted(3)),
        "integers that no double tells apart": (integers(2 ** 53), integers(2 ** 53 + 1)),
        "half a percent in half precision": tuple(
            one("Mul", ("x", "c"), {"c": np.float16(c)}, (("x", [2, 4], pairs.HALF),),
                ("y", [2, 4], pairs.HALF)) for c in (1, 1.005)),
        "all ones for a batch": (
            model([node("ReduceSum", ["x"], ["y"], axes=[0])], [pairs.OPEN_X], [("y", [1, 4])],
                  opset=11),
            model([node("Identity", ["x"], ["y"])], [pairs.OPEN_X], [("y", None)], opset=11)),
    }


# No run of a model tells these: their numbers are random, an operator is unknown to every runtime,
# or what differs does not show in a run that is given all inputs.
UNRUN = {"one random number for two", "two random numbers for one", "another domain",
         "another version of a domain", "another attribute of an unknown operator",
         "an unknown operator of a known name", "another default of an input"}


def tensors_of(counterexample):
    """Its inputs, from the report alone."""
    made = {}
    for name, t in counterexample["inputs"].items():
        made[name] = np.array(t["data"], TYPES[t["dtype"]]).reshape(t["shape"])
    return made


def run(path, inputs):
    """All outputs by name, in onnxruntime without its optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {i.name: inputs[i.name] for i in session.get_inputs() if i.name in inputs}
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, given)))


class Wrong(CommandLine):
    def validate(self, name, a, b):
        paths = []
        for side, m in (("a", a), ("b", b)):
            paths.append(os.path.join(self.folder, f"{side}.onnx"))
            onnx.save(m, paths[-1])
        report = os.path.join(self.out_folder, "report.json")
        said = regraft("validate", *paths, "--json", report, "--time", "60", "--memory", "4",
                       env={**os.environ, "REGRAFT_PYTHON": sys.executable})
        self.assertIn(said.returncode, (FAILED, UNDECIDED), f"{name}: {said.stdout}{said.stderr}")
        with open(report, encoding="utf-8") as f:
            read = json.load(f)
        os.remove(report)
        self.assertEqual(read["verdict"], "refuted" if said.returncode == FAILED else "unknown")
        return paths, read

    def repeat(self, paths, counterexample):
        """With nothing but the report."""
        c, inputs = counterexample, tensors_of(counterexample)
        one, other = (run(p, inputs)[c["output"]] for p in paths)
        if one.shape != other.shape:
            self.assertEqual((list(one.shape), list(other.shape)),
                             (c["shapes"]["a"], c["shapes"]["b"]))
            return
        at = tuple(c["position"])
        self.assertEqual(len(at), one.ndim)
        for value, claimed in ((one[at], c["a"]), (other[at], c["b"])):
            if claimed is not None:
                np.testing.assert_allclose(float(value), claimed, rtol=1e-3, atol=1e-5)
        self.assertNotEqual(float(one[at]), float(other[at]))

    def test_never_proved(self):
        """Wrong pairs are refuted or not decided; most are refuted, by what a runtime shows."""
        missed, repeated, total = [], 0, 0
        for name, (a, b) in wrong_pairs().items():
            with self.subTest(name):
                paths, report = self.validate(name, a, b)
                if name in UNRUN:
                    continue
                total += 1
                if report["verdict"] != "refuted":
                    missed.append(name)
                elif report["counterexample"]:
                    self.repeat(paths, report["counterexample"])
                    repeated += 1
        self.assertLessEqual(len(missed), 0.1 * total, missed)
        self.assertGreater(repeated, 30)


if __name__ == "__main__":
    command_line.main()
