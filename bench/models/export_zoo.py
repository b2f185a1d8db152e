#!/usr/bin/env python3
"""Exports a zoo of real architectures with random weights, as both of torch's exporters write them.

  python bench/models/export_zoo.py --out DIR [--only NAME ...] [--missing] [--jobs N]
  python bench/models/export_zoo.py --list

Needs bench/models/zoo-requirements.txt; nothing is downloaded. A name is that of a row or the start
of one. Writes DIR/NAME.onnx, and DIR/zoo.json: for each file its family, exporter, form, the sizes
left open with two settings of each, and the values that whole numbers among its inputs may have.
Widths and depths are reduced where the full network is large. What cannot be exported is reported
and left out.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

from zoo import dense, generative, sound, tables, text, vision
from zoo.entry import open_axes, settings

ROWS = {row.name: row for module in (vision, dense, text, sound, tables, generative)
        for row in module.ROWS}


def spread(tensor, low, high):
    tensor.copy_(tensor.new_empty(tensor.shape).uniform_(low, high))


def randomise(model):
    """What starts as zeros or as one number gets what training leaves behind, so that nothing
    folds by accident: norms, their statistics, biases, scales."""
    import torch
    named = [*model.named_parameters(),
             *((name, b) for module in model.modules() if hasattr(module, "running_mean")
               or "BatchNorm" in type(module).__name__ for name, b in module.named_buffers())]
    with torch.no_grad():
        for _, tensor in named:
            if not tensor.is_floating_point() or tensor.numel() == 0:
                continue
            value = tensor.flatten()[0].item()
            if tensor.numel() > 1 and tensor.min() != tensor.max():
                continue
            scale = 0.02 if tensor.dim() > 1 else 0.1
            spread(tensor, *sorted((-scale, scale) if value == 0 else (0.6 * value, 1.3 * value)))


def script_options(row):
    import torch
    options = {"dynamo": False, "opset_version": row.opset, "do_constant_folding": True}
    if row.form == "train":  # batch norms stay apart from convolutions, as in a checkpoint
        options.update(training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    return options


def wrapped(case):
    """The network with positional arguments, whatever it returns as a tuple of tensors."""
    import torch

    def tensors(found):
        if isinstance(found, torch.Tensor):
            yield found
        elif found is not None:
            for item in found.values() if hasattr(found, "values") else found:
                yield from tensors(item)

    class Exported(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = case.model

        def forward(self, *inputs):
            return tuple(itertools.islice(tensors(self.network(*inputs)), len(case.outputs)))
    return Exported()


def export(row, out):
    """Writes the model and its entry in zoo.json; runs in a process of its own."""
    import torch
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    case = row.make(2 if "batch" in row.sizes else 1)
    randomise(case.model)
    axes = open_axes(case, row)
    model, path = wrapped(case).eval(), out / f"{row.name}.onnx"
    names = {"input_names": list(case.inputs), "output_names": case.outputs}
    with torch.no_grad():
        model(*case.inputs.values())
        if row.exporter == "script":
            torch.onnx.export(model, tuple(case.inputs.values()), str(path), **names,
                              dynamic_axes={k: v for k, v in axes.items() if v},
                              **script_options(row))
        else:
            shapes = {"dynamic_shapes": (tuple(axes[k] for k in case.inputs),)} if row.sizes else {}
            torch.onnx.export(model, tuple(case.inputs.values()), str(path), **names, **shapes,
                              dynamo=True, opset_version=row.opset, external_data=False,
                              verbose=False)
    return entry(row, case, path)


def node_count(graph):
    """Nodes of a graph and of the graphs inside it."""
    inner = (a for n in graph.node for a in n.attribute)
    return len(graph.node) + sum(node_count(g) for a in inner for g in [*a.graphs, a.g] if g.node)


def entry(row, case, path):
    import onnx
    model = onnx.load(path)
    return {"name": row.name, "file": path.name, "architecture": row.base, "family": row.family,
            "exporter": row.exporter, "form": row.form, "dynamic": settings(case, row),
            "ranges": case.ranges, "opset": model.opset_import[0].version,
            "nodes": node_count(model.graph), "bytes": path.stat().st_size}


def export_apart(row, args):
    """The entry of a row, or one line that says why there is none."""
    command = [sys.executable, __file__, "--out", args.out, "--one", row.name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "YOLO_OFFLINE": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.time,
                              env=environment, check=False)
    except subprocess.TimeoutExpired:
        return None, f"not done in {args.time} s"
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1]), ""
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(" ")]
    return None, (lines or [f"exit {done.returncode}"])[-1][:200]


def attempt(row, args):
    """The row, its entry or None, and a line about it."""
    start, path = time.monotonic(), pathlib.Path(args.out, f"{row.name}.onnx")
    path.unlink(missing_ok=True)
    found, why = export_apart(row, args)
    if found:
        return row, found, (f"{row.name}: {found['nodes']} nodes, {found['bytes'] / 1e6:.1f} MB, "
                            f"{time.monotonic() - start:.0f} s")
    path.unlink(missing_ok=True)
    return row, None, f"{row.name}: not exported: {why}"


def kept(folder):
    path = folder / "zoo.json"
    return {e["name"]: e for e in json.loads(path.read_text())} if path.exists() else {}


def keep(folder, entries):
    ordered = [entries[name] for name in ROWS if name in entries]
    text_ = json.dumps(ordered, indent=1) + "\n"
    temporary = folder / "zoo.json.new"
    temporary.write_text(text_, encoding="utf-8")
    temporary.replace(folder / "zoo.json")


def export_all(rows, args):
    folder, failed = pathlib.Path(args.out), []
    entries = kept(folder)
    rows = [row for row in rows if not (args.missing and row.name in entries)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row, found, told in pool.map(lambda row: attempt(row, args), rows):
            entries.pop(row.name, None)
            if found:
                entries[row.name] = found
            else:
                failed.append(row.name)
            keep(folder, entries)
            print(told, flush=True)
    print(f"{len(rows) - len(failed)} exported, {len(failed)} not; {len(entries)} in {folder}")
    return failed


def chosen(names):
    if not names:
        return list(ROWS.values())
    found = {}
    for name in names:
        fits = [ROWS[name]] if name in ROWS else [r for n, r in ROWS.items() if n.startswith(name)]
        if not fits:
            sys.exit(f"export_zoo: no row starts with {name!r}; --list has them")
        found.update({row.name: row for row in fits})
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--missing", action="store_true", help="only what DIR does not have yet")
    parser.add_argument("--time", type=int, default=600, help="seconds for each (600)")
    parser.add_argument("--jobs", type=int, default=1, help="exports at the same time (1)")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.list:
        for row in ROWS.values():
            print(f"{row.name:44} {row.family}")
        return 0
    if not args.out:
        parser.error("--out is needed")
    os.makedirs(args.out, exist_ok=True)
    if args.one:
        print(json.dumps(export(ROWS[args.one], pathlib.Path(args.out))))
        return 0
    return 1 if export_all(chosen(args.only), args) else 0


if __name__ == "__main__":
    sys.exit(main())
