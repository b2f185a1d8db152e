#!/usr/bin/env python3
"""Writes benchmark models with random weights; needs only numpy and onnx.

  python bench/models/build_models.py --out DIR [--seed N] [NAME ...]

Without names all models are written but those of sizes.py and training.py; "tiny" names the small
ones that the tests use, "training" those that agents are trained on.
"""
import argparse
import os
import sys

import onnx

import cnn
import decoder
import mobile
import nas
import reparam
import sizes
import training
import transformer

MODELS = {**cnn.MODELS, **mobile.MODELS, **reparam.MODELS, **transformer.MODELS,
          **decoder.MODELS, **nas.MODELS}
KNOWN = {**MODELS, **sizes.MODELS, **training.MODELS}


def chosen(names):
    if not names:
        return list(MODELS)
    picked = []
    for name in names:
        if name == "tiny":
            picked += [n for n in MODELS if n.startswith("tiny_")]
        elif name == "training":
            picked += training.MODELS
        elif name in KNOWN:
            picked.append(name)
        else:
            sys.exit(f"build_models: no model {name!r}; there are: tiny, training, {', '.join(KNOWN)}")
    return picked


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    for name in chosen(args.names):
        model = KNOWN[name](args.seed)
        path = os.path.join(args.out, name + ".onnx")
        onnx.save(model, path)
        print(f"{path}  {len(model.graph.node)} nodes  {os.path.getsize(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
