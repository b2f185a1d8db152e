"""Where the regraft program is, and how it is called."""
import os
import pathlib
import shutil
import subprocess
from typing import List, Optional

from .errors import RegraftError

HERE = pathlib.Path(__file__).resolve().parent


class Failure(RegraftError):
    """Bad input or a missing part; the message is one line for the user."""


def one_line(error: BaseException) -> str:
    """The first line that says something, cut to a readable length."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def own() -> List[str]:
    """Places of the program that goes with this package: $REGRAFT, in the package (a wheel), or in
    build/release of the sources."""
    named = os.environ.get("REGRAFT")
    return [named] if named else [str(HERE / "bin" / "regraft"),
                                  str(HERE.parents[1] / "build" / "release" / "regraft")]


def find(places: Optional[List[str]] = None) -> str:
    """The first of the places that is a program; by default those of own(), then PATH."""
    for path in places or [*own(), shutil.which("regraft") or ""]:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise Failure("the regraft program is not found: set REGRAFT to its path")


def user_profile() -> pathlib.Path:
    """The file in which regraft looks for measurements of this machine."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "regraft" / "user.profile"


def call(*arguments: object) -> str:
    """Runs `regraft ARGUMENTS` and returns what it wrote to stdout."""
    command = [find(), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.strip()]
        raise Failure(told[-1] if told else f"regraft {arguments[0]}: exit {done.returncode}")
    return done.stdout
