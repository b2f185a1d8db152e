"""Writes ../fleet.md from the figures of run_fleet.py, and what simulate.py says of larger runs."""
import pathlib
import textwrap

import simulate

OUT = pathlib.Path(__file__).resolve().parents[1] / "fleet.md"


def killed(name, f, workers):
    return (f"| {name} | {f['runs']} | {workers} | {f['killed']} | {f['killed_at_work']} | "
            f"{f['same']} | {f['failed']} | {f['left_open']} | {f['seconds']:.0f} s |")


def kill_table(figures):
    rows = [killed(name, figures[part], figures["workers"])
            for part, name in (("ray", f"Ray {figures.get('ray_version', '')}"),
                               ("parallel", "GNU parallel")) if part in figures]
    if not rows:
        return []
    return ["## Workers that are killed", "",
            f"`regraft verify` of {figures['rules']} rules; in each run one worker is killed with "
            "-9 at a random moment, unless the run ended before. Same: the proved file has the "
            "bytes of one process.", "",
            "| under | runs | workers | killed | of these while they held a lease | same bytes | "
            "runs that failed | tasks left open | wall |",
            "|---|---|---|---|---|---|---|---|---|", *rows, ""]


def trouble_table(figures):
    if "trouble" not in figures:
        return []
    f = figures["trouble"]
    full, stale, two = f["full disk"], f["stale lease"], f["two workers at one task"]
    yes = {True: "yes", False: "no"}
    return ["## Other trouble", "", "| what | what happened | same bytes |", "|---|---|---|",
            f"| full disk | exit {full['first_exit']}: `{full['said']}`; {full['results_kept']} "
            f"results stay; with room again exit {full['second_exit']} | {yes[full['same']]} |",
            f"| stale lease: a worker suspended while it held {stale['held_when_suspended']} | exit "
            f"{stale['exit']} | {yes[stale['same']]} |",
            f"| two workers at one task: {two['leases_removed']} leases removed under workers | "
            f"exit {two['exit']} | {yes[two['same']]} |", ""]


def scaling_table(figures):
    if "scaling" not in figures:
        return []
    runs = min(f.get("runs", 1) for f in figures["scaling"].values())
    of = f" Of {runs} interleaved runs those with the median sum." if runs > 1 else ""
    lines = ["## From one worker to two", "",
             "Processor: seconds of the command, which only hands out and collects, and of its "
             "busiest worker; their sum is what a machine of its own would take. Wall: on this "
             "machine, which others used meanwhile." + of, "",
             "| what | workers | command | busiest worker | sum | wall |", "|---|---|---|---|---|---|"]
    for name, f in figures["scaling"].items():
        for k, row in enumerate(f["rows"]):
            busiest = max(row["workers"])
            lines.append(f"| {name} | {k + 1} | {row['own']:.1f} s | {busiest:.1f} s | "
                         f"{row['own'] + busiest:.1f} s | {row['wall']:.1f} s |")
        lines.append(f"| | ratio | | | {f['processor_ratio']:.2f} | {f['wall_ratio']:.2f} |")
    return [*lines, ""]


def simulation_table(figures):
    lines = ["## On paper: 64 machines of 32 cores", "",
             "`bench/fleet/simulate.py`: what larger sizes would take, with costs measured on "
             "smaller ones (`generate.md`). See [docs/fleet.md](../docs/fleet.md).", "",
             "| what | rounds | applications | pairs | tasks | bytes moved | processor hours | "
             "hours: last level | hours: rounds | of these one after another |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for r in simulate.table(figures.get("sizes", {})):
        how = "growing" if r["growing"] else "of 2,048 groups"
        lines.append(f"| {r['case']} | {r['rounds']:,} {how} | {r['applications']:.2g} | "
                     f"{r['pairs']:.2g} | {r['tasks']:,} | {r['bytes'] / 1e9:,.0f} GB | "
                     f"{r['cpu_hours']:,.0f} | {r['enumerate_hours']:.2f} | "
                     f"{r['round_hours']:,.1f} | {r['judge_hours']:,.1f} |")
    return [*lines, ""]


def wrapped(line):
    """Prose in lines of 100 columns; a row of a table as it is."""
    return [line] if line.startswith("|") or not line else textwrap.wrap(
        line, 100, break_long_words=False, break_on_hyphens=False)


def write(figures):
    lines = ["# Fleets", "", "Written by `python bench/fleet/run_fleet.py`.",
             f"Machine: {figures['machine']}.", "", *kill_table(figures), *trouble_table(figures),
             *scaling_table(figures), *simulation_table(figures)]
    text = [part for line in lines for part in wrapped(line)]
    OUT.write_text("\n".join(text).rstrip() + "\n")
