"""The optimisers, as functions from a model's bytes to a model's bytes, and the runs of models.
A worker imports this file: no package is imported before it is asked for."""
import os
import pathlib
import subprocess
import tempfile

REGRAFT = os.environ.get("REGRAFT", str(
    pathlib.Path(__file__).resolve().parents[2] / "build/release/regraft"))
LEVELS = {"onnxruntime basic": "BASIC", "onnxruntime extended": "EXTENDED",
          "onnxruntime all": "ALL"}
TOOLS = [*LEVELS, "onnxsim", "onnxslim", "onnxoptimizer", "onnxscript", "regraft"]


def package(tool):
    return tool.split()[0]


def parsed(source):
    import onnx
    return onnx.ModelProto.FromString(source)


def session(source, level="DISABLE_ALL", disabled=(), out=None):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(
        ort.GraphOptimizationLevel, "ORT_" + ("" if level == "DISABLE_ALL" else "ENABLE_") + level)
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if out:
        options.optimized_model_filepath = out
    more = {"disabled_optimizers": list(disabled)} if disabled else {}
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"], **more)


def run(source, feeds, level="DISABLE_ALL", disabled=()):
    """The outputs by name for each of the feeds, or the error of one as text."""
    made = session(source, level, disabled)
    names = [o.name for o in made.get_outputs()]
    wanted = {i.name for i in made.get_inputs()} | {
        i.name for i in made.get_overridable_initializers()}
    found = []
    for feed in feeds:
        try:
            values = made.run(None, {k: v for k, v in feed.items() if k in wanted})
            found.append(dict(zip(names, values)))
        except Exception as error:
            found.append(str(error).strip().splitlines()[0][:300])
    return found


def reference(source, feeds):
    """The same by ONNX's reference evaluator."""
    import numpy
    from onnx.reference import ReferenceEvaluator
    made = ReferenceEvaluator(parsed(source))
    with numpy.errstate(all="ignore"):
        return [dict(zip(made.output_names, made.run(None, feed))) for feed in feeds]


def onnxruntime(source, level, disabled=()):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.onnx")
        session(source, level, disabled, out)
        return pathlib.Path(out).read_bytes()


def onnxsim(source, *skipped):
    """With its options that keep constants that are inputs as well, where a model has such."""
    import onnxsim as tool
    model = parsed(source)
    both = {t.name for t in model.graph.initializer} & {i.name for i in model.graph.input}
    return tool.simplify(model, skipped_optimizers=list(skipped) or None,
                         mutable_initializer=bool(both),
                         initializers_as_constants=not both)[0].SerializeToString()


def onnxslim(source, *skipped):
    import onnxslim as tool
    return tool.slim(parsed(source), skip_optimizations=list(skipped) or None).SerializeToString()


def onnxoptimizer(source, *passes):
    import onnxoptimizer as tool
    names = list(passes) or tool.get_fuse_and_elimination_passes()
    return tool.optimize(parsed(source), names).SerializeToString()


def onnxscript(source, *only):
    from onnxscript import optimizer
    model = parsed(source)
    if only == ("fold_constants",):
        optimizer.fold_constants(model)
        return model.SerializeToString()
    return optimizer.optimize(model).SerializeToString()


def command(arguments, limit):
    """The finished process of regraft; a limit of its own comes first."""
    return subprocess.run([REGRAFT, *arguments, "--quiet", "--threads", "1"], text=True,
                          capture_output=True, timeout=limit)


def regraft(source):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("in.onnx", "out.onnx")]
        pathlib.Path(paths[0]).write_bytes(source)
        done = command(["optimize", paths[0], "-o", paths[1], "--no-measure", "--search-time", "1",
                        "--memory", "4"], 60)
        if done.returncode:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-300:]}")
        return pathlib.Path(paths[1]).read_bytes()


def validate(before, after):
    """The report of `regraft validate`, or its error as text."""
    import json
    with tempfile.TemporaryDirectory() as folder:
        a, b, report = (os.path.join(folder, n) for n in ("a.onnx", "b.onnx", "report.json"))
        pathlib.Path(a).write_bytes(before)
        pathlib.Path(b).write_bytes(after)
        done = command(["validate", a, b, "--json", report, "--time", "10", "--memory", "4"], 40)
        if not os.path.exists(report):
            said = done.stderr.strip().replace(folder + "/", "")
            return {"verdict": "not read" if done.returncode == 3 else "failed",
                    "error": f"status {done.returncode}: {said[-300:]}"}
        return json.loads(pathlib.Path(report).read_text())


def optimise(tool, source, *options):
    """What the tool makes of the model; options: passes, as the tool knows them."""
    if tool in LEVELS:
        return onnxruntime(source, LEVELS[tool], options)
    return globals()[tool](source, *options)
