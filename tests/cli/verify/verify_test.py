#!/usr/bin/env python3
"""`regraft verify` from outside: verdicts, reports, several files, caches, and what is refused.

  python verify_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import command_line  # noqa: E402
from command_line import CommandLine, DONE, FAILED, INTERRUPTED, USAGE, regraft  # noqa: E402


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

    def test_a_cache_is_a_regular_file(self):
        rules = self.write("cand.rules", self.RULES)
        self.assert_refused(regraft("verify", rules, "--cache", "/dev/zero"), "/dev/zero.*regular")
        self.assert_exit(regraft("verify", rules, "--cache", "-"), USAGE)

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


if __name__ == "__main__":
    command_line.main()
