"""What a probe is: a small model, and which values its inputs may take."""
import dataclasses
import pathlib
import sys

import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "validate/history"))

from build import ints, model, positive, weights  # noqa: E402,F401

CATALOGUE = []
REJECTED = []  # names of templates that are no valid models: families cross all their parameters


@dataclasses.dataclass
class Probe:
    """given: for an input the least and largest value, or the array that it always is.
    rule: the shipped rule whose source side this is, if any; target: its other side."""
    name: str
    model: onnx.ModelProto
    given: dict = dataclasses.field(default_factory=dict)
    sizes: dict = dataclasses.field(default_factory=dict)
    rule: str = ""
    target: onnx.ModelProto = None

    def with_model(self, made, name=None):
        return dataclasses.replace(self, model=made, name=name or self.name, rule="", target=None)


def inferred(given):
    """The model with the outputs' types and the types of all values as inference finds them, or as
    they are declared where it finds no shape; None where it is no valid model."""
    made = onnx.ModelProto.FromString(given.SerializeToString())
    del made.graph.value_info[:]
    for value in made.graph.output:
        value.ClearField("type")
    try:
        made = onnx.shape_inference.infer_shapes(made, strict_mode=True, data_prop=True)
        for value, before in zip(made.graph.output, given.graph.output):
            if not value.type.tensor_type.HasField("shape"):
                value.CopyFrom(before)
        onnx.checker.check_model(made, full_check=True)
    except Exception:  # the checker and inference throw several types
        return None
    known = all(v.type.WhichOneof("value") for v in made.graph.output)
    return made if known else None


def graph(inputs, body, outputs="y", opset=17, **initializers):
    """A model of ONNX text, its outputs given by name, or with types where inference does not find
    them; None where it is not valid."""
    typed = outputs if "[" in outputs else ", ".join(f"float {n}" for n in outputs.split(","))
    ir = 10 if opset >= 21 else 8
    return inferred(model(f"g ({inputs}) => ({typed}) {{ {body} }}", opset, ir, **initializers))


def add(name, inputs, body, outputs="y", opset=17, given=None, **initializers):
    made = graph(inputs, body, outputs, opset, **initializers)
    if made is None:
        REJECTED.append(name)
    else:
        CATALOGUE.append(Probe(name, made, given or {}))
