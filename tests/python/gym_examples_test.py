#!/usr/bin/env python3
"""The examples of python/examples, each for about half a minute: do they learn, and is what they
write right? Needs torch, torch_geometric and sb3-contrib, in this Python or in
$REGRAFT_TORCH_PYTHON; they are large, so that the test is skipped without them, under CI too.

  REGRAFT_LIBRARY=build/release/libregraft.so REGRAFT=build/release/regraft
      python gym_examples_test.py [TestClass[.test]]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/models")]

import onnx  # noqa: E402

import build_models  # noqa: E402

REGRAFT = os.environ.get("REGRAFT", str(venv.ROOT / "build/release/regraft"))
NEEDED = "import torch, torch_geometric, sb3_contrib, gymnasium, onnx"
LINE = re.compile(r"(\d+) steps, \d+ s: saved (-?[\d.]+) %")


def python_with_torch():
    for python in (sys.executable, os.environ.get("REGRAFT_TORCH_PYTHON")):
        if python and subprocess.run([python, "-c", NEEDED], capture_output=True).returncode == 0:
            return python
    print("skipped: no Python with torch, torch_geometric and sb3-contrib; see docs/gymnasium.md")
    sys.exit(venv.SKIP)


PYTHON = python_with_torch()


class Examples(unittest.TestCase):
    def learns(self, script, name, *options):
        """Later episodes save more than the first ones, and the result is right."""
        with tempfile.TemporaryDirectory() as folder:
            before, after = (pathlib.Path(folder) / n for n in ("in.onnx", "out.onnx"))
            onnx.save(build_models.MODELS[name](0), before)
            environment = dict(os.environ, PYTHONPATH=str(venv.ROOT / "python"),
                               OMP_NUM_THREADS="1")
            run = subprocess.run(
                [PYTHON, venv.ROOT / "python/examples" / script, "--models", before, "--out", after,
                 *options], env=environment, text=True, capture_output=True, timeout=500)
            self.assertEqual(run.returncode, 0, run.stderr)
            saved = [float(percent) for _, percent in LINE.findall(run.stdout)]
            self.assertGreater(len(saved), 4, run.stdout)
            self.assertGreater(sum(saved[-2:]) / 2, sum(saved[:2]) / 2 + 2, run.stdout)
            check = subprocess.run([REGRAFT, "check", before, after], text=True,
                                   capture_output=True, timeout=300)
            self.assertEqual(check.returncode, 0, check.stderr)

    def test_graph_ppo(self):
        self.learns("graph_ppo.py", "tiny_mobilenet", "--iterations", "8")

    def test_maskable_ppo(self):
        self.learns("maskable_ppo.py", "tiny_resnet", "--steps", "6144", "--rollout", "512")


if __name__ == "__main__":
    unittest.main(verbosity=2)
