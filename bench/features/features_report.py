"""docs/comparison.md, from the record of what was tried."""
import features
import prose

def cell_text(cell, notes):
    """The verdict with the number of its note; a note that a table has already is not repeated."""
    if cell is None:
        return "?"
    if cell["verdict"] == "value":
        return cell["note"]
    if not cell["note"]:
        return cell["verdict"]
    if cell["note"] not in notes:
        notes.append(cell["note"])
    return f"{cell['verdict']} ({notes.index(cell['note']) + 1})"


def continued(sentence):
    """As it stands behind a colon; names in capitals stay."""
    plain = sentence[1].islower() or sentence[1] == " "
    return sentence[0].lower() + sentence[1:] if plain else sentence


def section(title, entries, cells, columns):
    notes = []
    lines = [f"## {title}", "", f"| | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for key, name, _ in entries:
        row = [cell_text(cells.get(key, {}).get(tool), notes) for tool in columns]
        lines.append(f"| {name} | {' | '.join(row)} |")
    if notes:
        lines += ["", "; ".join(f"({k}) {note}" for k, note in enumerate(notes, 1)) + "."]
    lines += ["", "How each was tried:", ""]
    lines += [f"* {name}: {continued(how)}" for _, name, how in entries]
    return "\n".join(lines)


def others_ahead(cells, columns):
    """Features where regraft says less than the best of the others."""
    rank = {"no": 0, "?": 0, "partly": 1, "yes": 2}
    found = []
    for _, entries in features.SECTIONS:
        for key, name, _ in entries:
            row = {tool: rank.get(cell["verdict"]) for tool, cell in cells.get(key, {}).items()}
            mine = row.pop(columns[0], None)
            better = [tool for tool in columns[1:] if row.get(tool) is not None
                      and mine is not None and row[tool] > mine]
            if better:
                found.append(f"{name} ({', '.join(better)})")
    return found


def page(record, columns):
    cells, versions = record["cells"], record["versions"]
    others = sorted(set(versions) - {"python", *columns})
    shown = ", ".join(f"{name} {versions[name]}" for name in [*columns, *others])
    ahead = others_ahead(cells, columns)
    head = [
        "# Feature by feature", "",
        f"Written by `bench/features/run_features.py` on {record['date']}, under Python "
        f"{versions['python']}: {shown}.", "",
        "Each cell was tried: a small model went through the tool, in a process of its own, and "
        "what came out was looked at and run beside the original. `onnxruntime` stands for its "
        "offline optimisation (`SessionOptions.optimized_model_filepath`) and for "
        "`onnxruntime.transformers`, `onnxscript` for its optimizer and rewriter and for the "
        "passes of `onnx_ir`. A tool has a feature if any documented way of it does; a note names "
        "the way that is not the default one. `no` of something that a tool does not offer means "
        "that its help, signatures and public names were searched for it. What was run and what "
        "came out is in [bench/features.json](../bench/features.json).", "",
        "What the results are worth in time and size is another question: "
        "[bench/peers.md](../bench/peers.md), [bench/zoo/zoo.md](../bench/zoo/zoo.md), "
        "[bench/zoo/simplify.md](../bench/zoo/simplify.md). Which results are wrong: "
        "[bench/court.md](../bench/court.md).", ""]
    if ahead:
        head += [f"Others are ahead of regraft in: {'; '.join(ahead)}.", ""]
    body = "\n\n".join(section(title, entries, cells, columns)
                       for title, entries in features.SECTIONS)
    again = ["", "## Again", "", "```",
             "build/venv-bench/bin/pip install -r bench/requirements.txt",
             "build/venv-bench/bin/python bench/features/run_features.py", "```", "",
             "`--tools` and `--features` try some cells only; the others stay as they are.", ""]
    return prose.wrapped("\n".join([*head, body, *again]))
