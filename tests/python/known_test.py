#!/usr/bin/env python3
"""bench/known_rewrites.txt has the form that its readers need, and bench/known/run_known.py says why.

  REGRAFT=build/release/regraft python known_test.py [TestClass[.test]]
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/known"), str(ROOT / "bench")]

import known_list  # noqa: E402
import known_reasons  # noqa: E402
import known_report  # noqa: E402
import known_terms  # noqa: E402

REGRAFT = os.environ.get("REGRAFT", str(ROOT / "build/release/regraft"))
HEAD = "# a list\n\n# Group: g\n# Source: s\n"


class List(unittest.TestCase):
    def test_there_are_enough_each_with_group_and_source(self):
        rewrites = known_list.load()
        self.assertGreaterEqual(len(rewrites), 150)
        for r in rewrites:
            self.assertTrue(r.group and len(r.source) > 3 and r.text, r.name)
        self.assertGreaterEqual(len({r.group for r in rewrites}), 10)

    def test_names_are_unique(self):
        names = collections.Counter(r.name for r in known_list.load())
        self.assertEqual([n for n, count in names.items() if count > 1], [])

    def test_the_program_reads_every_rule(self):
        done = subprocess.run([REGRAFT, "rules", "show", str(known_list.PATH)],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = [line.split("  ")[0] for line in done.stdout.splitlines()]
        written = [r.name for r in known_list.load() if not r.lacks]
        self.assertEqual(sorted(shown), sorted(written))

    def test_no_rewrite_is_there_twice(self):
        texts = collections.Counter(re.sub(r"  for .*", "", r.text) for r in known_list.load())
        self.assertEqual([t for t, count in texts.items() if count > 1], [])

    def test_each_unwritable_one_says_what_is_missing(self):
        for r in known_list.load():
            if r.lacks:
                self.assertIn(": ", r.text, r.name)

    def test_lines_of_another_form_are_named(self):
        good = HEAD + "a  (relu (relu ?x)) => (relu ?x)\n"
        self.assertEqual([r.name for r in known_list.read(good)], ["a"])
        for bad, where in ((good + "b  (relu ?x) => ?x\n", "line 6: b has no group or no source"),
                           (HEAD + "# Source: t\n", "line 5: a source follows a source"),
                           (HEAD, "the last source has no entry"),
                           (HEAD + "?x\n", "line 5: no group, source")):
            with self.assertRaisesRegex(ValueError, where):
                known_list.read(bad)


class Forms(unittest.TestCase):
    def test_each_is_in_the_list(self):
        names = {r.name for r in known_list.load()}
        for form, rewrites in known_report.FORMS.items():
            self.assertLessEqual(set(rewrites), names, form)

    def test_rules_are_named(self):
        rows = list(known_report.forms([{"name": "rmsnorm-of-parts", "used": ["a", "b"]}]))
        self.assertIn("| RMSNorm | rmsnorm-of-parts | `a`, `b` |", rows)
        self.assertIn("| RMSNorm | rmsnorm-of-reciprocal | - |", rows)


class Terms(unittest.TestCase):
    RULE = ("(add (matmul ?x ?w) (slice ?b begins=?i sizes=floor(w.1-1/?s)+1)) => "
            "(gemm ?x ?w ?b)  where w.0=x.1  for x:nn w:nn b:n")

    def test_operators_and_calls(self):
        self.assertEqual(known_terms.operators(self.RULE), {"add", "matmul", "slice", "gemm"})
        self.assertEqual(known_terms.size(self.RULE), 3)
        self.assertEqual(known_terms.calls("(mul (relu ?x) (relu ?x))"), 2)

    def test_shapes_are_blind_to_names_numbers_and_direction(self):
        turned = "(gemm ?a ?b ?c alpha=2) => (add (slice ?c begins=0) (matmul ?a ?b))"
        self.assertEqual(known_terms.shapes(self.RULE), known_terms.shapes(turned))
        self.assertNotEqual(known_terms.shapes("(sub (relu ?a) ?b) => ?a"),
                            known_terms.shapes("(sub ?a (relu ?b)) => ?a"))


class Reasons(unittest.TestCase):
    @staticmethod
    def shipped(*texts):
        return [known_reasons.Shipped("core", t, frozenset(known_terms.operators(t)),
                                      known_terms.shapes(t)) for t in texts]

    def test_why_a_rule_does_not_follow(self):
        rules = self.shipped("(transpose (relu ?x) perm=1,0) => (relu (transpose ?x perm=1,0))",
                             "(add (neg ?x) ?x) => (mul ?x (full value=0))")
        for text, why in (("(einsum ?x x=0 out=0) => ?x", "operator: einsum"),
                          ("(relu (transpose ?x perm=0,2,1)) => (transpose (relu ?x) perm=0,2,1)",
                           "axes or ranks"),
                          ("(relu (relu (relu (relu ?x)))) => (relu ?x)", "size"),
                          ("(neg (relu ?x)) => (relu ?x)", "theme"),
                          ("(neg (neg ?x)) => ?x", "attributes")):
            self.assertEqual(known_reasons.why_not(text, rules), why, text)

    def test_why_a_rule_is_not_proved(self):
        for verdict, detail, kind in (
                ("unknown", "stuck at + 1/1 sum{|} log[ + 1/1 sum{|} exp[", "logarithm"),
                ("unknown", "steps used up", "budget"),
                ("unknown", "stuck at + 1/1 sum{|} half[ + 1/1", "rounded values"),
                ("unknown", "stuck at + 1/1 sum{|} cos[ + -1/1", "law of a function"),
                ("unknown", "stuck at exp[ + 1/1] real[a]", "law of a function"),
                ("unknown", "no signature fits", "other"),
                ("proved:bounded", "4 shapes", "some sizes"),
                ("proved:all-sizes", "", ""), ("proved:solver", "", "")):
            proof = {"verdict": verdict, "detail": detail}
            self.assertEqual(known_reasons.why_unproved(proof, "min=0"), kind, detail)
            if kind:
                self.assertIn(kind, known_reasons.MEANINGS)
        for text, kind in (("(full value=0.1)", "decimals"), ("(full value=1e-9)", "decimals"),
                           ("(full value=0.125)", "budget"), ("perm=0,1 value=-3", "budget")):
            proof = {"verdict": "unknown", "detail": "steps used up"}
            self.assertEqual(known_reasons.why_unproved(proof, text), kind, text)


class Report(unittest.TestCase):
    def test_what_cannot_be_said_counts_as_not_proved(self):
        proved = {"group": "g", "unwritable": "", "verdict": "proved:all-sizes", "detail": "",
                  "unproved": ""}
        rewrites = [
            {**proved, "name": "a", "follows": ["all files", "core"], "why_not": ""},
            {**proved, "name": "b", "follows": ["own operators"], "why_not": "limits of derive"},
            {**proved, "name": "c", "follows": [], "why_not": "operator: where"},
            {"name": "d", "group": "g", "unwritable": "axes", "text": "no | yes"}]
        text = known_report.table({
            "machine": {"threads": 1, "cores": 2, "processor": "p", "load": 0},
            "verify_seconds": [1.0, 0.5], "shipped_rules": 7, "rewrites": rewrites,
            "runs": {"all files": {"derived": 1, "seconds": [2.0, 3.0], "commands": 1,
                                   "ended": 1}}})
        self.assertIn("| **all** | 4 | 1 | 3 | 0 | 75.0 % | 1 | 1 | 25.0 % |", text)
        self.assertIn("| rules derive | all files | 1 | 2.0 (1 ended) | 3.0 |", text)
        self.assertIn("| unwritable | 1 | 0 |", text)
        self.assertIn("`where` 1", text)
        self.assertIn("no \\| yes", text)


if __name__ == "__main__":
    unittest.main()
