"""How many times as fast one model is as another, from rounds in which both ran."""
import statistics

import numpy as np

RESAMPLES = 1000


def medians_of_resamples(ratios, draw):
    """Of as many rounds, drawn with repetition."""
    ratios = np.asarray(ratios, dtype=np.float64)
    return np.median(ratios[draw.integers(0, len(ratios), (RESAMPLES, len(ratios)))], axis=1)


def speed(passes):
    """{"ratio", "low", "high"}: the speed-up and its 95 % interval, of passes with sessions of
    their own. A pass is (runs of the reference, runs of the other), round by round. Each pass
    counts alike: the geometric mean of the medians of their ratios. The interval is a bootstrap
    over the passes and the rounds of each: sessions of the same model differ, too."""
    draw = np.random.default_rng(0)
    ratios = [[a / b for a, b in zip(reference, other)] for reference, other in passes]
    logarithms = np.log([medians_of_resamples(r, draw) for r in ratios])
    size = (RESAMPLES, len(ratios))
    drawn = logarithms[draw.integers(0, len(ratios), size), draw.integers(0, RESAMPLES, size)]
    low, high = np.exp(np.percentile(drawn.mean(axis=1), [2.5, 97.5]))
    return {"ratio": statistics.geometric_mean(map(statistics.median, ratios)),
            "low": float(low), "high": float(high)}


def milliseconds(passes):
    """Of the same, in microseconds, of one model."""
    return statistics.geometric_mean(map(statistics.median, passes)) / 1000


def figures(passes, references):
    """Of each model, from {model: microseconds of its runs, or its error} of each pass. A model
    without a reference that ran has only its milliseconds."""
    found = {}
    for name, reference in references.items():
        errors = [p[name] for p in passes if isinstance(p[name], str)]
        if errors:
            found[name] = {"error": errors[0][:160]}
            continue
        found[name] = {"ms": milliseconds([p[name] for p in passes])}
        if name != reference and not any(isinstance(p[reference], str) for p in passes):
            found[name].update(speed([(p[reference], p[name]) for p in passes]))
    return found
