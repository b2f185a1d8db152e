#!/usr/bin/env python3
"""Writes graphs small enough to be searched exhaustively: random ones, and pieces of models.

  python bench/models/build_small.py --out DIR [--models DIR] [--seed N]

random-NN.onnx: three to six calls on matrices, none of them constant.
<model>-NN.onnx: two to five nodes in a row of a model of build_models.py, with their weights; what
they read from before is an input, what is read from behind an output.
"""
import argparse
import pathlib

import numpy as np
import onnx

from builder import Builder

PIECES = ["tiny_bert", "tiny_fire", "tiny_inception", "tiny_repvgg", "tiny_vit", "nas_rnn"]
RANDOM, EACH = 24, 4


def random_graph(rng, name):
    b = Builder(name)
    shapes = {b.input(n, s): s for n, s in
              (("x", [64, 64]), ("y", [64, 8]), ("z", [8, 64]), ("w", [64, 64]))}
    steps = int(rng.integers(3, 7))
    while len(b.nodes) < steps:
        a, c = (list(shapes)[-1 - rng.integers(min(5, len(shapes)))] for _ in range(2))
        kind = rng.choice(["MatMul", "MatMul", "Add", "Add", "Mul", "Transpose", "Relu", "Concat"])
        (m, k), other = shapes[a], shapes[c]
        if kind == "MatMul" and k == other[0]:
            shapes[b.op(kind, [a, c])] = [m, other[1]]
        elif kind in ("Add", "Mul") and [m, k] == other:
            shapes[b.op(kind, [a, c])] = other
        elif kind == "Concat" and m == other[0]:
            shapes[b.op(kind, [a, c], axis=1)] = [m, k + other[1]]
        elif kind == "Transpose":
            shapes[b.op(kind, [a], perm=[1, 0])] = [k, m]
        elif kind == "Relu":
            shapes[b.op(kind, [a])] = [m, k]
    read = {i for n in b.nodes for i in n.input}
    for n in b.nodes:
        if n.output[0] not in read:
            b.outputs.append(onnx.helper.make_tensor_value_info(
                n.output[0], onnx.TensorProto.FLOAT, shapes[n.output[0]]))
    return b.model()


def piece(model, first, count):
    """Nodes [first, first + count) of a model; None when a type is not known."""
    graph = model.graph
    nodes = graph.node[first:first + count]
    known = {v.name: v for v in [*graph.value_info, *graph.input, *graph.output]}
    weights = {t.name: t for t in graph.initializer}
    made = [o for n in nodes for o in n.output if o]
    read = list(dict.fromkeys(i for n in nodes for i in n.input if i and i not in made))
    behind = {i for n in graph.node[first + count:] for i in n.input}
    behind |= {o.name for o in graph.output}
    inputs = [i for i in read if i not in weights]
    outputs = [o for o in made if o in behind]
    if not outputs or not inputs or not all(v in known for v in inputs + outputs):
        return None
    part = onnx.helper.make_graph(nodes, "piece", [known[i] for i in inputs],
                                  [known[o] for o in outputs],
                                  [weights[i] for i in read if i in weights])
    return onnx.helper.make_model(part, opset_imports=model.opset_import,
                                  ir_version=model.ir_version)


def pieces(rng, model):
    model = onnx.shape_inference.infer_shapes(model)
    found = []
    for first in rng.permutation(len(model.graph.node)):
        part = piece(model, int(first), int(rng.integers(2, 6)))
        if part is not None and len(part.graph.node) >= 2:
            found.append(part)
        if len(found) == EACH:
            break
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, help="where build_models.py wrote")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    for k in range(RANDOM):
        onnx.save(random_graph(rng, f"random-{k:02}"), args.out / f"random-{k:02}.onnx")
    for name in PIECES if args.models else []:
        for k, part in enumerate(pieces(rng, onnx.load(args.models / f"{name}.onnx"))):
            onnx.save(part, args.out / f"{name}-{k:02}.onnx")


if __name__ == "__main__":
    main()
