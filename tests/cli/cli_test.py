#!/usr/bin/env python3
"""The command line: exit codes, one-line errors that name the place, nothing written on failure.

  python cli_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import command_line
from command_line import BAD_INPUT, CommandLine, DONE, FAILED, INTERRUPTED, USAGE, regraft  # looks for onnx

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


class Verify(CommandLine):
    RULES = """assoc  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn
again  (matmul (matmul ?x ?y) ?z) => (matmul ?x (matmul ?y ?z))
false  (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))  for a:nn b:nn
halves  (mul (add (reduce-mean ?a axes=1) (reduce-mean ?b axes=1)) (full shape=1 value=0.5)) => (reduce-mean (concat ?a ?b axis=1) axes=1)  for a:nn b:nn
open  (reduce-max (sub ?x (tanh ?x)) axes=1) => (sub (reduce-max ?x axes=1) (tanh (reduce-max ?x axes=1)))  for x:nn
swap  (add ?a ?b) => (add ?b ?a)  for a:nn b:nn
"""

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def verdicts(self, *arguments, code):
        report = os.path.join(self.folder, "report.json")
        run = regraft("verify", *arguments, "--json", report)
        self.assert_exit(run, code)
        return json.loads(pathlib.Path(report).read_text()), run

    def test_one_record_for_each_rule(self):
        report, run = self.verdicts(self.write("r.rules", self.RULES), code=FAILED)
        records = {r["name"]: r for r in report["rules"]}
        self.assertEqual([r["index"] for r in report["rules"]], list(range(6)))
        self.assertEqual(records["assoc"]["verdict"], "proved:all-sizes")
        self.assertIn("all sizes", records["assoc"]["scope"])
        self.assertEqual(records["again"]["verdict"], "proved:all-sizes")
        self.assertEqual(records["again"]["stated_by"], "assoc")
        self.assertEqual(records["false"]["verdict"], "refuted")
        self.assertIn("a=[1,1]", records["false"]["counterexample"])
        self.assertEqual(records["halves"]["verdict"], "proved:all-sizes")
        self.assertEqual(records["halves"]["conditions"], ["a.1=b.1"])
        self.assertTrue(records["halves"]["counterexample"])
        self.assertEqual(records["open"]["verdict"], "unknown")
        self.assertEqual(records["swap"]["verdict"], "trivial")
        for name in ("assoc", "false", "halves", "open"):
            self.assertGreater(records[name]["milliseconds"], 0)
        self.assertIn("only where a.1=b.1: halves", run.stdout)
        self.assertRegex(run.stdout, r"refuted: false: .*differs at")

    def test_several_files_are_judged_together(self):
        lines = self.RULES.splitlines(keepends=True)
        one = self.write("one.rules", "".join(lines[:3]))
        other = self.write("other.rules", "".join(lines[2:]).replace("false", "wrong"))
        report, run = self.verdicts(one, other, code=FAILED)
        places = [(os.path.basename(r["file"]), r["index"], r["name"]) for r in report["rules"]]
        self.assertEqual(places[:4], [("one.rules", 0, "assoc"), ("one.rules", 1, "again"),
                                      ("one.rules", 2, "false"), ("other.rules", 0, "wrong")])
        self.assertEqual(report["candidates"], 7)
        self.assertEqual(report["duplicates"], 1)
        self.assertEqual(report["rules"][3]["same_as"], "false")
        self.assertEqual(report["rules"][3]["same_as_file"], one)
        self.assertNotIn("same_as", report["rules"][2])
        self.assertEqual(run.stdout.count("refuted: "), 1)

    def test_of_two_rules_of_one_name_the_refuted_one_is_replayed(self):
        true, false = self.RULES.splitlines()[0], self.RULES.splitlines()[2]
        one, other = self.write("one.rules", true + "\n"), self.write("o.rules", false.replace("false", "assoc", 1))
        self.verdicts(one, other, code=FAILED)
        report = os.path.join(self.folder, "report.json")
        run = regraft("check", report, "--rule", "assoc")
        self.assert_exit(run, FAILED)
        self.assertIn("relu", run.stdout)

    def test_numbers_are_no_truth_values(self):
        rules = self.write("types.rules", """cond  (mul ?c ?a) => (where ?c ?a (full)) for a:n c:n
both  (mul ?a ?b) => (logical-and ?a ?b) for a:n b:n
cast  (cast (greater ?a ?b) to=7) => (greater ?a ?b) for a:n b:n
same  (where ?c ?a ?a) => ?a for a:n c:n
turn  (cast (cast ?a to=9) to=1) => (cast (cast (cast ?a to=9) to=7) to=1) for a:n
wide  (logical-or ?a (full value=1 shape=a.0)) => (full value=1 shape=a.0) for a:n
""")
        report, _ = self.verdicts(rules, code=FAILED)
        found = {r["name"]: (r["verdict"], r["detail"]) for r in report["rules"]}
        for name in ("cond", "both", "cast"):
            self.assertEqual(found[name][0], "unknown", name)
            self.assertRegex(found[name][1], "truth values")
        for name in ("same", "turn"):
            self.assertEqual(found[name][0], "proved:all-sizes", name)
        self.assertEqual(found["wide"][0], "proved:all-sizes")

    def test_what_is_written_is_of_one_file(self):
        one, other = self.write("one.rules", self.RULES), self.write("other.rules", self.RULES)
        out = os.path.join(self.out_folder, "proved.rules")
        for option in ("-o", "--derivations"):
            self.assert_refused(regraft("verify", one, other, option, out), "of one rule file")
        taso = self.write("graph.pb", b"")
        self.assert_refused(regraft("verify", one, taso), r"graph\.pb: TASO's files are judged alone")
        bad = self.write("bad.rules", "\nr (relu ?a\n")
        self.assert_refused(regraft("verify", one, bad), r"bad\.rules:2")

    def test_conditions_may_be_declined(self):
        report, _ = self.verdicts(self.write("r.rules", self.RULES), "--no-conditions", code=FAILED)
        self.assertEqual(report["rules"][3]["verdict"], "refuted")

    def test_the_conditional_rule_is_written_with_its_condition(self):
        out = os.path.join(self.out_folder, "proved.rules")
        self.assert_exit(regraft("verify", self.write("r.rules", self.RULES), "-o", out, "-q"), DONE)
        line = next(l for l in pathlib.Path(out).read_text().splitlines() if l.startswith("halves"))
        self.assertIn("where a.1=b.1", line)
        self.assert_exit(regraft("verify", out, "--no-conditions", "-q"), DONE)

    def test_counterexamples_are_replayed(self):
        self.verdicts(self.write("r.rules", self.RULES), code=FAILED)
        report = os.path.join(self.folder, "report.json")
        run = regraft("check", report, "--rule", "false")
        self.assert_exit(run, FAILED)
        self.assertRegex(run.stdout, r"output 0 at \[0,0\] is .* on the left, .* on the right")
        self.assert_exit(regraft("check", report, "--rule", "halves"), FAILED)
        self.assert_refused(regraft("check", report, "--rule", "assoc"), "no counterexample")
        self.assert_refused(regraft("check", report, "--rule", "nosuch"), "nosuch")
        self.assert_refused(regraft("check", self.write("x.json", "{}"), "--rule", "a"), r"x\.json")
        self.assert_exit(regraft("check", report), USAGE)

    def test_threads_change_nothing(self):
        rules = self.write("r.rules", self.RULES)
        texts = set()
        for threads in (1, 2, 4):
            report, run = self.verdicts(rules, "--threads", threads, code=FAILED)
            for record in report["rules"]:
                record.pop("milliseconds", None)
                record.get("numerics", {}).pop("milliseconds", None)
            texts.add(json.dumps(report["rules"]))
        self.assertEqual(len(texts), 1)

    def test_the_cache_saves_work(self):
        rules, cache = self.write("r.rules", self.RULES), os.path.join(self.folder, "cache")
        first, _ = self.verdicts(rules, "--cache", cache, code=FAILED)
        lines = pathlib.Path(cache).read_text().splitlines()
        self.assertEqual(len(lines), 1 + 5)  # the same sides at other shapes are another rule
        second, _ = self.verdicts(rules, "--cache", cache, code=FAILED)
        self.assertEqual(first["rules"], second["rules"])  # milliseconds too: those of the first run
        self.assertLess(second["seconds"], 1)
        # a changed rule is judged anew, the others are not; a line that was cut off or edited is not used
        kept = [l for l in lines[1:] if '"candidate":"assoc' not in l]
        edited = [l.replace("refuted[", "proved:all-sizes[") for l in kept]
        pathlib.Path(cache).write_text("\n".join([lines[0], *edited, lines[1][:40]]))
        third, _ = self.verdicts(rules, "--cache", cache, code=FAILED)
        self.assertEqual(third["rules"][2]["verdict"], "refuted")
        self.assertEqual(third["rules"][0]["verdict"], "proved:all-sizes")
        # of another build nothing is used
        pathlib.Path(cache).write_text("\n".join(["#regraft-verdicts 1  other", *lines[1:], ""]))
        self.verdicts(rules, "--cache", cache, code=FAILED)
        self.assertEqual(pathlib.Path(cache).read_text().splitlines()[0], lines[0])
        other = self.write("other.rules", pathlib.Path(rules).read_bytes())
        self.assert_refused(regraft("verify", rules, "--cache", other, "-q"), r"other\.rules:1")

    def test_derivations_that_a_run_wrote_begin_no_cache_anew(self):
        rules, cache = self.write("r.rules", self.RULES), os.path.join(self.folder, "cache")
        beside = os.path.join(self.folder, "r.derivations.gz")
        first, _ = self.verdicts(rules, "--cache", cache, "--derivations", beside, code=FAILED)
        lines, written = pathlib.Path(cache).read_text(), pathlib.Path(beside).read_bytes()
        second, _ = self.verdicts(rules, "--cache", cache, "--derivations", beside, code=FAILED)
        self.assertEqual(first["rules"], second["rules"])
        self.assertEqual(pathlib.Path(cache).read_text(), lines)
        self.assertEqual(pathlib.Path(beside).read_bytes(), written)
        # for another command they are news
        self.verdicts(rules, "--cache", cache, code=FAILED)
        self.assertNotEqual(pathlib.Path(cache).read_text().splitlines()[0], lines.splitlines()[0])

    def test_interrupted_runs_go_on(self):
        rules = str(command_line.venv.ROOT / "substitutions/extended.rules")
        cache, out = os.path.join(self.folder, "cache"), os.path.join(self.folder, "out.rules")
        arguments = [command_line.program(), "verify", rules, "-o", out, "--cache", cache, "-q"]
        run = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            time.sleep(0.05)
            if os.path.exists(cache) and pathlib.Path(cache).read_text().count("\n") > 4:
                break
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=120)
        self.assertEqual(run.returncode, INTERRUPTED, stderr)
        self.assertIn("goes on from", stderr)
        some = pathlib.Path(out).read_text().count("=> ")
        self.assertGreater(some, 0)
        judged = pathlib.Path(cache).read_text().splitlines()
        self.assert_exit(regraft(*arguments[1:], "--time", "3"), DONE)
        more = pathlib.Path(cache).read_text().splitlines()
        self.assertEqual(more[:len(judged)], judged)
        self.assertGreater(len(more), len(judged))

    def test_bad_files_of_taso(self):
        good = os.path.join(self.folder, "good.pb")
        proved = os.path.join(self.folder, "proved.rules")
        self.assert_exit(regraft("verify", self.write("r.rules", self.RULES), "-o", proved, "-q"), DONE)
        self.assert_exit(regraft("rules", "export", "--taso", proved, "-o", good), DONE)
        data = pathlib.Path(good).read_bytes()
        self.assertGreater(len(data), 20)
        for name, bad in (("cut.pb", data[:-3]), ("text.pb", b"no such file"), ("empty.pb", b"")):
            path = self.write(name, bad)
            out = os.path.join(self.out_folder, "out.rules")
            self.assert_refused(regraft("verify", path, "-o", out, "-q"), name.replace(".", r"\."))
        self.assert_refused(regraft("verify", "/nowhere.pb", "-q"), "nowhere.pb")
        report, run = self.verdicts(good, code=DONE)
        self.assertEqual([r["verdict"] for r in report["rules"]], ["proved"])
        self.assertIn("taso.000: proved", run.stdout)

    def test_many_rules_of_taso(self):
        """Tens of thousands of rules: read, judged in part, reported."""
        proved, one = os.path.join(self.folder, "p.rules"), os.path.join(self.folder, "one.pb")
        self.assert_exit(regraft("verify", self.write("r.rules", self.RULES), "-o", proved, "-q"), DONE)
        self.assert_exit(regraft("rules", "export", "--taso", proved, "-o", one), DONE)
        many = self.write("many.pb", pathlib.Path(one).read_bytes() * 20000)
        report, _ = self.verdicts(many, "-q", "--time", "1", code=FAILED)
        self.assertEqual(len(report["rules"]), 20000)
        self.assertGreater(report["counts"]["proved"], 10)


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
