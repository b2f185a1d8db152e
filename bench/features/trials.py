"""Trials that are the same for all tools: a small model goes in, what comes out is looked at."""
import onnx
import onnx_ir

import models
import runs
import trial
from trial import NO, PARTLY, YES, Cell, best, first_line, folder, ops, same, transformed


def without(*names):
    return lambda model: not set(names) & set(ops(model))


def at_most(count, name):
    return lambda model: ops(model).count(name) <= count


def holds(*names):
    """Some node is one of these operators."""
    return lambda model: any(n.op_type in names for n in trial.all_nodes(model.graph))


def nothing_left(model):
    left = [name for name in ops(model) if name in models.NOTHING]
    if set(left) == set(models.NOTHING):
        return False
    return True if not left else f"leaves {', '.join(sorted(set(left)))}"


def smaller_body(before):
    """In all bodies: what does nothing is gone, the constant folded, equal nodes merged."""
    def inside(model):
        return [n.op_type for n in trial.all_nodes(model.graph)]

    def passed(model):
        found, given = inside(model), inside(before)
        done = [what for what, name in (("what does nothing", "Identity"), ("constants", "Sqrt"),
                                        ("equal nodes", "Exp"))
                if found.count(name) <= (given.count(name) // 2 if name == "Exp" else
                                         given.count("Loop") if name == "Identity" else 0)]
        return True if len(done) == 3 else f"only {', '.join(done)}" if done else False
    return passed


def cheaper_chain(model):
    """The matrix is multiplied with the vector first: no product of two matrices is left."""
    inferred = onnx.shape_inference.infer_shapes(model)
    sizes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
             for v in [*inferred.graph.value_info, *inferred.graph.output, *inferred.graph.input]}
    products = [sizes.get(n.output[0]) for n in model.graph.node if n.op_type in ("MatMul", "Gemm")]
    return bool(products) and [128, 128] not in products


def one_product(model):
    return sum(any(word in name for word in ("MatMul", "Gemm", "Conv"))
               for name in ops(model)) <= 1


def fewer_than(count):
    return lambda model: not trial.domains(model) and len(ops(model)) < count


def one_weight(model):
    return sum(len(t.dims) == 2 for t in model.graph.initializer) \
        + sum(len(n.attribute[0].t.dims) == 2 for n in model.graph.node
              if n.op_type == "Constant") == 1


def function_smaller(model):
    inner = [n.op_type for f in model.functions for n in f.node]
    return (ops(model) + inner).count("Tanh") * (2 if model.functions else 1) <= 2 \
        and "Identity" not in ops(model) + inner


def still_function(model):
    return bool(model.functions) and "Twice" in ops(model) and function_smaller(model)


def dynamic(model):
    named = [[d.dim_param for d in v.type.tensor_type.shape.dim][:2]
             for v in [*model.graph.input, *model.graph.output]]
    if ops(model).count("Exp") > 1 and ops(model).count("Add") > 1:
        return False
    if all(named[0]) and all(named[1]):
        return True if named[0] == named[1] == ["batch", "length"] else "renamed"
    return "not named at the output" if all(named[0]) else False


def no_doubles(model):
    return ops(model).count("Exp") + ops(model).count("Relu") < 3 and "Identity" not in ops(model)


def same_type(kind):
    wanted = getattr(onnx.TensorProto, kind.upper())

    def passed(model):
        types = {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
        names = ops(model)
        if types != {wanted} or "Identity" in names:
            return False
        casts = names.count("Cast")
        left = [words for words, so in (("constant not folded", casts == 1),
                                        ("casts are added", casts > 1),
                                        ("equal nodes stay", names.count("Relu") > 1)) if so]
        return True if not left else ", ".join(left) if len(left) == 1 else False
    return passed


def quantised_kept(model):
    names = ops(model)
    if {"Identity", "Transpose"} & set(names):
        return False
    if "QuantizeLinear" in names and "MatMul" in names:
        return True
    return "into QLinear operators" if any(n.startswith("QLinear") for n in names) else False


def names_kept(model):
    heads = [n for n in model.graph.node if n.op_type == "Softmax"]
    if "Identity" in ops(model) or not heads:
        return False
    lost = [what for what, kept in (
        ("names", heads[0].name == "head/softmax"), ("doc strings", heads[0].doc_string),
        ("metadata", any(p.key == "author" for p in model.metadata_props))) if not kept]
    return True if not lost else f"loses {', '.join(lost)}" if len(lost) < 3 else False


FUSED = ("Gelu", "FastGelu", "BiasGelu")
NORMS = ("LayerNormalization", "SkipLayerNormalization")
ATTENTION = ("Attention", "MultiHeadAttention")
# key: ([models], what the result must be[, more for `transformed`])
TRANSFORMED = {
    "constants": ([models.constants], without("Add")),
    "shapes": ([models.shapes], without("Shape", "Gather", "Concat", "Unsqueeze")),
    "open shapes": ([lambda: models.shapes("batch")], without("Shape", "Gather", "Concat",
                                                              "Unsqueeze"), {"sizes": (2, 5)}),
    "equal nodes": ([models.equal_nodes], at_most(1, "Exp")),
    "dead": ([models.dead], without("Mul", "Exp")),
    "nothing": ([models.nothing_done], nothing_left),
    "constant if": ([models.constant_if], without("If")),
    "batch norm": ([models.conv_bn], without("BatchNormalization")),
    "linear": ([models.linear], holds("Gemm")),
    "branches": ([models.branches], at_most(1, "Conv")),
    "parallel": ([models.parallel, lambda: models.parallel(4)], one_product),
    "chain": ([models.chain], cheaper_chain),
    "distributed": ([models.distributed], one_product),
    "gelu": ([models.gelu, lambda: models.gelu(20)], holds(*FUSED)),
    "layer norm": ([models.layer_norm, lambda: models.layer_norm(20)], holds(*NORMS)),
    "attention": ([models.bert, lambda: models.attention(17), lambda: models.attention(23)],
                  holds(*ATTENTION)),
    "if": ([models.branch_bodies], None),
    "loop": ([models.loop_body], None),
    "scan": ([models.scan_body], None),
    "functions": ([models.function], function_smaller),
    "functions stay": ([models.function], still_function),
    "open sizes": ([models.open_sizes], dynamic, {"sizes": (2, 5)}),
    "oldest": ([models.oldest], no_doubles),
    "newest": ([models.newest], no_doubles),
    "bfloat16": ([lambda: models.typed("bfloat16")], same_type("bfloat16"), {"tolerance": 4e-2}),
    "float16": ([lambda: models.typed("float16")], same_type("float16"), {"tolerance": 1e-2}),
    "qdq": ([models.quantised], quantised_kept, {"tolerance": 0.11}),
    "names": ([models.named], names_kept),
}


def transformation(key):
    builders, passed, *more = TRANSFORMED[key]

    def tried(tool):
        cells = []
        for build in builders:
            model = build()
            wanted = passed or smaller_body(model)
            cells.append(transformed(tool, model, wanted, **(more[0] if more else {})))
            if cells[-1].verdict == YES:
                break
        return best(cells)
    return tried


def or_partly(whole, part, passed, words):
    """A model that is harder, and one that is simpler: what does only the latter does it partly."""
    def tried(tool):
        cell = transformed(tool, whole(), passed)
        if cell.verdict == YES:
            return cell
        less = transformed(tool, part(), passed)
        note = ", ".join(x for x in (words, less.note) if x)
        return best([cell, Cell(PARTLY, note, less.ran, f"{words}: {less.found}")
                     if less.verdict == YES else less])
    return tried


def accepts(kind):
    """A model of a kind is given to each of the tool's functions."""
    def tried(tool):
        model = models.equal_nodes()
        cells = []
        with folder() as place:
            onnx.save(model, place / "model.onnx")
            if kind == "onnx_ir":
                given = onnx_ir.from_proto(model)
            else:
                given = {"path": str(place / "model.onnx"), "bytes": model.SerializeToString(),
                         "proto": model}[kind]
            for name, function in tool.mains:
                ran = f"{name}({kind})"
                try:
                    made = function(given)
                except Exception as problem:
                    cells.append(Cell(NO, "", ran, first_line(problem)))
                    continue
                made = made if made is not None else given
                found = type(made).__module__ + "." + type(made).__name__
                note = "" if not cells or len(tool.mains) == 1 else f"`{name.split('.')[-1]}`"
                cells.append(Cell(YES, note, ran, f"returned {found}"))
        return best(cells)
    return tried


def unchanged(tool):
    cells = []
    for name, function in tool.mains:
        model = models.open_sizes()
        before = model.SerializeToString(deterministic=True)
        try:
            function(model)
        except Exception:  # it takes no such model
            continue
        kept = model.SerializeToString(deterministic=True) == before
        cells.append(Cell(YES if kept else NO, "", f"{name}(proto)",
                          "the same bytes after" if kept else "other bytes after"))
        ir_model = onnx_ir.from_proto(models.open_sizes())
        nodes = onnx_ir.to_proto(ir_model).graph.node
        try:
            function(ir_model)
        except Exception:
            continue
        if onnx_ir.to_proto(ir_model).graph.node != nodes:
            cells[-1] = Cell(PARTLY if kept else NO, "an `onnx_ir.Model` is changed", name,
                             "other nodes after")
    return best(cells)


def custom_carried(tool):
    def passed(model):
        kept = [n for n in model.graph.node if n.op_type == "Magic"]
        return len(kept) == 1 and kept[0].domain == "my.custom" and len(kept[0].attribute) == 2 \
            and no_doubles(model)
    return transformed(tool, models.custom(), passed, compare=False)


def overridable(tool):
    """Run with another value of the input that has a default; the result must follow."""
    model = models.overridable()
    given = trial.feeds_of(model)
    given["w"] = models.weights(9, 4)
    cells = []
    for way in tool.ways:
        try:
            after = way.call(trial.copied(model))
        except Exception as problem:
            cells.append(Cell(NO, "", way.ran, first_line(problem)))
            continue
        wrong = same(model, after, feeds=given)
        cells.append(Cell(NO if wrong else YES, way.note, way.ran, wrong or "follows its input"))
        if not wrong:
            break
    return best(cells)


def size_limit(tool):
    """Folding would make 4 MB of 8 bytes; with the option (or by default) it does not."""
    cells = []
    for way in tool.limited:
        after = way.call(models.blown_up())
        size = after.ByteSize()
        cells.append(Cell(YES if size < 100_000 else NO, way.note, way.ran, f"{size} bytes"))
    return best(cells)


def standard_only(tool):
    """One of the ways that fuse must be able to leave it at ONNX's own operators."""
    model = models.long_one(60)
    return transformed(tool, model, fewer_than(len(ops(model))))


TRIALS = {key: transformation(key) for key in TRANSFORMED}
TRIALS |= {kind: accepts(kind) for kind in ("path", "bytes", "proto", "onnx_ir")}
TRIALS |= {
    "equal weights": or_partly(models.twin_weights, lambda: models.twin_weights(16), one_weight,
                               "small ones"),
    "conv scale": or_partly(models.conv_scale, models.conv_scalar, without("Mul", "Add"),
                            "only scalars")}
TRIALS |= {
    "external in": runs.external_in, "external out": runs.external_out, "huge": runs.huge,
    "size limit": size_limit, "unchanged": unchanged, "custom": custom_carried,
    "overridable": overridable, "deterministic": runs.deterministic,
    "program": runs.command_line, "broken": runs.broken, "interrupt": runs.interrupted,
    "no runtime": runs.without_runtime, "standard": standard_only, "types": runs.typed_package}
