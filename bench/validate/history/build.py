"""How the pairs are written: models as ONNX text, weights as multiples of 1/8, and what is known of
a thread."""
import dataclasses

import numpy as np
import onnx
from onnx import numpy_helper, parser

PAIRS = []


def weights(seed, *shape, low=-16, high=17):
    """Random multiples of 1/8, never 0: exact in float32, so that text and arithmetic are exact."""
    drawn = np.random.default_rng(seed).integers(low, high, shape)
    return (np.where(drawn == 0, 3, drawn) / 8).astype(np.float32)


def positive(seed, *shape):
    return weights(seed, *shape, low=4, high=17)


def ints(*values):
    return np.array(values, np.int64)


def model(graph, opset=17, ir=8, **initializers):
    """A model of one graph of ONNX text; its initializers are named as in the text, its nodes
    after what they compute."""
    made = parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}]> {graph}')
    for node in made.graph.node:
        node.name = node.name or f"{node.op_type}_{node.output[0]}"
    for name, value in initializers.items():
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return made


@dataclasses.dataclass
class Pair:
    """One thread, or one of the pairs that onnxsim tests its certificates with.

    made: the tool, its version, its Python where an old one is needed, and its options; without a
    tool the second model is written by hand from the thread's description.
    expected: proved, proved-up-to-constants, refuted, or invalid: the tool left a model that no
    runtime accepts. low, high: where the inputs are drawn from when both models run."""
    name: str
    thread: str
    title: str
    before: onnx.ModelProto
    expected: str
    said: str
    wrong: str
    condition: str
    passes: str
    made: tuple = ()
    after: onnx.ModelProto = None
    sizes: dict = dataclasses.field(default_factory=dict)
    low: float = -4.0
    high: float = 4.0
    group: str = "history"


def pair(thread, title, **known):
    """Registers what the function returns: the model before, or both models."""
    def register(function):
        both = function()
        before, after = both if isinstance(both, tuple) else (both, None)
        PAIRS.append(Pair(name=function.__name__, thread=thread, title=title, before=before,
                          after=after, **{"expected": "refuted", **known}))
        return function
    return register
