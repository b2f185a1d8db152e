"""Processes that run other people's code on models: one that crashes or hangs is started again."""
import multiprocessing
import os
import signal

SPAWN = multiprocessing.get_context("spawn")


def serve(pipe, functions):
    """Answers (name, arguments) with ("done", result) or ("error", text) until the pipe closes."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module = __import__(functions)
    while True:
        try:
            name, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = "done", getattr(module, name)(*arguments)
        except BaseException as error:  # whatever a tool throws, SystemExit as well
            answer = "error", f"{type(error).__name__}: {error}".strip()[:400]
        pipe.send(answer)


class Worker:
    """One process with the functions of a module; `ask` starts it when it is not running."""

    def __init__(self, functions):
        self.functions, self.process, self.pipe = functions, None, None

    def start(self):
        self.pipe, child = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(child, self.functions), daemon=True)
        self.process.start()
        child.close()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None

    def ask(self, limit, name, *arguments):
        """("done", result), ("error", text), ("died", how) or ("slow", seconds)."""
        if not self.process:
            self.start()
            limit += 60  # imports
        try:
            self.pipe.send((name, arguments))
            if not self.pipe.poll(limit):
                self.stop()
                return "slow", f"{limit} s"
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(5)
            status = self.process.exitcode
            self.stop()
            return "died", f"signal {-status}" if status and status < 0 else f"status {status}"
