"""libregraft.so by ctypes; cli/library/regraft.h says what each function promises."""
import ctypes
import functools
import json
import os
import pathlib
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from .errors import InputError, InternalError, LibraryError, UsageError

API_VERSION = 1
DONE, FAILED, USAGE, BAD_INPUT, INTERNAL, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
HERE = pathlib.Path(__file__).resolve().parent


class Buffer(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_char_p), ("size", c_size_t)]


class RawProgress(ctypes.Structure):
    _fields_ = [("label", c_char_p), ("unit", c_char_p), ("note", c_char_p), ("done", c_uint64),
                ("total", c_uint64)]


class Progress(NamedTuple):
    """How far a call is: `done` of `total` units (0: unknown); all empty before work begins."""
    label: str
    unit: str
    note: str
    done: int
    total: int


SIGNATURES = {
    "regraft_api_version": (c_int, []),
    "regraft_version": (c_char_p, []),
    "regraft_options": (c_char_p, [c_char_p]),
    "regraft_set_python": (None, [c_char_p]),
    "regraft_start": (c_void_p, [c_char_p, c_char_p, POINTER(Buffer), c_size_t]),
    "regraft_wait": (c_int, [c_void_p, c_double, c_void_p, c_void_p]),
    "regraft_progress_of": (RawProgress, [c_void_p]),
    "regraft_cancel": (None, [c_void_p]),
    "regraft_status": (c_int, [c_void_p]),
    "regraft_messages": (c_char_p, [c_void_p]),
    "regraft_report": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "regraft_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "regraft_output": (c_void_p, [c_void_p, c_char_p, POINTER(c_size_t)]),
    "regraft_free": (None, [c_void_p]),
}


def places() -> List[str]:
    """$REGRAFT_LIBRARY, in this package (a wheel), or in build/release of the sources."""
    named = os.environ.get("REGRAFT_LIBRARY")
    if named:
        return [named]
    return [str(HERE / "lib" / "libregraft.so"),
            str(HERE.parents[1] / "build" / "release" / "libregraft.so")]


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The library. Its symbols are not seen by others (RTLD_LOCAL)."""
    found = [path for path in places() if os.path.isfile(path)]
    if not found:
        raise LibraryError(f"libregraft.so is not at {' or '.join(places())}; "
                           "install the wheel, or set REGRAFT_LIBRARY")
    try:
        library = ctypes.CDLL(found[0])
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise LibraryError(f"{found[0]}: {error}") from None
    if library.regraft_api_version() != API_VERSION:
        raise LibraryError(f"{found[0]} has version {library.regraft_api_version()} of the "
                           f"interface; this package needs {API_VERSION}")
    if sys.executable:
        library.regraft_set_python(os.fsencode(sys.executable))
    return library


def version() -> str:
    return text_of(load().regraft_version())


def options(command: str) -> Optional[Dict[str, Any]]:
    """The command's options, as the command line has them; None: there is no such command."""
    described = load().regraft_options(command.encode())
    return None if described is None else json.loads(described)


def encoded(given: Mapping[str, Any]) -> bytes:
    """Options as JSON; an exception names the one that has no such form."""
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputError(f"{name}: a text or path that is not UTF-8") from None
        except ValueError:
            raise UsageError(f"{name}: a number is not finite") from None
        except TypeError as error:
            raise UsageError(f"{name}: {error}") from None
    return json.dumps(given).encode()


def text_of(said: Optional[bytes]) -> str:
    return (said or b"").decode(errors="replace")


class Run:
    """A command that goes on in the library's own thread. Ends with the `with` block."""

    def __init__(self, command: str, given: Mapping[str, Any], inputs: Mapping[str, bytes]):
        self.native = load()
        buffers = (Buffer * len(inputs))(
            *(Buffer(name.encode(), data, len(data)) for name, data in inputs.items()))
        self.handle = self.native.regraft_start(
            command.encode(), encoded(given), buffers, len(inputs))
        if not self.handle:
            raise MemoryError("regraft: no memory for the inputs")

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.native.regraft_free(self.handle)
        self.handle = None

    def wait(self, seconds: float) -> bool:
        """Has it ended? Waits so many seconds for it."""
        return bool(self.native.regraft_wait(self.handle, seconds, None, None))

    def cancel(self) -> None:
        self.native.regraft_cancel(self.handle)

    def progress(self) -> Progress:
        now = self.native.regraft_progress_of(self.handle)
        return Progress(text_of(now.label), text_of(now.unit), text_of(now.note), now.done, now.total)

    # Once wait() was True:

    def status(self) -> int:
        return int(self.native.regraft_status(self.handle))

    def messages(self) -> List[str]:
        return text_of(self.native.regraft_messages(self.handle)).splitlines()

    def bytes_of(self, function: str, *arguments: Any) -> Optional[bytes]:
        size = c_size_t()
        data = getattr(self.native, function)(self.handle, *arguments, ctypes.byref(size))
        return ctypes.string_at(data, size.value) if data else None

    def report(self) -> Optional[Dict[str, Any]]:
        text = self.bytes_of("regraft_report")
        if not text:
            return None
        try:
            found: Dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise InternalError(f"the report is no JSON: {error}") from None
        return found

    def output(self, name: str) -> Optional[bytes]:
        return self.bytes_of("regraft_output", name.encode())
