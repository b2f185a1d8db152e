#!/usr/bin/env python3
"""`regraft validate` where sizes are computed: right pairs are proved, near misses never.

  python sizes_test.py REGRAFT [TestClass[.test]]
"""
from validation import Validation  # finds command_line

import command_line

import numpy as np
from onnx import TensorProto, helper

from pair_models import INT64, floats, ints, model, node, one, port

IMAGE = ("x", [1, 2, 6, 6])


def padded(pads):
    """Pads that are said to be so, or computed as torchvision does from 6.0 / 3."""
    pad = [node("Pad", ["x", "p"], ["y"])]
    if pads is not None:
        return model(pad, [IMAGE], [("y", None)], {"p": ints(*pads)})
    nodes = [node("ReduceMax", ["six"], ["m"], keepdims=0), node("Div", ["m", "three"], ["q"]),
             node("Ceil", ["q"], ["c"]), node("Cast", ["c"], ["i"], to=INT64),
             node("Unsqueeze", ["i", "zero"], ["u"]),
             node("Concat", ["none", "none", "u", "u", "none", "none", "zero", "zero"], ["n"], axis=0),
             node("ConstantOfShape", ["zero"], ["e"],
                  value=helper.make_tensor("v", TensorProto.INT64, [1], [0])),
             node("Concat", ["n", "e"], ["p"], axis=0)]
    return model(nodes + pad, [IMAGE], [("y", None)],
                 {"six": np.array([6, 5], np.float32), "three": np.float32(3), "zero": ints(0),
                  "none": ints(0)})


def reciprocal(count):
    """floor(192 * (320 * (1 / 192))) times, or `count` times."""
    tile = [node("Tile", ["x", "r"], ["y"])]
    if count:
        return model(tile, [("x", [2])], [("y", None)], {"r": ints(count)})
    nodes = [node("Reciprocal", ["h"], ["a"]), node("Mul", ["a", "w"], ["b"]),
             node("Mul", ["b", "h"], ["c"]), node("Floor", ["c"], ["d"]),
             node("Cast", ["d"], ["r"], to=INT64)]
    return model(nodes + tile, [("x", [2])], [("y", None)],
                 {"h": np.array([192], np.float32), "w": np.float32(320)})


def resized(opset, **more):
    return one("Resize", ("x", "", "", "s"), {"s": ints(1, 2, 3, 5)}, (IMAGE,), ("y", None), opset,
               mode="cubic", **more)


def enlarged(*scales):
    """Twice as large: by these scales, or by scales that are joined from constants."""
    nodes = [node("Concat", ["a", "b"], ["s"], axis=0)] * (not scales)
    nodes.append(node("Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode="floor",
                      coordinate_transformation_mode="asymmetric"))
    data = {"s": np.array(scales, np.float32)} if scales else \
        {"a": np.array([1, 1], np.float32), "b": np.array([2, 3], np.float32)}
    return model(nodes, [IMAGE], [("y", None)], data)


def least(opset, op="ReduceMin", **more):
    return model([node(op, ["x"], ["y"], keepdims=0, **more)], [("x", ["n"], INT64)],
                 [("y", [], INT64)], opset=opset)


def sampled(opset, mode):
    return model([node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode="border")],
                 [IMAGE, ("g", [1, 3, 3, 2])], [("y", None)], opset=opset)


def found(ops, counted, reverse=False):
    """Where what `ops` make of x is not 0, flattened; as long as where `counted` is not 0."""
    nodes, last = [], "x"
    for k, op in enumerate(ops):
        nodes.append(node(op, [last], [f"h{k}"]))
        last = f"h{k}"
    nodes += [node("NonZero", [last], ["n"]), node("NonZero", ["x"], ["other"]),
              node("Shape", [counted], ["s"], start=1, end=2)]
    order = ["two", "s"] if reverse else ["s", "two"]
    nodes += [node("Concat", order, ["t"], axis=0), node("Reshape", ["n", "t"], ["y"])]
    return model(nodes, [("x", [3, 4])], [("y", [None, None], INT64)], {"two": ints(2)})


def cut(op, number, nodes=True):
    """As many rows of x as something unknown of i has, with `op` and a number on the way."""
    made = [node("Odd", ["i"], ["o"], domain="odd"), node("Shape", ["o"], ["s"]),
            node("Gather", ["s", "first"], ["g"]), node("Unsqueeze", ["g", "axis"], ["k"])]
    end = "k"
    if nodes:
        made.append(node(op, ["k", "number"], ["e"]))
        end = "e"
    made += [node("Slice", ["x", "begin", end, "axis"], ["y"])]
    return model(made, [("x", ["M", 4]), ("i", ["L"])], [("y", [None, 4])],
                 {"number": ints(number), "begin": ints(0), "axis": ints(0),
                  "first": np.array(0, np.int64)},
                 domains=[("odd", 1)])


def unless_empty(asked):
    """The sum of what is above 0, and 7 where nothing is: `asked`, or not."""
    def body(name, nodes, result):
        return helper.make_graph(nodes, name, [], [port((result, []))])

    nodes = [node("Greater", ["x", "z"], ["p"]), node("NonZero", ["p"], ["n"]),
             node("Transpose", ["n"], ["t"]), node("GatherND", ["x", "t"], ["g"])]
    total = [node("ReduceSum", ["g"], ["y" if not asked else "b"], keepdims=0)]
    if not asked:
        return model(nodes + total, [("x", [3, 4])], [("y", [])], {"z": np.float32(0)})
    nodes += [node("Shape", ["g"], ["s"]), node("ReduceProd", ["s"], ["c"], keepdims=0),
              node("Equal", ["c", "none"], ["e"]),
              node("If", ["e"], ["y"], then_branch=body("t", [node("Identity", ["seven"], ["a"])],
                                                        "a"),
                   else_branch=body("e", total, "b"))]
    return model(nodes, [("x", [3, 4])], [("y", [])],
                 {"z": np.float32(0), "none": np.array(0, np.int64), "seven": np.float32(7)})


def rejoined(*cuts):
    """Parts of x along its last axis, joined."""
    if not cuts:
        return one("Relu", out=("y", None))
    nodes = [node("Slice", ["x", f"b{k}", f"e{k}", "axis"], [f"p{k}"]) for k in range(len(cuts))]
    nodes += [node("Concat", [f"p{k}" for k in range(len(cuts))], ["j"], axis=-1),
              node("Relu", ["j"], ["y"])]
    data = {"axis": ints(1)}
    for k, (begin, end) in enumerate(cuts):
        data |= {f"b{k}": ints(begin), f"e{k}": ints(end)}
    return model(nodes, outputs=[("y", None)], data=data)


def projected(joined, part=1):
    """x by the second of three weights: alone, or by all of them at once."""
    weights = [floats(4, 5, seed=s) for s in (1, 2, 3)]
    if not joined:
        return model([node("MatMul", ["x", "w"], ["h"]), node("MatMul", ["x", "v"], ["k"]),
                      node("MatMul", ["x", "u"], ["l"]), node("Relu", ["h"], ["y"]),
                      node("Add", ["k", "l"], ["z"])],
                     outputs=[("y", [2, 5]), ("z", [2, 5])],
                     data={"w": weights[1], "v": weights[0], "u": weights[2]})
    parts = ["k", "h", "l"]
    return model([node("MatMul", ["x", "w"], ["a"]),
                  node("Split", ["a", "sizes"], parts, axis=1),
                  node("Relu", [parts[part]], ["y"]), node("Add", ["k", "l"], ["z"])],
                 outputs=[("y", [2, 5]), ("z", [2, 5])],
                 data={"w": np.concatenate(weights, 1), "sizes": ints(5, 5, 5)})


def attended(grouped, before=1):
    """Weights [B, 4, 1, P + 1] of two heads' values, each of them twice: `before` or after the
    heads, or four rows of weights in two groups."""
    nodes = [node("Concat", ["past", "new"], ["v"], axis=2),
             node("Concat", ["weights", "weight"], ["x"], axis=3)]
    if grouped:
        nodes += [node("Reshape", ["x", "groups"], ["g"]), node("MatMul", ["g", "v"], ["h"]),
                  node("Reshape", ["h", "back"], ["y"])]
    else:
        nodes += [node("Unsqueeze", ["v", "axis"], ["u"]), node("Expand", ["u", "twice"], ["e"]),
                  node("Shape", ["v"], ["length"], start=2, end=3),
                  node("Concat", ["free", "four", "length", "width"], ["s"], axis=0),
                  node("Reshape", ["e", "s"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    twice = [1, 1, 1, 1, 1]
    twice[before + 1] = 2
    data = {"groups": ints(0, 2, 2, -1), "back": ints(0, 4, 1, 8), "axis": ints(before + 1),
            "twice": ints(*twice), "free": ints(-1), "four": ints(4), "width": ints(8)}
    return model(nodes, [("weights", ["B", 4, 1, "P"]), ("weight", ["B", 4, 1, 1]),
                         ("past", ["B", 2, "P", 8]), ("new", ["B", 2, 1, 8])],
                 [("y", ["B", 4, 1, 8])], data)


class Sizes(Validation):
    def assert_not_proved(self, a, b):
        _, report = self.validate(a, b)
        self.assertIn(report["verdict"], ("unknown", "refuted"), self.said.stdout)

    def test_integers_that_follow_from_real_constants(self):
        self.assert_verdict("proved", padded(None), padded([0, 0, 2, 2, 0, 0, 0, 0]))
        self.assert_verdict("proved", padded([0, 0, 2, 2, 0, 0, 0, 0]), padded(None))
        self.assert_not_proved(padded(None), padded([0, 0, 2, 1, 0, 0, 0, 0]))
        self.assert_not_proved(padded(None), padded([0, 0, 1, 2, 0, 0, 0, 1]))
        self.assert_verdict("proved", reciprocal(0), reciprocal(320))
        self.assert_not_proved(reciprocal(0), reciprocal(319))

    def test_forms_of_later_opsets(self):
        self.assert_verdict("proved", resized(17), resized(18))
        self.assert_verdict("proved", resized(13), resized(19, antialias=0))
        self.assert_not_proved(resized(17), resized(18, antialias=1))
        self.assert_not_proved(resized(17), resized(18, keep_aspect_ratio_policy="not_larger"))
        self.assert_verdict("proved", least(17), least(18))
        self.assert_not_proved(least(17), least(18, "ReduceMax"))
        self.assert_not_proved(least(17), least(18, noop_with_empty_axes=1))
        self.assert_verdict("proved", sampled(16, "bicubic"), sampled(20, "cubic"))
        self.assert_not_proved(sampled(16, "bicubic"), sampled(20, "linear"))

    def test_scales_that_are_joined(self):
        self.assert_verdict("proved", enlarged(), enlarged(1, 1, 2, 3))
        self.assert_verdict("proved", enlarged(1, 1, 2, 3), enlarged())
        self.assert_not_proved(enlarged(), enlarged(1, 1, 3, 2))

    def test_sizes_that_depend_on_data(self):
        once, twice = ["Relu"], ["Relu", "Relu"]
        self.assert_verdict("proved", found(once, "n"), found(twice, "n"))
        self.assert_not_proved(found(once, "n"), found(twice, "other"))
        self.assert_not_proved(found(once, "n"), found(twice, "n", reverse=True))
        self.assert_not_proved(found(once, "n"), found(["Neg", "Relu"], "n"))

    def test_numbers_that_change_nothing(self):
        for op, number in (("Add", 0), ("Sub", 0), ("Mul", 1), ("Div", 1)):
            self.assert_verdict("proved", cut(op, number), cut("", 0, nodes=False))
            self.assert_not_proved(cut(op, 2), cut("", 0, nodes=False))

    def test_what_is_found_may_be_nothing(self):
        self.assert_verdict("proved", unless_empty(True), unless_empty(True))
        self.assert_not_proved(unless_empty(True), unless_empty(False))
        self.assert_not_proved(unless_empty(False), unless_empty(True))

    def test_empty_parts(self):
        self.assert_verdict("proved", rejoined((0, 4), (4, 9)), rejoined())
        self.assert_verdict("proved", rejoined((0, 4), (3, 2)), rejoined())
        self.assert_not_proved(rejoined((1, 4), (4, 9), (0, 1)), rejoined())
        self.assert_not_proved(rejoined((0, 3), (2, 3)), rejoined())

    def test_one_more_than_a_size(self):
        self.assert_verdict("proved", attended(False), attended(True))
        self.assert_verdict("proved", attended(True), attended(False))
        self.assert_not_proved(attended(False, before=0), attended(True))

    def test_joined_weights_of_which_a_part_is_read(self):
        self.assert_verdict("proved", projected(False), projected(True))
        self.assert_not_proved(projected(False), projected(True, 0))
        self.assert_not_proved(projected(False), projected(True, 2))


if __name__ == "__main__":
    command_line.main()
