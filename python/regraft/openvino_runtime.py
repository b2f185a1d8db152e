"""OpenVINO: sessions that answer like those of onnxruntime. It reads ONNX files itself."""
import types
from typing import Any, Dict, List, NamedTuple, Union

from .program import Failure
from .small_models import onnx_package

NAMES = {"FLOAT": "float", "DOUBLE": "double"}  # where onnxruntime's name of a type is another


class Input(NamedTuple):
    """As onnxruntime describes it: sizes are numbers, names, or None."""
    name: str
    type: str
    shape: List[Any]


def load() -> types.ModuleType:
    try:
        import openvino
    except ImportError as error:
        raise Failure(f"openvino is not installed for this Python ({error})") from None
    return openvino


def inputs_of(model: Any) -> List[Input]:
    """From the file: OpenVINO keeps no names of sizes."""
    onnx = onnx_package()
    constant = {value.name for value in model.graph.initializer}
    found = []
    for value in model.graph.input:
        if value.name in constant:
            continue
        tensor = value.type.tensor_type
        kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
        sizes = [d.dim_value if d.HasField("dim_value") else d.dim_param or None
                 for d in tensor.shape.dim]
        found.append(Input(value.name, f"tensor({NAMES.get(kind, kind.lower())})", sizes))
    return found


class Session:
    """A model compiled for the processor, in float32."""

    def __init__(self, model: Union[str, bytes], threads: int) -> None:
        onnx = onnx_package()
        core = load().Core()
        read = (onnx.load_from_string(model) if isinstance(model, bytes)
                else onnx.load(model, load_external_data=False))
        self.inputs = inputs_of(read)
        del read
        self.given: Dict[str, Any] = {}
        self.request = core.compile_model(core.read_model(model), "CPU", {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()

    def get_inputs(self) -> List[Input]:
        return self.inputs

    def run(self, _: None, feeds: Dict[str, Any]) -> Any:
        """The inputs stay where they are, so that the same ones are given once."""
        if self.given is not feeds:
            for name, array in feeds.items():
                self.request.set_tensor(name, load().Tensor(array, shared_memory=True))
            self.given = feeds
        return self.request.infer(share_outputs=True)


def device(processor: str, threads: int) -> Dict[str, Any]:
    version = load().get_version().split("-")[0]
    return {"runtime": "openvino", "version": version, "device": processor, "driver": "",
            "threads": threads, "block": 0}
