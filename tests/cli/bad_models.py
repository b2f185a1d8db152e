"""Models that a careful reader must refuse. Each function writes one into a folder and returns its
path and a word that the message about it must contain."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def value(name, shape=(2, 3), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(folder, nodes, initializers=(), inputs=None, outputs=None, name="bad.onnx"):
    graph = helper.make_graph(nodes, "g", inputs or [value("x")], outputs or [value("y")],
                              list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return path


def good(folder):
    """x (2, 3) -> MatMul by a constant -> Add of a constant -> y."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.standard_normal((3, 3)).astype(np.float32), "w")
    bias = numpy_helper.from_array(rng.standard_normal(3).astype(np.float32), "b")
    return save(folder, [helper.make_node("MatMul", ["x", "w"], ["t"], name="mm"),
                         helper.make_node("Add", ["t", "b"], ["y"], name="plus")],
                [weight, bias], name="good.onnx")


def write(folder, data):
    path = os.path.join(folder, "bad.onnx")
    with open(path, "wb") as file:
        file.write(data)
    return path


def truncated(folder):
    with open(good(folder), "rb") as file:
        data = file.read()
    return write(folder, data[: len(data) // 2]), "bad.onnx"


def not_a_model(folder):
    return write(folder, b"this is no model\n" * 20), "bad.onnx"


def empty_file(folder):
    return write(folder, b""), "bad.onnx"


def missing_file(folder):
    return os.path.join(folder, "nowhere.onnx"), "nowhere.onnx"


def a_folder(folder):
    path = os.path.join(folder, "bad.onnx")
    os.mkdir(path)
    return path, "bad.onnx"


def cyclic(folder):
    return save(folder, [helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                         helper.make_node("Relu", ["a"], ["b"], name="second"),
                         helper.make_node("Relu", ["b"], ["y"], name="third")]), "first|second"


def undefined_value(folder):
    return save(folder, [helper.make_node("Add", ["x", "ghost"], ["y"], name="plus")]), "ghost"


def defined_twice(folder):
    return save(folder, [helper.make_node("Relu", ["x"], ["y"], name="one"),
                         helper.make_node("Tanh", ["x"], ["y"], name="two")]), "y"


def mistyped_operands(folder):
    ids = numpy_helper.from_array(np.ones((2, 3), np.int64), "ids")
    return save(folder, [helper.make_node("Add", ["x", "ids"], ["y"], name="plus")], [ids]), "plus"


def mistyped_data(folder):
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    weight.raw_data = weight.raw_data[:-4]
    return save(folder, [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")], [weight]), "w"


def oversized(folder):
    weight = TensorProto(name="w", data_type=FLOAT, dims=[2 ** 40, 2 ** 40])
    return save(folder, [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")], [weight]), "w"


def negative_size(folder):
    weight = TensorProto(name="w", data_type=FLOAT, dims=[3, -3])
    return save(folder, [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")], [weight]), "w"


def external(folder, location, **entries):
    weight = TensorProto(name="w", data_type=FLOAT, dims=[3, 3],
                         data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        weight.external_data.add(key=key, value=str(text))
    return save(folder, [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")], [weight])


def external_missing(folder):
    return external(folder, "nowhere.bin"), "nowhere.bin"


def external_escaping(folder):
    with open(os.path.join(os.path.dirname(folder), "secret.bin"), "wb") as file:
        file.write(bytes(36))
    return external(folder, "../secret.bin"), "secret.bin"


def external_absolute(folder):
    path = os.path.join(os.path.dirname(folder), "secret.bin")
    with open(path, "wb") as file:
        file.write(bytes(36))
    return external(folder, path), "secret.bin"


def external_through_link(folder):
    path = os.path.join(os.path.dirname(folder), "secret.bin")
    with open(path, "wb") as file:
        file.write(bytes(36))
    os.symlink(path, os.path.join(folder, "weights.bin"))
    return external(folder, "weights.bin"), "weights.bin"


def external_short(folder):
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.write(bytes(8))
    return external(folder, "weights.bin"), "weights.bin"


def external_outside_range(folder):
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.write(bytes(36))
    return external(folder, "weights.bin", offset=2 ** 62, length=36), "weights.bin"


def external_bad_number(folder):
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.write(bytes(36))
    return external(folder, "weights.bin", offset="ten"), "w"


ALL = [truncated, not_a_model, empty_file, missing_file, a_folder, cyclic, undefined_value,
       defined_twice, mistyped_operands, mistyped_data, oversized, negative_size,
       external_missing, external_escaping, external_absolute, external_through_link,
       external_short, external_outside_range, external_bad_number]
