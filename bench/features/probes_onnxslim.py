"""What only onnxslim's own probes can try."""
import onnx
from onnx import TensorProto

import models
import runs
import tools
import trial
from trial import NO, PARTLY, YES, Cell, folder, heard, ops

PROGRAM = tools.BIN / "onnxslim"


def yes_if(fine, ran, found, note=""):
    return Cell(YES if fine else NO, note if fine else "", ran, str(found)[:400])


def absent(words, but=()):
    return lambda tool: trial.absent(tool, words, but)


def fixed_shape(tool):
    made = tool.package.slim(models.open_sizes(), input_shapes=["x:8,5,4"])
    sizes = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    return yes_if(sizes == [8, 5, 4], "slim(m, input_shapes=['x:8,5,4'])", sizes)


def to_float16(tool):
    try:
        made = tool.package.slim(models.mlp(), dtype="fp16")
    except ModuleNotFoundError as problem:
        return Cell(NO, "", "slim(m, dtype='fp16')", trial.first_line(problem))
    kinds = {t.data_type for t in made.graph.initializer}
    return yes_if(TensorProto.FLOAT16 in kinds, "slim(m, dtype='fp16')", trial.counted(ops(made)),
                  "with `onnxconverter-common`, not required by it")


def outputs(tool):
    made = tool.package.slim(models.parallel(), outputs=["p"])
    return yes_if([o.name for o in made.graph.output] == ["p"] and len(ops(made)) == 2,
                  "slim(m, outputs=['p'])", trial.counted(ops(made)))


def printed(*options, model=models.conv_bn):
    with folder() as place:
        onnx.save(model(), place / "a.onnx")
        done = trial.run([PROGRAM, place / "a.onnx", *(["b.onnx"] if "--inspect" not in options
                                                       else []), *options], cwd=place)
        return done.stdout + done.stderr


def table(tool):
    text = printed()
    lines = [line for line in text.splitlines() if "BatchNormalization" in line]
    return yes_if(lines, "onnxslim A B", "; ".join(lines))


def predicted(tool):
    text = printed()
    lines = [line for line in text.splitlines() if "FLOP" in line or "MAC" in line]
    return Cell(PARTLY if lines else NO, "operations, no time" if lines else "", "onnxslim A B",
                "; ".join(lines)[:200] or "neither FLOPs nor MACs are printed")


class Spoils:
    """A user's pattern that is wrong: Neg and Exp become Exp."""

    def __init__(self, to):
        import onnxslim
        from onnxslim.core.pattern import Pattern, PatternMatcher

        class Wrong(PatternMatcher):
            name = "Wrong"

            def __init__(self, priority):
                super().__init__(Pattern("""
                    input  input  0  1 neg_0
                    Neg    neg_0  1  1 input exp_0
                    Exp    exp_0  1  1 neg_0 output
                    output output 1  0 exp_0
                    """), priority)

            def rewrite(self, opset=11):
                inputs, outputs = list(self.neg_0.inputs), list(self.exp_0.outputs)
                self.exp_0.outputs.clear()
                return {"fused": {"op": to, "inputs": inputs, "outputs": outputs,
                                  "name": "fused", "attrs": {}, "domain": None}}
        onnxslim.register_fusion_pattern(Wrong(1))


def negated():
    return models.make("float[2,4] x", "float[2,4] y", "a = Neg(x) b = Exp(a) y = Relu(b)")


def checked(tool):
    """Random inputs are compared; a user's pattern that makes it wrong is noticed."""
    good = tool.package.slim(models.conv_bn(), model_check=True)
    Spoils("Sigmoid")
    with heard() as text:
        bad = tool.package.slim(negated(), model_check=True)
    return yes_if(good is not None and bad is None, "slim(m, model_check=True)",
                  f"right: a model, wrong: {'a model' if bad else 'none'} {text.getvalue()[:100]}",
                  "`model_check`")


def own_rules(tool):
    Spoils("Reciprocal")
    made = tool.package.slim(negated())
    return yes_if("Reciprocal" in ops(made), "onnxslim.register_fusion_pattern",
                  trial.counted(ops(made)))


def own_proved(tool):
    cell = own_rules(tool)
    applied = cell.verdict == YES
    noticed = applied and tool.package.slim(negated(), model_check=True) is None
    return Cell(PARTLY if noticed else NO, "its use is noticed by `model_check`" if noticed else "",
                "a wrong pattern of one's own, model_check=True", f"applied: {applied}")


def left_out(tool):
    made = tool.package.slim(models.conv_bn(), skip_fusion_patterns=["FusionConvBN"])
    return yes_if("BatchNormalization" in ops(made), "skip_fusion_patterns=['FusionConvBN']",
                  trial.counted(ops(made)))


def which_rule(tool):
    text = printed("--verbose")
    lines = [line for line in text.splitlines() if "FusionConvBN" in line or "ConvBN" in line]
    return yes_if(lines, "onnxslim A B --verbose", "; ".join(lines)[:300] or "no pattern named",
                  "`--verbose`")


def statistics(tool):
    text = printed("--inspect", model=models.bert)
    return yes_if("MatMul" in text, "onnxslim A --inspect", " ".join(text.split())[:200])


def dumped(tool):
    with folder() as place:
        onnx.save(models.bert(), place / "a.onnx")
        trial.run([PROGRAM, place / "a.onnx", "--inspect", "--dump-to-disk"], cwd=place)
        made = [p.name for p in place.iterdir() if p.name != "a.onnx"]
        return Cell(PARTLY if made else NO, "of one model, as CSV" if made else "",
                    "onnxslim A --inspect --dump-to-disk", ", ".join(made) or "no file")


PROVED = r"\bproof|\bprove[nd]?\b|certif|verif(y|ied)"
PROBES = {
    "fix size": absent(r"dim.?param|named dim|dimension name"), "fix shape": fixed_shape,
    "to float16": to_float16, "quantise": absent(r"quanti[sz]"), "opset": absent(r"opset"),
    "outputs": outputs, "predicted": predicted,
    "measured": absent(r"benchmark|latency|fastest|measure"), "check": checked,
    "compare": absent(r"compare|check_result|two models"), "proof": absent(PROVED),
    "open proof": absent(PROVED), "certificate": absent(PROVED),
    "counterexample": absent(r"counter.?example"), "own rules": own_rules,
    "own proved": own_proved, "left out": left_out, "which rule": which_rule, "json": dumped,
    "html": absent(r"html|svg|plot"), "graphs": absent(r"html|svg|plot"),
    "explain": absent(r"explain|missed|opportunit"), "bisect": absent(r"bisect"), "table": table,
    "time": absent(r"time.?(limit|out|budget)|max.?time|seconds"),
    "memory": absent(r"memory"), "progress": absent(r"progress|tqdm"), "stats": statistics,
    "gym": absent(r"gymnasium|reinforcement"),
    "c": lambda tool: runs.exports(tool, "onnxslim_slim"),
}
