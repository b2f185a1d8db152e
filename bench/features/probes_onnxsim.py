"""What only onnxsim's own probes can try. `certify` needs its extra `verify`: z3-solver."""
import glob
import json

import onnx
from onnx import TensorProto, parser

import models
import pairs
import runs
import tools
import trial
from trial import NO, PARTLY, YES, Cell, first_line, folder, heard, ops

PROGRAM = tools.BIN / "onnxsim"


def yes_if(fine, ran, found, note=""):
    return Cell(YES if fine else NO, note if fine else "", ran, str(found)[:400])


def absent(words, but=()):
    return lambda tool: trial.absent(tool, words, but)


def fixed_shape(tool):
    made = tool.package.simplify(models.open_sizes(), overwrite_input_shapes={"x": [8, 5, 4]})[0]
    sizes = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    return yes_if(sizes == [8, 5, 4], "overwrite_input_shapes={'x': [8, 5, 4]}", sizes)


def external_out(tool):
    with folder() as place:
        onnx.save(models.mlp(), place / "a.onnx")
        trial.run([PROGRAM, place / "a.onnx", place / "b.onnx", "--save-as-external-data"])
        beside = place / "b.onnx.data"
        wrong = trial.same(models.mlp(), onnx.load(place / "b.onnx"))
        return yes_if(not wrong and beside.exists(), "onnxsim A B --save-as-external-data",
                      wrong or f"{beside.name} of {beside.stat().st_size} bytes")


def to_float16(tool):
    made = tool.package.quantize_fp16(models.mlp())
    kinds = {t.data_type for t in made.graph.initializer}
    return yes_if(TensorProto.FLOAT16 in kinds, "onnxsim.quantize_fp16(m)",
                  f"{len(kinds)} types of initialisers, {trial.counted(ops(made))}")


def quantised(tool):
    made = tool.package.quantize_dynamic(models.mlp())
    return yes_if(any("Integer" in name for name in ops(made)), "onnxsim.quantize_dynamic(m)",
                  trial.counted(ops(made)))


def opset(tool):
    made = tool.package.simplify(models.layer_norm(), target_opset_version=21)[0]
    found = [e.version for e in made.opset_import if e.domain in ("", "ai.onnx")]
    return yes_if(found == [21], "simplify(m, target_opset_version=21)", found)


def unused_output(tool):
    made = tool.package.simplify(models.parallel(), unused_output=["q", "r"])[0]
    return yes_if([o.name for o in made.graph.output] == ["p"] and len(ops(made)) == 2,
                  "simplify(m, unused_output=['q', 'r'])", trial.counted(ops(made)))


def printed(tool, *options):
    with folder() as place:
        onnx.save(models.long_one(30), place / "a.onnx")
        done = trial.run([PROGRAM, place / "a.onnx", place / "b.onnx", *options], cwd=place)
        return done.stdout


def table(tool):
    text = printed(tool)
    return yes_if("Erf" in text and "Original" in text, "onnxsim A B",
                  " ".join(text.split())[:200])


def predicted(tool):
    text = printed(tool)
    lines = [line for line in text.splitlines() if "MAC" in line or "FLOP" in line]
    return Cell(PARTLY if lines else NO, "multiply-adds and memory, no time" if lines else "",
                "onnxsim A B", "; ".join(lines)[:300])


def checked(tool):
    """Random inputs are compared; a user's rewriter that makes it wrong is noticed."""
    good = tool.package.simplify(models.conv_bn(), check_n=2)[1]

    def spoil(model):
        for node in model.graph.node:
            if node.op_type == "Relu":
                node.op_type = "Sigmoid"
        return model
    bad = tool.package.simplify(models.conv_bn(), check_n=2, custom_rewriter=spoil)[1]
    return yes_if(good and not bad, "simplify(m, check_n=2)", f"right {good}, wrong {bad}",
                  "`check_n`")


def compared(tool):
    from onnxsim import model_checking
    good = model_checking.compare(models.branches_by_hand(), models.branches(), n_times=2)
    before, after = pairs.wrong_pair()
    bad = model_checking.compare(after, before, n_times=2)
    return yes_if(good and not bad, "onnxsim.model_checking.compare", f"{good}, {bad}")


def certified(before, after):
    from onnxsim.certify import certify
    ranges = {v.name: (-1.0, 1.0) for v in before.graph.input}
    found = certify(before, after, input_ranges=ranges, total_timeout_ms=30000)
    return found.ok, "/".join(sorted(set(found.outputs.values())))


def proved(tool):
    cell = pairs.judged(certified, "onnxsim.certify.certify(a, b, input_ranges=)")
    cell.note += ", bounded inputs"
    return cell


def open_proof(tool):
    model = models.open_sizes()
    fine, said = certified(model, tool.package.simplify(model)[0])
    return yes_if(fine, "onnxsim.certify.certify, open sizes", said)


def kept_certificate(tool):
    """The verdict is kept in the model; is there what could be checked again?"""
    made = tool.package.simplify(models.conv_bn(), certify=True)[0]
    kept = {p.key: p.value for p in made.metadata_props if "certify" in p.key}
    text = json.dumps(kept)
    steps = "steps" in text or "proof\"" in text
    return Cell(YES if steps else NO, "", "simplify(m, certify=True), metadata_props", text[:300])


def counterexample(tool):
    from onnxsim.certify import certify
    before, after = pairs.wrong_pair()
    found = certify(before, after, input_ranges={"x": (-1.0, 1.0)}, total_timeout_ms=60000)

    def windows(some):
        for window in some:
            yield window
            yield from windows(window.children)
    shown = [w.counterexample for w in windows(found.windows) if w.counterexample]
    return yes_if("refuted" in found.outputs.values() and shown, "certify of a wrong pair",
                  f"{found.outputs}, {len(shown)} counterexamples")


def rule(pattern, replacement):
    head = '<domain: "r", opset_import: ["" : 17]> '
    return tuple(parser.parse_function(head + text) for text in (pattern, replacement))


def own_rules(tool):
    twice = rule("P (x) => (y) { a = Sin(x) y = Cos(a) }", "R (x) => (y) { y = Tan(x) }")
    model = models.make("float[2,4] x", "float[2,4] y", "a = Sin(x) b = Cos(a) y = Relu(b)")
    made = tool.package.simplify(model, function_rewrite_rules=[twice])[0]
    return yes_if(ops(made) == ["Tan", "Relu"], "simplify(m, function_rewrite_rules=[(p, r)])",
                  trial.counted(ops(made)))


def own_proved(tool):
    """A wrong rule of one's own: is it refused before it is applied?"""
    wrong = rule("P (x) => (y) { a = Neg(x) y = Exp(a) }", "R (x) => (y) { y = Exp(x) }")
    model = models.make("float[2,4] x", "float[2,4] y", "a = Neg(x) b = Exp(a) y = Relu(b)")
    made, fine = tool.package.simplify(model, function_rewrite_rules=[wrong], certify=True)
    checked = tool.package.simplify(model, function_rewrite_rules=[wrong], check_n=2)[1]
    applied = "Neg" not in ops(made)
    caught = not checked
    return Cell(PARTLY if applied and caught else NO if applied else YES,
                "its use is noticed by `check_n`" if applied and caught else "",
                "simplify with a wrong rule, certify=True; check_n=2",
                f"applied: {applied}; certify says {fine}, check_n {checked}")


def left_out(tool):
    made = tool.package.simplify(models.conv_bn(), skipped_optimizers=["fuse_bn_into_conv"])[0]
    return yes_if("BatchNormalization" in ops(made), "skipped_optimizers=['fuse_bn_into_conv']",
                  trial.counted(ops(made)))


def which_rule(tool):
    """The difference of the graphs, and a trace of the passes' times."""
    text = printed(tool, "--graph-diff", "--profile", "p.json")
    named = "fuse_" in text or "eliminate_" in text
    differs = "removed" in text.lower() or "changed" in text.lower()
    return Cell(YES if named else PARTLY if differs else NO,
                "" if named else "what changed, not which pass" if differs else "",
                "onnxsim A B --graph-diff --profile", " ".join(text.split())[-300:])


def json_report(tool):
    with folder() as place:
        onnx.save(models.long_one(30), place / "a.onnx")
        trial.run([PROGRAM, place / "a.onnx", place / "b.onnx", "--profile", place / "p.json"])
        made = glob.glob(f"{place}/*.json")
        if not made:
            return Cell(NO, "", "onnxsim A B --profile p.json", "no file")
        found = json.loads(open(made[0]).read())
        events = found["traceEvents"] if isinstance(found, dict) else found
        return Cell(PARTLY, "a trace of its passes' times", "onnxsim A B --profile p.json",
                    f"{len(events)} events")


def page(tool):
    """Of pictures there is one of node counts."""
    with folder() as place:
        onnx.save(models.long_one(30), place / "a.onnx")
        trial.run([PROGRAM, place / "a.onnx", place / "b.onnx", "--profile", place / "p.json",
                   "--node-reduction-plot", place / "n.png"])
        made = [p.name for p in place.iterdir() if p.suffix in (".png", ".html")]
        return Cell(PARTLY if made else NO, "a plot of node counts" if made else "",
                    "onnxsim A B --node-reduction-plot n.png", ", ".join(made) or "no file")


def statistics(tool):
    """Its model_info, on one model alone."""
    from onnxsim import model_info
    try:
        with heard() as text:
            made = model_info.ModelInfo(models.bert())
        found = {k: str(v)[:60] for k, v in vars(made).items()}
        return yes_if(found, "onnxsim.model_info.ModelInfo(m)", found or text.getvalue(),
                      "in Python")
    except Exception as problem:
        return Cell(NO, "", "onnxsim.model_info.ModelInfo(m)", first_line(problem))


def c_interface(tool):
    return runs.exports(tool, "onnxsim_simplify", "onnxsim_version", "OnnxsimSimplify")


PROBES = {
    "fix size": absent(r"dim.?param|named dim|dimension name|free.dimension"),
    "fix shape": fixed_shape, "external out": external_out, "to float16": to_float16,
    "quantise": quantised, "opset": opset, "outputs": unused_output, "predicted": predicted,
    "measured": absent(r"benchmark|latency|fastest|measured? time",
                       but=["measured making", "accuracy", "max_work"]),
    "check": checked, "compare": compared, "proof": proved, "open proof": open_proof,
    "certificate": kept_certificate, "counterexample": counterexample, "own rules": own_rules,
    "own proved": own_proved, "left out": left_out, "which rule": which_rule, "json": json_report,
    "html": page, "graphs": absent(r"html|svg", but=["https", "http"]),
    "explain": absent(r"explain|missed|opportunit", but=["loss of some optimization chances"]),
    "bisect": absent(r"bisect"), "table": table,
    "time": absent(r"time.?(limit|out|budget)|max.?time|seconds"),
    "memory": absent(r"memory.?(limit|budget)|max.?memory"),
    "progress": absent(r"progress|tqdm"), "stats": statistics,
    "gym": absent(r"gymnasium|reinforcement"), "c": c_interface,
}
