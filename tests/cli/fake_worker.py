#!/usr/bin/env python3
"""Stands for the Python that has runtimes, so that no test depends on timing: it answers the
worker's requests with the times that $FAKE_WORKER (JSON) has.

  runtimes  NAME: VERSION of those that are installed
  times     NAME: microseconds of a model as it came
  made      NAME: how many times as long what regraft wrote takes; 1 unless said
  noise     of every timing; 0.001 unless said
  drift     how many times as long a kernel takes that was timed before; 1 unless said
  log       a file for the requests, one a line; it may hold earlier ones
"""
import json
import os
import sys

SAID = json.loads(os.environ["FAKE_WORKER"])


def time_of(runtime, file):
    made = SAID.get("made", {}).get(runtime, 1) if "/regraft-" in file else 1
    return SAID["times"][runtime] * made


def device(request):
    name = request["runtime"]
    if name not in SAID["runtimes"]:
        return {"error": f"{name} is not installed for this Python"}
    return {"runtime": name, "version": SAID["runtimes"][name], "block": 16}


TIMED = set()  # signatures


def kernels(request):
    results = []
    for kernel in request["kernels"]:
        drift = SAID.get("drift", 1) if kernel["signature"] in TIMED else 1
        TIMED.add(kernel["signature"])
        results.append({"microseconds": 100 * drift, "noise": 0.001, "runs": 9})
    return {"results": results}


def read_log():
    if os.path.exists(SAID.get("log", "")):
        with open(SAID["log"], encoding="utf-8") as log:
            for request in map(json.loads, log):
                TIMED.update(k["signature"] for k in request.get("kernels", ()))


def models(request):
    times = [time_of(*pair) for pair in zip(request["runtimes"], request["files"])]
    noise = SAID.get("noise", 0.001)
    return {"results": [{"microseconds": t, "noise": noise, "runs": 9, "ratio": t / times[0],
                         "ratio_noise": noise} for t in times]}


class Contest:
    models = []

    @classmethod
    def open(cls, request):
        cls.models = request["models"]
        return {"results": [{} for _ in cls.models]}

    @classmethod
    def round(cls, _):
        return {"microseconds": [time_of(m["runtime"], m["file"]) / m["threads"]
                                 for m in cls.models]}


ANSWERS = {"runtimes": lambda _: {"runtimes": SAID["runtimes"]}, "device": device,
           "models": models, "kernels": kernels, "overhead": lambda _: {"microseconds": 0.2},
           "open": Contest.open, "round": Contest.round}

read_log()
for line in sys.stdin:
    if "log" in SAID:
        with open(SAID["log"], "a", encoding="utf-8") as log:
            log.write(line)
    asked = json.loads(line)
    print(json.dumps(ANSWERS[asked["op"]](asked)), flush=True)
