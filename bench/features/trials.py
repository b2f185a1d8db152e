"""Trials that are the same for all tools: a small model goes in, and what comes out is looked at."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import onnx
import onnx_ir

import models
import trial
from trial import NO, PARTLY, YES, Cell, best, counted, first_line, folder, ops, same, transformed

HERE = pathlib.Path(__file__).resolve().parent


def without(*names):
    return lambda model: not set(names) & set(ops(model))


def at_most(count, name):
    return lambda model: ops(model).count(name) <= count


def holds(*names):
    """Some node is one of these operators."""
    return lambda model: any(n.op_type in names for n in trial.all_nodes(model.graph))


def nothing_left(model):
    left = [name for name in ops(model) if name in models.NOTHING]
    if len(left) == len(models.NOTHING):
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
        fewer = len(ops(model)) < 6 and "Identity" not in ops(model)
        casts = sum(n.op_type == "Cast" for n in model.graph.node)
        return types == {wanted} and fewer and (casts == 0 or (casts == 1 and "constant not folded"))
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


def external_in(tool):
    model = models.mlp()
    with folder() as place:
        onnx.save(trial.copied(model), place / "a.onnx", save_as_external_data=True,
                  location="a.data", size_threshold=0)
        try:
            tool.path_to_path(place / "a.onnx", place / "b.onnx")
            wrong = same(model, onnx.load(place / "b.onnx"))
        except Exception as problem:
            wrong = first_line(problem)
    return Cell(NO if wrong else YES, "", "from path to path, weights in a.data", wrong or "the same")


def external_out(tool):
    """The result's weights lie in another file, and it computes the same."""
    model = models.mlp()
    with folder() as place:
        onnx.save(trial.copied(model), place / "a.onnx", save_as_external_data=True,
                  location="a.data", size_threshold=0)
        tool.path_to_path(place / "a.onnx", place / "b.onnx")
        beside = [p.name for p in place.iterdir() if p.name not in ("a.onnx", "a.data", "b.onnx")]
        size = (place / "b.onnx").stat().st_size
        wrong = same(model, onnx.load(place / "b.onnx"))
        fine = not wrong and beside and size < 8000
        return Cell(YES if fine else NO, "", "from path to path, weights in a.data",
                    f"b.onnx of {size} bytes, beside it {', '.join(beside) or 'nothing'}")


def size_limit(tool):
    """Folding would make 4 MB of 8 bytes; with the option (or by default) it does not."""
    cells = []
    for way in tool.limited:
        after = way.call(models.blown_up())
        size = after.ByteSize()
        cells.append(Cell(YES if size < 100_000 else NO, way.note, way.ran, f"{size} bytes"))
    return best(cells)


def others_results():
    """(name, original, result) of other optimisers, and of rewrites by hand."""
    import onnxsim
    import onnxslim
    from onnxscript import optimizer
    normed = models.conv_bn()
    yield "onnxsim, Conv+BatchNormalization", normed, onnxsim.simplify(normed)[0]
    model = models.shapes()
    yield "onnxslim, a flattening", model, onnxslim.slim(trial.copied(model))
    model = models.nothing_done()
    yield "onnxscript, what does nothing", model, optimizer.optimize(trial.copied(model))
    yield "by hand, x V + x W = x (V + W)", models.distributed(), models.distributed_by_hand()
    yield "by hand, Conv 3x3 and 1x1 joined", models.branches(), models.branches_by_hand()
    model = models.gelu()
    yield "onnxsim, GELU", model, onnxsim.simplify(model)[0]
    model = models.layer_norm()
    yield "onnxsim, LayerNormalization", model, onnxsim.simplify(model)[0]
    model = models.open_sizes()
    yield "onnxslim, open sizes", model, onnxslim.slim(trial.copied(model))


def judged(prover, ran):
    """How many of these pairs a prover proves: a function of two models to (proved, words)."""
    words, proved, count = [], 0, 0
    for name, before, after in others_results():
        count += 1
        try:
            fine, said = prover(before, after)
        except Exception as problem:
            fine, said = False, first_line(problem)
        proved += fine
        words.append(f"{name}: {said}")
    verdict = YES if proved == count else PARTLY if proved else NO
    return Cell(verdict, f"{proved} of {count} pairs", ran, "; ".join(words))


def wrong_pair():
    """An optimiser that took the wrong mean of a batch normalisation."""
    import onnxsim
    before = models.conv_bn()
    after = onnxsim.simplify(before)[0]
    for tensor in after.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor).copy()
        if array.shape == (6,):
            array += 0.25
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return before, after


def huge(tool):
    """Another process, so that its memory can be seen; written below $FEATURES_DIR."""
    with folder() as place:
        source, target = place / "large.onnx", place / "made.onnx"
        models.large(source)
        begun = time.time()
        code = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import tools; "
                "tools.TOOLS[sys.argv[2]]().path_to_path(*map(pathlib.Path, sys.argv[3:])); "
                "print('peak', max(int(l.split()[1]) for l in open('/proc/self/status') "
                "if l.startswith('VmHWM')) // 1024)")
        done = trial.python(code, HERE, tool.name, source, target, limit=400)
        seconds = time.time() - begun
        if not target.exists():
            said = (done.stderr.strip().splitlines() or ["no result"])[-1]
            return Cell(NO, "", "2.1 GB from path to path", f"status {done.returncode}: {said[:200]}")
        made = onnx.load(target, load_external_data=False)
        size = sum(p.stat().st_size for p in place.iterdir() if p.name not in
                   ("large.onnx", "large.data"))
        peak = done.stdout.split("peak ")[-1].strip() if "peak" in done.stdout else "?"
        fine = size > 2.0e9 and "Identity" not in ops(made)
        return Cell(YES if fine else NO, "", "2.1 GB from path to path",
                    f"{counted(ops(made))}; {size / 1e9:.1f} GB, {seconds:.0f} s, peak {peak} MB")


def hundred(tool, seed):
    code = ("import sys, onnx; sys.path.insert(0, sys.argv[1]); import models, tools, hashlib; "
            "way = tools.TOOLS[sys.argv[2]]().ways[0]; made = way.call(models.bert()); "
            "print('digest', hashlib.sha256(made.SerializeToString(deterministic=True)).hexdigest())")
    return trial.python(code, HERE, tool.name, env={**os.environ, "PYTHONHASHSEED": seed})


def deterministic(tool):
    digests = []
    for seed in ("0", "1", "2"):
        done = hundred(tool, seed)
        if "digest" not in done.stdout:
            return Cell(NO, "", tool.ways[0].ran, (done.stderr.strip() or "nothing")[-200:])
        digests.append(done.stdout.split("digest ")[1].strip())
    kinds = len(set(digests))
    return Cell(YES if kinds == 1 else NO, "", f"{tool.ways[0].ran} in three processes",
                f"{kinds} different result{'s' if kinds > 1 else ''}")


def command_line(tool):
    if not tool.program:
        return Cell(NO, "", "looked for a program in the package's entry points", "none")
    with folder() as place:
        onnx.save(models.gelu(), place / "a.onnx")
        done = trial.run(with_paths(tool, place / "a.onnx", place / "b.onnx"))
        made = (place / "b.onnx").exists() and done.returncode == 0
        return Cell(YES if made else NO, "", shown(tool),
                    f"status {done.returncode}, {'a' if made else 'no'} model")


def with_paths(tool, source, target):
    out = ["--output"] if "--input" in tool.program else []
    return [*tool.program, source, *out, target]


def shown(tool):
    command = [pathlib.Path(str(p)).name if "/" in str(p) else str(p) for p in tool.program]
    return " ".join(str(p) for p in with_paths(tool, "", "") and [*command, "A", "B"])


BROKEN = {"half a file": lambda whole: whole[:len(whole) // 2],
          "text": lambda whole: b"this is no model\n" * 20}


def broken(tool):
    """A truncated file, a text, and a graph with a value that nothing makes."""
    if not tool.program:
        return Cell(NO, "no program", "no command line to try", "")
    words, fine, failed = [], 0, 0
    dangling = models.mlp()
    dangling.graph.node[0].input[0] = "nowhere"
    cases = {name: cut(models.mlp().SerializeToString()) for name, cut in BROKEN.items()}
    cases["a dangling input"] = dangling.SerializeToString()
    with folder() as place:
        for name, data in cases.items():
            (place / "a.onnx").write_bytes(data)
            (place / "b.onnx").unlink(missing_ok=True)
            done = trial.run(with_paths(tool, place / "a.onnx", place / "b.onnx"))
            said = [line for line in done.stderr.splitlines() if line.strip()]
            failed += bool(done.returncode) and not (place / "b.onnx").exists()
            fine += done.returncode > 0 and len(said) == 1 and "Traceback" not in done.stderr
            words.append(f"{name}: status {done.returncode}, {len(said)} lines"
                         f"{', a model' if (place / 'b.onnx').exists() else ''}")
    if fine == len(cases):
        return Cell(YES, "", shown(tool), "; ".join(words))
    note = "an exit code, but a traceback" if failed == len(cases) else \
        f"{failed} of {len(cases)} end with an error"
    return Cell(PARTLY if failed == len(cases) else NO, note, shown(tool), "; ".join(words))


WORKS = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import tools; "
         "tool = tools.TOOLS[sys.argv[2]](); print('ready', flush=True); "
         "tool.usual(*map(pathlib.Path, sys.argv[3:]))")


def at_work(tool, source, target, seconds=None):
    """Seconds from its start to its end, or to its end after SIGINT; the exit status."""
    child = subprocess.Popen([sys.executable, "-c", WORKS, HERE, tool.name, source, target],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        child.stdout.readline()
        begun = time.time()
        if seconds:
            time.sleep(seconds)
            child.send_signal(signal.SIGINT)
        child.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
    return time.time() - begun, child.returncode


def interrupted(tool):
    """SIGINT after a quarter of the time that it takes, on a model that takes it long enough."""
    for nodes in (1000, 4000, 12000, 40000):
        with folder() as place:
            source, target = place / "a.onnx", place / "b.onnx"
            onnx.save(models.long_one(nodes), source)
            whole, _ = at_work(tool, source, place / "whole.onnx")
            if whole < 3:
                continue
            seconds, status = at_work(tool, source, target, whole / 4)
            ran = f"SIGINT after {whole / 4:.1f} of {whole:.1f} s, {nodes} nodes"
            found = f"ended after {seconds:.1f} s, status {status}"
            if not target.exists():
                return Cell(NO, "", ran, f"{found}, no model")
            left = len(ops(onnx.load(target)))
            found += f", a model of {left} nodes"
            if seconds > whole * 0.75:
                return Cell(NO, "goes on to the end", ran, found)
            return Cell(YES if left < nodes * 0.95 else NO, "", ran, found)
    return Cell(trial.UNCLEAR, "", "SIGINT", "too fast for all models")


def without_runtime(tool):
    """onnxruntime cannot be imported."""
    code = ("import sys; sys.modules['onnxruntime'] = None; sys.path.insert(0, sys.argv[1]); "
            "import models, tools; made = tools.TOOLS[sys.argv[2]]().ways[0].call(models.mlp()); "
            "made = tools.TOOLS[sys.argv[2]]().ways[0].call(models.constants()); "
            "print('nodes', len(made.graph.node))")
    done = trial.python(code, HERE, tool.name)
    fine = "nodes 1" in done.stdout
    if done.returncode == 0 and not fine:
        return Cell(PARTLY, "constants are not folded", "onnxruntime made not importable",
                    done.stdout.strip().splitlines()[-1])
    said = done.stdout.strip().splitlines()[-1:] if done.returncode == 0 else \
        (done.stderr.strip().splitlines() or ["nothing"])[-1:]
    return Cell(YES if fine else NO, "", "onnxruntime made not importable", "".join(said)[:200])


def standard_only(tool):
    """One of the ways that fuse must be able to leave it at ONNX's own operators."""
    model = models.long_one(60)
    return transformed(tool, model, fewer_than(len(ops(model))))


def typed_package(tool):
    """The marker of typed packages, and annotations of all parameters."""
    import inspect
    where = pathlib.Path(tool.package.__file__).parent
    marked = (where / "py.typed").exists()
    given = inspect.signature(tool.described[0]).parameters.values()
    known = sum(p.annotation is not inspect.Parameter.empty for p in given)
    found = f"py.typed: {'yes' if marked else 'no'}; {known} of {len(given)} parameters annotated"
    verdict = YES if marked and known == len(given) else PARTLY if marked or known > len(given) / 2 \
        else NO
    note = "" if verdict != PARTLY else "annotations, no `py.typed`" if not marked else \
        "not all parameters"
    return Cell(verdict, note, f"{where.name}/py.typed, {tool.described[0].__qualname__}", found)


def exports(tool, *symbols):
    """Shared libraries of the package that have a C function."""
    import ctypes
    where = pathlib.Path(tool.package.__file__).parent
    tried = sorted(where.rglob("*.so*"))
    for path in tried:
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for symbol in symbols:
            if hasattr(library, symbol):
                return Cell(YES, "", f"ctypes, {path.name}", symbol)
    return Cell(NO, "", f"ctypes, {len(tried)} libraries of the package", f"no {' '.join(symbols)}")


TRIALS = {key: transformation(key) for key in TRANSFORMED}
TRIALS |= {kind: accepts(kind) for kind in ("path", "bytes", "proto", "onnx_ir")}
TRIALS |= {
    "equal weights": or_partly(models.twin_weights, lambda: models.twin_weights(16), one_weight,
                               "small ones"),
    "conv scale": or_partly(models.conv_scale, models.conv_scalar, without("Mul", "Add"),
                            "only scalars")}
TRIALS |= {"external out": external_out, "size limit": size_limit, "unchanged": unchanged, "custom": custom_carried, "overridable": overridable,
           "external in": external_in, "huge": huge, "deterministic": deterministic,
           "program": command_line, "broken": broken, "interrupt": interrupted,
           "no runtime": without_runtime, "standard": standard_only, "types": typed_package}
