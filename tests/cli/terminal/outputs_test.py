#!/usr/bin/env python3
"""Outputs that are inputs, that have no name, that are not asked for: refused, nothing is lost.

  python outputs_test.py REGRAFT [TestClass[.test]]
"""
import os
import pathlib

import common
from common import RULES, command_line, model_of, node
from command_line import BAD_INPUT, DONE, regraft


class Outputs(common.Terminal):
    def relus(self, name="model.onnx"):
        nodes = [node("Relu", [f"v{k}"], [f"v{k + 1}"]) for k in range(3)]
        return self.saved(model_of(nodes, {"v0": [4, 4]}, {"v3": [4, 4]}), name)

    def few_rules(self):
        return self.rules("relu-relu=relu.0dc5")

    def assert_kept(self, path, *arguments, said="different files"):
        """The command refuses the path as an output, in one line."""
        before = pathlib.Path(path).read_bytes()
        run = regraft(*arguments)
        self.assert_exit(run, BAD_INPUT)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn(said, run.stderr)
        self.assertEqual(pathlib.Path(path).read_bytes(), before)


class Inputs(Outputs):
    def test_reports(self):
        model, rules = self.relus(), self.few_rules()
        self.assert_kept(rules, "rules", "stats", rules, "--json", rules)
        self.assert_kept(model, "bench", "measured", model, "--json", model)
        self.assert_kept(model, "stats", model, "--json", model)
        for option in ("--json", "--certificate", "--html"):
            self.assert_kept(rules, "validate", model, model, "--rules", rules, option, rules)
        learn = ("bench", "learn", "--graphs", model, "--methods", "greedy", "--rules", rules)
        self.assert_kept(rules, *learn, "--json", rules)
        self.assert_kept(rules, *learn, "--kept", rules)

    def test_models_that_a_training_is_judged_by(self):
        judged = self.relus("judged.onnx")
        train = ("train", "--graphs", self.relus(), "--validation", judged)
        self.assert_kept(judged, *train, "-o", self.out, "--log", judged)
        self.assert_kept(judged, *train, "-o", judged)

    def test_folders(self):
        kinds = {"graph0000.onnx": lambda m: ("optimize", m, "-o", self.out, "--pool", self.folder),
                 "graph0007.onnx": lambda m: ("optimize", m, "-o", self.out, "--pool", self.folder),
                 "variant000.onnx": lambda m: ("cost", "variants", m, "--dir", self.folder),
                 "kernel0000.onnx": lambda m: ("cost", "kernels", m, "--dir", self.folder)}
        for name, command in kinds.items():
            model = self.relus(name)
            self.assert_kept(model, *command(model))
            link = os.path.join(self.keep.name, "link.onnx")
            os.symlink(model, link)
            self.assert_kept(model, *command(link))
            os.unlink(link)

    def test_models_that_a_bisection_keeps(self):
        for word in ("good", "bad"):
            model = self.relus(f"out.{word}.onnx")
            self.assert_kept(model, "optimize", model, os.path.join(self.folder, "out.onnx"),
                             "--bisect", "false", "--bisect-keep")

    def test_derivations_beside_rules(self):
        rules = self.few_rules()
        beside = rules.replace(".rules", ".derivations.gz")
        self.assert_exit(regraft("verify", rules, "-q", "--derivations", beside), DONE)
        for option in ("--json", "-o", "--cache"):
            self.assert_kept(beside, "verify", rules, option, beside)
        name = "relu-relu=relu.0dc5"
        self.assert_kept(beside, "rules", "proof", name, "--rules", rules, "--html", beside)
        self.assert_exit(regraft("verify", rules, "-q", "-o", rules, "--derivations", beside), DONE)

    def test_substitutions_of_taso(self):
        given = os.path.join(self.folder, "given.pb")
        self.assert_exit(regraft("rules", "export", "--taso", RULES / "core.rules", "-o", given),
                         DONE)
        self.assert_kept(given, "verify", given, "-o", given)


class Names(Outputs):
    def test_none_is_empty(self):
        model, rules = self.relus(), self.few_rules()
        for command in (("optimize", model, "-o"), ("optimize", model), ("simplify", model, "--out"),
                        ("rules", "atlas", "-o"), ("rules", "minimise", rules, "-o"),
                        ("rules", "export", "--taso", rules, "-o"), ("generate", "-o"),
                        ("train", "--graphs", model, "-o"), ("cost", "merge", model, "-o"),
                        ("stats", model, "--json"), ("learn-rules", "--graphs", model, "-o")):
            run = regraft(*command, "")
            self.assert_refused(run, "empty")
            if command[-1].startswith("-"):
                self.assertIn(f"{command[-1]}: ", run.stderr)
        self.assert_refused(regraft("optimize", model, "--out=", "-q"), "--out: .*empty")


if __name__ == "__main__":
    command_line.main()
