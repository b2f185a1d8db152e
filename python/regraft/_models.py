"""Models as arguments and as results: paths, bytes, onnx.ModelProto and onnx_ir.Model."""
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Union

from .errors import InputError, UsageError

if TYPE_CHECKING:
    import onnx
    import onnx_ir

# A path, the bytes of a file, or a model that a library has in memory.
Model = Union[str, "os.PathLike[str]", bytes, "onnx.ModelProto", "onnx_ir.Model"]


def is_proto(model: Any) -> bool:
    return any(kind.__name__ == "ModelProto" for kind in type(model).__mro__) \
        and hasattr(model, "SerializeToString")


def is_ir(model: Any) -> bool:
    ir = sys.modules.get("onnx_ir")  # whoever has such a model has loaded it
    return ir is not None and isinstance(model, ir.Model)


def bytes_of_proto(proto: Any) -> bytes:
    try:
        data = proto.SerializeToString()
    except Exception as error:  # protobuf's own, of several kinds
        raise InputError(f"the model cannot be serialised: {error}; save it and give its path") from None
    if not data:
        raise InputError("the model is empty")
    return bytes(data)


def bytes_of_ir(model: Any) -> bytes:
    """All data inside, also what lies in other files; the model stays as it is."""
    import onnx
    import onnx_ir
    with tempfile.TemporaryDirectory(prefix="regraft-") as folder:
        path = os.path.join(folder, "model.onnx")
        external = any(isinstance(value.const_value, onnx_ir.ExternalTensor)
                       for graph in [model.graph] for value in graph.initializers.values())
        if not external:
            return bytes_of_proto(onnx_ir.to_proto(model))
        onnx_ir.save(model, path, external_data="model.data")
        return bytes_of_proto(onnx.load(path))


class Argument:
    """A model that was given: its path, or a copy of its bytes."""

    def __init__(self, model: Model, what: str = "model"):
        self.given = model
        self.path = ""
        self.data = b""
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fsdecode(os.fspath(model))
        elif isinstance(model, (bytes, bytearray, memoryview)):
            self.data = bytes(model)
        elif is_proto(model):
            self.data = bytes_of_proto(model)
        elif is_ir(model):
            self.data = bytes_of_ir(model)
        else:
            raise UsageError(f"{what}: a path, bytes, onnx.ModelProto or onnx_ir.Model is needed, "
                             f"not {type(model).__name__}")

    def put(self, name: str, options: Dict[str, Any], inputs: Dict[str, bytes]) -> None:
        """As the option or the input of a call."""
        if self.path:
            options[name] = self.path
        else:
            inputs[name] = self.data

    def like(self, data: bytes) -> Any:
        """A model of the kind that was given; of a path, an onnx.ModelProto."""
        if isinstance(self.given, (bytes, bytearray, memoryview)):
            return data
        try:
            import onnx
        except ImportError:
            raise InputError("a model in memory needs the package onnx; give out=, a path, or use "
                             "Result.data") from None
        proto = onnx.ModelProto()
        proto.ParseFromString(data)
        if not is_ir(self.given):
            return proto
        import onnx_ir
        return onnx_ir.from_proto(proto)
