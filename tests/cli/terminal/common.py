"""What the tests of this folder share: models of a few nodes, and rule files with a few rules."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import command_line  # noqa: E402, looks for onnx
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

RULES = pathlib.Path(__file__).resolve().parents[3] / "substitutions"


def node(kind, inputs, outputs, name=None, **attributes):
    return helper.make_node(kind, inputs, outputs, name=name, **attributes)


def model_of(nodes, inputs, outputs, constants=(), own=False):
    """Inputs and outputs: shapes by name."""
    def values(shapes):
        return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    graph = helper.make_graph(nodes, "g", values(inputs), values(outputs), list(constants))
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid("own.domain", 1)] if own else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def rules_named(path, *names):
    """A rule file with these of the shipped rules, and no others."""
    lines, header = {}, None
    for file in sorted(RULES.glob("*.rules")):
        text = file.read_text().splitlines()
        header = header or text[0]
        lines.update((line.split()[0], line) for line in text[1:] if line)
    pathlib.Path(path).write_text("\n".join([header] + sorted(lines[n] for n in names)) + "\n")
    return str(path)


class Terminal(command_line.CommandLine):
    def saved(self, model, name="model.onnx"):
        path = pathlib.Path(self.folder) / name
        onnx.save(model, path)
        return str(path)

    def rules(self, *names):
        return rules_named(pathlib.Path(self.folder) / "few.rules", *names)
