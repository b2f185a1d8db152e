"""Sides of rules as ONNX models of fixed sizes."""
import dataclasses
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from probe import Probe, inferred, positive
from rule_nodes import Builder
from rule_text import Call, Values
from workers import Worker


def side_model(terms, values, order):
    """A side of a rule; None where these numbers make no valid model."""
    builder = Builder(values, order)
    try:
        results = [builder.term(t) for t in terms]
    except (KeyError, ValueError, IndexError, TypeError, ArithmeticError):
        return None
    for k, name in enumerate(results):
        builder.nodes.append(helper.make_node("Identity", [name], [f"y{k}"]))
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s)
              for n, s in values.shapes.items()]
    graph = helper.make_graph(
        builder.nodes, "g", inputs,
            [onnx.ValueInfoProto(name=f"y{k}") for k in range(len(results))],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in builder.constants.items()])
    return inferred(helper.make_model(graph, ir_version=10, producer_name="court",
                                      opset_imports=[helper.make_opsetid("", 20)]))


def without_identities(model):
    """The outputs' Identity nodes taken away, where a node computes the output."""
    made = {o for n in model.graph.node for o in n.output if n.op_type != "Identity"}
    renamed = {}
    for node in model.graph.node:
        if node.op_type == "Identity" and node.input[0] in made:
            renamed.setdefault(node.input[0], node.output[0])
    kept = [n for n in model.graph.node
            if n.op_type != "Identity" or renamed.get(n.input[0]) != n.output[0]]
    for node in kept:
        node.output[:] = [renamed.get(n, n) for n in node.output]
        node.input[:] = [renamed.get(n, n) for n in node.input]
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in kept]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    return inferred(model)


def sizes(signature, attempt, order):
    """Shapes for the letters: by place from the last axis, all equal, or at random."""
    place = [4, 3, 2, 2, 2]
    each = {0: lambda k: place[k], 1: lambda k: 4, 2: lambda k: 2, 3: lambda k: 3}.get(
        attempt, (lambda k: order.choice((2, 3, 4, 6))) if attempt % 2 else
        (lambda k: order.choice((2, 4))))
    return {name: [] if letters == "-" else [
        1 if c == "1" else each(len(letters) - 1 - k) for k, c in enumerate(letters)]
        for name, letters in signature.items()}


def kernels(terms):
    """Variables that are weights of convolutions."""
    for term in terms:
        if isinstance(term, Call):
            if term.name == "conv" and isinstance(term.operands[1], str):
                yield term.operands[1]
            yield from kernels(term.operands)


def probe(rule, seed, attempts=40):
    """The rule's source side with the sizes that are found first; None where none fit."""
    for attempt in range(attempts):
        order = random.Random(f"{rule.name} {seed} {attempt}")
        shapes = sizes(order.choice(rule.signatures[:4]), attempt, order)
        for name in kernels(rule.left + rule.right):
            if attempt >= 2 and name in shapes:
                shapes[name][2:] = [order.choice((1, 2, 3)) for _ in shapes[name][2:]]
        values = Values(shapes)
        try:
            for left, right in rule.conditions:
                values.assign(left, values.evaluate(right))
        except (ValueError, IndexError):
            pass
        both = [side_model(terms, values, order) for terms in (rule.left, rule.right)]
        if all(both) and both[0].graph.output == both[1].graph.output and holds(rule, values):
            before, after = (without_identities(m) for m in both)
            if before and after:
                return Probe(f"rule {rule.name}", before, rule=rule.name, target=after)
    return None


def holds(rule, values):
    try:
        return all(values.evaluate(a) == values.evaluate(b) for a, b in rule.conditions)
    except ValueError:
        return False


def weights_constant(made):
    """The same with all inputs but the largest as positive constants: tools fold weights."""
    largest = max(made.model.graph.input, key=lambda i: np.prod(dims(i), initial=1))

    def held(model):
        model = onnx.ModelProto.FromString(model.SerializeToString())
        kept = [i for i in model.graph.input if i.name == largest.name]
        for k, value in enumerate(model.graph.input):
            if value.name != largest.name:
                model.graph.initializer.append(
                    numpy_helper.from_array(positive(k, *dims(value)), value.name))
        model.graph.ClearField("input")
        model.graph.input.extend(kept)
        return inferred(model)
    both = held(made.model), held(made.target)
    return dataclasses.replace(made, name=f"{made.name}, constant", model=both[0], target=both[1]) \
        if all(both) else None


def dims(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def both_probes(rule, seed):
    made = probe(rule, seed)
    constant = weights_constant(made) if made and len(made.model.graph.input) > 1 else None
    return [p for p in (made, constant) if p]


def probes(rules, seed):
    """In a process of its own: shape inference aborts on some sizes below 0."""
    worker, made = Worker("rule_models"), []
    for rule in rules:
        said, found = worker.ask(30, "both_probes", rule, seed)
        made += found if said == "done" else []
    worker.stop()
    return made
