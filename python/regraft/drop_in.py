"""simplify and slim: regraft's clean-up under the names and with the arguments of the packages
onnxsim and onnxslim, so that their users can change one import."""
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._calls import Shown
from ._models import Argument, Model
from .api import Path, Shapes, Sizes, rewritten
from .errors import CheckFailed, UsageError

# Arguments of onnxsim.simplify that ask for nothing that regraft could do otherwise: it takes data
# of any size, all sub-graphs and custom operators, compares with inputs of its own, and never fuses.
ONNXSIM_NEEDLESS = {
    "perform_optimization", "skip_fuse_bn", "skip_shape_inference", "include_subgraph",
    "tensor_size_threshold", "mutable_initializer", "dynamic_input_shape", "test_input_shapes",
    "input_data", "custom_lib", "initializers_as_constants", "inline_functions",
    "import_custom_schemas", "check_rtol", "check_atol", "input_fill", "providers",
    "external_data_threshold", "gemm_fusion_backend", "certify", "skipped_optimizers"}
# The same of onnxslim.slim.
ONNXSLIM_NEEDLESS = {"no_shape_infer", "skip_fusion_patterns", "model_check_inputs", "verbose"}


def refuse(package: str, arguments: Mapping[str, Any], needless: Sequence[str]) -> None:
    """What would ask for another model is an error, not left undone in silence."""
    for name, value in arguments.items():
        if name not in needless and value is not None and value is not False:
            raise UsageError(f"{name}: {package} has this argument, regraft has not")


def shapes_of(shapes: Any) -> Optional[Shapes]:
    """{"x": [1, 3]}, "x:1,3" or a list of such texts, as both packages take them."""
    if not shapes:
        return None
    if isinstance(shapes, Mapping):
        return shapes
    if not isinstance(shapes, str) and all(isinstance(size, int) for size in shapes):
        raise UsageError("the shape needs the name of its input: {'x': [1, 3, 224, 224]}")
    texts = [shapes] if isinstance(shapes, str) else list(shapes)
    return [text if "=" in text else "=".join(text.rsplit(":", 1)) for text in texts]


def is_same(argument: Argument) -> Any:
    """A copy of what was given."""
    if argument.path:
        import onnx
        return onnx.load(argument.path)
    return argument.like(argument.data)


def simplify(model: Model, check_n: Optional[int] = None, *, out: Optional[Path] = None,
             shape: Optional[Shapes] = None, dim: Optional[Sizes] = None,
             typical: Optional[Sizes] = None, keep_dynamic: bool = False,
             check: Optional[int] = None, check_on: Optional[str] = None,
             certificate: Optional[Path] = None, report: Optional[Path] = None,
             explain: bool = False, bisect: Optional[str] = None, bisect_keep: bool = False,
             bisect_show: bool = False, max_size: Union[int, str, None] = None,
             threads: Optional[int] = None, seed: Optional[int] = None,
             time: Optional[float] = None, memory: Optional[float] = None, progress: Shown = None,
             **onnxsim: Any) -> Tuple[Any, bool]:
    """Folds constants and shapes, merges equal nodes and drops what does nothing. Returns the model
    and whether it was compared with the original and computes the same (False with check=0, which
    compares nothing); of a path, or with `out`, as optimize does. Takes the arguments of
    onnxsim.simplify too: `overwrite_input_shapes` and `input_shapes` are `shape`, `check_n` is
    `check`.

    >>> smaller, ok = regraft.simplify(model)
    >>> ok, len(smaller.graph.node) <= len(model.graph.node)
    (True, True)
    """
    options: Dict[str, Any] = dict(
        dim=dim, typical=typical, keep_dynamic=keep_dynamic, check_on=check_on,
        certificate=certificate, report=report, explain=explain, bisect=bisect,
        bisect_keep=bisect_keep, bisect_show=bisect_show, max_size=max_size, threads=threads,
        seed=seed, time=time, memory=memory)
    fixed = [shape, onnxsim.pop("overwrite_input_shapes", None), onnxsim.pop("input_shapes", None)]
    options["shape"] = next((shapes_of(given) for given in fixed if given), None)
    options["check"] = check if check is not None else max(1, check_n or 1)
    out = out if out is not None else onnxsim.pop("output_path", None)
    refuse("onnxsim", onnxsim, sorted(ONNXSIM_NEEDLESS))
    try:
        result = rewritten("simplify", model, out, options, progress)
    except CheckFailed as error:
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        return is_same(Argument(model)), False
    checked = result.report.get("check")
    return result.model, checked is not None and bool(checked["passed"])


def slim(model: Model, output_model: Optional[Path] = None, *, model_check: bool = False,
         input_shapes: Any = None, size_threshold: Optional[int] = None,
         skip_optimizations: Optional[List[str]] = None, **onnxslim: Any) -> Any:
    """simplify with the arguments of onnxslim.slim: returns the model, or writes it to
    `output_model` and returns None. The result is compared with the original whatever `model_check`
    says, and CheckFailed is raised where they differ.

    >>> slimmed = regraft.slim(model)
    >>> onnx.checker.check_model(slimmed)
    """
    del model_check
    if size_threshold is not None or skip_optimizations:
        raise UsageError("size_threshold, skip_optimizations: onnxslim has these, regraft has not")
    refuse("onnxslim", onnxslim, sorted(ONNXSLIM_NEEDLESS))
    options = {"shape": shapes_of(input_shapes)}
    result = rewritten("simplify", model, None if output_model is None else os.fspath(output_model),
                       options, None)
    return result.model if output_model is None else None
