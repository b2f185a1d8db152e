"""Mutations of where elements lie: Transposes and broadcasts. As those of mutations.py."""
import numpy as np

from mutations import BROADCASTING, label
from subject import attribute_of, give, insert, set_attribute


def equal_axes(subject, name):
    """Pairs of axes of one size, above 1, at all feeds."""
    if not subject.type(name):
        return []
    sizes = subject.sizes(name)
    return [(a, b) for a in range(len(sizes)) for b in range(a)
            if sizes[a] == sizes[b] and min(sizes[a]) > 1]


def exchanged(count, a, b):
    order = list(range(count))
    order[a], order[b] = order[b], order[a]
    return order


def transpose(subject, draw):
    """Removed, moved, changed or added, where the shape stays."""
    ways = [removed, moved, permuted, added]
    for way in draw.sample(ways, len(ways)):
        made = way(subject, draw)
        if made:
            return made
    return None


def square(subject):
    """Places of the Transposes that keep the shape."""
    return [place for place, node in enumerate(subject.nodes) if node.op_type == "Transpose"
            and subject.type(node.input[0])
            and subject.type(node.input[0]) == subject.type(node.output[0])]


def removed(subject, draw):
    sites = square(subject)
    if not sites:
        return None
    place = draw.choice(sites)

    def edit(model):
        node = model.graph.node[place]
        node.op_type = "Identity"
        del node.attribute[:]
    return f"{label(subject, place)} removed", edit


def moved(subject, draw):
    """From before a node to after it: the node has this result's shape, and alone reads it."""
    sites = []
    for place in square(subject):
        out = subject.nodes[place].output[0]
        users = subject.users.get(out, [])
        if len(users) == 1 and subject.type(subject.nodes[users[0]].output[0]) == subject.type(out):
            sites.append((place, users[0]))
    if not sites:
        return None
    place, user = draw.choice(sites)
    node, next_node = subject.nodes[place], subject.nodes[user]
    order = attribute_of(node, "perm", list(range(subject.rank(node.input[0])))[::-1])

    def edit(model):
        inputs = model.graph.node[user].input
        inputs[:] = [node.input[0] if name == node.output[0] else name for name in inputs]
        put_behind(model, user, next_node.output[0], order)
        del model.graph.node[place]
    return f"{label(subject, place)} moved behind {label(subject, user)}", edit


def put_behind(model, place, out, order):
    """The node's result is transposed under its old name."""
    name = insert(model, place + 1, "Transpose", out, perm=order)
    model.graph.node[place].output[0] = name
    after = model.graph.node[place + 1]
    after.input[0], after.output[0] = name, out


def permuted(subject, draw):
    sites = [(place, *axes) for place, node in enumerate(subject.nodes)
             if node.op_type == "Transpose" for axes in equal_axes(subject, node.output[0])]
    if not sites:
        return None
    place, a, b = draw.choice(sites)
    node = subject.nodes[place]
    old = list(attribute_of(node, "perm", list(range(subject.rank(node.input[0])))[::-1]))
    order = list(old)
    order[a], order[b] = order[b], order[a]
    return (f"perm of {label(subject, place)} is {order}, not {old}",
            lambda model: set_attribute(model.graph.node[place], "perm", order))


def added(subject, draw):
    sites = [(place, slot, *axes) for place, node in enumerate(subject.nodes)
             for slot, name in enumerate(node.input) for axes in equal_axes(subject, name)]
    if not sites:
        return None
    place, slot, a, b = draw.choice(sites)
    name = subject.nodes[place].input[slot]

    def edit(model):
        order = exchanged(subject.rank(name), a, b)
        made = insert(model, place, "Transpose", name, perm=order)
        model.graph.node[place + 1].input[slot] = made
    return f"axes {b} and {a} of input {slot} of {label(subject, place)} exchanged", edit


def broadcast(subject, draw):
    """An operand that is repeated is repeated along another axis; where no axis is of its size,
    only its first element is repeated."""
    turned = [site for place, node in enumerate(subject.nodes) if node.op_type in BROADCASTING
              for slot in range(len(node.input)) for site in turns(subject, place, slot)]
    first = [(place, slot) for place, node in enumerate(subject.nodes)
             if node.op_type in BROADCASTING for slot, name in enumerate(node.input)
             if name in subject.constants and subject.constants[name].size > 1
             and subject.type(name) != subject.type(node.output[0])]
    if turned and (not first or draw.random() < 0.8):
        return turn(subject, *draw.choice(turned))
    if not first:
        return None
    place, slot = draw.choice(first)
    array = subject.constants[subject.nodes[place].input[slot]]
    along = draw.choice([axis for axis, size in enumerate(array.shape) if size > 1])
    made = np.take(array, [0], along)
    return (f"input {slot} of {label(subject, place)} is its first element along axis {along}",
            lambda model: give(model, place, slot, made))


def turns(subject, place, slot):
    """(place, slot, the operand's axis, the result's axis it could go along instead)."""
    node = subject.nodes[place]
    name, out = node.input[slot], node.output[0]
    if not subject.type(name) or not subject.type(out) or not subject.rank(name):
        return []
    sizes, results = subject.sizes(name), subject.sizes(out)
    if len(sizes) < len(results) and name not in subject.constants:
        return []
    ones = [(1,) * len(results[0])] * (len(results) - len(sizes))
    sizes = [*ones, *sizes]
    return [(place, slot, a, b) for a in range(len(results)) for b in range(len(results))
            if min(sizes[a]) > 1 and max(sizes[b]) == 1 and sizes[a] == results[a] == results[b]]


def turn(subject, place, slot, a, b):
    name = subject.nodes[place].input[slot]
    rank = subject.rank(subject.nodes[place].output[0])
    order = exchanged(rank, a, b)
    words = f"input {slot} of {label(subject, place)} goes along axis {b}, not {a}"
    if name in subject.constants:
        array = subject.constants[name]
        wide = array.reshape((1,) * (rank - array.ndim) + array.shape)
        return words, lambda model: give(model, place, slot, wide.transpose(order).copy())

    def edit(model):
        made = insert(model, place, "Transpose", name, perm=order)
        model.graph.node[place + 1].input[slot] = made
    return words, edit
