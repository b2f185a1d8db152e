"""What a few runs with random numbers say: means that outliers do not move, and how sure they are
(Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", 2021).

Runs are an array by graph, seed of training, and seed of the search; what is not trained has one
training. An interval is [value, low, high]: 95 % of what the value is when seeds are drawn anew.
"""
import numpy as np

REPLICATES, LEVEL = 2000, 0.95


def interquartile_mean(x):
    """Along the last axis, without the lowest and the highest quarter, each rounded down."""
    quarter = x.shape[-1] // 4
    return np.sort(x)[..., quarter:x.shape[-1] - quarter].mean(-1)


def probability_of_improvement(a, b):
    """Mann and Whitney: how often a number of `a` is above one of `b`, along their last axes; equal
    ones count half."""
    a, b = a[..., :, None], b[..., None, :]
    return (a > b).mean((-2, -1)) + (a == b).mean((-2, -1)) / 2


def resampled(runs, rng):
    """Many times: trainings are drawn with replacement, the same for all graphs, as policies serve
    all of them; then for each the seeds of its searches. Graphs stay as they are."""
    graphs, trainings, seeds = runs.shape
    rows = rng.integers(trainings, size=(REPLICATES, 1, trainings, 1))
    columns = rng.integers(seeds, size=(REPLICATES, graphs, trainings, seeds))
    return runs[np.arange(graphs)[:, None, None], rows, columns]


def interval(value, replicates):
    tails = np.quantile(replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return [float(value), *map(float, tails)]


def mean_of_graphs_drawn(by_graph, rng):
    """`by_graph`: a row for each replicate."""
    graphs = rng.integers(by_graph.shape[1], size=by_graph.shape)
    return np.take_along_axis(by_graph, graphs, 1).mean(1)


def score(runs):
    """Interquartile mean of all runs on all graphs together."""
    drawn = resampled(runs, np.random.default_rng(0)).reshape(REPLICATES, -1)
    return interval(interquartile_mean(runs.ravel()), interquartile_mean(drawn))


def improvement(a, b):
    """Mean over graphs of the probability that a run of `a` is above one of `b`."""
    rng = np.random.default_rng(0)
    drawn = resampled(a, rng), resampled(b, rng)
    mean = lambda a, b: np.mean([probability_of_improvement(a[g], b[g]) for g in range(len(a))], 0)
    by_graph = lambda runs: runs.reshape(len(runs), -1)
    return interval(mean(by_graph(a), by_graph(b)),
                    mean(*(d.reshape(*d.shape[:2], -1).swapaxes(0, 1) for d in drawn)))


def paired_difference(a, b):
    """Mean over graphs of the difference of the means, a - b; graphs are drawn anew too."""
    rng = np.random.default_rng(0)
    by_graph = lambda runs: runs.mean((-2, -1))
    drawn = by_graph(resampled(a, rng)) - by_graph(resampled(b, rng))
    return interval((by_graph(a) - by_graph(b)).mean(), mean_of_graphs_drawn(drawn, rng))


def geometric_mean(ratios):
    """One positive number for each graph; graphs are drawn anew. None of none."""
    if not ratios:
        return None
    logs = np.log(np.array(ratios))
    drawn = mean_of_graphs_drawn(np.tile(logs, (REPLICATES, 1)), np.random.default_rng(0))
    return [float(x) for x in np.exp(interval(logs.mean(), drawn))]


def with_one_left_out(ratios):
    """The lowest geometric mean without one of them, and the name of that one. `ratios`: by name."""
    logs = {name: np.log(r) for name, r in ratios.items()}
    total = sum(logs.values())
    without = {name: float(np.exp((total - x) / (len(logs) - 1))) for name, x in logs.items()}
    return min((mean, name) for name, mean in without.items())


def sign_flips(differences):
    """How likely a mean at least as far from 0 is when each difference might as well have had the
    other sign."""
    x = np.array(differences)
    signs = np.random.default_rng(0).choice([-1, 1], size=(20000, len(x)))
    means = np.abs((signs * np.abs(x)).mean(1))
    return float((1 + (means >= abs(x.mean()) - 1e-12).sum()) / (1 + len(means)))


def holm(chances):
    """Holm's correction (1979): by name, what a chance is worth among that many comparisons."""
    adjusted, least = {}, 0.0
    for k, (name, p) in enumerate(sorted(chances.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, p * (len(chances) - k)))
        adjusted[name] = least
    return adjusted
