#!/usr/bin/env python3
"""Does a fleet give the bytes of one process, whatever becomes of its workers? Workers under Ray
and under GNU parallel are killed (-9) at random moments, suspended, robbed of their leases and left
without disk. Then: how it scales. Keeps figures in fleet.json and writes ../fleet.md.

  python bench/fleet/run_fleet.py [--runs 100] [--only ray,parallel,trouble,scaling,sizes]

Ray: with a Python that has it (pip install ray). GNU parallel: apt-get install parallel. The full
disk is a small tmpfs, so that part needs root.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = pathlib.Path(__file__).with_name("fleet.json")
sys.path.insert(0, str(ROOT / "python"))

from regraft import program  # noqa: E402
import report  # noqa: E402

WORKERS = 4


def candidates(count, name):
    """The first rules of a shipped file, without what is claimed of them."""
    lines = (ROOT / "substitutions" / name).read_text().splitlines()
    rules = [line.split("  proved:")[0] for line in lines if not line.startswith("#")]
    return "\n".join([lines[0], *rules[:count]]) + "\n"


def processes(store):
    """Workers of a store: what runs `regraft work STORE`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if words[1:3] == [b"work", str(store).encode()]:
            found.append(int(entry.name))
    return sorted(found)


def leases(store):
    """Bundles that someone is at, and by which process."""
    held = {}
    for path in (store / "leases").glob("*"):
        try:
            held[path.name] = int(path.read_text().split(" ")[0].split(":")[-2])
        except (OSError, ValueError, IndexError):
            pass
    return held


class Job:
    """A command, and the bytes that one process gives."""

    def __init__(self, folder, count):
        self.folder = folder
        self.rules = folder / "some.rules"
        self.rules.write_text(candidates(count, "core.rules"))
        start = time.perf_counter()
        self.expected = self.bytes_of([])
        self.seconds = time.perf_counter() - start

    def command(self, out, more):
        return ["verify", str(self.rules), "-o", str(out), "-q", "--threads", "1", *more]

    def bytes_of(self, more):
        out = self.folder / "out.rules"
        out.unlink(missing_ok=True)
        subprocess.run([program.find(), *self.command(out, more)], check=True)
        return out.read_bytes()


class Killer(threading.Thread):
    """Kills one worker at a random moment, as soon as there is one."""

    def __init__(self, store, rng, span):
        super().__init__(daemon=True)
        self.store, self.rng, self.span = store, rng, span
        self.killed = self.held = False
        self.ended = threading.Event()

    def run(self):
        while not processes(self.store):
            if self.ended.wait(0.01):
                return
        if self.ended.wait(self.rng.uniform(0, self.span)):
            return
        victims = processes(self.store)
        if victims:
            victim = self.rng.choice(victims)
            self.held = victim in leases(self.store).values()
            try:
                os.kill(victim, signal.SIGKILL)
                self.killed = True
            except ProcessLookupError:
                pass


def by_ray(ray):
    """Runs a command with workers on Ray."""
    from regraft import fleet
    return lambda command: fleet.run_on(ray, command, WORKERS, program.find())


def by_parallel(command):
    """The same under GNU parallel, which starts a worker again that was killed."""
    store = pathlib.Path(command[command.index("--store") + 1])
    with subprocess.Popen([program.find(), *command]) as here:
        while here.poll() is None and not (store / "store").exists():
            time.sleep(0.005)
        subprocess.run(["parallel", "--will-cite", "-j", str(WORKERS), "--retries", "5", "-N0",
                        program.find(), "work", str(store), "--quiet", ":::",
                        *map(str, range(WORKERS))], check=False, stderr=subprocess.DEVNULL)
        return here.wait()


def kill_runs(job, runner, runs, seed):
    """Runs until so many had a worker killed; what came of them."""
    rng = random.Random(seed)
    figures = dict(runs=0, killed=0, killed_at_work=0, same=0, failed=0, left_open=0)
    start = time.perf_counter()
    while figures["killed"] < runs:
        store, out = job.folder / f"store-{figures['runs']}", job.folder / "fleet.rules"
        out.unlink(missing_ok=True)
        killer = Killer(store, rng, job.seconds)
        killer.start()
        code = runner(job.command(out, ["--store", str(store)]))
        killer.ended.set()
        killer.join()
        figures["runs"] += 1
        figures["killed"] += killer.killed
        figures["killed_at_work"] += killer.held
        figures["failed"] += code != 0
        figures["same"] += out.exists() and out.read_bytes() == job.expected
        figures["left_open"] += len(list((store / "open").iterdir()))
        shutil.rmtree(store)
    figures["seconds"] = time.perf_counter() - start
    return figures


def started(job, store, out, *more):
    return subprocess.Popen([program.find(), *job.command(out, ["--store", str(store), *more])],
                            stderr=subprocess.PIPE, text=True)


def wait_for(condition, seconds=60):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise SystemExit("nothing happened")
        time.sleep(0.002)


def fill(disk):
    """Until nothing can be written any more."""
    with open(disk / "filler", "ab", buffering=0) as out:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while out.write(bytes(size)):
                    pass
            except OSError:
                pass


def full_disk(job):
    """A store on a disk that becomes full; then there is room again, and the run goes on."""
    disk, out = job.folder / "disk", job.folder / "full.rules"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], check=True)
    try:
        store = disk / "store"
        results = lambda: len(list((store / "results").glob("*/*")))  # noqa: E731
        first = started(job, store, out, "--workers", "2")
        wait_for(lambda: results() >= 5)
        while first.poll() is None:
            fill(disk)
        said = first.communicate()[1].strip().splitlines()
        kept = results()
        (disk / "filler").unlink()
        second = started(job, store, out, "--workers", "2")
        second.communicate()
        return dict(first_exit=first.returncode,
                    said=said[-1].replace(str(job.folder), "") if said else "",
                    results_kept=kept, second_exit=second.returncode,
                    same=out.read_bytes() == job.expected)
    finally:
        subprocess.run(["umount", disk], check=True)


def stale_lease(job):
    """A worker that is suspended while it holds a lease; another takes its work."""
    store, out = job.folder / "stale", job.folder / "stale.rules"
    run = started(job, store, out, "--workers", "2", "--lease", "0.5")
    wait_for(lambda: set(leases(store).values()) & set(processes(store)))
    held = leases(store)
    victim = next(pid for pid in held.values() if pid in processes(store))
    os.kill(victim, signal.SIGSTOP)
    held = [bundle for bundle, pid in leases(store).items() if pid == victim]
    run.wait()
    os.kill(victim, signal.SIGCONT) if victim in processes(store) else None
    return dict(held_when_suspended=len(held), exit=run.returncode,
                same=out.read_bytes() == job.expected)


def two_at_one(job):
    """Leases are removed while workers hold them, so that two do the same."""
    store, out = job.folder / "two", job.folder / "two.rules"
    run = started(job, store, out, "--workers", "2")
    robbed = 0
    while run.poll() is None:
        for bundle in leases(store):
            (store / "leases" / bundle).unlink(missing_ok=True)
            robbed += 1
        time.sleep(0.002)
    return dict(leases_removed=robbed, exit=run.returncode,
                same=out.read_bytes() == job.expected)


def cpu_of(pid):
    """Seconds of processor time so far; 0: it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(arguments, store):
    """Wall seconds; processor seconds of the command itself and of each of its workers."""
    start = time.perf_counter()
    run = subprocess.Popen([program.find(), *arguments])
    own, workers = 0.0, {}
    while run.poll() is None:
        own = max(own, cpu_of(run.pid))
        for pid in processes(store):
            workers[pid] = max(workers.get(pid, 0.0), cpu_of(pid))
        time.sleep(0.02)
    return dict(wall=time.perf_counter() - start, exit=run.returncode, own=own,
                workers=sorted(workers.values(), reverse=True))


def alone(row):
    """Seconds that a machine of its own would take."""
    return row["own"] + max(row["workers"])


def scaling(folder, runs):
    """From one worker to two, each in turn; of the runs those with the median time. On a machine
    that others use, wall time says little: the time that a machine of its own would take is the
    command's processor time and that of its busiest worker."""
    rules = folder / "all.rules"
    rules.write_text(candidates(400, "core.rules"))
    commands = {"verify, 400 rules of core": ["verify", str(rules), "-o", str(folder / "s.rules")],
                "generate, taso 4": ["generate", "--ops", "taso", "--max-size", "4", "-o",
                                     str(folder / "s.rules")]}
    figures = {}
    for name, command in commands.items():
        found = {1: [], 2: []}
        for _ in range(runs):
            for workers in found:
                store = folder / f"scale-{workers}"
                shutil.rmtree(store, ignore_errors=True)
                found[workers].append(timed([*command, "-q", "--threads", "1", "--store",
                                             str(store), "--workers", str(workers)], store))
        rows = [sorted(of, key=alone)[len(of) // 2] for of in found.values()]
        figures[name] = dict(rows=rows, runs=runs, wall_ratio=rows[0]["wall"] / rows[1]["wall"],
                             processor_ratio=alone(rows[0]) / alone(rows[1]))
    return figures


def sizes(folder):
    """What simulate.py needs beside ../generate.json."""
    report_file = folder / "core2.json"
    subprocess.run([program.find(), "generate", "--ops", "core", "--max-size", "2", "-q", "-o",
                    str(folder / "core2.rules"), "--json", str(report_file)], check=True)
    return {"core:2": json.loads(report_file.read_text())}


def keep(figures):
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rules", type=int, default=60)
    parser.add_argument("--scaling-runs", type=int, default=3)
    parser.add_argument("--only", default="parallel,trouble,scaling,sizes,ray")
    flags = parser.parse_args()
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    figures["machine"] = f"{os.cpu_count()} cores, {platform.machine()}"
    with tempfile.TemporaryDirectory(prefix="regraft-fleet-") as folder:
        folder = pathlib.Path(folder)
        job = Job(folder, flags.rules)
        for part in flags.only.split(","):
            if part in ("parallel", "ray"):  # what both tables say of themselves
                figures["workers"], figures["rules"] = WORKERS, flags.rules
            if part == "parallel":
                figures[part] = kill_runs(job, by_parallel, flags.runs, 1)
            elif part == "ray":
                import ray
                ray.init(num_cpus=WORKERS, include_dashboard=False, logging_level="error",
                         runtime_env={"env_vars": {"PYTHONPATH": str(ROOT / "python")}})
                figures[part] = kill_runs(job, by_ray(ray), flags.runs, 2)
                figures["ray_version"] = ray.__version__
                ray.shutdown()
            elif part == "trouble":
                figures[part] = {"full disk": full_disk(job), "stale lease": stale_lease(job),
                                 "two workers at one task": two_at_one(job)}
            elif part == "scaling":
                figures[part] = scaling(folder, flags.scaling_runs)
            elif part == "sizes":
                figures[part] = sizes(folder)
            keep(figures)
            print(part, json.dumps(figures[part]), flush=True)
    report.write(figures)


if __name__ == "__main__":
    main()
