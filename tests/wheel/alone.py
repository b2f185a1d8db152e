"""What an installed wheel does where nothing else is installed: python alone.py PROGRAM."""
import os
import pathlib
import subprocess
import sys
import tempfile

import regraft

PACKAGE = pathlib.Path(regraft.__file__).resolve().parent
SITE = PACKAGE.parent


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    """Of a message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tiny():
    """An ONNX file, written by hand: y = Neg(Neg(x)) of 4 floats."""
    def value(name):
        shape = field(2, field(1, field(1, 4)))
        return field(1, name) + field(2, field(1, field(1, 1) + shape))

    def neg(x, y):
        return field(1, x) + field(2, y) + field(4, "Neg")
    graph = (field(1, neg("x", "m")) + field(1, neg("m", "y")) + field(2, "g")
             + field(11, value("x")) + field(12, value("y")))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def main():
    program = sys.argv[1]
    assert "site-packages" in str(PACKAGE), PACKAGE
    model = tiny()
    result = regraft.optimize(model, no_measure=True)
    assert regraft.stats(result.data)["nodes"] < regraft.stats(model)["nodes"] == 2, result
    assert regraft.validate(model, result.data).verdict == "proved"
    files = {rule.file for rule in regraft.rules()}
    assert all(pathlib.Path(f).resolve().is_relative_to(PACKAGE) if hasattr(pathlib.Path, "is_relative_to")
               else str(PACKAGE) in f for f in files), files
    assert regraft.verify(b"twice  (neg (neg ?x)) => ?x")["proved"] == 1
    assert (PACKAGE / "py.typed").is_file()
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"regraft {regraft.__version__}\n", told
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "m.onnx"), os.path.join(folder, "o.onnx")
        pathlib.Path(path).write_bytes(model)
        done = subprocess.run([program, "optimize", path, "-o", out], capture_output=True, text=True)
        assert done.returncode == 0 and os.path.getsize(out) > 0, done
        # Through a link, as /usr/local/bin may have one.
        link = os.path.join(folder, "link")
        os.symlink(PACKAGE / "bin" / "regraft", link)
        subprocess.run([link, "validate", path, out, "-q"], check=True)
        assert regraft.optimize(path, out=out, time=5).path == out


if __name__ == "__main__":
    main()
