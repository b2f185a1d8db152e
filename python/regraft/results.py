"""What the calls return."""
import html
import json
import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Union

from ._models import Argument
from .errors import InputError


class Report(Mapping[str, Any]):
    """What a command did, as its --json writes it: a mapping, whose text is a summary."""

    def __init__(self, data: Dict[str, Any], messages: Optional[List[str]] = None):
        self.data = data
        self.messages = messages or []  #: warnings, a line each

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def to_json(self, indent: Optional[int] = None) -> str:
        """The report as text."""
        return json.dumps(self.data, indent=indent)

    def summary(self) -> Dict[str, Any]:
        """The entries that are single values."""
        return {k: v for k, v in self.data.items() if not isinstance(v, (dict, list)) and v != ""}

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self.summary().items()]
        return "\n".join(lines + self.messages)

    def __repr__(self) -> str:
        return f"<regraft.{type(self).__name__}: {len(self.data)} entries>"


class OptimizeReport(Report):
    """Of optimize, simplify and slim. A notebook shows that of optimize as its page."""

    def __init__(self, data: Dict[str, Any], messages: Optional[List[str]] = None,
                 page: Union[bytes, str, None] = None):
        super().__init__(data, messages)
        self._page = page  # itself, or the file that has it

    def to_html(self) -> str:
        """The page that --report writes: both models drawn, what changed where, and why."""
        if isinstance(self._page, bytes):
            return self._page.decode()
        if self._page is None:
            raise InputError("no page was made: optimize makes one")
        try:
            with open(self._page, encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise InputError(f"{self._page}: {error.strerror}") from None

    def _repr_html_(self) -> Optional[str]:
        """The page in a frame of its own, so that neither its style nor its script reaches out."""
        try:
            page = self.to_html()
        except InputError:
            return None
        return ('<iframe title="What regraft did" sandbox="allow-scripts" style="width:100%;'
                f'height:46rem;border:1px solid #8b949e" srcdoc="{html.escape(page)}"></iframe>')

    def explain(self) -> str:
        """What each rule won and where, and why no rule did anything at the dearest of the other
        nodes, as text. REQUIRES: the call had explain=True; report["explanation"] has the parts."""
        if "explanation" not in self.data:
            raise InputError("there is no explanation: call optimize with explain=True")
        return str(self.data["explanation"]["text"])

    def summary(self) -> Dict[str, Any]:
        before, after = self.data["before"], self.data["after"]

        def change(of: Any) -> str:
            return f"{of(before)} -> {of(after)}"
        lines = {"operators": change(lambda s: sum(s["operators"].values())),
                 "parameters": change(lambda s: s["parameters"]),
                 "bytes": change(lambda s: s["bytes"]),
                 "predicted microseconds": change(lambda s: round(s["cost"], 1))}
        if "measured" in before and "measured" in after:
            lines["measured microseconds"] = change(
                lambda s: round(s["measured"]["microseconds"], 1))
        lines["rules applied"] = sum(self.data["applied"].values())
        if self.data["kept"]:
            lines["kept"] = "the original: " + (self.data["discarded"] or "nothing better was found")
        return lines


class Result:
    """An optimised model and the report. Unpacks as (model, report)."""

    def __init__(self, argument: Argument, data: bytes, path: str, report: OptimizeReport,
                 interrupted: bool):
        self.report = report  #: what was done
        self.path = path  #: the file that was written; empty: there is none
        self.data = data  #: the model's file; empty where `path` has it
        self.interrupted = interrupted  #: the best so far, as it was cut short
        self._argument = argument

    @property
    def model(self) -> Any:
        """A new model of the kind that was given; of a path, an onnx.ModelProto. With `out` the path."""
        return self.path or self._argument.like(self.data)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model to a file."""
        if self.path:
            raise InputError(f"the model is in {self.path}")
        with open(path, "wb") as file:
            file.write(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.model, self.report))

    def _repr_html_(self) -> Optional[str]:
        return self.report._repr_html_()

    def __repr__(self) -> str:
        return f"<regraft.Result{' (interrupted)' if self.interrupted else ''}: {self.report.summary()}>"


class Validation(Report):
    """What validate found."""

    @property
    def verdict(self) -> str:
        """proved, proved-up-to-constants, refuted or unknown."""
        return str(self.data["verdict"])

    @property
    def proved(self) -> bool:
        """Is the verdict proved, or proved up to what rounding explains of constants?"""
        return self.verdict.startswith("proved")

    @property
    def refuted(self) -> bool:
        """Was an input found at which the models differ?"""
        return self.verdict == "refuted"

    certificate: Optional[bytes] = None  #: with certificate=True: the proof, for check


class Candidates(NamedTuple):
    """What generate found: a rule file's text, and the counts."""
    text: str
    report: Report


class Rule(NamedTuple):
    """A rule of a file."""
    name: str
    text: str  #: the line of the file
    verdict: str  #: proved:all-sizes, proved:solver, ...
    numerics: str  #: exact, rounding, ...: what floats do
    operators: List[str]  #: that it names, each once
    reversible: bool  #: proved in both directions
    file: str
