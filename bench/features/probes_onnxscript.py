"""What only onnxscript's and onnx_ir's own probes can try."""
import onnx_ir
from onnxscript.rewriter import MatchingTracer, RewriteRule, RewriteRuleSet
from onnxscript.rewriter import rewrite as apply_rules

import models
import pairs
import runs
import trial
from trial import NO, PARTLY, YES, Cell, heard, ops


def yes_if(fine, ran, found, note=""):
    return Cell(YES if fine else NO, note if fine else "", ran, str(found)[:400])


def absent(words, but=()):
    return lambda tool: trial.absent(tool, words, but)


def opset(tool):
    made = onnx_ir.from_proto(models.layer_norm(20))
    tool.converter.convert_version(made, 23)
    found = made.opset_imports.get("")
    return yes_if(found == 23, "onnxscript.version_converter.convert_version(m, 23)", found)


def outputs(tool):
    model = onnx_ir.from_proto(models.parallel())
    extract = getattr(onnx_ir.convenience, "extract", None)
    if extract is None:
        return Cell(NO, "", "onnx_ir.convenience.extract", "there is none")
    made = extract(model.graph, ["x"], ["p"])
    graph = getattr(made, "graph", made)
    names = [node.op_type for node in graph]
    return yes_if(sorted(names) == ["MatMul", "Relu"],
                  "onnx_ir.convenience.extract(m, ['x'], ['p'])", trial.counted(names), "`onnx_ir`")


def compared(tool):
    from onnxscript.rewriter import testing
    before, after = pairs.wrong_pair()
    testing.assert_numerically_equal(models.branches(), models.branches_by_hand())
    try:
        testing.assert_numerically_equal(before, after, rtol=1e-3)
        return Cell(NO, "", "rewriter.testing.assert_numerically_equal", "a wrong pair passes")
    except AssertionError as problem:
        return yes_if(True, "onnxscript.rewriter.testing.assert_numerically_equal",
                      f"right pair passes; wrong pair: {trial.first_line(problem)}")


def negated():
    return models.make("float[2,4] x", "float[2,4] y", "a = Neg(x) b = Exp(a) y = Relu(b)")


def wrong_rule(name="wrong"):
    return RewriteRule(lambda op, x: op.Exp(op.Neg(x)), lambda op, x: op.Exp(x), name=name)


def own_rules(tool):
    rule = RewriteRule(lambda op, x: op.Exp(op.Neg(x)), lambda op, x: op.Reciprocal(op.Exp(x)),
                       name="mine")
    made = apply_rules(negated(), pattern_rewrite_rules=[rule])
    return yes_if("Reciprocal" in ops(made), "rewrite(m, [RewriteRule(..)])",
                  trial.counted(ops(made)))


def own_proved(tool):
    made = apply_rules(negated(), pattern_rewrite_rules=[wrong_rule()])
    return Cell(NO if "Neg" not in ops(made) else YES, "", "rewrite(m, [a wrong RewriteRule])",
                f"applied unchecked: {trial.counted(ops(made))}")


def left_out(tool):
    """Rules are given as a list; of the optimiser, what to fold is asked of a function."""
    rules = [rule for rule in tool.common_rules() if "batch" not in (rule.name or "").lower()]
    made = apply_rules(models.conv_bn(), pattern_rewrite_rules=rules)
    whole = apply_rules(models.conv_bn(), pattern_rewrite_rules=tool.common_rules())
    return yes_if("BatchNormalization" in ops(made) and "BatchNormalization" not in ops(whole),
                  "rewrite(m, rules without those of batch normalisation)",
                  f"{trial.counted(ops(made))}; with: {trial.counted(ops(whole))}", "`rewriter`")


def which_rule(tool):
    """Nodes that a rule made carry its name; a tracer says why others failed."""
    made = apply_rules(negated(), pattern_rewrite_rules=[
        RewriteRule(lambda op, x: op.Exp(op.Neg(x)), lambda op, x: op.Reciprocal(op.Exp(x)),
                    name="mine")])
    kept = [p.value for n in made.graph.node for p in n.metadata_props
            if p.key == tool.rewriter.RULE_NAME_TAG]
    return yes_if("mine" in kept, "metadata_props of nodes, RULE_NAME_TAG", kept,
                  "`rewriter`, a tag at nodes")


def explained(tool):
    """A tracer keeps the best partial match of each rule and the reason that it failed."""
    tracer = MatchingTracer()
    rules = RewriteRuleSet([wrong_rule()])
    model = onnx_ir.from_proto(models.make("float[2,4] x", "float[2,4] y",
                                           "a = Abs(x) b = Exp(a) y = Relu(b)"))
    with heard() as text:
        rules.apply_to_model(model, tracer=tracer)
        tracer.report()
    said = " ".join(text.getvalue().split())
    return Cell(PARTLY if said else NO,
                "why a rule did not match, `MatchingTracer`" if said else "",
                "RewriteRuleSet.apply_to_model(m, tracer=MatchingTracer())", said[:300])


def statistics(tool):
    model = onnx_ir.from_proto(models.bert())
    with heard() as text:
        model.display()
    found = text.getvalue()
    return Cell(PARTLY if "MatMul" in found else NO, "prints the graph", "onnx_ir.Model.display()",
                f"{len(found.splitlines())} lines")


PROVED = r"\bproof|\bprove[nd]?\b|certif|formally"
PROBES = {
    "fix size": absent(r"fix.{0,20}(dim|size)|free.dim|bind.{0,10}(dim|shape)"),
    "fix shape": absent(r"input.shapes?|fix.{0,20}shape"),
    "to float16": absent(r"to.?float16|fp16|half", but=["FLOAT16"]),
    "quantise": absent(r"quanti[sz]"), "opset": opset, "outputs": outputs,
    "predicted": absent(r"\bcost\b|flops|predict"),
    "measured": absent(r"benchmark|latency|fastest|measure"),
    "check": absent(r"numerical|random input|verify.{0,20}output"), "compare": compared,
    "proof": absent(PROVED), "open proof": absent(PROVED), "certificate": absent(PROVED),
    "counterexample": absent(r"counter.?example"), "own rules": own_rules,
    "own proved": own_proved, "left out": left_out, "which rule": which_rule,
    "json": absent(r"json", but=[]), "html": absent(r"html|svg|plot"),
    "graphs": absent(r"html|svg|plot"), "explain": explained, "bisect": absent(r"bisect"),
    "table": absent(r"summary|before and after"),
    "time": absent(r"time.?(limit|out|budget)|max.?time|seconds"),
    "memory": absent(r"memory.?limit|max.?memory"), "progress": absent(r"progress|tqdm"),
    "stats": statistics, "gym": absent(r"gymnasium|reinforcement"),
    "c": lambda tool: runs.exports(tool, "onnxscript_optimize"),
}
