#!/usr/bin/env python3
"""Bodies of If, Loop and Scan, and local functions: optimised, checked, certified, and the same in
onnxruntime as before.

  python bodies_test.py REGRAFT [TestClass[.test]]
"""
import hashlib
import json
import os
import pathlib

import command_line
from command_line import BAD_INPUT, CommandLine, DONE, FAILED, regraft  # looks for onnx

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info = helper.make_node, helper.make_tensor_value_info


def weight(name, *shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def model(nodes, inputs, outputs, constants=(), functions=(), imports=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, v) for d, v in imports)]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)
    onnx.checker.check_model(made)
    return made


def body(name, nodes, inputs, outputs, constants=()):
    return helper.make_graph(nodes, name, inputs, outputs, list(constants))


def twice(x, y, prefix):
    """y = relu(relu(x))"""
    return [node("Relu", [x], [prefix + "1"]), node("Identity", [prefix + "1"], [prefix + "2"]),
            node("Relu", [prefix + "2"], [y])]


def branches(then_nodes, else_nodes, shape, prefix=""):
    return {"then_branch": body(prefix + "then", then_nodes, [], [info(prefix + "t", FLOAT, shape)]),
            "else_branch": body(prefix + "else", else_nodes, [], [info(prefix + "e", FLOAT, shape)])}


def with_if():
    """h = tanh(x); c ? relu(relu(h)) : (h w) v, with w outside of the branch, and v in it."""
    made = branches(twice("h", "t", "a"), [node("MatMul", ["h", "w"], ["m"]), node("MatMul", ["m", "v"], ["n"]),
                                           node("Identity", ["n"], ["e"])], [3, 4])
    made["else_branch"].initializer.append(weight("v", 4, 4, seed=2))
    return model([node("Tanh", ["x"], ["h"]), node("If", ["c"], ["y"], "choice", **made)],
                 [info("x", FLOAT, [3, 4]), info("c", BOOL, [])], [info("y", FLOAT, [3, 4])],
                 [weight("w", 4, 4, seed=1)])


def with_nested_if():
    inner = branches(twice("h", "it", "a"), [node("Neg", ["h"], ["b"]), node("Neg", ["b"], ["ie"])], [2, 3], "i")
    outer = branches([node("Relu", ["x"], ["h"]), node("If", ["d"], ["r"], "inner", **inner),
                      *twice("r", "t", "b")], [node("Exp", ["x"], ["e"])], [2, 3])
    outer["then_branch"].value_info.append(info("r", FLOAT, [2, 3]))
    return model([node("If", ["c"], ["y"], "outer", **outer)],
                 [info("x", FLOAT, [2, 3]), info("c", BOOL, []), info("d", BOOL, [])],
                 [info("y", FLOAT, [2, 3])])


def with_loop():
    """s = (s w) v + relu(relu(s)), n times, with each s as scan output."""
    nodes = [node("Identity", ["go"], ["on"]), node("MatMul", ["s", "w"], ["m"]),
             node("MatMul", ["m", "v"], ["p"]), *twice("s", "r", "a"), node("Add", ["p", "r"], ["q"]),
             node("Tanh", ["q"], ["next"]), node("Identity", ["next"], ["scan"])]
    made = body("loop", nodes, [info("i", INT64, []), info("go", BOOL, []), info("s", FLOAT, [2, 4])],
                [info("on", BOOL, []), info("next", FLOAT, [2, 4]), info("scan", FLOAT, [2, 4])])
    return model([node("Loop", ["n", "", "x"], ["y", "ys"], "loop", body=made)],
                 [info("x", FLOAT, [2, 4]), info("n", INT64, [])],
                 [info("y", FLOAT, [2, 4]), info("ys", FLOAT, ["k", 2, 4])],
                 [weight("w", 4, 4, seed=1), weight("v", 4, 4, seed=2)])


def with_growing_loop():
    """A carried value that has another shape each time: s = concat(s, relu(relu(x)))."""
    nodes = [node("Identity", ["go"], ["on"]), *twice("x", "r", "a"),
             node("Concat", ["s", "r"], ["next"], axis=0)]
    made = body("loop", nodes, [info("i", INT64, []), info("go", BOOL, []), info("s", FLOAT, None)],
                [info("on", BOOL, []), info("next", FLOAT, None)])
    return model([node("Loop", ["n", "", "x"], ["y"], "loop", body=made)],
                 [info("x", FLOAT, [2, 4]), info("n", INT64, [])], [info("y", FLOAT, ["r", 4])])


def with_scan():
    nodes = [node("Add", ["s", "e"], ["sum"]), *twice("sum", "next", "a"), node("Identity", ["next"], ["out"])]
    made = body("scan", nodes, [info("s", FLOAT, [4]), info("e", FLOAT, [4])],
                [info("next", FLOAT, [4]), info("out", FLOAT, [4])])
    return model([node("Scan", ["z", "x"], ["y", "ys"], "scan", body=made, num_scan_inputs=1)],
                 [info("z", FLOAT, [4]), info("x", FLOAT, [5, 4])],
                 [info("y", FLOAT, [4]), info("ys", FLOAT, [5, 4])])


def with_functions():
    """Nested calls with attributes given, default and left out; one call in a branch."""
    opset, local = [helper.make_opsetid("", 17)], [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]

    def elu(name, alpha):
        made = node("Elu", [name], [name + "_e"])
        made.attribute.append(onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT,
                                                  ref_attr_name=alpha))
        return made
    inner = helper.make_function("local", "Inner", ["a"], ["b"],
                                 [elu("a", "alpha"), *twice("a_e", "r", "p"), node("Add", ["r", "a"], ["b"])],
                                 opset, attribute_protos=[helper.make_attribute("alpha", 0.5)])
    call = node("Inner", ["a"], ["m"], domain="local")
    call.attribute.append(onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT,
                                              ref_attr_name="slope"))
    outer = helper.make_function("local", "Outer", ["a", "low"], ["c"],
                                 [call, node("Clip", ["m", "low"], ["n"]), *twice("n", "c", "q")], local, ["slope"])
    made = branches([node("Outer", ["h"], ["t"], domain="local", slope=0.25)],
                    [node("Inner", ["h"], ["e"], domain="local")], [3, 4])
    return model([node("Outer", ["x", ""], ["h"], "first", domain="local"),
                  node("If", ["c"], ["y"], "choice", **made)],
                 [info("x", FLOAT, [3, 4]), info("c", BOOL, [])], [info("y", FLOAT, [3, 4])],
                 functions=[inner, outer], imports=[("local", 1)])


MODELS = {"if": with_if, "nested": with_nested_if, "loop": with_loop, "growing": with_growing_loop,
          "scan": with_scan, "functions": with_functions}


def all_nodes(graph):
    for n in graph.node:
        yield n
        for a in n.attribute:
            if a.HasField("g"):
                yield from all_nodes(a.g)


def made_names(graph):
    yield from (t.name for t in graph.initializer)
    for n in graph.node:
        yield from (o for o in n.output if o)
        for a in n.attribute:
            if a.HasField("g"):
                yield from made_names(a.g)


def run(path, seed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    rng, feeds = np.random.default_rng(seed), {}
    for i in session.get_inputs():
        if i.type == "tensor(bool)":
            feeds[i.name] = np.array(bool(rng.integers(2)))
        elif i.type == "tensor(int64)":
            feeds[i.name] = np.array(rng.integers(1, 5))
        else:
            feeds[i.name] = rng.standard_normal(i.shape).astype(np.float32)
    return session.run(None, feeds)


class Case(CommandLine):
    def optimised(self, name, *more, command="optimize"):
        """The model, what it became, the report."""
        path, report = os.path.join(self.folder, name + ".onnx"), os.path.join(self.folder, "report.json")
        onnx.save(MODELS[name](), path)
        searching = ["--budget", "3000", "--cost", "roofline"] if command == "optimize" else []
        done = regraft(command, path, "-o", self.out, "--json", report, *searching, *more)
        self.assert_exit(done, DONE)
        self.printed = done.stdout
        return path, onnx.load(self.out), json.loads(pathlib.Path(report).read_text())

    def assert_same_results(self, path):
        for seed in range(8):
            for before, after in zip(run(path, seed), run(self.out, seed), strict=True):
                np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)


class Bodies(Case):
    def test_onnxruntime_computes_the_same(self):
        for name in MODELS:
            for command in ("optimize", "simplify"):
                with self.subTest(name=name, command=command):
                    path, after, report = self.optimised(name, command=command)
                    onnx.checker.check_model(after)
                    self.assertTrue(any(b["changed"] for b in report["bodies"]), report["bodies"])
                    self.assertLess(len(list(all_nodes(after.graph))),
                                    len(list(all_nodes(onnx.load(path).graph))) + 20 * (name == "functions"))
                    names = list(made_names(after.graph))
                    self.assertEqual(len(names), len(set(names)), names)
                    self.assert_same_results(path)

    def test_what_bodies_become(self):
        _, after, report = self.optimised("if")
        self.assertRegex(self.printed, r"bodies of If, Loop and Scan: 2 of 2 changed, \d+ operators before")
        for b in report["bodies"]:
            self.assertLess(b["after"]["operators"], b["before"]["operators"])
            self.assertLess(b["after"]["cost"], b["before"]["cost"])
            self.assertTrue(b["check"]["passed"] and b["check"]["complete"])
        kinds = [n.op_type for n in all_nodes(after.graph)]
        self.assertEqual(kinds.count("Relu"), 1)
        self.assertEqual(kinds.count("MatMul"), 1, "w v is a constant")
        self.assertEqual(list(after.graph.initializer), [], "no body reads w any more")
        _, after, report = self.optimised("nested")
        self.assertEqual(len(report["bodies"]), 4)
        self.assertIn(", in the then_branch of node 0", report["bodies"][1]["where"])
        self.assertEqual([n.op_type for n in all_nodes(after.graph)].count("Neg"), 0)

    def test_formal_inputs_and_outputs_stay(self):
        for name in ("loop", "scan", "growing"):
            path, after, _ = self.optimised(name)
            for before, now in zip(onnx.load(path).graph.node, after.graph.node):
                for a, b in zip(before.attribute, now.attribute):
                    self.assertEqual([v.name for v in a.g.input], [v.name for v in b.g.input])
                    self.assertEqual([v.name for v in a.g.output], [v.name for v in b.g.output])

    def test_functions_are_gone(self):
        _, after, _ = self.optimised("functions")
        self.assertEqual(len(after.functions), 0)
        self.assertNotIn("local", [n.domain for n in all_nodes(after.graph)])

    def test_a_second_run_agrees_with_the_first(self):
        for name in MODELS:
            with self.subTest(name=name):
                path, _, _ = self.optimised(name)
                again = os.path.join(self.folder, "again.onnx")
                self.assert_exit(regraft("optimize", self.out, "-o", again, "--budget", "3000", "-q"), DONE)
                names = list(made_names(onnx.load(again).graph))
                self.assertEqual(len(names), len(set(names)), names)
                self.assertIn(regraft("check", path, again).returncode, (DONE, FAILED))


class Check(Case):
    def test_models_that_differ_in_bodies_are_compared(self):
        for name in MODELS:
            with self.subTest(name=name):
                path, _, _ = self.optimised(name)
                done = regraft("check", path, self.out)
                self.assert_exit(done, DONE)
                self.assertRegex(done.stdout, r"the models agree[^\n]*\n\d bodies that differ in form")

    def changed(self, name, change):
        path, after, _ = self.optimised(name)
        change(after)
        onnx.save(after, self.out)
        return regraft("check", path, self.out)

    def test_a_fault_in_a_body_is_found(self):
        def replace(kind, other):
            def change(m):
                found = [n for n in all_nodes(m.graph) if n.op_type == kind]
                self.assertTrue(found, kind)
                found[-1].op_type = other
            return change
        for name, kind, other in (("if", "Relu", "Sigmoid"), ("nested", "Relu", "Neg"), ("loop", "Tanh", "Sin"),
                                  ("scan", "Relu", "Abs"), ("functions", "Elu", "Selu")):
            with self.subTest(name=name):
                done = self.changed(name, replace(kind, other))
                self.assert_exit(done, FAILED)
                self.assertIn("THE MODELS DIFFER", done.stdout)

    def test_a_weight_in_a_body(self):
        def change(m):
            for n in m.graph.node:
                for a in n.attribute:
                    for t in a.g.initializer if a.HasField("g") else ():
                        t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t) * 1.01, t.name))
        self.assertIn("THE MODELS DIFFER", self.changed("if", change).stdout)

    def test_what_a_body_captures(self):
        path = os.path.join(self.folder, "if.onnx")
        onnx.save(with_if(), path)
        other = with_if()
        other.graph.node[0].op_type = "Sin"
        other.graph.node[1].attribute[0].g.node[1].op_type = "Relu"  # and the same in another form
        onnx.save(other, self.out)
        done = regraft("check", path, self.out)
        self.assert_exit(done, FAILED)
        self.assertIn("THE MODELS DIFFER", done.stdout)

    def test_another_name_of_what_a_body_captures(self):
        path = os.path.join(self.folder, "if.onnx")
        onnx.save(with_if(), path)

        def renamed(twist):
            other = with_if()
            other.graph.node[0].output[0] = "other"
            for a in other.graph.node[1].attribute:
                for n in a.g.node:
                    n.input[:] = ["other" if i == "h" else i for i in n.input]
            twist(other)
            onnx.save(other, self.out)
            return regraft("check", path, self.out)
        done = renamed(lambda m: None)
        self.assert_exit(done, DONE)
        self.assertIn("the models agree", done.stdout)

        def another_operand(m):
            m.graph.node[0].op_type = "Sin"
        self.assertIn("THE MODELS DIFFER", renamed(another_operand).stdout)

        def another_body(m):
            m.graph.node[1].attribute[1].g.node[0].op_type = "Neg"
        done = renamed(another_body)
        self.assert_exit(done, FAILED)
        self.assertIn("not compared", done.stdout)

    def test_branches_in_each_others_place(self):
        def swap(m):
            a, b = m.graph.node[-1].attribute
            a.name, b.name = b.name, a.name
        self.assertIn("THE MODELS DIFFER", self.changed("if", swap).stdout)

    def test_another_iteration_is_not_equal_unseen(self):
        def change(m):
            m.graph.node[0].attribute[0].g.output[1].name, m.graph.node[0].attribute[0].g.output[2].name = (
                m.graph.node[0].attribute[0].g.output[2].name, m.graph.node[0].attribute[0].g.output[1].name)
            m.graph.node[0].input[0] = "n"
            m.graph.node[0].input[1] = "stop"
            m.graph.initializer.append(numpy_helper.from_array(np.array(False), "stop"))
        self.assert_exit(self.changed("loop", change), FAILED)


class Certificates(Case):
    def certified(self, name):
        certificate = os.path.join(self.folder, "certificate.json")
        path, _, _ = self.optimised(name, "--certificate", certificate)
        return path, certificate

    def check(self, path, certificate, *more):
        return regraft("check", path, self.out, "--certificate", certificate, *more)

    def test_bodies_are_replayed(self):
        for name in MODELS:
            with self.subTest(name=name):
                path, certificate = self.certified(name)
                done = self.check(path, certificate)
                self.assert_exit(done, DONE)
                self.assertRegex(done.stdout, r"bodies +\d made anew, \d+ steps in them")
        self.assert_exit(self.check(path, certificate, "--prove"), DONE)

    def refused(self, path, certificate, change):
        good = pathlib.Path(certificate).read_text()
        j = json.loads(good)
        change(j)
        j.pop("sha256", None)
        text = json.dumps(j, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        j["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        pathlib.Path(certificate).write_text(json.dumps(j))
        done = self.check(path, certificate)
        pathlib.Path(certificate).write_text(good)
        self.assertIn(done.returncode, (FAILED, BAD_INPUT), done.stdout)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr

    def test_forged_ones_are_refused(self):
        path, certificate = self.certified("if")
        bodies = json.loads(pathlib.Path(certificate).read_text())["bodies"]
        steps = [k for k, b in enumerate(bodies) if b["steps"]]
        self.assertTrue(steps)
        k = steps[0]

        def refused(change):
            return self.refused(path, certificate, change)
        self.assertIn("no step uses", refused(lambda j: j.update(bodies=[])))
        self.assertIn("another model", refused(lambda j: j.update(bodies=[], rules=[])))
        self.assertIn("made twice", refused(lambda j: j["bodies"].append(j["bodies"][0])))
        self.assertIn("no such body", refused(lambda j: j["bodies"][0].update(node=7)))
        self.assertIn("no such body", refused(lambda j: j["bodies"][0].update(attribute="body")))
        self.assertTrue(refused(lambda j: j["bodies"][k]["steps"][0].update(nodes=[9, 9])))
        self.assertTrue(refused(lambda j: j["bodies"][k].update(steps=[])))
        self.assertIn("does not consist", refused(lambda j: j["bodies"][0].pop("folded")))
        self.assertIn("does not consist", refused(lambda j: j["bodies"][0].update(more=1)))
        self.assertIn("no field bodies", refused(lambda j: j.pop("bodies")))
        self.assertIn("not a list", refused(lambda j: j.update(bodies={})))

    def test_another_body_is_refused(self):
        path, certificate = self.certified("nested")
        other = onnx.load(self.out)
        [n for n in all_nodes(other.graph) if n.op_type == "Relu"][0].op_type = "Neg"
        onnx.save(other, self.out)
        self.assert_exit(self.check(path, certificate), FAILED)
        j = json.loads(pathlib.Path(certificate).read_text())
        self.assertTrue(j["bodies"][0]["bodies"], "an inner body in an outer one")


if __name__ == "__main__":
    command_line.main()
