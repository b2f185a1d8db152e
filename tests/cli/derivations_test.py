#!/usr/bin/env python3
"""Derivations from outside: written, replayed by both kernels, tampered with, told to a person.

  python derivations_test.py REGRAFT [TestClass[.test]]
"""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

import command_line
from command_line import DONE, FAILED, regraft
from pages import Pages, parsed, text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = """\
assoc  (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn
shift  (softmax (sub ?a ?b) axis=-1) => (softmax ?a axis=-1)  for a:nn b:n1
turn  (relu (transpose ?x perm=?p)) => (transpose (relu ?x) perm=?p)  for x:..
"""
# No proof for all sizes is known: which element of a window is one depends on the position.
BOUNDED = """\
pooled  (global-avgpool (avgpool (avgpool ?x kernel=3,3 pads=1,1,1,1 dilations=?d include_pad=0) \
kernel=3,3 pads=1,1,1,1 include_pad=1)) => (global-avgpool (avgpool ?x kernel=3,3 pads=1,1,1,1 \
dilations=?d include_pad=1))  for x:nnnn
"""


class Derivations(Pages):
    def setUp(self):
        super().setUp()
        self.rules = self.path("r.rules")
        self.beside = self.path("r.derivations.gz")
        pathlib.Path(self.path("given")).write_text(RULES)
        self.report = self.path("report.json")
        self.made = regraft("verify", self.path("given"), "-o", self.rules, "--derivations", self.beside,
                            "--json", self.report)
        self.assert_exit(self.made, DONE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self):
        return gzip.decompress(pathlib.Path(self.beside).read_bytes()).decode()

    def replay(self, text, *arguments):
        file = self.path("changed.derivations")
        pathlib.Path(file).write_text(text)
        return regraft("check", *arguments, "--derivations", file)

    def test_every_proof_is_checked_and_counted(self):
        report = json.loads(pathlib.Path(self.report).read_text())
        kernel = report["kernel"]
        self.assertEqual(kernel["kernel_checked"], kernel["proofs"])
        self.assertEqual(report["proved_solver"], 0)
        self.assertGreater(kernel["proofs"], 10)  # the members of a family count one by one
        for rule in report["rules"]:
            self.assertEqual(rule["verdict"], "proved:all-sizes")
            self.assertEqual(rule["kernel"]["prover_only"], [])
        self.assertIn("3 rules are proved:all-sizes, 0 proved:solver", self.made.stdout)

    def test_those_beside_several_files_are_replayed(self):
        other = self.path("other.rules")
        pathlib.Path(other).write_text("relus  (relu (relu ?x)) => (relu ?x)  for x:nn\n")
        proved = self.path("proved.rules")
        self.assert_exit(regraft("verify", other, "-o", proved, "--derivations",
                                 self.path("proved.derivations.gz"), "-q"), DONE)
        again = self.path("again.json")
        self.assert_exit(regraft("verify", self.rules, proved, "--json", again), DONE)
        kernel = json.loads(pathlib.Path(again).read_text())["kernel"]
        self.assertEqual(kernel["replayed"], kernel["proofs"])

    def test_those_that_the_rule_files_lack_are_replayed_too(self):
        candidates = self.path("candidates.rules")  # none of them is said to be proved
        pathlib.Path(candidates).write_text(RULES.rsplit("turn", 1)[0])  # which is proved up to a rank
        run = regraft("check", candidates, "--derivations", self.beside)
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout, r"3 rules, \d\d+ proofs")

    def test_derivations_at_hand_are_replayed(self):
        again = self.path("again.json")
        run = regraft("verify", self.rules, "--json", again)
        self.assert_exit(run, DONE)
        kernel = json.loads(pathlib.Path(again).read_text())["kernel"]
        self.assertGreater(kernel["replayed"], kernel["proofs"] // 2)
        compressed = pathlib.Path(str(self.rules) + ".gz")
        compressed.write_bytes(gzip.compress(pathlib.Path(self.rules).read_bytes()))
        self.assert_exit(regraft("verify", compressed, "--json", again), DONE)
        self.assertEqual(json.loads(pathlib.Path(again).read_text())["kernel"]["replayed"], kernel["replayed"])
        run = regraft("verify", self.rules, "--json", again, "--no-replay")
        self.assert_exit(run, DONE)
        self.assertEqual(json.loads(pathlib.Path(again).read_text())["kernel"]["replayed"], 0)

    def test_without_the_kernel_all_is_proved_by_the_provers(self):
        again = self.path("again.json")
        self.assert_exit(regraft("verify", self.rules, "--json", again, "--no-kernel"), DONE)
        report = json.loads(pathlib.Path(again).read_text())
        self.assertEqual({rule["verdict"] for rule in report["rules"]}, {"proved:solver"})
        self.assertEqual(report["kernel"]["kernel_checked"], 0)
        run = regraft("verify", self.rules, "--no-kernel", "--derivations", self.path("none"))
        self.assert_refused(run, r"--derivations: not with --no-kernel")

    def test_a_file_that_cannot_be_read_is_named_and_counts_as_none(self):
        pathlib.Path(self.beside).write_bytes(pathlib.Path(self.beside).read_bytes()[:-9])
        run = regraft("verify", self.rules)
        self.assert_exit(run, DONE)
        self.assertRegex(run.stderr, r"r\.derivations\.gz: the compressed data is cut off")

    def test_the_kernel_alone_replays_a_file(self):
        run = regraft("check", "--derivations", self.beside)
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout, r"3 rules, (\d+) proofs: \1 derivations accepted, 0 refused")
        self.assert_exit(regraft("check", self.rules, "--derivations", self.beside), DONE)
        fewer = self.text().split("rule ")
        run = self.replay("rule ".join(fewer[:-1]), self.rules)
        self.assert_exit(run, FAILED)
        self.assertRegex(run.stdout, r"[1-9]\d* proofs without one")

    def test_rules_that_are_left_out_are_named(self):
        candidates = self.path("candidates.rules")
        for line, code in ((RULES.splitlines()[1] + " | a:nnnnnn b:nnnnn1\n", FAILED),
                           (RULES.splitlines()[1].split("  for")[0] + "\n", FAILED),
                           (RULES.splitlines()[1].replace("b:n1", "b:n1 tested") + "\n", DONE),
                           (BOUNDED, FAILED)):
            with self.subTest(line=line):
                pathlib.Path(candidates).write_text("# candidates\n" + line)
                report = self.path("left.json")
                run = regraft("check", candidates, "--derivations", self.beside, "--json", report)
                self.assert_exit(run, code)
                name = line.split()[0]
                self.assertEqual(json.loads(pathlib.Path(report).read_text())["left_out"],
                                 [name] if code == FAILED else [])
                self.assertEqual(f"left out: {name}: " in run.stdout, code == FAILED)
                self.assertEqual(", 1 left out;" in run.stdout, code == FAILED)

    def test_bounded_rules_that_both_files_say_are_bounded_are_no_failure(self):
        given, rules, derivations = (self.path(n) for n in ("b.given", "b.rules", "b.derivations"))
        pathlib.Path(given).write_text(BOUNDED)
        run = regraft("verify", given, "-o", rules, "--derivations", derivations, "-q")
        self.assert_exit(run, DONE)
        self.assertIn("proved:bounded", pathlib.Path(rules).read_text())
        self.assert_exit(regraft("check", rules, "--derivations", derivations), DONE)
        self.assert_exit(regraft("check", rules, "--derivations", self.beside), FAILED)
        self.assert_exit(regraft("check", given, "--derivations", derivations), FAILED)

    def test_what_was_changed_is_refused(self):
        text = self.text()
        lines = text.split("\n")
        steps = [k for k, line in enumerate(lines) if re.match(r"pair |law |under |pin ", line)]
        self.assertGreater(len(steps), 3)
        for k in steps[:: max(1, len(steps) // 8)]:
            kept = [*lines[:k], "omit 0 0", *lines[k + 1:]]
            run = self.replay("\n".join(kept))
            self.assert_exit(run, FAILED)
            self.assertRegex(run.stdout, r"refused: ")

    def test_errors_are_one_line_that_names_the_place(self):
        text = self.text()
        for changed, place in (
                (text.replace("format 1", "format 9"), r"changed\.derivations:1: "),
                (text.replace("rule ", "rule 0", 1), r":2: rule \w+: its digest is [0-9a-f]{32}"),
                (text.replace("(matmul", "(matmull", 1), r":2: column \d+"),
                (text.replace("proof ", "proof 99999999", 1), r":\d+: the file ends within"),
                (text + "what\n", r":\d+: a rule or a proof was expected"),
                (text + "same 99 > x:n\n", r":\d+: there is no such derivation"),
                (text + text.split("\n", 1)[1], r":\d+: the rule stands in line 2 as well")):
            run = self.replay(changed)
            self.assert_refused(run, place)

    def test_both_kernels_agree(self):
        claims = self.path("claims")
        self.assert_exit(regraft("check", "--derivations", self.beside, "--claims", claims), DONE)
        run = subprocess.run([sys.executable, "-m", "regraft.kernel", claims, "--every", "3"],
                             capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assert_exit(run, DONE)
        self.assertIn(" 0 answers differ", run.stdout)

    def test_a_proof_is_told(self):
        run = regraft("rules", "proof", "shift", "--rules", self.rules)
        self.assert_exit(run, DONE)
        for part in ('proof "> a:nn b:n1", one of 1', "An element of the left side is:",
                     "exp(x + y) = exp(x) exp(y)", "The kernel accepts the derivation."):
            self.assertIn(part, run.stdout)
        self.assertRegex(run.stdout, r"\n +1\. ")
        back = regraft("rules", "proof", "assoc", "--rules", self.rules, "--proof", "< a:nn b:nn c:nn")
        self.assert_exit(back, DONE)
        page = self.path("page.html")
        self.assert_exit(regraft("rules", "proof", "turn", "--rules", self.rules, "--html", page), DONE)
        self.assertIn("The kernel accepts the derivation.", text_of(parsed(page)))
        self.assert_self_contained(page, {page: parsed(page)})
        self.assert_refused(regraft("rules", "proof", "shifts", "--rules", self.rules), "did you mean 'shift'")
        self.assert_refused(regraft("rules", "proof", "shift", "--rules", self.rules, "--proof", "x"),
                            "the first is named")


class Large(Pages):
    def test_release_files_are_proved_as_they_say(self):
        files = sorted((ROOT / "substitutions/release").glob("*.rules.gz"))
        self.assertGreater(len(files), 0)
        for rules in files:
            with self.subTest(file=rules.name):
                report = pathlib.Path(self.folder, "report.json")
                regraft("check", rules, "--derivations", str(rules).replace(".rules.gz", ".derivations.gz"),
                        "-q", "--json", report)
                replayed = {r["name"]: r for r in json.loads(report.read_text())["rules"]}
                lines = [line for line in gzip.decompress(rules.read_bytes()).decode().splitlines()
                         if not line.startswith("#")]
                self.assertEqual(len(replayed), len(lines))
                for line in lines:
                    whole = replayed[line.split()[0]]["accepted"] == replayed[line.split()[0]]["proofs"]
                    self.assertEqual("proved:all-sizes" in line, whole, line)
                    self.assertIn("proved:all-sizes" if whole else "proved:", line)


if __name__ == "__main__":
    command_line.main()
