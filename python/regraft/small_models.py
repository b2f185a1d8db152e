"""Models of a few nodes: some whose behaviour tells something about the runtime, and kernels made
ready for timing. Need onnx."""
from typing import Any, List, Union

from .program import Failure


def onnx_package() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise Failure(f"onnx is not installed for this Python ({error})") from None
    return onnx


def model(nodes: List[Any], shape: List[int], initializers: List[Any]) -> bytes:
    """From the input `x` to `y`, both of one shape."""
    onnx = onnx_package()
    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
             for name in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "small", value[:1], value[1:], initializers)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                  ir_version=8).SerializeToString()


def convolution(channels: int) -> bytes:
    """One 3x3 convolution."""
    onnx = onnx_package()
    import numpy as np
    weight = onnx.numpy_helper.from_array(
        np.full((channels, channels, 3, 3), 0.01, np.float32), "w")
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1] * 4)
    return model([node], [1, channels, 8, 8], [weight])


def chain(length: int) -> bytes:
    """So many nodes in a row that do next to nothing, and that no runtime joins."""
    onnx = onnx_package()
    names = ["x", *(f"v{k}" for k in range(1, length)), "y"]
    kinds = ("Abs", "Neg", "Floor")
    nodes = [onnx.helper.make_node(kinds[k % 3], [names[k]], [names[k + 1]])
             for k in range(length)]
    return model(nodes, [1, 4], [])


def isolated(source: Union[str, bytes]) -> bytes:
    """A kernel's model in which the nodes around the kernel can be told by name: they begin with
    wrap_. Each result gets such a node behind it, as in a model: onnxruntime hands some results on
    without a copy, but not to the caller."""
    onnx = onnx_package()
    kernel = onnx.load_from_string(source) if isinstance(source, bytes) else onnx.load(source)
    graph = kernel.graph
    makers = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if node.output[0].startswith("wrap_"):
            node.name = node.output[0]
    numbers = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.INT32)
    for output in graph.output:
        maker = makers.get(output.name)
        if (maker is not None and not maker.name.startswith("wrap_")
                and output.type.tensor_type.elem_type in numbers):
            inner = output.name + "_inner"
            for node in graph.node:
                node.input[:] = [inner if i == output.name else i for i in node.input]
            maker.output[:] = [inner if o == output.name else o for o in maker.output]
            graph.node.append(onnx.helper.make_node("Neg", [inner], [output.name],
                                                    name="wrap_" + output.name))
    return kernel.SerializeToString()
