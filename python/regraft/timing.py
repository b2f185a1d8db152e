"""Times models side by side: every round runs each once, in an order that changes, so that
whatever else the machine does falls on all of them alike."""
import time
from typing import Any, Callable, Dict, List, Sequence, Union

from . import runtime
from .program import Failure, one_line
from .statistic import half_width, summary

Result = Dict[str, Any]
LEAST_ROUNDS = 7
MOST_ROUNDS = 2000
TARGET = 0.002  # relative half-width of the interval of the median at which timing may end
WARM_UP = 2


class Runner:
    """A model ready to run; what goes wrong is kept as one line."""

    def __init__(self, open_session: Callable[[], Any], inputs: runtime.Inputs) -> None:
        self.error = ""
        self.samples: List[float] = []  # microseconds
        self.session: Any = None
        try:
            self.session = open_session()
            self.feeds = inputs.of(self.session)
            for _ in range(WARM_UP):
                self.session.run(None, self.feeds)
        except Exception as error:  # onnxruntime raises many kinds
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.error = str(error) if isinstance(error, Failure) else one_line(error)
        self.session = None

    def run(self) -> None:
        try:
            begin = time.perf_counter()
            self.session.run(None, self.feeds)
            self.samples.append(1e6 * (time.perf_counter() - begin))
        except Exception as error:
            self.fail(error)


def order(count: int, round_number: int) -> List[int]:
    """Rotated by one each round, and reversed every other round."""
    start = round_number // 2 % count
    rotated = [(start + k) % count for k in range(count)]
    return rotated[::-1] if round_number % 2 else rotated


def settled(runners: Sequence[Runner], target: float, floor: float) -> bool:
    """Whether all medians are known to `target`, or to `floor` microseconds."""
    return all(half_width(r.samples) <= max(target * min(r.samples), floor) for r in runners)


def rounds(runners: Sequence[Runner], seconds: float, target: float = TARGET, floor: float = 0.0,
           least: int = LEAST_ROUNDS, between: Callable[[], object] = lambda: None) -> None:
    """Fills the samples of all runners that have no error. `between` is called before each round."""
    end = time.perf_counter() + seconds
    done = 0
    check = least
    while done < MOST_ROUNDS:
        active = [r for r in runners if not r.error]
        if not active:
            return
        between()
        for k in order(len(active), done):
            active[k].run()
        done += 1
        if done >= least and time.perf_counter() > end:
            return
        if done == check:  # looking at all samples costs time: each look when a fifth has come
            check += max(1, check // 5)
            if settled([r for r in active if not r.error], target, floor):
                return


def result(runner: Runner) -> Result:
    return {"error": runner.error} if runner.error else summary(runner.samples)


def time_models(files: Sequence[Union[str, bytes]], threads: int = 1, seconds: float = 10,
                provider: str = "cpu", symbol: int = runtime.SYMBOL) -> List[Result]:
    """Whole models, all in turn, with the same inputs."""
    runtime.provider_name(provider)
    inputs = runtime.Inputs(symbol)
    runners = [Runner(lambda f=file: runtime.session(f, threads, provider), inputs)
               for file in files]
    rounds(runners, seconds)
    return [result(runner) for runner in runners]
