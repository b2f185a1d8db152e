"""What the scripts over the zoo share: running a program, checking what it made, and tables."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOLERANCE = 1e-4  # of an output's largest magnitude
MAGNITUDES = [1e-12, 1e-6, 1e4, 1e12]  # that inputs are multiplied by in hostile checks
NUDGE = 1e-6      # of an input: a few units in the last place of a float32
SLACK = 10        # times what the nudge changes may differ there
PATIENCE = 600    # seconds for one program on one model


def run(line, patience=PATIENCE):
    """Exit status, seconds, the seconds that it computed, bytes at the peak, and the last line on
    stderr; of what did not end also "late", the seconds that it computed. This process stays small: the system counts its
    memory as the child's until the child's program starts."""
    with tempfile.TemporaryFile("w+", errors="replace") as told:
        begin = time.perf_counter()
        process = subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL, stderr=told,
                                   stdin=subprocess.DEVNULL,
                                   env={**os.environ, "ORT_DISABLE_TELEMETRY": "1",
                                        "REGRAFT_PYTHON": sys.executable})
        late = threading.Event()
        timer = threading.Timer(patience, lambda: (late.set(), process.kill()))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        lines = [text for text in told.read().splitlines() if text.strip()]
        result = {"exit": process.returncode, "seconds": time.perf_counter() - begin,
                  "processor": usage.ru_utime + usage.ru_stime,
                  "memory": usage.ru_maxrss * 1024, "told": lines[-1][:160] if lines else ""}
        if late.is_set():
            result.update(told=f"no end after {patience} s",
                          late=usage.ru_utime + usage.ru_stime)
        return result


def answer(script, *arguments, patience=PATIENCE):
    """What a script of this folder prints as JSON in a process of its own; or {"error"}."""
    line = [sys.executable, HERE / script, *arguments]
    try:
        done = subprocess.run(list(map(str, line)), capture_output=True, text=True,
                              errors="replace", timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"{script} did not end"}
    if done.returncode:
        last = [text for text in done.stderr.splitlines() if text.strip()][-1:]
        return {"error": f"{script} ended with {done.returncode} {''.join(last)}".strip()[:160]}
    return json.loads(done.stdout.splitlines()[-1])


def checked(entry, original, made, *options):
    """Facts of the original, and of each file made of it."""
    found = answer("zoo_check.py", *options, json.dumps(entry), original, *made)
    return [found] * (1 + len(made)) if isinstance(found, dict) else found


def made_by(line, entry, source, target, *options, patience=PATIENCE):
    """What a program took to make the target, and facts of it; or its error."""
    try:
        result = run(line, patience)
    except OSError as problem:
        return {"error": str(problem)[:160]}
    if "late" in result:
        return {**result, "error": result["told"]}
    if result["exit"] != 0 or not os.path.exists(target):
        return {**result, "error": f"exit {result['exit']}: {result['told']}"}
    return {**result, **checked(entry, source, [target], *options)[1]}


def agrees(result):
    """None: it could not be compared."""
    if "differences" not in result:
        return None
    return all(d <= TOLERANCE for d in result["differences"]) and \
        all(d <= allowed for d, allowed in result.get("hostile", {}).values())


def sound(result):
    """It was made, and is not known to be wrong."""
    return "nodes" in result and "error" not in result and agrees(result) is not False


def agreement(result):
    if "differences" in result:
        return f"{max(result['differences']):.0e}"
    return "-"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(str(c) for c in row) + " |" for row in rows), ""]
