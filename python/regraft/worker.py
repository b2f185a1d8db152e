"""Serves timing to another program: one JSON object a line on stdin, one on stdout for each."""
import json
import os
import sys
from typing import IO, Any, Dict

from . import kernels, runtime, timing
from .program import Failure, one_line

Request = Dict[str, Any]


def device(request: Request) -> Request:
    return runtime.device(request.get("provider", "cpu"), int(request.get("threads", 1)))


def models(request: Request) -> Request:
    return {"results": timing.time_models(
        request["files"], int(request.get("threads", 1)), float(request.get("seconds", 10)),
        request.get("provider", "cpu"), int(request.get("symbol", runtime.SYMBOL)))}


def time_kernels(request: Request) -> Request:
    return {"results": kernels.time_kernels(
        request["kernels"], int(request.get("threads", 1)), float(request.get("seconds", 30)),
        request.get("provider", "cpu"))}


def overhead(request: Request) -> Request:
    return {"microseconds": kernels.overhead(int(request.get("threads", 1)),
                                             float(request.get("seconds", 3)),
                                             request.get("provider", "cpu"))}


OPERATIONS = {"device": device, "models": models, "kernels": time_kernels, "overhead": overhead}


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
