"""bench/validate.md from the figures."""
import prose
import zoo_tools

SHOWN = 60  # names of one class


def number(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def pair_rows(found):
    rows = []
    for name, row in found.items():
        rows.append([name, row["count"], row["proved"], row["proved-up-to-constants"],
                     row["unknown"], row["refuted"] - row["refuted rightly"],
                     row["refuted rightly"], row["failed"],
                     share(row["proved"] + row["proved-up-to-constants"], row["count"]),
                     share(row["outputs proved"], row["outputs"]), number(row["median"]),
                     number(row["p95"]), number(row["max"]), f"{row['memory'] / 2**20:.0f}"])
    return rows


def pairs_section(f):
    head = ["tool", "pairs", "proved", "up to constants", "unknown", "refuted, false",
            "refuted, rightly", "no report", "proved, of pairs", "of outputs", "median s", "95 % s",
            "max s", "MiB"]
    return ["## What optimisers make", "",
            "Each pair is a model of the zoo and what a tool makes of it. Only pairs in which "
            "something changed count: other nodes, or the same nodes under another opset. All "
            "open sizes stay open.", "",
            "* proved: all outputs are equal over the real numbers, for all inputs and sizes;",
            "* up to constants: so they are, and changed constants differ by no more than what "
            "rounding explains;",
            "* unknown: not decided within 110 s and 4 GB;",
            "* refuted, false: refuted, though onnxruntime without optimisations sees no "
            "difference on random inputs; rightly: it sees one;",
            "* no report: the program failed or did not end;",
            "* of outputs: outputs that were proved, up to constants or not;",
            "* s: seconds for one pair, measured from outside; MiB: the most memory that a pair "
            "took, less the size of both files.", "",
            *zoo_tools.table(head, pair_rows(f["pairs"]))]


def runs_section(f):
    head = ["tool", "version", "models", "changed", "opset only", "unchanged", "failed"]
    rows = [[name, r["version"], r["models"], r["structure"], r["opset"], r["nothing"],
             r["failed"]] for name, r in f["runs"].items()]
    return ["## Where the pairs come from", "",
            "Every tool ran on every model, with its usual choice of passes, in at most 120 s. "
            "Unchanged: the graph is the same but for names and order.", "",
            *zoo_tools.table(head, rows)]


def classes_section(title, classes):
    if not classes:
        return [f"## {title}", "", "None.", ""]
    rows = [[count, reason, operators or "-", "; ".join(names[:SHOWN])]
            for reason, operators, count, names in classes]
    return [f"## {title}", "",
            "By the reason given, and the operators of the smallest window that was not decided, "
            "or of the nodes that no window reaches.", "",
            *zoo_tools.table(["pairs", "reason", "operators", "which"], rows)]


def refuted_section(f):
    if not f["refuted"]:
        return []
    rows = []
    for row in f["refuted"]:
        case = row["counterexample"] or {}
        seen = {True: "differs", False: "agrees", None: "does not run"}[row["agreed"]]
        what = case.get("failure") or "; ".join(row["interface"]) or (
            f"{case.get('output')}: {case.get('a')} and {case.get('b')}")
        rows.append([row["id"], seen, case.get("replayed") or "no", what])
    return ["## Refuted pairs", "",
            *zoo_tools.table(["pair", "in onnxruntime", "replayed", "difference"], rows)]


def mutant_rows(found):
    return [[name, r["count"], r["proved"], r["refuted"], r["replayed"], r["unknown"], r["failed"],
             share(r["replayed"], r["count"]), number(r["median"]), number(r["p95"]),
             number(r["max"])] for name, r in found.items()]


def mutants_section(f):
    if not f["mutants"]:
        return []
    head = ["", "mutants", "proved", "refuted", "and replayed", "unknown", "no report",
            "replayed, of all", "median s", "95 % s", "max s"]
    made = f["sorted"]
    lines = ["## Mutants", "",
             "One change to the second model of a right pair; the first model is compared with "
             "the mutant. An evaluator that knows nothing of proofs runs both in onnxruntime "
             "without optimisations: at two settings of the open sizes and three magnitudes of "
             f"the inputs. Of {sum(made.get('verdicts', {}).values())} changes it says:", "",
             *(f"* {verdict}: {count};" for verdict, count in sorted(
                 made.get("verdicts", {}).items())), "",
             f"A mutant differs where an output's difference is above {made.get('limit'):g} of its "
             f"largest magnitude, and above {made.get('margin')} times the rounding of the right "
             f"pair; up to {made.get('accident'):g} it is equal by accident, in between close. "
             "Invalid ones do not load, do not run or have another shape. Only those that differ "
             "are shown to the validator. Replayed: its counterexample differs in onnxruntime, "
             "too.", "",
             *zoo_tools.table(["kind", *head[1:]], mutant_rows(f["mutants"])),
             *zoo_tools.table(["tool", *head[1:]], mutant_rows(f["mutants by tool"]))]
    if f["accidents"]:
        lines += ["Equal by accident after all: these were proved, and in double precision, where "
                  "ONNX's reference evaluator runs them, their outputs agree. They are not counted "
                  "above.", "",
                  *(f"* {name}: {what}; {gap:.0e} of the largest magnitude apart"
                    for name, what, gap in f["accidents"]), ""]
    if f["mutants proved"]:
        lines += ["Proved, and wrong:", "",
                  *(f"* {name}: {what}" for name, what in f["mutants proved"]), ""]
    return lines


def certified_section(f):
    if not f["certified"]:
        return []
    lines = ["## onnxsim's certificates", "",
             "`onnxsim --certify` 0.8.1 on a sample of the same pairs and mutants, spread evenly; "
             "it needs fixed shapes, and sees open sizes at the first of the zoo's two. Error: it "
             "failed, or did not end within 120 s.", ""]
    for group, counts in f["certified"].items():
        words = sorted({name.split(" / ")[0] for name in counts})
        rows = [[word, *(counts.get(f"{word} / {other}", 0)
                         for other in ("proved", "skipped", "refuted", "error"))]
                for word in words]
        rows.append(["all", *(sum(r[k] for r in rows) for k in range(1, 5))])
        lines += [f"Of {sum(counts.values())} {group}s:", "",
                  *zoo_tools.table([f"{group}s: regraft says", "onnxsim: proved", "skipped",
                                    "refuted", "error"], rows)]
    return lines


def text(f):
    versions = ", ".join(f"{name} {version}" for name, version in f["versions"].items())
    lines = ["# Validating what optimisers make", "",
             f"Written by `bench/validate/run_validate.py` on {f['date']}; {versions}; regraft "
             f"{f['program']} (digest of the program)."
             + ("" if f["whole"] else " A sample, not all cases."), "",
             *pairs_section(f), *classes_section("Not decided", f["unknown"]),
             *refuted_section(f), *mutants_section(f)]
    if f["mutants"]:
        lines += classes_section("Mutants not decided", f["mutants unknown"])
    lines += [*certified_section(f), *runs_section(f), "## To make it anew", "", "```",
              "P=build/venv-bench/bin/python",
              "$P bench/validate/make_pairs.py --zoo ZOO --out PAIRS",
              "$P bench/validate/mutants.py --zoo ZOO --pairs PAIRS --out MUTANTS",
              "$P bench/validate/run_validate.py --zoo ZOO --pairs PAIRS --mutants MUTANTS "
              "--certify 100", "```"]
    return prose.wrapped("\n".join(lines).rstrip()) + "\n"
