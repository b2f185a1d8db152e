#!/usr/bin/env python3
"""The certificates of `regraft validate`, which `check --validation` proves anew.

  python proofs_test.py REGRAFT [TestClass[.test]]
"""
import hashlib
import json
import os
import pathlib
import random

from validation import QUICK, UNDECIDED, Validation  # finds command_line

import command_line
from command_line import BAD_INPUT, DONE, FAILED, regraft

import numpy as np
import onnx

import pair_models as pairs
from pair_models import OPEN_X, chain, one



def refitted(j):
    """With a digest that fits, as an enemy would have it."""
    j.pop("sha256", None)
    text = json.dumps(j, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    j["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(j)


class Certificates(Validation):
    def make(self, a, b, *more):
        self.validate(a, b, "--certificate", self.certificate, *more)
        return json.loads(pathlib.Path(self.certificate).read_text())

    def check(self, text=None, a=None, b=None):
        path = self.certificate
        if text is not None:
            path = os.path.join(self.folder, "changed.json")
            pathlib.Path(path).write_text(text)
        return regraft("check", a or self.a, b or self.b, "--validation", path, *QUICK)

    def test_right_pairs(self):
        for name, (a, b) in pairs.right_pairs().items():
            with self.subTest(name):
                made = self.make(a, b)
                said = self.check()
                self.assert_exit(said, DONE)
                for claim in made["outputs"]:
                    self.assertIn(claim, said.stdout)

    def test_the_digest_is_the_files(self):
        made = self.make(*pairs.right_pairs()["loop"])
        digest = made["sha256"]
        self.assertEqual(json.loads(refitted(made))["sha256"], digest)
        made["constants"] = not made["constants"]
        said = self.check(json.dumps(made))
        self.assert_exit(said, BAD_INPUT)
        self.assertIn("digest", said.stderr)

    def test_other_models(self):
        self.make(*pairs.right_pairs()["loop"])
        other = os.path.join(self.folder, "other.onnx")
        onnx.save(pairs.loop(["Neg"]), other)
        self.assert_exit(self.check(b=other), FAILED)
        self.assert_exit(self.check(a=other), FAILED)
        self.assert_exit(self.check(a=self.b, b=self.a), FAILED)

    def test_claims_are_not_believed(self):
        """A certificate of a wrong pair, whatever it says."""
        a, b = chain("Relu", "Neg", "Exp"), chain("Neg", "Relu", "Exp")
        made = self.make(a, b)
        self.assert_exit(self.check(), UNDECIDED)  # it claims nothing
        made["outputs"] = ["proved"]
        places = [([k, 0], [j, 0]) for k in range(6) for j in range(3, 9)]
        proofs = [{"a": of_a, "b": of_b, "reach": r, "explained": e, "rule": ""}
                  for of_a, of_b in places for r in (0, 3) for e in (False, True)]
        constants = [{"a": of_a, "b": of_b, "deviation": 0} for of_a, of_b in places]
        for merges in ([], proofs, constants):
            made["proof"]["merges"] = merges
            self.assert_exit(self.check(refitted(made)), FAILED)

    def test_missing_merges_prove_less(self):
        a = chain("Relu", "Neg", "Neg", "Exp", "Neg", "Neg", "Relu")
        made = self.make(a, chain("Relu", "Exp", "Relu"))
        self.assertEqual(made["outputs"], ["proved"])
        made["proof"] = {"a": [], "b": [], "merges": [], "bodies": []}
        self.assert_exit(self.check(refitted(made)), FAILED)
        made["outputs"] = ["unknown"]
        said = self.check(refitted(made))
        self.assert_exit(said, UNDECIDED)
        self.assertIn("unknown", said.stdout)

    def test_sizes_of_the_certificate_count(self):
        a = one("ReduceSum", ports=(OPEN_X,), out=("y", [1, 4]), opset=11, axes=[0])
        b = one("Identity", ports=(OPEN_X,), out=("y", None), opset=11)
        made = self.make(a, b, "--sizes", "N=1")
        self.assertEqual(made["sizes"], {"N": 1})
        self.assert_exit(self.check(), DONE)
        for sizes in ({}, {"N": 2}, {"M": 1}):
            made["sizes"] = sizes
            self.assertIn(self.check(refitted(made)).returncode, (FAILED, BAD_INPUT))

    def test_bodies_that_are_not_there(self):
        made = self.make(*pairs.right_pairs()["branches"])
        good = made["proof"]["bodies"]
        self.assertEqual(len(good), 1)
        for bodies in ([], [{**good[0], "pair": 1}], [{**good[0], "proofs": good[0]["proofs"][:1]}],
                       [{**good[0], "proofs": []}]):
            made["proof"]["bodies"] = bodies
            self.assert_exit(self.check(refitted(made)), FAILED)

    def test_rounded_constants_are_not_exact(self):
        def scaled(op, number):
            return one(op, ("x", "c"), {"c": np.float32(number)})
        for a, b in ((pairs.normalised(None), pairs.normalised(pairs.folded)),
                     (scaled("Div", 3), scaled("Mul", 1 / 3))):
            made = self.make(a, b)
            self.assertEqual(made["outputs"], ["proved-up-to-constants"])
            self.assert_exit(self.check(), DONE)
            self.assert_exit(self.check(refitted({**made, "outputs": ["proved"]})), FAILED)
            said = self.check(refitted({**made, "constants": False}))
            self.assert_exit(said, FAILED)
            self.assertRegex(said.stderr, "rounded|values that are not there")  # derived ones
            exact = self.make(a, b, "--tolerance-constants", "exact")
            self.assertFalse(exact["constants"])
            self.assertNotIn(exact["outputs"][0], ("proved", "proved-up-to-constants"))

    def test_random_edits(self):
        """None is a crash, and none proves a wrong pair."""
        rng = random.Random(7)
        right = self.make(*pairs.right_pairs()["branches"])
        wrong = pathlib.Path(self.folder) / "wrong.onnx"
        onnx.save(pairs.branches(["Relu"], ["Identity"]), wrong)
        claims = self.make(pairs.right_pairs()["branches"][0], onnx.load(wrong))
        for digest, b in ((right["second"], self.b), (claims["second"], wrong)):
            onnx.save(pairs.right_pairs()["branches"][1], self.b)
            for _ in range(40):
                j = json.loads(json.dumps(right))
                edit(j, rng)
                j["second"] = digest
                j["outputs"] = ["proved"]
                said = self.check(refitted(j), b=b)
                self.assertIn(said.returncode, (DONE, FAILED, BAD_INPUT), said.stderr)
                self.assertLessEqual(len(said.stderr.strip().splitlines()), 1)
                if b == wrong:
                    self.assertNotEqual(said.returncode, DONE)

    def test_texts_that_are_no_certificate(self):
        self.make(one("Relu"), one("Relu"))
        good = pathlib.Path(self.certificate).read_text()
        for text in ("", "{}", "[]", "null", good[:200], "[" * 100000, '{"regraft_validation": 2}',
                     '{"regraft_certificate": 3}'):
            said = self.check(text)
            self.assert_exit(said, BAD_INPUT)
            self.assertEqual(len(said.stderr.strip().splitlines()), 1)


def edit(j, rng):
    """Changes a value somewhere in the proof."""
    places = []

    def walk(x):
        for k in (range(len(x)) if isinstance(x, list) else list(x) if isinstance(x, dict) else ()):
            places.append((x, k))
            walk(x[k])
    walk(j["proof"])
    for _ in range(rng.randint(1, 3)):
        where, key = rng.choice(places)
        try:
            old = where[key]
        except (IndexError, KeyError):
            continue
        other = rng.choice(places)[0]
        if isinstance(old, bool):
            where[key] = not old
        elif isinstance(old, int):
            where[key] = rng.choice([old + 1, old - 1, 0, 2 ** 31 - 1, 2 ** 40, -1])
        elif isinstance(old, list) and rng.random() < 0.7:
            where[key] = old + old if rng.random() < 0.5 else old[1:]
        else:
            where[key] = rng.choice([None, 0, "", [], {}, json.loads(json.dumps(other))])


if __name__ == "__main__":
    command_line.main()
