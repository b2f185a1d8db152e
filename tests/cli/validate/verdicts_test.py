#!/usr/bin/env python3
"""`regraft validate` from outside: verdicts, interfaces, sizes, bad input, interruption.

  python verdicts_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from validation import UNDECIDED, Validation  # finds command_line

import command_line
from command_line import BAD_INPUT, DONE, FAILED, INTERRUPTED, regraft

import numpy as np
import onnx
import onnx.version_converter

import pair_models as pairs
from pair_models import HALF, OPEN_X, OPEN_Y, X, Y, chain, model, node, one


class Verdicts(Validation):
    def test_right_pairs_are_proved(self):
        for name, (a, b) in pairs.right_pairs().items():
            with self.subTest(name):
                proved = "proved-up-to-constants" if name == "batch norm" else "proved"
                report = self.assert_verdict(proved, a, b)
                self.assertIsNone(report["counterexample"])

    def test_and_the_other_way_round(self):
        """Equal is equal in both directions, but for what only the first model leaves undefined."""
        for name, (b, a) in pairs.right_pairs().items():
            if name == "division that cancels":
                continue
            with self.subTest(name):
                self.assertNotEqual(self.validate(a, b)[1]["verdict"], "refuted", self.said.stdout)

    def test_refuted(self):
        report = self.assert_verdict("refuted", chain("Relu", "Neg"), chain("Neg", "Relu"))
        self.assertEqual(report["outputs"][0]["reason"], "differs at the counterexample")
        c = report["counterexample"]
        self.assertEqual(c["output"], "y")
        self.assertEqual(list(c["inputs"]), ["x"])
        self.assertNotEqual(c["a"], c["b"])
        self.assertIn("counterexample", self.said.stdout)
        self.assertIn("first model at", self.said.stdout)

    def test_replayed_where_onnxruntime_is_at_hand(self):
        env = {**os.environ, "REGRAFT_PYTHON": sys.executable}
        report = self.assert_verdict("refuted", pairs.branches(["Relu"], ["Neg"]),
                                     pairs.branches(["Relu"], ["Identity"]), env=env)
        self.assertIn("onnxruntime", report["counterexample"]["replayed"])
        env["REGRAFT_PYTHON"] = "/bin/false"
        report = self.assert_verdict("refuted", one("Relu"), one("Sigmoid"), env=env)
        self.assertIsNone(report["counterexample"]["replayed"])

    def test_unknown(self):
        """Nobody knows the operator, and what it reads may differ."""
        def odd(op):
            return model([node(op, ["x"], ["h"]), node("Odd", ["h"], ["y"], domain="odd")],
                         domains=[("odd", 1)])
        report = self.assert_verdict("unknown", odd("Relu"), odd("Sigmoid"))
        self.assertIn("y", [o["a"] for o in report["outputs"]])

    def test_random_numbers_refute_nothing(self):
        """Two runs of one model differ: that says nothing of two models."""
        def noisy(order):
            return model([node("RandomNormal", [], ["r"], shape=[2, 4]), node("Add", order, ["y"]),
                          node("Relu", ["x"], ["z"])], outputs=[Y, ("z", [2, 4])])
        env = {**os.environ, "REGRAFT_PYTHON": sys.executable}
        report = self.assert_verdict("unknown", noisy(["x", "r"]), noisy(["r", "x"]), env=env)
        self.assertEqual([o["verdict"] for o in report["outputs"]], ["unknown", "proved"])
        other = noisy(["x", "r"])
        other.graph.node[2].op_type = "Neg"
        report = self.assert_verdict("refuted", noisy(["r", "x"]), other, env=env)
        self.assertEqual([o["verdict"] for o in report["outputs"]], ["unknown", "refuted"])
        self.assertEqual(report["counterexample"]["output"], "z")
        self.assert_verdict("unknown", pairs.loop(["Relu"], random=True),
                            pairs.loop(["Relu", "Relu"], random=True), env=env)

    def test_each_output_has_its_own_verdict(self):
        def two(op):
            return model([node("Relu", ["x"], ["y"]), node(op, ["x"], ["z"])],
                         outputs=[Y, ("z", [2, 4])])
        report = self.assert_verdict("refuted", two("Neg"), two("Exp"))
        self.assertEqual([o["verdict"] for o in report["outputs"]], ["proved", "refuted"])

    def test_constants_exact(self):
        a, b = pairs.normalised(None), pairs.normalised(pairs.folded)
        report = self.assert_verdict("proved-up-to-constants", a, b)
        self.assertTrue(report["constants"])
        for c in report["constants"]:
            self.assertLess(c["deviation"], 1e-5)
            self.assertLessEqual(c["deviation"], c["bound"])
        self.assertIn(self.validate(a, b, "--tolerance-constants", "exact")[0],
                      (FAILED, UNDECIDED))
        self.assert_verdict("proved", a, a, "--tolerance-constants", "exact")

    def test_converted_opsets(self):
        for to in (13, 15, 18, 21):
            with self.subTest(to):
                a = chain(("Clip", ["l", "h"]), "Relu", ports=(OPEN_X,), out=OPEN_Y, opset=11,
                          data={"l": np.float32(-1), "h": np.float32(6)})
                self.assert_verdict("proved", a, onnx.version_converter.convert_version(a, to))

    def test_the_report_names_no_folder(self):
        odd = model([node("Relu", ["x"], ["y"], domain="odd")], domains=[("odd", 1)])
        for a, b in ((one("Relu"), one("Sigmoid")), (one("Relu"), odd),
                     (pairs.normalised(None), pairs.normalised(pairs.folded))):
            self.validate(a, b, env={**os.environ, "REGRAFT_PYTHON": sys.executable})
            text = pathlib.Path(self.json).read_text()
            for folder in (self.folder, self.keep.name, os.path.dirname(command_line.program())):
                self.assertNotIn(folder, text)

    def test_quiet_says_nothing(self):
        self.save(one("Relu"), one("Relu"))
        said = regraft("validate", self.a, self.b, "-q")
        self.assertEqual((said.returncode, said.stdout, said.stderr), (DONE, "", ""))


class Interfaces(Validation):
    def test_names_and_order(self):
        def difference(first, second, out, swapped):
            ports = [(first, [2, 4]), (second, [2, 4])]
            nodes = [node("Sub", [first, second], [out]), node("Relu", [first], ["r" + out])]
            outs = [(out, [2, 4]), ("r" + out, [2, 4])]
            return model(nodes, ports[::-1] if swapped else ports, outs[::-1] if swapped else outs)
        a = difference("p", "q", "y", False)
        self.assert_verdict("proved", a, difference("p", "q", "y", True))   # by name
        self.assert_verdict("proved", a, difference("s", "t", "z", False))  # by position
        self.assert_verdict("refuted", a, difference("s", "t", "z", True))
        self.assert_verdict("refuted", a, difference("q", "p", "y", False))

    def test_what_is_left_is_taken_by_position(self):
        def two(first, second, swapped):
            outs = [(first, [2, 4]), (second, [2, 4])]
            return model([node("Relu", ["x"], [first]), node("Neg", ["x"], [second])],
                         outputs=outs[::-1] if swapped else outs)
        self.assert_verdict("proved", two("a", "b", False), two("c", "b", True))

    def test_another_domain_of_the_same_operators(self):
        b = model([node("Relu", ["x"], ["y"], domain="ai.onnx")])
        self.assert_verdict("proved", one("Relu"), b)

    def test_an_input_is_gone(self):
        a = model([node("Relu", ["x"], ["y"])], [X, ("u", [3])])
        report = self.assert_verdict("proved", a, one("Relu"))
        self.assertEqual(report["interface"], ["input 'u' is in the first model only"])
        self.assertIn("interface", self.said.stdout)
        report = self.assert_verdict("proved", one("Relu"), a)
        self.assertEqual(report["interface"], ["input 'u' is in the second model only"])
        a = model([node("Add", ["x", "u"], ["y"])], [X, ("u", [4])])
        code, report = self.validate(a, one("Relu"))
        self.assertIn(code, (FAILED, UNDECIDED))

    def test_an_output_is_gone(self):
        a = model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["z"])],
                  outputs=[Y, ("z", [2, 4])])
        report = self.assert_verdict("refuted", a, one("Relu"))
        self.assertEqual([o["verdict"] for o in report["outputs"]], ["proved", "refuted"])
        self.assertIn("output 'z' is in the first model only", report["interface"])
        report = self.assert_verdict("proved", one("Relu"), a)
        self.assertEqual(report["interface"], ["output 'z' is in the second model only"])

    def test_other_names(self):
        b = model([node("Relu", ["u"], ["z"])], [("u", [2, 4])], [("z", [2, 4])])
        report = self.assert_verdict("proved", one("Relu"), b)
        self.assertEqual(report["interface"], ["input 'x' is named 'u' in the second model",
                                               "output 'y' is named 'z' in the second model"])

    def test_another_type(self):
        half = (("x", [2, 4], HALF),)
        b = one("Relu", ports=half, out=("y", [2, 4], HALF))
        report = self.assert_verdict("refuted", one("Relu"), b)
        self.assertIn("output 'y': float32[2,4] in the first model, float16[2,4] in the second",
                      report["interface"])

    def test_another_shape(self):
        b = one("Relu", ports=(("x", [2, 5]),), out=("y", [2, 5]))
        report = self.assert_verdict("refuted", one("Relu"), b)
        self.assertEqual(len(report["interface"]), 3)

    def test_another_default(self):
        def scaled(k):
            data = {} if k is None else {"w": np.full(4, k, np.float32)}
            return model([node("Mul", ["x", "w"], ["y"]), node("Relu", ["x"], ["z"])],
                         [X, ("w", [4])], [Y, ("z", [2, 4])], data)
        self.assert_verdict("proved", scaled(2), scaled(2))
        for other in (3, None):
            report = self.assert_verdict("refuted", scaled(2), scaled(other))
            self.assertIn("input 'w' has another default", report["interface"])
            self.assertEqual([o["verdict"] for o in report["outputs"]], ["refuted", "proved"])


class Sizes(Validation):
    def pair(self):
        """Equal only where there is one row."""
        a = one("ReduceSum", ports=(OPEN_X,), out=("y", [1, 4]), opset=11, axes=[0])
        return a, one("Identity", ports=(OPEN_X,), out=("y", None), opset=11)

    def test_open_sizes_are_all_sizes(self):
        report = self.assert_verdict("refuted", *self.pair())
        self.assertGreater(report["counterexample"]["sizes"]["N"], 1)
        self.assert_verdict("refuted", *self.pair(), "--sizes", "symbolic")

    def test_one_size(self):
        self.assert_verdict("proved", *self.pair(), "--sizes", "N=1")
        self.assert_verdict("refuted", *self.pair(), "--sizes", "N=2")

    def test_the_second_model_fixes_sizes(self):
        a, _ = self.pair()
        b = one("Identity", ports=(("x", [1, 4]),), out=("y", [1, 4]), opset=11)
        report = self.assert_verdict("proved", a, b)
        self.assertEqual(report["fixed"], ["N=1"])
        self.assertIn("N=1, as the second model has it", self.said.stdout)

    def test_many_open_sizes(self):
        def attention(shared):
            nodes = [node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
                     node("MatMul", ["q", "t"], ["s"])]
            nodes += [node("Div", ["s", "eight"], ["d"])] if not shared else \
                [node("Mul", ["s", "eighth"], ["d"])]
            nodes += [node("Softmax", ["d"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["y"])]
            ports = [("q", ["B", "L", 8]), ("k", ["B", "S", 8]), ("v", ["B", "S", 8])]
            return model(nodes, ports, [("y", ["B", "L", 8])],
                         {"eight": np.float32(8)} if not shared else {"eighth": np.float32(0.125)})
        self.assertEqual(self.validate(attention(False), attention(True))[0], DONE)

    def test_bad_sizes(self):
        self.save(*self.pair())
        for said in ("N", "N=x", "N=-1", "=2"):
            run = regraft("validate", self.a, self.b, "--sizes", said, "--json", self.json)
            self.assertIn(run.returncode, (2, BAD_INPUT), said)
            self.assertEqual(os.listdir(self.out_folder), [])


class BadInput(Validation):
    def refused(self, place, *arguments):
        self.assert_refused(regraft("validate", *arguments, "--json", self.json, "--certificate",
                                    self.certificate), place)

    def test_models(self):
        self.save(one("Relu"), one("Relu"))
        garbage, empty = (os.path.join(self.folder, n) for n in ("garbage.onnx", "empty.onnx"))
        pathlib.Path(garbage).write_bytes(b"\x07" * 300)
        pathlib.Path(empty).write_bytes(b"")
        for path in (os.path.join(self.folder, "missing.onnx"), garbage, empty, self.folder):
            name = os.path.basename(path)
            self.refused(name, path, self.b)
            self.refused(name, self.a, path)

    def test_outputs(self):
        self.save(one("Relu"), one("Relu"))
        before = pathlib.Path(self.a).read_bytes()
        for option, path in (("--json", self.a), ("--certificate", self.b), ("--json", self.folder),
                             ("--json", os.path.join(self.folder, "no", "report.json")),
                             ("--certificate", "/proc/proof.json")):
            said = regraft("validate", self.a, self.b, option, path)
            self.assert_exit(said, BAD_INPUT)
            self.assertEqual(len(said.stderr.strip().splitlines()), 1, said.stderr)
        self.refused("a.onnx", self.a, self.b, "--rules", self.a)
        same = regraft("validate", self.a, self.b, "--json", self.json, "--certificate", self.json)
        self.assert_refused(same, "report.json")
        self.assertEqual(pathlib.Path(self.a).read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.onnx", "b.onnx"])

    def test_usage(self):
        self.save(one("Relu"), one("Relu"))
        for arguments in ((), (self.a,), (self.a, self.b, "--tolerance-constants", "some"),
                          (self.a, self.b, "--no-such")):
            self.assert_exit(regraft("validate", *arguments), 2)


def handles_interrupts(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return caught is not None and int(caught[1], 16) >> (signal.SIGINT - 1) & 1 == 1


class Interruption(Validation):
    def interrupt(self, delay):
        """The exit code when SIGINT comes so many seconds after the program handles it."""
        command = [command_line.program(), "validate", self.a, self.b, "--json", self.json,
                   "--certificate", self.certificate, "--memory", "4", "--threads", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            while run.poll() is None and not handles_interrupts(run.pid):
                time.sleep(0.001)
            time.sleep(delay)
            run.send_signal(signal.SIGINT)
            started = time.monotonic()
            run.communicate(timeout=120)
            self.assertLess(time.monotonic() - started, 60)
        return run.returncode

    def test_ends_with_whole_files(self):
        """What was written is whole, or is not there, whenever the program is interrupted."""
        self.save(pairs.deep(True), pairs.deep(False))
        codes = [self.interrupt(delay) for delay in (0, 0.03, 0.1, 0.2, 0.3)]
        self.assertIn(INTERRUPTED, codes)
        self.assertLessEqual(set(codes), {INTERRUPTED, DONE})
        self.assertLessEqual(set(os.listdir(self.out_folder)), {"report.json", "proof.json"})
        for path in (self.json, self.certificate):
            if os.path.exists(path):
                json.loads(pathlib.Path(path).read_text())

    def test_ends_in_time(self):
        self.save(pairs.deep(True), pairs.deep(False))
        started = time.monotonic()
        said = regraft("validate", self.a, self.b, "--json", self.json, "--time", "1",
                       "--memory", "4")
        self.assertIn(said.returncode, (UNDECIDED, DONE))
        self.assertLess(time.monotonic() - started, 60)

    def test_time_that_ends_a_runtime(self):
        """Wherever it ends, nothing is said to be wrong with the models."""
        env = {**os.environ, "REGRAFT_PYTHON": sys.executable}
        self.save(one("Relu"), one("Sigmoid"))
        for seconds in (0.02, 0.1, 0.2, 0.3, 0.5):
            said = regraft("validate", self.a, self.b, "--time", seconds, env=env)
            self.assertIn(said.returncode, (FAILED, UNDECIDED), said.stderr)
            self.assertEqual(said.stderr, "")


if __name__ == "__main__":
    command_line.main()
