"""All probes, the same for a seed: the catalogue, the shipped rules, and near misses of both."""
import random

import catalogue_blocks  # noqa: F401
import catalogue_flow  # noqa: F401
import catalogue_layers  # noqa: F401
import catalogue_movement  # noqa: F401
import catalogue_values  # noqa: F401
import near_misses
from probe import CATALOGUE, inferred


def distinct(probes, seen=None):
    """Without models that are there already under other names."""
    seen = set() if seen is None else seen
    for probe in probes:
        key = probe.model.SerializeToString(deterministic=True)
        if key not in seen:
            seen.add(key)
            yield probe


def misses(probe):
    for label, made in near_misses.near_misses(probe.model):
        made = inferred(made)
        if made is not None:
            yield probe.with_model(made, f"{probe.name}; {label}")


def stream(rules, seed, share=4):
    """First the templates and the rules' source sides in turn, in random order; then, without end
    until all are used, near misses of random ones, `share` of each in a round."""
    order = random.Random(seed)
    seeds = [list(CATALOGUE), list(rules)]
    for group in seeds:
        order.shuffle(group)
    bases, seen = [], set()
    while any(seeds):  # three templates for each rule: there are more templates
        for group, count in zip(seeds, (3, 1)):
            for probe in distinct(group[:count], seen):
                bases.append(probe)
                yield probe
                changed = list(misses(probe))
                order.shuffle(changed)
                yield from distinct(changed[:share], seen)
            del group[:count]
    order.shuffle(bases)
    for probe in bases:
        changed = list(misses(probe))
        order.shuffle(changed)
        yield from distinct(changed, seen)
