#!/usr/bin/env python3
"""Fleets from outside: `--store`, `--workers` and `regraft work`, with workers that are killed,
suspended or cannot write, and stores that someone altered. Bytes are those of one process.

  python fleet_test.py REGRAFT [TestClass[.test]]
"""
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import command_line  # noqa: E402
from command_line import BAD_INPUT, DONE, INTERRUPTED, CommandLine, regraft  # noqa: E402

RULES = command_line.venv.ROOT / "substitutions/extended.rules"


def children(pid):
    """Processes that a process started."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


class Fleet(CommandLine):
    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.keep.name)
        self.store = self.base / "store"
        lines = [line.split("  proved:")[0] for line in RULES.read_text().splitlines()]
        bodies = [line for line in lines if not line.startswith("#")]
        self.rules = self.base / "some.rules"
        self.rules.write_text("\n".join([lines[0], *bodies[:24]]) + "\n")
        self.count = 0

    def start(self, *arguments, **options):
        return subprocess.Popen([command_line.REGRAFT, *map(str, arguments)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def next_file(self):
        self.count += 1
        return self.base / f"proved-{self.count}.rules"

    def verify(self, *more):
        out = self.next_file()
        run = regraft("verify", self.rules, "-o", out, "-q", *more)
        self.assert_exit(run, DONE)
        return out.read_bytes()

    def assert_all_done(self, killed=0):
        """A killed process may leave one value on its way to its place."""
        self.assertEqual(list((self.store / "open").iterdir()), [])
        self.assertLessEqual(len(list((self.store / "tmp").iterdir())), killed)


class Verify(Fleet):
    def test_the_bytes_are_those_of_one_process(self):
        alone = self.verify()
        self.assertGreater(alone.count(b"proved:"), 10)
        self.assertEqual(self.verify("--store", self.store, "--workers", 2), alone)
        self.assert_all_done()
        results = list((self.store / "results").glob("*/*"))
        self.assertEqual(len(results), 24)
        before = {path: path.stat().st_mtime_ns for path in results}
        self.assertEqual(self.verify("--store", self.store), alone)
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in results})
        self.assertEqual(self.verify("--store", self.base / "other"), alone)

    def test_killed_workers_and_a_killed_run(self):
        alone = self.verify()
        for seed in range(3):
            rng = random.Random(seed)
            self.store = self.base / f"killed-{seed}"
            run = self.start("verify", self.rules, "-o", self.next_file(), "-q", "--store",
                             self.store, "--workers", 2)
            time.sleep(rng.uniform(0.05, 0.6))
            victims = children(run.pid)
            if seed == 2:
                victims.append(run.pid)
            for pid in victims[:1] if seed == 0 else victims:
                os.kill(pid, signal.SIGKILL)
            run.communicate(timeout=300)
            self.assertEqual(self.verify("--store", self.store, "--workers", 1), alone)
            self.assert_all_done(killed=len(victims))

    def test_a_suspended_worker_loses_its_lease_and_does_no_harm(self):
        alone = self.verify()
        run = self.start("verify", self.rules, "-o", self.next_file(), "-q", "--store",
                         self.store, "--workers", 2, "--lease", 0.4)
        deadline = time.time() + 60
        leases = self.store / "leases"
        while time.time() < deadline and not (leases.exists() and list(leases.iterdir())):
            time.sleep(0.005)
        suspended = children(run.pid)[0]
        os.kill(suspended, signal.SIGSTOP)
        try:
            self.assertEqual(self.verify("--store", self.store, "--workers", 1, "--lease", 0.4),
                             alone)
        finally:
            os.kill(suspended, signal.SIGCONT)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, DONE)

    def test_a_worker_that_cannot_write(self):
        alone = self.verify()
        out = self.next_file()
        run = self.start("verify", self.rules, "-o", out, "-q", "--store", self.store, "--workers",
                         1)
        while not (self.store / "store").exists():
            time.sleep(0.005)
        full = self.start("work", self.store, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (0, 0)))
        said = full.communicate(timeout=300)[1]
        if full.returncode != DONE:  # otherwise the other worker was faster
            self.assertEqual(full.returncode, BAD_INPUT, said)
            self.assertEqual(len(said.strip().splitlines()), 1, said)
            self.assertIn(str(self.store), said)
        run.communicate(timeout=300)
        self.assertEqual(out.read_bytes(), alone)
        self.assert_all_done()

    def test_an_interrupted_run_goes_on(self):
        alone = self.verify()
        run = self.start("verify", self.rules, "-o", self.next_file(), "-q", "--store",
                         self.store, "--workers", 2)
        time.sleep(0.3)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=300)
        self.assertIn(run.returncode, (INTERRUPTED, DONE))
        self.assertEqual(self.verify("--store", self.store), alone)


class Stores(Fleet):
    def refused(self, place, *arguments):
        run = regraft(*arguments)
        self.assert_refused(run, str(place))

    def assert_refused(self, run, place):
        self.assert_exit(run, BAD_INPUT)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(place, run.stderr)

    def test_what_is_no_store(self):
        self.refused(self.base / "none", "work", self.base / "none")
        self.refused(self.base, "work", self.base)
        self.refused(self.rules, "work", self.rules)
        self.refused("/proc/1/store", "verify", self.rules, "--store", "/proc/1/store")
        out = self.base / "out.rules"
        self.refused(self.rules, "verify", self.rules, "--store", self.rules, "-o", out)
        self.assertFalse(out.exists())

    def test_a_store_of_another_version(self):
        self.verify("--store", self.store)
        header = self.store / "store"
        kept = header.read_text()
        header.write_text(kept.replace(kept.split()[-1], "0" * 64))
        self.refused(self.store, "work", self.store)
        self.refused("another version", "verify", self.rules, "--store", self.store)
        self.assertEqual(len(list((self.store / "results").glob("*/*"))), 24)

    def test_altered_and_cut_off_results(self):
        alone = self.verify("--store", self.store)
        result = sorted((self.store / "results").glob("*/*"))[0]
        whole = result.read_bytes()
        result.write_bytes(whole[:-5])
        self.assertEqual(self.verify("--store", self.store), alone)
        self.assertEqual(result.read_bytes(), whole)
        result.write_bytes(whole.replace(b"proved", b"provee", 1))
        out = self.base / "out.rules"
        self.refused(result, "verify", self.rules, "--store", self.store, "-o", out)
        self.assertFalse(out.exists())
        result.unlink()
        self.assertEqual(self.verify("--store", self.store), alone)

    def test_an_altered_bundle(self):
        self.verify("--store", self.store)
        bundle = self.store / "open" / ("0" * 64)
        bundle.write_text("nothing")
        self.refused(bundle, "work", self.store)

    def test_what_is_no_regular_file_is_not_waited_for(self):
        alone = self.verify("--store", self.store)
        result = sorted((self.store / "results").glob("*/*"))[0]
        result.unlink()
        os.mkfifo(result)
        self.refused(result, "verify", self.rules, "--store", self.store)
        result.unlink()
        result.symlink_to("/dev/zero")
        self.refused(result, "verify", self.rules, "--store", self.store)
        result.unlink()
        os.mkfifo(self.store / "runs" / "0")
        bundle = self.store / "open" / ("0" * 64)
        os.mkfifo(bundle)
        self.refused(bundle, "work", self.store)
        bundle.unlink()
        self.assert_exit(regraft("work", self.store, "--wait", 0), DONE)
        self.assertEqual(self.verify("--store", self.store), alone)
        (self.store / "store").unlink()
        os.mkfifo(self.store / "store")
        self.refused(self.store / "store", "work", self.store)

    def test_a_program_that_cannot_read_itself_is_no_other_version(self):
        """Where files may not be opened the digest of the program is not known."""
        self.verify("--store", self.store)
        run = subprocess.run(["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", command_line.REGRAFT, "work",
                              self.store], capture_output=True, text=True, timeout=300)
        self.assert_exit(run, BAD_INPUT)
        self.assertNotIn("another version", run.stderr)
        self.assertIn("cannot be read", run.stderr)

    def test_workers_wait_for_work(self):
        self.verify("--store", self.store)
        self.assert_exit(regraft("work", self.store, "--wait", 0), DONE)


class Generate(Fleet):
    def generate(self, name, *more):
        out = self.base / name
        self.assert_exit(regraft("generate", "--ops", "taso", "--max-size", 2, "-q", "-o", out,
                                 *more), DONE)
        return out.read_bytes()

    def test_the_candidates_are_those_of_one_process(self):
        alone = self.generate("alone")
        self.assertGreater(alone.count(b"=>"), 20)
        self.assertEqual(self.generate("fleet", "--store", self.store, "--workers", 2), alone)
        self.assertGreater(len(list((self.store / "results").glob("*/*"))), 30)
        self.assertEqual(self.generate("again", "--store", self.store), alone)
        self.assert_all_done()

    def test_killed_workers(self):
        alone = self.generate("alone")
        run = self.start("generate", "--ops", "taso", "--max-size", 2, "-q", "-o",
                         self.base / "fleet", "--store", self.store, "--workers", 2)
        rng = random.Random(7)
        for _ in range(3):
            time.sleep(rng.uniform(0.05, 0.2))
            for pid in children(run.pid)[:1]:
                os.kill(pid, signal.SIGKILL)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, DONE)
        self.assertEqual((self.base / "fleet").read_bytes(), alone)


class Train(Fleet):
    def test_the_policy_is_that_of_one_process(self):
        self.tiny("tiny_fire")
        common = ("train", "--graphs", self.folder, "--iterations", 2, "--episodes", 3, "-q", "-o")
        alone, fleet = self.base / "alone.policy", self.base / "fleet.policy"
        self.assert_exit(regraft(*common, alone), DONE)
        self.assert_exit(regraft(*common, fleet, "--store", self.store, "--workers", 2), DONE)
        self.assertEqual(alone.read_bytes(), fleet.read_bytes())
        self.assertEqual(len(list((self.store / "results").glob("*/*"))), 6)
        self.assert_all_done()

    def test_a_full_store_is_named(self):
        self.tiny("tiny_fire")
        policy = self.base / "x.policy"
        run = subprocess.run([command_line.REGRAFT, "train", "--graphs", self.folder, "--iterations", "1",
                              "--episodes", "1", "-o", policy, "--store", self.store, "-q"],
                             capture_output=True, text=True, timeout=300,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
        self.assert_exit(run, BAD_INPUT)
        self.assertIn(str(self.store), run.stderr)
        self.assertFalse(policy.exists())

    def test_other_agents_say_so(self):
        self.tiny("tiny_fire")
        run = regraft("train", "--graphs", self.folder, "--agent", "world-model", "-o",
                      self.base / "x.policy", "--store", self.store)
        self.assert_exit(run, BAD_INPUT)
        self.assertIn("--store", run.stderr)


if __name__ == "__main__":
    command_line.main()
