"""Runs the export code of two packages with the module that they simplify with replaced by regraft:
ultralytics, which calls onnxslim.slim, and yolov5, which calls onnxsim.simplify.

  python exporters.py [ultralytics|yolov5 ...]

Needs the packages named, torch, onnx and onnxruntime; where onnxslim and onnxsim are installed, what
they make of the same model stands beside it. Weights are random, nothing is downloaded. Each exported
model must run in onnxruntime, and compute what the module in torch computes.
"""
import importlib
import os
import pathlib
import sys
import tempfile
import time
import types

os.environ.update(YOLO_AUTOINSTALL="false", YOLO_OFFLINE="true", ORT_DISABLE_TELEMETRY="1")

import numpy as np
import onnx
import onnxruntime
import torch

import regraft

SIZE = 160
CALLS = []


def nodes(model):
    return len((onnx.load(model) if isinstance(model, str) else model).graph.node)


def beside(package, function, model):
    """How many nodes the package itself leaves; "-" where it is not installed or fails."""
    try:
        made = getattr(ORIGINALS[package], function)(model)
        return nodes(made[0] if isinstance(made, tuple) else made)
    except Exception:
        return "-"


def replace(package, function):
    """The module `package` is regraft from now on, and counts."""
    def ours(model, *args, **kwargs):
        start = time.monotonic()
        result = getattr(regraft, function)(model, *args, **kwargs)
        seconds = time.monotonic() - start
        made = result[0] if isinstance(result, tuple) else result
        CALLS.append((nodes(model), nodes(made), beside(package, function, model), seconds))
        return result
    module = types.ModuleType(package)
    module.__version__ = regraft.__version__
    setattr(module, function, ours)
    sys.modules[package] = module


def original(package):
    try:
        return importlib.import_module(package)
    except ImportError:
        return None


ORIGINALS = {name: original(name) for name in ("onnxslim", "onnxsim")}


def run(name, path, torch_model=None):
    """The model runs, and its first output is that of the module."""
    onnx.checker.check_model(onnx.load(path))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(7).random((1, 3, SIZE, SIZE), np.float32)
    got = session.run(None, {session.get_inputs()[0].name: x})
    difference = ""
    if torch_model is not None:
        want = torch_model(torch.tensor(x))
        want = want[0] if isinstance(want, (tuple, list)) else want
        np.testing.assert_allclose(got[0], want.detach().numpy(), rtol=1e-3, atol=1e-3)
        difference = f"{np.abs(got[0] - want.detach().numpy()).max():.1e}"
    before, after, other, seconds = CALLS[-1]
    print(f"| {name} | {before} | {after} | {other} | {seconds:.1f} | {difference} |", flush=True)


def ultralytics():
    replace("onnxslim", "slim")
    from ultralytics import RTDETR, YOLO
    for config in ("yolov8n.yaml", "yolo11n.yaml", "yolov8n-seg.yaml", "yolov8n-cls.yaml",
                   "yolo11n-pose.yaml", "rtdetr-l.yaml"):
        for dynamic in (False, True):
            calls = len(CALLS)
            model = (RTDETR if config.startswith("rtdetr") else YOLO)(config)
            path = model.export(format="onnx", simplify=True, imgsz=SIZE, device="cpu", dynamic=dynamic)
            assert len(CALLS) == calls + 1, "the exporter did not call slim"
            run(f"ultralytics {config}{' dynamic' if dynamic else ''}", path)


def yolov5():
    replace("onnxsim", "simplify")
    if not hasattr(torch.utils, "mobile_optimizer"):  # which it imports, and newer ones have not
        gone = types.ModuleType("torch.utils.mobile_optimizer")
        gone.optimize_for_mobile = None
        sys.modules["torch.utils.mobile_optimizer"] = gone
    import yolov5
    from yolov5 import export
    from yolov5.models.yolo import Detect, DetectionModel
    export.check_requirements = lambda *args, **kwargs: None  # it would install onnxsim
    exported = torch.onnx.export
    torch.onnx.export = lambda *args, **kwargs: exported(*args, **{**kwargs, "dynamo": False})
    folder = pathlib.Path(yolov5.__file__).parent / "models"
    for config in ("yolov5n.yaml", "yolov5s.yaml"):
        for dynamic in (False, True):
            model = DetectionModel(str(folder / config)).eval()
            image = torch.zeros(1, 3, SIZE, SIZE)
            for module in model.modules():
                if isinstance(module, Detect):
                    module.inplace, module.dynamic, module.export = False, dynamic, True
            model(image)
            calls = len(CALLS)
            path, _ = export.export_onnx(model, image, pathlib.Path(config).with_suffix(".pt"), 17,
                                         dynamic, True)
            assert len(CALLS) == calls + 1, "the exporter did not call simplify"
            run(f"yolov5 {config}{' dynamic' if dynamic else ''}", str(path), model)


def main():
    wanted = sys.argv[1:] or ["ultralytics", "yolov5"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("| model | nodes | regraft | the package's own | s | from torch |\n|---|---|---|---|---|---|")
        for name in wanted:
            {"ultralytics": ultralytics, "yolov5": yolov5}[name]()
        os.chdir("/")


if __name__ == "__main__":
    main()
