#!/usr/bin/env python3
"""`regraft bench learn` from outside: what learn_scores.py says of its runs is computed again.

  python learn_test.py REGRAFT [TestClass[.test]]
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/learn"), str(venv.ROOT / "bench/models")]

import onnx  # noqa: E402

import build_models  # noqa: E402
import learn_scores  # noqa: E402

DONE, USAGE, BAD_INPUT = 0, 2, 3
REGRAFT = ""
METHODS = ["greedy", "windows", "backtracking-1.05", "untrained/scheduled", "ours/greedy",
           "ours/scheduled"]


def cost_at(run, budget):
    return min([run["before"], *(c for n, _, c in run["curve"] if n <= budget)])


class Learn(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        for name in ("tiny_vit", "tiny_fire"):
            onnx.save(build_models.MODELS[name](0), self.folder / f"{name}.onnx")
        self.kept = self.folder / "runs.jsonl"

    def regraft(self, *arguments):
        return subprocess.run([REGRAFT, *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)

    def policies(self):
        files = []
        for seed in (0, 1):
            files.append(self.folder / f"{seed}.policy")
            run = self.regraft("train", "--graphs", self.folder / "tiny_fire.onnx", "-o", files[-1],
                               "--iterations", 1, "--episodes", 4, "--seed", seed, "-q")
            self.assertEqual(run.returncode, DONE, run.stderr)
        return [f"ours={f}" for f in files]

    def bench(self, *more):
        return self.regraft("bench", "learn", "--graphs", self.folder, "--budgets", 30, 2000,
                            "--seconds", 0.2, "--cap", 1, "--search-seeds", 2, "--expansions", 60,
                            "--kept", self.kept, "--json", self.folder / "report.json", *more)

    def report(self, *more):
        run = self.bench(*more)
        self.assertEqual(run.returncode, DONE, run.stderr)
        return json.loads((self.folder / "report.json").read_text()), run

    def test_scores_follow_from_the_runs(self):
        report, run = self.report("--policy", *self.policies(), "--methods", *METHODS)
        self.medians(report, run.stdout)
        report = learn_scores.scored(report)
        self.assertEqual([m["name"] for m in report["methods"]], METHODS)
        trainings = {m["name"]: m["trainings"] for m in report["methods"]}
        self.assertEqual(trainings["ours/greedy"], 2)
        self.assertEqual(trainings["untrained/scheduled"], 5)
        for g in report["graphs"]:
            least = min(r["after"] for r in [*g["runs"], g["baseline"]])
            self.assertAlmostEqual(g["reference"], least)
            self.assertLess(least, g["before"])
        checked = 0
        for s in report["scores"]:
            if not s["candidates"]:
                continue
            expected = []
            for g in report["graphs"]:
                best = {}  # of two runs the later one is by candidates
                for r in g["runs"]:
                    if r["method"] == s["method"]:
                        best[r["training"], r["seed"]] = r
                expected += [(g["before"] - cost_at(r, s["candidates"])) /
                             (g["before"] - g["reference"]) for r in best.values()]
            expected.sort()
            quarter = len(expected) // 4
            middle = expected[quarter:len(expected) - quarter]
            self.assertAlmostEqual(s["iqm"][0], statistics.mean(middle), places=5,
                                   msg=s["method"])
            self.assertLessEqual(s["iqm"][1], s["iqm"][0] + 1e-9)
            self.assertLessEqual(s["iqm"][0], s["iqm"][2] + 1e-9)
            checked += 1
        self.assertEqual(checked, 2 * len(METHODS))
        pairs = {(c["method"], c["other"]) for c in report["comparisons"]}
        self.assertEqual(pairs, {("ours/greedy", "windows"), ("ours/scheduled", "windows"),
                                 ("ours/scheduled", "untrained/scheduled")})
        self.reached(report)

    def medians(self, report, printed):
        _, _, before, *rows = printed.splitlines()
        self.assertEqual(before.split(), ["before", *(f"{g['before']:.2f}" for g in report["graphs"])])
        self.assertEqual([row.split()[0] for row in rows if row], METHODS)
        for row in rows:
            for g, cost in zip(report["graphs"], row.split()[1:]):
                middle = statistics.median(r["after"] for r in g["runs"]
                                           if r["method"] == row.split()[0])
                self.assertAlmostEqual(float(cost), middle, delta=0.006)

    def reached(self, report):
        graphs = {g["name"]: g for g in report["graphs"]}
        own = [r for r in report["reaching"] if r["method"] == "windows"]
        self.assertEqual(len(own), 2)
        for r in own:
            g = graphs[r["graph"]]
            self.assertLessEqual(g["baseline"]["expanded"], 60)
            runs = {x["seed"]: x for x in g["runs"] if x["method"] == "windows"}.values()
            goal = g["baseline"]["after"] * (1 + 1e-9)
            hits = [x for x in runs if x["after"] <= goal]
            self.assertEqual((r["reached"], r["runs"]), (len(hits), len(runs)))
            if "candidates" in r:
                first = sorted(next(n for n, _, c in x["curve"] if c <= goal) for x in hits)
                self.assertIn(r["candidates"], first)

        self.sooner(report, graphs)

    def sooner(self, report, graphs):
        """Geometric mean over graphs, trainings and seeds; what is never reached ends at the end."""
        def log(g, method):
            runs = {(r["training"], r["seed"]): r for r in g["runs"] if r["method"] == method}
            goal = g["baseline"]["after"] * (1 + 1e-9)
            needed = [next((n for n, _, c in r["curve"] if c <= goal), r["candidates"])
                      for r in runs.values()]
            return statistics.mean(math.log(max(1, n)) for n in needed)

        pairs = {(s["method"], s["other"]): s["candidates"] for s in report["sooner"]}
        self.assertEqual(set(pairs), {(c["method"], c["other"]) for c in report["comparisons"]})
        for (method, other), (value, low, high) in pairs.items():
            less = [log(g, other) - log(g, method) for g in graphs.values()
                    if g["baseline"]["curve"]]
            self.assertAlmostEqual(value, math.exp(statistics.mean(less)), places=5)
            self.assertLessEqual(low, value * (1 + 1e-9))
            self.assertLessEqual(value, high * (1 + 1e-9))

    def test_what_is_kept_is_not_done_again(self):
        first, one = self.report("--methods", "greedy", "windows")
        lines = self.kept.read_text()
        self.assertEqual(len(one.stderr.splitlines()) + 1, len(lines.splitlines()))
        second, two = self.report("--methods", "greedy", "windows")
        self.assertEqual(two.stderr, "")
        self.assertEqual(first, second)
        # Older files have no first line that says what they are.
        self.kept.write_text(lines.partition("\n")[2])
        self.assertEqual(self.report("--methods", "greedy", "windows")[1].stderr, "")
        self.assertEqual(self.kept.read_text(), lines)
        # A run that was cut off is done again; others are added.
        self.kept.write_text(lines[:-40])
        _, three = self.report("--methods", "greedy", "windows", "beam")
        self.assertEqual(len(three.stderr.splitlines()), 3)

    def test_refuses_what_it_cannot_read(self):
        for place, more in (("no method 'wrong'", ("--methods", "wrong")),
                            ("not NAME=FILE", ("--policy", "here")),
                            ("missing", ("--policy", "a=" + str(self.folder / "missing")))):
            run = self.bench(*more)
            self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
            self.assertIn(place, run.stderr)
        self.kept.write_text("{}\n")
        self.assertIn("runs.jsonl:1: not a run", self.bench("--methods", "greedy").stderr)
        for other in ('{"precious": 1}', "precious", "[1]\n"):  # whole, or a line that is not
            self.kept.write_text(other)
            self.assertIn("runs.jsonl:1: not a run", self.bench("--methods", "greedy").stderr)
            self.assertEqual(self.kept.read_text(), other)
        self.assertEqual(self.bench("--budgets", "-1").returncode, USAGE)


if __name__ == "__main__":
    REGRAFT = sys.argv.pop(1)
    unittest.main()
