"""Trials of whole runs, the same for all: files, large models, signals, programs, packages."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import onnx

import models
import trial
from trial import NO, PARTLY, YES, Cell, counted, first_line, folder, ops, same

HERE = pathlib.Path(__file__).resolve().parent


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
    return Cell(NO if wrong else YES, "", "from path to path, weights in a.data",
                wrong or "the same")


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
            return Cell(NO, "", "2.1 GB from path to path",
                        f"status {done.returncode}: {said[:200]}")
        made = onnx.load(target, load_external_data=False)
        size = sum(p.stat().st_size for p in place.iterdir() if p.name not in
                   ("large.onnx", "large.data"))
        peak = done.stdout.split("peak ")[-1].strip() if "peak" in done.stdout else "?"
        fine = size > 2.0e9 and "Identity" not in ops(made)
        note = f"{int(peak) / 1e3:.1f} GB of memory" if fine and peak.isdigit() else ""
        return Cell(YES if fine else NO, note, "2.1 GB from path to path",
                    f"{counted(ops(made))}; {size / 1e9:.1f} GB, {seconds:.0f} s, peak {peak} MB")


def digest(tool, seed):
    code = ("import sys, onnx; sys.path.insert(0, sys.argv[1]); import models, tools, hashlib; "
            "way = tools.TOOLS[sys.argv[2]]().ways[0]; made = way.call(models.bert()); "
            "made = made.SerializeToString(deterministic=True); "
            "print('digest', hashlib.sha256(made).hexdigest())")
    return trial.python(code, HERE, tool.name, env={**os.environ, "PYTHONHASHSEED": seed})


def deterministic(tool):
    digests = []
    for seed in ("0", "1", "2"):
        done = digest(tool, seed)
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


def interruptible():
    """Who starts this in the background may have made it deaf to SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def at_work(tool, source, target, seconds=None):
    """Seconds from its start to its end, or to its end after SIGINT; the exit status."""
    child = subprocess.Popen([sys.executable, "-c", WORKS, HERE, tool.name, source, target],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=interruptible)
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
    """SIGINT after a quarter of the time that it takes, on a model that takes it long enough. Who
    asked gets a result only where the function returns."""
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
            if status or seconds > whole * 0.75:
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


def typed_package(tool):
    """The marker of typed packages, and annotations of all parameters."""
    import inspect
    where = pathlib.Path(tool.package.__file__).parent
    marked = (where / "py.typed").exists()
    given = inspect.signature(tool.described[0]).parameters.values()
    known = sum(p.annotation is not inspect.Parameter.empty for p in given)
    found = f"py.typed: {'yes' if marked else 'no'}; {known} of {len(given)} parameters annotated"
    half = marked or known > len(given) / 2
    verdict = YES if marked and known == len(given) else PARTLY if half else NO
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
