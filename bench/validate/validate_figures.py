"""Figures of validate.md from the cases and what was said of them."""
import collections
import json
import re
import statistics

import doubles

PROVED, CONSTANTS = "proved", "proved-up-to-constants"
KNOWN = (PROVED, CONSTANTS, "unknown", "refuted")
SHARED = ("verdict", "seconds", "processor", "memory", "weights", "outputs", "reasons", "open",
          "apart", "counterexample", "ran", "in double", "told", "interface", "exit")
DIFFERS = 1e-3  # of an output's largest magnitude: onnxruntime's own rounding is far below


def runs(records):
    """By tool: models, changed, unchanged, failed; and the errors."""
    found = {}
    for record in records:
        row = found.setdefault(record["tool"], {"version": record["version"], "models": 0,
                                                "structure": 0, "opset": 0, "nothing": 0,
                                                "failed": 0})
        row["models"] += 1
        row[record.get("changed", "failed")] += 1
    return found


def verdict(case):
    """One of KNOWN, or failed: no report was written."""
    said = case["said"]["verdict"]
    return said if said in KNOWN else "failed"


def agreed(case):
    """Whether onnxruntime sees the difference, too; None: it could not say."""
    ran = case["said"].get("ran", {})
    if "differences" not in ran:
        return None
    return any(d is None or d > DIFFERS for d in ran["differences"])


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def times(chosen):
    seconds = [c["said"]["seconds"] for c in chosen]
    return {"median": statistics.median(seconds), "p95": quantile(seconds, 0.95),
            "max": max(seconds)}


def summed(chosen):
    """Of some pairs."""
    counts = collections.Counter(verdict(c) for c in chosen)
    outputs = [o for c in chosen for o in c["said"].get("outputs", ["unknown"])]
    refuted = [agreed(c) for c in chosen if verdict(c) == "refuted"]
    return {"count": len(chosen), **{kind: counts[kind] for kind in (*KNOWN, "failed")},
            "refuted rightly": refuted.count(True), "outputs": len(outputs),
            "outputs proved": sum(o in (PROVED, CONSTANTS) for o in outputs), **times(chosen),
            "memory": max(max(0, c["said"]["memory"] - c["said"]["weights"]) for c in chosen)}


def summed_mutants(chosen):
    counts = collections.Counter(verdict(c) for c in chosen)
    replayed = sum(bool((c["said"].get("counterexample") or {}).get("replayed")) for c in chosen
                   if verdict(c) == "refuted")
    return {"count": len(chosen), "proved": counts[PROVED] + counts[CONSTANTS],
            "refuted": counts["refuted"], "replayed": replayed, "unknown": counts["unknown"],
            "failed": counts["failed"], **times(chosen)}


def by_accident(case):
    """A mutant that was proved, and whose sides agree in double precision."""
    gap = case["said"].get("in double")
    return gap is not None and gap <= doubles.AGREE


def by(cases, key, work):
    groups = {}
    for case in cases:
        groups.setdefault(case[key], []).append(case)
    found = {name: work(groups[name]) for name in sorted(groups)}
    return {**found, "all": work(cases)} if cases else {}


def reason(said):
    """Why it is unknown, without names and numbers."""
    told = said.get("told") or next(iter(said.get("reasons") or []), "") or next(
        (o["reason"] for o in said.get("open", [])), "")
    told = re.sub(r"/\S*/", "", told)  # of files no folders
    told = re.sub(r"'[^']*'|\"[^\"]*\"", "...", told)
    return re.sub(r"\d+(\.\d+)?", "N", told) or "no reason given"


def operators_of(said):
    """Of the smallest window that was not decided, or else the nodes that no window reaches."""
    smallest = next((o["operators"] for o in said.get("open", []) if o["operators"]), None)
    return smallest or said.get("apart", [])


def classes(cases):
    """Of what was not decided: [reason, operators, how many, names], the most frequent first."""
    groups = {}
    for case in cases:
        if verdict(case) in ("unknown", "failed"):
            key = reason(case["said"]), ", ".join(operators_of(case["said"])[:6])
            groups.setdefault(key, []).append(case["id"])
    rows = [[*key, len(names), sorted(names)] for key, names in groups.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


def side_by_side(certified):
    """{group: {(regraft's word, onnxsim's word) as text: how many}}."""
    found = {}
    for row in certified:
        word = "proved" if row["regraft"] in (PROVED, CONSTANTS) else row["regraft"]
        group = found.setdefault(row["group"], {})
        name = f"{word} / {row['word']}"
        group[name] = group.get(name, 0) + 1
    return found


def refuted(cases):
    return [{"id": c["id"], "agreed": agreed(c), "ran": c["said"].get("ran", {}),
             "interface": c["said"].get("interface", []),
             "counterexample": c["said"].get("counterexample")}
            for c in cases if verdict(c) == "refuted"]


def figures(kept):
    pairs = [c for c in kept["cases"] if c["group"] == "pair"]
    mutants = [c for c in kept["cases"] if c["group"] == "mutant" and not by_accident(c)]
    accidents = [c for c in kept["cases"] if by_accident(c)]
    return {**{key: kept[key] for key in ("date", "program", "versions", "whole", "runs")},
            "pairs": by(pairs, "tool", summed), "unknown": classes(pairs),
            "refuted": refuted(pairs), "sorted": kept["sorted"],
            "mutants": by(mutants, "kind", summed_mutants),
            "mutants by tool": by(mutants, "tool", summed_mutants),
            "mutants unknown": classes(mutants),
            "accidents": [[c["id"], c["what"], c["said"]["in double"]] for c in accidents],
            "mutants proved": [[c["id"], c["what"]] for c in mutants
                               if verdict(c) in (PROVED, CONSTANTS)],
            "certified": side_by_side(kept["certified"])}


def shortened(case):
    """What is kept of a case: of a mutant that was refuted only that it was, and where."""
    said = {k: case["said"][k] for k in SHARED if case["said"].get(k)}
    if case["group"] == "mutant" and said["verdict"] == "refuted":
        for name in ("reasons", "outputs", "ran", "interface", "exit", "processor"):
            said.pop(name, None)
        found = said.get("counterexample") or {}
        said["counterexample"] = {k: found[k] for k in ("sizes", "replayed") if k in found}
    return said


def rounded(value):
    """Numbers to four digits, all through."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def dumped(found, kept):
    """JSON with a line for each case; without paths."""
    rows = []
    for case in kept["cases"]:
        facts = {key: case[key] for key in ("id", "changed", "nodes", "kind", "what", "difference",
                                            "at") if key in case}
        rows.append(rounded({**facts, **shortened(case)}))
    parts = {"cases": rows, "certified by onnxsim": kept["certified"]}
    text = json.dumps(found, indent=1)[:-2]
    for name, lines in parts.items():
        rows = [json.dumps(line, separators=(",", ":")) for line in lines]
        text += f',\n "{name}": [\n' + ",\n".join(rows) + "\n ]"
    return text + "\n}\n"
