"""What tests of `regraft validate` share."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import command_line  # noqa: E402, F401: looks for onnx
from command_line import CommandLine, DONE, FAILED, regraft  # noqa: E402

import onnx  # noqa: E402

UNDECIDED = 5
QUICK = ("--time", "60", "--memory", "4")


class Validation(CommandLine):
    def setUp(self):
        super().setUp()
        self.a, self.b = (os.path.join(self.folder, f"{side}.onnx") for side in "ab")
        self.json = os.path.join(self.out_folder, "report.json")
        self.certificate = os.path.join(self.out_folder, "proof.json")

    def save(self, a, b):
        onnx.save(a, self.a)
        onnx.save(b, self.b)

    def validate(self, a, b, *more, env=None):
        """The exit code, and the report."""
        self.save(a, b)
        pathlib.Path(self.json).unlink(missing_ok=True)  # an earlier one says nothing of this run
        self.said = regraft("validate", self.a, self.b, "--json", self.json, *QUICK, *more, env=env)
        self.assertEqual(self.said.stderr, "")
        return self.said.returncode, json.loads(pathlib.Path(self.json).read_text())

    def assert_verdict(self, verdict, a, b, *more, env=None):
        code, report = self.validate(a, b, *more, env=env)
        self.assertEqual(report["verdict"], verdict, f"{self.said.stdout}{report['unknown']}")
        self.assertEqual(code, {"proved": DONE, "proved-up-to-constants": DONE, "refuted": FAILED,
                                "unknown": UNDECIDED}[verdict])
        return report
