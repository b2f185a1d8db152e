"""The calls. Each runs a command of the program in this process; options that are None are those
that the command line takes by default."""
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _library
from ._calls import Shown, call
from ._models import Argument, Model
from .errors import InputError
from .results import (Candidates, OptimizeReport, Report, Result, Rule, Validation)

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]
Shapes = Union[Mapping[str, Sequence[int]], Sequence[str], str]  # {"x": [1, 3, 224, 224]}
Sizes = Union[Mapping[str, int], Sequence[str], str]  # {"batch": 8}
FOUND = [_library.DONE, _library.FAILED, _library.UNDECIDED, _library.INTERRUPTED]


def rewritten(command: str, model: Model, out: Optional[Path], options: Dict[str, Any],
              progress: Shown) -> Result:
    argument = Argument(model)
    inputs: Dict[str, bytes] = {}
    argument.put("model", options, inputs)
    options["out"] = True if out is None else os.fspath(out)
    done = call(command, options, inputs, progress)
    page = done.outputs.get("report") or options.get("report")
    report = OptimizeReport(done.report, done.messages, page)
    return Result(argument, done.outputs.get("out", b""), "" if out is None else str(options["out"]),
                  report, done.interrupted)


def optimize(model: Model, *, out: Optional[Path] = None, target: Optional[str] = None,
             time: Optional[float] = None, rules: Optional[Paths] = None,
             disable_rule: Optional[Sequence[str]] = None, search: Optional[str] = None,
             search_time: Optional[float] = None, policy: Optional[Path] = None,
             policy_mode: Optional[str] = None, propose: Optional[Path] = None,
             macros: Optional[Path] = None, alpha: Optional[float] = None,
             budget: Optional[int] = None, growth: Optional[float] = None,
             portable: bool = False, cost: Optional[str] = None, objective: Optional[str] = None,
             measure: Optional[str] = None, no_measure: bool = False,
             candidates: Optional[int] = None, measure_time: Optional[float] = None,
             measure_threads: Optional[int] = None, measurements: Optional[int] = None,
             pool: Optional[Path] = None, shape: Optional[Shapes] = None,
             dim: Optional[Sizes] = None, typical: Optional[Sizes] = None,
             keep_dynamic: bool = False, check: Optional[int] = None,
             check_on: Optional[str] = None, certificate: Optional[Path] = None,
             report: Optional[Path] = None, explain: bool = False, bisect: Optional[str] = None,
             bisect_keep: bool = False, bisect_show: bool = False,
             max_size: Union[int, str, None] = None, proof: Optional[str] = None,
             bounded: bool = False,
             numerics: Optional[str] = None,
             threads: Optional[int] = None, seed: Optional[int] = None,
             memory: Optional[float] = None, progress: Shown = None) -> Result:
    """Rewrites a model with proved rules so that it costs less; `regraft optimize --help` says what
    the options mean. `rules` are files, None: the shipped ones; [] is refused. Without `out` the result stays in memory. What was found is timed in
    onnxruntime, where this Python has it, and the original stays unless the result is faster.
    Ctrl-C ends the search; the best so far is returned, with `interrupted` set. With explain=True
    report.explain() says what the rules won, and why they won nothing elsewhere. `bisect` is a
    command of the shell that the result must pass; CheckFailed names the step that breaks it.

    >>> result = regraft.optimize(model, no_measure=True)
    >>> result.report["after"]["cost"] <= result.report["before"]["cost"]
    True
    >>> page = result.report.to_html()  # both models drawn; a notebook shows it by itself
    >>> onnx.checker.check_model(result.model)
    """
    options = dict(locals())
    for name in ("model", "out", "progress"):
        del options[name]
    options["report"] = True if report is None else os.fspath(report)
    return rewritten("optimize", model, out, options, progress)


def validate(a: Model, b: Model, *, sizes: Union[Sizes, None] = None,
             tolerance_constants: Optional[str] = None, rules: Optional[Paths] = None,
             certificate: Union[Path, bool, None] = None, html: Optional[Path] = None,
             numerics: bool = False, threads: Optional[int] = None, seed: Optional[int] = None,
             time: Optional[float] = None, memory: Optional[float] = None,
             progress: Shown = None) -> Validation:
    """Proves that `b`, which whatever optimiser made from `a`, computes the same, or finds an input
    at which it does not. With certificate=True the proof is the result's `certificate`.

    >>> smaller, ok = regraft.simplify(model)
    >>> regraft.validate(model, smaller).verdict
    'proved'
    """
    options: Dict[str, Any] = dict(sizes=sizes, tolerance_constants=tolerance_constants,
                                   rules=rules, certificate=certificate, html=html,
                                   numerics=numerics, threads=threads, seed=seed, time=time,
                                   memory=memory)
    inputs: Dict[str, bytes] = {}
    Argument(a, "a").put("a", options, inputs)
    Argument(b, "b").put("b", options, inputs)
    done = call("validate", options, inputs, progress, FOUND)
    found = Validation(done.report, done.messages)
    found.certificate = done.outputs.get("certificate")
    return found


def check(a: Model, b: Model, *, runs: Optional[int] = None, on: Optional[str] = None,
          certificate: Union[Path, bytes, None] = None, prove: bool = False,
          validation: Union[Path, bytes, None] = None, bisect: Optional[str] = None,
          bisect_keep: bool = False, bisect_show: bool = False, threads: Optional[int] = None,
          seed: Optional[int] = None, time: Optional[float] = None,
          memory: Optional[float] = None, progress: Shown = None) -> Report:
    """Compares two models on random inputs, or replays a certificate of optimize or of validate,
    which must lead from `a` to `b`. The report's "passed" is the answer where numbers are compared;
    of a certificate that does not fit, CheckFailed or InputError is raised.

    >>> regraft.check(model, model)["passed"]
    True
    """
    options: Dict[str, Any] = dict(runs=runs, on=on, prove=prove, bisect=bisect,
                                   bisect_keep=bisect_keep, bisect_show=bisect_show,
                                   threads=threads, seed=seed, time=time, memory=memory)
    inputs: Dict[str, bytes] = {}
    Argument(a, "a").put("a", options, inputs)
    Argument(b, "b").put("b", options, inputs)
    for name, value in (("certificate", certificate), ("validation", validation)):
        if isinstance(value, bytes):
            inputs[name] = value
        else:
            options[name] = value
    replayed = certificate is not None or validation is not None
    done = call("check", options, inputs, progress,
                None if replayed else [_library.DONE, _library.FAILED, _library.INTERRUPTED])
    return Report(done.report or {}, done.messages)


def stats(model: Model) -> Report:
    """What a model consists of, and how much of it regraft understands.

    >>> found = regraft.stats(model)
    >>> found["understood"] == found["nodes"]
    True
    """
    options: Dict[str, Any] = {}
    inputs: Dict[str, bytes] = {}
    Argument(model).put("model", options, inputs)
    done = call("stats", options, inputs, False)
    return Report(done.report, done.messages)


def verify(rules: Union[Path, bytes], *, out: Optional[Path] = None, cache: Optional[Path] = None,
           derivations: Optional[Path] = None, no_replay: bool = False,
           no_kernel: bool = False, keep_witnesses: bool = False,
           no_conditions: bool = False, fold: bool = False, store: Optional[Path] = None,
           workers: Optional[int] = None, lease: Optional[float] = None,
           threads: Optional[int] = None, seed: Optional[int] = None,
           time: Optional[float] = None, memory: Optional[float] = None,
           progress: Shown = None) -> Report:
    """Proves or refutes each rule of a file (a path, or its text: bytes, or lines), whatever it
    claims.

    >>> found = regraft.verify(b"twice  (neg (neg ?x)) => ?x")
    >>> [(rule["name"], rule["verdict"]) for rule in found["rules"]]
    [('twice', 'proved:all-sizes')]
    """
    options: Dict[str, Any] = dict(out=out, cache=cache, derivations=derivations,
                                   no_replay=no_replay, no_kernel=no_kernel,
                                   keep_witnesses=keep_witnesses,
                                   no_conditions=no_conditions, fold=fold, store=store, workers=workers, lease=lease,
                                   threads=threads, seed=seed, time=time, memory=memory)
    inputs: Dict[str, bytes] = {}
    if isinstance(rules, str) and "\n" in rules:  # no path, but what generate returns
        rules = rules.encode()
    if isinstance(rules, (bytes, bytearray)):
        inputs["rules"] = bytes(rules)
    else:
        options["rules"] = rules
    done = call("verify", options, inputs, progress, FOUND)
    return Report(done.report, done.messages)


def generate(*, ops: Optional[str] = None, max_size: Optional[int] = None,
             out: Optional[Path] = None, audit: Optional[int] = None,
             checkpoint: Optional[Path] = None, store: Optional[Path] = None,
             workers: Optional[int] = None, lease: Optional[float] = None, threads: Optional[int] = None,
             seed: Optional[int] = None, time: Optional[float] = None,
             memory: Optional[float] = None, progress: Shown = None) -> Candidates:
    """Enumerates small operator graphs and pairs those that compute the same. The candidates are a
    rule file, `text`, to be proved by verify.

    >>> found = regraft.generate(ops="core", max_size=1)
    >>> found.report["candidates"] > 0
    True
    """
    done = call("generate", dict(ops=ops, max_size=max_size,
                                 out=True if out is None else os.fspath(out), audit=audit,
                                 checkpoint=checkpoint, store=store, workers=workers,
                                 lease=lease, threads=threads, seed=seed, time=time,
                                 memory=memory), {}, progress)
    text = done.outputs.get("out", b"").decode() if out is None else read(os.fspath(out))
    return Candidates(text, Report(done.report, done.messages))


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def rules(file: Union[Path, bytes, None] = None) -> List[Rule]:
    """The rules of a file (a path, or its text as bytes); the shipped ones without it.

    >>> len(regraft.rules()) > 100
    True
    >>> regraft.rules(b"twice  (neg (neg ?x)) => ?x")[0].operators
    ['neg']
    """
    inputs: Dict[str, bytes] = {}
    options: Dict[str, Any] = {}
    if isinstance(file, (bytes, bytearray)):
        inputs["file"] = bytes(file)
    else:
        options["file"] = file
    done = call("rules show", options, inputs, False)
    return [Rule(**{field: entry[field] for field in Rule._fields}) for entry in done.report]
