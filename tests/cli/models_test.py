#!/usr/bin/env python3
"""Optimises the light models of the onnx package and the tiny built ones: each must pass onnx.checker and
agree with its original in onnxruntime, and some must cost less.

  python models_test.py REGRAFT
"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
sys.path.insert(0, str(venv.ROOT / "bench"))

import run_models  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    table = pathlib.Path(folder) / "models.md"
    failed = run_models.main(["--tiny", "--models", folder, "--time", "5", "--regraft", sys.argv[1],
                              "--out", str(table)])
    rows = [line for line in table.read_text().splitlines() if re.search(r"\| (ok|exit|\w+:.*) \|$", line)]
    saved = [row for row in rows if re.search(r"\| [1-9][0-9.]* % \|", row)]
    print(f"{len(rows)} models, {len(saved)} cost less")
    sys.exit(1 if failed or len(rows) < 15 or len(saved) < 3 else 0)
