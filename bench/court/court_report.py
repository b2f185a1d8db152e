"""Writes court.json and court.md from what was judged and from the causes."""
import collections
import datetime
import importlib.metadata
import json

import cluster
import optimisers
import prose

PACKAGES = ["onnx", "onnxruntime", "onnxsim", "onnxslim", "onnxoptimizer", "onnxscript"]
WORDS = {"values": "other values", "shape": "another shape", "type": "another type",
         "interface": "other outputs", "fails": "the result does not run",
         "crash": "the tool ends with an error", "died": "the tool's process dies",
         "slow": "the tool does not end"}

ACCEPTED = """`validate` says `proved` beside `the result does not run` where both graphs compute \
the same: it compares what graphs compute by the definition of their operators, not whether a \
runtime accepts the file; `docs/validating.md` says so."""


def versions():
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def tallies(rows):
    """Counts for each tool."""
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        tool = counts[row["key"][1]]
        if row["outcome"] == "not tried":
            continue
        tool["probes"] += 1
        tool[row["outcome"]] += 1
        verdict = row.get("validate")
        if verdict:
            tool["proved" if verdict.startswith("proved") else
                 "refuted" if verdict == "refuted" else "undecided"] += 1
        if row.get("finding"):
            tool["beyond" if row["edge"] else
                 "wrong" if row["finding"] in cluster.GOES_WRONG else "ended"] += 1
    return counts


def table(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|---:" * (len(heads) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def fenced(text):
    return ["```", *text.strip().splitlines(), "```"]


def short(values, most=240):
    text = json.dumps(values)
    return text if len(text) <= most else text[:most] + " ..."


def cause_text(number, cause, known):
    title = f"### {number}. {cause['tool']} {known.get(cause['tool'], '')}: {cause['operators']}"
    yield from (title, "")
    yield (f"{WORDS[cause['kind']].capitalize()}"
           + (f"; pass: {cause['pass']}" if cause["pass"] else "")
           + (f"; level: {', '.join(cause['levels'])}" if cause["levels"] else "")
           + f"; found by {cause['probes']} reduced probes, first `{cause['probe']}`.")
    yield ""
    if cause["why"]:
        yield from (cause["why"], "")
    yield from fenced(cause["text"])
    yield from ("", f"Counterexample: `{short(cause['feed'])}`: {cause['detail']}.", "")
    agreed = {"agrees": "computes what the runtime computes for the original",
              "unsupported": "does not compute the original",
              "differs": "computes something else for the original"}[cause["agreed"]]
    yield (f"ONNX's reference evaluator {agreed}. `regraft validate`: {cause['validate']}. "
           f"Known thread: {cause['thread'] or 'none that we know of'}.")
    yield ""


HEAD = """The optimisers of ONNX models, probed as black boxes with small models: templates of \
what optimisers fuse or fold, the source sides of {rules} of {total} shipped rules, and near \
misses of both. A model counts as made wrong where the runtime with its optimisations off computes \
something else for the tool's result than for the original, or does not run it, on inputs of usual \
size; `reference` says whether ONNX's reference evaluator agrees on the original, at a later opset \
where it lacks the model's. Differences that rounding explains, and those on infinities, NaN, \
division by zero and overflow, are not counted. Each finding was made small by delta debugging, to five nodes or fewer unless the pattern \
of the rewrite itself is larger; findings alike are one cause. The reason given for a cause is read \
off its minimal model, not off the tool's source. {run} Nearly all probes are made right by every \
tool; every entry here can be run and is meant as a report that helps.

`proved`, `refuted` and `undecided` are what `regraft validate` says of a sample of the results; \
`changed` counts results that are not the original. `wrong`: results that differ in values, shape, \
type or outputs, or do not run, before reduction. `ended`: the tool ended with an error. `beyond`: \
differences beyond what is counted. regraft itself saw a sample of the probes."""


def markdown(made):
    known = made["versions"]
    yield from ("# The court", "")
    yield (f"Written by `bench/court/run.py` on {made['date']}; "
           + ", ".join(f"{k} {v}" for k, v in known.items()) + ".")
    yield from ("", HEAD.format(**made), "")
    names = ["probes", "changed", "proved", "refuted", "undecided", "wrong", "ended", "beyond"]
    yield from table(["tool", *names], [[tool, *(made["tools"][tool].get(n, 0) for n in names)]
                                        for tool in optimisers.TOOLS if tool in made["tools"]])
    counted = [c for c in made["causes"] if c["counted"]]
    ended = [c for c in made["causes"] if c["kind"] not in cluster.GOES_WRONG
             and c["verdict"] != "aside"]
    rest = [c for c in made["causes"] if not c["counted"] and c not in ended]
    yield from ("", f"## Wrong results: {len(counted)} causes", "")
    yield from table(["cause", "tool", "pass", "what goes wrong", "reference", "validate",
        "thread"],
                     [[f"{k}. {c['operators']}", c["tool"], c["pass"], WORDS[c["kind"]],
                       c["agreed"], c["validate"], c["thread"]]
                      for k, c in enumerate(counted, 1)])
    yield ""
    if any(c["kind"] == "fails" and c["validate"].startswith("proved") for c in counted):
        yield from (ACCEPTED, "")
    for number, cause in enumerate(counted, 1):
        yield from cause_text(number, cause, known)
    yield from (f"## Tools that end with an error on a valid model: {len(ended)}", "")
    yield from table(["model", "tool", "pass", "what", "message", "why"],
                     [[c["operators"], c["tool"], c["pass"], WORDS[c["kind"]],
                       c["detail"].replace("|", "/").replace("\n", " ")[:120], c["why"]]
                      for c in ended])
    yield ""
    for cause in ended:
        yield from (f"{cause['tool']}, {cause['detail'].partition(':')[0]}, for:", "")
        yield from (*fenced(cause["text"]), "")
    yield from ("", f"## Set aside: {len(rest)}", "",
                "Not counted: beyond what ONNX defines, disputed by the reference evaluator, "
                "documented by the tool, or not looked at by hand yet.", "")
    yield from table(["model", "tool", "pass", "what", "reference", "why"],
                     [[c["operators"], c["tool"], c["pass"], WORDS[c["kind"]], c["agreed"],
                       c["why"] or c["verdict"]] for c in rest])


def how(options):
    """How the figures came about."""
    jobs = f"{options.jobs} jobs" if options.jobs > 1 else "one job"
    if options.resumed:
        return f"The figures add up resumed runs, the last of {options.minutes:g} minutes."
    return f"The figures are of one run of {options.minutes:g} minutes with {jobs}."


def gathered(options, rows, causes, total, rules):
    return {"run": how(options), "date": str(datetime.date.today()), "versions": versions(),
            "seed": options.seed,
            "total": total, "rules": rules,
            "tools": {k: dict(v) for k, v in tallies(rows).items()},
            "causes": [{**c, "counted": cluster.counted(c)} for c in causes]}


def write(options, rows, causes, total, rules):
    made = gathered(options, rows, causes, total, rules)
    (options.out / "court.json").write_text(json.dumps(made, indent=1) + "\n")
    (options.out / "court.md").write_text(prose.wrapped("\n".join(markdown(made))) + "\n")
