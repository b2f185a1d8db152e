"""A model to be mutated: its nodes, constants, and the types and shapes that its values have when
it runs."""
import onnx
from onnx import helper, numpy_helper

from evaluator import loaded


class Subject:
    """types: {name: ((dtype, shape) at each feed)} of all values of the main graph that are
    tensors; constants: {name: array}; users: {name: places of the nodes that read it}."""

    def __init__(self, model, feeds):
        self.model, self.nodes = model, list(model.graph.node)
        self.constants = constants(model)
        self.outputs = {value.name for value in model.graph.output}
        self.inputs = [v.name for v in model.graph.input if v.name not in self.constants]
        self.users, self.has_bodies = {}, False
        for place, node in enumerate(self.nodes):
            self.has_bodies |= any(a.HasField("g") or a.graphs for a in node.attribute)
            for name in node.input:
                self.users.setdefault(name, []).append(place)
        self.types = {name: ((array.dtype, array.shape),) * len(feeds)
                      for name, array in self.constants.items()}
        self.run(feeds)

    def run(self, feeds):
        """All values of the main graph are made outputs; only their types are kept."""
        wide = onnx.ModelProto.FromString(self.model.SerializeToString())
        names = [name for node in self.nodes for name in node.output
                 if name and name not in self.outputs and name not in self.constants]
        wide.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        running = loaded(wide)
        names = [value.name for value in running.get_outputs()]
        for values in feeds:
            found = {**dict(zip(names, running.run(None, values))), **values}
            for name, array in found.items():
                if hasattr(array, "dtype") and name not in self.constants:
                    self.types[name] = (*self.types.get(name, ()), (array.dtype, array.shape))

    def type(self, name):
        """None: not a tensor, or of a body."""
        return self.types.get(name)

    def rank(self, name):
        known = self.type(name)
        return len(known[0][1]) if known else 0

    def sizes(self, name):
        """Of each axis: its sizes at all feeds."""
        return list(zip(*(shape for _, shape in self.types[name])))

    def values_before(self, place):
        """Names of all tensors that a node may read."""
        found = [*self.inputs, *self.constants]
        for node in self.nodes[:place]:
            found += [name for name in node.output if name]
        return [name for name in dict.fromkeys(found) if name in self.types]


def constants(model):
    found = {held.name: numpy_helper.to_array(held) for held in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def fresh(model, stem):
    """A name that the model does not have."""
    taken = {held.name for held in model.graph.initializer}
    taken.update(name for node in model.graph.node for name in (*node.input, *node.output))
    count = 0
    while f"{stem}_{count}" in taken:
        count += 1
    return f"{stem}_{count}"


def give(model, place, slot, array):
    """The node reads a new constant there."""
    name = fresh(model, "changed")
    model.graph.initializer.append(numpy_helper.from_array(array, name))
    model.graph.node[place].input[slot] = name


def store(model, name, array):
    """Another value for a constant, for all that read it."""
    for held in model.graph.initializer:
        if held.name == name:
            held.CopyFrom(numpy_helper.from_array(array, name))
    for node in model.graph.node:
        if node.op_type == "Constant" and node.output[0] == name:
            node.attribute[0].t.CopyFrom(numpy_helper.from_array(array))


def insert(model, place, op_type, source, **attributes):
    """A new node before that place; the name of its result."""
    name = fresh(model, "inserted")
    model.graph.node.insert(place, helper.make_node(op_type, [source], [name], name, **attributes))
    return name


def set_attribute(node, name, value):
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def attribute_of(node, name, default=None):
    for held in node.attribute:
        if held.name == name:
            return helper.get_attribute_value(held)
    return default
