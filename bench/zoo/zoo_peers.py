"""What other optimisers make of a model of the zoo, kept from one run of the script to the next."""
import hashlib
import importlib.metadata
import json
import pathlib
import sys

import peers
import zoo_tools

PEERS = list(peers.OPTIMISERS)
PATIENCE = 60  # seconds for one on one model
WORKERS = [pathlib.Path(peers.__file__), zoo_tools.HERE / "zoo_check.py"]


def key(peer, entry, source):
    """Of all that the result follows from."""
    digest = hashlib.sha256()
    for path in [source, *WORKERS]:
        digest.update(hashlib.sha256(pathlib.Path(path).read_bytes()).digest())
    versions = [importlib.metadata.version(name) for name in ("onnx", "onnxruntime")]
    digest.update(json.dumps([peer, peers.version(peer), *versions, entry]).encode())
    return digest.hexdigest()[:20]


def made(peer, entry, source, folder):
    """What its run took, facts of its result, and the result's path. The next call finds them in
    the folder, unless the time ended while others had the processor."""
    name = key(peer, entry, source)
    target, known = folder / f"{name}.onnx", folder / f"{name}.json"
    if known.exists():
        return json.loads(known.read_text()), target
    line = [sys.executable, peers.__file__, peer, source, target, entry["architecture"]]
    result = zoo_tools.made_by(line, entry, source, target, "--hostile", patience=PATIENCE)
    if result.get("late", PATIENCE) >= 0.9 * PATIENCE:  # not for want of a processor
        known.write_text(json.dumps(result))
    return result, target
