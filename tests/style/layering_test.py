#!/usr/bin/env python3
"""Checks the source tree against the architecture of docs/design.md: which room may include which,
that the folders of a room do not include each other in a circle, which room may use which third party,
sizes, what Python files import, that no two types of a namespace share a name, and that every test is
registered.

  python3 tests/style/layering_test.py [SOURCE_DIR]

Plain Python. First proves on made-up trees that each check can fail.
"""
import pathlib
import re
import statistics
import sys
import tempfile

LOWER = {"base", "ir"}
MAY_INCLUDE = {
    "base": set(),
    "fleet": {"base"},
    "ir": {"base"},
    "io": LOWER,
    "gen": LOWER,
    "verify": LOWER,
    "substitutions": LOWER,
    "cost": LOWER,
    "rewrite": LOWER | {"substitutions", "cost"},
    "certify": LOWER | {"io", "verify", "substitutions", "cost", "rewrite"},
    "rl": LOWER | {"rewrite", "cost", "substitutions"},
}
# Folders that see less than their room: what their headers may start with.
FOLDER_MAY_INCLUDE = {
    "verify/kernel": ("verify/kernel/", "ir/algebra/formula.h", "ir/algebra/real_expression.h",
                      "ir/algebra/tree/syntax.h", "ir/rule/rule.h"),
}
ROOMS = [*MAY_INCLUDE, "cli", "python"]
PYTHON_MAY_IMPORT = {"regraft", "numpy", "onnx", "onnx_ir", "onnxruntime", "openvino", "tqdm",
                     "gymnasium", "ray", "sb3_contrib", "stable_baselines3", "torch", "torch_geometric"}
# Installed side by side, in one folder.
BESIDE = {"cli/library/regraft_env.h": "regraft.h"}
# Start of an included header -> files (path prefixes) that may include it.
THIRD_PARTY = {
    "z3": ["verify/"],
    "mpfr": ["verify/numerics/exact."],
    "onnx": ["io/"],
    "google/protobuf": ["io/", "tests/fuzz/"],
    "cost/profile.pb": ["cost/profile/profile.", "tests/fuzz/"],
    "substitutions/taso.pb": ["substitutions/taso"],
    "rl/checkpoint.pb": ["rl/files/checkpoint.", "tests/fuzz/"],
    "tbb/": ["base/parallel."],
    "oneapi/tbb": ["base/parallel."],
    "CLI/": ["cli/"],
    "spdlog/": ["base/log.", "cli/"],
    "nlohmann/": ["cli/", "cost/", "certify/", "tests/"],
    "openssl/": ["base/digest."],
    "zlib": ["base/files/gzip."],
    "xxhash": ["base/content_hash."],
    "oneapi/dnnl": ["cost/runtime/cpu/"],
    "dnnl": ["cost/runtime/cpu/"],
    "cuda": ["cost/runtime/cuda/"],
    "cudnn": ["cost/runtime/cuda/"],
    "cublas": ["cost/runtime/cuda/"],
    "nvrtc": ["cost/runtime/cuda/"],
    "Eigen/": ["rl/", "cost/residual/", "ir/ops/", "ir/algebra/tensor.cpp", "verify/numerics/float_run.cpp"],
    "pybind11/": ["python/"],
    "gtest/": ["tests/"],
}
# What a file asks of the system or of a library -> files that may, so that it is done well once.
CALLS = {
    r"\bofstream\b|\bfopen\(|::rename\(|\bmkos?temps?\(|SerializeToOstream":
        ("writes a file", ["base/files/output_file.", "base/files/journal.", "fleet/storage."]),
    r"\bposix_spawnp?\(|\bpopen\(|\bsystem\(|\bexec[vl]p?e?\(|\bfork\(":
        ("starts a program", ["base/process/"]),
    r"\bsignal\(SIG|\bsigaction\(": ("handles a signal", ["base/parallel.", "base/process/subprocess."]),
    r"(\.|->)dump\(": ("prints JSON, which not all bytes are fit for",
                         ["cli/support/report.", "certify/certificate.", "certify/json_parts.", "certify/proof."]),
    r"print\(stderr, *\"regraft": ("prints an error", ["cli/support/report."]),
}
# Where functions are named: laws of theirs that are no facts of a row.
LAWS = ("ir/algebra/", "verify/normal/", "verify/prove/", "verify/kernel/", "verify/derivations/",
        "verify/numerics/float_program.")
WRITES_TERMS = ("verify/model/",)     # names the operators of which it makes terms, compares none
NAME_TABLES = ("substitutions/taso",)  # another tool's names of operators
ANY_RUNTIME = ("cli/main.cpp", "cli/options/cost.cpp", "cli/options/learning.cpp", "cli/options/models.cpp")
RULE_TEXT = ("ir/rule/text",)         # "where" introduces a rule's condition
MAX_FILES = 25           # of sources in a folder
MAX_LINES = 500          # of any file
MAX_P90_LINES = 400      # of nine files in ten
MAX_MEDIAN_LINES = 200
MAX_COLUMNS = 100
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;]*)? {")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def sources(root):
    for room in [*ROOMS, "tests"]:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def include_problems(name, text):
    room = name.split("/")[0]
    for bracket, header in INCLUDE.findall(text):
        for start, places in THIRD_PARTY.items():
            if header.startswith(start) and not name.startswith(tuple(places)):
                yield f"{name}: includes <{header}>, which only {' '.join(places)} may"
        target = header.split("/")[0]
        if bracket != '"' or room == "tests" or header.startswith(tuple(THIRD_PARTY)):
            continue
        if BESIDE.get(name) == header:
            continue
        if target not in ROOMS:
            yield f'{name}: includes "{header}", which is not a path from the root of the sources'
        elif room in MAY_INCLUDE and target != room and target not in MAY_INCLUDE[room]:
            yield f"{name}: includes {header}, but {room} may not see {target}"
        elif not header.startswith(FOLDER_MAY_INCLUDE.get(folder_of(name), "")):
            yield f"{name}: includes {header}, which {folder_of(name)} may not see"


def folder_of(name):
    return name.rpartition("/")[0]


def folder_problems(files):
    """Folders that are too full, and folders of a room that need each other."""
    seen, includes = {}, {}
    for name, text in files:
        folder, room = folder_of(name), name.split("/")[0]
        seen[folder] = seen.get(folder, 0) + 1
        if room == "tests":
            continue
        for bracket, header in INCLUDE.findall(text):
            inside = header.startswith(f"{room}/") and not header.endswith(".pb.h")
            if bracket == '"' and inside and folder_of(header) != folder:
                includes.setdefault(folder, {}).setdefault(folder_of(header), f"{name} includes {header}")
    for folder, count in seen.items():
        if count > MAX_FILES:
            yield f"{folder}: {count} sources; the limit is {MAX_FILES}"
    for circle in circles(includes):
        steps = [includes[a][b] for a, b in zip(circle, [*circle[1:], circle[0]])]
        yield f"folders in a circle: {'; '.join(steps)}"


def circles(edges):
    """One for each edge that closes a circle in a walk through the graph."""
    done = set()

    def walk(at, path):
        for to in sorted(edges.get(at, ())):
            if to in path:
                yield path[path.index(to):]
            elif to not in done:
                yield from walk(to, [*path, to])
        done.add(at)
    for start in sorted(edges):
        if start not in done:
            yield from walk(start, [start])


def python_problems(root):
    """The package imports the standard library, itself, and what it was made to drive."""
    allowed = set(sys.stdlib_module_names) | PYTHON_MAY_IMPORT
    for path in sorted((root / "python").rglob("*.py")):
        for names in re.findall(r"^\s*(?:import (\w+)(?:[.,]| as|$)|from (\w+)[\w.]* import )", path.read_text(encoding="utf-8"), re.M):
            if (first := "".join(names)) not in allowed:
                yield f"{path.relative_to(root).as_posix()}: imports {first}"


def prose_problems(root):
    for path in sorted([*root.glob("*.md"), *root.glob("docs/*.md")]):
        code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            code ^= line.lstrip().startswith("```")
            if len(line) > MAX_COLUMNS and not code and not line.startswith(("|", "    ")):
                yield f"{path.relative_to(root).as_posix()}:{number}: {len(line)} columns of prose"


def call_problems(name, text):
    if name.startswith("tests/"):
        return
    for pattern, (what, places) in CALLS.items():
        if re.search(pattern, text) and not name.startswith(tuple(places)):
            yield f"{name}: {what}; only {' '.join(places)} may"


def registered(root, listing, macro):
    """The first words of the rows of a .def file."""
    path = root / listing
    return set(re.findall(rf"^{macro}\((\w+)", path.read_text(), re.M)) if path.exists() else set()


def naming_problems(name, text, root):
    """Knowledge of one operator, function or runtime is in its row, not in comparisons with its name;
    the verifier works for operators it has never heard of."""
    room = name.split("/")[0]
    if room == "tests" or name.startswith(("ir/ops/", *NAME_TABLES)):
        return
    operators = {op.replace("_", "-") for op in registered(root, "ir/ops/ops.def", "REGRAFT_OP")}
    if name.startswith(RULE_TEXT):
        operators -= {"where"}
    any_name = room == "verify" and not name.startswith(WRITES_TERMS)
    for literal in re.findall(r'"([a-z0-9_-]+)"' if any_name else r'[!=]= *"([a-z0-9-]+)"', text):
        if literal in operators:
            yield f'{name}: names the operator "{literal}"; what is known of it belongs into its file'
    if not name.startswith(LAWS):
        for function in re.findall(r"(?:case|[!=]=) *Fn::(\w+)", text):
            yield f"{name}: names the function {function}; what is known of it belongs into its row"
    for runtime in registered(root, "cost/model/runtimes.def", "REGRAFT_RUNTIME"):
        if re.search(rf'[!=]= *"{runtime}"' + (rf"|\b{runtime}\b" if name in ANY_RUNTIME else ""), text):
            yield f'{name}: names the runtime "{runtime}"; what is known of it belongs into its row'


def line_problems(name, text):
    if text.startswith("#pragma once") != name.endswith((".h", ".cuh")):
        yield f"{name}: #pragma once belongs on the first line of headers only"
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        yield f"{name}: {len(lines)} lines; the limit is {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns; the limit is {MAX_COLUMNS}"
        if re.match(r"\s*using namespace (?!regraft)" if name.endswith(".cpp") else
                    r"\s*using namespace", line):
            yield f"{name}:{number}: using namespace"


def types_of(text):
    """The types that a file defines outside of functions, classes and unnamed namespaces, with
    their namespaces; as clang-format lays files out."""
    inside = []
    for line in text.split("\n"):
        if opened := re.match(r"namespace\s*([\w:]*)\s*{", line):
            inside.append(opened[1])
        elif re.match(r"}\s*// namespace", line) and inside:
            inside.pop()
        elif (found := TYPE.match(line)) and "" not in inside:
            yield "::".join([*inside, found[1]])


def type_problems(files):
    """Two types of one name in one namespace are undefined behaviour that no compiler reports."""
    places = {}
    for name, text in files:
        for defined in types_of(text) if not name.startswith("tests/") else ():
            places.setdefault(defined, []).append(name)
    for defined, names in places.items():
        if len(names) > 1:
            yield f"{' and '.join(names)}: each defines {defined}"


def size_problems(lengths):
    if len(lengths) < 10:
        return
    p90, median = statistics.quantiles(lengths, n=10)[8], statistics.median(lengths)
    if p90 > MAX_P90_LINES:
        yield f"one file in ten has more than {p90:.0f} lines; the limit is {MAX_P90_LINES}"
    if median > MAX_MEDIAN_LINES:
        yield f"half of the files have more than {median:.0f} lines; the limit is {MAX_MEDIAN_LINES}"


def registration_problems(root):
    tests = root / "tests"
    for path in sorted([*tests.rglob("*_test.cpp"), *tests.rglob("*_test.py")]):
        listing = path.parent / "CMakeLists.txt"
        if not listing.exists() or path.name not in listing.read_text():
            yield f"{path.relative_to(root).as_posix()}: not registered in its CMakeLists.txt"
    registered = (tests / "CMakeLists.txt").read_text() if tests.exists() else ""
    for listing in sorted(tests.glob("*/CMakeLists.txt")):
        if listing.parent.name not in re.findall(r"\w+", registered):
            yield f"tests/{listing.parent.name}: not in the list of tests/CMakeLists.txt"


def problems(root):
    found, lengths = [], []
    for name, text in sources(root):
        found += include_problems(name, text)
        found += naming_problems(name, text, root)
        found += call_problems(name, text)
        found += line_problems(name, text)
        lengths.append(text.count("\n"))
    found += type_problems(sources(root))
    found += folder_problems(sources(root))
    found += python_problems(root)
    found += prose_problems(root)
    return found + list(size_problems(lengths)) + list(registration_problems(root))


GOOD_TREE = {
    "ir/graph/graph.h": '#pragma once\n#include "base/result.h"\n#include "ir/ops/op.h"\n#include <vector>\n',
    "ir/ops/ops.def": "REGRAFT_OP(matmul)\n",
    "cost/model/runtimes.def": "REGRAFT_RUNTIME(cpu, .block = 16)\n",
    "verify/prove.cpp": '#include <z3++.h>\n#include "ir/graph/graph.h"\n',
    "tests/CMakeLists.txt": "foreach(room ir)\n",
    "tests/ir/CMakeLists.txt": "regraft_test(ir SOURCES graph_test.cpp)\n",
    "tests/ir/graph_test.cpp": '#include <gtest/gtest.h>\n#include "ir/graph/graph.h"\n',
}
# One fault each, and a word that the message about it must have.
FAULTS = [
    ("ir/bad.cpp", '#include "verify/prove/prover.h"\n', "may not see verify"),
    ("gen/bad.cpp", '#include "verify/prove/prover.h"\n', "may not see verify"),
    ("verify/kernel/bad.cpp", '#include "ir/graph/graph.h"\n', "which verify/kernel may not see"),
    ("rewrite/bad.cpp", '#include "rl/env.h"\n', "may not see rl"),
    ("gen/bad.cpp", "#include <z3++.h>\n", "<z3++.h>"),
    ("cli/bad.cpp", '#include "onnx/onnx_pb.h"\n', "onnx/onnx_pb.h"),
    ("rewrite/bad.cpp", "#include <tbb/parallel_for.h>\n", "<tbb/parallel_for.h>"),
    ("io/bad.cpp", "#include <CLI/CLI.hpp>\n", "<CLI/CLI.hpp>"),
    ("base/bad.cpp", "#include <spdlog/spdlog.h>\n", "<spdlog/spdlog.h>"),
    ("ir/bad.cpp", '#include "graph.h"\n', "not a path from the root"),
    ("verify/bad.cpp", 'auto op = find_op("matmul");\n', "names the operator"),
    ("cost/bad.cpp", 'bool dense = op.name == "matmul";\n', "names the operator"),
    ("verify/model/bad.cpp", 'bool dense = op.name == "matmul";\n', "names the operator"),
    ("cost/bad.cpp", "if (f == Fn::Tanh) return;\n", "names the function"),
    ("cli/bad.cpp", 'if (runtime == "cpu") start();\n', "names the runtime"),
    ("cli/main.cpp", 'auto help = "or cpu";\n', "names the runtime"),
    ("cost/bad.cpp", 'std::ofstream out("x");\n', "writes a file"),
    ("io/bad.cpp", "std::filesystem::rename(a, b);\n", "writes a file"),
    ("cli/bad.cpp", 'auto file = popen("ls", "r");\n', "starts a program"),
    ("rl/bad.cpp", "std::signal(SIGINT, stop);\n", "handles a signal"),
    ("cli/bad.cpp", "auto text = j.dump(2);\n", "prints JSON"),
    ("verify/bad.cpp", 'fmt::print(stderr, "regraft: {}", x);\n', "prints an error"),
    ("ir/bad.h", "int x;\n", "#pragma once"),
    ("ir/bad.cpp", "int x;\n" * (MAX_LINES + 1), "lines; the limit"),
    ("ir/bad.cpp", "int " + "x" * MAX_COLUMNS + ";\n", "columns; the limit"),
    ("ir/bad.cpp", "using namespace std;\n", "using namespace"),
    ("gen/bad.h", "#pragma once\nnamespace a::b {\nstruct X {\n};\n}  // namespace a::b\n"
     "namespace a::b {\nenum class X : int {\n};\n}  // namespace a::b\n", "defines a::b::X"),
    ("ir/ops/add.cpp", '#include "ir/graph/graph.h"\n', "circle"),
    ("docs/bad.md", "word " * MAX_COLUMNS, "columns of prose"),
    ("python/regraft/worker.py", "import requests\n", "imports requests"),
    ("tests/ir/lost_test.cpp", "int x;\n", "not registered"),
    ("tests/lost/CMakeLists.txt", "", "not in the list"),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_tree(root, GOOD_TREE)
        assert problems(root) == [], problems(root)
    for name, text, word in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_tree(root, GOOD_TREE | {name: text})
            found = problems(root)
            assert len(found) == 1 and word in found[0], f"{name} ({word}): found {found}"
    assert "sources; the limit" in next(folder_problems([(f"ir/{k}.h", "") for k in range(MAX_FILES + 1)]))
    assert list(size_problems([MAX_P90_LINES + 50] * 3 + [10] * 17))
    assert list(size_problems([MAX_MEDIAN_LINES + 1] * 20))


def main():
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = problems(root)
    for problem in found:
        print(problem)
    print(f"{len(list(sources(root)))} files, {len(found)} problems, {len(FAULTS)} planted faults found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
