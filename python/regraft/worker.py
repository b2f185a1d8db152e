"""Serves timing to another program: one JSON object a line on stdin, one on stdout for each."""
import importlib.metadata
import importlib.util
import json
import os
import sys
from typing import IO, Any, Dict, List, Optional

from . import kernels, openvino_runtime, outputs, runtime, timing
from .program import Failure, one_line

Request = Dict[str, Any]


def device(request: Request) -> Request:
    if request.get("runtime") == "openvino":
        return openvino_runtime.device(runtime.processor(), int(request.get("threads", 1)))
    return runtime.device(request.get("provider", "cpu"), int(request.get("threads", 1)))


def models(request: Request) -> Request:
    return {"results": timing.time_models(
        request["files"], int(request.get("threads", 1)), float(request.get("seconds", 10)),
        request.get("provider", "cpu"), request.get("shapes"), request.get("runtimes", ()))}


def runtimes(_: Request) -> Request:
    """Those that this Python has, without loading them."""
    found = {}
    for name in ("onnxruntime", "openvino"):
        if importlib.util.find_spec(name) is not None:
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                found[name] = ""
    return {"runtimes": found}


class Contest:
    """Models that are ready, each in a runtime with its threads; a round runs each once."""
    runners: List[timing.Runner] = []

    @classmethod
    def open(cls, request: Request) -> Request:
        entries = request["models"]
        inputs = runtime.Inputs(request.get("shapes"))
        cls.runners = [timing.runner(e["file"], e["runtime"], int(e["threads"]), "cpu", inputs)
                       for e in entries]
        return {"results": [{"error": r.error} if r.error else {} for r in cls.runners]}

    @classmethod
    def round(cls, request: Request) -> Request:
        count = len(cls.runners)
        taken: List[Optional[float]] = [None] * count
        for k in timing.order(count, int(request["number"])) if count else ():
            runner = cls.runners[k]
            if not runner.error:
                runner.run()
            if not runner.error:
                taken[k] = runner.samples[-1]
        return {"microseconds": taken}


def time_kernels(request: Request) -> Request:
    return {"results": kernels.time_kernels(
        request["kernels"], int(request.get("threads", 1)), float(request.get("seconds", 30)),
        request.get("provider", "cpu"))}


def overhead(request: Request) -> Request:
    return {"microseconds": kernels.overhead(int(request.get("threads", 1)),
                                             float(request.get("seconds", 3)),
                                             request.get("provider", "cpu"))}


def run_model(request: Request) -> Request:
    return outputs.outputs(request["file"], request["feeds"], request["names"], request["folder"],
                           int(request.get("threads", 1)))


OPERATIONS = {"device": device, "models": models, "kernels": time_kernels, "overhead": overhead,
              "runtimes": runtimes, "open": Contest.open, "round": Contest.round,
              "outputs": run_model}


def answer(line: str) -> Request:
    try:
        request = json.loads(line)
        if not isinstance(request, dict) or request.get("op") not in OPERATIONS:
            return {"error": "a request is an object with \"op\": " + ", ".join(OPERATIONS)}
        return OPERATIONS[request["op"]](request)
    except Failure as failure:
        return {"error": str(failure)}
    except KeyError as missing:
        return {"error": f"the request lacks {missing}"}
    except Exception as error:  # a request never ends the worker
        return {"error": one_line(error)}


def own_stdout() -> IO[str]:
    """stdout for answers alone: whatever libraries print goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def serve() -> int:
    answers = own_stdout()
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(line)), file=answers, flush=True)
    return 0
