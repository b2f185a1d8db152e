"""Kinds of mutation. Each takes a Subject and a random.Random, and gives None where the model has
no place for it, or what it does in words and a function that does it to a copy of the model. What
is made may be invalid, or equal by accident: the evaluator says so."""
import numpy as np
from onnx import AttributeProto

from subject import attribute_of, give, set_attribute, store

FLAGS = {"keepdims", "transA", "transB", "ceil_mode", "count_include_pad", "exclusive", "reverse",
         "largest", "align_corners", "fmod", "unidirectional"}
AXES = {"axis", "axes", "perm"}
SKIPPED = {"to", "storage_order", "dtype", "cudnn_conv_algo", "stash_type"}
TEXTS = {
    "mode": ["nearest", "linear", "cubic", "constant", "reflect", "edge", "DCR", "CRD"],
    "coordinate_transformation_mode": ["half_pixel", "asymmetric", "align_corners",
                                       "pytorch_half_pixel"],
    "nearest_mode": ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
    "approximate": ["none", "tanh"],
    "reduction": ["none", "add", "mul", "max", "min"],
    "direction": ["forward", "reverse"],
    "activation": ["Relu", "Sigmoid", "Tanh"],
}
DEFAULTS = {  # attributes that a node may leave out
    "LayerNormalization": {"epsilon": 1e-5}, "BatchNormalization": {"epsilon": 1e-5},
    "InstanceNormalization": {"epsilon": 1e-5}, "GroupNormalization": {"epsilon": 1e-5},
    "Gemm": {"alpha": 1.0, "beta": 1.0}, "LeakyRelu": {"alpha": 0.01}, "Elu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5}, "Softmax": {"axis": -1}, "Gather": {"axis": 0},
    "LogSoftmax": {"axis": -1}, "Gelu": {"approximate": "none"},
}
INTEGER_SLOTS = {"Slice": (1, 2, 3, 4), "Gather": (1,), "Pad": (1,), "Reshape": (1,),
                 "Expand": (1,), "Split": (1,), "Squeeze": (1,), "Unsqueeze": (1,), "Tile": (1,)}
AXIS_SLOTS = {"Slice": 3, "Squeeze": 1, "Unsqueeze": 1, "CumSum": 1}
ORDERED = {"Sub", "Div", "Pow", "MatMul", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
           "Mod", "PRelu"}
BROADCASTING = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu"}


def attributes(node):
    """(name, type, value) of those that can be changed, with those left at their defaults."""
    found = {a.name: (a.name, a.type, attribute_of(node, a.name)) for a in node.attribute
             if a.name not in SKIPPED}
    for name, value in DEFAULTS.get(node.op_type, {}).items():
        kind = {float: AttributeProto.FLOAT, int: AttributeProto.INT,
                str: AttributeProto.STRING}[type(value)]
        found.setdefault(name, (name, kind, value.encode() if isinstance(value, str) else value))
    return list(found.values())


def changed_attribute(name, kind, value, draw):
    """Another value; None: none is known."""
    if kind == AttributeProto.FLOAT:
        return value * 1000 if name == "epsilon" else value * 1.5 + (0.5 if value == 0 else 0)
    if kind == AttributeProto.INT:
        return 1 - value if name in FLAGS and value in (0, 1) else value + draw.choice([-1, 1])
    if kind == AttributeProto.STRING and name in TEXTS:
        return draw.choice([t for t in TEXTS[name] if t != value.decode()])
    if kind == AttributeProto.INTS and value:
        return changed_integers(list(value), draw)
    return None


def changed_integers(values, draw):
    """One more, one less, two exchanged, or one given from an element to another."""
    made, where = list(values), draw.randrange(len(values))
    other = draw.randrange(len(values))
    step = draw.choice([-1, 1])
    if values[where] != values[other] and draw.random() < 0.4:
        made[where], made[other] = made[other], made[where]
    elif where != other and draw.random() < 0.5:
        made[where], made[other] = made[where] + step, made[other] - step
    else:
        made[where] += step
    return [max(-2**63, min(2**63 - 1, value)) for value in made]


def integer_sites(subject):
    return [(place, slot) for place, node in enumerate(subject.nodes)
            for slot in INTEGER_SLOTS.get(node.op_type, ())
            if slot < len(node.input) and node.input[slot] in subject.constants
            and subject.constants[node.input[slot]].dtype == np.int64
            and subject.constants[node.input[slot]].size
            and AXIS_SLOTS.get(node.op_type) != slot]


def attribute(subject, draw):
    sites = [(place, *known) for place, node in enumerate(subject.nodes)
             if node.op_type != "Constant"
             for known in attributes(node) if known[0] not in AXES
             and changed_attribute(*known, draw) is not None]
    integers = integer_sites(subject)
    if integers and (not sites or draw.random() < 0.25):
        place, slot = draw.choice(integers)
        old = subject.constants[subject.nodes[place].input[slot]]
        made = np.array(changed_integers(old.flatten().tolist(), draw), np.int64)
        return (f"input {slot} of {label(subject, place)} is {made.tolist()[:6]}, not "
                f"{old.flatten().tolist()[:6]}",
                lambda model: give(model, place, slot, made.reshape(old.shape)))
    if not sites:
        return None
    groups = sorted({(subject.nodes[s[0]].op_type, s[1]) for s in sites})
    chosen = draw.choice(groups)
    place, name, kind, old = draw.choice(
        [s for s in sites if (subject.nodes[s[0]].op_type, s[1]) == chosen])
    made = changed_attribute(name, kind, old, draw)
    return (f"{name} of {label(subject, place)} is {made}, not {old}",
            lambda model: set_attribute(model.graph.node[place], name, made))


def changed_axis(name, value, rank, draw):
    if name == "perm":
        a, b = draw.sample(range(len(value)), 2) if len(value) > 1 else (0, 0)
        made = list(value)
        made[a], made[b] = made[b], made[a]
        return made
    axes = [value] if isinstance(value, int) else list(value)
    others = [a for a in range(rank) if a not in {x % max(rank, 1) for x in axes}]
    if not others or not axes:
        return None
    axes[draw.randrange(len(axes))] = draw.choice(others)
    return axes[0] if isinstance(value, int) else axes


def axis(subject, draw):
    """axis, axes and perm, as attributes and as constants."""
    sites = [(place, name, value) for place, node in enumerate(subject.nodes)
             for name, _, value in attributes(node) if name in AXES]
    sites += [(place, AXIS_SLOTS[node.op_type], None) for place, node in enumerate(subject.nodes)
              if node.op_type in AXIS_SLOTS and len(node.input) > AXIS_SLOTS[node.op_type]
              and node.input[AXIS_SLOTS[node.op_type]] in subject.constants]
    sites += [(place, 1, None) for place, node in enumerate(subject.nodes)
              if node.op_type.startswith("Reduce") and len(node.input) > 1
              and node.input[1] in subject.constants]
    if not sites:
        return None
    place, where, old = draw.choice(sites)
    node = subject.nodes[place]
    rank = max([subject.rank(name) for name in (*node.input[:1], *node.output[:1])])
    if isinstance(where, str):
        made = changed_axis(where, old, rank, draw)
        return made is not None and (
            f"{where} of {label(subject, place)} is {made}, not {old}",
            lambda model: set_attribute(model.graph.node[place], where, made)) or None
    old = subject.constants[node.input[where]]
    made = changed_axis("axes", old.flatten().tolist(), rank, draw)
    return made and (
        f"axes of {label(subject, place)} are {made}, not {old.flatten().tolist()}",
        lambda model: give(model, place, where, np.array(made, old.dtype).reshape(old.shape)))


def constant(subject, draw):
    """By far more than rounding: an element, all elements, a sign."""
    sites = [name for name, array in subject.constants.items()
             if array.dtype.kind == "f" and array.size and name in subject.users]
    if not sites:
        return None
    name = draw.choice(sites)
    made = subject.constants[name].copy()
    flat = made.reshape(-1)
    largest = np.argsort(-np.abs(flat))[:16]
    where = int(largest[draw.randrange(len(largest))])
    how = draw.choice(["element", "scale", "sign", "all signs"])
    if how == "scale":
        flat *= flat.dtype.type(draw.choice([0.5, 0.9, 1.1, 2]))
    elif how == "all signs":
        flat *= flat.dtype.type(-1)
    elif how == "sign" and flat[where] != 0:
        flat[where] = -flat[where]
    else:
        flat[where] = flat[where] * draw.choice([0.5, 1.25, 1.5, 3]) + (flat[where] == 0)
    return f"{how} of the constant {name}", lambda model: store(model, name, made)


def swapped(subject, draw):
    sites = [(place, 0, 1) for place, node in enumerate(subject.nodes)
             if node.op_type in ORDERED and node.input[0] != node.input[1]]
    sites += [(place, 1, 2) for place, node in enumerate(subject.nodes)
              if node.op_type == "Where" and node.input[1] != node.input[2]]
    sites += [(place, *draw.sample(range(len(node.input)), 2))
              for place, node in enumerate(subject.nodes)
              if node.op_type == "Concat" and len(node.input) > 1]
    if not sites:
        return None
    place, a, b = draw.choice(sites)

    def edit(model):
        inputs = model.graph.node[place].input
        inputs[a], inputs[b] = inputs[b], inputs[a]
    return f"operands {a} and {b} of {label(subject, place)} swapped", edit


def replaced(subject, draw):
    """An operand by another value of the same type and shape."""
    for place in draw.sample(range(len(subject.nodes)), min(20, len(subject.nodes))):
        node = subject.nodes[place]
        slots = [slot for slot, name in enumerate(node.input) if subject.type(name)]
        if not slots:
            continue
        slot = draw.choice(slots)
        old = node.input[slot]
        others = [name for name in subject.values_before(place)
                  if name != old and subject.type(name) == subject.type(old)]
        if others:
            new = draw.choice(others)

            def edit(model):
                model.graph.node[place].input[slot] = new
            return f"{label(subject, place)} reads {new}, not {old}", edit
    return None


def dropped(subject, draw):
    """A node is replaced by its input of equal type and shape."""
    sites = [(place, name) for place, node in enumerate(subject.nodes)
             if not any(out in subject.users or out in subject.outputs for out in node.output[1:])
             and node.op_type not in ("Identity", "Constant", "Dropout")
             and subject.type(node.output[0])
             for name in dict.fromkeys(node.input)
             if subject.type(name) == subject.type(node.output[0])]
    if not sites:
        return None
    place, name = draw.choice(sites)
    out = subject.nodes[place].output[0]

    def edit(model):
        if out in subject.outputs or subject.has_bodies:
            identity = model.graph.node[place]
            del identity.input[:], identity.output[1:], identity.attribute[:]
            identity.op_type, identity.domain = "Identity", ""
            identity.input.append(name)
            return
        for user in subject.users.get(out, []):
            inputs = model.graph.node[user].input
            inputs[:] = [name if read == out else read for read in inputs]
        del model.graph.node[place]
    return f"{label(subject, place)} dropped, {name} in its place", edit


def label(subject, place):
    node = subject.nodes[place]
    return f"{node.op_type} {node.output[0]}"
