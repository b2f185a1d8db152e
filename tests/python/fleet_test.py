#!/usr/bin/env python3
"""`python -m regraft.fleet`: with Ray where it is installed, else with a stand-in that has the part
of Ray's interface which is used: tasks in threads, started again when they raise what they may.

  REGRAFT=build/release/regraft python fleet_test.py
"""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from regraft import fleet, program  # noqa: E402

try:
    import ray
except ImportError:
    ray = None


class StandIn(types.ModuleType):
    """Ray, as far as regraft.fleet uses it."""

    def __init__(self):
        super().__init__("ray")
        self.pool = concurrent.futures.ThreadPoolExecutor(8)
        self.restarted = 0

    def init(self, **options):
        self.options = options

    def shutdown(self):
        self.pool.shutdown()

    def remote(self, *, num_cpus, max_retries, retry_exceptions):
        assert (num_cpus, max_retries) == (1, -1)

        def wrap(function):
            def until_done(*arguments):
                while True:
                    try:
                        return function(*arguments)
                    except tuple(retry_exceptions):
                        self.restarted += 1
            return types.SimpleNamespace(
                remote=lambda *arguments: self.pool.submit(until_done, *arguments))
        return wrap

    @staticmethod
    def get(futures):
        return [f.result() for f in futures]


def workers_of(store):
    """Processes that run `regraft work STORE`."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:3] == [b"work", str(store).encode()]:
            found.append(int(entry.name))
    return found


class Fleet(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        self.store = self.folder / "store"
        lines = (ROOT / "substitutions/extended.rules").read_text().splitlines()
        self.rules = self.folder / "some.rules"
        self.rules.write_text("\n".join(line.split("  proved:")[0] for line in lines[:21]) + "\n")
        alone = self.folder / "alone.rules"
        subprocess.run([program.find(), "verify", self.rules, "-o", alone, "-q"], check=True)
        self.alone = alone.read_bytes()

    def command(self, *more):
        return ["verify", str(self.rules), "-o", str(self.folder / "out.rules"), "-q", *more]

    def check(self):
        self.assertEqual(fleet.main(["--workers", "2", *self.command("--store", str(self.store))]),
                         0)
        self.assertEqual((self.folder / "out.rules").read_bytes(), self.alone)

    def test_the_bytes_are_those_of_one_process(self):
        with mock.patch.dict(sys.modules, ray=StandIn()):
            self.check()

    def test_a_worker_that_is_killed_is_started_again(self):
        stand_in, ended = StandIn(), threading.Event()

        def kill_one():
            while not ended.wait(0.002):
                for pid in workers_of(self.store)[:1]:
                    os.kill(pid, signal.SIGKILL)
                    return
        killer = threading.Thread(target=kill_one)
        killer.start()
        try:
            with mock.patch.dict(sys.modules, ray=stand_in):
                self.check()
        finally:
            ended.set()
            killer.join()
        self.assertEqual(stand_in.restarted, 1)

    @unittest.skipIf(ray is None, "Ray is not installed")
    def test_ray_itself(self):
        with mock.patch.dict(os.environ, PYTHONPATH=str(ROOT / "python")):
            self.check()

    def refused(self, word, *arguments):
        with mock.patch.dict(sys.modules, ray=None), mock.patch("sys.stderr") as told:
            self.assertEqual(fleet.main(list(arguments)), 3)
        self.assertIn(word, "".join(call.args[0] for call in told.write.call_args_list))

    def test_bad_command_lines(self):
        self.refused("a command is missing")
        self.refused("a command is missing", "optimize", "a.onnx", "b.onnx")
        self.refused("--store is missing", *self.command())
        self.refused("pip install", *self.command("--store", str(self.store)))

    def test_a_command_that_fails(self):
        with mock.patch.dict(sys.modules, ray=StandIn()):
            begun = time.time()
            code = fleet.main(["verify", str(self.folder / "none"), "--store", str(self.store)])
        self.assertEqual(code, 3)
        self.assertLess(time.time() - begun, 60)


if __name__ == "__main__":
    unittest.main()
