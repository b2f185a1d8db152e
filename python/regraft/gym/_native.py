"""The environments of libregraft.so; cli/library/regraft_env.h says what each function promises."""
import ctypes
import contextlib
import functools
import json
import os
import threading
import weakref
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from .. import _library
from .._calls import plain, require_rules, told
from .._models import Argument, Model
from ..errors import CheckFailed, InputError, InternalError, LibraryError, UsageError

API_VERSION = 1
SIGNATURES = {
    "regraft_env_api_version": (c_int, []),
    "regraft_envs_make": (c_void_p, [c_char_p, POINTER(_library.Buffer), c_size_t]),
    "regraft_envs_status": (c_int, [c_void_p]),
    "regraft_envs_message": (c_char_p, [c_void_p]),
    "regraft_envs_description": (c_char_p, [c_void_p]),
    "regraft_envs_bind": (c_int, [c_void_p, POINTER(c_void_p), c_size_t]),
    "regraft_envs_reset": (c_int, [c_void_p, c_char_p]),
    "regraft_envs_step": (c_int, [c_void_p, c_void_p]),
    "regraft_envs_moves": (c_char_p, [c_void_p, c_size_t]),
    "regraft_envs_export": (c_int, [c_void_p, c_size_t, c_char_p]),
    "regraft_envs_free": (None, [c_void_p]),
}
FAILURES = {_library.FAILED: CheckFailed, _library.INTERNAL: InternalError}
Models = Union[Model, Sequence[Model]]


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    library = _library.load()
    try:
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise LibraryError(f"the library has no environments: {error}") from None
    if library.regraft_env_api_version() != API_VERSION:
        raise LibraryError(f"the library has version {library.regraft_env_api_version()} of the "
                           f"environments' interface; this package needs {API_VERSION}")
    return library


def buffers_of(models: Models) -> Any:
    """Each as a path, or as bytes with a name for messages."""
    several = isinstance(models, (list, tuple))
    arguments = [Argument(m, f"models[{k}]")
                 for k, m in enumerate(models if several else [models])]  # type: ignore[arg-type]
    return (_library.Buffer * len(arguments))(*(
        _library.Buffer(os.fsencode(a.path), None, 0) if a.path
        else _library.Buffer(f"models[{k}]".encode(), a.data, len(a.data))
        for k, a in enumerate(arguments)))


class Array:
    """One array: for all environments, and what it says of itself."""

    def __init__(self, facts: Mapping[str, Any], environments: int):
        self.name = facts["name"]
        self.part = facts["part"]
        self.shape = tuple(facts["shape"])
        self.low, self.high = facts["low"], facts["high"]
        self.data = np.zeros((environments, *self.shape), dtype=facts["type"])


class Environments:
    """Several environments, and the arrays that they write."""

    def __init__(self, models: Models, options: Mapping[str, Any]):
        self.native = load()
        self.calls = threading.Lock()
        given = {name: plain(value) for name, value in options.items() if value is not None}
        require_rules(given)
        buffers = buffers_of(models)
        self.handle = self.native.regraft_envs_make(_library.encoded(given), buffers,
                                                     len(buffers))
        if not self.handle:
            raise MemoryError("regraft: no memory for the environments")
        self.free = weakref.finalize(self, self.native.regraft_envs_free, self.handle)
        self.check(self.native.regraft_envs_status(self.handle))
        facts = json.loads(self.native.regraft_envs_description(self.handle))
        self.count: int = facts["environments"]
        self.rules: List[str] = facts["rules"]
        self.operators: List[str] = facts["operators"]
        self.models: List[Dict[str, Any]] = facts["models"]
        self.arrays = [Array(a, self.count) for a in facts["arrays"]]
        width = (2,) if options.get("actions") == "factorised" else ()
        self.actions = np.zeros((self.count, *width), np.int64)
        self.actions_at = c_void_p(self.actions.ctypes.data)
        places = (c_void_p * len(self.arrays))(*(a.data.ctypes.data for a in self.arrays))
        self.check(self.native.regraft_envs_bind(self.handle, places, len(self.arrays)))

    @contextlib.contextmanager
    def alone(self) -> Iterator[Any]:
        """The handle, for one thread at a time."""
        if not self.calls.acquire(blocking=False):
            raise UsageError("the environment is in use by another thread")
        try:
            if self.handle is None:
                raise UsageError("the environment is closed")
            yield self.handle
        finally:
            self.calls.release()

    def check(self, status: int) -> None:
        if status != _library.DONE:
            lines = [told(s) for s in _library.text_of(
                self.native.regraft_envs_message(self.handle)).splitlines()]
            raise FAILURES.get(status, InputError)(lines[-1] if lines else f"status {status}")

    def of(self, part: str) -> Dict[str, Any]:
        """The arrays of a part, by name; they change with each step."""
        return {a.name: a.data for a in self.arrays if a.part == part}

    def reset(self, **options: Any) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        with self.alone() as handle:
            self.check(self.native.regraft_envs_reset(handle, _library.encoded(plain(given))))

    def step(self) -> None:
        """With what `actions` holds."""
        with self.alone() as handle:
            self.check(self.native.regraft_envs_step(handle, self.actions_at))

    def moves(self, environment: int) -> List[Dict[str, Any]]:
        with self.alone() as handle:
            return json.loads(self.native.regraft_envs_moves(handle, environment))

    def export(self, environment: int, path: Any, which: str, certificate: Optional[Any],
               check: int) -> None:
        given = {"out": os.fspath(path), "which": which, "check": check}
        if certificate is not None:
            given["certificate"] = os.fspath(certificate)
        with self.alone() as handle:
            self.check(self.native.regraft_envs_export(handle, environment,
                                                        _library.encoded(plain(given))))

    def close(self) -> None:
        with self.calls:
            self.handle = None
            self.free()
