#!/usr/bin/env python3
"""What `optimize --explain` says.

  python explain_test.py REGRAFT [TestClass[.test]]
"""
import json
import pathlib

import common
from common import command_line, model_of, node
from command_line import DONE, regraft

TWICE = "relu-relu=relu.0dc5"
LONGER = "relu=neg-relu-add.7fa8"
EQUAL_SIZES = "add-sub-transpose=add-sub.0c4e"
SQUARE = "transpose-matmul=transpose-matmul-transpose.57db"
UNSAFE = "div-sqrt=sqrt-sqrt-div.161c"


class Explain(common.Terminal):
    def explained(self, model, *options, rules=(), out=None):
        report = pathlib.Path(self.folder) / "report.json"
        given = ["--rules", self.rules(*rules)] if rules else []
        run = regraft("optimize", self.saved(model), out or self.out, "--no-measure", "--cost",
                      "roofline", "--explain", "--json", report, *given, *options)
        self.assert_exit(run, DONE)
        return json.loads(report.read_text()), run

    def reasons(self, model, *options, rules=()):
        """The reasons of the dearest part that no rule touched."""
        report, _ = self.explained(model, *options, rules=rules)
        return report["explanation"]["missed"][0]["reasons"]

    def relus(self, count, rank=2):
        shape = [4, 8, 2, 2, 2, 2][:rank]
        nodes = [node("Relu", [f"v{k}"], [f"v{k + 1}"], f"relu{k}") for k in range(count)]
        return model_of(nodes, {"v0": shape}, {f"v{count}": shape})

    def test_a_region_names_rules_nodes_and_gain(self):
        report, run = self.explained(self.relus(3), rules=[TWICE])
        regions = report["explanation"]["regions"]
        self.assertEqual(sum(r["rules"][TWICE] for r in regions), 2)
        self.assertEqual(sum(len(r["removed"]) - len(r["added"]) for r in regions), 2)
        gain = report["before"]["cost"] - report["after"]["cost"]
        self.assertAlmostEqual(sum(r["microseconds"] for r in regions), gain, places=6)
        self.assertGreater(gain, 0)
        self.assertIn("Relu 'relu", run.stdout)
        self.assertIn(f"rules: {TWICE}", run.stdout)

    def test_regions_are_apart_and_the_largest_gain_comes_first(self):
        nodes = [node("Relu", ["a"], ["a1"], "small0"), node("Relu", ["a1"], ["a2"], "small1"),
                 node("Relu", ["b"], ["b1"], "large0"), node("Relu", ["b1"], ["b2"], "large1")]
        model = model_of(nodes, {"a": [2, 2], "b": [512, 512]}, {"a2": [2, 2], "b2": [512, 512]})
        report, _ = self.explained(model, rules=[TWICE])
        regions = report["explanation"]["regions"]
        self.assertEqual(len(regions), 2)
        self.assertTrue(all("large" in name for name in regions[0]["removed"]), regions)
        self.assertGreater(regions[0]["microseconds"], regions[1]["microseconds"])
        gain = report["before"]["cost"] - report["after"]["cost"]
        self.assertAlmostEqual(sum(r["microseconds"] for r in regions), gain, places=6)

    def test_what_a_rule_made_is_not_missed(self):
        report, _ = self.explained(self.relus(2), rules=[TWICE, LONGER])
        made = [n for r in report["explanation"]["regions"] for n in r["added"]]
        missed = [n for m in report["explanation"]["missed"] for n in m["nodes"]]
        self.assertFalse(set(made) & set(missed))

    def test_opaque(self):
        nodes = [node("Thing", ["x"], ["y"], "strange", domain="own.domain")]
        model = model_of(nodes, {"x": [64, 64]}, {"y": [64, 64]}, own=True)
        report, run = self.explained(model, "--check", "0")
        [missed] = report["explanation"]["missed"]
        self.assertEqual(missed["nodes"], ["own.domain:Thing 'strange'"])
        self.assertEqual([r["reason"] for r in missed["reasons"]], ["opaque"])
        self.assertIn("no operator of this name is known", run.stdout)

    def test_not_cheaper(self):
        [reason] = self.reasons(self.relus(1), rules=[LONGER])
        self.assertEqual((reason["reason"], reason["rule"]), ("not cheaper", LONGER))
        self.assertGreater(reason["change"], 0)

    def test_signature_not_covered(self):
        [reason] = self.reasons(self.relus(2, rank=6), rules=[TWICE])
        self.assertEqual((reason["reason"], reason["rule"]), ("signature not covered", TWICE))
        self.assertIn("ranks 6", reason["text"])

    def transposed(self, height, width, perm):
        nodes = [node("Add", ["x", "y"], ["s"], "add"), node("Sub", ["x", "s"], ["d"], "sub"),
                 node("Transpose", ["d"], ["t"], "turn", perm=perm)]
        shape = [1, 2, height, width]
        turned = [shape[p] for p in perm]
        return model_of(nodes, {"x": shape, "y": []}, {"t": turned})

    def test_condition_fails(self):
        """The rule is for squares: it applies to one, and is named where the sizes differ."""
        report, _ = self.explained(self.transposed(8, 8, [0, 1, 3, 2]), rules=[EQUAL_SIZES])
        self.assertEqual(report["applied"], {EQUAL_SIZES: 1})
        [reason] = self.reasons(self.transposed(8, 4, [0, 1, 3, 2]), rules=[EQUAL_SIZES])
        self.assertEqual((reason["reason"], reason["rule"]), ("condition fails", EQUAL_SIZES))

    def test_an_attribute_is_another(self):
        [reason] = self.reasons(self.transposed(8, 8, [0, 2, 1, 3]), rules=[EQUAL_SIZES])
        self.assertEqual((reason["reason"], reason["rule"]), ("condition fails", EQUAL_SIZES))
        self.assertIn("perm of the transpose is [0,2,1,3], the rule has [0,1,3,2]", reason["text"])

    def test_numerics(self):
        """One root costs less than two, but the quotient may overflow."""
        nodes = [node("Sqrt", ["a"], ["p"], "above"), node("Sqrt", ["b"], ["q"], "below"),
                 node("Div", ["p", "q"], ["y"], "quotient")]
        model = model_of(nodes, {n: [64, 64] for n in "ab"}, {"y": [64, 64]})
        [reason] = self.reasons(model, rules=[UNSAFE])
        self.assertEqual((reason["reason"], reason["rule"]), ("numerics", UNSAFE))
        self.assertLess(reason["change"], 0)
        report, _ = self.explained(model, "--numerics", "real", rules=[UNSAFE])
        self.assertEqual(report["applied"], {UNSAFE: 1})
        gain = report["before"]["cost"] - report["after"]["cost"]
        self.assertAlmostEqual(-reason["change"], gain, delta=0.01 * gain)

    def test_no_rule(self):
        nodes = [node("Sigmoid", ["x"], ["y"], "gate")]
        model = model_of(nodes, {"x": [4, 4]}, {"y": [4, 4]})
        [reason] = self.reasons(model, rules=[TWICE])
        self.assertEqual(reason["reason"], "no rule")
        self.assertIn("no rule is about this operator", reason["text"])
        [reason] = self.reasons(self.relus(1), rules=[TWICE])
        self.assertIn("other neighbours", reason["text"])

    def test_alike_kernels_are_one_entry(self):
        nodes = [node("Sigmoid", [f"v{k}"], [f"v{k + 1}"]) for k in range(5)]
        model = model_of(nodes, {"v0": [8, 8]}, {"v5": [8, 8]})
        report, run = self.explained(model, rules=[TWICE])
        [missed] = report["explanation"]["missed"]
        self.assertEqual(missed["alike"], 5)
        self.assertAlmostEqual(missed["share"], 1, places=6)
        self.assertIn("with 4 more of the kind", run.stdout)

    def test_lines_are_short(self):
        for name in ("mlp", "resnet_block", "attention"):
            if name not in command_line.build_models.MODELS:
                continue
            run = regraft("optimize", self.tiny(name), self.out, "--no-measure", "--explain",
                          "--budget", "2000")
            self.assert_exit(run, DONE)
            said = run.stdout[run.stdout.index("the rules did" if "the rules did" in run.stdout
                                               else "No rule"):run.stdout.index("wrote ")]
            longest = max(said.splitlines(), key=len)
            self.assertLessEqual(len(longest), 80, longest)
            self.assertNotIn("\033", said)

    def test_quiet_says_nothing_and_without_it_there_is_none(self):
        _, run = self.explained(self.relus(3), "--quiet", rules=[TWICE])
        self.assertEqual(run.stdout, "")
        run = regraft("optimize", self.saved(self.relus(3)), self.out, "--no-measure")
        self.assertNotIn("region by region", run.stdout)

    def test_a_kept_original_says_why(self):
        report, run = self.explained(self.relus(1), rules=[TWICE])
        self.assertTrue(report["explanation"]["kept"])
        self.assertIn("No rule is in the result: nothing better was found", run.stdout)

    def test_simplify_explains_too(self):
        run = regraft("simplify", self.saved(self.relus(3)), self.out, "--explain")
        self.assert_exit(run, DONE)
        self.assertIn("region by region", run.stdout)


if __name__ == "__main__":
    command_line.main()
