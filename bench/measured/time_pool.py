"""Times all graphs of a pool in onnxruntime: `python time_pool.py POOL SECONDS OUT`.

POOL is a folder that `regraft optimize --pool` wrote. Every round runs each graph, in a new random
order: once unmeasured, so that its weights and activations are in the cache as in a program that
runs it alone, then RUNS times, of which the least counts. One thread, timed by what it computes.
Graphs that onnxruntime refuses, or whose outputs are not close to the model's, are left out.
OUT gets {"files", "rounds"}: microseconds by graph and round.
"""
import json
import os
import pathlib
import random
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from regraft import runtime  # noqa: E402

RUNS = 3
LEAST_ROUNDS, MOST_ROUNDS = 20, 80


class Session:
    def __init__(self, path, inputs):
        self.session = runtime.session(path)
        self.feeds = inputs.of(self.session)
        self.session.run(None, self.feeds)

    def least(self):
        self.session.run(None, self.feeds)
        times = []
        for _ in range(RUNS):
            begin = time.thread_time()
            self.session.run(None, self.feeds)
            times.append(1e6 * (time.thread_time() - begin))
        return min(times)


def time_pool(folder, seconds):
    pool = json.loads((folder / "pool.json").read_text())
    inputs = runtime.Inputs(pool["shapes"])
    files, sessions = [], []
    for graph in pool["graphs"]:
        try:
            sessions.append(Session(folder / graph["file"], inputs))
            files.append(graph["file"])
        except Exception as error:  # onnxruntime raises many kinds
            print(f"{folder.name}/{graph['file']}: {str(error).splitlines()[0]}", file=sys.stderr)
    rng, rounds = random.Random(1), []
    end = time.monotonic() + seconds
    while len(rounds) < LEAST_ROUNDS or (time.monotonic() < end and len(rounds) < MOST_ROUNDS):
        order = list(range(len(sessions)))
        rng.shuffle(order)
        times = [0.0] * len(sessions)
        for k in order:
            times[k] = sessions[k].least()
        rounds.append(times)
    return {"files": files, "rounds": rounds, "load": os.getloadavg()[0],
            "runtime": runtime.load().__version__, "processor": runtime.processor()}


if __name__ == "__main__":
    found = time_pool(pathlib.Path(sys.argv[1]), float(sys.argv[2]))
    pathlib.Path(sys.argv[3]).write_text(json.dumps(found))
