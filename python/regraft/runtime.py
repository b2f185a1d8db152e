"""onnxruntime: sessions, inputs, and what it runs on."""
import os
import pathlib
import platform
import subprocess
import tempfile
import types
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .program import Failure

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
         "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool",
         "tensor(int8)": "int8", "tensor(uint8)": "uint8"}


def load() -> types.ModuleType:
    """onnxruntime, with its telemetry off before it is loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise Failure(f"onnxruntime is not installed for this Python ({error})") from None
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def provider_name(short: str) -> str:
    """"cpu" and "cuda" are short for what onnxruntime calls them."""
    name = PROVIDERS.get(short, short)
    if name not in load().get_available_providers():
        raise Failure(f"this onnxruntime has no {name}; it has: "
                      + ", ".join(load().get_available_providers()))
    return name


def session(model: Any, threads: int = 1, provider: str = "cpu",
            trace: Optional[str] = None, optimise: bool = True) -> Any:
    """`model` is a path or the bytes of one. With `trace`, the start of a file's name, the session
    records how long each node takes until its end_profiling(). It runs the nodes as they are unless
    `optimise`."""
    runtime = load()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    levels = runtime.GraphOptimizationLevel
    options.graph_optimization_level = (levels.ORT_ENABLE_ALL if optimise
                                        else levels.ORT_DISABLE_ALL)
    if threads != 1:  # idle workers of one session would take the cores from the next
        options.add_session_config_entry("session.force_spinning_stop", "1")
    if trace is not None:
        options.enable_profiling = True
        options.profile_file_prefix = trace
    source = model if isinstance(model, bytes) else str(model)
    return runtime.InferenceSession(source, options, providers=[provider_name(provider)])


class Inputs:
    """Random inputs of the given shapes, by input; graphs that ask for the same name, type and
    shape get the same array. A size that nobody gave and that the model leaves open is 1."""

    def __init__(self, shapes: Optional[Mapping[str, Sequence[int]]] = None) -> None:
        self.shapes = shapes or {}
        self.arrays: Dict[Tuple[Any, ...], Any] = {}

    def of(self, opened: Any) -> Dict[str, Any]:
        return {value.name: self.array(value) for value in opened.get_inputs()}

    def shape(self, value: Any) -> Tuple[int, ...]:
        if len(self.shapes.get(value.name, ())) == len(value.shape):
            return tuple(int(d) for d in self.shapes.get(value.name, ()))
        return tuple(d if isinstance(d, int) and d >= 0 else 1 for d in value.shape)

    def array(self, value: Any) -> Any:
        import numpy as np
        if value.type not in TYPES:
            raise Failure(f"input {value.name}: no random values of {value.type}")
        shape = self.shape(value)
        key = (value.name, value.type, shape)
        if key not in self.arrays:
            rng = np.random.default_rng([11, *value.name.encode()])
            dtype = np.dtype(TYPES[value.type])
            self.arrays[key] = (rng.standard_normal(shape).astype(dtype) if dtype.kind == "f"
                                else rng.integers(0, 2, shape).astype(dtype))
        return self.arrays[key]


def processor() -> str:
    """As profiles name it: its name, family, model and vector width."""
    info = pathlib.Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine() or "unknown processor"
    first = info.read_text().split("\n\n")[0]
    fields = {name.strip(): value.strip()
              for name, _, value in (line.partition(":") for line in first.splitlines())}
    name = fields.get("model name", "unknown processor")
    if "cpu family" in fields:
        name += f" family {fields['cpu family']} model {fields.get('model', '')}"
    flags = fields.get("flags", "").split()
    width = [w for flag, w in (("avx512f", " avx512"), ("avx2", " avx2")) if flag in flags]
    return name + "".join(width[:1])


def graphics() -> Tuple[str, str]:
    """Name and driver of the first GPU."""
    try:
        line = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], text=True,
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        raise Failure("nvidia-smi names no GPU") from None
    name, driver = line.rsplit(",", 1)
    return name.strip(), driver.strip()


def operators_run(model: bytes) -> List[str]:
    """The types of the nodes that onnxruntime runs for a model."""
    from .trace import durations
    with tempfile.TemporaryDirectory() as folder:
        opened = session(model, trace=os.path.join(folder, "trace"))
        opened.run(None, Inputs().of(opened))
        return [node.operator for node in durations(opened)]


def block_width(provider: str = "cpu") -> int:
    """Channels in a block of the layout that convolutions use; 0 where they use none. An input
    with fewer channels than a block is read as it lies, others are moved into the layout."""
    from .small_models import convolution
    if provider_name(provider) != PROVIDERS["cpu"]:
        return 0
    moved = (c for c in (4, 8, 16, 32) if "ReorderInput" in operators_run(convolution(c)))
    return next(moved, 0)


def device(provider: str = "cpu", threads: int = 1) -> Dict[str, Any]:
    name = provider_name(provider)
    hardware, driver = graphics() if provider == "cuda" else (processor(), "")
    return {"runtime": "onnxruntime", "version": load().__version__, "device": hardware,
            "driver": driver, "provider": name, "threads": threads,
            "block": block_width(provider)}
