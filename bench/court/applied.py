"""Which tool applies which rule: its result has the operators of the rule's other side."""
import collections
import importlib.metadata
import json

import onnx

import optimisers


def computing(model):
    """Counts of operators that work on what the inputs give: constants may be folded or not."""
    live, found = {i.name for i in model.graph.input}, collections.Counter()
    for node in model.graph.node:
        if live & set(node.input):
            live |= set(node.output)
            if node.op_type != "Identity":
                found[node.op_type] += 1
    return found


def applies(probe, result):
    before, after = computing(probe.model), computing(probe.target)
    found = computing(onnx.ModelProto.FromString(result))
    return after != before and found == after


def version(tool):
    try:
        return importlib.metadata.version(optimisers.package(tool))
    except importlib.metadata.PackageNotFoundError:
        return "this"


def write(path, rows, rules):
    """An object of lists by the rules' names, as `regraft rules atlas --court` reads it."""
    named = {p.name: p.rule for p in rules}
    found = {}
    for row in rows:
        name, tool = row["key"]
        package = optimisers.package(tool)
        if row.get("applied") and name in named and package != "regraft":
            tools = found.setdefault(named[name], {})
            level = tool.partition(" ")[2] or "default"
            tools.setdefault(package, {"tool": package, "version": version(tool),
                                       "result": f"the same operators ({level})"})
    made = {name: list(tools.values()) for name, tools in sorted(found.items())}
    path.write_text(json.dumps(made, indent=1) + "\n")
