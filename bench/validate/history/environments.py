"""Environments with old versions of the tools, made with pip when they are asked for."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

PINS = {  # what else a version needs to be installed and to run today
    "onnx-1.6.0": ["protobuf<3.21", "numpy<1.22"],
    "onnxoptimizer-0.3.8": ["onnx==1.12.0", "numpy<1.24", "protobuf<3.21"],
    "onnxruntime-1.20.1": ["numpy<2.3"],
    "onnxsim-0.4.19": ["onnx==1.13.1", "onnxruntime==1.14.1", "numpy<1.24"],
    "onnxslim-0.1.27": ["onnx==1.16.0", "onnxruntime==1.17.3", "numpy<2"],
    "onnxslim-0.1.60": ["onnx==1.17.0", "onnxruntime==1.20.1", "numpy<2"],
    "onnxslim-0.1.82": ["onnx==1.17.0", "onnxruntime==1.20.1", "numpy<2"],
    "onnxscript-0.6.2": ["onnx<1.21"],
}
CERTIFY = ["onnxsim==0.8.1", "z3-solver", "onnxruntime==1.31.1", "onnx==1.23.2"]


def interpreter(version):
    """A Python of that version: on the path, or pyenv's."""
    found = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    path = str(found[-1]) if found else shutil.which(f"python{version}")
    return path or sys.exit(f"run_history: needs Python {version}")


def environment(folder, name, requirements, version):
    """The Python of the environment; its packages are installed the first time."""
    python = pathlib.Path(folder, name, "bin", "python")
    if not python.exists():
        subprocess.run([interpreter(version), "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
    return str(python)


def python_of(folder, tool, version, python):
    """The Python that has this version of a tool; this one for None, the installed version."""
    if version is None:
        return sys.executable
    name = f"{tool}-{version}"
    return environment(folder, name, [f"{tool}=={version}", *PINS.get(name, [])], python)


def certify(folder):
    return environment(folder, "certify-0.8.1", CERTIFY, "3.11")


def run(command, limit=600, given=None):
    """The finished process, with its output; None where it ran too long."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit, input=given,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return None


def batch(python, jobs):
    """[status, output] of each job of tools.py, in one process that copies itself."""
    script = pathlib.Path(__file__).resolve().parent / "tools.py"
    jobs = [[str(part) for part in job] for job in jobs]
    done = run([python, script, "batch"], 3600, json.dumps(jobs))
    if done is None or done.returncode:
        sys.exit(f"run_history: {python}: {done.stderr[-300:] if done else 'ran too long'}")
    return json.loads(done.stdout.strip().splitlines()[-1])
