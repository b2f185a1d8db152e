"""The models that ONNX publishes to test runtimes, each with recorded inputs and outputs.

From Debian's libonnx-testdata (node, simple, pytorch-*), from the generators of the Python package
onnx (node cases of its own opset), and the package's stored models (simple, light).
"""
import dataclasses
import pathlib
import re
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

DEBIAN = pathlib.Path("/usr/share/libonnx-testdata/data")
PACKAGE = pathlib.Path(onnx.__file__).parent / "backend/test/data"


@dataclasses.dataclass
class Case:
    """A model with one recorded data set; `outputs` is None where none were recorded."""
    name: str
    model: onnx.ModelProto
    inputs: list
    outputs: list | None
    rtol: float = 1e-3
    atol: float = 1e-7


def read_value(path):
    """A tensor as an array, a sequence as a list."""
    data = path.read_bytes()
    try:
        tensor = onnx.TensorProto.FromString(data)
        if tensor.data_type:
            return numpy_helper.to_array(tensor)
    except Exception:
        pass
    return numpy_helper.to_list(onnx.SequenceProto.FromString(data))


def numbered(folder, stem):
    return sorted(folder.glob(f"{stem}_*.pb"), key=lambda p: int(re.findall(r"\d+", p.name)[-1]))


def stored(root):
    for path in sorted(root.glob("*/*/model.onnx")):
        sets = sorted(path.parent.glob("test_data_set_*"))
        name = f"{root.parent.name}/{path.parent.parent.name}/{path.parent.name}"
        try:
            model = onnx.load(path)
            inputs = [read_value(p) for p in numbered(sets[0], "input")] if sets else []
            outputs = [read_value(p) for p in numbered(sets[0], "output")] if sets else None
        except Exception:  # a kind of value that has no array: the model is still optimised
            inputs, outputs = None, None
        yield Case(name, model, inputs, outputs)


def light():
    rng = np.random.default_rng(1)
    for path in sorted((PACKAGE / "light").glob("*.onnx")):
        model = onnx.load(path)
        given = {i.name for i in model.graph.initializer}
        inputs = [rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim])
                  .astype(np.float32) for i in model.graph.input if i.name not in given]
        yield Case(f"light/{path.stem}", model, inputs, None)


def generated():
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        if case.model is None or not case.data_sets:
            continue
        inputs, outputs = case.data_sets[0]
        yield Case(f"onnx-{onnx.__version__}/{case.name}", case.model, list(inputs), list(outputs),
                   case.rtol, case.atol)


def all_cases():
    yield from stored(DEBIAN)
    yield from stored(PACKAGE)
    yield from light()
    yield from generated()
