"""Findings by cause: the tool, what goes wrong, and the minimal model's operators."""
import fnmatch
import json
import pathlib

CAUSES = pathlib.Path(__file__).with_name("causes.json")
GOES_WRONG = ("values", "shape", "type", "interface", "fails")  # the rest are ends of the tool


def key(finding):
    return finding["tool"], finding["kind"], finding["pass"], finding["operators"]


def known():
    """The hand-written table: why each cause is wrong, and its thread where there is one."""
    return json.loads(CAUSES.read_text())


def matches(row, finding):
    """Does a row of the table speak of this finding? Every field that it names must fit; of the
    texts in `contains` one."""
    return all(row[field] == finding[field] for field in ("tool", "kind", "pass") if field in row) \
        and any(part in finding["text"] for part in row.get("contains", [""])) \
        and row.get("says", "") in finding["detail"] \
        and any(fnmatch.fnmatchcase(finding["operators"], ops) for ops in row["operators"])


def clusters(findings, rows):
    """Causes: findings that a row of the table speaks of are one; others are one for each key.
    The finding with the smallest model stands for all."""
    causes = {}
    for finding in findings:
        row = next((k for k, r in enumerate(rows) if matches(r, finding)), None)
        causes.setdefault(("row", row) if row is not None else key(finding), []).append(finding)
    made = []
    for name, group in causes.items():
        group.sort(key=lambda f: (f["nodes"], len(f["text"]), f["probe"]))
        row = rows[name[1]] if name[0] == "row" else {}
        made.append({**group[0], "why": row.get("why", ""), "thread": row.get("thread", ""),
                     "verdict": row.get("verdict", "") if row else "not looked at",
                     "probes": len(group),
                     "all operators": sorted({f["operators"] for f in group}),
                     "levels": sorted({f["level"] for f in group} - {""})})
    return sorted(made, key=lambda c: (c["tool"], c["kind"] not in GOES_WRONG, c["kind"],
                                       c["operators"]))


def counted(cause):
    """Is it a mistake that stands: agreed by the reference where that knows the operators, within
    what ONNX defines, and not set aside on a second look?"""
    return cause["kind"] in GOES_WRONG and cause["agreed"] != "differs" \
        and cause["verdict"] not in ("aside", "not looked at") and not cause["edge"]
