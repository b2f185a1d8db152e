"""Times single kernels, by onnxruntime's own profiler: it leaves out what Python and the session
add, and tells the kernel from what is around it.

Kernels must take as long here as in their model. So all run in turn, and weights come from far; and
what a kernel reads is touched before, as the kernel before it would have written it. A kernel
without large weights runs twice in each turn: the first time all has been forgotten, its code too,
the second time all is at hand. In a model it is in between, and so is what is reported.
The profiler adds to each node about 2.5 us of its own; a chain of nodes that do nothing runs along
and tells how much, to be taken off.
"""
import os
import statistics
import tempfile
import time
from typing import Dict, List, Sequence, Union

from . import runtime, timing
from .program import Failure
from .small_models import chain, isolated
from .statistic import summary_of_whole
from .timing import WARM_UP, Result, Runner
from .trace import Node, durations

PARTS = {"to-blocked": "ReorderInput", "from-blocked": "ReorderOutput"}
BATCH_BYTES = 1 << 29    # of kernel files that are open at the same time
BATCH_KERNELS = 96
FAR_BYTES = 1 << 25      # what must be touched between two runs for weights to come from far
SMALL_BYTES = 1 << 16    # a file of this size has no weights that matter
LEAST_ROUNDS, MOST_ROUNDS = 24, 400
LOOK = 8                 # rounds after which it is seen who is done
TARGET, FLOOR = 0.008, 0.4  # relative, and microseconds: what must be known of a kernel
PROBE = 24               # nodes


class Traced(Runner):
    """A kernel's model, with the profiler on."""

    def __init__(self, model: Union[str, bytes], part: str, threads: int, trace: str) -> None:
        self.part = part
        self.size = len(model) if isinstance(model, bytes) else file_size(model)
        self.turns = 2 if self.size < SMALL_BYTES else 1
        super().__init__(lambda: runtime.session(isolated(model), threads, "cpu", trace),
                         runtime.Inputs())

    def run(self) -> None:
        import numpy as np
        for array in self.feeds.values():
            np.copyto(array, array.copy())
        super().run()
        if self.turns == 2 and not self.error:
            self.session.run(None, self.feeds)

    def nodes(self) -> List[Node]:
        """With the durations that count. Ends the session's recording."""
        return [Node(n.name, n.operator, n.microseconds[WARM_UP:])
                for n in durations(self.session)]


def file_size(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0


def of_part(node: Node, part: str) -> bool:
    if part in PARTS:
        return node.operator == PARTS[part]
    return not node.name.startswith("wrap_") and node.operator not in PARTS.values()


def measured(runner: Traced, extra: float) -> Result:
    """Of a runner that has run; `extra` is what the profiler adds to a node. A kernel that became
    no node at all takes no time."""
    if runner.error:
        return {"error": runner.error}
    nodes = [n.microseconds for n in runner.nodes() if of_part(n, runner.part)]
    if runner.part in PARTS and not nodes:
        return {"error": f"onnxruntime runs no {PARTS[runner.part]} in it"}
    if not nodes:
        return {"microseconds": 0.0, "noise": 0.0, "runs": len(runner.samples)}
    sums = [sum(times) for times in zip(*nodes)]
    turns = [summary_of_whole(sums[k::runner.turns], len(nodes)) for k in range(runner.turns)]
    middle = statistics.mean(t["microseconds"] for t in turns)
    return {"microseconds": max(middle - extra * len(nodes), 0.0),
            "noise": max(t["noise"] for t in turns), "runs": turns[0]["runs"]}


def profiler_extra(probe: Traced) -> float:
    """Microseconds; the probe's nodes do nothing."""
    return statistics.median(summary_of_whole(n.microseconds)["microseconds"]
                             for n in probe.nodes())


def batches(kernels: Sequence[Dict[str, str]]) -> List[List[Dict[str, str]]]:
    groups: List[List[Dict[str, str]]] = [[]]
    size = 0
    for kernel in kernels:
        more = file_size(kernel["file"])
        if groups[-1] and (size + more > BATCH_BYTES or len(groups[-1]) == BATCH_KERNELS):
            groups.append([])
            size = 0
        groups[-1].append(kernel)
        size += more
    return groups


def rounds(runners: Sequence[Traced], seconds: float) -> None:
    """Runs all in turn. Who is known well enough leaves; what is left finds its weights far away
    nevertheless."""
    import numpy as np
    far = np.zeros(FAR_BYTES // 4, np.float32)
    end = time.perf_counter() + seconds
    active = [r for r in runners if not r.error]
    for done in range(MOST_ROUNDS):
        if done >= LEAST_ROUNDS and done % LOOK == 0:
            active = [r for r in active if not r.error and not timing.settled(r, TARGET, FLOOR)]
        if not active or done >= LEAST_ROUNDS and time.perf_counter() > end:
            return
        if sum(r.size for r in active) < FAR_BYTES:
            np.add(far, 1, out=far)
        for k in timing.order(len(active), done):
            if not active[k].error:
                active[k].run()


def time_batch(kernels: Sequence[Dict[str, str]], threads: int, seconds: float) -> List[Result]:
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        probe = Traced(chain(PROBE), "kernel", threads, trace)
        runners = [Traced(k["file"], k["part"], threads, f"{trace}{n}")
                   for n, k in enumerate(kernels)]
        rounds([probe, *runners], seconds)
        if probe.error:
            raise Failure(probe.error)
        extra = profiler_extra(probe)
        return [measured(runner, extra) for runner in runners]


def time_whole(kernels: Sequence[Dict[str, str]], threads: int, seconds: float,
               provider: str) -> List[Result]:
    """Where the profiler sees launches only: whole runs, less the run of a model that does
    nothing."""
    results = timing.time_models([chain(1), *(k["file"] for k in kernels)], threads, seconds,
                                 provider)
    idle = results[0].get("microseconds", 0.0)
    for done in results[1:]:
        if "error" not in done:
            done["microseconds"] = max(done["microseconds"] - idle, 0.0)
    return results[1:]


def check(kernels: Sequence[Dict[str, str]]) -> None:
    for kernel in kernels:
        if not isinstance(kernel, dict) or not {"file", "part"} <= set(kernel):
            raise Failure("a kernel needs \"file\" and \"part\"")
        if kernel["part"] not in ("kernel", *PARTS):
            raise Failure(f"no part {kernel['part']!r}; there are kernel, to-blocked, "
                          "from-blocked")


def time_kernels(kernels: Sequence[Dict[str, str]], threads: int = 1, seconds: float = 30,
                 provider: str = "cpu") -> List[Result]:
    """One result for each kernel: {"microseconds", "noise", "runs"} or {"error"}."""
    check(kernels)
    on_cpu = runtime.provider_name(provider) == runtime.PROVIDERS["cpu"]
    results: List[Result] = []
    for group in batches(kernels) if kernels else []:
        share = seconds * len(group) / len(kernels)
        results += (time_batch(group, threads, share) if on_cpu else
                    time_whole(group, threads, share, provider))
    return results


def overhead(threads: int = 1, seconds: float = 3, provider: str = "cpu") -> float:
    """Microseconds from one kernel's end to the next one's begin: what a long chain of kernels that
    do nothing takes more than a short one, for each kernel more."""
    short, long = 50, 250
    done = timing.time_models([chain(short), chain(long)], threads, seconds, provider)
    for result in done:
        if "error" in result:
            raise Failure(result["error"])
    return max(done[1]["microseconds"] - done[0]["microseconds"], 0.0) / (long - short)
