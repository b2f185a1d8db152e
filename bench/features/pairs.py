"""Pairs of models, equal and not, for those that prove or refute."""
import onnx

import models
import trial
from trial import NO, PARTLY, YES, Cell, first_line


def others_results():
    """(name, original, result) of other optimisers, and of rewrites by hand."""
    import onnxsim
    import onnxslim
    from onnxscript import optimizer
    normed = models.conv_bn()
    yield "onnxsim, Conv+BatchNormalization", normed, onnxsim.simplify(normed)[0]
    model = models.shapes()
    yield "onnxslim, a flattening", model, onnxslim.slim(trial.copied(model))
    model = models.nothing_done()
    yield "onnxscript, what does nothing", model, optimizer.optimize(trial.copied(model))
    yield "by hand, x V + x W = x (V + W)", models.distributed(), models.distributed_by_hand()
    yield "by hand, Conv 3x3 and 1x1 joined", models.branches(), models.branches_by_hand()
    model = models.gelu()
    yield "onnxsim, GELU", model, onnxsim.simplify(model)[0]
    model = models.layer_norm()
    yield "onnxsim, LayerNormalization", model, onnxsim.simplify(model)[0]
    model = models.open_sizes()
    yield "onnxslim, open sizes", model, onnxslim.slim(trial.copied(model))


def judged(prover, ran):
    """How many of these pairs a prover proves: a function of two models to (proved, words)."""
    words, proved, count = [], 0, 0
    for name, before, after in others_results():
        count += 1
        try:
            fine, said = prover(before, after)
        except Exception as problem:
            fine, said = False, first_line(problem)
        proved += fine
        words.append(f"{name}: {said}")
    verdict = YES if proved == count else PARTLY if proved else NO
    return Cell(verdict, f"{proved} of {count} pairs", ran, "; ".join(words))


def wrong_pair():
    """An optimiser that took the wrong mean of a batch normalisation."""
    import onnxsim
    before = models.conv_bn()
    after = onnxsim.simplify(before)[0]
    for tensor in after.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor).copy()
        if array.shape == (6,):
            array += 0.25
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return before, after
