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


VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}


def isolated(source: Union[str, bytes]) -> bytes:
    """A kernel's model in which the nodes around the kernel can be told by name: they begin with
    wrap_. A value that is handed on without a copy would be copied to be an output of the model, so
    it gets a node behind it."""
    onnx = onnx_package()
    graph_model = onnx.load_from_string(source) if isinstance(source, bytes) else onnx.load(source)
    graph = graph_model.graph
    makers = {}
    for node in graph.node:
        makers.update((name, node) for name in node.output)
        if node.output[0].startswith("wrap_"):
            node.name = node.output[0]
    for output in graph.output:
        maker = makers.get(output.name)
        if maker is not None and maker.op_type in VIEWS:
            inner = output.name + "_inner"
            maker.output[:] = [inner if name == output.name else name for name in maker.output]
            graph.node.append(onnx.helper.make_node("Neg", [inner], [output.name],
                                                    name="wrap_" + output.name))
    return graph_model.SerializeToString()
