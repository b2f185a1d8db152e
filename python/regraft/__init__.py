"""regraft in Python: makes ONNX models faster, and proves that they still compute the same.

    import regraft
    result = regraft.optimize("model.onnx", out="faster.onnx")
    print(result.report)
    print(regraft.validate("model.onnx", "faster.onnx").verdict)

A model is a path, bytes, an onnx.ModelProto or an onnx_ir.Model. Options have the names of the
command line, `regraft optimize --help`, with "_" for "-". Importing this loads nothing else: the
library is loaded by the first call, onnx where a model of its kind is given or asked for."""
from ._library import version as _version
from .api import check, generate, optimize, rules, stats, validate, verify
from .drop_in import simplify, slim
from .errors import (CheckFailed, InputError, InternalError, LibraryError, RegraftError,
                     UsageError)
from .results import Candidates, Report, Result, Rule, Validation

__all__ = [
    "optimize", "simplify", "slim", "validate", "check", "stats", "verify", "generate", "rules",
    "Result", "Report", "Validation", "Candidates", "Rule",
    "RegraftError", "UsageError", "InputError", "CheckFailed", "InternalError", "LibraryError",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'regraft' has no attribute {name!r}")
