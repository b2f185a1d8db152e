"""`regraft` and `python -m regraft`: the program itself, which measures with this Python."""
import os
import sys

from . import program


def main() -> int:
    """Becomes the program; returns only where there is none."""
    try:
        path = program.find(program.own())  # what PATH has may be this script
    except program.Failure as error:
        print(f"regraft: {error}", file=sys.stderr)
        return 3
    if sys.executable:
        os.environ.setdefault("REGRAFT_PYTHON", sys.executable)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
