#!/usr/bin/env python3
"""Files, signals and other programs: what is written, where, and what ends it.

  python files_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
import untimed  # noqa: E402, F401
sys.path.insert(0, str(venv.ROOT / "bench/models"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import build_models  # noqa: E402

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 3, 130
RULES = pathlib.Path(os.environ.get("REGRAFT_RULES", venv.ROOT / "substitutions")) / "hand.rules"
SMALL_RULES = venv.ROOT / "tests/data/rules/valid/matmul.rules"
CANDIDATES = venv.ROOT / "substitutions/core.rules"
REGRAFT = ""


class Base(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        self.model = self.folder / "model.onnx"
        onnx.save(build_models.MODELS["tiny_fire"](0), self.model)
        self.out = self.folder / "out.onnx"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def start(self, *arguments, **options):
        return subprocess.Popen([REGRAFT, *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **{"env": self.environment, **options})

    def regraft(self, *arguments, **options):
        process = self.start(*arguments, **options)
        process.out, process.err = process.communicate(timeout=300)
        return process

    def optimize(self, *more, model=None, out=None, **options):
        return self.regraft("optimize", model or self.model, "-o", out or self.out, "--budget",
                            "2000", "--cost", "roofline", *more, **options)

    def assert_done(self, run):
        self.assertEqual(run.returncode, DONE, run.out + run.err)

    def assert_refused(self, run, place=b""):
        self.assertEqual(run.returncode, BAD_INPUT, run.out + run.err)
        self.assertEqual(run.err.count(b"\n"), 1, run.err)
        self.assertIn(place, run.err)

    def files(self):
        """All files below the folder with what is in them."""
        return {str(p.relative_to(self.folder)): p.read_bytes()
                for p in self.folder.rglob("*") if p.is_file()}

    def external(self, name="external.onnx"):
        path = self.folder / name
        onnx.save(build_models.MODELS["tiny_fire"](0), path, save_as_external_data=True,
                  location=f"{name}.weights", size_threshold=0)
        return path, self.folder / f"{name}.weights"


class Outputs(Base):
    def test_a_pipe_is_written_in_place(self):
        self.assert_done(self.optimize())
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        received = []
        reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
        reader.start()
        self.assert_done(self.optimize(out=pipe))
        reader.join(timeout=60)
        self.assertEqual(received, [self.out.read_bytes()])
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))

    def test_a_device_stays_one(self):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            with open(device, "wb"):
                pass
        except PermissionError:
            device = pathlib.Path("/dev/null")
        for arguments in (("--json", device), ("--certificate", device), ("--report", device)):
            self.assert_done(self.optimize(*arguments))
        self.assert_done(self.optimize(out=device))
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))

    def test_standard_output(self):
        self.assert_done(self.optimize())
        for name in ("-", "/dev/stdout"):
            run = self.optimize(out=name)
            self.assert_done(run)
            self.assertEqual(run.out, self.out.read_bytes())
            self.assertIn(b"operators", run.err)
            report = self.optimize("--json", name)
            self.assert_done(report)
            self.assertIn("search", json.loads(report.out))
        self.assertNotIn("-", os.listdir(self.folder))
        self.assert_refused(self.optimize("--json", "-", out="-"), b"different")

    def test_mode_and_links_are_kept(self):
        real = self.folder / "real.onnx"
        real.write_bytes(b"old")
        real.chmod(0o640)
        self.out.symlink_to("real.onnx")
        self.assert_done(self.optimize())
        self.assertTrue(self.out.is_symlink())
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o640)
        onnx.load(real)

    def test_what_cannot_be_written_is_known_before_anything_is(self):
        self.out.write_bytes(b"old")
        before = self.files()
        nowhere = self.folder / "none" / "x"
        for more in (("--json", nowhere), ("--certificate", nowhere), ("--json", self.folder),
                     ("--json", "/dev/full"), ("--certificate", "/dev/full"),
                     ("--report", nowhere), ("--report", "/dev/full")):
            self.assert_refused(self.optimize(*more), str(more[1]).encode())
            self.assertEqual(self.files(), before)
        for name in ("none/x", "."):
            self.assert_refused(self.optimize(out=self.folder / name))
        generate = ("generate", "--ops", "core", "--max-size", "2", "-o", self.folder / "c.rules")
        for more in (("--json", nowhere), ("--checkpoint", nowhere)):
            start = time.monotonic()
            self.assert_refused(self.regraft(*generate, *more), b"none/x")
            self.assertLess(time.monotonic() - start, 10)
        for command in (("verify", RULES, "-o", nowhere), ("verify", RULES, "--json", nowhere),
                        ("check", self.model, self.model, "--json", nowhere),
                        ("calibrate", "--runtime", "cpu", "-o", "/proc/x/y"),
                        ("train", "--graphs", self.model, "-o", nowhere)):
            self.assert_refused(self.regraft(*command))
        self.assertEqual(self.files(), before)

    def test_a_full_disk_leaves_what_was_there(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        self.out.write_bytes(b"old")
        before = self.files()
        external, _ = self.external()
        before = self.files()
        for model in (self.model, external):
            self.assert_refused(self.optimize(model=model, preexec_fn=limit), b"cannot be written")
            self.assertEqual(self.files(), before)
        self.assert_refused(self.regraft("verify", SMALL_RULES, "-o", self.out, "-q",
                                         preexec_fn=limit))
        self.assertEqual(self.files(), before)

    def test_a_closed_reader_is_no_crash(self):
        read, write = os.pipe()
        os.close(read)
        run = subprocess.run([REGRAFT, "rules", "show", CANDIDATES], stdout=write,
                             stderr=subprocess.PIPE, timeout=60)
        os.close(write)
        self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
        self.assertIn(b"standard output", run.stderr)

    def test_nothing_temporary_stays(self):
        self.assert_done(self.optimize("--json", self.folder / "r", "--certificate",
                                       self.folder / "c", "--report", self.folder / "h"))
        left = [name for name in self.files() if "tmp" in name or name.startswith(".")]
        self.assertEqual(left, [])


class Identity(Base):
    """No output is an input or another output, whatever they are called."""

    def names_of(self, path):
        """The path, another way to write it, a symbolic and a hard link."""
        soft, hard = self.folder / "soft", self.folder / "hard"
        for link in (soft, hard):
            link.unlink(missing_ok=True)
        soft.symlink_to(path)
        names = [path, self.folder / "." / ".." / self.folder.name / path.name, soft]
        if path.exists():
            os.link(path, hard)
            names.append(hard)
        return names

    def assert_all_refused(self, path, command):
        """`command` gets each name of the path."""
        for name in self.names_of(path):
            before = self.files()
            self.assert_refused(self.regraft(*command(name)), b"different files")
            self.assertEqual(self.files(), before)

    def test_inputs_of_optimize_survive(self):
        external, weights = self.external()
        rules, profile, policy = (self.folder / n for n in ("a.rules", "a.profile", "a.policy"))
        rules.write_bytes(RULES.read_bytes())
        self.assert_done(self.regraft("calibrate", "--runtime", "single", "-o", profile))
        shipped = next((venv.ROOT / "rl/policies").glob("*.policy"))
        policy.write_bytes(shipped.read_bytes())
        usual = ("optimize", external, "-o", self.out, "--rules", rules, "--cost", profile,
                 "--search", "policy", "--policy", policy)
        for path in (weights, rules, profile, policy):
            self.assert_all_refused(path, lambda name: (*usual[:2], "-o", name, *usual[4:]))
        for path in (external, weights, rules, profile, policy, self.out):
            self.assert_all_refused(path, lambda name: (*usual, "--json", name))
            self.assert_all_refused(path, lambda name: (*usual, "--certificate", name))
            self.assert_all_refused(path, lambda name: (*usual, "--report", name))
        self.assert_all_refused(self.folder / "x",
                                lambda name: (*usual, "--json", self.folder / "x",
                                              "--certificate", name))

    def test_inputs_of_the_others_survive(self):
        rules, out = self.folder / "a.rules", self.folder / "out.rules"
        rules.write_bytes(RULES.read_bytes())
        verify = ("verify", rules, "-o", out)
        for flag in ("--json", "--cache"):
            for path in (rules, out):
                self.assert_all_refused(path, lambda name: (*verify, flag, name))
        self.assert_all_refused(self.model, lambda name: ("check", self.model, self.model, "--json",
                                                          name))
        train = ("train", "--graphs", self.model, "-o", self.folder / "p")
        for flag in ("--json", "--log", "--state"):
            self.assert_all_refused(self.model, lambda name: (*train, flag, name))
        self.assert_all_refused(self.model, lambda name: ("calibrate", self.model, "--runtime",
                                                          "cpu", "-o", name))
        generate = ("generate", "--max-size", "1", "-o", out)
        for flag in ("--json", "--checkpoint"):
            self.assert_all_refused(out, lambda name: (*generate, flag, name))

    def test_a_model_may_take_its_own_place(self):
        for name in self.names_of(self.model):
            self.assert_done(self.optimize(model=self.model, out=name))
            onnx.checker.check_model(onnx.load(self.model))

    def test_external_data_in_place(self):
        external, weights = self.external()
        before = onnx.load(external)
        for _ in range(2):
            self.assert_done(self.optimize("--check", "1", model=external, out=external))
            onnx.checker.check_model(str(external))
            data = list(self.folder.glob("external.onnx.*.data"))
            self.assertEqual(len(data), 1)
        self.assertTrue(weights.exists())
        self.assertLess(len(onnx.load(external).graph.node), len(before.graph.node) + 1)


class Isolation(Base):
    """Nothing is imported or started from the current folder."""

    def planted(self):
        here, proof = self.folder / "here", self.folder / "planted_code_ran"
        here.mkdir()
        code = f"open({str(proof)!r}, 'w').close()\n"
        for name in ("json", "regraft", "onnxruntime", "numpy", "onnx", "sitecustomize",
                     "usercustomize", "runpy", "argparse", "os", "site"):
            (here / f"{name}.py").write_text(code)
        (here / "worker").mkdir()
        for program in ("python3", "python", "nvidia-smi"):
            script = here / program
            script.write_text(f"#!/bin/sh\ntouch {proof}\n")
            script.chmod(0o755)
        return here, proof

    def test_planted_modules_do_not_run(self):
        here, proof = self.planted()
        time_it = ("cost", "time", self.model, "--runtime", "onnxruntime", "--time", "1")
        for more in ({}, {"PYTHONPATH": ""}, {"PYTHONPATH": ":"}, {"PYTHONPATH": "."},
                     {"PYTHONSTARTUP": str(here / "json.py")}, {"LD_LIBRARY_PATH": ":"}):
            environment = {**self.environment, "REGRAFT_PYTHON": sys.executable, **more}
            run = self.regraft(*time_it, cwd=here, env=environment)
            self.assertFalse(proof.exists(), more)
            self.assert_done(run)

    def test_planted_programs_are_not_started(self):
        here, proof = self.planted()
        for path in ("", ".", ":/usr/bin:/bin", "/usr/bin:.:/bin", "here"):
            environment = {**self.environment, "PATH": path}
            environment.pop("REGRAFT_PYTHON", None)
            self.regraft("cost", "time", self.model, "--time", "1", cwd=here, env=environment)
            self.assertFalse(proof.exists(), path)


class Signals(Base):
    """The first signal keeps what was found, the second kills."""

    def interrupted(self, *arguments, after=1.5, how=signal.SIGTERM, within=20):
        process = self.start(*arguments)
        time.sleep(after)
        self.assertIsNone(process.poll(), "it ended before it was interrupted")
        process.send_signal(how)
        begin = time.monotonic()
        process.out, process.err = process.communicate(timeout=120)
        self.assertLess(time.monotonic() - begin, within)
        self.assertEqual(process.returncode, INTERRUPTED, process.out + process.err)
        return process

    def slow(self, products=3):
        """A model of which one run takes a while: so many products of matrices."""
        value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT,
                                                                [1024, 1024])
        names = ["x", *(f"x{k}" for k in range(1, products)), "y"]
        nodes = [onnx.helper.make_node("MatMul", [m, "w"], [n]) for m, n in zip(names, names[1:])]
        weights = [onnx.numpy_helper.from_array(np.full((1024, 1024), 1e-3, np.float32), "w")]
        graph = onnx.helper.make_graph(nodes, "slow", [value("x")], [value("y")], weights)
        path = self.folder / "slow.onnx"
        onnx.save(onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    def test_search(self):
        model = self.folder / "vit.onnx"
        onnx.save(build_models.MODELS["tiny_vit"](0), model)
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.out.unlink(missing_ok=True)
            self.interrupted("optimize", model, "-o", self.out, "--search", "annealing",
                             "--budget", "1000000000", "--cost", "roofline", how=how)
            onnx.checker.check_model(onnx.load(self.out))

    def test_check_in_optimize(self):
        report = self.folder / "report.json"
        self.interrupted("optimize", self.model, "-o", self.out, "--check", "1000000", "--budget",
                         "1000", "--cost", "roofline", "--json", report)
        runs = json.loads(report.read_text())["check"]["runs"]
        self.assertTrue(1 <= runs < 1000000, runs)
        onnx.checker.check_model(onnx.load(self.out))

    def test_measurement(self):
        report = self.folder / "report.json"
        self.environment["REGRAFT_PYTHON"] = sys.executable
        self.interrupted("optimize", self.slow(), "-o", self.out, "--measure", "onnxruntime",
                         "--measure-time", "60", "--budget", "1000", "--cost", "roofline", "--json",
                         report, after=6)
        onnx.checker.check_model(onnx.load(self.out))
        self.assertIn("stopped before", json.loads(report.read_text())["note"])

    def test_generate(self):
        rules = self.folder / "c.rules"
        self.interrupted("generate", "--ops", "core", "--max-size", "3", "-o", rules, after=4)
        self.assert_done(self.regraft("rules", "stats", rules))

    def test_verify(self):
        rules = self.folder / "v.rules"
        self.interrupted("verify", CANDIDATES, "-o", rules, "--threads", "1")
        self.assertIn(b"=> ", rules.read_bytes())

    ENDLESS = ("--max-nodes", "10000000", "--slack", "60", "--max-steps", "2000000000")

    def test_derive(self):
        """Inside one goal, which would take hours."""
        goal = self.folder / "goal.rules"
        goal.write_text("g  (matmul (matmul (matmul ?a ?b) (matmul ?c (add ?d (mul ?e ?f)))) "
                        "(add ?a (add ?b (add ?c (add ?d ?e))))) => "
                        "(sigmoid (matmul ?a ?c))  for a:nn b:nn c:nn d:nn e:nn f:nn\n")
        for how in (signal.SIGINT, signal.SIGTERM):
            run = self.interrupted("rules", "derive", goal, "--from", CANDIDATES, *self.ENDLESS, how=how)
            self.assertIn(b"g: stopped", run.out)
        begin = time.monotonic()
        run = self.regraft("rules", "derive", goal, "--from", CANDIDATES, *self.ENDLESS, "--time", "1")
        self.assertEqual(run.returncode, FAILED)
        self.assertLess(time.monotonic() - begin, 20)

    def test_minimise(self):
        out = self.folder / "left"
        self.interrupted("rules", "minimise", CANDIDATES, "-o", out, *self.ENDLESS, "--threads", "1")
        self.assertIn(b"=> ", (out / "core.rules").read_bytes())

    def test_train(self):
        policy = self.folder / "p.policy"
        self.interrupted("train", "--graphs", self.model, "-o", policy, "--cost", "roofline",
                         "--iterations", "100000", after=4)
        self.assert_done(self.optimize("--search", "policy", "--policy", policy))

    def many_kernels(self):
        """A model whose kernels all differ: each is timed, so that a calibration lasts."""
        value = lambda size: onnx.helper.make_tensor_value_info(f"x{size}", onnx.TensorProto.FLOAT,
                                                                [size, size])
        sizes = range(64, 64 + 1000)
        nodes = [onnx.helper.make_node("MatMul", [f"x{n}", f"x{n}"], [f"y{n}"]) for n in sizes]
        outputs = [onnx.helper.make_tensor_value_info(f"y{n}", onnx.TensorProto.FLOAT, [n, n])
                   for n in sizes]
        graph = onnx.helper.make_graph(nodes, "kernels", [value(n) for n in sizes], outputs)
        path = self.folder / "kernels.onnx"
        onnx.save(onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    def test_calibrate(self):
        profile = self.folder / "a.profile"
        run = self.interrupted("calibrate", self.many_kernels(), "--runtime", "cpu", "-o", profile,
                               after=4)
        self.assertIn(b"kernels", run.err)
        self.assert_done(self.regraft("cost", "show", profile))

    def test_cost_time(self):
        slow = self.slow(products=60)  # a few hundred runs end a measurement
        run = self.interrupted("cost", "time", slow, "--runtime", "cpu", "--time", "60", after=3)
        self.assertIn(b"interrupted", run.err)
        self.environment["REGRAFT_PYTHON"] = sys.executable
        self.interrupted("cost", "time", slow, "--runtime", "onnxruntime", "--time", "60", after=5)

    def test_check(self):
        other = onnx.load(self.slow())
        other.graph.node[0].input[0] = "z"
        for last, name in (("x", "turned"), ("turned", "z")):
            other.graph.node.insert(0 if last == "x" else 1, onnx.helper.make_node(
                "Transpose", [last], [name], perm=[1, 0]))
        onnx.save(other, self.model)
        run = self.interrupted("check", self.folder / "slow.onnx", self.model, "--runs", "1000000")
        self.assertIn(b"interrupted", run.err)

    def test_the_second_kills(self):
        process = self.start("optimize", self.slow(), "-o", self.out, "--check", "1000000",
                             "--budget", "100", "--cost", "roofline")
        time.sleep(3)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)  # it goes on with the check
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertFalse(self.out.exists())


class Text(Base):
    """Bytes that are no UTF-8 and control characters."""

    def test_a_path_of_any_bytes(self):
        path = os.fsencode(self.folder) + b"/m\xff\x1b[31m.onnx"
        with open(path, "wb") as file:
            file.write(self.model.read_bytes())
        report = self.folder / "r.json"
        run = self.regraft(b"optimize", path, b"-o", os.fsencode(self.folder) + b"/o\xff.onnx",
                           b"--budget", b"100", b"--json", os.fsencode(report))
        self.assert_done(run)
        self.assertIn("\N{REPLACEMENT CHARACTER}", json.loads(report.read_bytes())["input"])
        self.assertNotIn(b"\x1b", run.out + run.err)
        os.truncate(path, 100)
        run = self.regraft(b"optimize", path, b"-o", b"/dev/null")
        self.assert_refused(run, b"m\\xff\\x1b[31m.onnx")

    def test_types_and_domains_of_any_bytes(self):
        model = onnx.load(self.model)
        node = model.graph.node.add()
        node.op_type, node.domain, node.name = "TYPEXX", "DOMAINXX", "NAMEXX"
        node.input.append(model.graph.output[0].name)
        node.output.append("made")
        model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info(
            "made", onnx.TensorProto.FLOAT, None))
        model.opset_import.add(domain="DOMAINXX", version=1)
        data = model.SerializeToString()
        for bad in (b"\xff\xfe", b"\x1b[", b"\n\r", b"\xc2\x9b"):
            path, report = self.folder / "bad.onnx", self.folder / "r.json"
            path.write_bytes(re.sub(rb"(?<=TYPE|MAIN|NAME)XX", lambda _: bad, data))
            run = self.optimize("--json", report, model=path)
            self.assert_done(run)
            self.assertTrue(any(k.startswith("DOMAIN")
                                for k in json.loads(report.read_bytes())["before"]["operators"]))
            shown = run.out + run.err
            self.assertNotRegex(shown, rb"[\x00-\x09\x0b-\x1f\xff]")
            self.assertEqual(shown.decode().count("TYPE"), 1)

    def test_errors_of_libraries_are_one_line(self):
        damaged = self.folder / "x.profile"
        damaged.write_bytes(b"\x08\x01\x12\x06\x0a\x04\x0a\x02\xff\xfe")  # a name that is no UTF-8
        self.assert_refused(self.regraft("cost", "show", damaged), b"x.profile")
        for size in (1, 10, 100, 1000):
            cut = self.folder / "cut.onnx"
            cut.write_bytes(self.model.read_bytes()[:size])
            run = self.optimize(model=cut)
            self.assertLessEqual(run.err.count(b"\n"), 1, run.err)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not re.search(r"regraft", sys.argv[1]):
        sys.exit("usage: files_test.py REGRAFT [TestClass[.test]]")
    REGRAFT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
