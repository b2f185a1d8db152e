#!/usr/bin/env python3
"""The command line: exit codes, one-line errors that name the place, nothing written on failure.

  python cli_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import command_line
from command_line import BAD_INPUT, CommandLine, DONE, FAILED, USAGE, regraft  # looks for onnx

import numpy as np
import onnx

import bad_models
import build_models


class Usage(CommandLine):
    def test_version_and_help(self):
        run = regraft("--version")
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout, r"^regraft \d+\.\d+\.\d+")
        self.assert_exit(regraft("--help"), DONE)
        self.assert_exit(regraft("optimize", "--help"), DONE)
        for words in ([], ["optimize"], ["rules", "show"]):
            run = regraft("help", *words)
            self.assert_exit(run, DONE)
            self.assertEqual(run.stdout, regraft(*words, "--help").stdout)

    def test_wrong_use_is_exit_2(self):
        model = bad_models.good(self.folder)
        for arguments in ([], ["frobnicate"], ["optimize"], ["optimize", model],
                          ["optimize", model, "-o", self.out, "--search", "magic"],
                          ["optimize", model, "-o", self.out, "--cost", "magic"],
                          ["optimize", model, "-o", self.out, "--budget", "many"],
                          ["optimize", model, "-o", self.out, "--nonsense"],
                          ["generate", "--max-size", "-1", "-o", self.out],
                          ["optimize", model, self.out, "--bounded", "--proof", "kernel"],
                          ["optimize", model, self.out, "--policy", "x.policy"],
                          ["optimize", model, self.out, "--search", "greedy", "--policy-mode", "greedy"],
                          ["optimize", model, self.out, "--no-measure", "--measure-time", "3"],
                          ["optimize", model, self.out, "--no-measure", "--measure-threads", "3"],
                          ["cost", "kernels", model, "--dir", self.out, "--block", "-5"],
                          ["cost", "predict", model, "--cost", "roofline"],
                          ["cost", "time", model, "--seed", "1"],
                          ["rules"], ["check", model]):
            with self.subTest(arguments=arguments):
                self.assert_exit(regraft(*arguments), USAGE)
        self.assertEqual(os.listdir(self.out_folder), [])

    def test_version_for_machines(self):
        said = json.loads(regraft("--version", "--json").stdout)
        self.assertIn(said["version"], regraft("--version").stdout)
        self.assertTrue(os.path.isdir(said["rules"]))
        self.assertIn("onnxruntime", said["runtimes"])

    def test_mistyped_words_get_a_suggestion(self):
        model = bad_models.good(self.folder)
        for arguments, meant in ((["optimse", model], "'optimize'"),
                                 (["optimize", model, self.out, "--serach", "greedy"], "'--search'"),
                                 (["optimize", model, self.out, "--budgt=3"], "'--budget'"),
                                 (["rules", "atlsa"], "'atlas'")):
            with self.subTest(arguments=arguments):
                run = regraft(*arguments)
                self.assert_exit(run, USAGE)
                self.assertIn(f"did you mean {meant}?", run.stderr)
        self.assertNotIn("mean", regraft("frobnicate").stderr)
        run = regraft("optimize", model, self.out, "--no-measure", "--disable-rule",
                      "gqa-score")
        self.assert_exit(run, BAD_INPUT)
        self.assertIn("did you mean 'gqa-scores'?", run.stderr)
        self.assertEqual(os.listdir(self.out_folder), [])

    def test_model_and_output_are_enough(self):
        model = bad_models.good(self.folder)
        quick = ["--no-measure", "--search-time", "1", "--quiet"]
        for arguments in (["optimize", model, self.out], [model, self.out]):
            self.assert_exit(regraft(*arguments, *quick), DONE)
            onnx.checker.check_model(self.out)
            os.remove(self.out)
        self.assert_exit(regraft("simplify", model, self.out, "--quiet"), DONE)

    def test_unknown_operator_set_is_refused_by_name(self):
        run = regraft("generate", "--ops", "nosuchset", "--max-size", "1", "-o", self.out)
        self.assertIn(run.returncode, (USAGE, BAD_INPUT))
        self.assertIn("nosuchset", run.stderr)
        self.assertEqual(os.listdir(self.out_folder), [])


class BadModels(CommandLine):
    """One test for each fault is added below."""


def add_bad_model_test(make):
    def test(self):
        path, place = make(self.folder)
        self.assert_refused(regraft("optimize", path, "-o", self.out, "--quiet"), place)
        if os.path.isfile(path):
            sound = bad_models.good(self.folder)
            self.assert_refused(regraft("check", path, sound, "--quiet"), place)
    setattr(BadModels, f"test_{make.__name__}", test)


for fault in bad_models.ALL:
    add_bad_model_test(fault)


class BadRules(CommandLine):
    """Rule files with one bad line after a good header."""
    header = None

    def rules(self, line):
        if BadRules.header is None:
            path = os.path.join(self.folder, "cand.rules")
            self.assert_exit(regraft("generate", "--max-size", "1", "-o", path, "--quiet"), DONE)
            BadRules.header = pathlib.Path(path).read_text().splitlines()[0]
        path = os.path.join(self.folder, "bad.rules")
        pathlib.Path(path).write_text(BadRules.header + "\n" + line + "\n")
        return path

    def assert_rules_refused(self, line, place=r"bad\.rules:2"):
        rules = self.rules(line)
        model = bad_models.good(self.folder)
        run = regraft("optimize", model, "-o", self.out, "--rules", rules, "--quiet")
        self.assert_refused(run, place)

    def test_unknown_operator(self):
        line = "r (frobnicate ?a) => ?a for a:nn proved:all-sizes"
        self.assert_rules_refused(line)
        self.assert_rules_refused(line, "frobnicate")

    def test_wrong_arity(self):
        self.assert_rules_refused("r (relu ?a ?b) => (relu ?a) for a:nn b:nn proved:all-sizes")

    def test_free_variable(self):
        self.assert_rules_refused("r (relu ?a) => (relu ?b) for a:nn b:nn proved:all-sizes")

    def test_unbalanced_parenthesis(self):
        self.assert_rules_refused("r (relu (relu ?a) => (relu ?a) for a:nn proved:all-sizes")

    def test_unknown_verdict(self):
        self.assert_rules_refused("r (relu (relu ?a)) => (relu ?a) for a:nn proved:by-me")

    def test_forged_verdict(self):
        self.assert_rules_refused("r (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))  "
                                  "for a:nn b:nn  proved:all-sizes")

    def test_missing_header(self):
        path = os.path.join(self.folder, "bad.rules")
        pathlib.Path(path).write_text("r (relu (relu ?a)) => (relu ?a) for a:nn proved:all-sizes\n")
        model = bad_models.good(self.folder)
        self.assert_refused(regraft("optimize", model, "-o", self.out, "--rules", path, "--quiet"),
                            r"bad\.rules:1")

    def test_missing_file(self):
        model = bad_models.good(self.folder)
        for run in (regraft("optimize", model, "-o", self.out, "--rules", "/nowhere.rules", "-q"),
                    regraft("verify", "/nowhere.rules", "-o", self.out, "-q"),
                    regraft("rules", "stats", "/nowhere.rules"),
                    regraft("rules", "show", "/nowhere.rules")):
            self.assert_refused(run, "nowhere.rules")

    def test_verify_reports_the_line(self):
        rules = self.rules("r (frobnicate ?a) => ?a  unknown")
        self.assert_refused(regraft("verify", rules, "-o", self.out, "-q"), r"bad\.rules:2")

    def test_verify_does_not_keep_a_false_rule(self):
        rules = self.rules("r  (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))  proved:all-sizes")
        out = os.path.join(self.out_folder, "proved.rules")
        run = regraft("verify", rules, "-o", out, "-q")
        self.assertIn(run.returncode, (DONE, FAILED), run.stderr)
        if os.path.exists(out):
            self.assertNotIn("(relu (add", pathlib.Path(out).read_text())


class Derive(CommandLine):
    ASSOC = "assoc  (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))\n"

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def test_derived_and_not(self):
        base = self.write("base.rules", self.ASSOC)
        true = self.write("true.rules", "swap  (add ?a (add ?b ?c)) => (add ?c (add ?a ?b))\n")
        other = self.write("other.rules", "idem  (relu (relu ?a)) => (relu ?a)\n")
        report = os.path.join(self.folder, "report.json")
        run = regraft("rules", "derive", true, "--from", base, "--json", report)
        self.assert_exit(run, DONE)
        self.assertIn("swap: derived from assoc", run.stdout)
        self.assertEqual(json.loads(pathlib.Path(report).read_text())[0]["used"], ["assoc"])
        run = regraft("rules", "derive", other, "--from", base)
        self.assert_exit(run, FAILED)
        self.assertIn("idem: not derived", run.stdout)
        self.assert_exit(regraft("rules", "derive", other, "--from", base, "--from", other), DONE)
        self.assert_exit(regraft("rules", "derive", other), USAGE)

    def test_minimise(self):
        one = self.write("one.rules", self.ASSOC + "idem  (relu (relu ?a)) => (relu ?a)\n")
        two = self.write("two.rules", "swap  (add ?a (add ?b ?c)) => (add ?c (add ?a ?b))\n"
                                      "thin  (relu (neg ?x)) => (neg (relu ?x))  for x:n1\n")
        report = os.path.join(self.folder, "report.json")
        run = regraft("rules", "minimise", one, two, "-o", self.out_folder, "--json", report)
        self.assert_exit(run, DONE)
        self.assertIn("two.rules: swap: follows from assoc", run.stdout)
        self.assertIn("3 of 4 rules remain", run.stdout)
        written = json.loads(pathlib.Path(report).read_text())
        self.assertTrue(written["complete"])
        self.assertEqual([d["name"] for d in written["dropped"]], ["swap"])
        left = [pathlib.Path(self.out_folder, f).read_text() for f in ("one.rules", "two.rules")]
        self.assertIn("assoc  ", left[0])
        self.assertIn("idem  ", left[0])
        self.assertNotIn("swap", left[1])
        self.assertIn("thin  ", left[1])
        names = self.write("names", "# pays\nswap\n")
        run = regraft("rules", "minimise", one, two, "-o", self.out_folder, "--keep", names,
                      "--without-ones", "-q")
        self.assert_exit(run, DONE)
        left = [pathlib.Path(self.out_folder, f).read_text() for f in ("one.rules", "two.rules")]
        self.assertNotIn("assoc", left[0])  # follows from what is kept
        self.assertIn("swap", left[1])
        self.assertNotIn("thin", left[1])

    def test_minimise_refuses(self):
        base, bad = self.write("base.rules", self.ASSOC), self.write("bad.rules", "\nr (relu ?a\n")
        out = os.path.join(self.out_folder, "left")
        self.assert_refused(regraft("rules", "minimise", base, bad, "-o", out), r"bad\.rules:2")
        self.assert_refused(regraft("rules", "minimise", base, base, "-o", out), "two rule files")
        self.assert_refused(regraft("rules", "minimise", base, "-o", self.folder), "base.rules")
        self.assert_refused(regraft("rules", "minimise", base, "-o", out, "--keep", "/no"), "/no")
        forged = self.write("f.rules", self.ASSOC[:-1] + "  for a:n b:n c:n  proved:all-sizes\n")
        self.assert_exit(regraft("rules", "minimise", forged, "-o", out), BAD_INPUT)

    def test_bad_files(self):
        base, bad = self.write("base.rules", self.ASSOC), self.write("bad.rules", "\nr (relu ?a\n")
        self.assert_refused(regraft("rules", "derive", bad, "--from", base), r"bad\.rules:2")
        self.assert_refused(regraft("rules", "derive", base, "--from", bad), r"bad\.rules:2")
        out = os.path.join(self.out_folder, "out.rules")
        self.assert_refused(regraft("rules", "import", bad, "-o", out), r"bad\.rules: not a file of TASO")
        self.assert_refused(regraft("rules", "import", "/nowhere.pb", "-o", out), "nowhere.pb")


class MainJob(CommandLine):
    def test_generate_verify_optimize_check(self):
        candidates = os.path.join(self.folder, "cand.rules")
        rules = os.path.join(self.folder, "core.rules")
        self.assert_exit(regraft("generate", "--ops", "core", "--max-size", "2", "-o", candidates), DONE)
        self.assert_exit(regraft("verify", candidates, "-o", rules), DONE)
        proved = [line for line in pathlib.Path(rules).read_text().splitlines() if "=>" in line]
        self.assertGreater(len(proved), 10)
        for line in proved:
            self.assertRegex(line, r"\bproved:(all-sizes|solver|bounded)")
        self.assertIn(str(len(proved)), regraft("rules", "stats", rules).stdout)
        model = self.tiny("tiny_mobileone")
        report = os.path.join(self.folder, "report.json")
        run = regraft("optimize", model, "-o", self.out, "--rules", rules,
                      "--rules", str(command_line.venv.ROOT / "substitutions/fusions.rules"), "--json", report)
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout.lower(), r"operators")
        self.assert_report(json.loads(pathlib.Path(report).read_text()))
        self.assert_exit(regraft("check", model, self.out), DONE)

    def assert_report(self, report):
        before, after = report["before"], report["after"]
        self.assertLess(after["cost"], before["cost"])
        self.assertLess(sum(after["operators"].values()), sum(before["operators"].values()))
        self.assertTrue(report["applied"])
        self.assertTrue(report["check"]["passed"])
        for key in ("parameters", "flops", "bytes"):
            self.assertGreater(after[key], 0)
        for key in ("candidates", "expanded", "stop_reason"):
            self.assertIn(key, report["search"])
        self.assertGreater(report["seconds"], 0)
        self.assertGreater(report["peak_bytes"], 0)

    def test_every_tiny_model_with_the_shipped_rules(self):
        import onnxruntime
        session = lambda path: onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for name in (n for n in build_models.MODELS if n.startswith("tiny_")):
            with self.subTest(model=name):
                model = self.tiny(name)
                self.assert_exit(regraft("optimize", model, "-o", self.out, "--time", "10", "-q"), DONE)
                onnx.checker.check_model(onnx.load(self.out), full_check=True)
                before, after = session(model), session(self.out)
                feeds = random_feeds(before)
                for a, b in zip(before.run(None, feeds), after.run(None, feeds)):
                    self.assertLessEqual(np.abs(a - b).max(), 1e-4 * max(1.0, np.abs(a).max()))

    def test_same_seed_same_bytes(self):
        model = self.tiny("tiny_inception")
        results = []
        for threads in (1, 1, 2):
            self.assert_exit(regraft("optimize", model, "-o", self.out, "--seed", "3", "--budget",
                                     "200", "--threads", threads, "-q"), DONE)
            results.append(pathlib.Path(self.out).read_bytes())
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[2])

    def test_quiet_is_quiet(self):
        run = regraft("optimize", bad_models.good(self.folder), "-o", self.out, "--quiet")
        self.assert_exit(run, DONE)
        self.assertEqual(run.stderr, "")

    def test_check_finds_a_difference(self):
        model = bad_models.good(self.folder)
        changed = onnx.load(model)
        weight = onnx.numpy_helper.to_array(changed.graph.initializer[0]) * np.float32(1.01)
        changed.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight, "w"))
        other = os.path.join(self.folder, "other.onnx")
        onnx.save(changed, other)
        self.assert_exit(regraft("check", model, model), DONE)
        self.assert_exit(regraft("check", model, other), FAILED)

    def test_unwritable_output(self):
        model = bad_models.good(self.folder)
        out = os.path.join(self.out_folder, "no/such/folder/out.onnx")
        self.assert_refused(regraft("optimize", model, "-o", out, "--quiet"), "no/such/folder")


def random_feeds(session):
    rng = np.random.default_rng(5)
    feeds = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        feeds[value.name] = rng.standard_normal(shape).astype(np.float32) \
            if "float" in value.type else rng.integers(0, 2, shape)
    return feeds


class Interruption(unittest.TestCase):
    """A run that is killed goes on from its checkpoint, and ends as if nothing had happened."""

    def test_generate_goes_on_after_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            def command(out):
                return [command_line.program(), "generate", "--ops", "core", "--max-size", "2", "-o", out]
            whole, resumed = os.path.join(folder, "a.rules"), os.path.join(folder, "b.rules")
            checkpoint = os.path.join(folder, "run.checkpoint")
            subprocess.run(command(whole), check=True, capture_output=True, timeout=300)
            run = subprocess.Popen(command(resumed) + ["--checkpoint", checkpoint],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not os.path.exists(checkpoint) and run.poll() is None:
                time.sleep(0.01)
            run.kill()
            run.wait()
            self.assertTrue(os.path.exists(checkpoint))
            self.assertFalse(os.path.exists(resumed), "it was not killed before its end")
            before = json.loads(pathlib.Path(checkpoint).read_text())
            self.assertGreaterEqual(len(before["themes"]), 1)
            subprocess.run(command(resumed) + ["--checkpoint", checkpoint], check=True,
                           capture_output=True, timeout=300)
            self.assertEqual(pathlib.Path(whole).read_text(), pathlib.Path(resumed).read_text())

            before["themes"][0]["groups"] += 1  # as if the generator had changed
            before["themes"][0]["position"] = 1
            pathlib.Path(checkpoint).write_text(json.dumps(before))
            other = subprocess.run(command(os.path.join(folder, "c.rules")) + ["--checkpoint", checkpoint],
                                   capture_output=True, text=True, timeout=300)
            self.assertEqual(other.returncode, 3)
            self.assertIn("another version of the generator", other.stderr)


if __name__ == "__main__":
    command_line.main()
