"""Pairs of small models: what an optimiser may make of a model, and what it must not."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, BOOL, INT64, INT32, HALF = (TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64,
                                   TensorProto.INT32, TensorProto.FLOAT16)
node = helper.make_node
X = ("x", [2, 4])
Y = ("y", [2, 4])
OPEN_X, OPEN_Y = ("x", ["N", 4]), ("y", ["N", 4])
IMAGE = ("x", [1, 2, 6, 6])


def port(said):
    """(name, shape[, type])"""
    return helper.make_tensor_value_info(said[0], said[2] if len(said) > 2 else FLOAT, said[1])


def model(nodes, inputs=(X,), outputs=(Y,), data=(), opset=17, domains=(), functions=()):
    """`data`: initializers by name."""
    initializers = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(data).items()]
    graph = helper.make_graph(list(nodes), "g", [port(i) for i in inputs],
                              [port(o) for o in outputs], initializers)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(d, v) for d, v in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def one(op, inputs=("x",), data=(), ports=(X,), out=Y, opset=17, **attributes):
    """A model of one node."""
    return model([node(op, list(inputs), ["y"], **attributes)], ports, [out], data, opset)


def chain(*ops, ports=(X,), out=Y, data=(), opset=17):
    """Each op: its name, or (name, further inputs, attributes)."""
    nodes, last = [], ports[0][0]
    for k, op in enumerate(ops):
        given = (op, []) if isinstance(op, str) else op
        name, more, attributes = (*given, *[{}] * (3 - len(given)))
        made = out[0] if k == len(ops) - 1 else f"h{k}"
        nodes.append(node(name, [last, *more], [made], **attributes))
        last = made
    return model(nodes, ports, [out], data, opset)


def floats(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def branches(then_ops, else_ops, capture=("Relu",)):
    """If(c) then .. else .. of what `capture` makes of x."""
    def body(name, ops):
        inner, last = [], "h"
        for k, op in enumerate(ops):
            inner.append(node(op, [last], [f"{name}{k}"]))
            last = f"{name}{k}"
        return helper.make_graph(inner, name, [], [port((last, [2, 4]))])

    nodes = [node(op, ["x" if k == 0 else f"c{k - 1}"], ["h" if k == len(capture) - 1 else f"c{k}"])
             for k, op in enumerate(capture)]
    nodes.append(node("If", ["c"], ["y"], then_branch=body("then", then_ops),
                      else_branch=body("else", else_ops)))
    return model(nodes, [X, ("c", [], BOOL)], [Y])


def loop(ops, times=3, random=False):
    """ops of the carried value, `times` times."""
    inner = [node("Identity", ["go"], ["on"])]
    last = "v"
    if random:
        inner += [node("RandomNormal", [], ["r"], shape=[2, 4]), node("Add", ["v", "r"], ["w"])]
        last = "w"
    for k, op in enumerate(ops):
        inner.append(node(op, [last], [f"l{k}"]))
        last = f"l{k}"
    body = helper.make_graph(inner, "body", [port(("i", [], INT64)), port(("go", [], BOOL)),
                                             port(("v", [2, 4]))],
                             [port(("on", [], BOOL)), port((last, [2, 4]))])
    return model([node("Loop", ["times", "yes", "x"], ["y"], body=body)],
                 data={"times": np.array(times, np.int64), "yes": np.array(True)})


def scan(ops):
    """ops of each row, and the sum of the rows so far."""
    inner, last = [], "row"
    for k, op in enumerate(ops):
        inner.append(node(op, [last], [f"s{k}"]))
        last = f"s{k}"
    inner += [node("Add", ["sum", last], ["next"]), node("Identity", ["next"], ["made"])]
    body = helper.make_graph(inner, "body", [port(("sum", [4])), port(("row", [4]))],
                             [port(("next", [4])), port(("made", [4]))])
    return model([node("Scan", ["zero", "x"], ["last", "y"], body=body, num_scan_inputs=1)],
                 data={"zero": np.zeros(4, np.float32)})


def function(ops):
    """A local function that does these, called."""
    inner, last = [], "a"
    for k, op in enumerate(ops):
        inner.append(node(op, [last], ["b" if k == len(ops) - 1 else f"t{k}"]))
        last = f"t{k}"
    f = helper.make_function("mine", "Twice", ["a"], ["b"], inner, [helper.make_opsetid("", 17)])
    return model([node("Twice", ["x"], ["y"], domain="mine")], domains=[("mine", 1)], functions=[f])


def normalised(fold, epsilon=1e-5):
    """Conv and BatchNormalization; folded by `fold`(w, b, scale, bias, mean, variance, epsilon)."""
    w, b = floats(3, 2, 3, 3), floats(3, seed=1)
    scale, bias, mean = (floats(3, seed=s) + 1.5 for s in (2, 3, 4))
    variance = np.abs(floats(3, seed=5)) + 0.5
    out = ("y", [1, 3, 4, 4])
    if fold is None:
        return model([node("Conv", ["x", "w", "b"], ["h"]),
                      node("BatchNormalization", ["h", "s", "i", "m", "v"], ["y"],
                           epsilon=epsilon)],
                     [IMAGE], [out],
                     {"w": w, "b": b, "s": scale, "i": bias, "m": mean, "v": variance})
    w, b = fold(w, b, scale, bias, mean, variance, np.float32(epsilon))
    return model([node("Conv", ["x", "w", "b"], ["y"])], [IMAGE], [out],
                 {"w": w.astype(np.float32), "b": b.astype(np.float32)})


def folded(w, b, scale, bias, mean, variance, epsilon):
    factor = scale / np.sqrt(variance + epsilon)
    return w * factor[:, None, None, None], (b - mean) * factor + bias


def right_pairs():
    """By name; each is equal over the reals, for all inputs."""
    relu, w = one("Relu"), floats(4, 4)
    rows = {"w": w, "t": np.ascontiguousarray(w.T)}
    return {
        "itself": (relu, relu),
        "twice": (chain("Relu", "Relu"), relu),
        "dropped identity": (chain("Identity", "Relu", "Identity"), relu),
        "dead code": (model([node("Exp", ["x"], ["e"]), node("Relu", ["x"], ["y"])]), relu),
        "open sizes": (chain("Relu", "Relu", ports=(OPEN_X,), out=OPEN_Y),
                       chain("Relu", ports=(OPEN_X,), out=OPEN_Y)),
        "transposed weight": (
            model([node("Transpose", ["w"], ["v"]), node("MatMul", ["x", "v"], ["y"])],
                  data={"w": w}),
            model([node("MatMul", ["x", "t"], ["y"])], data={"t": rows["t"]})),
        "gemm": (model([node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["y"])],
                       data={"w": w, "b": floats(4)}),
                 model([node("Gemm", ["x", "w", "b"], ["y"])], data={"w": w, "b": floats(4)})),
        "two transposes": (chain(("Transpose", [], {"perm": [1, 0]}),
                                 ("Transpose", [], {"perm": [1, 0]})), one("Identity")),
        "division that cancels": (  # where the first model is defined
            model([node("Div", ["x", "z"], ["h"]), node("Mul", ["h", "z"], ["y"])],
                  [X, ("z", [2, 4])]),
            model([node("Identity", ["x"], ["y"])], [X, ("z", [2, 4])])),
        "batch norm": (normalised(None), normalised(folded)),
        "squeeze of opset 11 and 13": (
            one("Squeeze", ports=(("x", [2, 1, 4]),), opset=11, axes=[1]),
            one("Squeeze", ("x", "a"), {"a": ints(1)}, (("x", [2, 1, 4]),), opset=13)),
        "clip of opset 10 and 11": (
            one("Clip", opset=10, min=0.0, max=6.0),
            one("Clip", ("x", "l", "h"), {"l": np.float32(0), "h": np.float32(6)}, opset=11)),
        "branches": (branches(["Relu", "Relu"], ["Neg"]), branches(["Relu"], ["Neg"])),
        "loop": (loop(["Relu", "Relu"]), loop(["Relu"])),
        "scan": (scan(["Relu", "Relu"]), scan(["Relu"])),
        "function": (function(["Relu", "Neg"]), chain("Relu", "Neg")),
        "function that is simpler": (function(["Relu", "Relu"]), relu),
        "carried": (model([node("Relu", ["x"], ["h"]), node("Relu", ["h"], ["i"]),
                           node("Odd", ["i"], ["y"], domain="odd", size=2)], domains=[("odd", 1)]),
                    model([node("Relu", ["x"], ["i"]),
                           node("Odd", ["i"], ["y"], domain="odd", size=2)],
                          domains=[("odd", 1)])),
        "random numbers": (model([node("RandomNormal", [], ["r"], shape=[2, 4]),
                                  node("Identity", ["r"], ["i"]), node("Add", ["x", "i"], ["y"])]),
                           model([node("RandomNormal", [], ["q"], shape=[2, 4]),
                                  node("Add", ["x", "q"], ["y"])])),
        "quantised": (quantised(2), quantised(1)),
        "nothing": (model([], outputs=[X]), model([], outputs=[X])),
        "no elements": (chain("Identity", "Relu", ports=(("x", [0, 4]),), out=("y", [0, 4])),
                        chain("Relu", ports=(("x", [0, 4]),), out=("y", [0, 4]))),
        "shape that is computed": (
            model([node("Shape", ["x"], ["s"]), node("Reshape", ["x", "s"], ["h"]),
                   node("Relu", ["h"], ["y"])], [OPEN_X], [OPEN_Y]),
            model([node("Relu", ["x"], ["y"])], [OPEN_X], [OPEN_Y])),
    }


def quantised(times, zero=0, scale=0.1):
    """Relu `times`, then to eight bits and back."""
    nodes, last = [], "x"
    for k in range(times):
        nodes.append(node("Relu", [last], [f"r{k}"]))
        last = f"r{k}"
    nodes += [node("QuantizeLinear", [last, "s", "z"], ["q"]),
              node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    return model(nodes, data={"s": np.float32(scale), "z": np.uint8(zero)}, opset=19)


def deep(whole, layers=150):
    """Layers of which each is an obligation of its own: in one model the product is taken apart."""
    nodes, last, data = [], "x", {}
    for k in range(layers):
        w = floats(64, 64 + 2 * k, seed=k)
        data[f"v{k}"] = floats(64 + 2 * k, 64, seed=k + 100)
        if whole:
            data[f"w{k}"] = w
            nodes.append(node("MatMul", [last, f"w{k}"], [f"p{k}"]))
        else:
            data[f"l{k}"], data[f"r{k}"] = w[:, :32 + k], w[:, 32 + k:]
            nodes += [node("MatMul", [last, f"l{k}"], [f"q{k}"]),
                      node("MatMul", [last, f"r{k}"], [f"s{k}"]),
                      node("Concat", [f"q{k}", f"s{k}"], [f"p{k}"], axis=-1)]
        nodes += [node("Softmax", [f"p{k}"], [f"e{k}"], axis=-1),
                  node("MatMul", [f"e{k}", f"v{k}"], [f"y{k}"])]
        last = f"y{k}"
    nodes.append(node("Identity", [last], ["y"]))
    return model(nodes, [("x", ["B", "L", 64])], [("y", ["B", "L", 64])], data)
