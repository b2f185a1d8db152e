"""What a model computes in onnxruntime, node by node as its file has them, on given inputs. Tensors
lie in files of their own: their elements, row-major, little-endian."""
import os
from typing import Any, Dict, List, Sequence, Tuple

from . import runtime
from .program import Failure, one_line

Feed = Sequence[Dict[str, Any]]  # of each input its name, dtype, shape and file
# What onnxruntime lacks, or the machine; a model that it calls wrong is not among these.
NOT_ITS_OWN = ("NotImplemented", "NoSuchFile", "NoModel", "MemoryError", "FileNotFoundError")
LACKS = ("is not a registered function", "is under development", "Unsupported model IR version",
         "Failed to allocate", "bad allocation", "Could not find an implementation")


def refusal(error: BaseException) -> Dict[str, Any]:
    """In one line; `unsupported` where it says nothing of the model."""
    told = str(error)
    lacks = type(error).__name__ in NOT_ITS_OWN or any(text in told for text in LACKS)
    return {"error": told if isinstance(error, Failure) else one_line(error),
            "unsupported": lacks or isinstance(error, Failure)}


def read(tensor: Dict[str, Any]) -> Any:
    import numpy as np
    try:
        dtype = np.dtype(tensor["dtype"])
    except TypeError:
        raise Failure(f"input {tensor['name']}: no values of {tensor['dtype']}") from None
    return np.fromfile(tensor["file"], dtype).reshape(tensor["shape"])


def write(value: Any, path: str) -> Dict[str, Any]:
    import numpy as np
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return {"dtype": "", "shape": []}
    np.ascontiguousarray(value).tofile(path)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "file": path}


def run(opened: Any, feed: Feed, names: List[str], start: str) -> Dict[str, Any]:
    try:
        values = opened.run(names, {tensor["name"]: read(tensor) for tensor in feed})
    except Exception as error:  # onnxruntime raises many kinds
        return refusal(error)
    return {"outputs": [write(v, f"{start}-{k}") for k, v in enumerate(values)]}


KEPT = 2
kept: Dict[Tuple[Any, ...], Any] = {}  # sessions by file, as it was, the last one used last


def session(file: str, threads: int) -> Any:
    state = os.stat(file)
    key = (file, state.st_mtime_ns, state.st_size, threads)
    if key not in kept:
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = runtime.session(file, threads, optimise=False)
    kept[key] = kept.pop(key)
    return kept[key]


def outputs(file: str, feeds: Sequence[Feed], names: List[str], folder: str,
            threads: int = 1) -> Dict[str, Any]:
    """One result for each feed: its outputs by `names`, in files in the folder, or an error."""
    told = {"runtime": f"onnxruntime {runtime.load().__version__}"}
    try:
        opened = session(file, threads)
    except Exception as error:
        return {**told, "results": [refusal(error) for _ in feeds]}
    start = os.path.join(folder, "output")
    return {**told, "results": [run(opened, feed, names, f"{start}-{k}")
                                for k, feed in enumerate(feeds)]}
