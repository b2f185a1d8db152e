#!/usr/bin/env python3
"""`optimize --bisect` and `check --certificate --bisect`: the step that breaks a user's test.

  python bisect_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import common
from common import command_line, model_of, node
from command_line import BAD_INPUT, DONE, FAILED, INTERRUPTED, USAGE, regraft

import onnx
from onnx import TensorProto, helper

UNDECIDED = 5
RULES = {"Relu": "relu-relu=relu.0dc5"}


def pairs(kinds, seed=0):
    """A chain in which some places have two calls, of which one is enough: k-th of that kind, with
    a node between that keeps the places apart. The second of each two
    nodes, which a rule takes away, is named twice{k}_."""
    draw = random.Random(seed)
    nodes, value = [], "x"
    for k, kind in enumerate(kinds):
        for name, made in ((f"first{k}_", f"a{k}"), (f"twice{k}_", f"b{k}")):
            nodes.append(node(kind, [value], [made], name))
            value = made
        nodes.append(node(draw.choice(["Sigmoid", "Tanh"]), [value], [f"between{k}"], f"apart{k}"))
        value = f"between{k}"
    return model_of(nodes, {"x": [4, 4]}, {value: [4, 4]})


class Bisect(common.Terminal):
    def setUp(self):
        super().setUp()
        self.rule_file = self.rules(RULES["Relu"])
        self.temporary = os.path.join(self.keep.name, "tmp")
        os.mkdir(self.temporary)

    def run_on(self, model, command, *options, **more):
        return regraft("optimize", self.saved(model), self.out, "--no-measure", "--rules",
                       self.rule_file, "--bisect", command, *options,
                       env={**os.environ, "TMPDIR": self.temporary, **more})

    def keeps(self, name):
        """Fails where no node has this name any more."""
        return f"grep -q {name}"

    def script(self, text):
        path = pathlib.Path(self.folder) / "judge.py"
        path.write_text("import sys, onnx\nmodel = onnx.load(sys.argv[1])\n" + text)
        return f"{sys.executable} {path}"

    def relus_left(self, least):
        return self.script("sys.exit(sum(n.op_type == 'Relu' for n in model.graph.node)"
                           f" < {least})\n")

    def test_a_result_that_passes_is_written(self):
        run = self.run_on(pairs(["Relu"] * 3), "true")
        self.assert_exit(run, DONE)
        self.assertIn("the command passes on the result", run.stdout)
        self.assertTrue(os.path.exists(self.out))

    def test_names_rule_and_place_and_writes_nothing(self):
        run = self.run_on(pairs(["Relu"] * 4), self.keeps("twice2_"))
        self.assert_exit(run, FAILED)
        self.assertEqual(os.listdir(self.out_folder), [])
        self.assertEqual(os.listdir(self.temporary), [])
        self.assertIn("rule relu-relu=relu.0dc5", run.stderr)
        self.assertIn("--disable-rule relu-relu=relu.0dc5", run.stderr)
        self.assertIn("'twice2_'", run.stderr)
        self.assertIn("(relu (relu ?a)) => (relu ?a)", run.stdout)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        again = self.run_on(pairs(["Relu"] * 4), self.keeps("twice2_"), "--disable-rule",
                            "relu-relu=relu.0dc5")
        self.assert_exit(again, DONE)

    def test_the_right_step_is_named_whichever_it_is(self):
        """Random chains, a random node that must stay: the step that takes it away is named, and
        of the two models that are kept the good one has it."""
        for seed in range(8):
            draw = random.Random(seed)
            count = draw.randrange(1, 12)
            designated = f"twice{draw.randrange(count)}_"
            with self.subTest(seed=seed, designated=designated):
                run = self.run_on(pairs(["Relu"] * count, seed), self.keeps(designated),
                                  "--bisect-keep", "--seed", seed)
                self.assert_exit(run, FAILED)
                self.assertIn(f"'{designated}'", run.stderr)
                good, bad = (pathlib.Path(self.out_folder) / f"out.{word}.onnx"
                             for word in ("good", "bad"))
                self.assertIn(designated.encode(), good.read_bytes())
                self.assertNotIn(designated.encode(), bad.read_bytes())
                nodes = [len(onnx.load(m).graph.node) for m in (good, bad)]
                self.assertEqual(nodes[0] - nodes[1], 1)  # one step apart
                onnx.checker.check_model(str(good))
                good.unlink()
                bad.unlink()

    def test_few_models_are_judged(self):
        log = os.path.join(self.keep.name, "log")
        run = self.run_on(pairs(["Relu"] * 16), f"echo judged >> {log}; " + self.keeps("twice9_"))
        self.assert_exit(run, FAILED)
        judged = len(pathlib.Path(log).read_text().split())
        self.assertLessEqual(judged, 6)  # two ends, and log2(16)
        self.assertIn(f"{judged} models judged", run.stdout)

    def test_a_test_that_loads_the_model(self):
        run = self.run_on(pairs(["Relu"] * 5), self.relus_left(8))
        self.assert_exit(run, FAILED)
        self.assertIn("step 3 of 5", run.stderr)

    def test_constants_of_rules_are_written(self):
        """Rules make constants that are folded in the last step; models before it have them, too."""
        nodes = [node("Add", ["x", "z"], ["s"], "sum"), node("Sub", ["x", "s"], ["d"], "rest"),
                 node("Relu", ["d"], ["y"], "end")]
        model = model_of(nodes, {"x": [4, 4], "z": [4, 4]}, {"y": [4, 4]})
        self.rule_file = self.rules("add-sub=full-sub.9321")
        run = self.run_on(model, self.script("sys.exit(len(model.graph.node) < 3)\n"))
        self.assert_exit(run, FAILED)
        self.assertIn("fails after step 1 of 2: rule add-sub=full-sub.9321", run.stderr)

    def test_fails_without_any_step(self):
        run = self.run_on(pairs(["Relu"] * 2), "false")
        self.assert_exit(run, FAILED)
        self.assertIn("without any step", run.stderr)
        self.assertEqual(os.listdir(self.out_folder), [])

    def test_what_cannot_be_judged_is_passed_over(self):
        """Four Relus gone cannot be judged: the step before or after it may be the bad one."""
        judge = ("left = sum(n.op_type == 'Relu' for n in model.graph.node)\n"
                 "sys.exit(125 if left in {0} else left < 12)\n")
        run = self.run_on(pairs(["Relu"] * 8), self.script(judge.format("(14,)")))
        self.assert_exit(run, FAILED)
        self.assertIn("step 5 of 8", run.stderr)
        run = self.run_on(pairs(["Relu"] * 8), self.script(judge.format("(11, 12, 13)")))
        self.assert_exit(run, UNDECIDED)
        self.assertIn("one of the steps 3 to 6", run.stderr)
        for everything in ("exit 125", "exit 125 # {}"):
            self.assert_exit(self.run_on(pairs(["Relu"] * 2), everything), UNDECIDED)

    def test_the_path_goes_where_it_is_asked_for(self):
        self.assert_exit(self.run_on(pairs(["Relu"]), "test -s {} && test -r {}; exit $?"), DONE)
        self.assert_exit(self.run_on(pairs(["Relu"]), "test -s"), DONE)
        odd = os.path.join(self.keep.name, "it's {a} folder")
        os.mkdir(odd)
        self.assert_exit(self.run_on(pairs(["Relu"]), "test -s", TMPDIR=odd), DONE)

    def test_output_is_shown_where_it_is_asked_for(self):
        run = self.run_on(pairs(["Relu"]), "echo spoken; echo here >&2; true")
        self.assertNotIn("spoken", run.stdout + run.stderr)
        run = self.run_on(pairs(["Relu"]), "echo spoken; true", "--bisect-show")
        self.assertIn("spoken", run.stderr)
        self.assertNotIn("spoken", run.stdout)

    def test_needs(self):
        model = self.saved(pairs(["Relu"]))
        for wrong in (["--bisect-keep"], ["--bisect-show"]):
            self.assert_exit(regraft("optimize", model, self.out, *wrong), USAGE)
        self.assert_exit(regraft("check", model, model, "--bisect", "true"), USAGE)

    def certified(self, model):
        certificate = os.path.join(self.folder, "steps.json")
        run = regraft("optimize", self.saved(model), self.out, "--no-measure", "--rules",
                      self.rule_file, "--certificate", certificate)
        self.assert_exit(run, DONE)
        return certificate

    def test_a_certificate(self):
        model = pairs(["Relu"] * 6)
        certificate = self.certified(model)
        given = ["check", self.saved(model), self.out, "--certificate", certificate, "--bisect"]
        run = regraft(*given, self.keeps("twice4_"))
        self.assert_exit(run, FAILED)
        self.assertIn("'twice4_'", run.stderr)
        self.assert_exit(regraft(*given, "true"), DONE)
        self.assert_exit(regraft("check", self.out, self.saved(model), "--certificate",
                                 certificate, "--bisect", "true"), FAILED)

    def branches(self):
        def body(name):
            inner = [node("Relu", ["x"], [name + "1"], name + "_first"),
                     node("Relu", [name + "1"], [name + "2"], name + "_twice")]
            value = helper.make_tensor_value_info(name + "2", TensorProto.FLOAT, [4, 4])
            return helper.make_graph(inner, name, [], [value])
        nodes = [node("If", ["c"], ["y"], "choice", then_branch=body("yes"), else_branch=body("no")),
                 node("Relu", ["y"], ["z1"], "main_first"), node("Relu", ["z1"], ["z"], "main_twice")]
        model = model_of(nodes, {"x": [4, 4]}, {"z": [4, 4]})
        model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        return model

    def test_steps_of_bodies_come_first(self):
        for name, inside in (("yes_twice", True), ("no_twice", True), ("main_twice", False)):
            with self.subTest(name):
                run = self.run_on(self.branches(), self.keeps(name))
                self.assert_exit(run, FAILED)
                self.assertIn(f"'{name}'", run.stderr)
                self.assertEqual("_branch" in run.stderr, inside, run.stderr)

    def test_an_interrupted_bisection_leaves_nothing(self):
        run = subprocess.Popen(
            [command_line.program(), "optimize", self.saved(pairs(["Relu"] * 6)), self.out,
             "--no-measure", "--rules", self.rule_file, "--bisect", "sleep 60; true"],
            env={**os.environ, "TMPDIR": self.temporary}, stderr=subprocess.PIPE, text=True)
        while not os.listdir(self.temporary) and run.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        begun = time.monotonic()
        self.assertEqual(run.wait(timeout=30), INTERRUPTED)
        run.stderr.close()
        self.assertLess(time.monotonic() - begun, 2)
        self.assertEqual(os.listdir(self.temporary), [])
        self.assertEqual(os.listdir(self.out_folder), [])

    def test_an_interrupted_search_is_not_judged(self):
        began = os.path.join(self.temporary, "began")
        run = subprocess.Popen(
            [command_line.program(), "optimize", self.saved(pairs(["Relu"] * 6)), self.out,
             "--no-measure", "--search", "annealing", "--budget", "1000000000", "--growth", "4",
             "--bisect", f"touch {began}; sleep 60; true"], stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=30), INTERRUPTED)
        self.assertIn("before the command judged the result", run.stderr.read())
        run.stderr.close()
        self.assertFalse(os.path.exists(began))
        self.assertEqual(os.listdir(self.out_folder), [])


if __name__ == "__main__":
    command_line.main()
