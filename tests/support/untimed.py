"""Import it for choices that are the same on every machine: no profile of this machine is found, and
no runtime with which the programs under test could time candidates."""
import os

os.environ["REGRAFT_PROFILES"] = ""
os.environ["REGRAFT_PYTHON"] = "/nowhere/python"
