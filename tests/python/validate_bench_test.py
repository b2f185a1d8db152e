#!/usr/bin/env python3
"""The scripts of bench/validate, on models made here: what counts as a change, mutants and the
evaluator that sorts them, and the report of made-up results.

  python validate_bench_test.py [TestClass[.test]]
"""
import json
import pathlib
import random
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/validate"), str(venv.ROOT / "bench")]

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper, parser  # noqa: E402

import cases  # noqa: E402
import doubles  # noqa: E402
import evaluator  # noqa: E402
import layout_mutations  # noqa: E402
import make_pairs  # noqa: E402
import mutate_pair  # noqa: E402
import mutants  # noqa: E402
import mutations  # noqa: E402
import run_validate  # noqa: E402
import structure  # noqa: E402
import subject  # noqa: E402
import validate_figures  # noqa: E402
import validate_report  # noqa: E402

ENTRY = {"name": "tiny", "dynamic": {"N": [2, 3]}, "ranges": {}}
BLOCK = """g (float[N,4,4] x) => (float[N,4,4] y) {
  n = LayerNormalization<axis = -1>(x, scale)
  t = Transpose<perm = [0, 2, 1]>(n)
  s = MatMul(n, t)
  p = Softmax<axis = -1>(s)
  m = MatMul(p, x)
  r = Relu(m)
  y = Sub(r, bias) }"""


def model(text, opset=17, **initializers):
    made = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')
    for name, value in initializers.items():
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return made


def block():
    return model(BLOCK, scale=np.array([1, 2, 0.5, 1.5], np.float32),
                 bias=np.array([0.5, -1, 2, 1], np.float32))


def unary(op, size="N,4"):
    return model(f"g (float[{size}] x) => (float[{size}] y) {{ y = {op} }}",
                 zero=np.zeros(4, np.float32), half=np.float32(0.5))


def known(made):
    judge = evaluator.Evaluator(ENTRY, made, made)
    return judge, subject.Subject(made, [values for _, values, *_ in judge.known[:2]])


class Structure(unittest.TestCase):
    def change(self, a, b):
        return structure.change(structure.describe(a), structure.describe(b))

    def test_names_order_and_storage_are_no_change(self):
        head = "g (float[4] x) => (float[4] y) { "
        one = model(head + "a = Abs(x)  b = Neg(x)  c = Add(a, w)  y = Add(c, b) }",
                    w=np.ones(4, np.float32))
        other = model(head + "k = Constant<value = float[4] {1, 1, 1, 1}>()  q = Neg(x)  "
                      "p = Abs(x)  r = Add(p, k)  y = Add(r, q) }")
        self.assertEqual(self.change(one, other), "nothing")

    def test_changes(self):
        relu = unary("Relu(x)")
        self.assertEqual(self.change(relu, unary("Abs(x)")), "structure")
        self.assertEqual(self.change(unary("Add(x, zero)"), unary("Add(x, half)")), "structure")
        self.assertEqual(self.change(unary("Sub(x, half)"), unary("Sub(half, x)")), "structure")
        self.assertEqual(self.change(unary("Softmax<axis = 0>(x)"), unary("Softmax<axis = 1>(x)")),
                         "structure")
        newer = unary("Relu(x)")
        newer.opset_import[0].version = 18
        self.assertEqual(self.change(relu, newer), "opset")

    def test_bodies_count(self):
        def branch(op):
            return model(f"""g (bool c, float[4] x) => (float[4] y) {{ y = If(c) <
              then_branch = t () => (float[4] a) {{ a = {op}(x) }},
              else_branch = e () => (float[4] b) {{ b = Neg(x) }}> }}""")
        self.assertEqual(self.change(branch("Abs"), branch("Abs")), "nothing")
        self.assertEqual(self.change(branch("Abs"), branch("Exp")), "structure")
        self.assertEqual(structure.describe(branch("Abs"))[2], 3)


class Evaluation(unittest.TestCase):
    def verdict(self, before, mutant):
        return evaluator.Evaluator(ENTRY, before, before).judge(mutant)["verdict"]

    def test_verdicts(self):
        relu = unary("Relu(x)")
        self.assertEqual(self.verdict(relu, unary("Abs(x)")), "differs")
        self.assertEqual(self.verdict(relu, unary("Max(x, zero)")), "equal by accident")
        self.assertEqual(self.verdict(relu, unary("MatMul(x, zero)")), "invalid")
        self.assertEqual(self.verdict(relu, unary("Sum()")), "invalid")
        slightly = model("g (float[N,4] x) => (float[N,4] y) { a = Relu(x)  y = Mul(a, w) }",
                         w=np.float32(1.0002))
        self.assertEqual(self.verdict(relu, slightly), "close")

    def test_only_one_magnitude_or_setting_tells(self):
        text = "g (float[N,4] x) => (float[N,4] y) { y = Clip(x, low, high) }"
        wide = model(text, low=np.float32(-9), high=np.float32(9))
        wider = model(text, low=np.float32(-9), high=np.float32(99))
        found = evaluator.Evaluator(ENTRY, wide, wide).judge(wider)
        self.assertEqual(found["verdict"], "differs")
        self.assertIn("times 10", found["at"])

    def test_differences(self):
        one = np.array([1, 2, np.nan, np.inf], np.float32)
        self.assertEqual(evaluator.difference(one, one), 0)
        self.assertEqual(evaluator.difference(one, one[:2]), float("inf"))
        self.assertEqual(evaluator.difference(one, one.astype(np.float64)), float("inf"))
        self.assertEqual(evaluator.difference(one, np.array([1, 1, 5, 5], np.float32)), 0.5)
        whole = np.array([1, 2])
        self.assertEqual(evaluator.difference(whole, np.array([1, 3])), 1)

    def test_wrong_pairs_are_not_right(self):
        self.assertTrue(evaluator.Evaluator(ENTRY, block(), block()).right())
        self.assertFalse(evaluator.Evaluator(ENTRY, unary("Relu(x)"), unary("Abs(x)")).right())

    def test_integers_of_one_value_are_drawn_too(self):
        entry = {**ENTRY, "ranges": {"mask": [1, 1], "ids": [0, 9]}}
        self.assertEqual(evaluator.widened(entry)["ranges"], {"mask": [0, 1], "ids": [0, 9]})
        self.assertIsNone(evaluator.widened(ENTRY))


class InDouble(unittest.TestCase):
    """A sum in another order differs where the sigmoid is nearly 0; in double precision less."""
    SUM = """g (float[N,4] x) => (float[N,4] y) {
      a = Constant<value_float = -15.3>()  b = Add(x, a)  c = Cast<to = 1>(b)
      d = %s  y = Sigmoid(d) }"""

    def gap(self, after, before="Add(c, w)"):
        made = [model(self.SUM % text, w=np.float32([0.1, 0.2, 0.3, 0.4])) for text in
                (before, after)]
        feeds = [values for _, values in evaluator.feeds(made[0], ENTRY)]
        return doubles.difference(*made, feeds)

    def test_differences(self):
        self.assertLessEqual(self.gap("Sum(w, x, a)"), doubles.AGREE)
        self.assertGreater(self.gap("Sub(c, w)"), 0.1)
        self.assertEqual(self.gap("Expand(c, shape)"), None)  # nothing makes the shape

    def test_the_given_model_stays(self):
        made = model(self.SUM % "Add(c, w)", w=np.float32([1]))
        text = made.SerializeToString()
        wide = doubles.in_double(made)
        self.assertEqual(made.SerializeToString(), text)
        self.assertEqual(wide.graph.initializer[0].data_type, onnx.TensorProto.DOUBLE)


class Kinds(unittest.TestCase):
    """Each kind gives mutants of a block of attention that differ, and none that is invalid only
    because the change was not made well."""

    def test_each_kind_differs(self):
        judge, given = known(block())
        for name in mutate_pair.KINDS:
            with self.subTest(name):
                found = [record for seed in range(5) for record, _ in mutate_pair.attempts(
                    given, judge, name, random.Random(seed))]
                self.assertIn("differs", {record["verdict"] for record in found})
                for record in found:
                    self.assertEqual(record["kind"], name)

    def test_the_given_model_stays(self):
        judge, given = known(block())
        before = given.model.SerializeToString()
        for kind in mutate_pair.KINDS:
            list(mutate_pair.attempts(given, judge, kind, random.Random(1)))
        self.assertEqual(given.model.SerializeToString(), before)

    def test_no_place_no_mutant(self):
        _, given = known(unary("Relu(x)"))
        for kind in ("axis", "constant", "operand swapped", "Transpose", "broadcast"):
            with self.subTest(kind):
                self.assertIsNone(mutate_pair.mutated(given, kind, random.Random(1)))

    def way(self, way, made):
        judge, given = known(made)
        what, edit = way(given, random.Random(3))
        copy = onnx.ModelProto.FromString(made.SerializeToString())
        edit(copy)
        onnx.checker.check_model(copy)
        return what, judge.judge(copy)["verdict"], copy

    def test_transposes(self):
        for way in (layout_mutations.removed, layout_mutations.permuted, layout_mutations.added):
            with self.subTest(way.__name__):
                self.assertEqual(self.way(way, block())[1], "differs")

    def test_moving_past_an_elementwise_node_is_equal_by_accident(self):
        head = "g (float[N,4,4] x) => (float[N,4,4] y) { t = Transpose<perm = [0, 2, 1]>(x)  "
        what, verdict, copy = self.way(layout_mutations.moved, model(head + "y = Exp(t) }"))
        self.assertEqual(verdict, "equal by accident", what)
        self.assertEqual([n.op_type for n in copy.graph.node], ["Exp", "Transpose"])
        softmax = model(head + "y = Softmax<axis = 2>(t) }")
        self.assertEqual(self.way(layout_mutations.moved, softmax)[1], "differs")

    def test_broadcast_along_another_axis(self):
        what, verdict, copy = self.way(layout_mutations.broadcast, block())
        self.assertEqual(verdict, "differs", what)
        rows = model("g (float[N,4,4] x, float[N,1,4] w) => (float[N,4,4] y) { y = Add(x, w) }")
        self.assertEqual(self.way(layout_mutations.broadcast, rows)[1], "differs")

    def test_dropping_a_relu_of_what_is_positive_is_equal_by_accident(self):
        made = model("g (float[N,4] x) => (float[N,4] y) { a = Exp(x)  b = Relu(a)  "
                     "y = Add(b, half) }", half=np.float32(0.5))
        judge, given = known(made)
        seen = {}
        for seed in range(20):
            what, edit = mutations.dropped(given, random.Random(seed))
            copy = onnx.ModelProto.FromString(made.SerializeToString())
            edit(copy)
            seen[what.split()[0]] = judge.judge(copy)["verdict"]
        self.assertEqual(seen, {"Exp": "differs", "Relu": "equal by accident", "Add": "differs"})

    def test_integers_stay_integers(self):
        ends = [2**63 - 1, -2**63, 5]
        for seed in range(40):
            made = mutations.changed_integers(ends, random.Random(seed))
            self.assertEqual(np.array(made, np.int64).shape, (3,))
        self.assertIn([4, 2], [mutations.changed_integers([3, 3], random.Random(s))
                               for s in range(40)])

    def test_constants_change_by_more_than_rounding(self):
        _, given = known(block())
        for seed in range(40):
            _, edit = mutations.constant(given, random.Random(seed))
            copy = onnx.ModelProto.FromString(given.model.SerializeToString())
            edit(copy)
            made = subject.constants(copy)
            worst = max(np.max(np.abs(made[k] - old) / np.abs(old))
                        for k, old in given.constants.items())
            self.assertGreater(worst, 1e-2)


class Making(unittest.TestCase):
    def test_a_pair_is_mutated_and_counted(self):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            onnx.save(block(), folder / "a.onnx")
            job = {"entry": ENTRY, "before": str(folder / "a.onnx"), "seed": "1",
                   "after": str(folder / "a.onnx"), "kinds": list(mutate_pair.KINDS), "count": 3,
                   "stem": str(folder / "m")}
            found = mutate_pair.make(job)
            self.assertTrue(found["right"])
            differing = [r for r in found["mutants"] if r["verdict"] == "differs"]
            self.assertEqual(len(differing), 3)
            self.assertEqual(len({r["kind"] for r in differing}), 3)
            for record in differing:
                self.assertTrue(pathlib.Path(record["after"]).exists())
                self.assertEqual(structure.change(structure.describe(block()), structure.describe(
                    onnx.load(record["after"]))), "structure")
            self.assertEqual(found, mutate_pair.make(job))
            onnx.save(unary("Relu(x)", "N,4,4"), folder / "b.onnx")
            self.assertFalse(mutate_pair.make({**job, "after": str(folder / "b.onnx")})["right"])

    def test_pairs_take_turns(self):
        records = [{"tool": tool, "model": str(k), "changed": "structure", "nodes": [5, 5],
                    "bytes": [9, 9]} for tool in ("p", "q") for k in range(3)]
        order = [r["tool"] for r in mutants.in_turn(records, random.Random(1))]
        self.assertEqual(order, ["p", "q"] * 3)
        large = {**records[0], "nodes": [5, mutants.MOST_NODES]}
        same = {**records[0], "changed": "nothing"}
        self.assertEqual(mutants.eligible([*records, large, same]), records)

    def test_records_survive(self):
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place, "pairs.json")
            make_pairs.Records(path).add({"model": "m", "tool": "t", "error": "x"})
            again = make_pairs.Records(path)
            again.add({"model": "m", "tool": "u", "changed": "opset"})
            self.assertEqual(len(make_pairs.changed(json.loads(path.read_text()))), 1)
            self.assertEqual(set(again.known), {("m", "t"), ("m", "u")})


def program(folder, text):
    """A shell script in regraft's place."""
    path = pathlib.Path(folder, "program")
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


class Programs(unittest.TestCase):
    """What is kept of a program that works, fails, or says too little."""

    def made(self, text):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            onnx.save(unary("Relu(x)"), folder / "a.onnx")
            onnx.save(unary("Abs(x)"), folder / "other.onnx")
            args = types.SimpleNamespace(out=folder / "out", regraft=program(folder, text))
            source = make_pairs.Source({**ENTRY, "file": "a.onnx"}, folder)
            found = make_pairs.make(source, "regraft", args, "1")
            kept_file = (folder / "out/tiny/regraft.onnx").exists()
            self.assertEqual(kept_file, found.get("changed") == "structure")
            return found

    def test_making(self):
        self.assertEqual(self.made('cp "$2" "$4"')["changed"], "nothing")
        found = self.made('cp "$(dirname "$2")/other.onnx" "$4"')
        self.assertEqual((found["changed"], found["nodes"]), ("structure", [1, 1]))
        self.assertEqual(self.made("echo no such model >&2; exit 3")["error"], "no such model")
        self.assertIn("exit 0", self.made("true")["error"])

    def test_what_is_made_again(self):
        self.assertFalse(make_pairs.settled(None))
        self.assertTrue(make_pairs.settled({"changed": "opset"}))
        self.assertTrue(make_pairs.settled({"error": "exit 1"}))
        self.assertFalse(make_pairs.settled({"error": "no end after 120 s", "late": 20.0}))
        self.assertTrue(make_pairs.settled({"error": "no end after 120 s", "late": 119.0}))

    def validated(self, text):
        with tempfile.TemporaryDirectory() as place:
            path = program(place, text)
            return cases.validate(path, {"before": str(path), "after": str(path)})

    def test_validating(self):
        report = {"verdict": "unknown", "interface": [], "windows": [], "constants": [],
                  "outputs": [{"verdict": "unknown", "reason": "a window was not proved"}],
                  "unknown": [{"reason": "stuck", "rule": "(relu ?x0) => (abs ?x0)", "a": "p",
                               "b": "q"}],
                  "apart": [{"operator": "abs"}], "counterexample": None}
        said = self.validated(f"while [ $1 != --json ]; do shift; done\n"
                              f"echo '{json.dumps(report)}' > $2\nexit 5")
        self.assertEqual((said["verdict"], said["exit"], said["apart"]), ("unknown", 5, ["abs"]))
        self.assertEqual(said["open"][0]["operators"], ["abs", "relu"])
        self.assertGreater(said["memory"], 0)
        said = self.validated("echo 'a.onnx: not a model' >&2; exit 3")
        self.assertEqual((said["verdict"], said["exit"], said["told"]),
                         ("failed", 3, "a.onnx: not a model"))


class Journal(unittest.TestCase):
    def test_results_are_kept(self):
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place, "r.jsonl")
            self.assertEqual(run_validate.Results(path).get("k", lambda: {"n": 1}), {"n": 1})
            with path.open("a") as journal:
                journal.write('{"key": "cut of')
            again = run_validate.Results(path)
            self.assertEqual(again.get("k", lambda: self.fail("it was known")), {"n": 1})

    def test_strata_are_even(self):
        made = [{"id": str(k), "stratum": "a" if k < 20 else "b"} for k in range(23)]
        found = cases.stratified(made, 6)
        self.assertEqual(sum(c["stratum"] == "b" for c in found), 3)
        self.assertEqual(found, cases.stratified(made, 6))
        self.assertEqual(len(cases.stratified(made, 99)), 23)

    def test_a_counterexample_that_does_not_run_has_no_elements(self):
        failed = {"sizes": {}, "output": "y", "chosen": "zero", "starts": {}, "replayed": "r",
                  "failure": "no kernel"}
        report = {"verdict": "refuted", "interface": [], "outputs": [], "windows": [],
                  "constants": [], "counterexample": failed}
        found = cases.summary(report)["counterexample"]
        self.assertEqual((found["a"], found["failure"]), (None, "no kernel"))

    def test_operators_of_a_rule(self):
        rule = "(add (matmul ?x0 ?x1) ?x2) => (reshape (gemm (reshape ?x0 shape=16,-1) ?x1 ?x2))"
        self.assertEqual(cases.operators(rule), ["add", "gemm", "matmul", "reshape"])
        self.assertEqual(cases.operators("(reshape ?x0 shape=n,floor(samples/5)-1)"), ["reshape"])


def case(name, verdict, group="pair", **said):
    return {"id": name, "group": group, "tool": name.split("/")[1], "kind": "axis", "what": "w",
            "changed": "structure", "nodes": [9, 8], "before": "/secret/a", "after": "/secret/b",
            "said": {"verdict": verdict, "seconds": 2.0, "memory": 300 << 20, "weights": 100 << 20,
                     "outputs": [verdict], **said}}


def kept():
    open_window = [{"reason": "", "operators": ["conv", "pad"], "rule": "r", "a": "", "b": ""}]
    return {
        "date": "2000-01-01", "program": "abc", "versions": {"onnx": "1"}, "whole": True,
        "runs": validate_figures.runs([
            {"tool": "t", "version": "2", "changed": "structure"},
            {"tool": "t", "version": "2", "changed": "nothing"},
            {"tool": "t", "version": "2", "error": "e"}]),
        "sorted": {"limit": 1e-3, "margin": 100, "accident": 1e-5,
                   "verdicts": {"differs": 3, "close": 1}},
        "cases": [
            case("a/t", "proved"), case("b/t", "proved-up-to-constants", seconds=8.0),
            case("c/t", "unknown", reasons=["no window of 12 nodes for 'x'"], open=open_window,
                 apart=["constant"], outputs=["proved", "unknown"]),
            case("d/t", "unknown", reasons=["no window of 7 nodes for 'y'"], open=open_window),
            case("e/t", "refuted", ran={"differences": [1e-8]}, counterexample={"replayed": None}),
            case("f/t", "refuted", ran={"differences": [0.5]}, counterexample={"replayed": "r"}),
            case("g/u", "late", told="no end after 180 s"),
            case("a/t#0.1", "refuted", "mutant", counterexample={"replayed": "onnxruntime"}),
            case("a/t#0.2", "refuted", "mutant", counterexample={"replayed": None}),
            case("a/t#0.3", "proved", "mutant")],
        "certified": [
            {"id": "a/t", "group": "pair", "regraft": "proved-up-to-constants", "word": "skipped"},
            {"id": "a/t#0.1", "group": "mutant", "regraft": "refuted", "word": "proved"}]}


class Report(unittest.TestCase):
    def test_pairs(self):
        found = validate_figures.figures(kept())["pairs"]
        row = found["t"]
        self.assertEqual([row[k] for k in ("count", "proved", "proved-up-to-constants", "unknown",
                                           "refuted", "refuted rightly", "failed")],
                         [6, 1, 1, 2, 2, 1, 0])
        self.assertEqual((row["outputs"], row["outputs proved"]), (7, 3))
        self.assertEqual((row["median"], row["max"], row["memory"]), (2.0, 8.0, 200 << 20))
        self.assertEqual(found["all"]["failed"], 1)

    def test_classes(self):
        rows = validate_figures.figures(kept())["unknown"]
        self.assertEqual(rows[0], ["no window of N nodes for ...", "conv, pad", 2, ["c/t", "d/t"]])
        self.assertEqual(rows[1][0], "no end after N s")

    def test_mutants(self):
        f = validate_figures.figures(kept())
        row = f["mutants"]["axis"]
        self.assertEqual([row[k] for k in ("count", "proved", "refuted", "replayed")], [3, 1, 2, 1])
        self.assertEqual(f["mutants proved"], [["a/t#0.3", "w"]])
        self.assertEqual(f["accidents"], [])

    def test_a_proved_mutant_that_agrees_in_double_precision_is_no_mutant(self):
        for gap, mutants_left in ((0.0, 2), (1e-3, 3), (None, 3)):
            made = kept()
            proved = next(c for c in made["cases"] if c["id"] == "a/t#0.3")
            proved["said"]["in double"] = gap
            f = validate_figures.figures(made)
            self.assertEqual(f["mutants"]["axis"]["count"], mutants_left)
            self.assertEqual([name for name, *_ in f["accidents"]],
                             ["a/t#0.3"] if mutants_left == 2 else [])
            self.assertEqual("after all" in validate_report.text(f), mutants_left == 2)

    def test_certified(self):
        self.assertEqual(validate_figures.figures(kept())["certified"],
                         {"pair": {"proved / skipped": 1}, "mutant": {"refuted / proved": 1}})

    def test_runs(self):
        row = kept()["runs"]["t"]
        self.assertEqual([row[k] for k in ("models", "structure", "nothing", "failed")],
                         [3, 1, 1, 1])

    def test_text_and_json(self):
        f = validate_figures.figures(kept())
        text = validate_report.text(f)
        self.assertIn("| t | 6 | 1 | 1 | 2 | 1 | 1 | 0 |", text)
        self.assertIn("| e/t | agrees | no |", text)
        self.assertIn("Proved, and wrong:", text)
        whole = json.loads(validate_figures.dumped(f, kept()))
        self.assertEqual(len(whole["cases"]), 10)
        self.assertNotIn("/secret", json.dumps(whole) + text)

    def test_without_mutants(self):
        few = kept()
        few.update(cases=[c for c in few["cases"] if c["group"] == "pair"], certified=[], sorted={})
        self.assertNotIn("Mutants", validate_report.text(validate_figures.figures(few)))


if __name__ == "__main__":
    unittest.main()
