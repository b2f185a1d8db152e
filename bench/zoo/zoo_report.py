"""bench/zoo/zoo.md, from what zoo.json keeps of run_zoo.py's measurements."""
import statistics

import prose
from zoo_peers import PATIENCE, PEERS
from zoo_tools import MAGNITUDES, NUDGE, SLACK, TOLERANCE, agreement, agrees, sound, table

ORIGINAL, AGAIN = "original", "original again"
TUNED, PLAIN = "regraft --target openvino", "regraft in OpenVINO"
THERE = ["original in OpenVINO", TUNED, PLAIN]  # what runs in OpenVINO, the reference first
TOOLS = ["regraft", *PEERS]
SETTINGS = {  # name: threads, batch (None: the first size), passes
    "one thread, batch 1": (1, None, 4), "two threads, batch 1": (2, None, 2),
    "one thread, batch 8": (1, 8, 2)}
MAIN, THREADS, BATCH = SETTINGS
LEAST = 0.98  # of the original's speed that no result should fall below
GROUPS = {"all": lambda case: True,
          "evaluation form": lambda case: case["entry"]["form"] == "eval",
          "training form": lambda case: case["entry"]["form"] != "eval",
          "changed by a rule": lambda case: not case["results"]["regraft"].get("kept", True)}
COMMAND = "python bench/zoo/run_zoo.py --zoo DIR"


def figure(case, name, setting=MAIN):
    """{"ratio", "low", "high", "ms"}; None: not timed."""
    found = case["times"].get(setting, {}).get("models", {}).get(name, {})
    return found if "ratio" in found else None


def ratios(cases, name, setting=MAIN):
    found = {model: figure(case, name, setting) for model, case in cases.items()}
    return {model: f for model, f in found.items() if f}


def mean(cases, name, setting=MAIN):
    found = [f["ratio"] for f in ratios(cases, name, setting).values()]
    return f"{statistics.geometric_mean(found):.3f}" if found else "-"


def span(found):
    return f"{found['ratio']:.2f} ({found['low']:.2f} to {found['high']:.2f})"


def told(result):
    """Of a program's result: may it be timed?"""
    if sound(result):
        return "agrees" if agrees(result) else "not compared"
    return "wrong" if agrees(result) is False else "failed"


def state(case, name, setting=MAIN):
    """As told(); "failed", too, if a runtime does not run the result at this setting."""
    made = case["results"].get("regraft" if name == PLAIN else name)
    if made is not None and not sound(made):
        return told(made)
    timing = case["times"].get(setting, {})
    return "failed" if "error" in timing or "error" in timing.get("models", {}).get(name, {}) \
        else "timed" if figure(case, name, setting) else "-"


def cell(case, name, setting=MAIN):
    found = figure(case, name, setting)
    if not found:
        return state(case, name, setting)
    return f"**{found['ratio']:.2f}**" if found["high"] < LEAST else f"{found['ratio']:.2f}"


def summary_row(cases, name, setting):
    found = ratios(cases, name, setting)
    if not found:
        return None
    least, most = (pick(found, key=lambda m: found[m]["ratio"]) for pick in (min, max))
    states = [state(case, name, setting) for case in cases.values()]
    groups = [mean({m: c for m, c in cases.items() if among(c)}, name, setting)
              for among in GROUPS.values()]
    return [name, len(found), *groups, f"{span(found[least])}", least,
            f"{found[most]['ratio']:.2f}", sum(f["low"] < LEAST for f in found.values()),
            sum(f["high"] < LEAST for f in found.values()),
            states.count("wrong"), states.count("failed")]


def summary(cases, names, setting):
    head = ["", "number", *GROUPS, "least (95 %)", "of", "most", "maybe below", "below", "wrong",
            "failed"]
    rows = [summary_row(cases, name, setting) for name in names]
    return table(head, [row for row in rows if row])


def below(cases, setting):
    """A sentence: does regraft make no model slower?"""
    found = ratios(cases, "regraft", setting)
    slow = [f"{m} {span(f)}" for m, f in found.items() if f["high"] < LEAST]
    unsure = [f"{m} {span(f)}" for m, f in found.items() if f["low"] < LEAST <= f["high"]]
    return (f"regraft at {setting}: of {len(found)} models {len(slow)} are below {LEAST} of the "
            f"original's speed with their whole interval{listed(slow)}, and {len(unsure)} with "
            f"its lower end alone{listed(unsure)}.")


def listed(names):
    return f" ({', '.join(names)})" if names else ""


def better_peers(cases):
    """Rows where a peer's interval lies above regraft's; the best peer of each model."""
    for model, case in cases.items():
        ours = figure(case, "regraft")
        faster = [(f["ratio"], p, f) for p in PEERS if (f := figure(case, p))
                  and ours and f["low"] > ours["high"]]
        if faster:
            _, peer, found = max(faster, key=lambda item: item[0])
            yield [model, span(ours), peer, span(found)]


def there_row(cases, setting):
    """OpenVINO's original by onnxruntime's: [number, geometric mean, least, most]."""
    both = [(t["models"][ORIGINAL]["ms"], t["models"][THERE[0]]["ms"])
            for c in cases.values() if "models" in (t := c["times"].get(setting, {}))
            and "ms" in t["models"].get(THERE[0], {}) and "ms" in t["models"].get(ORIGINAL, {})]
    found = [a / b for a, b in both]
    if not found:
        return []
    return [f"At {setting} OpenVINO runs the originals {statistics.geometric_mean(found):.2f} "
            f"times as fast as onnxruntime ({len(found)} models, {min(found):.2f} to "
            f"{max(found):.2f})."]


def bounds(case):
    found = case["bound"]
    if "error" in found:
        return ["failed", "-", ""]
    rest = ", ".join(f"{name} {100 * share:.0f}" for name, share in found["rest"].items())
    return [f"{100 * found['heavy']:.0f} %",
            f"{found['bound']:.2f}" if found["bound"] else "-", rest]


def bound_line(cases):
    """A sentence: what a perfect fusion of the rest would add."""
    known = [(f["ratio"], c["bound"]["bound"]) for c in cases.values()
             if c["bound"].get("bound") and (f := figure(c, "regraft"))]
    if not known:
        return ""
    now, free = (statistics.geometric_mean(v) for v in zip(*known))
    return (f"Over {len(known)} models regraft's geometric mean is {now:.3f}. The rest costs "
            f"another {free:.2f}.")


def hostile(result):
    """The largest difference, by what is allowed; "-": the model has no fractions as inputs."""
    found = [difference / allowed for difference, allowed in result.get("hostile", {}).values()]
    return f"{max(found):.0e}" if found else "-"


def time_rows(cases):
    for model, case in cases.items():
        ours, first = figure(case, "regraft"), case["times"].get(MAIN, {}).get("models", {})
        yield [model, f"{first[ORIGINAL]['ms']:.2f}" if "ms" in first.get(ORIGINAL, {}) else "-",
               cell(case, "regraft"), f"{ours['low']:.2f} to {ours['high']:.2f}" if ours else "-",
               cell(case, AGAIN), *(cell(case, peer) for peer in PEERS),
               *bounds(case)[:2], cell(case, "regraft", THREADS), cell(case, "regraft", BATCH),
               *(cell(case, name) for name in THERE[1:])]


def result_rows(cases):
    for model, case in cases.items():
        r = case["results"]["regraft"]
        yield [model, case["entry"]["nodes"], r.get("nodes", "-"),
               f"{r['predicted']:.3f}" if "predicted" in r else "-", agreement(r), hostile(r),
               f"{r['seconds']:.1f}" if "seconds" in r else "-",
               f"{r['memory'] / 1e6:.0f}" if "memory" in r else "-", bounds(case)[2]]


def failures(cases):
    for model, case in cases.items():
        for name, result in case["results"].items():
            if "error" in result:
                yield f"* {model}, {name}: {result['error'].strip()}"
            elif agrees(result) is False:
                usual = max(result["differences"])
                far = [f"{d:.0e} at inputs times {m}, where {allowed:.0e} is allowed"
                       for m, (d, allowed) in result.get("hostile", {}).items() if d > allowed]
                yield f"* {model}, {name}: differs by " + ", ".join(
                    [f"{usual:.0e}"] * (usual > TOLERANCE) + far)
        for setting, timing in case["times"].items():
            if "error" in timing:
                yield f"* {model}, {setting}: {timing['error']}"
            for name, found in timing.get("models", {}).items():
                if "error" in found:
                    yield f"* {model}, {name}, {setting}: {found['error']}"


def line(model, case):
    """Of one model, while the script runs."""
    cells = [f"{name} {cell(case, name)}" for name in [*TOOLS, AGAIN, *THERE[1:]]]
    return f"{model}: {', '.join(cells)}; heavy {bounds(case)[0]}"


def machine(cases):
    return next((t["device"] for c in cases.values() for t in c["times"].values()
                 if "device" in t), "an unknown machine")


def how(kept, cases):
    versions = ", ".join(f"{name} {v}" for name, v in kept["versions"].items() if v)
    first, more = kept["seconds"]
    return [
        f"Written by `{COMMAND}` over the files of `models/export_zoo.py`; the figures are in "
        f"`zoo.json`. {versions}; {machine(cases)}.", "",
        "* regraft is `regraft optimize MODEL -o OUT`, nothing else; its Python has onnxruntime "
        "and OpenVINO.",
        "* The peers run in Python, with their defaults: `onnxsim.simplify`, `onnxslim.slim`, "
        "`onnxoptimizer.optimize` with its fusions and eliminations, "
        "`onnxscript.optimizer.optimize`.",
        "* ort-transformers is `onnxruntime.transformers.optimizer.optimize_model`: heads and "
        "hidden size are detected. `model_type` is the known type whose name is part of the "
        "architecture's, else its default, `bert`; `opt_level` is the type's default. Where "
        "onnxruntime refuses the result, it gets another chance with `opt_level` 0, then with "
        "`bert`.",
        f"* A peer has {PATIENCE} s. *Failed*: it crashed, did not end, or a runtime refuses the "
        "result.",
        f"* *Wrong*: an output differs from the original's by more than {TOLERANCE:.0e} of its "
        "largest magnitude in onnxruntime without optimisations, at one of two settings of the "
        f"open sizes; or with fractional inputs times {', '.join(f'{m:g}' for m in MAGNITUDES)} "
        f"by more than that and than {SLACK} times what changing the inputs by {NUDGE:g} does, or "
        "is not finite where the original's is. A wrong result is not timed.", "",
        "Open sizes but for the batch are timed at what regraft counts them as, or, where the "
        "original does not run there, at the first of the two settings. At each setting all that is "
        "sound runs in turn, each round in a random order, each "
        "runtime's after one run that is not timed, with all of "
        f"the runtime's own optimisations. {SETTINGS[MAIN][2]} passes of together {first:g} s at "
        f"{MAIN}, {SETTINGS[BATCH][2]} of {more:g} s at the others and for models that are slow to "
        "load, at least 3 rounds each, with new sessions, opened in opposite orders; one more, "
        "opened last, is not timed. One thread is timed by CPU time. A figure is the original's "
        "time by the result's: medians over rounds, their geometric mean over passes. Intervals "
        "are of 95 %, a bootstrap over passes and rounds. *Original again* is the same file a "
        "second time. "
        f"*Below*: the interval lies below {LEAST}; *maybe below*: its lower end does."]


def document(kept):
    cases = kept["models"]
    verdicts = [told(c["results"]["regraft"]) for c in cases.values()]
    peers_ahead = list(better_peers(cases))
    head = ["model", "ms", "regraft", "95 %", "again", *PEERS, "heavy kernels", "bound",
            "2 threads", "batch 8", *THERE[1:]]
    return prose.wrapped("\n".join([
        "# Optimising real exports", "",
        f"Of {len(cases)} results of regraft {verdicts.count('agrees')} agree with the original, "
        f"{verdicts.count('wrong')} do not.", "", *how(kept, cases), "",
        *(part for setting in SETTINGS for part in
          [f"## onnxruntime, {setting}", "",
           *summary(cases, [*TOOLS, AGAIN], setting), below(cases, setting), ""]),
        "## Where a peer is faster than regraft", "",
        f"Beyond both intervals at {MAIN}, the best peer.", "",
        *(table(["model", "regraft", "peer", "its figure"], peers_ahead) if peers_ahead
          else ["Nowhere.", ""]),
        "## OpenVINO", "",
        f"The same rounds: the original, what `{TUNED}` makes, and what the defaults make. Figures "
        "are over the original in OpenVINO.", "",
        *(part for setting in SETTINGS for part in
          [f"### {setting.capitalize()}", "", *summary(cases, THERE[1:], setting),
           *there_row(cases, setting), ""]),
        "## Models", "",
        "*Heavy kernels*: of the time of regraft's result, what convolutions, matrix products, "
        f"attention and recurrent layers take, by onnxruntime's profiler at {MAIN}, less what the "
        "profiler costs. *Bound*: the further speed-up if all else took no time. No fusion of the "
        "rest gives more; rewrites that make fewer or smaller products may. " + bound_line(cases),
        "", *table(head, time_rows(cases)),
        "## Results", "",
        "Of regraft's result: nodes (those of sub-graphs, too), price by the original's, largest "
        "difference, that at other magnitudes by what is allowed, seconds and memory that it took; "
        "the largest other kernels, % of the time.", "",
        *table(["model", "nodes", "after", "predicted", "difference", "at magnitudes", "seconds",
                "MB", "rest"], result_rows(cases)),
        "## What failed", "", *(list(failures(cases)) or ["Nothing."]), ""]))
