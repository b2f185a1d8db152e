"""Optimises a model with another optimiser; each runs in a process of its own, as some crash.

  python bench/peers.py NAME IN OUT
"""
import importlib.metadata
import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
PEERS = ["onnxsim", "onnxslim", "onnxoptimizer"]


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def onnxsim(model):
    import onnxsim as package
    simplified, equal = package.simplify(model)
    if not equal:
        sys.exit("onnxsim: its own check failed")
    return simplified


def onnxslim(model):
    import onnxslim as package
    return package.slim(model)


def onnxoptimizer(model):
    import onnxoptimizer as package
    return package.optimize(model, package.get_fuse_and_elimination_passes())


def main():
    import onnx
    name, source, target = sys.argv[1:]
    onnx.save({"onnxsim": onnxsim, "onnxslim": onnxslim,
               "onnxoptimizer": onnxoptimizer}[name](onnx.load(source)), target)


if __name__ == "__main__":
    main()
