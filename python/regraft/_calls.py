"""One call: its options, its progress, and how it ends."""
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from . import _library
from ._library import Progress, Run
from .errors import CheckFailed, InputError, InternalError, RegraftError, UsageError

# None: a bar where tqdm is installed and stderr is a terminal or a notebook; True: a bar; False:
# nothing; a function: it is called about ten times a second.
Shown = Union[bool, None, Callable[[Progress], None]]
SECONDS = 0.1  # between two looks at a call
HERE = os.path.dirname(__file__)
PREFIXES = ("regraft: ", "warning: ")


class Bar:
    """Progress as tqdm shows it: one bar for each kind of work."""

    def __init__(self, tqdm: Any):
        self.tqdm = tqdm
        self.bar: Any = None
        self.label = ""

    def __call__(self, now: Progress) -> None:
        if now.label and (now.label != self.label or self.bar is None):
            self.close()
            self.label = now.label
            self.bar = self.tqdm(desc=now.label, unit=" " + now.unit, total=now.total or None,
                                 leave=False)
        if self.bar is not None:
            self.bar.set_postfix_str(now.note, refresh=False)
            self.bar.update(now.done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = None


def watcher(shown: Shown) -> Callable[[Progress], None]:
    if callable(shown):
        return shown
    if shown is None and not ("ipykernel" in sys.modules or (sys.stderr and sys.stderr.isatty())):
        return lambda now: None
    if shown is not False:
        try:
            from tqdm.auto import tqdm
            return Bar(tqdm)
        except ImportError:
            if shown:
                raise UsageError("progress=True needs tqdm, which is not installed") from None
    return lambda now: None


def wait(run: Run, shown: Shown) -> None:
    """Until the run has ended. Ctrl-C asks it to end, with what it has; a second one is raised
    once it has ended, without a check of that."""
    watch = watcher(shown)
    interrupted = 0
    try:
        while True:
            try:
                if run.wait(SECONDS):
                    break
                watch(run.progress())
            except KeyboardInterrupt:
                interrupted += 1
                run.cancel()
    finally:
        if isinstance(watch, Bar):
            watch.close()
    if interrupted > 1:
        raise KeyboardInterrupt


def plain(value: Any) -> Any:
    """As JSON has it: paths as text, mappings and sequences all through."""
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # a number of numpy
        return value.item()
    return value


def require_rules(given: Mapping[str, Any]) -> None:
    """The library takes no rule files for the shipped ones; who says [] means something else."""
    if given.get("rules") == []:
        raise UsageError("rules: an empty list; the shipped rules are used where none are named")


def told(line: str) -> str:
    """A line of the program, without what says who speaks."""
    for prefix in PREFIXES:
        line = line[len(prefix):] if line.startswith(prefix) else line
    return line


def caller() -> int:
    """How many frames up the first one is that is not this package's, seen from who calls this."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == HERE:
        level, frame = level + 1, frame.f_back
    return level


class Done:
    """What a run left behind."""

    def __init__(self, run: Run, outputs: List[str]):
        self.status = run.status()
        self.messages = [told(line) for line in run.messages()]
        self.report: Any = run.report()
        self.outputs = {name: run.output(name) or b"" for name in outputs}

    @property
    def interrupted(self) -> bool:
        return self.status == _library.INTERRUPTED


FAILURES: Dict[int, Any] = {_library.FAILED: CheckFailed, _library.USAGE: UsageError,
                            _library.BAD_INPUT: InputError, _library.INTERNAL: InternalError}


def call(command: str, options: Mapping[str, Any], inputs: Mapping[str, bytes], shown: Shown = None,
         fine: Optional[List[int]] = None) -> Done:
    """Runs a command. Statuses but those that are `fine` are exceptions; warnings are warnings."""
    given = {name: plain(value) for name, value in options.items() if value is not None}
    require_rules(given)
    with Run(command, given, inputs) as run:
        wait(run, shown)
        done = Done(run, [name for name, value in given.items() if value is True])
    accepted = fine if fine is not None else [_library.DONE, _library.INTERRUPTED]
    if done.status not in accepted:
        kind = FAILURES.get(done.status, RegraftError)
        raise kind(done.messages[-1] if done.messages else f"{command}: status {done.status}")
    if done.interrupted and done.report is None:
        raise KeyboardInterrupt
    for line in done.messages:
        warnings.warn(line, RuntimeWarning, stacklevel=caller())
    return done
