#!/usr/bin/env python3
"""The figures and tables of bench/run_peers.py, run_correlation.py and run_engine.py, from made-up
times.

  python bench_test.py [TestClass[.test]]
"""
import math
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path.insert(0, str(venv.ROOT / "bench"))

import run_correlation  # noqa: E402
import run_engine  # noqa: E402
import run_peers  # noqa: E402


def case(original, regraft, by_hand=None):
    timed = lambda t, **more: {"microseconds": t, "noise": 0.01, "runs": 9, "ratio": t / original,
                               "ratio_noise": 0.01, **more}
    tool = lambda t: timed(t, seconds=1.0, error="", difference=0.0)
    found = {"original": timed(original), "regraft": tool(regraft), "onnxsim": tool(original),
             "onnxslim": tool(2 * original),
             "onnxoptimizer": {"seconds": 1.0, "error": "exit 139: gone", "difference": None}}
    return {**found, "by-hand": timed(by_hand)} if by_hand else found


class Correlation(unittest.TestCase):
    def test_ranks_share_ties(self):
        self.assertEqual(list(run_correlation.ranks([30, 10, 20, 20])), [3, 0, 1.5, 1.5])

    def test_spearman(self):
        self.assertAlmostEqual(run_correlation.spearman([1, 2, 3, 4], [1, 8, 27, 99]), 1)
        self.assertAlmostEqual(run_correlation.spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(run_correlation.spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]), 0.8)
        self.assertTrue(math.isnan(run_correlation.spearman([1, 1, 1], [1, 2, 3])))

    def test_row(self):
        entries = [{"predicted": t / 2, "roofline": -t, "estimated": 0.0, "measured": [t, t + 1]}
                   for t in (1000.0, 2000.0, 3000.0)]
        first, second = run_correlation.rows("m", entries)
        self.assertIn("| profile | 1.000 | 1.000 | 1.000 | 0.50 | 0.0 % |", first)
        self.assertIn("| roofline, call by call | -1.000 |", second)

    def test_predictions_are_read(self):
        text = ("a.onnx: 7093.2 us predicted, 40 kernels, of which 2 (0.5 us) are estimated\n"
                "b.onnx: 12.0 us predicted, 3 kernels, of which 0 (0.0 us) are estimated\n")
        self.assertEqual(run_correlation.PREDICTION.findall(text),
                         [("7093.2", "40", "2", "0.5"), ("12.0", "3", "0", "0.0")])


class Engine(unittest.TestCase):
    def test_a_plot_has_the_same_bytes_each_time(self):
        report = {"before": {"cost": 9000.0}, "search": {"seconds": 2.0, "improvements": [
            {"seconds": 0.1, "cost": 8000.0}, {"seconds": 0.5, "cost": 7000.0}]}}
        nothing = {"before": {"cost": 9000.0}, "search": {"seconds": 1.0, "improvements": []}}
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("a.svg", "b.svg")]
            for path in paths:
                run_engine.plot(path, "resnet50", {"windows": report, "greedy": nothing})
            first, second = (p.read_text() for p in paths)
        self.assertEqual(first, second)
        self.assertIn("resnet50", first)


class Peers(unittest.TestCase):
    def test_speed_and_share(self):
        found = case(200.0, 120.0, 100.0)
        self.assertAlmostEqual(run_peers.speed(found, "regraft"), 200 / 120)
        self.assertAlmostEqual(run_peers.share(found), 0.8)
        self.assertIsNone(run_peers.share(case(200.0, 120.0)))
        self.assertIsNone(run_peers.share(case(200.0, 120.0, 210.0)))

    def test_table(self):
        family = next(iter(run_peers.build_families.BENCH_FAMILIES))
        data = {"machine": {"version": "1", "device": "d"}, "versions": {"regraft": "2"},
                "optimize": "", "cases": {family: case(200.0, 120.0, 100.0),
                                          "resnet50": case(1000.0, 900.0)}}
        text = run_peers.table(data)
        self.assertIn("| 1.67× | 1.00× | **0.50×** | failed | 2.00× | 80 % |", text)
        self.assertIn("| regraft | 2 | 1.36× | 1.11× | 0 |", text)
        self.assertIn("* resnet50, onnxoptimizer: exit 139: gone", text)

    def test_a_tool_that_fails_is_reported_and_the_others_are_timed(self):
        name = "control-relu-between"
        missing = str(pathlib.Path(tempfile.gettempdir()) / "no-such-folder" / "regraft")
        peers, run_peers.TOOLS = run_peers.TOOLS, ["regraft"]
        self.addCleanup(setattr, run_peers, "TOOLS", peers)
        args = types.SimpleNamespace(regraft=missing, optimize="", seconds=0.1)
        found = run_peers.run_case(name, args)
        self.assertTrue(found["regraft"]["error"])
        self.assertGreater(found["original"]["microseconds"], 0)


if __name__ == "__main__":
    unittest.main()
