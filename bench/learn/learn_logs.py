"""The logs that `regraft train` writes, for bench/learn/run_learn.py."""
import csv
import json
import pathlib
import statistics


def read_log(path):
    """The columns of a log by name, as numbers; a line that was cut off is left out."""
    with open(path, newline="") as file:
        lines = [r for r in csv.DictReader(file) if None not in r and None not in r.values()]
    names = lines[0].keys() if lines else []
    return {n: [float(line[n]) for line in lines] for n in names}


def logs_of(folder, agent, on):
    """By seed."""
    return [read_log(p) for p in sorted(pathlib.Path(folder).glob(f"{agent}-{on}-*.csv"))]


def reports_of(folder, agent, on):
    """What `--json` wrote, by seed."""
    return [json.loads(p.read_text())
            for p in sorted(pathlib.Path(folder).glob(f"{agent}-{on}-*.json"))]


def column(logs, *names):
    """The first of the columns that is there, of each log that has it."""
    found = [next((log[n] for n in names if n in log), None) for log in logs]
    return [c for c in found if c]


def normalised(series):
    """All of them scaled by their least and greatest number; a constant is 0."""
    low, high = min(map(min, series)), max(map(max, series))
    return [[(x - low) / (high - low) if high > low else 0.0 for x in s] for s in series]


def spread(series):
    """Mean and deviation at each place that all of them have."""
    columns = list(zip(*series))
    return [statistics.mean(c) for c in columns], [statistics.pstdev(c) for c in columns]
