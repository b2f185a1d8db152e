#!/usr/bin/env python3
"""Ends regraft at random moments, and looks at what it leaves.

  python crash.py REGRAFT [--moments N] [--seed S] [--jobs NAME,..] [--ways NAME,..] [--json FILE]

Jobs are `optimize` (a model with external data, a certificate and a report), `generate` (with a
checkpoint), `verify` (with a cache), `train` (with state and log) and `calibrate`. Ways are `kill` (kill
-9), `term` (SIGTERM) and `full`: the files lie on a tmpfs of their own, which something else fills to the
last few bytes. Without the right to mount one, `full` limits the size of files instead (RLIMIT_FSIZE),
and the result says so. Half of the moments are drawn over the whole run, half from the time in which
files are written.

After each: every output is what it was before, or whole; a disk that was full is exit 3 with one line, or
no matter; SIGTERM is exit 130 with outputs that are whole. Then the same command runs to its end, and
where it is deterministic it must write the same bytes as a run that nothing disturbed. Nothing temporary
may be left then. Exit status 1: something was not so.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DONE, BAD_INPUT, INTERRUPTED = 0, 3, 130
TEMPORARY = re.compile(r"\.(.+)\.[a-z0-5]{16}\.regraft-tmp")
DATA = re.compile(r"(.+\.onnx)\.[0-9a-f]{16}\.data")
WAYS = ("kill", "term", "full")
DISK = "24m"
REGRAFT = ""


class Problem(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Problem(text)


def mlp(seed, external):
    """Layers with something to fold; weights are most of the file."""
    rng = np.random.default_rng(seed)
    nodes, weights, last = [], [], "x"
    for k in range(6):
        weights += [numpy_helper.from_array(rng.standard_normal((300, 300), np.float32), f"w{k}"),
                    numpy_helper.from_array(rng.standard_normal(300, np.float32), f"b{k}")]
        nodes += [helper.make_node("MatMul", [last, f"w{k}"], [f"m{k}"]),
                  helper.make_node("Add", [f"m{k}", f"b{k}"], [f"a{k}"]),
                  helper.make_node("Transpose", [f"a{k}"], [f"t{k}"], perm=[1, 0]),
                  helper.make_node("Transpose", [f"t{k}"], [f"y{k}"], perm=[1, 0])]
        last = f"y{k}"
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 300])
    graph = helper.make_graph(nodes, "mlp", [value("x")], [value(last)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, external, save_as_external_data=True, location=external.name + ".weights",
              size_threshold=1024)


def run(command, **options):
    return subprocess.run([REGRAFT, *map(str, command)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **options)


def run_well(command):
    done = run(command)
    require(done.returncode == DONE, f"{command}: exit {done.returncode}: {done.stderr!r}")
    return done


class Job:
    """What is run, in a folder with its inputs."""
    name = ""
    exact = ()    # outputs that are the same bytes in each undisturbed run
    outputs = ()  # all
    kept = ()     # state that a rerun goes on from

    def prepare(self, folder):
        """The inputs."""

    def command(self, folder):
        raise NotImplementedError

    def check(self, folder, name, data):
        """Raises when an output is not whole."""

    def check_kept(self, folder, name, data):
        """Raises when what a rerun goes on from is of no use to it; a last line may be cut off."""

    def before(self, folder):
        """Outputs of an earlier run with other contents, for half of the moments."""


class Optimize(Job):
    name = "optimize"
    exact = ("out.onnx", "certificate")
    outputs = ("out.onnx", "certificate", "report")

    def prepare(self, folder):
        mlp(1, folder / "in.onnx")
        mlp(2, folder / "other.onnx")

    def before(self, folder):
        run_well(["optimize", folder / "other.onnx", "-o", folder / "out.onnx", "--budget", 20,
                  "--cost", "roofline", "-q"])

    def command(self, folder):
        return ["optimize", folder / "in.onnx", "-o", folder / "out.onnx", "--budget", 300, "--cost",
                "roofline", "--certificate", folder / "certificate", "--json", folder / "report"]

    def check(self, folder, name, data):
        if name != "out.onnx":
            json.loads(data)
            return
        model = onnx.load(folder / name)  # with its data
        onnx.checker.check_model(model, full_check=True)
        for tensor in model.graph.initializer:
            require(np.isfinite(numpy_helper.to_array(tensor)).all(), "data that is not the model's")


class Generate(Job):
    name = "generate"
    exact = ("rules",)
    outputs = ("rules", "report")
    kept = ("checkpoint",)

    def command(self, folder):
        return ["generate", "--ops", "core", "--max-size", 1, "-o", folder / "rules", "--checkpoint",
                folder / "checkpoint", "--json", folder / "report"]

    def check(self, folder, name, data):
        if name == "report":
            json.loads(data)
        else:
            run_well(["rules", "stats", folder / name])

    def check_kept(self, folder, name, data):
        json.loads(data)


class Verify(Job):
    name = "verify"
    exact = ("rules",)
    outputs = ("rules", "report")
    kept = ("cache",)
    most = 8

    def prepare(self, folder):
        lines = (venv.ROOT / "substitutions/hand.candidates").read_text().splitlines(True)
        rules = [line for line in lines if not line.startswith("#") and line.strip()]
        head = [line for line in lines if line.startswith("#regraft")][:1]
        (folder / "candidates").write_text("".join(head + rules[:self.most]))

    def command(self, folder):
        return ["verify", folder / "candidates", "-o", folder / "rules", "--cache", folder / "cache",
                "--json", folder / "report"]

    def check(self, folder, name, data):
        if name == "report":
            require(len(json.loads(data)["rules"]) == self.most, "a rule has no record")
        else:
            run_well(["rules", "stats", folder / name])

    def check_kept(self, folder, name, data):
        *whole, cut = data.split(b"\n")
        require(whole and whole[0].startswith(b"#regraft-verdicts"), "no header")
        for line in whole[1:]:
            json.loads(line)


class Train(Job):
    name = "train"
    exact = ("policy",)
    outputs = ("policy",)
    kept = ("state", "log")

    def prepare(self, folder):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4])
        nodes = [helper.make_node("Transpose", ["x"], ["a"], perm=[1, 0]),
                 helper.make_node("Transpose", ["a"], ["b"], perm=[1, 0]),
                 helper.make_node("Relu", ["b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
        graph = helper.make_graph(nodes, "small", [value("x")], [value("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), folder / "model.onnx")

    def command(self, folder):
        return ["train", "--graphs", folder / "model.onnx", "-o", folder / "policy", "--state",
                folder / "state", "--log", folder / "log", "--iterations", 4, "--episodes", 2,
                "--cost", "roofline"]

    def check(self, folder, name, data):
        done = run(["optimize", folder / "model.onnx", "-o", "/dev/null", "--search", "policy",
                    "--policy", folder / name, "--cost", "roofline", "--budget", 10])
        require(done.returncode == DONE and b"warning" not in done.stderr, done.stderr.decode())

    def check_kept(self, folder, name, data):
        if name == "log":
            *whole, cut = data.split(b"\n")
            require(len({line.count(b",") for line in whole}) <= 1, "lines of several lengths")
        else:
            require(data.startswith(bytes.fromhex("0972656772667431")[:1]), "no state")


class Calibrate(Job):
    """Adds a model's kernels to a profile that is there: what it held must never be lost."""
    name = "calibrate"
    outputs = ("a.profile",)

    def prepare(self, folder):
        mlp(1, folder / "in.onnx")
        run_well(["calibrate", "--runtime", "single", "-o", folder / "a.profile", "-q"])

    def command(self, folder):
        return ["calibrate", folder / "in.onnx", "--runtime", "cpu", "--time", 0.2, "-o",
                folder / "a.profile"]

    def check(self, folder, name, data):
        shown = run_well(["cost", "show", folder / name]).stdout
        require(b"single" in shown, "what was measured before is lost")


JOBS = {job.name: job for job in (Optimize(), Generate(), Verify(), Train(), Calibrate())}


class Disk:
    """A folder of files, on a tmpfs of its own where that can be had."""

    def __init__(self, mounted):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="regraft-crash-"))
        self.mounted = mounted and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.folder],
            capture_output=True).returncode == 0

    def clear(self):
        for path in self.folder.iterdir():
            path.unlink()

    def fill(self, spare):
        with open(self.folder / "filler", "ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                        if size == 1:
                            break
                except OSError:
                    pass
            if spare:
                file.truncate(max(0, os.fstat(file.fileno()).st_size - spare))

    def empty(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def close(self):
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)
        shutil.rmtree(self.folder)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "filler"}


class Campaign:
    def __init__(self, job, disk, rng):
        self.job, self.disk, self.rng = job, disk, rng
        self.folder = disk.folder
        disk.clear()
        job.prepare(self.folder)
        self.inputs = contents(self.folder)
        start = time.monotonic()
        run_well(job.command(self.folder))
        self.seconds = time.monotonic() - start
        self.good = {name: data for name, data in contents(self.folder).items()
                     if name in job.exact or (name not in self.inputs and DATA.fullmatch(name))}
        self.writing = self.watch()

    def reset(self, with_old):
        self.disk.clear()
        for name, data in self.inputs.items():
            (self.folder / name).write_bytes(data)
        if with_old:
            self.job.before(self.folder)

    def watch(self):
        """When bytes arrive for the first and the last time, of an undisturbed run."""
        self.reset(False)
        process, first = self.start(), None
        known = {p.name: p.stat().st_size for p in self.folder.iterdir()}
        begin = time.monotonic()
        while process.poll() is None:
            if first is None and self.sizes() - set(known.items()):
                first = time.monotonic() - begin
            time.sleep(0.0005)
        return first or 0.0, time.monotonic() - begin

    def sizes(self):
        found = set()
        for path in self.folder.iterdir():
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                continue
            if size:
                found.add((path.name, size))
        return found

    def start(self, **options):
        return subprocess.Popen([REGRAFT, *map(str, self.job.command(self.folder))],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **options)

    def moment(self, number):
        first, last = self.writing
        return self.rng.uniform(0, last) if number % 2 else self.rng.uniform(0.8 * first, last)

    def disturb(self, way, number):
        """Runs once and disturbs it; the exit code and stderr."""
        at, spare = self.moment(number), self.rng.choice([0, 0, 100, 4096, 100000])
        options = {}
        if way == "full" and not self.disk.mounted:
            limit = self.rng.randrange(0, 200000)
            options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        process = self.start(**options)
        time.sleep(at)
        if way == "full" and self.disk.mounted:
            self.disk.fill(spare)
        elif way != "full" and process.poll() is None:
            process.send_signal(signal.SIGKILL if way == "kill" else signal.SIGTERM)
        _, stderr = process.communicate(timeout=600)
        return process.returncode, stderr

    def check_exit(self, way, code, stderr):
        allowed = {"kill": (-signal.SIGKILL, DONE), "full": (DONE, BAD_INPUT),
                   "term": (DONE, INTERRUPTED, -signal.SIGTERM)}[way]  # too early for its handler
        require(code in allowed, f"exit {code}: {stderr!r}")
        if code == BAD_INPUT:
            told = [line for line in stderr.split(b"\n")
                    if line.startswith(b"regraft: ") and b": warning: " not in line]
            require(len(told) == 1 and b"cannot be written" in told[0], f"{stderr!r}")

    def check_files(self, before, code):
        after = contents(self.folder)
        fates = collections.Counter()
        for name in self.job.outputs:
            if name not in after:
                require(name not in before, f"{name} has vanished")
                fates[f"{name}: absent"] += 1
                continue
            same = after[name] == before.get(name)
            require(code != BAD_INPUT or same or self.job.name == "calibrate",
                    f"exit 3, but {name} was written")
            self.job.check(self.folder, name, after[name])
            fates[f"{name}: {'as before' if same else 'new'}"] += 1
        for name in self.job.kept:
            if name in after and after[name]:
                self.job.check_kept(self.folder, name, after[name])
        for name in self.inputs:
            if name not in self.job.outputs:
                require(after.get(name) == self.inputs[name], f"the input {name} was changed")
        known = {*self.inputs, *self.job.outputs, *self.job.kept}
        left = [name for name in after if name not in known]
        for name in left:
            require(TEMPORARY.fullmatch(name) or DATA.fullmatch(name), f"a file '{name}' is left")
            fates["temporary file left" if TEMPORARY.fullmatch(name) else "data file"] += 1
            require(code < 0 or not TEMPORARY.fullmatch(name), f"'{name}' is left")
        return fates

    def check_rerun(self):
        run_well(self.job.command(self.folder))
        after = contents(self.folder)
        for name in self.job.exact:
            require(after[name] == self.good[name], f"{name}: other bytes than of an undisturbed run")
        for name, data in self.good.items():
            require(after.get(name) == data, f"{name}: other bytes than of an undisturbed run")
        for name in self.job.outputs:
            require(name in after, f"{name} is not written")
            self.job.check(self.folder, name, after[name])
        for name in after:
            require(not TEMPORARY.fullmatch(name), f"'{name}' is still there")
            if DATA.fullmatch(name):
                require(name in self.good, f"the data '{name}' of an older model is still there")

    def one(self, way, number):
        self.reset(with_old=number % 4 < 2)
        before = contents(self.folder)
        code, stderr = self.disturb(way, number)
        self.disk.empty()
        self.check_exit(way, code, stderr)
        fates = self.check_files(before, code)
        self.check_rerun()
        return code, fates


def campaign(job, way, moments, seed, disk):
    c = Campaign(job, disk, random.Random(f"{seed} {job.name} {way}"))
    codes, fates, problems = collections.Counter(), collections.Counter(), []
    for number in range(moments):
        try:
            code, fate = c.one(way, number)
            codes[str(code)] += 1
            fates += fate
        except (Problem, ValueError, OSError, KeyError, subprocess.SubprocessError,
                onnx.checker.ValidationError) as problem:
            problems.append(f"moment {number}: {type(problem).__name__}: {problem}")
            print(f"{job.name} {way} {problems[-1]}", file=sys.stderr, flush=True)
            disk.empty()
    return {"job": job.name, "way": way, "moments": moments, "exit_codes": dict(codes),
            "left": dict(sorted(fates.items())), "problems": problems,
            "undisturbed_seconds": round(c.seconds, 3)}


def write_report(args, disk, results):
    """So far."""
    if not args.json:
        return
    report = {"seed": args.seed, "campaigns": results,
              "full_disk": f"a tmpfs of {DISK}" if disk.mounted else "RLIMIT_FSIZE",
              "moments": sum(r["moments"] for r in results),
              "problems": sum(len(r["problems"]) for r in results),
              "program": run(["--version"]).stdout.decode().strip()}
    args.json.write_text(json.dumps(report, indent=1) + "\n")


def main():
    global REGRAFT
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regraft")
    parser.add_argument("--moments", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    REGRAFT = os.path.abspath(args.regraft)
    os.environ["REGRAFT_PROFILES"] = ""
    results = []
    disk = Disk(mounted=True)
    try:
        for name in args.jobs.split(","):
            for way in args.ways.split(","):
                results.append(campaign(JOBS[name], way, args.moments, args.seed, disk))
                write_report(args, disk, results)
                r = results[-1]
                print(f"{name} {way}: {r['moments']} moments, exit codes {r['exit_codes']}, "
                      f"{len(r['problems'])} problems; {r['left']}", flush=True)
    finally:
        disk.close()
    return 1 if any(r["problems"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
