"""Times models that compute the same, in turn, in onnxruntime with all its optimisations; runs
apart, because a runtime keeps what it allocated.

  python bench/zoo/zoo_time.py ENTRY SECONDS MODEL [MODEL ...]

ENTRY is the models' record in zoo.json, as JSON. Prints a JSON list: CPU seconds of each model's
runs, one thread, in rounds that start with another model each. The open sizes have their first
setting.
"""
import json
import sys
import time

import onnx
import onnxruntime

import zoo_check


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def once(running, values):
    start = time.process_time()
    running.run(None, values)
    return time.process_time() - start


def timed(entry, seconds, paths):
    values = zoo_check.feed(onnx.load(paths[0], load_external_data=False), entry, 0)
    sessions = [session(path) for path in paths]
    for running in sessions:
        once(running, values)
    runs, begin, first = [[] for _ in paths], time.perf_counter(), 0
    while len(runs[0]) < 7 or time.perf_counter() - begin < seconds:
        for k in range(len(paths)):
            at = (first + k) % len(paths)
            runs[at].append(once(sessions[at], values))
        first += 1
    return runs


if __name__ == "__main__":
    print(json.dumps(timed(json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])))
