"""Runs optimisers on models, in processes of their own: any version, any Python from 3.7.

  python tools.py onnxruntime IN OUT basic|extended|all
  python tools.py onnxoptimizer|onnx.optimizer IN OUT PASS,...
  python tools.py onnxoptimizer IN OUT     its own choice of passes
  python tools.py converter IN OUT OPSET   the version converter of the package onnx
  python tools.py onnxsim|onnxslim|onnxscript IN OUT
  python tools.py certify A B [BOUND]      prints JSON; needs z3-solver; inputs in [-BOUND, BOUND]
  python tools.py versions                 prints JSON
  python tools.py batch < JOBS             JSON: a list of such lists of arguments; each runs in a
                                           copy of this process, and the list of [status, output]
                                           is printed
"""
import io
import json
import os
import signal
import sys
import tempfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def onnxruntime(source, out, level):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(
        ort.GraphOptimizationLevel, "ORT_ENABLE_" + level.upper())
    options.optimized_model_filepath = out
    options.log_severity_level = 4
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def onnxoptimizer(source, out, passes=None):
    import onnx
    import onnxoptimizer as package
    onnx.save(package.optimize(onnx.load(source), passes and passes.split(",")), out)


def onnx_optimizer(source, out, passes):
    """The optimiser that the package onnx had up to 1.8."""
    import onnx
    from onnx import optimizer as package
    onnx.save(package.optimize(onnx.load(source), passes.split(",")), out)


def onnxsim(source, out):
    import onnx
    import onnxsim as package
    onnx.save(package.simplify(onnx.load(source))[0], out)


def onnxslim(source, out):
    import onnx
    import onnxslim as package
    onnx.save(package.slim(onnx.load(source)), out)


def onnxscript(source, out):
    import onnx
    from onnxscript import optimizer
    onnx.save(optimizer.optimize(onnx.load(source)), out)


def converter(source, out, opset):
    import onnx
    from onnx import version_converter
    onnx.save(version_converter.convert_version(onnx.load(source), int(opset)), out)


def certify(before, after, bound=None):
    import onnx
    from onnxsim import certify as package
    before, after = onnx.load(before), onnx.load(after)
    held = {t.name for t in before.graph.initializer}
    names = [i.name for i in before.graph.input if i.name not in held]
    ranges = {n: (-float(bound), float(bound)) for n in names} if bound else None
    report = package.certify(before, after, input_ranges=ranges)
    print(json.dumps({"outputs": {n: str(v) for n, v in report.outputs.items()},
                      "details": [str(w.detail) for w in report.windows if w.detail]}))


def load_all():
    """Imports what is installed, once for all copies of this process."""
    import importlib
    for name in ("onnx", "onnxruntime", "onnxoptimizer", "onnxsim", "onnxslim", "z3"):
        try:
            importlib.import_module(name)
        except ImportError:
            pass


def one(arguments, out):
    """One job in the copied process, its output to the file."""
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout = io.open(1, "w", closefd=False)
    signal.alarm(120)
    status = 1
    try:
        call(*arguments)
        status = 0
    except BaseException as error:
        print(type(error).__name__, str(error)[:300])
    sys.stdout.flush()
    os._exit(status)


def batch():
    load_all()
    results = []
    for arguments in json.load(sys.stdin):
        with tempfile.TemporaryFile() as out:
            child = os.fork()
            if child == 0:
                one(arguments, out.fileno())
            _, status = os.waitpid(child, 0)
            out.seek(0)
            results.append([status, out.read().decode(errors="replace")])
    print("\n" + json.dumps(results))


def versions():
    from importlib import metadata
    found = {}
    for name in ["onnx", "onnxruntime", "onnxoptimizer", "onnxsim", "onnxslim", "onnxscript"]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    print(json.dumps(found))


def call(name, *arguments):
    ({"onnx.optimizer": onnx_optimizer}.get(name) or globals()[name])(*arguments)


if __name__ == "__main__":
    call(*sys.argv[1:])
