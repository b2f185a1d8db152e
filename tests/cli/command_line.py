"""What tests of the program from outside share. Each ends with command_line.main()."""
import json
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
import untimed  # noqa: E402, F401
sys.path.insert(0, str(venv.ROOT / "bench/models"))

import onnx  # noqa: E402

import build_models  # noqa: E402

DONE, FAILED, USAGE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3, 130
REGRAFT = ""


def regraft(*arguments, env=None):
    return subprocess.run([REGRAFT, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=300, env=env)


def fake_worker(**said):
    """The environment in which fake_worker.py is the Python that has runtimes."""
    said = {"runtimes": {"onnxruntime": "1.0"}, "times": {"onnxruntime": 100, "openvino": 100},
            **said}
    return {"REGRAFT_PYTHON": str(pathlib.Path(__file__).resolve().parent / "fake_worker.py"),
            "FAKE_WORKER": json.dumps(said)}


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory()
        self.addCleanup(self.keep.cleanup)
        self.folder = os.path.join(self.keep.name, "models")
        self.out_folder = os.path.join(self.keep.name, "out")
        os.mkdir(self.folder)
        os.mkdir(self.out_folder)
        self.out = os.path.join(self.out_folder, "out.onnx")

    def tiny(self, name):
        path = os.path.join(self.folder, name + ".onnx")
        onnx.save(build_models.MODELS[name](0), path)
        return path

    def assert_exit(self, run, code):
        self.assertEqual(run.returncode, code, f"{run.args}\n{run.stdout}{run.stderr}")

    def assert_refused(self, run, place):
        """Exit 3, one line on stderr that names the place, no file left in the output folder."""
        self.assert_exit(run, BAD_INPUT)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, place)
        self.assertEqual(os.listdir(self.out_folder), [])


def program():
    """The path of regraft."""
    return REGRAFT


def main():
    global REGRAFT
    if len(sys.argv) < 2 or not re.search(r"regraft", sys.argv[1]):
        sys.exit(f"usage: {sys.argv[0]} REGRAFT [TestClass[.test]]")
    REGRAFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
