#!/usr/bin/env python3
"""Changed derivations of true claims, and derivations for false ones: no kernel accepts one of the
latter, and the kernel in C++ and the one in Python agree on all.

  KERNEL_ATTACK=build/.../kernel_attack campaign_test.py [COUNT FALSE [DERIVATIONS...]]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    count, wrong, *derivations = sys.argv[1:] or ["240", "40"]
    with tempfile.TemporaryDirectory() as folder:
        claims = os.path.join(folder, "claims")
        attack = subprocess.run([os.environ["KERNEL_ATTACK"], str(ROOT), "--count", count, "--false", wrong,
                                 "--claims", claims, *derivations])
        second = subprocess.run([sys.executable, "-m", "regraft.kernel", claims],
                                env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    return attack.returncode or second.returncode


if __name__ == "__main__":
    sys.exit(main())
