#!/usr/bin/env python3
"""bench/court: its probes are valid, and what is wrong is convicted, made small and clustered.

  python court_test.py [TestClass[.test]]
"""
import json
import pathlib
import sys
import tempfile
import threading
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path[:0] = [str(venv.ROOT / "bench/court"), str(venv.ROOT / "bench")]

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import applied  # noqa: E402
import cluster  # noqa: E402
import court_report  # noqa: E402
import found  # noqa: E402
import judge  # noqa: E402
import near_misses  # noqa: E402
import probe  # noqa: E402
import probes  # noqa: E402
import reduce  # noqa: E402
import rule_models  # noqa: E402
import rule_text  # noqa: E402
import run  # noqa: E402
import runs  # noqa: E402
import second_look  # noqa: E402

RULE = ("relu-add  (relu (add ?a ?b)) => (relu (add ?b ?a))  where a.0=b.0  "
        "for a:nn b:nn | a:n b:n  proved:all-sizes  numerics:exact")


class Probes(unittest.TestCase):
    def test_templates_are_many_valid_and_distinct(self):
        self.assertGreater(len(probe.CATALOGUE), 3500)
        self.assertLess(len(probe.REJECTED), len(probe.CATALOGUE) // 10)
        for made in probe.CATALOGUE[::7]:
            onnx.checker.check_model(made.model, full_check=True)
        families = {made.name.split()[0] for made in probe.CATALOGUE}
        self.assertLessEqual({"conv", "if", "loop", "qdq", "cast", "clip", "gemm", "slices"},
                             families)

    def test_the_same_for_a_seed(self):
        def first(seed):
            made = probes.stream([], seed)
            names = [next(made).name for _ in range(12)]
            made.close()
            return names
        self.assertEqual(first(1), first(1))
        self.assertNotEqual(first(1), first(2))

    def test_named_probes_come_first(self):
        name = probe.CATALOGUE[700].name
        near = probes.misses(probe.CATALOGUE[40])[-1].name
        made = probes.stream([], 1, first=[name, "no such probe", near])
        names = [next(made).name for _ in range(400)]
        made.close()
        self.assertEqual(names[:2], [name, near])
        self.assertEqual(names.count(name), 1)

    def test_rules_have_a_share_from_the_start(self):
        rules = [probe.Probe(f"rule {k}", probe.graph("float[2] x", "y = Add(x, k)",
                                                      k=np.float32(k))) for k in range(9)]
        made = probes.stream(rules, 1)
        bases = [n for n in (next(made).name for _ in range(30)) if ";" not in n]
        made.close()
        self.assertGreater(sum(n.startswith("rule ") for n in bases), len(bases) // 3)

    def test_near_misses_are_valid(self):
        base = probe.Probe("b", probe.graph("float[2,3] x", "a = Relu(x) y = Gemm(a, w)",
                                            w=probe.weights(1, 3, 4)))
        made = probes.misses(base)
        labels = {m.name.partition("; ")[2] for m in made}
        for label in ("constants as nodes", "default w", "input w", "a as output", "double",
                      "open sizes", "x [1, 3]", "x [0, 3]", "Gemm alpha=0.5"):
            self.assertIn(label, labels)
        self.assertNotIn("w [1, 4]", labels)  # does not fit
        for near in made:
            onnx.checker.check_model(near.model, full_check=True)

    def test_near_misses_have_names_of_their_own(self):
        for base in probe.CATALOGUE[::97]:
            labels = [label for label, _ in near_misses.near_misses(base.model)]
            self.assertEqual(len(labels), len(set(labels)), base.name)

    def test_some_near_misses_are_the_first_of_all_in_the_same_order(self):
        base = probe.CATALOGUE[40]
        every, some = probes.misses(base, 3), probes.misses(base, 3, 2)
        self.assertEqual([m.name for m in some], [m.name for m in every[:2]])
        self.assertNotEqual([m.name for m in every], [m.name for m in probes.misses(base, 4)])
        self.assertEqual({m.name for m in every}, {m.name for m in probes.misses(base)})

    def test_every_change_is_tried(self):
        self.assertEqual(len(near_misses.CHANGES), 9)

    def test_inputs_are_the_same_and_in_range(self):
        base = probe.Probe("b", probe.graph("float[2,3] x, int64[N] i", "y = Relu(x) z = Neg(i)",
                                            "y, z"), given={"i": (0, 1)})
        one, other = (runs.feeds(base, 5, runs.PLAIN + runs.EDGES) for _ in range(2))
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a["x"], b["x"])
            self.assertTrue(set(a["i"].tolist()) <= {0, 1})
        self.assertTrue((one[runs.PLAIN.index("negative")]["x"] < 0).all())


class Rules(unittest.TestCase):
    def test_a_rule_becomes_two_models(self):
        rule = rule_text.rule(RULE)
        self.assertEqual(rule.conditions, [("a.0", "b.0")])
        made = rule_models.probe(rule, 1)
        self.assertEqual([n.op_type for n in made.model.graph.node], ["Add", "Relu"])
        self.assertEqual([n.op_type for n in made.target.graph.node], ["Add", "Relu"])
        constant = rule_models.weights_constant(made)
        self.assertEqual(len(constant.model.graph.initializer), 1)

    def test_what_does_not_fit_is_none(self):
        rule = rule_text.rule("m  (matmul ?a ?b) => (matmul ?b ?a)  for a:nn b:nnnn  proved:x")
        rule.left = rule_text.side("(matmul ?a (unheard ?b))")
        self.assertIsNone(rule_models.probe(rule, 1))

    def test_attributes_and_outputs(self):
        rule = rule_text.rule("s  (concat (split ?a axis=1 sizes=1,2)#1 (split ?a axis=1 sizes=1,2)"
                              " axis=1) => (gather ?a axis=1 indices=1,2,0 shape=3)  for a:nn  "
                              "proved:all-sizes")
        made = rule_models.probe(rule, 1)
        self.assertEqual([n.op_type for n in made.model.graph.node], ["Split", "Concat"])

    def test_applied(self):
        model = probe.graph("float[2,3] x", "a = Relu(x) y = Relu(a)")
        target = probe.graph("float[2,3] x", "y = Relu(x)")
        base = probe.Probe("r", model, rule="relu-relu", target=target)
        self.assertTrue(applied.applies(base, target.SerializeToString()))
        self.assertFalse(applied.applies(base, model.SerializeToString()))


class Comparison(unittest.TestCase):
    def test_what_differs(self):
        one = np.array([1.0, 2.0], np.float32)
        differs = lambda b, a=one: runs.difference({"y": a}, {"y": b})
        self.assertIsNone(differs(one * (1 + 1e-6)))
        self.assertEqual(differs(one + 1)[0], "values")
        self.assertFalse(differs(one + 1)[2])
        self.assertEqual(differs(one[:1])[0], "shape")
        self.assertEqual(differs(one.astype(np.float64))[0], "type")
        self.assertEqual(runs.difference({"y": one}, {"z": one})[0], "interface")
        self.assertEqual(runs.difference({"y": one}, "no kernel")[0], "fails")

    def test_what_is_not_finite_is_apart(self):
        one = np.array([np.nan, 2.0], np.float32)
        found = runs.difference({"y": one}, {"y": np.array([1.0, 2.0], np.float32)})
        self.assertTrue(found[2])

    def test_a_step_of_quantisation_is_rounding(self):
        one = {"y": np.array([1, 2], np.uint8)}
        self.assertTrue(judge.within(one, {"y": np.array([2, 2], np.uint8)}, 0.25))
        self.assertFalse(judge.within(one, {"y": np.array([3, 2], np.uint8)}, 0.25))
        self.assertFalse(judge.within(one, {"y": np.array([2, 2], np.uint8)}, 0))


class Planted(judge.Judge):
    """A court whose only tool turns Relu into Abs wherever a Neg reads it."""

    def optimised(self, tool, source, options=()):
        model = onnx.ModelProto.FromString(source)
        read = {n.input[0] for n in model.graph.node if n.op_type == "Neg"}
        for node in model.graph.node:
            if node.op_type == "Relu" and read & set(node.output):
                node.op_type = "Abs"
        return "done", model.SerializeToString()


class Court(unittest.TestCase):
    def setUp(self):
        self.court = Planted()
        self.addCleanup(self.court.stop)
        text = "a = Exp(x) b = Sub(a, k) c = Relu(b) d = Neg(c) e = Mul(d, x) y = Add(e, a) z = Sin(e)"
        self.wrong = probe.Probe("wrong", probe.graph("float[2,3] x", text, "y, z",
                                                      k=np.float32(9)))

    def test_a_planted_mistake_is_convicted_and_reduced(self):
        judged = self.court.judged(self.wrong, "planted")
        self.assertEqual(judged.finding.kind, "values")
        self.assertFalse(judged.finding.edge)
        self.assertEqual(self.court.agreed(self.wrong, judged.finding.feed), "agrees")

        def still(model):
            made = self.wrong.with_model(model)
            finding = self.court.original(made) and self.court.judged(made, "planted").finding
            return bool(finding) and finding.kind == "values"
        small = reduce.reduced(self.wrong.model, still)
        self.assertEqual([n.op_type for n in small.graph.node], ["Relu", "Neg"])
        self.assertEqual(len(small.graph.output), 1)

    def test_the_reference_gets_a_later_opset_where_it_lacks_one(self):
        scaled = probe.Probe("q", probe.graph(
            "uint8[2,3] x", "d = DequantizeLinear(x, s, z) y = Relu(d)", opset=13,
            s=np.float32(0.5), z=np.uint8(3)))
        self.assertEqual(self.court.reference_says(scaled.model, *self.court.original(scaled)[0]),
                         "unsupported")
        self.assertEqual(self.court.agreed(scaled, None), "agrees")

    def test_right_results_are_acquitted(self):
        right = probe.Probe("right", probe.graph("float[2,3] x", "a = Relu(x) y = Exp(a)"))
        judged = self.court.judged(right, "planted")
        self.assertFalse(judged.changed)
        self.assertIsNone(judged.finding)


class SecondLook(unittest.TestCase):
    def cause(self):
        model = probe.graph("float[0,2] x, float[N,2] z", "y = Relu(x) w = Neg(z)", "y, w")
        return {"tool": "onnxruntime", "levels": ["basic", "extended"], "probe": "p",
                "text": reduce.text(model), "feed": {"x": [], "z": [[1.0, 2.0]]}}

    def test_model_and_inputs_are_those_of_the_report(self):
        made = second_look.probe(self.cause())
        self.assertEqual([n.op_type for n in made.model.graph.node], ["Relu", "Neg"])
        feed, = runs.feeds(made, 1, ["mixed"])
        self.assertEqual((feed["x"].shape, feed["z"].tolist()), ((0, 2), [[1.0, 2.0]]))

    def test_levels(self):
        self.assertEqual(second_look.levels(self.cause()),
                         ["onnxruntime basic", "onnxruntime extended"])
        self.assertEqual(second_look.levels({"tool": "onnxslim", "levels": []}), ["onnxslim"])


class Untouched:
    """A court of tools that change nothing."""

    def original(self, made):
        return [({}, {})]

    def judged(self, made, tool):
        return judge.Judged(False, None, b"")


class Jobs(unittest.TestCase):
    def options(self, jobs):
        return types.SimpleNamespace(jobs=jobs, seed=1, errors=[])

    def test_each_item_is_taken_once_by_courts_of_their_own(self):
        lock, taken, courts = threading.Lock(), [], set()

        def work(court, item):
            with lock:
                taken.append(item)
                courts.add(id(court))
            time.sleep(0.001)
        done = run.in_parallel(self.options(3), work, range(60), time.monotonic() + 60)
        self.assertEqual((done, sorted(taken)), (60, list(range(60))))
        self.assertEqual(len(courts), 3)

    def test_regraft_sees_what_found_something_before(self):
        near = next(p for p in probe.CATALOGUE if not run.sampled(p))
        with tempfile.TemporaryDirectory() as folder:
            for before, tried in (((), False), ([near.name], True)):
                journal = run.Journal(pathlib.Path(folder, f"{tried}.jsonl"))
                run.judge_one(Untouched(), near, ["regraft"], journal, None, before)
                self.assertEqual([r["outcome"] != "not tried" for r in journal.rows], [tried])

    def test_ends_when_the_time_is_over(self):
        done = run.in_parallel(self.options(2), lambda court, item: None, iter(int, 1),
                               time.monotonic())
        self.assertEqual(done, 2)

    def test_an_error_ends_one_item_and_is_kept(self):
        options = self.options(2)
        done = run.in_parallel(options, lambda court, item: 1 // item, [1, 0, 1],
                               time.monotonic() + 60)
        self.assertEqual((done, len(options.errors)), (2, 1))
        self.assertIn("ZeroDivisionError", options.errors[0])

    def test_the_journal_takes_rows_from_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = run.Journal(pathlib.Path(folder, "j.jsonl"))
            run.in_parallel(self.options(4), lambda court, k: journal.add({"key": [str(k), "t"]}),
                            range(200), time.monotonic() + 60)
            again = run.Journal(journal.path)
        self.assertEqual((len(again.rows), again.resumed, journal.resumed), (200, True, False))


class Reduction(unittest.TestCase):
    def test_names_text_and_operators(self):
        model = probe.graph("float16[2,3] x", "a = Elu<alpha=0.5>(x) y = Neg(a)")
        self.assertEqual(reduce.operators(model), "Elu<alpha> Neg float16")
        self.assertIn("Elu <alpha: float = 0.5> (x", reduce.text(model))
        self.assertEqual([n.output[0] for n in reduce.named(model).graph.node], ["v0", "y0"])

    def test_what_is_no_tensor_becomes_no_input(self):
        model = probe.graph("float[4] x", "q = SplitToSequence(x, k) y = SequenceAt(q, i)",
                            "float[A] y", k=probe.ints(2, 2), i=probe.ints(0)[0])
        self.assertIn("q", [v.name for v in model.graph.value_info])
        added = {made.graph.input[-1].name for made in reduce.inputs_cut(model)}
        self.assertNotIn("q", added)

    def test_nothing_is_kept_that_no_output_needs(self):
        model = probe.graph("float[2] x, float[2] z", "y = Neg(x) w = Add(z, k)", "y, w",
                            k=np.float32(1))
        del model.graph.output[1]
        made = reduce.pruned(model)
        self.assertEqual((len(made.graph.node), len(made.graph.input),
                          len(made.graph.initializer)), (1, 1, 0))


def finding(**changed):
    return {"tool": "onnxslim", "kind": "values", "pass": "graph_fusion", "operators": "Conv Mul",
            "level": "", "edge": False, "probe": "p", "agreed": "agrees", "nodes": 2, "text": "m",
            "detail": "y[0] is 1 before and 2 after", "validate": "refuted", "feed": {"x": [1.0]},
            "after": "", "said": "", **changed}


class Report(unittest.TestCase):
    def causes(self):
        rows = [{"tool": "onnxslim", "kind": "values", "operators": ["Conv Mul*"],
                 "why": "A row is no channel.", "thread": "t#1", "verdict": "stands"},
                {"tool": "onnxsim", "operators": ["Abs"], "why": "no", "verdict": "aside"}]
        return cluster.clusters([
            finding(), finding(operators="Conv Mul float16", nodes=3), finding(operators="Add"),
            finding(tool="onnxsim", operators="Abs"), finding(operators="Sub", kind="crash")], rows)

    def test_findings_alike_are_one_cause(self):
        causes = self.causes()
        self.assertEqual(len(causes), 4)
        merged = next(c for c in causes if c["thread"] == "t#1")
        self.assertEqual((merged["probes"], merged["nodes"]), (2, 2))
        self.assertEqual([c["operators"] for c in causes if cluster.counted(c)], ["Conv Mul"])

    def test_a_row_of_the_table_fits_in_every_field_that_it_names(self):
        row = {"tool": "onnxslim", "operators": ["Conv *"], "contains": ["p", "m"], "says": "y[0]"}
        self.assertTrue(cluster.matches(row, finding()))
        for field, value in (("contains", ["p"]), ("says", "z[0]"), ("operators", ["Conv"]),
                             ("kind", "shape"), ("tool", "onnxsim")):
            self.assertFalse(cluster.matches({**row, field: value}, finding()), field)

    def test_disputed_and_edges_do_not_count(self):
        cause = next(c for c in self.causes() if cluster.counted(c))
        self.assertFalse(cluster.counted({**cause, "agreed": "differs"}))
        self.assertFalse(cluster.counted({**cause, "edge": True}))

    def test_the_page(self):
        rows = [{"key": ["p", "onnxslim"], "outcome": "changed", "finding": "values", "edge": False,
                 "validate": "refuted"}, {"key": ["q", "onnxslim"], "outcome": "unchanged"}]
        with tempfile.TemporaryDirectory() as folder:
            options = types.SimpleNamespace(seed=1, minutes=1, jobs=1, resumed=False,
                                            out=pathlib.Path(folder))
            court_report.write(options, rows, self.causes(), 5, 4)
            page = (options.out / "court.md").read_text()
            made = json.loads((options.out / "court.json").read_text())
        self.assertIn("## Wrong results: 1 causes", page)
        self.assertIn("A row is no channel.", page)
        self.assertIn("| onnxslim | 2 | 1 | 0 | 1 | 0 | 1 | 0 | 0 |", page)
        self.assertEqual(made["tools"]["onnxslim"]["wrong"], 1)

    def test_what_does_not_run_but_is_proved_is_explained(self):
        for kind, verdict, explained in (("fails", "proved", True), ("fails", "refuted", False),
                                         ("values", "proved", False)):
            cause = {**next(c for c in self.causes() if cluster.counted(c)), "kind": kind,
                     "validate": verdict}
            options = types.SimpleNamespace(seed=1, minutes=1, jobs=2, resumed=False)
            made = court_report.gathered(options, [], [cause], 5, 4)
            self.assertEqual(court_report.ACCEPTED in list(court_report.markdown(made)), explained)

    def test_the_page_says_how_it_came_about(self):
        options = types.SimpleNamespace(minutes=30.0, jobs=2, resumed=False)
        self.assertIn("one run of 30 minutes with 2 jobs", court_report.how(options))
        options.resumed = True
        self.assertIn("resumed runs", court_report.how(options))

    def test_names_of_probes_that_found_causes_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            found.write(pathlib.Path(folder), ["a new probe", "another"])
            kept = json.loads(pathlib.Path(folder, found.NAME).read_text())
        self.assertEqual(kept, sorted({*found.read(), "a new probe", "another"}))

    def test_the_table_by_hand_is_whole(self):
        for row in cluster.known():
            self.assertTrue(row["why"] and row["operators"] and row["tool"])
            self.assertIn(row["verdict"], ("stands", "aside"))


if __name__ == "__main__":
    unittest.main()
