"""Names of the probes that have found causes, in bench/court-found.json: a run begins with them."""
import json
import pathlib

NAME = "court-found.json"
PATH = pathlib.Path(__file__).resolve().parents[1] / NAME


def read():
    return json.loads(PATH.read_text()) if PATH.exists() else []


def write(folder, names):
    """The names that are known and these, to a file in the folder."""
    (folder / NAME).write_text(json.dumps(sorted({*read(), *names}), indent=1) + "\n")
