"""What only regraft's own probes can try."""
import json
import os
import re

import onnx

import models
import pairs
import tools
import trial
from trial import NO, YES, Cell, folder, ops

RULE = "twice  (neg (neg ?x)) => ?x\n"
WRONG = "wrong  (exp (neg ?x)) => (exp ?x)\n"


def program(*arguments, limit=120, **more):
    return trial.run([tools.PROGRAM, *arguments], limit, **more)


def yes_if(fine, ran, found, note=""):
    return Cell(YES if fine else NO, note if fine else "", ran, str(found)[:400])


def fixed_size(tool):
    made = tool.optimize(models.open_sizes(), dim={"batch": 8}).model
    sizes = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    return yes_if(sizes == [8, 0, 4], 'dim={"batch": 8}', sizes)


def fixed_shape(tool):
    made = tool.optimize(models.open_sizes(), shape={"x": [8, 5, 4]}).model
    sizes = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    return yes_if(sizes == [8, 5, 4], 'shape={"x": [8, 5, 4]}', sizes)


def absent(words, but=()):
    return lambda tool: trial.absent(tool, words, but)


def predicted(tool):
    report = tool.optimize(models.distributed()).report
    before, after = report["before"]["cost"], report["after"]["cost"]
    return yes_if(0 < after < before, 'report["before"]["cost"]', f"{before:.2f} to {after:.2f} us")


def measured(tool):
    report = tool.package.optimize(models.parallel(), measure_time=3, memory=4,
                                   progress=False).report
    times = [report[side]["measured"]["microseconds"] for side in ("before", "after")]
    return yes_if(all(t > 0 for t in times), "regraft.optimize(m)",
                  f"{report['measured_with']}: {times[0]:.1f} and {times[1]:.1f} us")


def numeric_check(tool):
    report = tool.optimize(models.conv_scale(), cost="roofline").report["check"]
    return yes_if(report["passed"] and report["elements_compared"] > 0, 'report["check"]',
                  f"passed, {report['elements_compared']} elements in {report['runs']} runs")


def compared(tool):
    good = tool.package.check(models.branches(), models.branches_by_hand())["passed"]
    bad = tool.package.check(*pairs.wrong_pair())["passed"]
    return yes_if(good and not bad, "regraft.check(a, b)", f"right pair {good}, wrong pair {bad}")


def proved(tool):
    def prover(before, after):
        verdict = tool.package.validate(before, after, time=30, memory=4, progress=False).verdict
        return verdict.startswith("proved"), verdict
    return pairs.judged(prover, "regraft.validate(a, b)")


def open_proof(tool):
    model = models.open_sizes()
    made = tool.optimize(model).model
    found = tool.package.validate(model, made, progress=False)
    return yes_if(found.proved and not found["fixed"], "regraft.validate", found.verdict)


def certificate(tool):
    model = models.gelu()
    with folder() as place:
        path = place / "steps.json"
        made = tool.optimize(model, certificate=path).model
        report = tool.package.check(model, made, certificate=path, prove=True)
        size = path.stat().st_size
        try:
            tool.package.check(model, models.mlp(), certificate=path, prove=True)
            return Cell(NO, "", "check(.., certificate=, prove=True)", "takes another model")
        except tool.package.RegraftError as problem:
            return yes_if(size > 100, "optimize(certificate=), check(certificate=, prove=True)",
                          f"{report}; another model: {problem}".replace("\n", ", "))


def counterexample(tool):
    found = tool.package.validate(*pairs.wrong_pair(), progress=False)
    shown = found["counterexample"] or {}
    return yes_if(found.refuted and shown.get("inputs"), "regraft.validate of a wrong pair",
                  f"{found.verdict}, {shown.get('a')} and {shown.get('b')} at "
                  f"{shown.get('position')}")


def own_rules(tool):
    with folder() as place:
        (place / "own.rules").write_text(RULE)
        proof = program("verify", place / "own.rules", "-o", place / "proved.rules")
        model = models.make("float[2,4] x", "float[2,4] y", "a = Neg(x) b = Neg(a) y = Relu(b)")
        made = tool.optimize(model, rules=[place / "proved.rules"])
        return yes_if(ops(made.model) == ["Relu"], "rules=[own file, after regraft verify]",
                      f"verify: status {proof.returncode}; {made.report['applied']}")


def own_rules_proved(tool):
    with folder() as place:
        (place / "wrong.rules").write_text(WRONG)
        found = tool.package.verify(place / "wrong.rules")["rules"][0]
        right = tool.package.verify(RULE.encode())["rules"][0]
        model = models.make("float[2,4] x", "float[2,4] y", "a = Neg(x) b = Exp(a) y = Relu(b)")
        try:
            used = "Neg" not in ops(tool.optimize(model, rules=[place / "wrong.rules"]).model)
            said = f"applied: {used}"
        except tool.package.RegraftError as problem:
            used, said = False, f"refused: {problem}"
        fine = found["verdict"].startswith("refuted") and right["verdict"].startswith("proved")
        return yes_if(fine and not used,
                      "regraft.verify of a wrong rule and a right one, optimize(rules=wrong)",
                      f"{found['verdict']}, {right['verdict']}; {said}")


def left_out(tool):
    model = models.distributed()
    applied = list(tool.optimize(model).report["applied"])
    made = tool.optimize(model, disable_rule=applied)
    return yes_if(applied and not set(applied) & set(made.report["applied"]),
                  f"disable_rule={applied}", f"without: {counted_ops(made)}")


def counted_ops(result):
    return trial.counted(ops(result.model))


def which_rule(tool):
    with folder() as place:
        result = tool.optimize(models.gelu(), cost="roofline", certificate=place / "c.json")
        steps = json.loads((place / "c.json").read_text())
        return yes_if(result.report["applied"] and steps, 'report["applied"], certificate=',
                      f"{result.report['applied']}")


def on_command_line(option, passed, ran, model=models.gelu, note=""):
    """Whether `optimize` with the option ends well and `passed` likes what it left."""
    def tried(tool):
        with folder() as place:
            onnx.save(model(), place / "a.onnx")
            given = [str(o).replace("HERE", str(place)) for o in option]
            done = program("optimize", place / "a.onnx", "-o", place / "b.onnx", "--no-measure",
                           *given)
            answer = done.returncode == 0 and (place / "b.onnx").exists() and passed(place, done)
            said = done.stderr.strip().splitlines()[-1:] if not answer else [str(answer)[:200]]
            return yes_if(bool(answer), f"regraft optimize {ran}",
                          f"status {done.returncode}; {''.join(said)}", note)
    return tried


def json_report(place, done):
    found = json.loads((place / "r.json").read_text())
    return f"{len(found)} entries" if found.get("after") else ""


def page(passed):
    """The page that `--report` writes, or `--html` of a program that has no `--report` yet."""
    def tried(tool):
        cells = [on_command_line([option, "HERE/p.html"],
                                 lambda place, done: passed((place / "p.html").read_text()),
                                 f"{option} p.html", models.distributed)(tool)
                 for option in ("--report", "--html")]
        return trial.best(cells)
    return tried


def drawn(text):
    count = text.count("<svg")
    return f"{len(text)} bytes, {count} drawings" if "<html" in text and count else ""


def drawn_whole(text):
    """Both models side by side, the nodes that stay too."""
    part = text.partition('id="graphs"')[2].partition("<h2")[0]
    both = part.count("<svg") >= 2 and "Before" in part and "After" in part
    return f"a part with {part.count('<svg')} drawings" if both and "relu" in part.lower() else ""


def explained(place, done):
    """A section on what was missed: a node of the model, and why no rule touched it."""
    text = done.stdout + done.stderr
    missed = re.search(r"no rule touched.*", text)
    return missed and re.search(r"node_\d", text[missed.start():]) and missed.group(0)


def bisected(tool):
    """The user's test wants two products; the rule that leaves one must be named."""
    rules = list(tool.optimize(models.distributed()).report["applied"])
    with folder() as place:
        onnx.save(models.distributed(), place / "a.onnx")
        (place / "test.sh").write_text(
            '#!/bin/sh\ntest "$(grep -ao MatMul "$1" | wc -l)" -ge 2\n')
        os.chmod(place / "test.sh", 0o755)
        done = program("optimize", place / "a.onnx", "-o", place / "b.onnx", "--no-measure",
                       "--bisect", place / "test.sh", limit=200)
        text = done.stdout + done.stderr
        named = [rule for rule in rules if rule in text]
        return yes_if(named and done.returncode == 1, "regraft optimize --bisect test.sh",
                      f"status {done.returncode}; named: {', '.join(named) or 'nothing'}")


def table(tool):
    return on_command_line([], lambda place, done: "before" in done.stdout and "Erf" in done.stdout
                           and "a table", "A -o B")(tool)


def time_limit(tool):
    model = models.long_one(4000)
    result = tool.package.optimize(model, time=1, memory=4, progress=False)
    seconds = result.report["seconds"]
    return yes_if(seconds < 5, "time=1, 4000 nodes", f"{seconds:.1f} s")


def memory_limit(tool):
    """Folding makes 100 MB; without a limit more is held than the limit allows."""
    with folder() as place:
        onnx.save(models.blown_up(5000), place / "a.onnx")
        command = [tools.PROGRAM, "simplify", place / "a.onnx", "-o", place / "b.onnx",
                   "--max-size", "1GB", "--quiet"]
        _, _, free = trial.peak(command)
        status, said, held = trial.peak([*command, "--memory", "0.8"])
        return yes_if(free > 0.8 > held and status in (0, 3), "regraft simplify --memory 0.8",
                      f"without: {free:.2f} GB; with: {held:.2f} GB, status {status}; {said}")


def progress(tool):
    seen = []
    tool.package.optimize(models.long_one(3000), progress=seen.append, time=6, memory=4,
                          no_measure=True)
    return yes_if(len(seen) > 1, "progress=function", f"{len(seen)} states, the last {seen[-1:]}")


def statistics(tool):
    found = tool.package.stats(models.bert())
    return yes_if(found["nodes"] > 10, "regraft.stats(m)", f"{found['nodes']} nodes")


def environment(tool):
    """One that gymnasium makes, and steps."""
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import gymnasium, regraft.gym; "
            "env = gymnasium.make('regraft/Graph-v0', models=[sys.argv[2]]); "
            "seen, info = env.reset(seed=1); seen, reward, *rest = env.step(1); "
            "print('reward', reward)")
    with folder() as place:
        onnx.save(models.distributed(), place / "a.onnx")
        done = trial.python(code, tools.ROOT / "python", place / "a.onnx")
        said = (done.stdout + done.stderr).strip().splitlines()[-1:]
        return yes_if(done.returncode == 0 and "reward" in done.stdout,
                      "gymnasium.make('regraft/Graph-v0').step(1)", "".join(said))


def c_interface(tool):
    import ctypes
    from regraft import _library
    library = _library.load()
    library.regraft_version.restype = ctypes.c_char_p
    return yes_if(library.regraft_version(), "ctypes, libregraft.so: regraft_version()",
                  library.regraft_version().decode())


PROBES = {
    "fix size": fixed_size, "fix shape": fixed_shape,
    "to float16": absent(r"\bto float16\b|fp16|half precision|convert.{0,20}float16"),
    "quantise": absent(r"quanti[sz]"), "opset": absent(r"opset"),
    "outputs": absent(r"unused.output|extract|cut (off|at)"),
    "predicted": predicted, "measured": measured, "check": numeric_check, "compare": compared,
    "proof": proved, "open proof": open_proof, "certificate": certificate,
    "counterexample": counterexample, "own rules": own_rules, "own proved": own_rules_proved,
    "left out": left_out, "which rule": which_rule,
    "json": on_command_line(["--json", "HERE/r.json"], json_report, "--json r.json"),
    "html": page(drawn), "graphs": page(drawn_whole),
    "explain": on_command_line(["--explain"], explained, "--explain", models.parallel),
    "bisect": bisected, "table": table, "time": time_limit, "memory": memory_limit,
    "progress": progress, "stats": statistics, "gym": environment, "c": c_interface,
}
