"""Optimises a model with another optimiser; each runs in a process of its own, as some crash.

  python bench/peers.py NAME IN OUT [ARCHITECTURE]

ARCHITECTURE is what the model's network is called; onnxruntime's optimiser of transformers asks.
"""
import importlib.metadata
import os
import sys
import tempfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
PEERS = ["onnxsim", "onnxslim", "onnxoptimizer"]  # those of run_peers.py


def version(name):
    """Of the package that an optimiser is in; None: it is not installed."""
    try:
        return importlib.metadata.version("onnxruntime" if name == "ort-transformers" else name)
    except importlib.metadata.PackageNotFoundError:
        return None


def onnxsim(source, _):
    import onnxsim as package
    simplified, equal = package.simplify(onnx().load(source))
    if not equal:
        sys.exit("onnxsim: its own check failed")
    return simplified


def onnxslim(source, _):
    import onnxslim as package
    return package.slim(onnx().load(source))


def onnxoptimizer(source, _):
    import onnxoptimizer as package
    return package.optimize(onnx().load(source), package.get_fuse_and_elimination_passes())


def onnxscript(source, _):
    from onnxscript import optimizer
    return optimizer.optimize(onnx().load(source))


def attempts(known, architecture):
    """Pairs of a model type and a level. The type whose name says most of the architecture's comes
    first, then the default one; each at its own level, then at 0."""
    named = sorted((kind for kind in known if kind in architecture), key=len)
    return list(dict.fromkeys((kind, level) for kind in [*named[-1:], "bert"]
                              for level in (known[kind][2], 0)))


def basic(source, folder):
    """What onnxruntime's basic optimisations make of it. The optimiser of transformers would do
    this itself at its level 1, but asks for PyTorch first, which it has no use for here."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = os.path.join(folder, "basic.onnx")
    options.log_severity_level = 4
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"],
                                 disabled_optimizers=["ConstantSharing"])
    return options.optimized_model_filepath


def ort_transformers(source, architecture):
    """Heads and widths are detected. Of several attempts the first that onnxruntime loads: some
    fusions have no kernel on a processor."""
    import onnxruntime
    from onnxruntime.transformers import optimizer
    for kind, level in attempts(optimizer.MODEL_TYPES, architecture):
        try:
            with tempfile.TemporaryDirectory() as folder:
                begun = basic(source, folder) if level == 1 else source
                made = optimizer.optimize_model(begun, model_type=kind, opt_level=0).model
            onnxruntime.InferenceSession(made.SerializeToString(),
                                         providers=["CPUExecutionProvider"])
            return made
        except Exception as problem:  # onnx and onnxruntime raise many kinds
            refused = f"{kind}: {problem}"
    sys.exit(" ".join(refused.split()))


OPTIMISERS = {"onnxsim": onnxsim, "onnxslim": onnxslim, "onnxoptimizer": onnxoptimizer,
              "onnxscript": onnxscript, "ort-transformers": ort_transformers}


def onnx():
    import onnx as package
    return package


def main():
    name, source, target, *more = sys.argv[1:]
    onnx().save(OPTIMISERS[name](source, "".join(more)), target)


if __name__ == "__main__":
    main()
