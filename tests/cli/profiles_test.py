#!/usr/bin/env python3
"""Which profiles are at hand, which one is used, and how they go.

  python profiles_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import sys

import command_line
from command_line import BAD_INPUT, DONE, USAGE, regraft

sys.path.insert(0, str(command_line.venv.ROOT / "python"))
from regraft import runtime  # noqa: E402

MANY = 1000  # kernels: more than a shipped profile has


def kernel(size):
    text = f"float32[{size}]"
    return f"%0 = input : {text} | %1 = relu %0 : {text} | outputs %1"


class Profiles(command_line.CommandLine):
    """Of a user's own cache; the shipped ones are there, too."""

    def setUp(self):
        super().setUp()
        self.cache = os.path.join(self.keep.name, "cache")
        self.file = os.path.join(self.cache, "regraft/user.profile")
        self.env = {**os.environ, "XDG_CACHE_HOME": self.cache}
        del self.env["REGRAFT_PROFILES"]

    def done(self, *arguments):
        run = regraft(*arguments, env=self.env)
        self.assert_exit(run, DONE)
        return run.stdout

    def add(self, spread, version="1", to=None, **more):
        results = os.path.join(self.keep.name, "results.json")
        measured = {"runtime": "onnxruntime", "version": version, "device": runtime.processor(),
                    "threads": 1, "block": 16, "measured": 1000000000, **more,
                    "kernels": [{"signature": kernel(8 * n), "microseconds": 3 + n, "noise": 0.01,
                                 "runs": 7} for n in range(1, MANY)]}
        if spread is not None:
            measured["spread"] = spread
        pathlib.Path(results).write_text(json.dumps(measured))
        self.done("cost", "add", results, "-o", to or self.file)

    def listed(self):
        report = os.path.join(self.keep.name, "list.json")
        text = self.done("cost", "list", "--json", report)
        return text, json.loads(pathlib.Path(report).read_text())

    def users(self):
        return {p["name"]: p for p in self.listed()[1]["profiles"] if not p["shipped"]}

    def optimised(self, *flags, measure=False):
        flags += () if measure or "--no-measure" in flags else ("--no-measure",)
        report = os.path.join(self.keep.name, "report.json")
        text = self.done("optimize", self.tiny("tiny_mobileone"), "-o", self.out,
                         "--budget", "100", "--json", report, *flags)
        return text, json.loads(pathlib.Path(report).read_text())

    def test_a_quiet_profile_is_listed_used_and_named(self):
        self.add(0.012)
        text, listed = self.listed()
        mine = next(p for p in listed["profiles"] if not p["shipped"])
        self.assertEqual(mine["name"], "user/onnxruntime-1/1")
        self.assertEqual((mine["kernels"], mine["measured"], mine["spread"], mine["file"]),
                         (MANY - 1, "2001-09-09", 0.012, self.file))
        self.assertTrue(mine["default"])
        self.assertEqual(listed["default"]["file"], self.file)
        self.assertIn("user/onnxruntime-1/1: used by default", text)
        text, report = self.optimised()
        self.assertEqual(report["profile"]["file"], self.file)
        self.assertEqual(report["profile"]["spread"], 0.012)
        self.assertIn(f"profile: {self.file}", text)
        self.assertEqual(report["profiles_not_used"], [])

    def test_a_noisy_profile_is_not_used_and_a_line_says_so(self):
        for spread, why in [(0.2, "20.0 %"), (None, "not known")]:
            self.done("cost", "forget", "--all")
            self.add(spread)
            self.assertFalse(self.users()["user/onnxruntime-1/1"]["default"])
            text, report = self.optimised()
            self.assertRegex(text, f"user/onnxruntime-1/1 is not used: .*{why}")
            self.assertEqual(len(report["profiles_not_used"]), 1)
            self.assertNotEqual((report["profile"] or {}).get("file"), self.file)
            _, report = self.optimised("--cost", self.file)
            self.assertEqual(report["profile"]["file"], self.file)

    def test_no_noisy_timings_are_added_to_a_quiet_profile(self):
        def measured(model, drift):
            self.env.update(command_line.fake_worker(
                drift=drift, log=os.path.join(self.keep.name, "requests")))
            report = os.path.join(self.keep.name, "report.json")
            self.done("optimize", self.tiny(model), "-o", self.out, "--measure", "onnxruntime",
                      "--budget", "100", "--json", report)
            return json.loads(pathlib.Path(report).read_text())["profile"]

        used = measured("tiny_mobileone", 1.5)
        self.assertEqual(used["file"], "measured now")
        self.assertAlmostEqual(used["spread"], 0.5)
        noisy = self.users()["user/onnxruntime-1.0/1"]
        self.assertRegex(noisy["why_unused"], "50.0 %, more than 5 %")
        self.assertLess(measured("tiny_mobileone", 1.01)["spread"], 0.02)
        quiet = self.users()["user/onnxruntime-1.0/1"]
        self.assertEqual((quiet["why_unused"], quiet["kernels"]), ("", noisy["kernels"]))
        measured("tiny_bert", 1.5)
        self.assertEqual(self.users()["user/onnxruntime-1.0/1"], quiet)
        measured("tiny_bert", 1.01)
        self.assertGreater(self.users()["user/onnxruntime-1.0/1"]["kernels"], quiet["kernels"])

    def test_a_profile_of_another_processor_is_not_used(self):
        self.add(0.01, device="Abacus 9")
        mine = self.users()["user/onnxruntime-1/1@Abacus-9"]
        self.assertFalse(mine["default"])
        self.assertEqual(mine["why_unused"], "of another processor")

    def foreign(self):
        """A folder with the shipped profile as if it were another processor's."""
        folder = os.path.join(self.keep.name, "foreign")
        shipped = next(p["file"] for p in self.listed()[1]["profiles"] if p["shipped"])
        runtimes, device = {}, ""
        for line in self.done("cost", "show", shipped, "--kernels").splitlines():
            head = re.match(r"(\w+) (.*?) on (.*), 1 thread: ", line)
            row = re.match(r" *([\d.]+) +[\d.]+ % +(\d+)  (%0.*)", line)
            if head:
                device = head[1]
                runtimes[device] = []
            elif row:
                runtimes[device].append({"signature": row[3], "microseconds": float(row[1])})
        for name, kernels in runtimes.items():
            results = os.path.join(self.keep.name, "results.json")
            pathlib.Path(results).write_text(json.dumps(
                {"runtime": name, "version": "1", "device": "Abacus 9", "threads": 1, "block": 16,
                 "kernels": kernels}))
            self.done("cost", "add", results, "-o", os.path.join(folder, "foreign.profile"))
        return folder

    def test_a_probe_scales_another_processors_profile(self):
        self.env["REGRAFT_PROFILES"] = self.foreign()
        probe = os.path.join(self.cache, "regraft/probe.profile")
        _, report = self.optimised("--no-measure")
        self.assertIsNone(report["profile"])
        self.assertFalse(os.path.exists(probe))
        self.optimised(measure=True)
        listed = {p["name"]: p for p in self.listed()[1]["profiles"]}
        mine = [p for name, p in listed.items() if name.startswith("probe/cpu")]
        self.assertEqual([p["file"] for p in mine], [probe])
        self.assertGreater(mine[0]["kernels"], 9)
        _, report = self.optimised("--no-measure")
        if mine[0]["why_unused"]:  # the machine was busy
            self.assertIsNone(report["profile"])
            self.assertIn("20 %", mine[0]["why_unused"])
        else:
            self.assertTrue(report["profile"]["scaled"])
            self.assertRegex(report["profile"]["file"], "foreign.profile scaled by .*probe.profile")
        self.done("cost", "forget", mine[0]["name"])
        self.assertFalse(os.path.exists(probe))
        _, report = self.optimised("--no-measure")
        self.assertIsNone(report["profile"])

    def test_profiles_are_forgotten(self):
        self.add(0.01)
        self.add(0.01, version="2")
        self.add(0.01, to=os.path.join(self.cache, "regraft/other.profile"))
        self.done("cost", "forget", "user/onnxruntime-1/1")
        self.assertEqual(sorted(self.users()), ["other/onnxruntime-1/1", "user/onnxruntime-2/1"])
        self.done("cost", "forget", "user/onnxruntime-2/1")
        self.assertFalse(os.path.exists(self.file))
        pathlib.Path(self.file).write_text("nonsense, not a profile")
        self.done("cost", "forget", "--all")
        self.assertEqual(self.users(), {})
        self.assertEqual(os.listdir(os.path.dirname(self.file)), [])

    def test_shipped_profiles_stay(self):
        before = self.listed()[1]["profiles"]
        for name in [p["name"] for p in before] + ["nothing"]:
            run = regraft("cost", "forget", name, env=self.env)
            self.assert_exit(run, BAD_INPUT)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertTrue(before)
        self.assertEqual(self.listed()[1]["profiles"], before)
        self.assert_exit(regraft("cost", "forget", env=self.env), USAGE)


if __name__ == "__main__":
    command_line.main()
