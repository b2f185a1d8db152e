"""Judges what a tool makes of a probe: by running both models, and by `regraft validate`."""
import dataclasses

import numpy as np
import onnx
from onnx import numpy_helper

import optimisers
import runs
from workers import Worker

LIMIT = 30  # seconds for a tool on one small model
LATER = 21   # the opset to try where the reference evaluator lacks a model's own
INEXACT = ("QuantizeLinear", "DynamicQuantizeLinear")


@dataclasses.dataclass
class Finding:
    """kind: values, shape, type, interface, fails (the result does not load or run), crash (the
    tool ends with an error), died, slow. edge: only where the original is not finite or very large.
    """
    kind: str
    detail: str
    edge: bool = False
    feed: dict = None


@dataclasses.dataclass
class Judged:
    changed: bool
    finding: Finding = None
    result: bytes = None


def bare(source):
    """What of a model is computed: its nodes and constants without names of nodes."""
    graph = optimisers.parsed(source).graph
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    held = sorted(t.SerializeToString(deterministic=True) for t in graph.initializer)
    return [n.SerializeToString(deterministic=True) for n in graph.node], held


def quantum(model):
    """How far rounding may move outputs of quantised models: a step of the largest scale."""
    held = {t.name: t for t in model.graph.initializer}
    steps = [0.0]
    for node in model.graph.node:
        if node.op_type in INEXACT:
            scale = held.get(node.input[1]) if len(node.input) > 1 else None
            steps.append(float(np.max(numpy_helper.to_array(scale), initial=0)) if scale is not None
                         else 1.0)
    return max(steps)


def within(first, second, step):
    """Do all outputs agree to so much? An integer may be one off where anything is rounded."""
    def close(a, b):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or a.shape != b.shape \
                or a.dtype != b.dtype:
            return False
        off = np.abs(a.astype(np.float64) - b.astype(np.float64))
        return bool(np.all(off <= (1 if a.dtype.kind in "iu" else 1.01 * step)))
    return step > 0 and list(first) == list(second) and all(
        close(first[name], second[name]) for name in first)


class Judge:
    def __init__(self, seed=1):
        self.seed, self.workers, self.expected = seed, {}, {}

    def worker(self, role, functions="optimisers"):
        return self.workers.setdefault(role, Worker(functions))

    def stop(self):
        for worker in self.workers.values():
            worker.stop()

    def inferred(self, model):
        """As of probe.py, in another process: shape inference may abort on sizes below 0."""
        said, made = self.worker("inference", "probe").ask(LIMIT, "inferred", model)
        return made if said == "done" else None

    def run(self, source, feeds, *level):
        return self.worker("runs").ask(LIMIT, "run", source, feeds, *level)

    def original(self, probe):
        """(feeds, outputs) for the feeds on which the model itself runs."""
        source = probe.model.SerializeToString()
        if source not in self.expected:
            if len(self.expected) > 50:
                self.expected.clear()
            feeds = runs.feeds(probe, self.seed, runs.PLAIN + runs.EDGES)
            said, outputs = self.run(source, feeds)
            pairs = list(zip(feeds, outputs)) if said == "done" else []
            self.expected[source] = [(f, o) for f, o in pairs if isinstance(o, dict)]
        return self.expected[source]

    def optimised(self, tool, source, options=()):
        return self.worker(optimisers.package(tool)).ask(
            LIMIT, "optimise", tool, source, *options)

    def judged(self, probe, tool, options=()):
        """What the tool makes of a probe that runs."""
        source = probe.model.SerializeToString()
        said, result = self.optimised(tool, source, options)
        if said != "done":
            kind = {"error": "crash"}.get(said, said)
            return Judged(True, Finding(kind, result))
        if bare(source) == bare(result):
            return Judged(False, None, result)
        level = (optimisers.LEVELS[tool], options) if tool in optimisers.LEVELS else None
        return Judged(True, self.compared(probe, source if level else result, level or ()), result)

    def compared(self, probe, result, level):
        """The worst difference between the original and another model, or a session of a level."""
        expected = self.original(probe)
        said, found = self.run(result, [feed for feed, _ in expected], *level)
        if said != "done":
            return Finding({"error": "fails"}.get(said, said), str(found))
        step, edge = quantum(probe.model), None
        for (feed, before), after in zip(expected, found):
            seen = runs.difference(before, after)
            if seen and not (seen[0] == "values" and within(before, after, step)):
                finding = Finding(*seen, feed)
                if not finding.edge and not any(special(v) for v in feed.values()):
                    return finding
                finding.edge = True
                edge = edge or finding
        return edge

    def agreed(self, probe, feed):
        """Does ONNX's reference evaluator compute what the runtime computes? agrees, differs, or
        unsupported. Where it lacks the opset, it gets the model at a later one, if the runtime
        computes the same for that."""
        expected = [(f, o) for f, o in self.original(probe) if feed is None or f is feed][:1]
        if not expected:
            return "unsupported"
        model, held = probe.model, {t.name for t in probe.model.graph.initializer}
        if any(name in held for name in expected[0][0]):
            model = without_defaults(model, expected[0][0])
        said = self.reference_says(model, *expected[0])
        if said == "unsupported":
            later = at_opset(model, LATER)
            ran, outputs = self.run(later.SerializeToString(), [expected[0][0]])
            if ran == "done" and runs.difference(expected[0][1], outputs[0]) is None:
                said = self.reference_says(later, *expected[0])
        return said

    def reference_says(self, model, feed, outputs):
        said, found = self.worker("reference").ask(LIMIT, "reference", model.SerializeToString(),
                                                   [feed])
        if said != "done":
            return "unsupported"
        seen = runs.difference(outputs, found[0])
        if seen and seen[0] == "values" and within(outputs, found[0], quantum(model)):
            seen = None
        return "differs" if seen and not seen[2] else "agrees"

    def validated(self, probe, result):
        said, report = self.worker("validate").ask(
            2 * LIMIT, "validate", probe.model.SerializeToString(), result)
        return report if said == "done" else {"verdict": "failed", "error": f"{said}: {report}"}


def special(value):
    if value.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        return not np.isfinite(value).all() or bool((np.abs(value) > 1e4).any())


def without_defaults(model, feed):
    """The model whose inputs that are fed have no constants behind them."""
    made = onnx.ModelProto.FromString(model.SerializeToString())
    kept = [t for t in made.graph.initializer if t.name not in feed]
    made.graph.ClearField("initializer")
    made.graph.initializer.extend(kept)
    return made


def at_opset(model, version):
    made = onnx.ModelProto.FromString(model.SerializeToString())
    made.opset_import[0].version, made.ir_version = version, 10
    return made
