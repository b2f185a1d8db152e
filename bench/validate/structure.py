"""What a model computes, as a digest that no renaming, reordering or copying of nodes changes.

  python structure.py A B    prints "same" or "changed"
"""
import hashlib
import sys

import onnx
from onnx import numpy_helper


def digest_of(*parts):
    whole = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.digest()


def tensor(held):
    """Of a constant: its type, shape and elements, however they are stored."""
    array = numpy_helper.to_array(held)
    if array.dtype == object:
        return digest_of("tensor", held.SerializeToString())
    return digest_of("tensor", array.dtype, array.shape, array.tobytes())


def attribute(held, known):
    if held.HasField("g"):
        return digest_of(held.name, graph(held.g, known))
    if held.graphs:
        return digest_of(held.name, *(graph(g, known) for g in held.graphs))
    if held.HasField("t"):
        return digest_of(held.name, tensor(held.t))
    copy = onnx.AttributeProto.FromString(held.SerializeToString())
    copy.doc_string = ""
    return copy.SerializeToString(deterministic=True)


def constant(node, known):
    """Of a Constant node: that of an equal initializer."""
    held = node.attribute[0]
    return tensor(held.t) if held.name == "value" else digest_of("Constant", attribute(held, known))


def graph(g, outer=None):
    """Of the graph's outputs, as functions of its inputs; outer: digests of the values around."""
    known = {**(outer or {}), "": b""}
    for place, value in enumerate(g.input):
        known[value.name] = digest_of("input", place, value.type.SerializeToString())
    known.update((held.name, tensor(held)) for held in g.initializer)
    for node in g.node:
        if node.op_type == "Constant" and not node.domain:
            known[node.output[0]] = constant(node, known)
            continue
        attributes = sorted(attribute(a, known) for a in node.attribute)
        domain = "" if node.domain == "ai.onnx" else node.domain
        whole = digest_of(domain, node.op_type, *attributes, "of",
                          *(known.get(name, name) for name in node.input))
        for place, name in enumerate(node.output):
            if name:
                known[name] = digest_of(whole, place)
    return digest_of(*(known.get(value.name, b"") for value in g.output))


def node_count(g):
    """Nodes of a graph and of the graphs inside it."""
    return len(g.node) + sum(
        node_count(inner) for node in g.node for a in node.attribute
        for inner in [*a.graphs, *([a.g] if a.HasField("g") else [])])


def describe(model):
    """(digest of what it computes, opset, number of nodes)."""
    opset = max([o.version for o in model.opset_import if o.domain in ("", "ai.onnx")], default=0)
    functions = sorted(digest_of(f.SerializeToString(deterministic=True)) for f in model.functions)
    return digest_of(graph(model.graph), *functions).hex()[:32], opset, node_count(model.graph)


def change(before, after):
    """structure, opset (of the same nodes), or nothing; of two results of describe."""
    if before[0] != after[0]:
        return "structure"
    return "opset" if before[1] != after[1] else "nothing"


if __name__ == "__main__":
    print(change(*(describe(onnx.load(path)) for path in sys.argv[1:3])))
