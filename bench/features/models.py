"""Small models, each with one thing to optimise. Weights are drawn from a seed: always the same."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import transformer  # noqa: E402

F = np.float32


def weights(seed, *shape):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.3).astype(F)


def make(inputs, outputs, body, opset=17, known=None, domains=(), functions="", **tensors):
    """A model from ONNX's text. `tensors` become initialisers."""
    more = "".join(f', "{name}" : 1' for name in domains)
    ir = 8 if opset < 21 else 10 if opset < 25 else 13
    text = (f'<ir_version: {ir}, opset_import: ["" : {opset}{more}]>\n'
            f"g ({inputs}) => ({outputs}) {{ {body} }} {functions}")
    model = onnx.parser.parse_model(text)
    for name, array in {**(known or {}), **tensors}.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    for k, node in enumerate(model.graph.node):
        node.name = node.name or f"node_{k}"
    return model


def i64(*values):
    return np.array(values, np.int64)


def constants():
    return make("float[2,4] x", "float[2,4] y", "c = Add(a, b) d = Exp(c) y = Mul(x, d)",
                a=weights(1, 4), b=weights(2, 4))


def shapes(rows="2"):
    """A flattening as exporters write it: of the shape, one size is read and one computed."""
    return make(f"float[{rows},3,4] x", f"float[{rows},12] y",
                "s = Shape(x) n = Gather(s, zero) one = Unsqueeze(n, first) p = Gather(s, k1) "
                "q = Gather(s, k2) m = Mul(p, q) two = Unsqueeze(m, first) "
                "t = Concat<axis=0>(one, two) r = Reshape(x, t) y = Relu(r)",
                zero=np.int64(0), k1=np.int64(1), k2=np.int64(2), first=i64(0))


def equal_nodes():
    return make("float[2,4] x", "float[2,4] y",
                "a = Exp(x) b = Exp(x) c = Sigmoid(a) d = Sigmoid(b) y = Add(c, d)")


def dead():
    return make("float[2,4] x", "float[2,4] y", "y = Relu(x) u = Exp(x) v = Mul(u, w)",
                w=weights(1, 4))


def nothing_done():
    return make("float[2,4,3] x", "float[2,4,3] y",
                "a = Identity(x) b = Dropout(a) c = Cast<to=1>(b) d = Transpose<perm=[0,2,1]>(c) "
                "e = Transpose<perm=[0,2,1]>(d) f = Reshape(e, same) g = Mul(f, one) "
                "h = Add(g, zero) p = Pad(h, none) y = Relu(p)",
                same=i64(2, 4, 3), one=F(1), zero=F(0), none=i64(0, 0, 0, 0, 0, 0))


NOTHING = ("Identity", "Dropout", "Cast", "Transpose", "Reshape", "Mul", "Add", "Pad")


def twin_weights(width=64):
    return make(f"float[2,{width}] x", f"float[2,{width}] y",
                "a = MatMul(x, v) b = Relu(a) y = MatMul(b, w)",
                v=weights(1, width, width), w=weights(1, width, width))


def norm():
    return dict(s=np.abs(weights(5, 6)) + F(0.5), o=weights(6, 6), m=weights(7, 6),
                v=np.abs(weights(8, 6)) + F(0.5))


def conv_bn():
    return make("float[1,3,8,8] x", "float[1,6,6,6] y",
                "c = Conv(x, w, b) n = BatchNormalization(c, s, o, m, v) y = Relu(n)",
                w=weights(1, 6, 3, 3, 3), b=weights(2, 6), **norm())


def conv_scale():
    return make("float[1,3,8,8] x", "float[1,6,6,6] y",
                "c = Conv(x, w) n = Mul(c, s) a = Add(n, o) y = Relu(a)",
                w=weights(1, 6, 3, 3, 3), s=weights(2, 6, 1, 1), o=weights(3, 6, 1, 1))


def conv_scalar():
    return make("float[1,3,8,8] x", "float[1,6,6,6] y",
                "c = Conv(x, w, b) n = Mul(c, s) a = Add(n, o) y = Relu(a)",
                w=weights(1, 6, 3, 3, 3), b=weights(2, 6), s=F(0.5), o=F(0.25))


def linear():
    return make("float[4,16] x", "float[4,8] y", "m = MatMul(x, w) a = Add(m, b) y = Relu(a)",
                w=weights(1, 16, 8), b=weights(2, 8))


def branches():
    """A block of RepVGG: kernels of 3 and 1 beside each other."""
    return make("float[1,8,10,10] x", "float[1,8,10,10] y",
                "a = Conv<pads=[1,1,1,1]>(x, u, b) c = Conv(x, v) s = Add(a, c) y = Relu(s)",
                u=weights(1, 8, 8, 3, 3), b=weights(2, 8), v=weights(3, 8, 8, 1, 1))


def parallel(rows=64):
    """As attention's query, key and value."""
    out = f"float[{rows},128]"
    return make(f"{out} x", f"{out} p, {out} q, {out} r",
                "a = MatMul(x, u) b = MatMul(x, v) c = MatMul(x, w) p = Relu(a) q = Tanh(b) "
                "r = Sigmoid(c)", u=weights(1, 128, 128), v=weights(2, 128, 128),
                w=weights(3, 128, 128))


def chain():
    return make("float[128,128] a, float[128,128] b, float[128,1] v", "float[128,1] y",
                "m = MatMul(a, b) y = MatMul(m, v)")


def distributed():
    return make("float[64,64] x", "float[64,64] y",
                "a = MatMul(x, v) b = MatMul(x, w) s = Add(a, b) y = Relu(s)",
                v=weights(1, 64, 64), w=weights(2, 64, 64))


def branches_by_hand():
    kernel = weights(1, 8, 8, 3, 3)
    kernel[:, :, 1:2, 1:2] += weights(3, 8, 8, 1, 1)
    return make("float[1,8,10,10] x", "float[1,8,10,10] y",
                "s = Conv<pads=[1,1,1,1]>(x, u, b) y = Relu(s)", u=kernel, b=weights(2, 8))


def distributed_by_hand():
    return make("float[64,64] x", "float[64,64] y", "s = MatMul(x, w) y = Relu(s)",
                w=weights(1, 64, 64) + weights(2, 64, 64))


def gelu(opset=17, rows="2"):
    return make(f"float[{rows},3,16] x", f"float[{rows},3,8] y",
                "z = MatMul(x, w) d = Div(z, root) e = Erf(d) a = Add(e, one) m = Mul(z, a) "
                "y = Mul(m, half)", opset, w=weights(1, 16, 8), root=F(2 ** 0.5), one=F(1),
                half=F(0.5))


def layer_norm(opset=17, rows="2"):
    mean = "ReduceMean<axes=[-1], keepdims=1>(%s)" if opset < 18 else \
        "ReduceMean<keepdims=1>(%s, last)"
    more = {} if opset < 18 else {"last": i64(-1)}
    return make(f"float[{rows},3,16] x", f"float[{rows},3,16] y",
                f"m = {mean % 'x'} d = Sub(x, m) q = Pow(d, two) v = {mean % 'q'} "
                "e = Add(v, eps) s = Sqrt(e) n = Div(d, s) g = Mul(n, w) y = Add(g, b)", opset,
                two=F(2), eps=F(1e-5),
                w=weights(1, 16), b=weights(2, 16), **more)


def bert():
    return transformer.bert("small", 1, 16, 2, 32, 50, 2, 8, 7)


def attention(opset):
    """Of four axes, scaled, as exporters write it, between projections."""
    def heads(name, perm):
        return (f"m{name} = MatMul(x, w{name}) a{name} = Add(m{name}, b{name}) "
                f"r{name} = Reshape(a{name}, split) h{name} = Transpose<perm={perm}>(r{name}) ")
    known = {f"{kind}{name}": weights(k + 3 * wide, *(16,) * (1 + wide))
             for k, name in enumerate("qkv") for kind, wide in (("w", 1), ("b", 0))}
    return make("float[2,8,16] x", "float[2,8,16] y",
                heads("q", [0, 2, 1, 3]) + heads("k", [0, 2, 3, 1]) + heads("v", [0, 2, 1, 3])
                + "s = MatMul(hq, hk) c = Div(s, scale) p = Softmax<axis=-1>(c) o = MatMul(p, hv) "
                "t = Transpose<perm=[0,2,1,3]>(o) u = Reshape(t, join) z = MatMul(u, w) "
                "f = Add(z, b) e = Add(f, x) y = LayerNormalization(e, g, h)", opset,
                known=known, split=i64(0, 0, 2, 8), join=i64(0, 0, 16), scale=F(8 ** 0.5),
                w=weights(7, 16, 16), b=weights(8, 16), g=weights(9, 16), h=weights(10, 16))


def body(name):
    """What does nothing, a constant (a root), and twice the same."""
    return (f"k{name} = Constant<value = float[4] {{1.0, 2.0, 3.0, 0.5}}>() "
            f"c{name} = Sqrt(k{name}) i{name} = Identity(x) t{name} = Tanh(i{name}) "
            f"p{name} = Exp(x) q{name} = Exp(x) s{name} = Mul(p{name}, c{name}) "
            f"a{name} = Add(s{name}, q{name}) r{name} = Sub(a{name}, t{name})")


def branch_bodies():
    return make("bool b, float[2,4] x", "float[2,4] y",
                "y = If (b) <then_branch = t () => (float[2,4] rt) { " + body("t") + " }, "
                "else_branch = e () => (float[2,4] re) { " + body("e") + " }>")


def loop_body():
    return make("float[2,4] x0", "float[2,4] y",
                "y = Loop (n, go, x0) <body = l (int64 i, bool g, float[2,4] x) => "
                "(bool g2, float[2,4] rl) { g2 = Identity(g) " + body("l") + " }>",
                n=np.int64(2), go=np.bool_(True))


def scan_body():
    return make("float[3,4] xs", "float[3,4] y",
                "y = Scan <num_scan_inputs=1, body = s (float[4] x) => (float[4] rs) { "
                + body("s") + " }> (xs)")


def constant_if():
    return make("float[2,4] x", "float[2,4] y",
                "y = If (b) <then_branch = t () => (float[2,4] u) { u = Exp(x) }, "
                "else_branch = e () => (float[2,4] v) { v = Relu(x) }>", b=np.bool_(True))


def function():
    return make("float[2,4] x", "float[2,4] y", "a = my.Twice(x) y = my.Twice(a)", domains=["my"],
                functions='<domain: "my", opset_import: ["" : 17]> Twice (x) => (r) '
                          "{ p = Tanh(x) q = Tanh(x) i = Identity(p) r = Add(i, q) }")


def custom():
    return make("float[2,4] x", "float[2,4] y",
                "a = Identity(x) p = Exp(a) q = Exp(a) s = Add(p, q) "
                'c = my.custom.Magic<strength: int = 3, mode = "soft">(s) y = Relu(c)',
                domains=["my.custom"])


def open_sizes():
    """Both sizes open, with equal nodes to merge and a constant to fold."""
    return make("float[batch,length,4] x", "float[batch,length,4] y",
                "a = Exp(x) b = Exp(x) k = Add(c, c) s = Add(a, b) y = Mul(s, k)", c=weights(1, 4))


def oldest():
    """Opset 7."""
    return make("float[1,3,6,6] x", "float[1,3,6,6] y",
                "i = Identity(x) n = BatchNormalization(i, s, o, m, v) d = Dropout(n) "
                "a = Exp(d) b = Exp(d) y = Add(a, b)", 7,
                **{k: a[:3] for k, a in norm().items()})


def newest():
    return make("float[2,4] x", "float[2,4] y",
                "i = Identity(x) p = Exp(i) q = Exp(i) s = Add(p, q) y = Gelu(s)", 26)


def typed(kind):
    """bfloat16 or float16."""
    return make(f"{kind}[2,4] x", f"{kind}[2,4] y",
                "c = Cast<to=%d>(w) i = Identity(x) p = Relu(i) q = Relu(i) s = Add(p, q) "
                "y = Mul(s, c)" % getattr(TensorProto, kind.upper()), 22, w=weights(1, 4))


def quantised():
    """An int8 QDQ linear layer behind what does nothing."""
    return make("float[2,16] x", "float[2,8] y",
                "i = Identity(x) t = Transpose<perm=[1,0]>(i) u = Transpose<perm=[1,0]>(t) "
                "qx = QuantizeLinear(u, sx, z) dx = DequantizeLinear(qx, sx, z) "
                "dw = DequantizeLinear(w, sw, z) m = MatMul(dx, dw) "
                "qy = QuantizeLinear(m, sy, z) y = DequantizeLinear(qy, sy, z)",
                sx=F(0.03), sw=F(0.02), sy=F(0.1), z=np.int8(0),
                w=np.random.default_rng(3).integers(-90, 90, (16, 8)).astype(np.int8))


def overridable():
    """The initialiser w is an input as well: who runs the model may replace it."""
    model = make("float[2,4] x, float[4] w", "float[2,4] y", "e = Exp(w) y = Mul(x, e)",
                 w=weights(1, 4))
    return model


def blown_up(rows=1000):
    """Folding makes 4 MB of 8 bytes, or more."""
    return make(f"float[{rows},{rows}] x", f"float[{rows},{rows}] y",
                "t = Expand(k, s) y = Add(x, t)", k=weights(1, 1, 1), s=i64(rows, rows))


def named():
    """A name, a doc string and metadata on what no rewrite needs to touch."""
    model = make("float[2,4] x", "float[2,4] y", "i = Identity(x) y = Softmax(i)")
    model.graph.node[1].name = "head/softmax"
    model.graph.node[1].doc_string = "the head"
    model.metadata_props.add(key="author", value="someone")
    return model


def mlp(width=64, layers=2):
    names = {f"w{k}": weights(k, width, width) for k in range(layers)}
    steps = " ".join(f"m{k} = MatMul(h{k}, w{k}) h{k + 1} = Relu(m{k})" for k in range(layers))
    return make(f"float[4,{width}] h0", f"float[4,{width}] h{layers}", steps, **names)


def long_one(nodes):
    """Many layers, each with something to do: shapes, equal nodes, a GELU."""
    layers = max(1, nodes // 14)
    steps, names = [], {"root": F(2 ** 0.5), "one": F(1), "half": F(0.5), "eps": F(0.1)}
    for k in range(layers):
        x = f"h{k}"
        names[f"w{k}"] = weights(k % 7, 16, 16)
        names[f"v{k}"] = weights(k % 5 + 9, 16, 16)
        steps.append(f"a{k} = MatMul({x}, w{k}) b{k} = MatMul({x}, v{k}) s{k} = Add(a{k}, b{k}) "
                     f"i{k} = Identity(s{k}) d{k} = Div(i{k}, root) e{k} = Erf(d{k}) "
                     f"p{k} = Add(e{k}, one) m{k} = Mul(i{k}, p{k}) g{k} = Mul(m{k}, half) "
                     f"t{k} = Transpose<perm=[1,0]>(g{k}) u{k} = Transpose<perm=[1,0]>(t{k}) "
                     f"q{k} = Add(u{k}, eps) r{k} = Add(u{k}, eps) h{k + 1} = Mul(q{k}, r{k})")
    return make("float[4,16] h0", f"float[4,16] h{layers}", " ".join(steps), known=names)


def large(path, gigabytes=2.1):
    """One MatMul with a weight in a file of its own, written in pieces, behind an Identity."""
    rows = 8192
    columns = int(gigabytes * 1e9) // (4 * rows)
    data = path.with_name("large.data")
    block = weights(1, 64, columns).tobytes()
    with open(data, "wb") as file:
        for _ in range(rows // 64):
            file.write(block)
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[rows, columns],
                         data_location=TensorProto.EXTERNAL)
    for key, value in (("location", data.name), ("offset", "0"),
                       ("length", str(4 * rows * columns))):
        tensor.external_data.add(key=key, value=value)
    nodes = [helper.make_node("Identity", ["x"], ["i"], name="same"),
             helper.make_node("MatMul", ["i", "w"], ["m"], name="product"),
             helper.make_node("Relu", ["m"], ["y"], name="relu")]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, rows])],
                              [value("y", TensorProto.FLOAT, [1, columns])], [tensor])
    onnx.save(helper.make_model(graph, ir_version=8,
                                opset_imports=[helper.make_opsetid("", 17)]), path)
