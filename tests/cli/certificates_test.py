#!/usr/bin/env python3
"""Certificates: written, replayed, proved anew; altered ones are refused.

  python certificates_test.py REGRAFT [TestClass[.test]]
"""
import hashlib
import json
import os
import pathlib
import tempfile
import unittest.mock

import command_line
from command_line import BAD_INPUT, CommandLine, DONE, FAILED, USAGE, regraft  # looks for onnx

import numpy as np
import onnx


def colliding(weights):
    """Other numbers of the same shape under a hash of four lanes of eight bytes, each of which can be
    inverted: what the first word of a lane changes, its second word changes back."""
    word, factor = (1 << 64) - 1, 0x9FB21C651E98DF25

    def after(lane, x):
        x ^= lane
        return ((x << 29 | x >> 35) & word) * factor & word

    flat = weights.reshape(-1).copy()
    words = flat[:10].copy().view(np.uint64)
    first, second = int(words[0]), int(words[4])
    for n in range(1, 1 << 20):
        other = first ^ n
        words[0], words[4] = other, second ^ after(1, first) ^ after(1, other)
        size = np.abs(words.view(np.float32)[[0, 1, 8, 9]])
        if np.isfinite(size).all() and (size < 100).all() and (size[3] > 1e-3):
            flat[:10] = words.view(np.float32)
            return flat.reshape(weights.shape)
    raise AssertionError("no collision")


class Certificates(CommandLine):
    def setUp(self):
        super().setUp()
        self.model = self.tiny("tiny_repvgg")
        self.certificate = os.path.join(self.folder, "certificate.json")
        self.optimised = os.path.join(self.folder, "optimised.onnx")
        self.assert_exit(regraft("optimize", self.model, "-o", self.optimised, "--budget", "300",
                                 "--certificate", self.certificate, "-q"), DONE)

    def check(self, *more, model=None, optimised=None):
        return regraft("check", model or self.model, optimised or self.optimised, "--certificate",
                       self.certificate, *more)

    def tampered(self, change, refit=True):
        """The message about a changed certificate; with a digest that fits, as an enemy would."""
        good = pathlib.Path(self.certificate).read_text()
        j = json.loads(good)
        change(j)
        if refit:
            j.pop("sha256", None)
            text = json.dumps(j, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            j["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        pathlib.Path(self.certificate).write_text(json.dumps(j))
        run = self.check()
        pathlib.Path(self.certificate).write_text(good)
        self.assertIn(run.returncode, (FAILED, BAD_INPUT), run.stdout)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        return f"{run.returncode} {run.stderr}"

    def test_replays_and_says_what_was_checked(self):
        j = json.loads(pathlib.Path(self.certificate).read_text())
        run = self.check()
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout, r"\d+ steps with \d+ rules lead from")
        self.assertIn(j["input"], run.stdout)
        self.assertIn(j["output"], run.stdout)
        self.assertRegex(run.stdout, r"rules .*not proved anew")
        self.assertRegex(run.stdout, r"opaque +\d+ nodes")
        run = self.check("--prove")
        self.assert_exit(run, DONE)
        self.assertRegex(run.stdout, r"rules +proved anew")

    def test_tampering_is_found(self):
        def drop_last(j):
            j["steps"].pop()

        def other_place(j):
            j["steps"][0]["nodes"][0] += 1

        def other_rule(j):
            j["steps"][0]["rule"] = "nosuch"

        def edited_rule(j):
            j["rules"][0] = j["rules"][0].replace("conv", "maxpool", 1).replace("(add", "(mul", 1)

        def other_digest(name):
            return lambda j: j.update({name: "0" * 64})

        refused = self.tampered
        self.assertRegex(refused(drop_last),
                         "^(1 .*(another model|no call on constants)|3 .*no step uses)")
        self.assertRegex(refused(other_place), "^1 .*step 0")
        self.assertRegex(refused(other_rule), "^3 .*no rule")
        self.assertRegex(refused(edited_rule), "^3 .*(seal|column|rules:2)")
        self.assertRegex(refused(lambda j: j["rules"].clear()), "^3 .*no rule")
        self.assertRegex(refused(other_digest("input")), "^1 .*another input")
        self.assertRegex(refused(other_digest("output")), "^1 .*another output")
        self.assertRegex(refused(lambda j: j.update(opset=j["opset"] - 1)), "^1 .*operator set")
        self.assertRegex(refused(lambda j: j["folded"].append(0)), "^1 ")
        self.assertRegex(refused(lambda j: j.pop("regraft_certificate")), "^3 .*not a certificate")
        self.assertRegex(refused(lambda j: j.pop("steps")), "^3 .*not a certificate")
        for key in json.loads(pathlib.Path(self.certificate).read_text()):
            self.assertRegex(refused(lambda j: j.update({key: 5}), refit=False), "^3 ", key)
            self.assertRegex(refused(lambda j: j.pop(key), refit=False), "^3 ", key)

    def test_another_output_is_refused(self):
        changed = onnx.load(self.optimised)
        weight = onnx.numpy_helper.to_array(changed.graph.initializer[0]) + np.float32(1)
        name = changed.graph.initializer[0].name
        changed.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight, name))
        other = os.path.join(self.folder, "other.onnx")
        onnx.save(changed, other)
        run = self.check(optimised=other)
        self.assert_exit(run, FAILED)
        self.assertIn("another output", run.stderr)
        self.assert_exit(self.check(optimised=self.model), FAILED)
        self.assert_exit(self.check(model=self.tiny("tiny_fire")), FAILED)

    def test_weights_made_to_collide_are_told_apart(self):
        """Under the hash by which constants were compared before their bytes were."""
        changed = onnx.load(self.optimised)
        weight = next(t for t in changed.graph.initializer
                      if t.data_type == onnx.TensorProto.FLOAT and np.prod(t.dims) >= 16)
        before = onnx.numpy_helper.to_array(weight)
        after = colliding(before)
        self.assertTrue((before != after).any())
        weight.CopyFrom(onnx.numpy_helper.from_array(after, weight.name))
        other = os.path.join(self.folder, "other.onnx")
        onnx.save(changed, other)
        for flags in ((), ("--prove",)):
            run = self.check(*flags, optimised=other)
            self.assert_exit(run, FAILED)
            self.assertIn("another output", run.stderr)
        self.assert_exit(regraft("check", self.optimised, self.optimised), DONE)
        self.assert_exit(regraft("check", self.optimised, other), FAILED)

    def test_weights_that_are_defaults_of_inputs(self):
        changed = onnx.load(self.model)
        weight = changed.graph.initializer[0]
        changed.graph.input.append(onnx.helper.make_tensor_value_info(
            weight.name, weight.data_type, list(weight.dims)))
        paths = [os.path.join(self.folder, name) for name in ("open.onnx", "other.onnx")]
        onnx.save(changed, paths[0])
        after = onnx.numpy_helper.to_array(weight) * np.float32(2)
        weight.CopyFrom(onnx.numpy_helper.from_array(after, weight.name))
        onnx.save(changed, paths[1])
        self.assert_exit(regraft("check", paths[0], paths[0]), DONE)
        run = regraft("check", *paths)
        self.assert_exit(run, FAILED)
        self.assertIn("default of input", run.stdout)

    def test_external_data(self):
        """Found where it lies, in whatever file; another bit in it is another model."""
        model = onnx.load(self.model)
        source = os.path.join(self.folder, "external.onnx")
        onnx.save_model(model, source, save_as_external_data=True, location="external.bin",
                        size_threshold=0)
        out = os.path.join(self.out_folder, "out.onnx")
        self.assert_exit(regraft("optimize", source, "-o", out, "--budget", "300", "--certificate",
                                 self.certificate, "-q"), DONE)
        with tempfile.TemporaryDirectory() as temporary, \
                unittest.mock.patch.dict(os.environ, TMPDIR=temporary):
            self.assert_exit(self.check("--prove", model=source, optimised=out), DONE)
            self.assertEqual(os.listdir(temporary), [])
        self.assert_exit(self.check(optimised=out), DONE)  # the same weights in the model itself
        data = pathlib.Path(self.folder, "external.bin")
        good = data.read_bytes()
        data.write_bytes(good[:8] + bytes([good[8] ^ 1]) + good[9:])
        run = self.check(model=source, optimised=out)
        self.assert_exit(run, FAILED)
        self.assertIn("another input", run.stderr)
        data.write_bytes(good)
        data = next(pathlib.Path(self.out_folder).glob("*.data"))
        good = data.read_bytes()
        data.write_bytes(good[:-4] + bytes([good[-4] ^ 1]) + good[-3:])
        run = self.check(model=source, optimised=out)
        self.assert_exit(run, FAILED)
        self.assertIn("another output", run.stderr)

    def test_needs_its_files(self):
        self.assert_refused(regraft("check", self.model, self.optimised, "--certificate",
                                    "/nowhere.json"), "nowhere.json")
        self.assert_exit(regraft("check", self.model, "--certificate", self.certificate), USAGE)
        self.assert_exit(regraft("check", self.model, self.optimised, "--prove"), USAGE)
        self.assert_refused(regraft("optimize", self.model, "-o", self.out, "--certificate",
                                    "/no/such/folder/c.json", "-q"), "no/such/folder")


if __name__ == "__main__":
    command_line.main()
