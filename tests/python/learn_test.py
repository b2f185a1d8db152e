#!/usr/bin/env python3
"""The tables and verdicts of bench/learn/run_learn.py, from made-up runs.

  python learn_test.py [TestClass[.test]]
"""
import json
import math
import pathlib
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
ROOT = venv.ROOT
sys.path.insert(0, str(ROOT / "bench/learn"))

import learn_agents  # noqa: E402
import learn_logs  # noqa: E402
import learn_report  # noqa: E402
import learn_runs  # noqa: E402
import run_learn  # noqa: E402


def run(method, after, training="-", **more):
    return {"key": "d|s|m|-|7|0 candidates, 0 expanded, 1 s", "method": method,
            "training": training, "before": 1000.0, "after": after, "stop": "exhausted",
            "applied": {}, "curve": [], **more}


def report():
    interval = lambda x: [x, x - 0.1, x + 0.1]
    base = run("backtracking-1.05", 800.0, expanded=50000, candidates=2500000, seconds=12.0,
               curve=[[100, 0.1, 900.0], [4000, 0.5, 800.0]])
    runs = [run("backtracking-1.05", 800.0), run("a/greedy", 808.0, "x"),
            run("a/greedy", 812.0, "y"), run("a/greedy", 820.0, "y"),
            run("a/planned", 790.0, "x"),
            run("a/planned", 700.0, "x", key="d|s|m|-|7|9 candidates, 0 expanded, 5 s")]
    compare = lambda m, o, at, d: {"method": m, "other": o, "limit": at,
                                   "probability": interval(0.5), "difference": interval(d)}
    return {
        "methods": [{"name": "backtracking-1.05", "kind": "classical"},
                    {"name": "untrained/planned", "kind": "control"},
                    {"name": "a/greedy", "kind": "learned"},
                    {"name": "a/planned", "kind": "learned"}],
        "graphs": [{"name": "m", "before": 1000.0, "reference": 790.0, "runs": runs,
                    "baseline": base}],
        "scores": [{"method": m, "limit": "1 s", "candidates": 0, "seconds": 1,
                    "iqm": interval(x)} for m, x in (("a/greedy", 0.9), ("a/planned", 1.0))],
        "comparisons": [compare("a/planned", "untrained/planned", "1 s", 0.15),
                        compare("a/planned", "untrained/planned", "10 s", 0.05),
                        compare("a/planned", "windows", "1 s", -0.2)],
        "reaching": [{"graph": "m", "method": "a/greedy", "runs": 3, "reached": 0},
                     {"graph": "m", "method": "a/planned", "runs": 1, "reached": 1,
                      "candidates": 2000, "seconds": 0.25}],
        "ratios": [{"method": "a/greedy", "graphs": 1, "reached": 0, "candidates": None,
                    "candidates_found": None, "seconds": None, "seconds_found": None},
                   {"method": "a/planned", "graphs": 1, "reached": 1, "candidates": [1250, 2, 3],
                    "candidates_found": [2, 2, 2], "seconds": [48, 4, 4],
                    "seconds_found": [2, 2, 2]}],
        "sooner": [{"method": "a/planned", "other": other, "candidates": [3, low, 9],
                    "seconds": [2, 0.5, 4]} for other, low in (("untrained/planned", 1.5),
                                                               ("windows", 0.5))],
        "cap": 30, "expansions": 50000, "expanding": 120}


class Logs(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ppo-m-0.csv")
            path.write_text(text)
            self.assertEqual(learn_logs.logs_of(folder, "ppo", "m"),
                             [learn_logs.read_log(path)])
            return learn_logs.read_log(path)

    def test_columns_are_read_by_name(self):
        log = self.read("iteration,seconds,reward\n1,0.5,2\n2,1.0,3\n")
        self.assertEqual(learn_logs.column([log], "dream_reward", "reward"), [[2.0, 3.0]])
        self.assertEqual(learn_logs.column([log], "model_loss"), [])

    def test_a_line_that_was_cut_off_is_left_out(self):
        self.assertEqual(self.read("iteration,reward\n1,2\n2")["iteration"], [1.0])

    def test_an_empty_log_has_no_columns(self):
        self.assertEqual(self.read(""), {})

    def test_what_learning_took(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed, seconds in ((0, 3), (1, 5)):
                pathlib.Path(folder, f"world-model-m-{seed}.csv").write_text(
                    "iteration,seconds,real_steps,dream_steps\n1,1,10,20\n"
                    f"2,{seconds},1500,30\n")
            self.assertIn("| world-model, m | 2 | 2 | 4 | 1.5 k | 30 |  |",
                          learn_agents.training_table(folder, ["ppo", "world-model"]))

    def test_scaled_together(self):
        self.assertEqual(learn_logs.normalised([[0, 5], [10, 2.5]]), [[0, 0.5], [1, 0.25]])
        self.assertEqual(learn_logs.normalised([[3, 3]]), [[0, 0]])

    def test_spread_is_of_what_all_have(self):
        self.assertEqual(learn_logs.spread([[1, 2, 3], [3, 6]]), ([2, 4], [1, 2]))


class Tables(unittest.TestCase):
    def test_the_best_score_is_bold(self):
        text = "\n".join(learn_report.score_table(report()))
        self.assertIn("| a/planned | **1.000 [0.900, 1.100]** |", text)
        self.assertIn("| a/greedy | 0.900 [0.800, 1.000] |", text)

    def test_mean_scores_are_read_off_the_runs(self):
        r = report()
        curve = [[10, 0.5, 895.0], [90, 2.0, 790.0]]
        r["graphs"][0]["runs"] = [run("m", 790.0, curve=curve, seed=1),
                                  run("m", 1000.0, curve=[], seed=2)]
        self.assertEqual(learn_runs.mean_scores(r, "m", "candidates", [9, 10, 90]),
                         [0, 0.25, 0.5])
        self.assertEqual(learn_runs.mean_scores(r, "m", "seconds", [0.4, 1, 2]), [0, 0.25, 0.5])
        longer = run("m", 790.0, curve=curve, seed=2,
                     key="d|s|m|-|7|9 candidates, 0 expanded, 5 s")
        r["graphs"][0]["runs"].append(longer)
        self.assertEqual(learn_runs.mean_scores(r, "m", "candidates", [90]), [1])
        self.assertEqual(learn_runs.mean_scores(r, "m", "seconds", [2]), [0.5])

    def test_comparisons_have_a_column_for_each_limit(self):
        r = report()
        r["comparisons"] = [c for c in r["comparisons"] if c["limit"] == "1 s"]
        lines = learn_report.comparison_table(r)
        self.assertIn("| a/planned beside windows | 0.50 [0.40, 0.60]; -0.200 [-0.300, -0.100] |",
                      lines)
        self.assertEqual(len(lines), 2 + 2 + 1)

    def test_target(self):
        self.assertIn("| m | 1 | 0.8 | 50.0 k | 2.50 M | 12.00 s | 4.0 k | 0.5 s |",
                      learn_report.target_table(report()))

    def test_reaching(self):
        lines = learn_report.reaching_table(report())
        self.assertIn("| a/greedy | no (0 of 3 runs) |", lines)
        self.assertIn("| a/planned | 2.0 k, 0.25 s |", lines)

    def test_sooner(self):
        self.assertIn("| a/planned beside windows | 3.00 [0.50, 9.00] | 2.00 [0.50, 4.00] |",
                      learn_report.sooner_table(report()))

    def test_ends_are_medians_of_trainings(self):
        self.assertEqual(learn_runs.ends(report(), "a/greedy"), [808.0, 816.0])
        self.assertIn("| m | 1 |  | 0.8 |  |  |  |  | 0.812 ± 0.004 | 0.79 |",
                      learn_agents.single_table({"m": report()}))


class Verdicts(unittest.TestCase):
    def test_only_differences_that_are_sure_count(self):
        first, second = learn_report.control_verdicts(report())
        self.assertIn("`untrained/planned`: better at 1 s; median difference +0.1000.", first)
        self.assertNotIn("10 s", first)
        self.assertIn("`windows`: nowhere better; worse at 1 s; median", second)

    def test_reached_or_not_and_by_how_much(self):
        missed, reached, sure, unsure = learn_report.reaching_verdicts(report())
        self.assertEqual(sure, "* `a/planned` is sooner there than `untrained/planned`: 3.00 times "
                         "fewer candidates, 2.00 times less time.")
        self.assertIn("is not surely sooner or later there than `windows`", unsure)
        self.assertIn("on 0 of 1 models.", missed)
        self.assertIn("on 1 of 1 models; there with 1,250 times fewer", reached)
        self.assertEqual(learn_report.gaps(report()), ["* Not reached on m: `a/greedy` by 1.50 %."])

    def hard(self):
        """Where greedy descent ends at the least cost there is nothing to compare."""
        r = report()
        r["methods"].append({"name": "a/scheduled", "kind": "learned"})
        r["comparisons"].append({**r["comparisons"][0], "method": "a/scheduled",
                                 "other": "windows"})
        there = lambda m, n, t, s: run(m, 790.0, t, seed=s, candidates=9000,
                                       curve=[[n // 2, 0.1, 850.0], [n, 0.2, 790.5]])
        r["graphs"][0]["runs"] += [
            run("greedy", 900.0), there("a/scheduled", 100, "x", 1),
            there("a/scheduled", 400, "y", 1), there("windows", 800, "-", 1),
            run("windows", 850.0, seed=2, candidates=3200, curve=[[5, 0.1, 850.0]])]
        easy = {**r["graphs"][0], "name": "easy", "runs": [run("greedy", 790.0)]}
        r["graphs"] += [{**r["graphs"][0], "name": "n"}, {**r["graphs"][0], "name": "o"}, easy]
        return r

    def test_where_there_is_something_to_be_found(self):
        r = self.hard()
        self.assertEqual([g["name"] for g in learn_runs.not_easy(r, 1e-3)],
                         ["m", "n", "o"])
        times, low, high = learn_runs.times_fewer(r, "a/scheduled", "windows", 1e-3)
        self.assertAlmostEqual(times, math.sqrt(800 * 3200) / math.sqrt(100 * 400))
        self.assertLess(low, times)
        self.assertLess(times, high)
        self.assertGreater(low, 1)
        ratios = learn_report.hard_ratios(r)
        lines = learn_report.hard_lines(r, ratios)
        self.assertIn("| windows | 1.6 k, 50 % | 1.6 k, 50 % | 1.6 k, 50 % |", lines)
        self.assertIn("| a/scheduled | 200, 100 % | 200, 100 % | 200, 100 % |", lines)
        verdict = learn_report.hard_verdicts(ratios)[0]
        self.assertIn("`a/scheduled` is sooner near the least", verdict)
        r["graphs"].pop(0)
        self.assertEqual(learn_report.hard_ratios(r), [])  # too few
        self.assertEqual(learn_report.hard_lines(r, []), [])

    def test_targets_that_greedy_descent_reaches_are_named(self):
        r = report()
        self.assertEqual(learn_report.easy_targets(r), [])
        r["graphs"][0]["runs"].append(run("greedy", 800.0))
        self.assertIn("on 1 of 1 models (m)", learn_report.easy_targets(r)[0])

    def test_agents_beside_backtracking(self):
        r = report()
        r["methods"] += [{"name": "a/alone", "kind": "learned"},
                         {"name": "untrained/alone", "kind": "control"}]
        r["graphs"][0]["runs"] += [run("a/alone", 812.0), run("untrained/alone", 800.0)]
        self.assertEqual(learn_agents.single_verdicts({"m": r}),
                         ["* m, beside where the best searcher ends: `untrained/alone` there, "
                          "`a/alone` 1.50 % above."])

    def test_sweep(self):
        rows = [{"tau": t, "imagined_mean": -t, "imagined_std": 0.5, "real_mean": -3.0,
                 "real_std": 1.0} for t in (0.5, 1.0)]
        lines = learn_agents.sweep_lines(rows)
        self.assertIn("| 0.5 | -0.50 ± 0.50 | -3.00 ± 1.00 |", lines)
        self.assertIn("Imagined and real differ by 2.00 to 2.50 points.", lines)

    def test_dreams(self):
        depths = [{"depth": k, "mask_f1": 1 / k, "reward_error": 0.1 * k} for k in (1, 5, 15)]
        with tempfile.TemporaryDirectory() as folder:
            write = lambda name, text: pathlib.Path(folder, name).write_text(text)
            for seed, imagined in ((0, 9.0), (1, 12.0)):
                write(f"world-model-m-{seed}.json", json.dumps({"drift": {
                    "imagined_mean": imagined, "real_mean": 10.0, "depths": depths}}))
            write("world-model-m-0.csv", "best,real_steps\n9,100\n10,200\n10,300\n")
            write("ppo-m-0.csv", "real_steps\n400\n900\n")
            lines = learn_agents.dream_lines(folder, ["m", "other"])
            self.assertIn("| m | 10.50 | 10.00 | +0.50 | 2.00 | 1.00 | 0.20 | 0.07 | 0.10 | 0.50 "
                          "| 1.50 |", lines)
            self.assertIn("| m | 900 | 200 | 900 | 300 | 4.5 | 3.0 |", lines)
            self.assertEqual(learn_agents.dream_lines(folder, ["other"]), [])

    def test_in_short(self):
        r = report()
        r["methods"] += [{"name": "a/alone", "kind": "learned"},
                         {"name": "a/scheduled", "kind": "learned"}]
        r["graphs"][0]["runs"] += [run("a/alone", 812.0, "x"), run("a/alone", 804.0, "y")]
        r["ratios"][1]["method"] = r["sooner"][0]["method"] = "a/scheduled"
        speed = {"benchmarks": [
            {"name": "follow/resnet50", "steps": 12345.6, "cpu_time": 1, "time_unit": "us"},
            {"name": "decide/resnet50", "cpu_time": 13500, "time_unit": "us"}]}
        with tempfile.TemporaryDirectory() as folder:
            for seed, real in ((0, 10.0), (1, 9.0)):
                pathlib.Path(folder, f"world-model-m-{seed}.json").write_text(json.dumps(
                    {"drift": {"imagined_mean": 12.5, "real_mean": real, "depths": []}}))
            lines = learn_report.summary_lines(
                {"held-out": r, "speed": speed}, {"m": r}, folder, {"held-out": []})
        text = "\n".join(lines)
        self.assertIn("`a/alone`, on 1 models: at most 1.00 % above where the best searcher ends "
                      "in the mean over trainings, 1.50 % in the worst.", text)
        self.assertIn("3.0 to 3.0 by model in the mean over trainings; 2 of 2 trainings", text)
        self.assertIn("Models not seen: `a/scheduled` is as good as the long run on 1 of 1", text)
        self.assertIn("Models not seen: `a/scheduled` is sooner there than `untrained", text)
        self.assertNotIn("`a/planned` is", text)
        self.assertIn("12,346 greedy steps a second", text)
        self.assertIn("13.5 ms for a planned decision", text)
        self.assertEqual(learn_report.summary_lines({}, {}, "nowhere", {}), [])

    def test_speed(self):
        rows = [{"name": "follow/m", "run_type": "iteration", "time_unit": "us", "cpu_time": 2500,
                 "steps": 10234.4},
                {"name": "judge/m", "run_type": "iteration", "time_unit": "us", "cpu_time": 560},
                {"name": "judge/m_mean", "run_type": "aggregate", "aggregate_name": "mean",
                 "time_unit": "us", "cpu_time": 561}]
        lines = learn_report.speed_lines({"benchmarks": rows})
        self.assertIn("| follow/m | 2.5 ms | 10,234 |", lines)
        self.assertIn("| judge/m | 0.56 ms |  |", lines)
        self.assertFalse([line for line in lines if "mean" in line])

    def test_what_is_lacking_is_said(self):
        lines = learn_report.missing_lines({"families": report()}, {"agents": ["a", "b"]})
        self.assertEqual(lines, ["* There is no policy of the agent `b`.",
                                 "* There is no sweep of temperatures."])


class Protocol(unittest.TestCase):
    def bench(self, folder, **more):
        return run_learn.Bench(types.SimpleNamespace(
            **{"quick": False, "set": [], "jobs": 1, "agents": run_learn.AGENTS,
               "general": "planner", "build": pathlib.Path("build"),
               "work": pathlib.Path(folder), **more}))

    def test_every_fifth_rule_is_left_out(self):
        text = "#head\n" + "".join(f"r{k}\n" for k in range(1, 12)) + "\n"
        self.assertEqual(run_learn.split_rules(text).split(),
                         ["#head", "r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9", "r11"])

    def test_families_are_not_those_of_the_training(self):
        p = run_learn.FULL
        self.assertFalse({*p.families} & {*p.training})
        self.assertFalse({*p.sizes} & {*p.training})

    def test_another_protocol(self):
        p = run_learn.FULL.changed(["cap=5", 'minutes={"ppo": 1}'])
        self.assertEqual((p.cap, p.minutes["ppo"]), (5, 1))
        self.assertEqual(p.minutes["planner"], run_learn.FULL.minutes["planner"])
        self.assertEqual(run_learn.FULL.cap, 3)
        with self.assertRaises(SystemExit):
            run_learn.FULL.changed(["cup=5"])

    def test_a_model_of_its_own_is_compared_with_the_baselines_only(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = self.bench(folder)
            bench.policy("ppo", "resnet18", 0).write_text("")
            found = {e[0]: e for e in bench.evaluations()}
            those = ("--methods", *learn_runs.BASELINES, "/alone", "/greedy")
            self.assertEqual(found["single-resnet18"][3], (*those, "ppo/sampled"))
            self.assertEqual(found["single-bert_base"][3], those)

    def test_all_that_was_not_seen_is_judged_together(self):
        graph = lambda name, after: {"name": name, "before": 1000.0,
                                     "runs": [run("windows", after, curve=[[1, 0.1, after]])]}
        part = lambda *graphs: {"methods": [{"name": "windows", "kind": "classical"}],
                                "graphs": list(graphs), "budgets": [], "seconds": [1]}
        found = run_learn.with_scores({"families": part(graph("a", 800.0), graph("b", 900.0)),
                                       "sizes": part(graph("c", 700.0)),
                                       "single-a": part(graph("a", 500.0)), "speed": {}})
        self.assertEqual([(g["name"], g["reference"]) for g in found["held-out"]["graphs"]],
                         [("a", 500.0), ("b", 900.0), ("c", 700.0)])
        self.assertEqual(found["sizes"]["scores"][0]["iqm"], [1, 1, 1])
        self.assertEqual(found["speed"], {})

    def test_when_one_fails_the_rest_does_not_begin(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = self.bench(folder)
            began = []
            with self.assertRaises(run_learn.Failed):
                bench.run_all([lambda: began.append(1), lambda: bench.run(["false"]),
                               *[lambda: began.append(2) or time.sleep(0.2)] * 5])
            self.assertIn(1, began)
            self.assertLess(len(began), 6)

    def test_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [job.name for job in self.bench(folder).jobs()]
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(len(names), 2 * 5 * 5 + 5 + 5 + 1)
            few = self.bench(folder, agents=["ppo"], general="ppo", quick=True,
                             set=["part_seeds=1"]).jobs()
            self.assertEqual([job.name for job in few],
                             ["ppo-training-0", "ppo-training-1", "ppo-four-fifths-0",
                              *(f"ppo-{on}-{seed}" for on in ("squeezenet1_1", "tiny_vit")
                                for seed in (0, 1))])
            self.assertNotIn("--threads", few[0].command)
            bert = [j.command for j in self.bench(folder).jobs() if j.name == "ppo-bert_base-0"][0]
            self.assertEqual(bert[bert.index("--time") + 1], 300)
            beside = self.bench(folder, jobs=2).jobs()[0].command
            self.assertEqual(beside[beside.index("--threads") + 1], 1)

    def test_policies_that_are_there_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = self.bench(folder)
            bench.policy("planner", "training", 3).write_text("")
            command = [str(c) for c in bench.bench_command(*next(bench.evaluations()))]
            at = command.index("--policy") + 1
            self.assertEqual(command[at:at + 2],
                             [f"planner={folder}/policies/planner-training-3.policy", "--methods"])


if __name__ == "__main__":
    unittest.main()
