"""Runs a test under the Python environment that has onnx, or skips it; under CI a skip is a failure."""
import os
import pathlib
import sys

SKIP = 77  # ctest's SKIP_RETURN_CODE
ROOT = pathlib.Path(__file__).resolve().parents[2]


os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime sends usage data unless told not to


def use():
    """Returns when onnx can be imported; otherwise starts the script again under $REGRAFT_PYTHON or
    .venv, or skips the test when neither is there."""
    try:  # a bare "import onnx" succeeds where only the distribution's test data is installed
        import numpy  # noqa: F401
        import onnx.checker  # noqa: F401
        import onnxruntime  # noqa: F401
        return
    except ImportError:
        pass
    for python in (os.environ.get("REGRAFT_PYTHON"), str(ROOT / ".venv/bin/python")):
        if python and os.path.exists(python) and os.environ.get("REGRAFT_REEXEC") != python:
            os.environ["REGRAFT_REEXEC"] = python
            os.execv(python, [python, *sys.argv])
    skip("no Python with onnx; run scripts/python-env")


def skip(reason):
    """Ends the test as skipped. Under CI (CI=true) everything that tests need must be there, so that
    it ends as failed."""
    under_ci = os.environ.get("CI") == "true"
    print(f"failed: CI must have what this test needs: {reason}" if under_ci else f"skipped: {reason}")
    sys.exit(1 if under_ci else SKIP)
