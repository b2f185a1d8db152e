"""What an installation takes: figures of packages, by pip and by their metadata."""
import importlib.metadata
import json
import re
import sys

import tools
import trial
from trial import NO, UNCLEAR, VALUE, Cell

PACKAGES = {"onnxsim": "onnxsim", "onnxslim": "onnxslim", "onnxruntime": "onnxruntime",
            "onnxscript": "onnxscript"}
PLATFORMS = {"Linux": "manylinux_2_28_x86_64", "Windows": "win_amd64",
             "macOS": "macosx_14_0_arm64"}


def required(package, seen=None):
    """Names of the packages that it needs, and those need."""
    seen = seen if seen is not None else set()
    for line in importlib.metadata.requires(package) or []:
        if "extra ==" in line:
            continue
        name = re.match(r"[\w.-]+", line).group(0).lower().replace("_", "-")
        if name in seen or not applies(line):
            continue
        seen.add(name)
        required(name, seen)
    return seen


def applies(line):
    """Whether the marker of a requirement holds here."""
    if ";" not in line:
        return True
    from packaging.requirements import Requirement
    return Requirement(line).marker.evaluate()


def direct(package):
    return sum("extra ==" not in line and applies(line)
               for line in importlib.metadata.requires(package) or [])


def wheels():
    """Those that were built here, the last one at the end."""
    return sorted((tools.ROOT / "dist").glob("regraft-*.whl"), key=lambda p: p.stat().st_mtime)


def wheel(tool):
    if tool.name == "regraft":
        built = wheels()
        if not built:
            return Cell(VALUE, "not built here", "dist/regraft-*.whl", "none: scripts/wheel")
        return Cell(VALUE, f"{built[-1].stat().st_size / 1e6:.1f}", "dist", built[-1].name)
    package = PACKAGES[tool.name]
    version = importlib.metadata.version(package)
    with trial.folder() as place:
        trial.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", place,
                   f"{package}=={version}"], 300)
        made = list(place.iterdir())
        if not made:
            return Cell(UNCLEAR, "", "pip download --no-deps", "nothing came")
        return Cell(VALUE, f"{made[0].stat().st_size / 1e6:.1f}", "pip download --no-deps",
                    made[0].name)


def dependencies(tool):
    if tool.name == "regraft":
        text = (tools.ROOT / "pyproject.toml").read_text()
        found = re.search(r"^dependencies\s*=\s*\[(.*?)\]", text, re.M | re.S)
        count = len(re.findall(r'"[^"]+"', found.group(1))) if found else 0
        return Cell(VALUE, str(count), "pyproject.toml, dependencies", f"{count}")
    package = PACKAGES[tool.name]
    whole = sorted(required(package))
    return Cell(VALUE, f"{direct(package)}, with theirs {len(whole)}",
                "importlib.metadata.requires", ", ".join(whole))


def pythons(tool):
    if tool.name == "regraft":
        text = (tools.ROOT / "pyproject.toml").read_text()
        found = re.search(r'requires-python\s*=\s*"([^"]+)"', text)
        return Cell(VALUE, found.group(1).replace(">=", "from ") if found else "any",
                    "pyproject.toml, requires-python", found.group(0) if found else "")
    said = importlib.metadata.metadata(PACKAGES[tool.name])["Requires-Python"]
    return Cell(VALUE, said.replace(">=", "from "), "Requires-Python", said)


def platforms(tool):
    """Of regraft, the wheel's tag says it."""
    if tool.name == "regraft":
        built = wheels()
        name = built[-1].name if built else ""
        return Cell(VALUE, "Linux x86-64", "tag of scripts/wheel", name or "manylinux, x86_64")
    package = PACKAGES[tool.name]
    version = importlib.metadata.version(package)
    found = []
    for name, tag in PLATFORMS.items():
        with trial.folder() as place:
            done = trial.run([sys.executable, "-m", "pip", "install", "-q", "--dry-run",
                              "--no-deps", "--ignore-installed", "--only-binary=:all:",
                              "--platform", tag, "--python-version", "3.12", "--target", place,
                              "--report", place / "r.json", f"{package}=={version}"], 300)
            if done.returncode == 0:
                url = json.loads((place / "r.json").read_text())["install"][0]["download_info"]
                found.append((name, url["url"].rsplit("/", 1)[-1]))
    return Cell(VALUE if found else NO, ", ".join(name for name, _ in found),
                "pip install --dry-run --only-binary=:all: --platform",
                ", ".join(sorted({file for _, file in found})))


PROBES = {"wheel": wheel, "dependencies": dependencies, "pythons": pythons, "platforms": platforms}
