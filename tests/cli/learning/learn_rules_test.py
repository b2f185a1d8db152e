#!/usr/bin/env python3
"""`regraft learn-rules` from outside: rules composed of a search, proved, the same for any threads.

  python learn_rules_test.py REGRAFT [TestClass[.test]]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DONE, FAILED, BAD_INPUT = 0, 1, 3
REGRAFT = ""
PROFILE = venv.ROOT / "cost/profiles/epyc-family25-model17.profile"


def first_token(path, width, inner, pooled=False):
    """The first token of a residual block: only that has to be computed, but no single rule says so.
    Pooled: another architecture, which ends in a pooler and begins with an embedding's norm."""
    rng = np.random.default_rng(width)
    constants = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n)
                 for n, s in (("u", (width, inner)), ("v", (inner, width)), ("b", (width,)))]
    constants.append(numpy_helper.from_array(np.array(0, np.int64), "zero"))
    nodes = [helper.make_node("MatMul", ["x", "u"], ["h"]),
             helper.make_node("Sigmoid", ["h"], ["s"]),
             helper.make_node("Mul", ["h", "s"], ["g"]),
             helper.make_node("MatMul", ["g", "v"], ["p"]),
             helper.make_node("Add", ["b", "p"], ["m"]),
             helper.make_node("Add", ["x", "m"], ["r"]),
             helper.make_node("Gather", ["r", "zero"], ["y"], axis=1)]
    if pooled:
        constants.append(numpy_helper.from_array(
            rng.normal(size=(width, width)).astype(np.float32), "w"))
        before = ["Exp", "Tanh", "Softplus", "Erf", "Sqrt", "Abs"]
        names = ["x", *(f"e{k}" for k in range(len(before)))]
        nodes[0].input[0] = nodes[5].input[0] = names[-1]
        nodes[6].output[0] = "t"
        nodes = [*(helper.make_node(op, [a], [b])
                   for op, a, b in zip(before, names, names[1:], strict=False)), *nodes,
                 helper.make_node("MatMul", ["t", "w"], ["o"]), helper.make_node("Tanh", ["o"], ["q"]),
                 helper.make_node("Exp", ["q"], ["n"]), helper.make_node("Abs", ["n"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 50, width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, width])
    graph = helper.make_graph(nodes, "block", [x], [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class LearnRules(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        self.models = self.folder / "models"
        self.models.mkdir()
        for width, inner in ((32, 64), (48, 96)):
            first_token(self.models / f"block{width}.onnx", width, inner, width == 48)

    def regraft(self, *arguments):
        return subprocess.run([REGRAFT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def learn(self, out, *more):
        return self.regraft("learn-rules", "--graphs", self.models, "-o", out, "--cost", PROFILE,
                            "--budget", 1000, *more)

    def optimized(self, model, rules=(), *more):
        """The report of greedy descent with the shipped rules and these."""
        report = self.folder / "report.json"
        shipped = sorted((venv.ROOT / "substitutions").glob("*.rules"))
        run = self.regraft("optimize", model, "-o", self.folder / "out.onnx", "--cost", PROFILE,
                           "--no-measure", "--search", "greedy", "--json", report, *more, "--rules",
                           *shipped, *rules)
        self.assertEqual(run.returncode, DONE, run.stderr)
        return json.loads(report.read_text())

    def cost(self, model, *rules):
        return self.optimized(model, rules)["after"]["cost"]

    def test_greedy_descent_makes_what_was_learnt(self):
        rules, report = self.folder / "macros.rules", self.folder / "learnt.json"
        run = self.learn(rules, "--json", report)
        self.assertEqual(run.returncode, DONE, run.stderr)
        learnt = json.loads(report.read_text())
        self.assertEqual((learnt["models"], learnt["architectures"]), (2, 2))
        self.assertGreater(learnt["proved"], 0)
        self.assertEqual(sum(learnt["special_by_reason"].values()), learnt["special"])
        self.assertGreater(len(learnt["rules"]), 0)
        self.assertIn("origin:learnt", rules.read_text())
        proved = self.regraft("verify", rules)
        self.assertEqual(proved.returncode, DONE, proved.stdout + proved.stderr)
        unseen = self.folder / "unseen.onnx"
        first_token(unseen, 40, 80)
        self.assertLess(self.cost(unseen, rules), 0.9 * self.cost(unseen))

    def test_the_same_bytes_for_any_number_of_threads(self):
        for threads in (1, 3):
            self.assertEqual(self.learn(self.folder / f"{threads}.rules", "--threads", threads, "--propose",
                                        self.folder / f"{threads}.policy").returncode, DONE)
        for kind in ("rules", "policy"):
            one, three = (self.folder / f"{threads}.{kind}" for threads in (1, 3))
            self.assertEqual(one.read_bytes(), three.read_bytes(), kind)

    def test_a_network_proposes_what_is_proved_and_kept(self):
        network, report = self.folder / "proposer.policy", self.folder / "learnt.json"
        run = self.learn(self.folder / "macros.rules", "--propose", network, "--json", report)
        self.assertEqual(run.returncode, DONE, run.stderr)
        self.assertGreater(json.loads(report.read_text())["proposer"]["samples"], 1)
        unseen, kept = self.folder / "unseen.onnx", self.folder / "kept.rules"
        first_token(unseen, 40, 80)
        proposing = ("--propose", network, "--macros", kept, "--certificate", self.folder / "c.json")
        without = self.cost(unseen)
        first = self.optimized(unseen, (), *proposing)
        self.assertGreater(first["proposed"]["proved"], 0)
        self.assertLess(first["after"]["cost"], 0.9 * without)
        replayed = self.regraft("check", unseen, self.folder / "out.onnx", "--certificate",
                                self.folder / "c.json")
        self.assertEqual(replayed.returncode, DONE, replayed.stdout + replayed.stderr)
        proved = self.regraft("verify", kept)
        self.assertEqual(proved.returncode, DONE, proved.stdout + proved.stderr)
        again = self.optimized(unseen, (), *proposing[:4])
        self.assertEqual(again["proposed"]["kept"], first["proposed"]["proved"])
        self.assertEqual(again["proposed"]["proved"], 0)
        self.assertEqual(again["after"]["cost"], first["after"]["cost"])
        self.assertEqual(self.cost(unseen, kept), first["after"]["cost"])

    def test_bad_networks_and_files_of_macros(self):
        model, bad, out = self.models / "block32.onnx", self.folder / "bad", self.folder / "out.onnx"
        bad.write_bytes(b"no network")
        for more in (("--propose", bad), ("--propose", self.folder / "missing"),
                     ("--propose", venv.ROOT / "rl/policies/default.policy", "--macros", bad)):
            run = self.regraft("optimize", model, "-o", out, "--no-measure", *more)
            self.assertEqual(run.returncode, BAD_INPUT, more)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
            self.assertIn(more[-1].name, run.stderr)
            self.assertFalse(out.exists())
        self.assertEqual(bad.read_bytes(), b"no network")
        run = self.regraft("optimize", model, "-o", out, "--macros", self.folder / "m.rules")
        self.assertEqual(run.returncode, 2, run.stderr)

    def test_one_architecture_is_no_evidence(self):
        first_token(self.models / "block48.onnx", 48, 96)
        rules, report = self.folder / "macros.rules", self.folder / "learnt.json"
        self.assertEqual(self.learn(rules, "--json", report).returncode, DONE)
        learnt = json.loads(report.read_text())
        self.assertEqual((learnt["models"], learnt["architectures"]), (2, 1))
        self.assertNotIn("macro-", rules.read_text())

    def test_bad_input_writes_nothing(self):
        (self.models / "bad.onnx").write_bytes(b"no model")
        out = self.folder / "macros.rules"
        run = self.learn(out)
        self.assertEqual(run.returncode, BAD_INPUT)
        self.assertEqual(run.stderr.count("bad.onnx"), 1, run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertFalse(out.exists())
        run = self.regraft("learn-rules", "--graphs", self.models / "block32.onnx", "-o",
                           self.models / "block32.onnx")
        self.assertEqual(run.returncode, BAD_INPUT)


if __name__ == "__main__":
    REGRAFT = sys.argv.pop(1)
    unittest.main()
