"""bench/known.md from the figures of bench/known/run_known.py."""
import collections

import known_reasons

PROVED = ("proved:all-sizes", "proved:solver")
BOUNDED = "proved:bounded"
TOGETHER = "all files"


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def escaped(text):
    return text.replace("|", "\\|")


def counts(rows):
    """Of some rewrites: how many, unwritable, proved, proved at some sizes, following, following
    from fewer rules."""
    written = [r for r in rows if not r["unwritable"]]
    follows = [r for r in written if TOGETHER in r["follows"]]
    fewer = [r for r in written if r["follows"] and TOGETHER not in r["follows"]]
    return (len(rows), len(rows) - len(written), sum(r["verdict"] in PROVED for r in written),
            sum(r["verdict"] == BOUNDED for r in written), len(follows), len(fewer))


def group_row(name, rows):
    total, unwritable, proved, bounded, follows, fewer = counts(rows)
    return (f"| {name} | {total} | {unwritable} | {proved} | {bounded} | {share(proved, total)} "
            f"| {follows} | {fewer} | {share(follows, total)} |")


def groups(rewrites):
    by_group = {}
    for r in rewrites:
        by_group.setdefault(r["group"], []).append(r)
    yield "| group | rewrites | unwritable | proved for all sizes | at some sizes | proved | " \
        "follow | from fewer rules only | follow |"
    yield "|---" * 9 + "|"
    for name, rows in by_group.items():
        yield group_row(name, rows)
    yield group_row("**all**", rewrites)


def commands(data):
    yield "| command | given | answers yes | seconds | CPU seconds |"
    yield "|---" * 5 + "|"
    proved = sum(r.get("verdict", "").startswith("proved") for r in data["rewrites"])
    wall, cpu = data["verify_seconds"]
    yield f"| verify | | {proved} | {wall} | {cpu} |"
    for label, run in data["runs"].items():
        times = f" ({run['commands']} commands)" if run["commands"] > 1 else ""
        stopped = f" ({run['ended']} ended)" if run["ended"] else ""
        wall, cpu = run["seconds"]
        yield f"| rules derive | {label}{times} | {run['derived']} | {wall}{stopped} | {cpu} |"


def unproved(rewrites):
    """(class, its meaning, name, words) of each that is not proved for all sizes."""
    for r in rewrites:
        if r["unwritable"]:
            yield f"unwritable: {r['unwritable']}", "the rule language cannot say it", r["name"], \
                r["text"]
        elif kind := r["unproved"]:
            yield kind, known_reasons.MEANINGS[kind], r["name"], r["detail"]


def unproved_tables(rewrites):
    rows = list(unproved(rewrites))
    yield "| class | rewrites | why |"
    yield "|---" * 3 + "|"
    words = {kind: why for kind, why, _, _ in rows}
    for kind, count in collections.Counter(kind for kind, *_ in rows).most_common():
        yield f"| {kind} | {count} | {words[kind]} |"
    yield ""
    yield "| rewrite | class | the prover's words, or what it is |"
    yield "|---" * 3 + "|"
    for kind, _, name, detail in rows:
        yield f"| {name} | {kind} | {escaped(detail)} |"


def not_derived(rewrites):
    """(class, what of it, record) of each that does not follow from all files together."""
    for r in rewrites:
        if r["unwritable"]:
            yield "unwritable", r["unwritable"], r
        elif TOGETHER not in r["follows"]:
            kind, _, what = r["why_not"].partition(": ")
            yield kind, what, r


def not_derived_tables(rewrites):
    rows = list(not_derived(rewrites))
    yield "| class | rewrites | of these proved | means |"
    yield "|---" * 4 + "|"
    for kind, count in collections.Counter(kind for kind, *_ in rows).most_common():
        proved = sum(r.get("verdict") in PROVED for k, _, r in rows if k == kind)
        means = known_reasons.WHY_NOT.get(kind, "the rule language cannot say it")
        yield f"| {kind} | {count} | {proved} | {means} |"
    missing = collections.Counter(op for kind, what, _ in rows if kind == "operator"
                                  for op in what.split(", "))
    yield ""
    yield "Operators in no shipped rule, with the number of rewrites that have them: " + \
        ", ".join(f"`{op}` {n}" for op, n in missing.most_common()) + "."
    yield ""
    yield "| rewrite | group | class | follows from |"
    yield "|---" * 4 + "|"
    for kind, what, r in rows:
        from_fewer = ", ".join(r.get("follows", []))
        yield f"| {r['name']} | {r['group']} | {kind}{': ' + what if what else ''} | {from_fewer} |"


FORMS = {  # layers as exporters write them, by the rewrites of the list
    "LayerNorm by two moments": ("layernorm-of-parts", "layernorm-of-moments", "layernorm-of-factors"),
    "LayerNorm over channels": ("layernorm-of-channels",),
    "RMSNorm": ("rmsnorm-of-parts", "rmsnorm-of-reciprocal"),
    "GELU": ("gelu-of-erf", "gelu-distributed", "gelu-tanh-of-cube", "gelu-tanh-of-products"),
    "SiLU": ("silu-of-sigmoid", "silu-of-exponential"),
    "softmax with mask and scale": ("attention-of-parts", "attention-of-parts-masked", "masks-added-in-turn"),
    "grouped-query attention": ("attention-of-repeated-heads", "scores-of-repeated-keys"),
    "rotary embedding": ("rotary-of-halves", "rotary-of-split", "rotary-of-pairs", "rotary-of-rotary"),
    "joined KV caches": ("scores-over-cache", "values-over-cache", "transposed-cache"),
    "split softmax": ("softmax-of-blocks", "softmax-of-partial-results"),
    "convolution as a product": ("pointwise-as-matmul", "whole-kernel-as-matmul", "patches-as-matmul",
                                 "two-taps-as-matmul"),
    "depthwise and pointwise convolution": ("depthwise-pointwise-as-mul", "pointwise-then-conv"),
}


def forms(rewrites):
    """For each rewrite of FORMS the shipped rules that its derivation used."""
    by_name = {r["name"]: r for r in rewrites}
    yield "| form | rewrite | follows from |"
    yield "|---" * 3 + "|"
    for form, names in FORMS.items():
        for name in names:
            used = by_name[name].get("used", []) if name in by_name else []
            yield f"| {form} | {name} | {', '.join(f'`{rule}`' for rule in used) or '-'} |"


BEYOND_GRAMMARS = [
    "What keeps rules of these from being generated:", "",
    "* Quotients of sizes: a number that is one (`floor(x.2/w.2)`) is no expression on either side.",
    "* Extents and numbers of several attributes that are opened together: those of four slices, or of "
    "scales that are repeated for each channel of a group.",
    "* Pads, strides and windows that are opened together, and what is proved at some sizes only.", ""]


def table(data):
    rewrites, machine = data["rewrites"], data["machine"]
    total, unwritable, proved, bounded, follows, fewer = counts(rewrites)
    return "\n".join([
        "# Well-known rewrites", "",
        "Written by `python3 bench/known/run_known.py` from `known_rewrites.txt`, where each rewrite "
        f"has its source. {machine['threads']} threads on {machine['cores']} cores "
        f"({machine['processor']}), load {machine['load']} at the end.", "",
        f"Of {total} rewrites {unwritable} cannot be said in the rule language; they count as not "
        f"proved and not following. {proved} ({share(proved, total)}) are proved for all sizes, "
        f"{bounded} at some sizes. {follows} ({share(follows, total)}) follow from the "
        f"{data['shipped_rules']:,} shipped rules together, within `rules derive`'s defaults, and "
        f"{fewer} more from some of these rules only ({share(follows + fewer, total)} together).",
        "", *groups(rewrites), "", "## Commands", "",
        "`own operators`: those rewrites that do not follow from all files together, each from "
        "the shipped rules that have no operators but its own.", "", *commands(data), "",
        "## Forms of layers", "", "The shipped rules that a derivation of each used. Those of `hand.rules` and `selection.rules`, whose "
        "names have no digits at the end, are written by hand; all others are generated.", "", *forms(rewrites), "",
        "## Not proved for all sizes", "", *unproved_tables(rewrites), "",
        "## Not following from all files together", "", *BEYOND_GRAMMARS,
        "The class is the first of those that fit, in the order: limits, operator, axes or ranks, "
        "size, attributes, theme. `limits of derive` is a lower bound: the smaller sets of rules "
        "lack operators that a derivation may need on its way, and most derivations from all files "
        "end at the limit of nodes, so other classes may hold rewrites that follow without it.",
        "", *not_derived_tables(rewrites), ""])
