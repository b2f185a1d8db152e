#!/usr/bin/env python3
"""Draws a block of MobileOne before and after `regraft optimize`: docs/rewrite.svg.

  python3 bench/picture.py [--regraft PATH] [--out FILE]

Needs the Python of scripts/python-env (onnx, matplotlib).
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import plots
from plots import pyplot

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHANNELS = 32
COLOURS = {"Conv": "#cfe3f7", "BatchNormalization": "#fde6c8", "Add": "#dff0d8", "Relu": "#f5d5d5"}
STEP_X, STEP_Y, BOX_X, BOX_Y = 2.6, 1.0, 2.3, 0.6


def block():
    """A 3x3 branch, a 1x1 branch and a skip branch, each normalised; their sum; Relu."""
    draw = np.random.default_rng(0)
    nodes, weights = [], []

    def constant(name, array):
        weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def norm(source, name):
        parts = [constant(f"{name}.{p}", draw.uniform(0.5, 1.5, CHANNELS)) for p in ("s", "b", "m", "v")]
        nodes.append(helper.make_node("BatchNormalization", [source, *parts], [name]))
        return name

    sums = [norm("x", "skip")]
    for size in (1, 3):
        kernel = constant(f"w{size}", draw.standard_normal((CHANNELS, CHANNELS, size, size)) * 0.1)
        nodes.append(helper.make_node("Conv", ["x", kernel], [f"c{size}"], pads=[size // 2] * 4))
        sums.append(norm(f"c{size}", f"n{size}"))
    nodes.append(helper.make_node("Add", sums[:2], ["a"]))
    nodes.append(helper.make_node("Add", ["a", sums[2]], ["b"]))
    nodes.append(helper.make_node("Relu", ["b"], ["y"]))
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", CHANNELS, 28, 28]) for n in "xy"]
    graph = helper.make_graph(nodes, "block", value[:1], value[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rows_of(graph):
    """The row of each node: one below the lowest of its producers."""
    row = {i.name: 0 for i in graph.input}
    for node in graph.node:
        below = 1 + max([row[i] for i in node.input if i in row], default=0)
        row.update({o: below for o in node.output})
    return row


def draw(axes, graph, title):
    row = rows_of(graph)
    boxes = [(graph.input[0].name, "input", [])]
    boxes += [(n.output[0], n.op_type, [i for i in n.input if i in row]) for n in graph.node]
    in_row = {}
    for name, _, _ in boxes:
        in_row.setdefault(row[name], []).append(name)
    place = {}
    for y, names in in_row.items():
        for k, name in enumerate(names):
            place[name] = ((k - (len(names) - 1) / 2) * STEP_X, -y * STEP_Y)
    for name, text, producers in boxes:
        x, y = place[name]
        for producer in producers:
            px, py = place[producer]
            axes.annotate("", (x, y + BOX_Y / 2), (px, py - BOX_Y / 2), arrowprops={"arrowstyle": "->", "color": "#555"})
        axes.add_patch(pyplot.Rectangle((x - BOX_X / 2, y - BOX_Y / 2), BOX_X, BOX_Y, ec="#555",
                                        fc=COLOURS.get(text, "#eeeeee")))
        axes.text(x, y, text.replace("BatchNormalization", "BatchNorm"), ha="center", va="center", fontsize=9)
    xs, ys = zip(*place.values())
    axes.set_xlim(min(xs) - BOX_X, max(xs) + BOX_X)
    axes.set_ylim(min(ys) - 0.8, 0.8)
    axes.set_title(f"{title}: {len(graph.node)} operators", fontsize=10)
    axes.axis("off")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regraft", default=str(ROOT / "build/release/regraft"))
    parser.add_argument("--out", default=str(ROOT / "docs/rewrite.svg"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "before.onnx"), pathlib.Path(folder, "after.onnx")
        onnx.save(block(), before)
        subprocess.run([args.regraft, "optimize", before, "-o", after, "--quiet", "--cost", "roofline"], check=True)
        graphs = [onnx.load(path).graph for path in (before, after)]
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 4), width_ratios=(2, 1))
    for side, graph, title in zip(axes, graphs, ("before", "after")):
        draw(side, graph, title)
    plots.save(figure, args.out)


if __name__ == "__main__":
    main()
