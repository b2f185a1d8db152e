"""What a probe returns, how two models are compared, and what a tool is."""
import contextlib
import dataclasses
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

YES, PARTLY, NO, VALUE, UNCLEAR = "yes", "partly", "no", "value", "?"
RANK = {NO: 0, PARTLY: 1, YES: 2, VALUE: 2}


@dataclasses.dataclass
class Cell:
    """`note`: the footnote, or the value itself; `ran` and `found`: the evidence."""
    verdict: str
    note: str = ""
    ran: str = ""
    found: str = ""


@dataclasses.dataclass
class Way:
    """One documented way to optimise: from a model to a model. The first is the default one and
    needs no note."""
    note: str
    ran: str
    call: object


class Tool:
    """What the trials need of each tool. `mains` are (name, function of a model of any kind)."""
    name = ""
    ways = []
    mains = []
    program = None     # command line that optimises, from two paths; None: there is none
    help_commands = []  # whose output is searched for words
    described = []     # functions whose signatures and text are searched
    namespaces = []    # modules whose public names are searched

    def path_to_path(self, source, target):
        """The best way for large files."""
        raise NotImplementedError

    def usual(self, source, target):
        """The same with all that is done by default."""
        self.path_to_path(source, target)


def ops(model):
    return [node.op_type for node in model.graph.node]


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else attribute.graphs
            for body in inner:
                yield from all_nodes(body)


def domains(model):
    return sorted({node.domain for node in all_nodes(model.graph)} - {"", "ai.onnx"})


def feeds_of(model, sizes=2, seed=1):
    """Random inputs; open sizes are `sizes`."""
    draw = np.random.default_rng(seed)
    known = {t.name for t in model.graph.initializer}
    found = {}
    for value in model.graph.input:
        if value.name in known:
            continue
        kind = value.type.tensor_type
        shape = [d.dim_value or sizes for d in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if dtype == np.bool_:
            found[value.name] = np.array(True)
        elif np.issubdtype(dtype, np.integer):
            found[value.name] = draw.integers(0, 2, shape).astype(dtype)
        else:
            found[value.name] = draw.standard_normal(shape).astype(dtype)
    return found


def computed(model, feeds):
    """The outputs, in onnxruntime with its optimisations off; where it cannot, in ONNX's
    reference evaluator."""
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception as problem:  # onnxruntime raises many kinds
        if domains(model):
            raise
        try:
            return ReferenceEvaluator(model).run(None, feeds)
        except Exception:
            raise problem from None


def same(before, after, sizes=(2,), feeds=None, tolerance=2e-3):
    """None, or what differs between the outputs of two models."""
    for size in sizes:
        given = feeds or feeds_of(before, size)
        try:
            wanted, got = computed(before, given), computed(after, given)
        except Exception as problem:
            return f"does not run: {first_line(problem)}"
        for a, b in zip(wanted, got):
            a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
            if a.shape != b.shape or not np.allclose(a, b, tolerance, tolerance):
                return "other values"
    return None


def first_line(problem):
    text = " ".join(str(problem).split()) or "no message"
    return f"{type(problem).__name__}: {text}"[:200]


def counted(names):
    return ", ".join(f"{n} {name}" if n > 1 else name
                     for name, n in sorted((name, names.count(name)) for name in set(names))) \
        or "no nodes"


def copied(model):
    made = onnx.ModelProto()
    made.CopyFrom(model)
    return made


def best(cells):
    """The best of several; the first of equal ones. The evidence of all is kept."""
    chosen = max(cells, key=lambda cell: RANK[cell.verdict])
    tried = [c for c in cells if c.found and c is not chosen and chosen.verdict != YES]
    more = "; ".join(f"{c.ran}: {c.found}" for c in tried)
    return dataclasses.replace(chosen, found=chosen.found + (f"; {more}" if more else ""))


def transformed(tool, model, passed, sizes=(2,), tolerance=2e-3, compare=True):
    """Whether any of the tool's ways makes of the model what `passed` wants: True, False, or the
    words of what is only partly so."""
    cells = []
    for way in tool.ways:
        try:
            after = way.call(copied(model))
        except Exception as problem:  # each tool has kinds of its own
            cells.append(Cell(NO, "", way.ran, first_line(problem)))
            continue
        wrong = same(model, after, sizes, tolerance=tolerance) if compare else None
        found = counted([n.op_type for n in all_nodes(after.graph)])
        if wrong:
            cells.append(Cell(NO, "", way.ran, f"{found}: {wrong}"))
            continue
        answer = passed(after)
        verdict = YES if answer is True else PARTLY if answer else NO
        note = way.note if verdict == YES else ", ".join(x for x in (answer or "", way.note) if x)
        cells.append(Cell(verdict, note if verdict != NO else "", way.ran, found))
        if verdict == YES:
            break
    return best(cells)


def searched(tool):
    """{where: text} of all that the tool says it can do: help, signatures, public names."""
    found = {}
    for command in tool.help_commands:
        shown = " ".join(pathlib.Path(str(part)).name for part in command)
        found[shown] = run(command).stdout
    import inspect
    for function in tool.described:
        name = f"{function.__module__}.{function.__qualname__}"
        found[name] = f"{inspect.signature(function)}\n{function.__doc__ or ''}"
    for module in tool.namespaces:
        found[f"names of {module.__name__}"] = "\n".join(
            n for n in (getattr(module, "__all__", None) or dir(module)) if not n.startswith("_"))
    return found


def absent(tool, pattern, but=()):
    """`no` where nothing that the tool says has the words; `but` are finds that mean something
    else. Any other find makes the cell unclear: a probe has to be written."""
    hits = {}
    texts = searched(tool)
    for where, text in texts.items():
        for match in re.finditer(pattern, text, re.I):
            line = text[text.rfind("\n", 0, match.start()) + 1:].split("\n", 1)[0].strip()
            if not any(word.lower() in line.lower() for word in but):
                hits.setdefault(where, line[:100])
    ran = f"searched for /{pattern}/: {', '.join(texts)}"
    if hits:
        return Cell(UNCLEAR, "", ran, "; ".join(f"{w}: {line}" for w, line in hits.items()))
    return Cell(NO, "", ran, "nothing but " + ", ".join(but) if but else "nothing")


def run(command, limit=120, **more):
    """A finished process; its output as text."""
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=limit, **more)


def peak(command, limit=120):
    """(exit status, the last line that it wrote, the most memory in GB that the process held)."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        child = subprocess.Popen(["timeout", str(limit), *map(str, command)], stdout=said,
                                 stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return child.returncode, (said.read().strip().splitlines() or [""])[-1], \
            used.ru_maxrss / 1e6


def python(code, *arguments, limit=120, **more):
    """A new interpreter on some code."""
    return run([sys.executable, "-c", code, *arguments], limit, **more)


@contextlib.contextmanager
def folder():
    """A folder for a while; below $FEATURES_DIR, where large files have room."""
    where = os.environ.get("FEATURES_DIR")
    with tempfile.TemporaryDirectory(prefix="features-", dir=where) as made:
        yield pathlib.Path(made)


@contextlib.contextmanager
def heard():
    """What is written to standard output and standard error meanwhile, by C++ too."""
    text = io.StringIO()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile("w+", errors="replace") as file:
        saved = os.dup(1), os.dup(2)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield text
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor, copy in zip((1, 2), saved):
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            text.write(file.read())
