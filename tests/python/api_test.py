#!/usr/bin/env python3
"""The Python API, with the libregraft.so of the build.

  REGRAFT_LIBRARY=build/release/libregraft.so python api_test.py [TestClass[.test]]
"""
import ast
import doctest
import importlib
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "python"), str(venv.ROOT / "bench/models")]

import numpy as np  # noqa: E402
import onnx.reference  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import build_models  # noqa: E402
import regraft  # noqa: E402
from regraft import _library, drop_in  # noqa: E402

PACKAGE = pathlib.Path(regraft.__file__).resolve().parent
# Options of the command line that are arguments of other names, or the library's own.
OWN = {"json", "quiet"}


def chain(nodes=3, weight=0.5):
    """x W W .. W, with a node that does nothing."""
    w = numpy_helper.from_array(np.full((4, 4), weight, np.float32), "w")
    made = [helper.make_node("Identity", ["x"], ["v0"])]
    made += [helper.make_node("MatMul", [f"v{k}", "w"], [f"v{k + 1}"]) for k in range(nodes)]
    value = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 4])
    graph = helper.make_graph(made, "chain", [value("x", "n")], [value(f"v{nodes}", "n")], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outputs(model, x):
    return onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0]


def python(code, **options):
    environment = {**os.environ, "PYTHONPATH": str(venv.ROOT / "python")}
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment, **options)


class Files(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)

    def saved(self, model, name="model.onnx"):
        path = self.folder / name
        onnx.save(model, path)
        return path


class Options(unittest.TestCase):
    def test_keywords_are_those_of_the_command_line(self):
        commands = {"optimize": regraft.optimize, "simplify": regraft.simplify,
                    "validate": regraft.validate, "check": regraft.check, "stats": regraft.stats,
                    "verify": regraft.verify, "generate": regraft.generate,
                    "rules show": regraft.rules}
        for command, function in commands.items():
            there = {o["name"].replace("-", "_") for o in _library.options(command)["options"]}
            there -= OWN | ({"rule", "derivations", "more", "claims"} if command == "check" else set())
            here = set(inspect.signature(function).parameters) - {"progress", "check_n", "onnxsim"}
            self.assertEqual(here, there, command)

    def test_unknown_commands_have_no_options(self):
        self.assertIsNone(_library.options("optimise"))
        self.assertIn("simplify", _library.options("")["commands"])

    def test_no_rule_files_are_not_the_shipped_ones(self):
        with self.assertRaisesRegex(regraft.UsageError, "rules: an empty list"):
            regraft.optimize(chain(), rules=[])

    def test_what_an_option_does_not_take_is_a_usage_error(self):
        for wrong in (dict(search="nothing"), dict(check="many"), dict(portable="yes"),
                      dict(seed=object())):
            with self.subTest(wrong), self.assertRaises((regraft.UsageError, TypeError)):
                regraft.optimize(chain(), **wrong)


class Kinds(Files):
    def optimized(self, model, **options):
        return regraft.optimize(model, no_measure=True, cost="roofline", **options)

    def test_a_path_bytes_and_a_proto_give_the_same_model(self):
        proto = chain()
        results = [self.optimized(self.saved(proto)), self.optimized(str(self.saved(proto))),
                   self.optimized(proto.SerializeToString()), self.optimized(proto)]
        self.assertEqual(len({r.data for r in results}), 1)
        self.assertIsInstance(results[0].model, onnx.ModelProto)
        self.assertIsInstance(results[2].model, bytes)
        self.assertIsInstance(results[3].model, onnx.ModelProto)
        self.assertLess(len(results[3].model.graph.node), len(proto.graph.node))

    def test_a_model_of_onnx_ir(self):
        try:
            import onnx_ir
        except ImportError:
            self.skipTest("no onnx_ir")
        model = onnx_ir.from_proto(chain())
        before = onnx_ir.to_proto(model).SerializeToString()
        result = self.optimized(model)
        self.assertIsInstance(result.model, onnx_ir.Model)
        self.assertLess(len(result.model.graph), len(model.graph))
        self.assertEqual(onnx_ir.to_proto(model).SerializeToString(), before)

    def test_a_model_of_onnx_ir_whose_data_lies_elsewhere(self):
        try:
            import onnx_ir
        except ImportError:
            self.skipTest("no onnx_ir")
        path = self.folder / "external.onnx"
        onnx.save(chain(), path, save_as_external_data=True, size_threshold=0, location="data")
        result = self.optimized(onnx_ir.load(path))
        self.assertLess(len(result.model.graph), 4)

    def test_the_argument_stays_as_it_is(self):
        proto = chain()
        before = proto.SerializeToString()
        self.optimized(proto)
        regraft.simplify(proto)
        regraft.slim(proto)
        self.assertEqual(proto.SerializeToString(), before)

    def test_the_result_computes_the_same(self):
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        model, report = self.optimized(chain())
        np.testing.assert_allclose(outputs(model, x), outputs(chain(), x), rtol=1e-5)
        self.assertTrue(report["check"]["passed"])

    def test_out_is_a_file(self):
        out = self.folder / "out.onnx"
        result = self.optimized(chain(), out=out)
        self.assertEqual((result.model, result.path), (str(out), str(out)))
        onnx.checker.check_model(onnx.load(out))
        saved = self.folder / "saved.onnx"
        self.optimized(chain()).save(saved)
        self.assertEqual(saved.read_bytes(), out.read_bytes())

    def test_external_data_by_path(self):
        path = self.folder / "external.onnx"
        onnx.save(chain(), path, save_as_external_data=True, size_threshold=0, location="data")
        out = self.folder / "out.onnx"
        self.optimized(path, out=out)
        x = np.ones((1, 4), np.float32)
        np.testing.assert_allclose(outputs(onnx.load(out), x), outputs(chain(), x), rtol=1e-5)
        self.assertLess(len(self.optimized(path).model.graph.node), 4)

    def test_warnings_name_the_line_that_called(self):
        for call in (lambda: regraft.generate(ops="core", max_size=4, time=0.01, progress=False),
                     lambda: regraft.optimize(chain(), no_measure=True, max_size=1)):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                call()
            self.assertEqual([w.filename for w in told], [__file__])
            self.assertFalse(str(told[0].message).startswith(("warning", "regraft")))

    def test_shapes_are_mappings(self):
        result = self.optimized(chain(), shape={"x": [2, 4]})
        dims = result.model.graph.input[0].type.tensor_type.shape.dim
        self.assertEqual([d.dim_value for d in dims], [2, 4])
        self.assertEqual(result.report["fixed_shapes"], ["x=2,4"])
        fixed = self.optimized(chain(), dim={"n": np.int64(3)})
        self.assertEqual(fixed.report["fixed_dims"], ["n=3"])


class Errors(Files):
    def test_bad_input_names_the_place(self):
        with self.assertRaisesRegex(regraft.InputError, "^model: is not an ONNX model"):
            regraft.stats(b"nothing")
        missing = self.folder / "missing.onnx"
        with self.assertRaisesRegex(ValueError, f"^{missing}: cannot be opened"):
            regraft.stats(missing)
        with self.assertRaises(regraft.RegraftError):
            regraft.rules(b"no rule")

    def test_what_is_no_model(self):
        for wrong in (None, 3, [chain()], object()):
            with self.subTest(wrong), self.assertRaises(TypeError):
                regraft.optimize(wrong)

    def test_standard_output_is_not_to_be_had(self):
        with self.assertRaisesRegex(regraft.InputError, "standard output"):
            regraft.simplify(chain(), out="-")

    def test_an_option_that_has_no_text_is_named(self):
        for wrong in (dict(time=float("nan")), dict(growth=float("inf")), dict(proof=b"kernel"),
                      dict(time=object()), dict(seed=-1), dict(disable_rule=[""])):
            with self.subTest(wrong), self.assertRaisesRegex(regraft.UsageError, list(wrong)[0]):
                regraft.optimize(chain(), **wrong)
        here = set(os.listdir())
        for out in ("", "a\0b.onnx", os.fsdecode(b"\xff.onnx")):
            with self.subTest(out), self.assertRaises((regraft.UsageError, regraft.InputError)):
                regraft.simplify(chain(), out=out)
        self.assertEqual(set(os.listdir()), here)

    def test_nothing_is_half_written(self):
        out = self.folder / "out.onnx"
        with self.assertRaises(regraft.InputError):
            regraft.optimize(b"nothing", out=out)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_library_that_is_not_there(self):
        code = "import regraft; regraft.rules()"
        with unittest.mock.patch.dict(os.environ, REGRAFT_LIBRARY="/nowhere/libregraft.so"):
            run = python(code)
        _, told = run.communicate(timeout=60)
        self.assertIn("LibraryError: libregraft.so is not at /nowhere/libregraft.so", told)


class Commands(Files):
    def test_validate(self):
        changed = chain(weight=0.25)
        proved = regraft.validate(chain(), regraft.simplify(chain())[0], certificate=True)
        self.assertTrue(proved.proved, str(proved))
        self.assertIn(b"regraft", proved.certificate)
        again = regraft.check(chain(), regraft.simplify(chain())[0],
                              validation=proved.certificate)
        self.assertEqual(again.messages, [])
        refuted = regraft.validate(chain(), changed)
        self.assertTrue(refuted.refuted and not refuted.proved, str(refuted))

    def test_check(self):
        self.assertTrue(regraft.check(chain(), chain(), runs=3)["passed"])
        self.assertFalse(regraft.check(chain(), chain(weight=0.25))["passed"])

    def test_a_certificate_of_optimize_is_replayed(self):
        path = self.folder / "certificate.json"
        result = regraft.optimize(chain(), no_measure=True, cost="roofline", certificate=path)
        regraft.check(chain(), result.data, certificate=path)
        with self.assertRaises(regraft.RegraftError):
            regraft.check(chain(), chain(weight=0.25), certificate=path.read_bytes())

    def test_what_was_won_is_explained(self):
        report = regraft.optimize(chain(), no_measure=True, explain=True).report
        self.assertEqual(report.explain(), report["explanation"]["text"])
        self.assertIn("us won", report.explain())
        with self.assertRaisesRegex(regraft.InputError, "explain=True"):
            regraft.optimize(chain(), no_measure=True).report.explain()

    def test_a_command_that_the_result_must_pass(self):
        self.assertTrue(regraft.optimize(chain(), no_measure=True, bisect="test -s").data)
        with self.assertRaisesRegex(regraft.CheckFailed, "without any step"):
            regraft.optimize(chain(), no_measure=True, bisect="false")

    def test_the_page_of_optimize(self):
        path = self.saved(build_models.MODELS["tiny_lora"](0))
        untimed = dict(no_measure=True, cost="roofline")
        report = regraft.optimize(path, **untimed).report
        page = report.to_html()
        tree = xml.etree.ElementTree.fromstring(page.replace("<!DOCTYPE html>", ""))
        drawn = [e for e in tree.iter("svg") if e.get("class") == "graph whole"]
        self.assertEqual(len(drawn), 2)
        written = self.folder / "page.html"
        again = regraft.optimize(path, report=written, **untimed).report
        with_seconds = page.index('<h2 id="search"')
        self.assertEqual(again.to_html(), written.read_text(encoding="utf-8"))
        self.assertEqual(again.to_html()[:with_seconds], page[:with_seconds])
        subprocess.run([os.environ["REGRAFT"], "optimize", path, self.folder / "out", "-q",
                        "--no-measure", "--cost", "roofline", "--report", written], check=True)
        self.assertEqual(written.read_text(encoding="utf-8")[:with_seconds], page[:with_seconds])
        written.unlink()
        with self.assertRaisesRegex(regraft.InputError, "page.html"):
            again.to_html()
        self.assertIsNone(again._repr_html_())

    def test_a_notebook_shows_the_page(self):
        result = regraft.optimize(chain(), no_measure=True)
        frame = xml.etree.ElementTree.fromstring(result._repr_html_())
        self.assertEqual((frame.tag, frame.get("sandbox")), ("iframe", "allow-scripts"))
        shown = " ".join(frame.get("srcdoc").split())  # XML reads line ends as spaces
        self.assertEqual(shown, " ".join(result.report.to_html().split()))
        self.assertNotIn(tempfile.gettempdir() + "/", shown)

    def test_stats(self):
        found = regraft.stats(chain())
        self.assertEqual((found["nodes"], found["opset"]), (4, 17))
        self.assertEqual(json.loads(found.to_json()), dict(found))

    def test_verify_and_rules(self):
        text = b"right  (neg (neg ?x)) => ?x\nwrong  (neg ?x) => ?x\n"
        verdicts = {r["name"]: r["verdict"] for r in regraft.verify(text)["rules"]}
        self.assertEqual(verdicts, {"right": "proved:all-sizes", "wrong": "refuted"})
        listed = regraft.rules(text)
        self.assertEqual([r.name for r in listed], ["right", "wrong"])
        shipped = regraft.rules()
        self.assertTrue(all(r.verdict.startswith("proved") for r in shipped))

    def test_generate(self):
        out = self.folder / "candidates.rules"
        found = regraft.generate(ops="core", max_size=1)
        self.assertEqual(found.text, regraft.generate(ops="core", max_size=1, out=out).text)
        self.assertEqual(len(regraft.verify(found.text)["rules"]), found.report["candidates"])
        self.assertEqual(len(regraft.rules(out)), found.report["candidates"])


class DropIn(Files):
    def test_simplify_as_onnxsim(self):
        model, ok = regraft.simplify(chain(), check_n=3, overwrite_input_shapes={"x": [1, 4]},
                                     skip_shape_inference=True, include_subgraph=True)
        self.assertTrue(ok)
        self.assertEqual(model.graph.input[0].type.tensor_type.shape.dim[0].dim_value, 1)
        model, ok = regraft.simplify(str(self.saved(chain())))
        self.assertIsInstance(model, onnx.ModelProto)

    def test_what_was_not_compared_is_not_said_to_be(self):
        model, ok = regraft.simplify(chain(), check=0)
        self.assertIs(ok, False)
        self.assertLess(len(model.graph.node), len(chain().graph.node))

    def test_slim_as_onnxslim(self):
        out = str(self.folder / "slim.onnx")
        self.assertIsNone(regraft.slim(str(self.saved(chain())), out))
        self.assertIsInstance(regraft.slim(onnx.load(out)), onnx.ModelProto)
        model = regraft.slim(chain(), model_check=True, input_shapes=["x:1,4"])
        self.assertEqual(model.graph.input[0].type.tensor_type.shape.dim[0].dim_value, 1)

    def test_what_would_be_another_model_is_refused(self):
        for wrong in (dict(target_opset_version=21), dict(unused_output=["y"])):
            with self.subTest(wrong), self.assertRaises(regraft.UsageError):
                regraft.simplify(chain(), **wrong)
        for wrong in (dict(dtype="fp16"), dict(outputs=["y"])):
            with self.subTest(wrong), self.assertRaises(regraft.UsageError):
                regraft.slim(chain(), **wrong)

    def test_a_failed_check_gives_the_original(self):
        def fails(*_):
            raise regraft.CheckFailed("differs")
        proto = chain()
        with unittest.mock.patch.object(drop_in, "rewritten", fails), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, ok = regraft.simplify(proto)
        self.assertFalse(ok)
        self.assertEqual(model, proto)


# Enumerates for minutes.
LONG = "regraft.generate(ops='core', max_size=5, progress=False)"


class Interruption(Files):
    def interrupted(self, code, after):
        """What a Python prints that is sent SIGINT so long after it says that it begins."""
        run = python("import regraft, sys\nprint('begins', flush=True)\n" + code)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.assertEqual(run.stdout.readline(), "begins\n")
        time.sleep(after)
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        out, told = run.communicate(timeout=120)
        return out, told, time.monotonic() - sent

    def test_the_best_so_far_is_returned(self):
        path = self.saved(build_models.MODELS["resnet50"](0))
        out, told, seconds = self.interrupted(
            f"r = regraft.optimize({str(path)!r}, no_measure=True, search='backtracking',"
            " budget=10**9, search_time=0)\n"
            "print(r.interrupted, len(r.data) > 0)", 3)
        self.assertEqual(out, "True True\n", told)
        self.assertLess(seconds, 60)

    def test_what_has_nothing_to_give_stops(self):
        out, told, seconds = self.interrupted(
            f"g = {LONG}\nprint(g.report['candidates'] >= 0)", 2)
        self.assertEqual(out, "True\n", told)
        self.assertLess(seconds, 60)

    def test_the_next_call_begins_anew(self):
        out, told, _ = self.interrupted(
            f"{LONG}\nprint(len(regraft.rules()) > 100)", 1)
        self.assertEqual(out, "True\n", told)


class Process(Files):
    def test_nothing_is_printed_and_nothing_is_set(self):
        path = self.saved(chain())
        run = python(
            "import regraft, resource, signal\n"
            "limit, handler = resource.getrlimit(resource.RLIMIT_DATA), signal.getsignal(2)\n"
            f"regraft.optimize({str(path)!r}, no_measure=True)\nregraft.stats({str(path)!r})\n"
            f"regraft.validate({str(path)!r}, {str(path)!r})\n"
            "assert limit == resource.getrlimit(resource.RLIMIT_DATA)\n"
            "assert handler == signal.getsignal(2)\n")
        out, told = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out, told), (0, "", ""))

    def test_calls_from_several_threads(self):
        found, wrong = [], []

        def work(k):
            try:
                found.append((k, regraft.stats(chain(k))["nodes"]))
            except Exception as error:
                wrong.append(error)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(sorted(found), [(k, k + 1) for k in range(1, 6)])

    def test_a_forked_process_works_and_says_nothing(self):
        run = python(
            "import multiprocessing, regraft\n"
            "text = b'twice  (neg (neg ?x)) => ?x\\n'\n"
            "work = lambda k: regraft.verify(text, threads=8)['proved']\n"
            "assert work(0) == 1\n"
            "child = multiprocessing.get_context('fork').Process(\n"
            "    target=lambda: exit(0 if work(1) == 1 else 1))\n"
            "child.start(); child.join(); assert child.exitcode == 0\n")
        out, told = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out, told), (0, "", ""))

    def test_progress_is_told(self):
        seen = []
        regraft.generate(ops="core", max_size=2, audit=20, progress=seen.append)
        self.assertTrue(any(now.label and now.done > 0 for now in seen), seen[:3])

    def test_a_bar_needs_tqdm(self):
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            with self.assertRaisesRegex(regraft.UsageError, "needs tqdm"):
                regraft.generate(ops="core", max_size=1, progress=True)

    def test_no_files_stay_open(self):
        def opened():
            return len(os.listdir("/proc/self/fd"))
        regraft.simplify(chain())
        before = opened()
        for _ in range(5):
            regraft.simplify(chain())
        self.assertEqual(opened(), before)

    def test_the_program_is_the_same(self):
        run = subprocess.run([sys.executable, "-m", "regraft", "--version"], text=True,
                             capture_output=True, timeout=60,
                             env={**os.environ, "PYTHONPATH": str(venv.ROOT / "python")})
        self.assertEqual(run.stdout.strip(), "regraft " + regraft.__version__, run.stderr)


class Package(unittest.TestCase):
    def test_examples(self):
        for name in ("api", "drop_in"):
            module = importlib.import_module("regraft." + name)
            finder = doctest.DocTestFinder(exclude_empty=True)
            tests = finder.find(module, extraglobs={"regraft": regraft, "onnx": onnx,
                                                    "model": chain()})
            run = [doctest.DocTestRunner().run(test) for test in tests if test.examples]
            self.assertTrue(run)
            self.assertEqual(sum(r.failed for r in run), 0)

    def test_each_call_has_an_example(self):
        calls = [f for f in map(regraft.__dict__.get, regraft.__all__) if inspect.isfunction(f)]
        self.assertEqual([f.__name__ for f in calls if ">>>" not in f.__doc__], [])

    def test_python_3_9_understands_it(self):
        for path in PACKAGE.rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))

    def test_importing_loads_nothing_else(self):
        run = python("import sys, regraft\n"
                     "print(*{'numpy', 'onnx', 'onnxruntime', 'tqdm', 'torch'} & set(sys.modules))")
        self.assertEqual(run.communicate(timeout=60)[0].strip(), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
