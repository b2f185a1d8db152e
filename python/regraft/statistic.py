"""Medians and how far they can be trusted."""
import math
import statistics
from typing import Dict, List, Sequence


def half_width(samples: Sequence[float]) -> float:
    """Half the width of a 95 % interval of the median, from order statistics: no assumption about
    the distribution. With fewer than 6 samples it is half their range."""
    ordered = sorted(samples)
    reach = 0.98 * math.sqrt(len(ordered))
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return (ordered[high] - ordered[low]) / 2


def summary(samples: Sequence[float]) -> Dict[str, float]:
    """Samples in microseconds."""
    median = statistics.median(samples)
    return {"microseconds": median, "noise": half_width(samples) / median if median else 0.0,
            "runs": len(samples)}


def summary_of_whole(samples: Sequence[int], nodes: int = 1) -> Dict[str, float]:
    """Of sums of `nodes` durations, each rounded down to whole microseconds."""
    centred: List[float] = [value + nodes / 2 for value in samples]
    result = summary(centred)
    result["microseconds"] = max(statistics.median_grouped(centred), 0.0)
    return result
