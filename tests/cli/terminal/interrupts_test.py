#!/usr/bin/env python3
"""Every command can be interrupted at any moment: it ends soon, with whole files or none.

  python interrupts_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import common
from common import command_line, model_of, node
from command_line import DONE, FAILED, INTERRUPTED, regraft

import numpy as np
import onnx
from onnx import numpy_helper

SOON = 2.0  # seconds, on a machine that has nothing else to do
DELAYS = (0.0, 0.1, 0.4, 1.2)
CORE = str(common.RULES / "core.rules")


def soon():
    """More on a machine that has."""
    return SOON * max(1.0, os.getloadavg()[0] / os.cpu_count())


def starts(pid):
    """Has the program begun, in place of the process that was to start it?"""
    try:
        return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(command_line.program())
    except OSError:
        return False


class Interrupts(common.Terminal):
    def run_until(self, delay, arguments, **environment):
        """Exit code, how long it went on after SIGINT, what it said."""
        run = subprocess.Popen([command_line.program(), *map(str, arguments)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**os.environ, **environment})
        while run.poll() is None and not starts(run.pid):
            time.sleep(0.001)
        time.sleep(delay)
        over = run.poll() is not None
        run.send_signal(signal.SIGINT)
        begun = time.monotonic()
        said = b"".join(run.communicate(timeout=120)).decode()
        return run.returncode, 0 if over else time.monotonic() - begun, said

    def assert_whole(self, folder):
        """No temporary file, and what is there can be read."""
        for path in pathlib.Path(folder).rglob("*"):
            if path.is_dir():
                continue
            self.assertFalse(path.name.startswith("."), path)
            self.assertFalse(path.name.endswith(".tmp"), path)
            if path.suffix == ".onnx":
                onnx.checker.check_model(onnx.load(path))
            if path.suffix == ".json":
                json.loads(path.read_text())

    def assert_stops(self, *arguments, delays=DELAYS, **environment):
        """{out} stands for a new folder."""
        interrupted = 0
        for delay in delays:
            with self.subTest(arguments=arguments, delay=delay):
                folder = pathlib.Path(self.out_folder) / "new"
                folder.mkdir()
                given = [str(a).replace("{out}", str(folder)) for a in arguments]
                code, seconds, said = self.run_until(delay, given, **environment)
                # Before anything can be lost, or where all is read only, the signal ends it itself.
                self.assertIn(code, (DONE, INTERRUPTED, FAILED, -signal.SIGINT), said)
                self.assertLess(seconds, soon(), f"{said}\nexit code {code}")
                self.assertNotIn("internal error", said)
                self.assert_whole(folder)
                interrupted += code in (INTERRUPTED, -signal.SIGINT)
                shutil.rmtree(folder)
        self.assertGreater(interrupted, 0, f"{arguments} ended by itself")

    def slow(self, nodes=60, size=512):
        """A model whose evaluation takes seconds."""
        weights = numpy_helper.from_array(
            np.random.default_rng(0).standard_normal((size, size)).astype(np.float32) / 30, "w")
        chain = [node("MatMul", [f"v{k}", "w"], [f"m{k}"]) for k in range(nodes)]
        chain += [node("Relu", [f"m{k}"], [f"v{k + 1}"]) for k in range(nodes)]
        chain.sort(key=lambda n: int(re.sub(r"\D", "", n.output[0])) * 2 - (n.op_type == "MatMul")
                   + 2 * (n.op_type == "MatMul"))
        return self.saved(model_of(chain, {"v0": [size, size]}, {f"v{nodes}": [size, size]},
                                   [weights]), "slow.onnx")

    def test_generate(self):
        self.assert_stops("generate", "--ops", "core", "--max-size", "3", "-o", "{out}/c.rules",
                          "--checkpoint", "{out}/run.checkpoint")

    def test_verify(self):
        self.assert_stops("verify", CORE, "-o", "{out}/proved.rules", "--json", "{out}/r.json",
                          "--cache", "{out}/cache")

    def test_rules_derive(self):
        self.assert_stops("rules", "derive", common.RULES / "extended.rules", "--from", CORE)

    def test_rules_atlas(self):
        self.assert_stops("rules", "atlas", "-o", "{out}/site")

    def test_rules_show(self):
        self.assert_stops("rules", "show", CORE, delays=(0, 0.01, 0.02, 0.05))

    def test_optimize(self):
        model = self.tiny("tiny_vit")
        for search in ("windows", "annealing", "saturation", "mcts", "exhaustive", "portfolio"):
            self.assert_stops("optimize", model, "{out}/o.onnx", "--no-measure", "--search", search,
                              "--budget", "1000000000", "--growth", "4", "--cost", "roofline",
                              "--json", "{out}/r.json", "--certificate", "{out}/c.json",
                              "--explain", delays=(0.1, 1.0))

    def test_optimize_while_it_checks(self):
        self.assert_stops("optimize", self.slow(6), "{out}/o.onnx", "--no-measure", "--budget", "10",
                          "--check", "1000000", "--cost", "roofline")

    def test_simplify(self):
        self.assert_stops("simplify", self.slow(6), "{out}/o.onnx", "--check", "1000000")

    def test_check(self):
        slow = self.slow()
        self.assert_stops("check", slow, slow, "--runs", "1000000", "--json", "{out}/r.json")

    def test_check_of_a_certificate(self):
        model = self.tiny("tiny_vit")
        certificate = os.path.join(self.folder, "c.json")
        run = regraft("optimize", model, self.out, "--no-measure", "--certificate", certificate,
                      "--budget", "20000", "--cost", "roofline")
        self.assert_exit(run, DONE)
        self.assert_stops("check", model, self.out, "--certificate", certificate, "--prove",
                          delays=(0.0, 0.05, 0.3))

    def test_validate(self):
        model = self.tiny("tiny_vit")
        run = regraft("optimize", model, self.out, "--no-measure", "--budget", "20000", "--cost",
                      "roofline", "--numerics", "real")
        self.assert_exit(run, DONE)
        self.assert_stops("validate", model, self.out, "--json", "{out}/r.json", "--certificate",
                          "{out}/c.json", "--memory", "4")

    def test_train(self):
        for agent in ("ppo", "planner"):  # the world model ends after its iteration
            self.assert_stops("train", "--graphs", self.tiny("tiny_vit"), "-o", "{out}/a.policy",
                              "--iterations", "100000", "--agent", agent, "--log", "{out}/log.csv",
                              delays=(0.1, 1.5))

    def test_learn_rules(self):
        self.assert_stops("learn-rules", "--graphs", self.tiny("tiny_vit"), "-o", "{out}/m.rules",
                          "--budget", "100000000", "--json", "{out}/r.json", delays=(0.3, 1.5))

    def test_bench_learn(self):
        self.assert_stops("bench", "learn", "--graphs", self.tiny("tiny_vit"), "--json",
                          "{out}/r.json", "--kept", "{out}/kept.jsonl")

    def test_bench_runtimes(self):
        self.assert_stops("bench", "runtimes", self.slow(), "--json", "{out}/r.json", delays=(0.5, 2),
                          REGRAFT_PYTHON=sys.executable)

    def test_calibrate(self):
        for runtime in ("single", "cpu"):
            self.assert_stops("calibrate", self.tiny("tiny_vit"), "--runtime", runtime, "-o",
                              "{out}/p.profile", delays=(0.1, 1.0))

    def test_cost_time(self):
        for runtime in ("cpu", "onnxruntime"):
            self.assert_stops("cost", "time", self.slow(), "--runtime", runtime, "--time", "60",
                              delays=(0.2, 1.5), REGRAFT_PYTHON=sys.executable)

    def test_cost_predict(self):
        self.assert_stops("cost", "predict", self.slow(2000, 8), delays=(0, 0.02, 0.05))

    def test_cost_variants(self):
        self.assert_stops("cost", "variants", self.tiny("tiny_vit"), "--count", "100000", "--dir",
                          "{out}/variants", delays=(0.2, 1.0))

    def test_cost_kernels(self):
        self.assert_stops("cost", "kernels", self.slow(2000, 8), "--dir", "{out}/kernels",
                          delays=(0, 0.02, 0.05))

    def test_stats(self):
        self.assert_stops("stats", self.slow(5000, 8), "--json", "{out}/r.json",
                          delays=(0, 0.02, 0.05))

    def test_eval(self):
        slow = self.slow()
        tensor = numpy_helper.from_array(np.ones((512, 512), np.float32))
        (pathlib.Path(self.folder) / "input_0.pb").write_bytes(tensor.SerializeToString())
        lines = os.path.join(self.folder, "list.txt")
        pathlib.Path(lines).write_text(f"{slow}\t{self.folder}\t{self.out_folder}\n" * 100)
        self.assert_stops("eval", "--list", lines, delays=(0.1, 0.5))

    def test_the_second_signal_ends_it_at_once(self):
        run = subprocess.Popen([command_line.program(), "optimize", self.slow(), self.out,
                                "--no-measure", "--check", "1000000", "--budget", "10"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        begun = time.monotonic()
        run.wait(timeout=60)
        self.assertLess(time.monotonic() - begun, soon())
        if run.returncode == -signal.SIGINT:
            self.assertEqual(os.listdir(self.out_folder), [])


if __name__ == "__main__":
    command_line.main()
