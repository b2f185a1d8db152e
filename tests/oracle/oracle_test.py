#!/usr/bin/env python3
"""Every operator against independent oracles.

  python oracle_test.py random REGRAFT [--cases N] [--seed N] [--type T]
  python oracle_test.py stored REGRAFT [--data DIR]
  python oracle_test.py generated REGRAFT
  python oracle_test.py faults REGRAFT [--cases N] [--seed N] [--type T]

random: one-node models with random shapes and attributes at many opsets, against ONNX's reference
evaluator, or onnxruntime where that one cannot run the version or differs. stored: the models and outputs that
ONNX distributes for its backends. generated: the same for the node tests that the installed ONNX
package makes itself, which has newer opsets. All fail on wrong numbers, and random when an ONNX type
that regraft lists is never understood. faults: plants faults in what is expected (an attribute forgotten, an
operand ignored, another operator): the random cases must tell each of them from what regraft computes.
"""
import argparse
import collections
import dataclasses
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.version_converter  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import cases  # noqa: E402
import cases_layers  # noqa: E402 F401: registers its cases
import cases_movement  # noqa: E402 F401
import cases_onnxruntime  # noqa: E402

# Largest error allowed, over the largest magnitude of the output (at least 1).
TOLERANCE = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-5, np.dtype(np.float16): 4e-3}
STORED_TOLERANCE = {"float16": 4e-3, "bfloat16": 2e-2}  # of the rounding of each step; else:
STORED_TOLERANCE_ELSE = 1e-4
onnxruntime.set_default_logger_severity(4)
DEFAULT_DATA = "/usr/share/libonnx-testdata/data"


def listed_types():
    """The ONNX types that the operator files say they are imported from."""
    types = set()
    for path in sorted((venv.ROOT / "ir/ops").rglob("*.[ch]*")):
        for names in re.findall(r"onnx\[\] = \{([^}]*)\}", path.read_text()):
            types |= set(re.findall(r'"([\w.:]+)"', names))
    assert len(types) > 20, "the operator files are not written as expected"
    return types


def evaluate(regraft, jobs):
    """Runs `regraft eval` over (model, inputs, outputs) triples; returns its line for each."""
    for _, _, out in jobs:
        out.mkdir(parents=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.writelines("\t".join(map(str, job)) + "\n" for job in jobs)
        listing.flush()
        run = subprocess.run([regraft, "eval", "--list", listing.name], capture_output=True,
                             text=True, timeout=500)
    lines = run.stdout.splitlines()
    if run.returncode != 0 or len(lines) != len(jobs):
        sys.exit(f"regraft eval: exit {run.returncode}, {len(lines)} lines for {len(jobs)} models\n"
                 + run.stderr[-2000:])
    return lines


def write_tensors(folder, stem, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for k, array in enumerate(arrays):
        tensor = array if isinstance(array, onnx.TensorProto) else \
            numpy_helper.from_array(np.asarray(array))
        (folder / f"{stem}_{k}.pb").write_bytes(tensor.SerializeToString())


def read_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def difference(actual, expected, tolerance):
    """None when equal within the tolerance, else what is wrong, in words."""
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, expected {list(expected.shape)}"
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    if expected.size == 0:
        return None
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isfinite(actual), np.isfinite(expected)):
        return "infinite or undefined in different places"
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return "different infinities"
    if not finite.any():
        return None
    actual, expected = actual[finite], expected[finite]
    error = np.abs(actual - expected).max() / max(1.0, np.abs(expected).max())
    return None if error <= tolerance else f"relative error {error:.2e}"


def self_test():
    """The comparison itself must see each kind of fault."""
    one = np.ones((2, 3), np.float32)
    assert difference(one, one, 1e-5) is None
    for fault in (one + np.float32(1e-4), one[:1], one.astype(np.float64), one * np.inf, one * np.nan):
        assert difference(fault, one, 1e-5), fault
    assert difference(-one * np.inf, one * np.inf, 1e-5)


# Planted faults.

# What an attribute says that something else says as well.
WITHOUT_EFFECT = {
    ("com.microsoft:FusedConv", "forgets kernel_shape"): "the weight's shape",
    ("com.microsoft:BiasSoftmax", "forgets is_inner_broadcast"): "the bias' shape",
    ("com.microsoft:RotaryEmbedding", "forgets rotary_embedding_dim"): "the shapes of the tables",
    ("Conv", "forgets kernel_shape"): "the weight's shape",
    ("ConvTranspose", "forgets kernel_shape"): "the weight's shape",
    ("Dropout", "forgets ratio"): "that nothing is trained",
    ("EyeLike", "ignores operand 0"): "the operand's shape",
    ("EyeLike", "reads operand 0 backwards"): "the operand's shape",
    ("RotaryEmbedding", "forgets rotary_embedding_dim"): "the shapes of the tables",
    ("Split", "forgets num_outputs"): "the number of outputs",
}


def faults_of(kind, case):
    """(name, faulty case) pairs: a formula with such a mistake."""
    for name in sorted(case.attributes):
        rest = {k: v for k, v in case.attributes.items() if k != name}
        yield f"forgets {name}", dataclasses.replace(case, attributes=rest)
    for k, x in enumerate(case.inputs):
        if x is None or k in case.constants or x.dtype.kind not in "fb" or x.size == 0:
            continue
        backwards = x[::-1].copy() if x.ndim else np.array(x + 1 if x.dtype.kind == "f" else ~x)
        other = [y if j != k else backwards for j, y in enumerate(case.inputs)]
        yield f"reads operand {k} backwards", dataclasses.replace(case, inputs=other)
        other = [y if j != k else np.ones_like(x) for j, y in enumerate(case.inputs)]
        yield f"ignores operand {k}", dataclasses.replace(case, inputs=other)


def faults_test(args):
    """For each fault of each operator some random case has another result; rare ones need more cases."""
    listed_types()
    found = collections.defaultdict(set)
    kinds = [args.type] if args.type else sorted(cases.CASES)
    unseen = []
    for count in (args.cases, 10 * args.cases):
        plant_faults(args, kinds, count, found)
        unseen = [k for k, v in sorted(found.items()) if "seen" not in v and k not in WITHOUT_EFFECT]
        kinds = sorted({kind for kind, _ in unseen})
    seen = sum("seen" in v for v in found.values())
    print(f"{seen} of {len(found)} planted faults seen, in {len({k for k, _ in found})} operators")
    return [f"{kind}: no case sees a formula that {name}" for kind, name in unseen]


def plant_faults(args, kinds, count, found):
    """Adds "made" or "seen" to what is found of each (operator, fault)."""
    if not kinds:
        return
    with tempfile.TemporaryDirectory() as folder:
        root, made = pathlib.Path(folder), {}
        for kind, number in itertools.product(kinds, range(count)):
            case, opset = make_case(kind, number, args.seed)
            where = root / f"{kind}_{number}"
            write_tensors(where / "in", "input", feeds_of(case).values())
            (where / "model.onnx").write_bytes(one_node_model(kind, case, opset).SerializeToString())
            made[kind, number] = (where, opset, case)
        lines = evaluate(args.regraft, [(w / "model.onnx", w / "in", w / "out")
                                        for w, *_ in made.values()])
        for ((kind, _), (where, opset, case)), line in zip(made.items(), lines):
            for name, faulty in faults_of(kind, case) if line.startswith("ok") else ():
                if "seen" in found.get((kind, name), ()):
                    continue
                try:
                    outputs = faulty_outputs(kind, faulty, opset)
                except Exception:
                    continue  # a fault that is not even well formed
                if outputs is not None:
                    found[kind, name].add("seen" if mismatch(line, where, outputs) else "made")


def faulty_outputs(kind, faulty, opset):
    """Of ONNX's reference, or of onnxruntime for what the standard does not have."""
    model, feeds = one_node_model(kind, faulty, opset), feeds_of(faulty)
    outputs = reference_outputs(model, feeds)
    standard = ":" not in kind and kind != "SimplifiedLayerNormalization"
    return outputs if outputs is not None or standard else runtime_outputs(model, feeds)


def feeds_of(case):
    return {f"x{k}": x for k, x in enumerate(case.inputs)
            if x is not None and k not in case.constants}


# Random cases.

def one_node_model(kind, made, opset):
    names = ["" if x is None else f"x{k}" for k, x in enumerate(made.inputs)]
    outputs = ["" if k in made.unnamed else f"y{k}" for k in range(made.outputs)]
    domain, _, name = kind.rpartition(":")
    typed = {name: x for name, x in zip(names, made.inputs) if x is not None}
    constants = {f"x{k}" for k in made.constants}
    info = lambda name, x: helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(made.result or
                                                       made.inputs[made.typed_by].dtype))
    graph = helper.make_graph(
        [helper.make_node(name, names, outputs, domain=domain, **made.attributes)], "one",
        [info(n, x) for n, x in typed.items() if n not in constants],
        [helper.make_tensor_value_info(name, element, None) for name in outputs if name],
        [numpy_helper.from_array(x, n) for n, x in typed.items() if n in constants])
    sets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=sets)
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model)


def reference_outputs(model, feeds):
    """Of ONNX's reference evaluator; None when it cannot run the model."""
    try:
        return ReferenceEvaluator(model, new_ops=cases_onnxruntime.REFERENCES).run(None, feeds)
    except Exception:
        return None


def runtime_outputs(model, feeds):
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception:
        return None


def make_case(kind, number, seed):
    function, first, last = cases.CASES[kind]
    rng = np.random.default_rng([seed, number, *kind.encode()])
    opset = int(rng.choice([o for o in cases.OPSETS if first <= o <= last]))
    made = function(rng, opset)
    element = np.float64 if rng.random() < 0.5 else np.float32
    keep = made.constants if kind in ("Resize", "Upsample", "CastLike") else ()  # of a type of their own
    made.inputs = [x.astype(element) if x is not None and x.dtype == np.float64 and k not in keep
                   else x for k, x in enumerate(made.inputs)]
    return made, opset


def random_test(args):
    listed = listed_types()
    problems = []
    for kind in sorted((listed | {args.type or "Add"}) - cases.CASES.keys()):
        if not cases.register_by_schema(kind):
            problems.append(f"{kind}: has required attributes, so it needs cases in cases.py")
    kinds = [args.type] if args.type else sorted(cases.CASES)
    with tempfile.TemporaryDirectory() as folder:
        root, made = pathlib.Path(folder), {}
        for kind, number in itertools.product(kinds, range(args.cases)):
            case, opset = make_case(kind, number, args.seed)
            model = one_node_model(kind, case, opset)
            where = root / f"{kind}_{number}"
            feeds = feeds_of(case)
            write_tensors(where / "in", "input", feeds.values())
            (where / "model.onnx").write_bytes(model.SerializeToString())
            made[kind, number] = (where, model, feeds, opset, case)
        lines = evaluate(args.regraft, [(w / "model.onnx", w / "in", w / "out")
                                        for w, *_ in made.values()])
        tally = collections.defaultdict(collections.Counter)
        for key, line in zip(made, lines):
            verdict, problem = judge(line, *made[key])
            tally[key[0]][verdict] += 1
            if problem:
                problems.append(f"{key[0]} case {key[1]} seed {args.seed}: {problem}")
    for kind in kinds:
        counts = tally[kind]
        print(f"{kind:20} " + "  ".join(f"{counts[v]} {v}" for v in
              ("reference", "onnxruntime", "opaque", "no oracle", "wrong") if counts[v]))
        if counts["reference"] + counts["onnxruntime"] == 0 and kind in listed:
            problems.append(f"{kind}: listed, but not understood in any of {args.cases} cases")
    agreed = sum(c["reference"] + c["onnxruntime"] for c in tally.values())
    print(f"{agreed} of {len(made)} cases agree, {len(problems)} problems, seed {args.seed}")
    return problems


def judge(line, where, model, feeds, opset, case):
    """(oracle or reason, problem or None) for one case. Where the two oracles differ with each
    other (the reference evaluator is wrong for some old versions), agreeing with onnxruntime counts,
    and is shown as such."""
    if line.startswith("opaque"):
        return "opaque", None
    expected = {"reference": reference_outputs(model, feeds)}
    wrong = mismatch(line, where, expected["reference"])
    if wrong:
        expected["onnxruntime"] = runtime_outputs(model, feeds)
        if all(outputs is None for outputs in expected.values()):
            return "no oracle", None
        if not mismatch(line, where, expected["onnxruntime"]):
            return "onnxruntime", None
        described = f"opset {opset}, {case.attributes}, shapes " + str(
            [None if x is None else list(x.shape) for x in case.inputs])
        return "wrong", f"{wrong}; {described}"
    return "reference", None


def mismatch(line, where, expected):
    """None when what was written equals `expected`, else what is wrong."""
    if not line.startswith("ok"):
        return line
    if expected is None:
        return "no expected outputs"
    for k, value in enumerate(np.asarray(v) for v in expected):
        path = where / f"out/output_{k}.pb"
        if not path.exists():
            return f"output {k} was not written"
        wrong = difference(read_tensor(path), value, TOLERANCE.get(value.dtype, 0))
        if wrong:
            return f"output {k}: {wrong}"
    return None


# Stored models and outputs.

def with_constant_inputs(model, inputs):
    """The model with all graph inputs but the first, and shape-like first ones, as initialisers."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    given = {i.name for i in fixed.graph.initializer}
    free = [i for i in fixed.graph.input if i.name not in given]
    keep = []
    for k, (info, array) in enumerate(zip(free, inputs)):
        if k == 0:
            keep.append(array)
            continue
        fixed.graph.initializer.append(numpy_helper.from_array(array, info.name))
        fixed.graph.input.remove(info)
    return fixed, keep


def has_its_types(model, folder):
    """The stored tensors are of the types that the model says; bfloat16 is stored as integers."""
    for stem, values in (("input", model.graph.input), ("output", model.graph.output)):
        for k, value in enumerate(values):
            path, tensor = folder / f"{stem}_{k}.pb", onnx.TensorProto()
            if not path.exists() or not value.type.HasField("tensor_type"):
                continue
            tensor.ParseFromString(path.read_bytes())
            if tensor.data_type != value.type.tensor_type.elem_type:
                return False
    return True


def stored_jobs(data, root):
    """Each model with its first data set as it is, with all inputs but the first constant, and (when
    it is older than what regraft reads) converted to opset 9."""
    for path in sorted(data.glob("*/*/model.onnx")):
        sets = sorted(path.parent.glob("test_data_set_*"))
        if not sets or not has_its_types(onnx.load(path, load_external_data=False), sets[0]):
            continue
        yield path, path, sets[0], sets[0]
        try:
            model = onnx.load(path)
            files = sorted(sets[0].glob("input_*.pb"), key=lambda p: int(re.findall(r"\d+", p.name)[0]))
            arrays = [read_tensor(p) for p in files]
            fixed, kept = with_constant_inputs(model, arrays)
            if any(o.domain == "" and o.version < 7 for o in model.opset_import):
                fixed = onnx.version_converter.convert_version(model, 9)
                kept = arrays
        except Exception:  # sequences, optionals, files without data
            continue
        if len(kept) == len(arrays) and fixed.opset_import == model.opset_import:
            continue
        where = root / f"{path.parent.parent.name}_{path.parent.name}"
        write_tensors(where / "in", "input", kept)
        (where / "model.onnx").write_bytes(fixed.SerializeToString())
        yield path, where / "model.onnx", where / "in", sets[0]


def compare_stored(expected_folder, out):
    for path in sorted(expected_folder.glob("output_*.pb")):
        actual = out / path.name
        if not actual.exists():
            return f"{path.name} was not written"
        try:
            made, value = read_tensor(actual), read_tensor(path)
            wrong = difference(made, value, STORED_TOLERANCE.get(str(value.dtype),
                                                                 STORED_TOLERANCE_ELSE))
        except ValueError:
            wrong = "does not hold a tensor"
        if wrong:
            return f"{path.name}: {wrong}"
    return None


def stored_test(args):
    data = pathlib.Path(args.data)
    if not data.exists():
        venv.skip(f"no {data}; install libonnx-testdata")
    return judge_stored(args, data)


def write_generated(root):
    """The node tests of the installed ONNX package, laid out as ONNX distributes them; without those
    on sequences, optionals and maps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        tests = collect_testcases(None)
    for test in tests:
        if test.model is None or not test.data_sets:
            continue
        values = [v for part in test.data_sets[0] for v in part]
        if not all(isinstance(v, (np.ndarray, np.generic, onnx.TensorProto)) for v in values):
            continue
        folder = root / "node" / test.name / "test_data_set_0"
        for stem, part in zip(("input", "output"), test.data_sets[0]):
            write_tensors(folder, stem, part)
        (folder.parent / "model.onnx").write_bytes(test.model.SerializeToString())


def generated_test(args):
    with tempfile.TemporaryDirectory() as folder:
        write_generated(pathlib.Path(folder))
        return judge_stored(args, pathlib.Path(folder))


def judge_stored(args, data):
    listed, problems = listed_types(), []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        jobs = list(stored_jobs(data, root))
        outputs = [root / f"out_{k}" for k in range(len(jobs))]
        lines = evaluate(args.regraft, [(model, inputs, out) for (_, model, inputs, _), out
                                        in zip(jobs, outputs)])
        covered, touched, types_covered = set(), set(), collections.Counter()
        for (path, model, _, expected), out, line in zip(jobs, outputs, lines):
            nodes = onnx.load(path, load_external_data=False).graph.node
            kinds = {f"{n.domain}:{n.op_type}" if n.domain else n.op_type for n in nodes}
            if kinds and kinds <= listed:
                touched.add(path)
            if not line.startswith("ok") or line.split()[1] == "0":
                continue
            wrong = compare_stored(expected, out)
            if wrong:
                problems.append(f"{path.relative_to(data)}: {wrong}")
            elif path not in covered:
                covered.add(path)
                types_covered.update(kinds)
    total = len({path for path, *_ in jobs})
    for kind, count in sorted(types_covered.items()):
        print(f"{kind:20} {count} models")
    print(f"covered {len(covered)} of {total} models; {len(covered & touched)} of the "
          f"{len(touched)} whose node types are all listed; {len(problems)} problems")
    if os.environ.get("REGRAFT_ORACLE_UNCOVERED"):
        for path in sorted(touched - covered):
            print("not covered:", path.relative_to(data))
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["random", "stored", "generated", "faults"])
    parser.add_argument("regraft")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--type")
    parser.add_argument("--data", default=DEFAULT_DATA)
    args = parser.parse_args()
    self_test()
    part = {"random": random_test, "stored": stored_test, "generated": generated_test,
            "faults": faults_test}[args.part]
    problems = part(args)
    for problem in problems[:60]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
