"""Times models side by side: every round runs each once, in an order that changes, so that
whatever else the machine does falls on all of them alike."""
import statistics
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import openvino_runtime, runtime
from .program import Failure, one_line
from .statistic import half_width, summary

Result = Dict[str, Any]
LEAST_ROUNDS = 7
FEWEST_ROUNDS = 3  # where it is late by so many seconds:
LATE = 10.0
MOST_ROUNDS = 2000
TARGET = 0.002  # relative half-width of the interval of the median at which timing may end
WARM_UP = 2
SLOW = 0.5  # seconds of a run that needs no second one to warm up


class Runner:
    """A model ready to run; what goes wrong is kept as one line."""

    def __init__(self, open_session: Callable[[], Any], inputs: runtime.Inputs,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.error = ""
        self.samples: List[float] = []  # microseconds
        self.session: Any = None
        try:
            self.session = open_session()
            self.feeds = inputs.of(self.session)
            begin = time.perf_counter()
            for _ in range(WARM_UP):
                self.session.run(None, self.feeds)
                if time.perf_counter() - begin > SLOW:
                    break
        except Exception as error:  # onnxruntime raises many kinds
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.error = str(error) if isinstance(error, Failure) else one_line(error)
        self.session = None

    def run(self) -> None:
        try:
            begin = self.clock()
            self.session.run(None, self.feeds)
            self.samples.append(1e6 * (self.clock() - begin))
        except Exception as error:
            self.fail(error)


def order(count: int, round_number: int) -> List[int]:
    """Rotated by one each round, and reversed every other round."""
    start = round_number // 2 % count
    rotated = [(start + k) % count for k in range(count)]
    return rotated[::-1] if round_number % 2 else rotated


def settled(runner: Runner, target: float, floor: float) -> bool:
    """Whether the median is known to `target` of itself, or to `floor` microseconds."""
    return half_width(runner.samples) <= max(target * min(runner.samples), floor)


def rounds(runners: Sequence[Runner], seconds: float) -> None:
    """Fills the samples of all runners that have no error, of all equally many."""
    end = time.perf_counter() + seconds
    check = LEAST_ROUNDS
    for done in range(MOST_ROUNDS):
        active = [r for r in runners if not r.error]
        late = time.perf_counter() - end
        enough = late > 0 and done >= LEAST_ROUNDS or late > LATE and done >= FEWEST_ROUNDS
        if enough or not active:
            return
        if done == check:  # looking at all samples takes time: each look when a fifth has come
            check += max(1, check // 5)
            if all(settled(r, TARGET, 0.0) for r in active):
                return
        for k in order(len(active), done):
            active[k].run()


def result(runner: Runner, first: Runner) -> Result:
    """With `ratio`, how many times as long as the first it takes: of runs beside each other, which
    suffer alike when the machine does something else. Runs of the first in which the clock of a
    virtual machine stood still are left out."""
    if runner.error:
        return {"error": runner.error}
    found = summary(runner.samples)
    if not first.error:
        ratios = [b / a for a, b in zip(first.samples, runner.samples) if a > 0]
        if not ratios:
            return {"error": "the clock stood still"}
        found.update(ratio=statistics.median(ratios), ratio_noise=half_width(ratios))
    return found


def runner(file: Union[str, bytes], name: str, threads: int, provider: str,
           inputs: runtime.Inputs) -> Runner:
    """Of a model in the runtime of that name. One thread of a processor is timed by what it
    computes, not by the clock on the wall: then waiting for others does not count."""
    openers = {"onnxruntime": lambda: runtime.session(file, threads, provider),
               "openvino": lambda: openvino_runtime.Session(file, threads)}
    if name not in openers:
        raise Failure(f"no runtime {name!r}; there are " + ", ".join(openers))
    clock = time.thread_time if threads == 1 and provider == "cpu" else time.perf_counter
    return Runner(openers[name], inputs, clock)


def time_models(files: Sequence[Union[str, bytes]], threads: int = 1, seconds: float = 10,
                provider: str = "cpu",
                shapes: Optional[Mapping[str, Sequence[int]]] = None,
                runtimes: Sequence[str] = ()) -> List[Result]:
    """Whole models, all in turn, with the same inputs, in about so many seconds, of which loading
    them takes its part. Each in the runtime of its place, or all in onnxruntime."""
    end = time.perf_counter() + seconds
    if runtimes and len(runtimes) != len(files):
        raise Failure("as many runtimes as files are needed")
    if not runtimes:
        runtime.provider_name(provider)
    inputs = runtime.Inputs(shapes)
    runners = [runner(file, name, threads, provider, inputs)
               for file, name in zip(files, runtimes or ["onnxruntime"] * len(files))]
    if len(runners) > 1:  # what a process opens last is several percent faster: this is not timed
        _spare = runner(files[0], (runtimes or ["onnxruntime"])[0], threads, provider, inputs)
    rounds(runners, max(0.0, end - time.perf_counter()))
    return [result(runner, runners[0]) for runner in runners]
