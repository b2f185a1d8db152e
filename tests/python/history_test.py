#!/usr/bin/env python3
"""The pairs of bench/validate/history: they load, and onnxruntime agrees with what is expected.

  python history_test.py [TestClass[.test]]
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/validate/history"), str(venv.ROOT / "bench")]

import onnx  # noqa: E402

import build  # noqa: E402
import evaluate  # noqa: E402
import history_report  # noqa: E402
import run_history  # noqa: E402

KINDS = {"refuted": "differ", "invalid": "invalid", "proved": "agree",
         "proved-up-to-constants": "agree"}
INNER = {"SimplifiedLayerNormalization"}  # onnxruntime's own, which the checker does not know


class Pairs(unittest.TestCase):
    def test_names_are_distinct_and_all_is_known(self):
        names = [pair.name for pair in run_history.PAIRS]
        self.assertEqual(len(set(names)), len(names))
        for pair in run_history.PAIRS:
            with self.subTest(pair.name):
                self.assertIn(pair.expected, KINDS)
                self.assertNotEqual(bool(pair.made), pair.after is not None)
                for field in (pair.said, pair.title, pair.thread):
                    self.assertTrue(field)

    def test_enough_threads(self):
        threads = {pair.thread for pair in run_history.PAIRS if pair.group == "history"}
        self.assertGreaterEqual(len(threads), 40)

    def test_models_pass_the_checker(self):
        for pair in run_history.PAIRS:
            with self.subTest(pair.name):
                onnx.checker.check_model(pair.before, full_check=True)
                after = run_history.after(pair)
                known = not INNER & {node.op_type for node in after.graph.node}
                if pair.expected != "invalid" and known:
                    onnx.checker.check_model(after)

    def test_nothing_is_kept_that_no_pair_reads(self):
        kept = {path.stem for path in run_history.AFTER.glob("*.textproto")}
        self.assertEqual(kept, {pair.name for pair in run_history.PAIRS if pair.made})

    def test_onnxruntime_agrees(self):
        for pair in run_history.PAIRS:
            with self.subTest(pair.name):
                self.assertEqual(evaluate.judged(pair, run_history.after(pair)),
                                 KINDS[pair.expected])


class Evaluation(unittest.TestCase):
    """Each outcome can come out."""

    def pair(self, text, other):
        made = build.model("g (float[N,2] x) => (float[N,2] y) { y = " + text + " }")
        after = build.model("g (float[N,2] x) => (float[N,2] y) { y = " + other + " }")
        return build.Pair("p", "t", "t", made, "proved", "", "", "", "", after=after), after

    def test_outcomes(self):
        for other, outcome in (("Relu(x)", "agree"), ("Abs(x)", "differ"), ("Sum()", "invalid")):
            with self.subTest(other):
                self.assertEqual(evaluate.judged(*self.pair("Relu(x)", other)), outcome)

    def test_gap_sees_shapes_and_types(self):
        import numpy as np
        one = np.ones((2, 1), np.float32)
        self.assertEqual(evaluate.gap(one, one.T), np.inf)
        self.assertEqual(evaluate.gap(one, one.astype(np.float64)), np.inf)
        self.assertEqual(evaluate.gap(one, one * np.nan), np.inf)
        self.assertAlmostEqual(evaluate.gap(one * 4, one * 5), 0.25)


class Report(unittest.TestCase):
    def found(self, expected, result, outputs=None):
        return {"expected": expected, "validate": result, "certify": {"outputs": outputs or {}}}

    def test_expectations(self):
        refuted, proved = ({"report": {"verdict": v}} for v in ("refuted", "proved"))
        unread = {"error": "b.onnx: node 'y': ...", "exit": 3}
        expected = history_report.as_expected
        self.assertTrue(expected(self.found("refuted", refuted)))
        self.assertFalse(expected(self.found("refuted", proved)))
        self.assertFalse(expected(self.found("refuted", unread)))
        self.assertTrue(expected(self.found("invalid", unread)))
        self.assertFalse(expected(self.found("invalid", proved)))
        self.assertTrue(expected(self.found("proved-up-to-constants", proved)))

    def test_certificates_in_one_word(self):
        word = history_report.certified
        self.assertEqual(word(self.found("proved", {}, {"y": "refuted", "z": "proved-smt"})),
                         "refuted")
        self.assertEqual(word(self.found("proved", {}, {"y": "skipped", "z": "proved"})), "skipped")
        self.assertEqual(word(self.found("proved", {}, {"y": "proved-congruence"})), "proved")
        self.assertEqual(word(self.found("proved", {})), "error")


if __name__ == "__main__":
    unittest.main()
