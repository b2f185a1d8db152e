#!/usr/bin/env python3
"""`regraft train` and `optimize --search policy` from outside, from scratch with small budgets.

  python train_test.py REGRAFT [TestClass[.test]]
"""
import csv
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import venv  # noqa: E402

venv.use()
import untimed  # noqa: E402, F401
sys.path.insert(0, str(venv.ROOT / "bench/models"))

import onnx  # noqa: E402

import build_models  # noqa: E402

DONE, USAGE, BAD_INPUT, INTERRUPTED = 0, 2, 3, 130
REGRAFT = ""
NUMBERS = {"ppo": "policy_loss", "planner": "policy_loss", "world-model": "m_latent"}


def table(policy):
    return list(csv.DictReader(policy.with_suffix(".csv").read_text().splitlines()))


class Train(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        self.model = self.folder / "tiny_fire.onnx"
        onnx.save(build_models.MODELS["tiny_fire"](0), self.model)

    def start(self, *arguments):
        return subprocess.Popen([REGRAFT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def regraft(self, *arguments):
        process = self.start(*arguments)
        process.stdout_text, process.stderr_text = process.communicate(timeout=300)
        return process

    def train(self, agent, out, iterations, *more):
        return self.regraft("train", "--agent", agent, "--graphs", self.folder, "-o", out,
                            "--iterations", iterations, "--episodes", 2, "--log",
                            out.with_suffix(".csv"), *more)

    def optimize(self, *more):
        out, report = self.folder / "out.onnx", self.folder / "report.json"
        run = self.regraft("optimize", self.model, "-o", out, "--cost", "roofline", "--search",
                           "policy", "--json", report, "--budget", 3000, *more)
        self.assertEqual(run.returncode, DONE, run.stderr_text)
        return run, json.loads(report.read_text())

    def test_each_agent_from_scratch(self):
        for agent, number in NUMBERS.items():
            out = self.folder / f"{agent}.policy"
            run = self.train(agent, out, 1)
            self.assertEqual(run.returncode, DONE, run.stderr_text)
            self.assertIn(number, run.stdout_text)
            rows = table(out)
            self.assertEqual([r["iteration"] for r in rows], ["1"])
            self.assertLess(float(rows[0][number]), 1e6)
            run, report = self.optimize("--policy", out, "--policy-mode", "greedy")
            self.assertNotIn("warning", run.stderr_text)
            self.assertLess(report["after"]["cost"], report["before"]["cost"])

    def test_modes(self):
        out = self.folder / "a.policy"
        self.assertEqual(self.train("ppo", out, 2, "-q").returncode, DONE)
        for mode in ("greedy", "sampled", "scheduled", "planned"):
            _, report = self.optimize("--policy", out, "--policy-mode", mode)
            self.assertLess(report["after"]["cost"], report["before"]["cost"])
            self.assertTrue(report["check"]["passed"])
            self.assertLessEqual(report["search"]["candidates"], 3000)

    def test_rewards_and_heads(self):
        for more in (["--reward", "measured"], ["--reward", "mixed"], ["--reward", "shaped"],
                     ["--reward", "best"], ["--reward", "final"], ["--heads", "factorised"]):
            out = self.folder / f"{more[1]}.policy"
            run = self.train("ppo", out, 1, *more)
            self.assertEqual(run.returncode, DONE, run.stderr_text)
            reward = float(table(out)[0]["reward"])
            self.assertLess(abs(reward), 200)
            if "measured" in more:
                self.assertNotEqual(reward, 0)
            self.optimize("--policy", out, "--policy-mode", "greedy")

    def test_it_learns_to_pass_greedy_descent(self):
        """Where greedy descent is not optimal: from where that ends to what windows find."""
        onnx.save(build_models.MODELS["tiny_mobilenet"](0), self.model)
        out = self.folder / "a.policy"
        run = self.regraft("train", "--agent", "planner", "--graphs", self.model, "-o", out,
                           "--iterations", 30, "--evaluate-every", 5, "--seed", 1, "--log",
                           out.with_suffix(".csv"))
        self.assertEqual(run.returncode, DONE, run.stderr_text)
        rows = [r for r in table(out) if r["alone_percent"]]
        self.assertEqual(rows[0]["alone_percent"], rows[0]["greedy_percent"])
        self.assertLess(float(rows[-1]["alone_percent"]), float(rows[-1]["greedy_percent"]) - 2)

    def test_a_world_model_tells_all_locations_apart(self):
        steps = {}
        for locations in (4, 200):
            out, report = self.folder / f"{locations}.policy", self.folder / "world.json"
            run = self.train("world-model", out, 1, "--locations", locations, "--json", report)
            self.assertEqual(run.returncode, DONE, run.stderr_text)
            drift = json.loads(report.read_text())["drift"]
            self.assertGreater(drift["imagined_step_us"], 0)
            self.assertGreater(drift["real_step_us"], 0)
            steps[locations] = out.stat().st_size
        self.assertGreater(steps[200], steps[4])
        run = self.train("world-model", self.folder / "4.policy", 2, "--locations", 200)
        self.assertEqual(run.returncode, BAD_INPUT)
        self.assertIn("--locations 4, not 200", run.stderr_text)

    def test_a_run_that_was_stopped_goes_on(self):
        for agent in ("ppo", "planner"):
            whole, parts = self.folder / f"{agent}-a.policy", self.folder / f"{agent}-b.policy"
            self.train(agent, whole, 3, "-q")
            self.train(agent, parts, 2, "-q", "--threads", 1)
            self.assertNotEqual(whole.read_bytes(), parts.read_bytes())
            self.train(agent, parts, 3, "-q", "--threads", 2)
            self.assertEqual(whole.read_bytes(), parts.read_bytes())
            rows = [table(whole), table(parts)]
            for a, b in zip(*rows, strict=True):
                self.assertEqual({**a, "seconds": 0}, {**b, "seconds": 0})

    def test_what_is_learned_does_not_change_on_the_way(self):
        out = self.folder / "a.policy"
        self.train("ppo", out, 1, "-q")
        before = out.read_bytes()
        for option, value, begun in (("--seed", 8, "7"), ("--reward", "best", "change"),
                                     ("--heads", "factorised", "matches")):
            run = self.train("ppo", out, 2, option, value)
            self.assertEqual(run.returncode, BAD_INPUT, run.stdout_text)
            self.assertIn(f"a.policy.state: it was begun with {option} {begun}, not {value}",
                          run.stderr_text)
        run = self.train("ppo", out, 2, "--hide-cost")
        self.assertIn("--hide-cost no, not yes", run.stderr_text)
        self.assertEqual(out.read_bytes(), before)

    def test_no_policy_is_written_that_learned_nothing(self):
        for agent in NUMBERS:
            out = self.folder / f"{agent}.policy"
            run = self.train(agent, out, 1, "--time", 0.001)
            self.assertEqual(run.returncode, BAD_INPUT, run.stdout_text)
            self.assertIn(f"{agent}.policy: not written", run.stderr_text)
            self.assertFalse(out.exists())

    def test_the_policy_by_itself_is_evaluated(self):
        other = self.folder / "validation"
        other.mkdir()
        onnx.save(build_models.MODELS["tiny_mobilenet"](0), other / "m.onnx")
        percent = {}
        for name, more in (("own", ()), ("other", ("--validation", other))):
            out = self.folder / f"{name}.policy"
            run = self.train("ppo", out, 2, "--evaluate-every", 2, *more)
            self.assertEqual(run.returncode, DONE, run.stderr_text)
            rows = table(out)
            self.assertEqual(rows[0]["alone_percent"], "")
            self.assertLessEqual(float(rows[1]["alone_percent"]), 0)
            percent[name] = float(rows[1]["greedy_percent"])
        self.assertLess(percent["own"], 0)
        self.assertNotEqual(percent["own"], percent["other"])

    def test_learning_without_the_price_of_a_rewrite(self):
        out = self.folder / "a.policy"
        run = self.train("ppo", out, 1, "--hide-cost", "-q")
        self.assertEqual(run.returncode, DONE, run.stderr_text)
        self.optimize("--policy", out, "--policy-mode", "greedy")
        run = self.train("world-model", self.folder / "b.policy", 1, "--hide-cost")
        self.assertEqual(run.returncode, BAD_INPUT)

    def test_an_interrupt_keeps_what_was_learned(self):
        out = self.folder / "a.policy"
        process = self.start("train", "--graphs", self.model, "-o", out, "--iterations", 100000,
                             "--episodes", 2, "--log", self.folder / "log.csv")
        for _ in range(600):
            if (self.folder / "log.csv").exists() and len(
                    (self.folder / "log.csv").read_text().splitlines()) > 2:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, INTERRUPTED, stderr)
        self.assertIn("goes on from", stdout)
        self.assertTrue(out.exists() and os.path.exists(f"{out}.state"))

    def test_a_policy_that_does_not_fit_is_refused(self):
        broken = self.folder / "broken.policy"
        broken.write_bytes(b"nonsense")
        for policy in (broken, self.folder / "missing.policy"):
            run = self.regraft("optimize", self.model, "-o", self.folder / "out.onnx", "--search",
                               "policy", "--policy", policy)
            self.assertEqual(run.returncode, BAD_INPUT, run.stderr_text)
            self.assertIn(str(policy), run.stderr_text)
            self.assertFalse((self.folder / "out.onnx").exists())

    def test_the_shipped_policy_fits(self):
        run, report = self.optimize()
        self.assertEqual(run.stderr_text.count("warning"), 0, run.stderr_text)
        self.assertLess(report["after"]["cost"], report["before"]["cost"])

    def test_a_report_that_cannot_be_written_leaves_no_policy(self):
        for agent in NUMBERS:
            out = self.folder / f"{agent}.policy"
            run = self.train(agent, out, 1, "-q", "--json", "/dev/full")
            self.assertEqual(run.returncode, BAD_INPUT)
            self.assertIn("/dev/full", run.stderr_text)
            self.assertFalse(out.exists())

    def test_what_was_learned_outlives_its_state_and_its_log(self):
        whole = self.folder / "whole.policy"
        self.train("ppo", whole, 1, "-q")
        size, more = whole.stat().st_size, os.stat(f"{whole}.state").st_size
        self.assertGreater(more, size + 1000)
        for limit, log, place in ((size + 1000, "log", ".policy.state"), (2 * more, "/dev/full", "/dev/full")):
            out = self.folder / f"{limit}.policy"
            run = subprocess.run([REGRAFT, "train", "--graphs", self.model, "-o", out, "--iterations", "1",
                                  "--episodes", "2", "-q", "--log", self.folder / log],
                                 capture_output=True, text=True, timeout=300, preexec_fn=lambda:
                                 resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
            self.assertIn(place, run.stderr)
            self.assertEqual(out.read_bytes(), whole.read_bytes())

    def test_a_policy_on_standard_output_has_no_state(self):
        run = subprocess.run([os.path.abspath(REGRAFT), "train", "--graphs", self.model, "--iterations",
                              "1", "--episodes", "1", "-q", "-o", "-"], cwd=self.folder,
                             capture_output=True, timeout=300)
        self.assertEqual(run.returncode, DONE, run.stderr)
        self.assertGreater(len(run.stdout), 1000)
        self.assertEqual(os.listdir(self.folder), [self.model.name])

    def test_options_without_effect_are_refused(self):
        out = self.folder / "a.policy"
        for agent, more, code in (("ppo", ["--sweep", 0.5], USAGE), ("planner", ["--locations", 9], USAGE),
                                  ("ppo", ["--sweep-seeds", 2], USAGE), ("ppo", ["--state", "-"], USAGE),
                                  ("world-model", ["--sweep", 0.5], USAGE),
                                  ("world-model", ["--heads", "factorised"], BAD_INPUT),
                                  ("planner", ["--reward", "best"], BAD_INPUT)):
            run = self.train(agent, out, 1, *more)
            self.assertEqual(run.returncode, code, f"{agent} {more}\n{run.stderr_text}")
            self.assertIn(more[0], run.stderr_text)
            self.assertEqual(len(run.stderr_text.splitlines()), 1)
            self.assertFalse(out.exists())

    def test_bad_input(self):
        out = self.folder / "a.policy"
        (self.folder / "empty").mkdir()
        for graphs in ("empty", "missing.onnx"):
            run = self.regraft("train", "--graphs", self.folder / graphs, "-o", out)
            self.assertEqual(run.returncode, BAD_INPUT)
            self.assertIn(graphs, run.stderr_text)
        (self.folder / "a.policy.state").write_bytes(b"nonsense")
        run = self.regraft("train", "--graphs", self.model, "-o", out, "--iterations", 1)
        self.assertEqual(run.returncode, BAD_INPUT)
        self.assertIn("a.policy.state", run.stderr_text)
        self.assertFalse(out.exists())
        self.train("ppo", self.folder / "b.policy", 1, "-q")
        onnx.save(build_models.MODELS["tiny_vit"](0), self.model)
        run = self.train("ppo", self.folder / "b.policy", 2)
        self.assertEqual(run.returncode, BAD_INPUT)
        self.assertIn("b.policy.state: it is of other models", run.stderr_text)
        run = self.regraft("train", "--graphs", self.model, "-o", out, "--agent", "none")
        self.assertEqual(run.returncode, USAGE)


if __name__ == "__main__":
    REGRAFT = sys.argv.pop(1)
    unittest.main()
