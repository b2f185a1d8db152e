#!/usr/bin/env python3
"""The statistics of bench/learn/learn_statistics.py, and what learn_scores.py says of made-up runs.

  python learn_scores_test.py [TestClass[.test]]
"""
import contextlib
import io
import json
import math
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/learn"), str(venv.ROOT / "bench")]

import numpy as np  # noqa: E402

import learn_scores  # noqa: E402
import learn_statistics  # noqa: E402
import run_unseen  # noqa: E402
import unseen_report  # noqa: E402


class Statistics(unittest.TestCase):
    def test_the_interquartile_mean_leaves_out_the_ends(self):
        mean = lambda *x: learn_statistics.interquartile_mean(np.array(x))
        self.assertEqual(mean(9, -100, 3, 1000, 4, 1, 5, 2), 3.5)  # of 2, 3, 4, 5
        self.assertEqual(mean(10, 1, 2, 3, 100), 5)                # of 2, 3, 10
        self.assertEqual(mean(1, 2, 6), 3)

    def test_the_probability_of_improvement_counts_ties_half(self):
        chance = lambda a, b: learn_statistics.probability_of_improvement(np.array(a), np.array(b))
        self.assertEqual(chance([1, 2, 3], [2, 2]), 0.5)  # 0 + 1 + 2 of 6
        self.assertEqual(chance([3, 2], [2, 2]), 0.75)
        self.assertAlmostEqual(chance([2, 2], [1, 2, 3]), 0.5)

    def test_draws_within_graphs_and_trainings(self):
        runs = np.array([[[1, 2], [10, 20], [100, 200]], [[-1, -2], [-10, -20], [-100, -200]]])
        drawn = learn_statistics.resampled(runs, np.random.default_rng(0))
        self.assertEqual(drawn.shape, (learn_statistics.REPLICATES, *runs.shape))
        self.assertTrue((drawn[:, 0] > 0).all() and (drawn[:, 1] < 0).all())  # in its graph
        training = np.floor(np.log10(np.abs(drawn)))
        self.assertTrue((training == training[..., :1]).all())     # in its training
        self.assertTrue((training[:, 0] == training[:, 1]).all())  # the same for both graphs
        self.assertEqual(len(np.unique(training[:, 0, :, 0], axis=0)), 27)  # all there are
        self.assertTrue((drawn[:, 0, 0, 0] == drawn[:, 0, 0, 1]).any())  # searches are drawn too
        self.assertTrue((drawn[:, 0, 0, 0] != drawn[:, 0, 0, 1]).any())

    def test_intervals_of_one_number_are_that_number(self):
        one, other = np.array([[[0.5]], [[0.7]]]), np.array([[[0.4]], [[0.4]]])
        for x in learn_statistics.score(one):
            self.assertAlmostEqual(x, 0.6)
        self.assertEqual(learn_statistics.improvement(one, other), [1, 1, 1])
        found = learn_statistics.paired_difference(one, other)  # 0.1 and 0.3: graphs are drawn
        for x, expected in zip(found, (0.2, 0.1, 0.3)):
            self.assertAlmostEqual(x, expected)

    def test_the_interval_is_as_wide_as_it_must_be(self):
        """Of a mean of n numbers that are 0 or 1, half each, the deviation is 1 / (2 sqrt n). Two
        layers of drawing: rows that do not differ add nothing, and rows that are all of the
        difference count."""
        def width(rows):
            value, low, high = learn_statistics.paired_difference(np.array([rows]),
                                                                  np.zeros((1, 1, 1)))
            self.assertAlmostEqual(value, 0.5)
            return high - low

        expected = 2 * 1.96 * 0.5 / 20
        self.assertAlmostEqual(width([[k % 2 for k in range(400)]]) / expected, 1, delta=0.1)
        rows = [[k % 2] * 4 for k in range(100)]  # 100 draws, however many searches
        self.assertAlmostEqual(width(rows) / (2 * expected), 1, delta=0.1)

    def test_geometric_mean_of_ratios(self):
        value, low, high = learn_statistics.geometric_mean([0.5, 2, 2, 8])
        self.assertAlmostEqual(value, 2)
        self.assertTrue(0.5 < low < 1.2 and 3.5 < high < 8, (low, high))
        self.assertEqual([value, low, high], learn_statistics.geometric_mean([0.5, 2, 2, 8]))
        self.assertIsNone(learn_statistics.geometric_mean([]))

    def test_one_model_can_carry_a_mean(self):
        mean, name = learn_statistics.with_one_left_out({"a": 1.0, "b": 1.0, "c": 8.0})
        self.assertEqual((round(mean, 9), name), (1.0, "c"))

    def test_differences_of_either_sign_are_chance(self):
        self.assertGreater(learn_statistics.sign_flips([1, -1, 1, -1]), 0.9)
        self.assertLess(learn_statistics.sign_flips([1.0] * 12), 0.01)
        self.assertEqual(learn_statistics.sign_flips([0, 0, 0]), 1)

    def test_many_comparisons_weaken_each(self):
        adjusted = learn_statistics.holm({"a": 0.01, "b": 0.04, "c": 0.03})
        self.assertEqual({k: round(v, 9) for k, v in adjusted.items()},
                         {"a": 0.03, "b": 0.06, "c": 0.06})


def run(method, curve, training="-", seed=7, limit="0 candidates"):
    """`curve`: candidates and cost; seconds are a thousandth of candidates."""
    points = [[n, n / 1000, c] for n, c in curve]
    return {"key": f"d|s|{method}|{training}|{seed}|{limit}, 0 expanded, 1 s", "method": method,
            "training": training, "seed": seed, "before": 1000.0, "stop": "time", "applied": {},
            "after": min([1000.0, *(c for _, c in curve)]), "curve": points, "expanded": 9,
            "candidates": 2000, "seconds": 2.0}


def raw():
    """On m the policy is there in one of two trainings; on n nothing can be won."""
    base = run("backtracking-1.05", [[400, 800.0]])
    runs = [run("windows", [[100, 900.0], [800, 790.0]]),
            run("a/scheduled", [[10, 850.0], [100, 800.0]], "x"),
            run("a/scheduled", [], "y"),
            run("a/scheduled", [[10, 850.0]], "y", limit="5000 candidates"),
            run("uniform/scheduled", [[50, 800.0]]), run("uniform/greedy", [])]
    idle = [run(r["method"], [], r["training"]) for r in runs[:3] + runs[4:]]
    kinds = {"windows": "classical", "uniform/scheduled": "control", "uniform/greedy": "control",
             "a/scheduled": "learned"}
    return {"methods": [{"name": n, "kind": k} for n, k in kinds.items()],
            "graphs": [{"name": "m", "before": 1000.0, "runs": runs, "baseline": base},
                       {"name": "n", "before": 1000.0, "runs": idle, "baseline": run("b", [])}],
            "budgets": [100, 5000], "seconds": [0.1], "cap": 3, "expansions": 9, "expanding": 9}


class Scores(unittest.TestCase):
    def setUp(self):
        self.report = learn_scores.scored(raw())

    def found(self, what, **where):
        return next(x for x in self.report[what] if where.items() <= x.items())

    def test_the_least_cost_is_that_of_all_reports(self):
        self.assertEqual([g["reference"] for g in self.report["graphs"]], [790.0, 1000.0])
        lower = raw()
        lower["graphs"][0]["baseline"]["after"] = 500.0
        least = learn_scores.least_costs([raw(), lower])
        self.assertEqual(least, {"m": 500.0, "n": 1000.0})
        self.assertEqual(learn_scores.scored(raw(), least)["graphs"][0]["reference"], 500.0)

    def test_scores(self):
        """Of the graph where something can be saved; by candidates the second run counts."""
        score = lambda limit: self.found("scores", method="a/scheduled", limit=limit)["iqm"][0]
        self.assertAlmostEqual(score("100 candidates"), (200 + 150) / 2 / 210, places=5)
        self.assertAlmostEqual(score("5000 candidates"), (200 + 150) / 2 / 210, places=5)
        self.assertAlmostEqual(score("0.1 s"), 200 / 2 / 210, places=5)
        self.assertEqual(len(self.report["scores"]), 4 * 3)

    def test_comparisons_are_with_controls_of_the_mode_and_windows(self):
        pairs = {(c["method"], c["other"]) for c in self.report["comparisons"]}
        self.assertEqual(pairs, {("a/scheduled", "windows"), ("a/scheduled", "uniform/scheduled")})
        c = self.found("comparisons", other="windows", limit="5000 candidates")
        self.assertEqual(c["probability"], [0, 0, 0])
        self.assertAlmostEqual(c["difference"][0], 175 / 210 - 1, places=5)

    def test_reaching_is_by_half_of_the_runs(self):
        self.assertEqual({r["graph"] for r in self.report["reaching"]}, {"m"})
        mine = self.found("reaching", method="a/scheduled")
        self.assertEqual((mine["runs"], mine["reached"], mine["candidates"], mine["seconds"]),
                         (2, 1, 100, 0.1))
        self.assertNotIn("candidates", self.found("reaching", method="uniform/greedy"))

    def test_ratios(self):
        mine = self.found("ratios", method="a/scheduled")
        self.assertEqual((mine["graphs"], mine["reached"]), (1, 1))
        for unit in ("candidates", "seconds"):
            self.assertAlmostEqual(mine[unit][0], 20)
            self.assertAlmostEqual(mine[f"{unit}_found"][0], 4)
        self.assertIsNone(self.found("ratios", method="uniform/greedy")["seconds"])

    def test_sooner_counts_a_run_that_never_was_with_all_it_ran(self):
        less = self.found("sooner", other="windows")["candidates"]
        self.assertAlmostEqual(less[0], 800 / math.sqrt(100 * 2000))

    def test_tables_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "runs.json")
            path.write_text(json.dumps(raw()))
            with mock.patch.object(sys, "argv", ["learn_scores.py", str(path)]), \
                    contextlib.redirect_stdout(io.StringIO()) as printed:
                learn_scores.main()
        self.assertIn("| a/scheduled beside windows | ", printed.getvalue())


def unseen(factors):
    """Figures of models on which windows needs as many times what a policy does."""
    methods = [*run_unseen.METHODS, "p/scheduled"]
    kept = {"near": 1e-3, "moments": [1000, 10000], "budget": 30000, "cap": 8, "methods": methods,
            "models": {}}
    for name, factor in factors.items():
        report = {"graphs": [{"name": name, "before": 100.0, "runs": []}]}
        for method in methods:
            at = 100 if method == "p/scheduled" else 100 * factor
            curve = [] if method == "greedy" else [[at, 0.1, 80.0]]
            report["graphs"][0]["runs"].append(
                {"method": method, "seed": 7, "before": 100.0, "after": 80.0 if curve else 90.0,
                 "candidates": 20000, "seconds": 1.0, "stop": "budget", "curve": curve})
        row = run_unseen.condensed(report)[name]
        prices = {"greedy": 10.0, "windows": 9.0, "saturation": 11.0}
        kept["models"][name] = {"group": name[0], **row, "prices": prices}
    return kept


class Unseen(unittest.TestCase):
    def rows(self, factors):
        kept = unseen(factors)
        pairs = unseen_report.pairs_of(kept["methods"])
        return {r["other"]: r for r in unseen_report.comparisons(unseen_report.hard(kept), pairs)}

    def test_one_model_alone_does_not_reach_the_goal(self):
        row = self.rows({**{f"a{k}": 1 for k in range(12)}, "b": 100})["windows"]
        self.assertEqual((round(row["low"], 6), row["without"]), (1, "b"))
        self.assertFalse(unseen_report.holds(row))

    def test_all_models_together_do(self):
        row = self.rows({f"a{k}": 4 for k in range(12)})["windows"]
        self.assertEqual([round(x, 6) for x in row["ratio"]], [4, 4, 4])
        self.assertTrue(unseen_report.holds(row))

    def test_a_run_that_never_was_near_counts_with_all_it_ran(self):
        model = unseen({"a": 2})["models"]["a"]
        self.assertAlmostEqual(math.exp(unseen_report.needed(model, "greedy")), 20000)

    def test_only_models_that_greedy_descent_leaves_something_count(self):
        kept = unseen({"a": 2, "b": 2})
        kept["models"]["b"]["runs"]["greedy"][0]["after"] = 80.0
        self.assertEqual(list(unseen_report.hard(kept)), ["a"])

    def test_the_page_has_greedy_descent_and_every_pair(self):
        text = unseen_report.page(unseen({f"a{k}": 2 for k in range(6)}))
        self.assertIn("| greedy | 0 % | 0 % | 0 % |", text)
        self.assertIn("| p/scheduled beside saturation | 2.00 [2.00, 2.00] |", text)
        self.assertIn("| windows | 6 of 6 | 0.00 | 6 | 0 | -10.00 |", text)
        self.assertIn("| saturation | 0 of 6 | 22.22 | 0 | 6 | +10.00 |", text)
        self.assertIn("| a0 | -10.00 | +10.00 |", text)


if __name__ == "__main__":
    unittest.main()
