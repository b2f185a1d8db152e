#!/usr/bin/env python3
"""The page of bench/measured/run_measured.py, from made-up replays.

  python measured_test.py [TestClass[.test]]
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path.insert(0, str(venv.ROOT / "bench/measured"))

import measured_report  # noqa: E402

BUDGETS = [4, 8, 16, 32, 64, 128]


def pool(name, predicted, learned):
    """What each way reaches after each of the budgets, as parts of the fastest graph's time."""
    reached = {"predicted": [predicted], "random": [[1.5] * 6], "learned": [learned]}
    return {"name": name, "graphs": 200, "rounds": 20, "noise": 0.01, "fastest": 1.0, "slowest": 2.0,
            "ceiling": 0.8, "budgets": BUDGETS, "reached": reached,
            "correlation": {"0": 0.4, "8": 0.5, "32": 0.76}}


class Page(unittest.TestCase):
    def test_half_the_measurements_are_enough_where_they_reach_as_much(self):
        falling = [1.6, 1.5, 1.4, 1.3, 1.2, 1.1]
        earlier = [*falling[1:], 1.1]
        self.assertIn("At each of these numbers",
                      measured_report.verdict([pool("a", falling, earlier)] * 2))
        self.assertIn("not shown at any", measured_report.verdict([pool("a", falling, falling)] * 2))
        late = [*falling[:3], 1.2, 1.1, 1.1]
        self.assertIn("beside 64, 128 of the best-predicted",
                      measured_report.verdict([pool("a", falling, late)]))

    def test_differences_are_percent_of_the_fastest(self):
        flat = [1.1] * 6
        rows = measured_report.halves([pool("a", flat, [1.05] * 6), pool("b", flat, [1.1] * 6)])
        for _, _, wins, ties, losses, gaps in rows:
            self.assertEqual((wins, ties, losses), (1, 1, 0))
            self.assertAlmostEqual(sum(gaps), -5)

    def test_the_page_has_each_model_and_the_ceiling(self):
        page = measured_report.page([pool("gpt2-dynamo", [1.2] * 6, [1.1] * 6)])
        self.assertIn("| gpt2-dynamo | 200 | 1.000 | 1.00 | 0.40 | 0.76 | 0.80 | 20.00 / 10.00", page)
        self.assertIn("| 32 measured | 0.76 | 0.95 | 1 of 1 |", page)


if __name__ == "__main__":
    unittest.main()
