"""A fleet on Ray: `python -m regraft.fleet [--workers N] [--address A] COMMAND --store DIR ...`

COMMAND is generate, verify or train with its options. It runs here; N Ray tasks run `regraft work
DIR` beside it, on whatever nodes Ray has, and are started again when they die. DIR is a folder
that all nodes see, and all have the same version of regraft. The result is that of one process.

  pip install regraft[ray]
  python -m regraft.fleet --workers 4 verify core.rules --out proved.rules --store /shared/store
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time
from typing import Any, List, Optional

from . import program
from .program import Failure

COMMANDS = ("generate", "verify", "train")
BAD_INPUT = 3


class WorkerDied(Exception):
    """A worker was killed; Ray starts its task again."""


def work(store: str, place: Optional[str]) -> int:
    """What a Ray task does: a worker until the run has ended. Returns its exit code."""
    done = subprocess.run([place or program.find(), "work", store, "--quiet"], check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode < 0 or done.returncode > 128:
        raise WorkerDied(f"regraft work {store}: ended by a signal")
    return done.returncode


def store_of(command: List[str]) -> str:
    """The folder that the command line names."""
    for at, word in enumerate(command):
        if word == "--store" and at + 1 < len(command):
            return os.path.abspath(command[at + 1])
        if word.startswith("--store="):
            return os.path.abspath(word[len("--store="):])
    raise Failure("--store is missing: the folder that the workers share")


def wait_for_store(store: str, run: "subprocess.Popen[bytes]") -> bool:
    """False where the command ended first."""
    while run.poll() is None:
        if (pathlib.Path(store) / "store").exists():
            return True
        time.sleep(0.01)
    return False


def started_ray(address: Optional[str], workers: int) -> Any:
    """Joins a cluster, or begins one on this machine."""
    try:
        import ray
    except ImportError:
        raise Failure("Ray is not installed: pip install regraft[ray]") from None
    options = {"address": address} if address else {"num_cpus": workers}
    ray.init(include_dashboard=False, log_to_driver=True, logging_level="error", **options)
    return ray


def run_on(ray: Any, command: List[str], workers: int, program_here: Optional[str]) -> int:
    """Runs a command, with workers on a Ray that is there; returns its exit code. The program is
    looked for on each node where none is named."""
    store = store_of(command)
    with subprocess.Popen([program.find(), *command], stdin=subprocess.DEVNULL) as here:
        if wait_for_store(store, here):
            task = ray.remote(num_cpus=1, max_retries=-1, retry_exceptions=[WorkerDied])(work)
            waiting = [task.remote(store, program_here) for _ in range(workers)]
            here.wait()
            failed = sum(map(bool, ray.get(waiting)))
            if failed:
                print(f"regraft: {failed} of {workers} workers failed", file=sys.stderr)
        return here.wait()


def run(command: List[str], workers: int, address: Optional[str] = None) -> int:
    """Runs a command with workers on Ray; returns its exit code."""
    if not command or command[0] not in COMMANDS:
        raise Failure(f"a command is missing: {', '.join(COMMANDS)}")
    store_of(command)
    ray = started_ray(address, workers)
    try:
        return run_on(ray, command, workers, None if address else program.find())
    finally:
        ray.shutdown()


def main(arguments: Optional[List[str]] = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m regraft.fleet", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1,
                        help="Ray tasks that work; default: one for each core here")
    parser.add_argument("--address", help="of a Ray cluster; default: one on this machine")
    parser.add_argument("command", nargs=argparse.REMAINDER,
                        help="generate, verify or train with their options")
    given = parser.parse_args(arguments)
    try:
        return run(given.command, max(1, given.workers), given.address)
    except Failure as failure:
        print(f"regraft: {failure}", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
