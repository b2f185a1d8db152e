#!/usr/bin/env python3
"""Outputs that are inputs, that have no name, that are not asked for: refused, nothing is lost.

  python outputs_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib

import common
import numpy as np
import onnx
from common import RULES, command_line, model_of, node
from command_line import BAD_INPUT, DONE, FAILED, USAGE, regraft
from onnx import numpy_helper


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

    def test_data_of_models(self):
        model = self.saved(model_of([node("Add", ["x", "w"], ["y"])], {"x": [64, 64]},
                                    {"y": [64, 64]}, [numpy_helper.from_array(np.ones((64, 64), np.float32), "w")]),
                           "data.onnx")
        onnx.save(onnx.load(model), model, save_as_external_data=True, location="w.data",
                  size_threshold=0)
        data = os.path.join(self.folder, "w.data")
        out = os.path.join(self.keep.name, "out")
        train = ("train", "--graphs", model, "--iterations", "1", "--episodes", "1")
        learn = ("bench", "learn", "--graphs", model, "--methods", "greedy")
        calibrate = ("calibrate", model, "--runtime", "single", "-o")
        for command in (("stats", model, "--json", data), ("check", model, model, "--json", data),
                        ("optimize", model, data), ("cost", "time", model, "--json", data),
                        (*calibrate, data), (*calibrate, out, "--json", data),
                        (*learn, "--json", data), (*learn, "--kept", data), (*train, "-o", data),
                        (*train, "-o", out, "--log", data), (*train, "-o", out, "--state", data),
                        ("learn-rules", "--graphs", model, "-o", data),
                        ("learn-rules", "--graphs", model, "-o", out, "--propose", data)):
            with self.subTest(command):
                self.assert_kept(data, *command)

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


class Sizes(Outputs):
    def grown(self):
        """A model whose output has n^8 elements."""
        nodes = [node("Shape", ["x"], ["s0"])]
        nodes += [node("Mul", [f"s{k}", f"s{k}"], [f"s{k + 1}"]) for k in range(3)]
        nodes += [node("ConstantOfShape", ["s3"], ["c"]), node("Relu", ["c"], ["y"])]
        return self.saved(model_of(nodes, {"x": ["n"]}, {"y": ["m"]}))

    def test_products_that_are_too_large(self):
        model, limit = self.relus(), str(2**63 - 1)
        for command in (("stats", self.grown()), ("cost", "predict", self.grown()),
                        ("optimize", model, self.out, "--typical", f"n={limit}")):
            run = regraft(*command)
            self.assertIn(run.returncode, (DONE, BAD_INPUT), run.stderr)
        open_sizes = self.saved(model_of([node("Relu", ["x"], ["y"])], {"x": ["n", "m"]},
                                         {"y": ["n", "m"]}), "open.onnx")
        for command in ("optimize", "simplify"):
            run = regraft(command, open_sizes, self.out, "--typical", f"n={2**62}", "--typical",
                          f"m={2**62}")
            self.assertIn(run.returncode, (DONE, BAD_INPUT), run.stderr)

    def test_two_sizes_of_one_name(self):
        open_sizes = self.saved(model_of([node("Relu", ["x"], ["y"])], {"x": ["n", "m"]},
                                         {"y": ["n", "m"]}), "open.onnx")
        for option, one, other in (("--dim", "n=2", "n=3"), ("--typical", "n=2", "n=3"),
                                   ("--shape", "x=2,3", "x=2,4")):
            self.assert_refused(regraft("simplify", open_sizes, self.out, option, one, option,
                                        other), f"{option}: two .* of {one[0]}")
            run = regraft("simplify", open_sizes, self.out, option, one, option, one)
            self.assert_exit(run, DONE)
            os.unlink(self.out)


class Paths(Outputs):
    def test_a_folder_in_place_of_a_file(self):
        folder = self.folder
        for command in (("check", folder, "--rule", "x"), ("bench", "measured", folder),
                        ("cost", "add", folder, "-o", self.out),
                        ("rules", "atlas", "-o", os.path.join(self.keep.name, "site"), "--court",
                         folder)):
            self.assert_refused(regraft(*command), folder)

    def test_links_without_end_and_names_without_end(self):
        loop, long = os.path.join(self.folder, "loop"), os.path.join(self.folder, "n" * 300)
        os.symlink(loop, loop)
        model, rules = self.relus(), self.few_rules()
        for path in (loop, long):
            for command in (("generate", "--max-size", "1", "-o", self.out, "--checkpoint", path),
                            ("verify", rules, "--cache", path), ("cost", "add", rules, "-o", path),
                            ("train", "--graphs", path, "-o", self.out),
                            ("train", "--graphs", model, "--state", path, "-o", self.out),
                            ("calibrate", "--runtime", "single", "-o", path)):
                run = regraft(*command)
                self.assert_refused(run, "regraft: ")
                self.assertNotIn("internal error", run.stderr)

    def test_what_is_named_must_be_there(self):
        model, missing = self.relus(), os.path.join(self.folder, "missing.onnx")
        self.assert_refused(regraft("calibrate", missing, "--runtime", "single", "-o", self.out),
                            "missing")
        kernels = os.path.join(self.keep.name, "kernels")
        run = regraft("cost", "kernels", model, "--dir", kernels, "--profile", missing)
        self.assert_refused(run, "missing")

    def test_sizes_are_called_what_they_are(self):
        model = self.relus()
        for size, said in (("nope=3", "no input has a dimension named 'nope'"),
                           ("banana", "--sizes: ")):
            run = regraft("validate", model, model, "--sizes", size)
            self.assert_refused(run, said)
            self.assertNotIn("--dim", run.stderr)


class Reports(Outputs):
    def report(self, code, *arguments):
        path = os.path.join(self.keep.name, "report.json")
        self.assert_exit(regraft(*arguments, "--json", path), code)
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        os.unlink(path)
        return found

    def test_check(self):
        model, steps = self.relus(), os.path.join(self.folder, "steps.json")
        self.assert_exit(regraft("optimize", model, self.out, "--no-measure", "-q", "--certificate",
                                 steps), DONE)
        found = self.report(DONE, "check", model, self.out, "--certificate", steps)
        self.assertTrue(found["passed"])
        self.assertGreater(found["steps"], 0)
        found = self.report(FAILED, "check", model, model, "--certificate", steps)
        self.assertFalse(found["passed"])
        self.assertTrue(found["reason"])
        self.assert_kept(steps, "check", model, self.out, "--certificate", steps, "--json", steps)
        proof = os.path.join(self.folder, "proof.json")
        self.assert_exit(regraft("validate", model, self.out, "-q", "--certificate", proof), DONE)
        found = self.report(DONE, "check", model, self.out, "--validation", proof)
        self.assertTrue(found["passed"])
        self.assertEqual([o["name"] for o in found["outputs"]], ["v3"])

    def test_others(self):
        model, rules = self.relus(), self.few_rules()
        folder = os.path.join(self.keep.name, "variants")
        found = self.report(DONE, "cost", "variants", model, "--count", "1", "--dir", folder)
        with open(os.path.join(folder, "variants.json"), encoding="utf-8") as file:
            self.assertEqual(found, json.load(file))
        given, candidates = (os.path.join(self.folder, n) for n in ("given.pb", "c.rules"))
        self.assert_exit(regraft("rules", "export", "--taso", RULES / "core.rules", "-o", given),
                         DONE)
        found = self.report(DONE, "rules", "import", given, "-o", candidates)
        self.assertGreater(found["rules"], 0)
        found = self.report(DONE, "train", "--graphs", model, "--rules", rules, "-q", "-o",
                            os.path.join(self.folder, "a.policy"), "--iterations", "1",
                            "--episodes", "1")
        self.assertEqual(found["iterations"], 1)


class Numbers(Outputs):
    def test_what_is_no_number(self):
        model = self.relus()
        for option, values in (("--seed", ("-1", "9" * 20, "x")), ("--budget", ("-1", "9" * 20)),
                               ("--max-size", ("-1",)), ("--alpha", ("nan",)),
                               ("--growth", ("nan",)), ("--search-time", ("nan", "-1"))):
            for value in values:
                run = regraft("optimize", model, self.out, f"{option}={value}")
                self.assert_exit(run, USAGE)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertIn(option, run.stderr)
                self.assertLess(len(run.stderr), 200)
                self.assertEqual(os.listdir(self.out_folder), [])


if __name__ == "__main__":
    command_line.main()
