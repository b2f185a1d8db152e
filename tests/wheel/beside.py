"""regraft beside other packages, imported in every order, each order in a process of its own:
python beside.py PACKAGE ..."""
import itertools
import os
import subprocess
import sys

USE = {
    "regraft": "regraft.rules()",
    "onnx": "onnx.checker.check_model(model())",
    "onnxruntime": "onnxruntime.InferenceSession(model().SerializeToString(), "
                   "providers=['CPUExecutionProvider']).run(None, {'x': X})",
    "torch": "torch.nn.functional.conv2d(torch.ones(1, 1, 8, 8), torch.ones(1, 1, 3, 3)).sum().item()",
}

# What every process does once all is loaded, and before each later import.
MODEL = """
import importlib, sys
def model():
    from onnx import TensorProto, helper, numpy_helper
    import numpy as np
    w = numpy_helper.from_array(np.full((4, 4), 0.5, np.float32), "w")
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["b"]),
             helper.make_node("MatMul", ["b", "w"], ["y"])]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
"""
WORK = """
import numpy as np
X = np.ones((2, 4), np.float32)
for name in ORDER:
    globals()[name] = importlib.import_module(name)
    if USED:
        exec(USE[name])
import onnx.reference
before = model()
result = regraft.optimize(before, no_measure=True)
after = result.model
assert len(after.graph.node) < len(before.graph.node), result
assert regraft.validate(before, after).proved
want = onnx.reference.ReferenceEvaluator(before).run(None, {"x": X})[0]
got = onnxruntime.InferenceSession(after.SerializeToString(), providers=["CPUExecutionProvider"])
np.testing.assert_allclose(got.run(None, {"x": X})[0], want, rtol=1e-5)
for name in ORDER:
    exec(USE[name])
try:
    regraft.stats(b"nothing")
    raise SystemExit("no error")
except regraft.InputError:
    pass
"""
MEASURED = """
import regraft
result = regraft.optimize(model(), time=20)
assert result.report.get("measured_with", "onnxruntime").startswith("onnxruntime"), result.report
"""


def main():
    others = sys.argv[1:]
    failed, runs = [], 0
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "1"}
    for order in itertools.permutations(["regraft", *others]):
        for used in (True, False):
            code = f"{MODEL}ORDER = {list(order)}\nUSED = {used}\nUSE = {USE!r}\n{WORK}"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env=environment, timeout=300)
            runs += 1
            if done.returncode:
                failed.append(order)
                print(f"{' '.join(order)}{' (each used at once)' if used else ''}: exit "
                      f"{done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
    done = subprocess.run([sys.executable, "-c", MODEL + MEASURED], capture_output=True, text=True,
                          env=environment, timeout=300)
    if done.returncode:
        failed.append("measuring")
        print(done.stderr[-2000:], file=sys.stderr)
    print(f"{runs} orders of import, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
