"""The worker as another program starts it: `python -I serve.py`. In this mode Python imports nothing
from the current folder, nor what PYTHONPATH names; here the folder of this package goes first, and
behind everything else what the user has installed: absolute folders of PYTHONPATH and the user's
site-packages. None of them can take a standard module's place."""
import os
import site
import sys


def find_packages() -> None:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path.extend(folder for folder in named if os.path.isabs(folder))
    if sys.prefix == sys.base_prefix:  # a virtual environment has its own
        site.addsitedir(site.getusersitepackages())


if __name__ == "__main__":
    find_packages()
    from regraft.worker import serve
    sys.exit(serve())
