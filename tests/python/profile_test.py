#!/usr/bin/env python3
"""The package python/regraft: models in onnxruntime, and the protocol of its worker.

  python profile_test.py [TestClass[.test]]
"""
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path.insert(0, str(venv.ROOT / "python"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from regraft import kernels, openvino_runtime, runtime, small_models, statistic, worker  # noqa: E402


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    return {**kept, "PYTHONPATH": str(venv.ROOT / "python"), **more}


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, **{"env": environment(), **options})


def one_node(kind, shape, weights=(), wrapped=False, **attributes):
    """A model with one node, whose first input may go through a pooling that changes nothing."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    first = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    nodes = [helper.make_node("MaxPool", ["x"], ["wrap_0"], kernel_shape=[1, 1])] if wrapped else []
    named = [numpy_helper.from_array(w, f"w{k}") for k, w in enumerate(weights)]
    if kind:
        nodes.append(helper.make_node(kind, ["wrap_0" if wrapped else "x",
                                             *(w.name for w in named)], ["y"], **attributes))
    graph = helper.make_graph(nodes, "one", [first], [value("y" if kind else "wrap_0")], named)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def conv(channels, size, wrapped=True):
    weight = np.full((channels, channels, 3, 3), 0.01, np.float32)
    return one_node("Conv", [1, channels, size, size], [weight], wrapped, kernel_shape=[3, 3],
                    pads=[1, 1, 1, 1])


class Files(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)

    def save(self, name, model):
        path = self.folder / name
        onnx.save(model, path)
        return str(path)

    def bad(self):
        path = self.folder / "bad.onnx"
        path.write_bytes(b"\x08\x08not a model")
        return str(path)

    def answers(self, *requests):
        """Of the worker as another program sees it."""
        text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in requests) + "\n"
        run = python("-m", "regraft.profile", "--serve", input=text, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]


class Import(unittest.TestCase):
    def test_the_package_loads_nothing_heavy(self):
        run = python("-c", "import regraft, regraft.profile, sys;"
                     "print([m for m in ('onnx', 'onnxruntime', 'numpy') if m in sys.modules])")
        self.assertEqual(run.stdout.strip(), "[]", run.stderr)

    def test_telemetry_is_off_before_onnxruntime_is_loaded(self):
        watch = ("import sys, os\n"
                 "class Watch:\n"
                 "    def find_spec(self, name, *rest):\n"
                 "        if name == 'onnxruntime':\n"
                 "            print(os.environ.get('ORT_DISABLE_TELEMETRY'))\n"
                 "sys.meta_path.insert(0, Watch())\n"
                 "from regraft import runtime\n"
                 "runtime.load()\n")
        run = python("-c", watch)
        self.assertEqual(run.stdout.split(), ["1"], run.stderr)

    def test_without_onnxruntime_one_line_says_so(self):
        hide = ("import sys; sys.modules['onnxruntime'] = None\n"
                "from regraft import profile; sys.exit(profile.main([__import__('os').devnull]))")
        run = python("-c", hide)
        self.assertEqual(run.returncode, 3)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)


@unittest.skipUnless(importlib.util.find_spec("openvino"), "no openvino")
class OpenVino(Files):
    def test_it_computes_what_onnxruntime_does(self):
        path = self.save("conv.onnx", conv(16, 8))
        ours, theirs = openvino_runtime.Session(path, 1), runtime.session(path)
        for session in (ours, theirs):
            self.assertEqual([(i.name, i.type, i.shape) for i in session.get_inputs()],
                             [("x", "tensor(float)", [1, 16, 8, 8])])
        feeds = runtime.Inputs().of(ours)
        np.testing.assert_allclose(ours.run(None, feeds)[0], theirs.run(None, feeds)[0], rtol=1e-4)

    def test_it_is_timed_beside_onnxruntime(self):
        path = self.save("conv.onnx", conv(16, 8))
        answers = self.answers({"op": "device", "runtime": "openvino"},
                               {"op": "models", "files": [path, path, self.bad()], "seconds": 0.2,
                                "runtimes": ["onnxruntime", "openvino", "openvino"]})
        self.assertEqual(answers[0]["runtime"], "openvino")
        first, second, bad = answers[1]["results"]
        self.assertEqual(first["runs"], second["runs"])
        self.assertIn("error", bad)


class Runtimes(Files):
    def test_those_that_are_here_are_named(self):
        answer = self.answers({"op": "runtimes"})[0]["runtimes"]
        self.assertIn("onnxruntime", answer)
        self.assertEqual("openvino" in answer, importlib.util.find_spec("openvino") is not None)

    def test_a_round_runs_each_model_once(self):
        path = self.save("conv.onnx", conv(16, 8))
        models = [{"file": f, "runtime": "onnxruntime", "threads": 1} for f in (path, self.bad())]
        opened, taken, again = self.answers({"op": "open", "models": models},
                                            {"op": "round", "number": 0},
                                            {"op": "round", "number": 1})
        self.assertEqual([sorted(r) for r in opened["results"]], [[], ["error"]])
        for answer in (taken, again):
            self.assertGreater(answer["microseconds"][0], 0)
            self.assertIsNone(answer["microseconds"][1])

    def test_unknown_runtimes_are_refused(self):
        path = self.save("conv.onnx", conv(16, 8))
        for request in ({"op": "models", "files": [path], "runtimes": ["abacus"]},
                        {"op": "models", "files": [path], "runtimes": []},
                        {"op": "models", "files": [path], "runtimes": ["onnxruntime"] * 2}):
            answer = self.answers({**request, "seconds": 0.1})[0]
            self.assertEqual("error" in answer, bool(request["runtimes"]))


class Statistic(unittest.TestCase):
    def test_the_interval_of_the_median_holds_it(self):
        rng = random.Random(3)
        held = 0
        for _ in range(400):
            samples = [100 + rng.expovariate(0.1) for _ in range(41)]
            found = statistic.summary(samples)
            truth = 100 + 10 * np.log(2)
            half = found["noise"] * found["microseconds"]
            held += abs(found["microseconds"] - truth) <= half * 1.2
        self.assertGreater(held, 360)

    def test_the_interval_narrows_with_more_samples(self):
        rng = random.Random(5)
        samples = [rng.gauss(50, 5) for _ in range(1000)]
        self.assertLess(statistic.half_width(samples), statistic.half_width(samples[:50]) / 2)

    def test_whole_microseconds_are_not_biased(self):
        rng = random.Random(7)
        truth = [rng.gauss(12.7, 1.5) for _ in range(2000)]
        found = statistic.summary_of_whole([int(t) for t in truth])
        self.assertAlmostEqual(found["microseconds"], 12.7, delta=0.15)


class Outputs(Files):
    """Models run on given inputs, none of their nodes optimised."""
    def tensor(self, name, value):
        path = self.folder / f"{name}.in"
        value.tofile(path)
        return {"name": name, "dtype": value.dtype.name, "shape": list(value.shape),
                "file": str(path)}

    def run_model(self, file, feeds, names):
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        return self.answers({"op": "outputs", "file": file, "names": names, "folder": str(out),
                             "feeds": [[self.tensor(*t) for t in feed] for feed in feeds]})[0]

    def value(self, tensor):
        return np.fromfile(tensor["file"], tensor["dtype"]).reshape(tensor["shape"])

    def test_computes_each_feed(self):
        file = self.save("conv.onnx", one_node("Add", [2, 3], [np.ones((2, 3), np.float32)]))
        first, second = np.zeros((2, 3), np.float32), np.full((2, 3), 2, np.float32)
        told = self.run_model(file, [[("x", first)]], ["y"])
        self.assertRegex(told["runtime"], r"^onnxruntime \d")
        np.testing.assert_array_equal(self.value(told["results"][0]["outputs"][0]), first + 1)
        told = self.run_model(file, [[("x", second)]], ["y"])
        np.testing.assert_array_equal(self.value(told["results"][0]["outputs"][0]), second + 1)

    def test_two_models_that_differ(self):
        x = np.array([[-1, 2]], np.float32)
        for kind, expected in (("Relu", [[0, 2]]), ("Identity", [[-1, 2]])):
            file = self.save(f"{kind}.onnx", one_node(kind, [1, 2]))
            result, = self.run_model(file, [[("x", x)]], ["y"])["results"]
            self.assertEqual(self.value(result["outputs"][0]).tolist(), expected)

    def test_other_types(self):
        for dtype, kind in ((np.int64, TensorProto.INT64), (np.bool_, TensorProto.BOOL),
                            (np.float16, TensorProto.FLOAT16)):
            x, y = (helper.make_tensor_value_info(n, kind, ["batch", 2]) for n in "xy")
            graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
            file = self.save("m.onnx", helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
            given = np.array([[0, 1], [1, 1], [1, 0]], dtype)
            found, = self.run_model(file, [[("x", given)]], ["y"])["results"][0]["outputs"]
            self.assertEqual(found["dtype"], np.dtype(dtype).name)
            np.testing.assert_array_equal(self.value(found), given)

    def test_says_whose_fault_it_is(self):
        x = [[("x", np.zeros((2, 3), np.float32))]]
        wrong = self.save("wrong.onnx", one_node("Add", [2, 3], [np.ones((5, 7), np.float32)]))
        lacks = one_node("Relu", [2, 3])
        lacks.graph.node[0].domain = "nowhere"
        lacks.opset_import.append(helper.make_opsetid("nowhere", 1))
        told = [self.run_model(f, x, ["y"])["results"][0]
                for f in (wrong, self.save("lacks.onnx", lacks), self.bad())]
        for result in told:
            self.assertEqual(len(result["error"].splitlines()), 1, result)
        self.assertEqual([r["unsupported"] for r in told], [False, True, False], told)
        other = self.save("relu.onnx", one_node("Relu", [2, 3]))
        missing = self.run_model(other, [[]], ["y"])["results"][0]
        self.assertIn("x", missing["error"])

    def test_runs_the_nodes_as_they_are(self):
        # Cast to half and back is dropped by optimisations that trade exactness; not here.
        value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1])
        nodes = [helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
                 helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT)]
        graph = helper.make_graph(nodes, "g", [value("x")], [value("y")])
        file = self.save("m.onnx", helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
        x = np.array([1.0001], np.float32)
        found, = self.run_model(file, [[("x", x)]], ["y"])["results"][0]["outputs"]
        self.assertEqual(self.value(found)[0], np.float32(np.float16(1.0001)))


class Worker(Files):
    def test_device(self):
        found, = self.answers({"op": "device"})
        self.assertEqual(found["runtime"], "onnxruntime")
        self.assertEqual(found["provider"], "CPUExecutionProvider")
        self.assertEqual(found["threads"], 1)
        self.assertTrue(found["device"] and found["version"])
        self.assertIn(found["block"], (0, 4, 8, 16, 32))

    def test_bad_requests_are_answered_and_the_next_is_served(self):
        bad = ["x", "[]", "{}", {"op": "dance"}, {"op": "models"}, {"op": "models", "files": 3},
               {"op": "kernels", "kernels": [3]}, {"op": "device", "provider": "abacus"},
               {"op": "kernels", "kernels": [{"file": "f", "part": "soul"}]}]
        found = self.answers(*bad, {"op": "device"})
        self.assertEqual(len(found), len(bad) + 1)
        for request, told in zip(bad, found):
            self.assertEqual(list(told), ["error"], request)
            self.assertEqual(len(told["error"].splitlines()), 1)
        self.assertIn("version", found[-1])

    def test_empty_lists(self):
        found = self.answers({"op": "models", "files": []}, {"op": "kernels", "kernels": []})
        self.assertEqual(found, [{"results": []}, {"results": []}])

    def test_a_bad_file_does_not_spoil_the_others(self):
        good = self.save("good.onnx", conv(16, 16))
        wrong = self.save("wrong.onnx", one_node("Add", [2, 3], [np.ones((5, 7), np.float32)]))
        files = [self.bad(), good, str(self.folder / "absent.onnx"), wrong]
        for request in ({"op": "models", "files": files, "seconds": 0.2},
                        {"op": "kernels", "seconds": 0.2,
                         "kernels": [{"file": f, "part": "kernel"} for f in files]}):
            results = self.answers(request)[0]["results"]
            self.assertEqual([list(r) == ["error"] for r in results], [True, False, True, True])
            self.assertEqual({len(r["error"].splitlines()) for r in results if "error" in r}, {1})
            self.assertGreater(results[1]["microseconds"], 0)

    def test_a_larger_model_takes_longer(self):
        small, large = self.save("s.onnx", conv(32, 28)), self.save("l.onnx", conv(64, 56))
        first, second = self.answers({"op": "models", "files": [small, large], "seconds": 1})[
            0]["results"]
        self.assertGreater(second["microseconds"], 4 * first["microseconds"])
        self.assertLess(first["noise"], 0.5)
        self.assertEqual(first["ratio"], 1)
        self.assertGreater(second["ratio"], 4)

    def test_inputs_of_many_types_and_symbolic_sizes(self):
        kinds = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL]
        for kind in kinds:
            x = helper.make_tensor_value_info("x", kind, ["batch", 3])
            y = helper.make_tensor_value_info("y", kind, ["batch", 3])
            graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                      ir_version=8)
            path = self.save(f"{kind}.onnx", model)
            result = self.answers({"op": "models", "files": [path], "seconds": 0.1})[0]
            self.assertGreater(result["results"][0]["microseconds"], 0)

    def test_open_sizes_are_those_of_the_request(self):
        def shapes(given, *inputs):
            infos = [helper.make_tensor_value_info(f"x{k}", TensorProto.FLOAT, shape)
                     for k, shape in enumerate(inputs)]
            y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
            graph = helper.make_graph([helper.make_node("Identity", ["x0"], ["y"])], "g", infos, [y])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                      ir_version=8)
            made = runtime.Inputs(given).of(runtime.session(model.SerializeToString()))
            return [list(made[f"x{k}"].shape) for k in range(len(inputs))]

        self.assertEqual(shapes({"x0": [2, 3], "x1": [2, 7]}, ["n", 3], ["n", "m"]),
                         [[2, 3], [2, 7]])
        self.assertEqual(shapes({"x0": [4, 5]}, [None, None], ["n", 3]), [[4, 5], [1, 3]])
        self.assertEqual(shapes(None, [2, 3], ["n"]), [[2, 3], [1]])

    def test_equal_inputs_are_shared(self):
        inputs = runtime.Inputs()
        model = small_models.chain(2)
        a, b = inputs.of(runtime.session(model)), inputs.of(runtime.session(model))
        self.assertIs(a["x"], b["x"])


class Kernels(Files):
    def times(self, *kernels, seconds=1.0):
        request = {"op": "kernels", "seconds": seconds,
                   "kernels": [{"file": f, "part": p} for f, p in kernels]}
        results = worker.answer(json.dumps(request))["results"]
        for result in results:
            self.assertNotIn("error", result)
        return [r["microseconds"] for r in results]

    def test_twice_the_work_takes_longer(self):
        half, full = self.save("h.onnx", conv(64, 40)), self.save("f.onnx", conv(64, 56))
        a, b = self.times((half, "kernel"), (full, "kernel"), seconds=3)
        self.assertGreater(b, 1.3 * a)  # the machine may be busy with other tests
        self.assertLess(b, 8 * a)

    def test_a_wrap_is_not_counted(self):
        plain = self.save("plain.onnx", conv(64, 28, wrapped=False))
        wrapped = self.save("wrapped.onnx", conv(64, 28))
        a, b = self.times((plain, "kernel"), (wrapped, "kernel"), seconds=3)
        self.assertLess(abs(a - b), 0.4 * max(a, b))

    def test_of_a_small_kernel_the_wrap_takes_most(self):
        wrapped = self.save("wrapped.onnx", one_node("Relu", [1, 64, 112, 112], wrapped=True))
        whole, = worker.answer(json.dumps({"op": "models", "files": [wrapped], "seconds": 1}))[
            "results"]
        kernel, = self.times((wrapped, "kernel"), seconds=1)
        self.assertLess(kernel, 0.7 * whole["microseconds"])

    def test_a_view_costs_next_to_nothing(self):
        shape = numpy_helper.from_array(np.array([64, 4096], np.int64), "s")
        model = one_node("Neg", [64, 64, 64])
        model.graph.node[0].output[0] = "wrap_0"
        model.graph.node.append(helper.make_node("Reshape", ["wrap_0", "s"], ["y"]))
        model.graph.initializer.append(shape)
        view = self.save("v.onnx", model)
        copy = self.save("c.onnx", one_node("Neg", [64, 64, 64]))
        a, b = self.times((view, "kernel"), (copy, "kernel"))
        self.assertLess(a, 0.3 * b)

    def test_moves_between_layouts(self):
        if runtime.block_width() == 0:
            self.skipTest("this processor has no blocked layout")
        small = self.save("s.onnx", one_node("", [1, 64, 28, 28], wrapped=True))
        large = self.save("l.onnx", one_node("", [1, 64, 112, 112], wrapped=True))
        for part in ("to-blocked", "from-blocked"):
            a, b = self.times((small, part), (large, part), seconds=2)
            self.assertGreater(a, 0)
            self.assertGreater(b, 4 * a, part)

    def test_without_a_profiler_an_empty_run_is_taken_off(self):
        small = self.save("s.onnx", one_node("Relu", [1, 4]))
        large = self.save("l.onnx", conv(64, 56))
        given = [{"file": f, "part": "kernel"} for f in (small, large, self.bad())]
        first, second, bad = kernels.time_whole(given, 1, 1.0, "cpu")
        self.assertLess(first["microseconds"], 10)
        self.assertGreater(second["microseconds"], 100)
        self.assertIn("error", bad)

    def test_a_part_that_is_not_there_is_an_error(self):
        path = self.save("k.onnx", one_node("Relu", [4, 4]))
        kernel = {"file": path, "part": "to-blocked"}
        request = json.dumps({"op": "kernels", "seconds": 0.1, "kernels": [kernel]})
        self.assertIn("ReorderInput", worker.answer(request)["results"][0]["error"])

    def test_no_trace_is_left_behind(self):
        before = set(os.listdir(tempfile.gettempdir())) | set(os.listdir("."))
        path = self.save("k.onnx", one_node("Relu", [4, 4]))
        self.times((path, "kernel"), (path, "kernel"), seconds=0.1)
        after = set(os.listdir(tempfile.gettempdir())) | set(os.listdir("."))
        self.assertEqual([n for n in after - before if "trace" in n], [])


FAKE = """#!{python}
import json, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
(here / "log").open("a").write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1:3] == ["cost", "kernels"]:
    if "broken.onnx" in sys.argv[3]:
        print("broken.onnx: no graph in it", file=sys.stderr)
        sys.exit(3)
    folder = pathlib.Path(sys.argv[sys.argv.index("--dir") + 1])
    shutil.copy(sys.argv[3], folder / "k0.onnx")
    (folder / "kernels.json").write_text(json.dumps(
        [{{"signature": "conv", "file": "k0.onnx", "part": "kernel"}}]))
else:
    shutil.copy(sys.argv[3], here / "results.json")
"""


class Profile(Files):
    """With a stand-in for the regraft program that keeps what it was given."""

    def setUp(self):
        super().setUp()
        self.program = self.folder / "regraft"
        self.program.write_text(FAKE.format(python=sys.executable))
        self.program.chmod(0o755)

    def profile(self, *arguments):
        return python("-m", "regraft.profile", *arguments, cwd=self.folder,
                      env=environment(REGRAFT=str(self.program)))

    def test_kernels_and_models_are_handed_to_the_profile(self):
        model = self.save("m.onnx", conv(16, 16))
        run = self.profile(model, "--profile", "p", "--seconds", "0.5", "--whole")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads((self.folder / "results.json").read_text())
        self.assertEqual(found["runtime"], "onnxruntime")
        self.assertEqual(found["kernels"][0]["signature"], "conv")
        self.assertGreater(found["kernels"][0]["microseconds"], 1)
        self.assertGreaterEqual(found["overhead"], 0)
        self.assertLess(found["overhead"], 20)
        self.assertEqual(len(found["models"][0]["sha256"]), 64)
        calls = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        self.assertEqual([c[:2] for c in calls], [["cost", "kernels"], ["cost", "add"]])
        self.assertEqual(calls[1][3:], ["-o", "p"])

    def test_bad_input_is_one_line_and_status_3(self):
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"x")
        for model in (broken, self.folder / "absent.onnx"):
            run = self.profile(model)
            self.assertEqual(run.returncode, 3)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(model.name, run.stderr)

    def test_no_model_is_wrong_use(self):
        self.assertEqual(self.profile().returncode, 2)


if __name__ == "__main__":
    unittest.main()
