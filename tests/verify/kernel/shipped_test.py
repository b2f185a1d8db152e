#!/usr/bin/env python3
"""The derivations that ship: the kernel in C++ accepts all, of every rule that says so, and the one in
Python accepts those that it is asked about.

  python shipped_test.py REGRAFT [EVERY]     one in EVERY goes to the second kernel, default 600
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def replayed(program, rules, folder):
    """The report, and the file of claims."""
    derivations = rules.with_suffix(".derivations.gz")
    report, claims = os.path.join(folder, "report.json"), os.path.join(folder, "claims")
    run = subprocess.run([program, "check", rules, "--derivations", derivations, "--json", report,
                          "--claims", claims, "-q"])
    assert run.returncode in (0, 1), run.returncode
    return json.loads(pathlib.Path(report).read_text()), claims


def check(program, rules, every):
    with tempfile.TemporaryDirectory() as folder:
        report, claims = replayed(program, rules, folder)
        lines = {line.split()[0]: line for line in rules.read_text().splitlines() if not line.startswith("#")}
        for rule in report["rules"]:
            whole = rule["accepted"] == rule["proofs"]
            assert not rule["refused"], rule
            assert whole == ("  proved:all-sizes" in lines[rule["name"]]), rule["name"]
        second = subprocess.run([sys.executable, "-m", "regraft.kernel", claims, "--every", every],
                                env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        return second.returncode == 0


def main():
    program, every = sys.argv[1], (sys.argv[2:] or ["600"])[0]
    files = sorted((ROOT / "substitutions").rglob("*.rules"))
    good = [check(program, file, every) for file in files if file.with_suffix(".derivations.gz").exists()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
