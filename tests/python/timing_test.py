#!/usr/bin/env python3
"""The package python/regraft: how models are timed side by side."""
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path.insert(0, str(venv.ROOT / "python"))

from regraft import timing  # noqa: E402


class Order(unittest.TestCase):
    def test_every_round_runs_each_once(self):
        for n in range(12):
            self.assertEqual(sorted(timing.order(5, n)), list(range(5)))

    def test_each_is_at_each_place_equally_often_and_behind_either_neighbour(self):
        rounds = [timing.order(4, n) for n in range(8)]
        for place in range(4):
            self.assertEqual(sorted(r[place] for r in rounds), [0, 0, 1, 1, 2, 2, 3, 3])
        pairs = {(a, b) for r in rounds for a, b in zip(r, r[1:])}
        self.assertTrue({(0, 1), (1, 0), (2, 3), (3, 2)} <= pairs)

    def test_models_are_interleaved(self):
        log = []

        class Fake:
            error, samples = "", []

            def __init__(self, name):
                self.name, self.samples = name, []

            def run(self):
                log.append(self.name)
                self.samples.append(1.0 + len(log) % 3)

        timing.rounds([Fake("a"), Fake("b"), Fake("c")], 0)
        turns = [log[k:k + 3] for k in range(0, len(log), 3)]
        self.assertEqual(len(turns), timing.LEAST_ROUNDS)
        for turn in turns:
            self.assertEqual(sorted(turn), ["a", "b", "c"])
        self.assertGreater(len({tuple(turn) for turn in turns}), 3)

    def test_runs_in_which_the_clock_stood_still_are_left_out(self):
        def timed(*samples):
            return types.SimpleNamespace(error="", samples=list(samples))

        found = timing.result(timed(2.0, 9.0, 2.0), timed(1.0, 0.0, 1.0))
        self.assertEqual(found["ratio"], 2.0)
        self.assertIn("clock", timing.result(timed(1.0), timed(0.0))["error"])


if __name__ == "__main__":
    unittest.main()
