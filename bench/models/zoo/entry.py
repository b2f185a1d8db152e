"""What describes one export of the zoo: a network, how it is exported, and which sizes are open."""
import dataclasses
from typing import Callable

SETTINGS = {"batch": [1, 3], "sequence": [7, 12], "height": [64, 96], "width": [96, 64]}


@dataclasses.dataclass
class Case:
    """A network with one example of its inputs."""
    model: object
    inputs: dict                      # name -> tensor, in the order of the arguments
    outputs: list                     # names
    axes: dict = dataclasses.field(default_factory=dict)      # input -> {axis: name of its size}
    ranges: dict = dataclasses.field(default_factory=dict)    # input -> [least, greatest]
    settings: dict = dataclasses.field(default_factory=dict)  # size -> its two values in tests


@dataclasses.dataclass
class Row:
    """One file of the zoo. `sizes` are the open ones; any other axis is as in the example."""
    base: str
    family: str
    make: Callable                    # batch -> Case
    exporter: str = "script"
    sizes: tuple = ()
    form: str = "eval"
    opset: int = 17

    @property
    def name(self):
        tail = [*self.sizes, *(["train"] if self.form == "train" else [])]
        return "-".join([self.base, self.exporter, *tail])


def rows(base, family, make, *variants):
    """A row for each variant: the exporter, then sizes left open, then perhaps "train"."""
    for variant in variants:
        exporter, *words = variant.split(":")
        sizes = tuple(w for w in words if w != "train")
        yield Row(base, family, make, exporter, sizes, "train" if "train" in words else "eval",
                  17 if exporter == "script" else 18)


def open_axes(case, row):
    """For each input, by axis, the sizes that the row leaves open."""
    return {name: {k: size for k, size in case.axes.get(name, {}).items() if size in row.sizes}
            for name in case.inputs}


def settings(case, row):
    return {size: case.settings.get(size) or SETTINGS[size] for size in row.sizes}
