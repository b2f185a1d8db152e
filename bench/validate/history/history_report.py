"""bench/history.md from bench/history.json."""
import textwrap

import onnx

import prose


def verdict(found):
    """What regraft said; where it has no report, its exit status and message."""
    result = found["validate"]
    if "report" in result:
        return result["report"]["verdict"]
    return f"not read ({result['error'].splitlines()[-1] if result['error'] else result['exit']})"


def as_expected(found):
    said = verdict(found)
    if found["expected"] == "invalid":
        return said == "refuted" or said.startswith("not read")
    if found["expected"] == "refuted":
        return said == "refuted"
    return said in ("proved", "proved-up-to-constants")


def certified(found, key="certify"):
    """The worst of the verdicts of onnxsim's certificates, in one word."""
    said = set(found[key]["outputs"].values())
    if not said:
        return "error"
    for worst in ("refuted", "skipped"):
        if any(worst in s for s in said):
            return worst
    return "proved"


def values(tensor, limit=16):
    shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v)
                      for v in tensor["data"][:limit])
    more = ", ..." if len(tensor["data"]) > limit else ""
    return f"{tensor['dtype']}{tensor['shape']} [{shown}{more}]"


def counterexample(found):
    """Lines that say where the models differ, as regraft found it."""
    report = found["validate"].get("report", {})
    if report.get("verdict") != "refuted":
        return []
    case = report.get("counterexample")
    if not case:
        return [*(f"* {line}" for line in report["interface"]), ""]
    lines = []
    if case.get("sizes"):
        lines.append("* sizes: " + ", ".join(f"{k} = {v}" for k, v in case["sizes"].items()))
    lines += [f"* `{name}` = `{values(tensor)}`" for name, tensor in case["inputs"].items()]
    by = f"; replayed in {case['replayed']}" if case.get("replayed") else ""
    if case.get("failure"):
        return [*lines, f"* the second model does not run: {case['failure']}{by}", ""]
    place = ", ".join(str(i) for i in case.get("position") or [])
    lines.append(f"* `{case['output']}[{place}]` is {case.get('a')} before, {case.get('b')} "
                 f"after{by}")
    starts = case.get("starts") or {}
    named = {side: ", ".join(f"`{n}`" for n in starts.get(side, [])) for side in "ab"}
    if any(named.values()):
        lines.append(f"* it starts at {named['a'] or 'nothing'} before, {named['b'] or 'nothing'} "
                     "after")
    return [*lines, ""]


def attribute(held):
    value = onnx.helper.get_attribute_value(held)
    if isinstance(value, bytes):
        return f'{held.name} = "{value.decode()}"'
    return f"{held.name} = {value:g}" if isinstance(value, float) else f"{held.name} = {value}"


def graph(model):
    """The nodes as text, without weights, wrapped."""
    lines = []
    for node in model.graph.node:
        inner = ", ".join(attribute(a) for a in node.attribute if a.type != a.TENSOR)
        text = (f"{', '.join(node.output)} = {node.op_type}{f'<{inner}>' if inner else ''}"
                f"({', '.join(node.input)})")
        lines += textwrap.wrap(text, 96, initial_indent="  ", subsequent_indent="      ")
    return lines


def ran(gap):
    """What onnxruntime said, in words."""
    if isinstance(gap, str):
        return gap
    if gap == float("inf"):
        return "another shape or type"
    return f"largest difference {gap:.2g} of the largest element"


def made_by(pair, versions):
    if not pair.made:
        return "written by hand from the thread's description"
    package, version, *_ = pair.made
    options = [o for o in pair.made[3:] if o != "onnx.optimizer"]
    shown = " (" + ", ".join(options).replace(",", ", ") + ")" if options else ""
    return f"{package} {version or versions.get(package)}{shown}"


def still(pair, found):
    """Which of today's tools do what to the first model."""
    said = found["today"]
    lines = []
    for outcome, words in (("differ", "changed wrongly by"), ("invalid", "made invalid by"),
                           ("agree", "changed, and right, by"), ("unchanged", "left alone by"),
                           ("fails", "no model from")):
        names = [name for name, result in said.items() if result == outcome]
        if names:
            lines.append(f"{words} {', '.join(names)}")
    return "; ".join(lines)


def constants(found):
    report = found["validate"].get("report", {})
    known = [c for c in report.get("constants") or [] if c.get("bound") is not None]
    if not known:
        return []
    worst = max(known, key=lambda c: c["deviation"])
    return [f"Constants explained: {len(known)}; the largest deviation is "
            f"{worst['deviation']:.2g} where rounding explains {worst['bound']:.2g} "
            f"(`{worst['b']}` is `{worst['a']}`).", ""]


def section(pair, found, versions, after):
    lines = [f"### {pair.name}: {pair.title}", "",
             f"{pair.thread}. Pass: {pair.passes}.", "",
             f"**The thread.** {pair.said}", "", f"**The pair.** {pair.wrong}", "",
             f"**Condition that was missed**: {pair.condition}.", "", "```",
             "before:", *graph(pair.before), "after:", *graph(after(pair)), "```", "",
             f"The second model: {made_by(pair, versions)}.", ""]
    lines += [f"**In onnxruntime**, optimisations off, 20 random inputs: {ran(found['gap'])}.", "",
              f"**regraft validate**: {verdict(found)}, {found['validate']['seconds']:.1f} s."]
    if not as_expected(found):
        lines[-1] += f" Expected: {found['expected']}."
    lines += ["", *counterexample(found), *constants(found),
              f"**onnxsim's certificate**: {certified(found)}; for inputs in [-8, 8] "
              f"{certified(found, 'certify in [-8, 8]')}.", "",
              f"**Today**: {still(pair, found)}.", ""]
    return lines


def table(pairs, kept):
    lines = ["| pair | thread | expected | regraft | onnxsim | in [-8, 8] |",
             "|---|---|---|---|---|---|"]
    for pair in pairs:
        found = kept["pairs"][pair.name]
        said = verdict(found)
        said = "not read" if said.startswith("not read") else said
        mark = "" if as_expected(found) else " (!)"
        lines.append(f"| {pair.name} | {pair.thread} | {pair.expected} | {said}{mark} | "
                     f"{certified(found)} | {certified(found, 'certify in [-8, 8]')} |")
    return lines


def summary(pairs, kept):
    """Counts for one group: what regraft and onnxsim said of right and of wrong pairs."""
    lines = ["| | pairs | refuted or not read | proved | unknown |", "|---|---:|---:|---:|---:|"]
    for name, kinds in (("wrong", ("refuted", "invalid")),
                        ("right", ("proved", "proved-up-to-constants"))):
        chosen = [kept["pairs"][p.name] for p in pairs if p.expected in kinds]
        said = [verdict(f) for f in chosen]
        lines.append(f"| {name}, by regraft | {len(chosen)} | "
                     f"{sum(s == 'refuted' or s.startswith('not read') for s in said)} | "
                     f"{sum(s.startswith('proved') for s in said)} | "
                     f"{sum(s == 'unknown' for s in said)} |")
        for key, label in (("certify", "onnxsim"), ("certify in [-8, 8]", "onnxsim, [-8, 8]")):
            said = [certified(f, key) for f in chosen]
            lines.append(f"| {name}, by {label} | {len(chosen)} | {said.count('refuted')} | "
                         f"{said.count('proved')} | "
                         f"{len(said) - said.count('refuted') - said.count('proved')} |")
    return lines


def text(kept, pairs, after):
    pairs = [p for p in pairs if p.name in kept["pairs"]]
    threads = [p for p in pairs if p.group == "history"]
    own = [p for p in pairs if p.group == "certify"]
    versions = ", ".join(f"{k} {v}" for k, v in kept["versions"].items())
    wrong_today = sum(any(r in ("differ", "invalid") for r in kept["pairs"][p.name]["today"]
                          .values()) for p in threads)
    lines = ["# Optimisers' mistakes, validated", "",
             f"Written by `bench/validate/history/run_history.py` on {kept['date']}; {versions}.",
             "", f"{len(threads)} pairs from {len({p.thread for p in threads})} threads. Each was "
             "rebuilt from the thread's description: a small model before, and what the tool made "
             "of it then, or makes of it now, or is said to make of it. Of the first models, "
             f"{wrong_today} are still made wrong or invalid by one of today's tools.", "",
             "`invalid`: the tool wrote a model that no runtime accepts; regraft refutes it or "
             "does not read it. (!) marks what is not as expected. onnxsim's certificates need "
             "fixed shapes: they see each pair with its open sizes fixed.", "",
             *summary(threads, kept), "", *table(threads, kept), "",
             "## onnxsim's own test pairs", "", *summary(own, kept), "", *table(own, kept), "",
             "## The threads", ""]
    for pair in threads:
        lines += section(pair, kept["pairs"][pair.name], kept["versions"], after)
    return prose.wrapped("\n".join(lines).rstrip()) + "\n"
