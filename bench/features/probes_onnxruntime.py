"""What only onnxruntime's own probes can try: sessions, its optimiser of transformers, tools."""


import onnx
from onnx import TensorProto

import models
import runs
import trial
import trials
from trial import NO, PARTLY, YES, Cell, folder, heard, ops


def yes_if(fine, ran, found, note=""):
    return Cell(YES if fine else NO, note if fine else "", ran, str(found)[:400])


def absent(words, but=()):
    return lambda tool: trial.absent(tool, words, but)


def custom(tool):
    cell = trials.TRIALS["custom"](tool)
    if cell.verdict == NO and "not a registered" in cell.found:
        cell.note = "needs the operator's library"
    return cell


def fixed_size(tool):
    made = tool.options("BASIC")
    made.add_free_dimension_override_by_name("batch", 8)
    with folder() as place:
        made.optimized_model_filepath = str(place / "b.onnx")
        tool.package.InferenceSession(models.open_sizes().SerializeToString(), made,
                                      providers=["CPUExecutionProvider"])
        model = onnx.load(place / "b.onnx")
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    if sizes != [8, 0, 4]:
        return tool_fixed(["--dim_param", "batch", "--dim_value", "8"], [8, 0, 4])
    return Cell(YES, "", "add_free_dimension_override_by_name('batch', 8)", str(sizes))


def tool_fixed(options, wanted):
    import sys
    with folder() as place:
        onnx.save(models.open_sizes(), place / "a.onnx")
        trial.run([sys.executable, "-m", "onnxruntime.tools.make_dynamic_shape_fixed", *options,
                   place / "a.onnx", place / "b.onnx"])
        if not (place / "b.onnx").exists():
            return Cell(NO, "", f"make_dynamic_shape_fixed {' '.join(options)}", "no model")
        model = onnx.load(place / "b.onnx")
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return yes_if(sizes == wanted, f"make_dynamic_shape_fixed {' '.join(options)}", sizes,
                  "`make_dynamic_shape_fixed`")


def fixed_shape(tool):
    return tool_fixed(["--input_name", "x", "--input_shape", "8,5,4"], [8, 5, 4])


def to_float16(tool):
    from onnxruntime.transformers import float16
    made = float16.convert_float_to_float16(models.mlp())
    kinds = {t.data_type for t in made.graph.initializer}
    return yes_if(TensorProto.FLOAT16 in kinds, "transformers.float16.convert_float_to_float16",
                  trial.counted(ops(made)))


def quantised(tool):
    from onnxruntime import quantization
    with folder() as place:
        onnx.save(models.mlp(), place / "a.onnx")
        quantization.quantize_dynamic(place / "a.onnx", place / "b.onnx")
        made = onnx.load(place / "b.onnx")
    return yes_if(any("Integer" in name for name in ops(made)),
                  "onnxruntime.quantization.quantize_dynamic", trial.counted(ops(made)))


def opset(tool):
    import sys
    with folder() as place:
        onnx.save(models.layer_norm(), place / "a.onnx")
        done = trial.run([sys.executable, "-m", "onnxruntime.tools.update_onnx_opset", "--opset",
                          "21", place / "a.onnx", place / "b.onnx"])
        made = onnx.load(place / "b.onnx") if (place / "b.onnx").exists() else onnx.ModelProto()
    found = [e.version for e in made.opset_import if e.domain in ("", "ai.onnx")]
    return yes_if(found == [21], "onnxruntime.tools.update_onnx_opset --opset 21",
                  found or done.stderr[-200:], "`update_onnx_opset`")


def compared(tool):
    """Its tool compares outputs of BERT only."""
    import pkgutil
    import onnxruntime.transformers as some
    found = [m.name for m in pkgutil.iter_modules(some.__path__) if "compare" in m.name]
    return Cell(PARTLY if found else NO, "of BERT only, `compare_bert_results`" if found else "",
                "modules of onnxruntime.transformers", ", ".join(found))


def left_out(tool):
    made = tool.offline(models.conv_bn(), "BASIC", disabled=["ConvBNFusion"])
    return yes_if("BatchNormalization" in ops(made), "disabled_optimizers=['ConvBNFusion']",
                  trial.counted(ops(made)))


def which_rule(tool):
    """The verbose log names the transformers that modified the graph."""
    made = tool.options("EXTENDED")
    made.log_severity_level = 0
    tool.package.set_default_logger_severity(0)
    with heard() as text:
        tool.package.InferenceSession(models.gelu().SerializeToString(), made,
                                      providers=["CPUExecutionProvider"])
    tool.package.set_default_logger_severity(4)
    lines = [line for line in text.getvalue().splitlines() if "modified: 1" in line]
    return yes_if(any("Gelu" in line for line in lines), "log_severity_level = 0",
                  f"{len(lines)} lines, {' '.join(lines[-1:])[-120:]}", "names in its verbose log")


def own_rules(tool):
    """A fusion of one's own by the class of its optimiser of transformers."""
    from onnxruntime.transformers.fusion_base import Fusion
    from onnxruntime.transformers.onnx_model import OnnxModel

    class Twice(Fusion):
        def __init__(self, model):
            super().__init__(model, "Reciprocal", ["Exp"])

        def fuse(self, node, names, producers):
            before = self.model.get_parent(node, 0, producers)
            if before is None or before.op_type != "Neg":
                return
            made = onnx.helper.make_node("Reciprocal", before.input, node.output, name="fused")
            self.nodes_to_remove.extend([node, before])
            self.nodes_to_add.append(made)
            self.node_name_to_graph_name["fused"] = self.this_graph_name
    model = OnnxModel(models.make("float[2,4] x", "float[2,4] y",
                                  "a = Neg(x) b = Exp(a) y = Relu(b)"))
    Twice(model).apply()
    made = model.model
    return Cell(PARTLY if "Reciprocal" in ops(made) else NO, "by subclassing `Fusion`",
                "class Twice(onnxruntime.transformers.fusion_base.Fusion)",
                trial.counted(ops(made)))


def own_proved(tool):
    cell = own_rules(tool)
    return Cell(NO, "", "a wrong Fusion of one's own", f"applied unchecked: {cell.found}")


def statistics(tool):
    """Counts of fused operators of a BERT."""
    made = tool.transformers.optimize_model(models.bert(), num_heads=2, hidden_size=16, opt_level=0)
    found = {k: v for k, v in made.get_fused_operator_statistics().items() if v}
    return Cell(PARTLY if found else NO, "counts of fused operators" if found else "",
                "get_fused_operator_statistics()", str(found))


def profiled(tool):
    """A trace of a run, not a report of the optimisation."""
    text = trial.run(tool.help_commands[0]).stdout
    has = "json" in text.lower() or "report" in text.lower()
    return Cell(trial.UNCLEAR if has else NO, "", "searched the help for json and report",
                "nothing")


def program(tool):
    cell = trials.TRIALS["program"](tool)
    cell.note = "of transformers" if cell.verdict == YES else ""
    return cell



PROVED = r"\bproof|\bprove[nd]?\b|certif|formally"
PROBES = {
    "custom": custom, "program": program, "fix size": fixed_size, "fix shape": fixed_shape,
    "to float16": to_float16, "quantise": quantised, "opset": opset,
    "outputs": absent(r"unused.output|extract|cut (off|at)", but=["extract_raw_data_from_model"]),
    "predicted": absent(r"\bcost\b|flops|predict"),
    "measured": absent(r"benchmark|latency|fastest|measure"),
    "check": absent(r"\bcheck|compare|verif", but=["CheckKernel", "checkpoint", "get_available",
                                                   "check_model", "compared to mixed"]),
    "compare": compared, "proof": absent(PROVED), "open proof": absent(PROVED),
    "certificate": absent(PROVED), "counterexample": absent(r"counter.?example"),
    "own rules": own_rules, "own proved": own_proved, "left out": left_out,
    "which rule": which_rule, "json": profiled, "html": absent(r"html|svg|plot", but=["https://"]),
    "graphs": absent(r"html|svg|plot", but=["https://"]),
    "explain": absent(r"explain|missed|opportunit"),
    "bisect": absent(r"bisect"), "table": absent(r"summary|table\b|before and after"),
    "time": absent(r"time.?(limit|out|budget)|max.?time"),
    "memory": absent(r"memory.?limit|max.?memory", but=["OrtMemoryInfo"]),
    "progress": absent(r"progress|tqdm"), "stats": statistics,
    "gym": absent(r"gymnasium|reinforcement"),
    "c": lambda tool: runs.exports(tool, "OrtGetApiBase"),
}
