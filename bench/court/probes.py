"""All probes, the same for a seed: the catalogue, the shipped rules, and near misses of both."""
import random

import catalogue_blocks  # noqa: F401
import catalogue_conditions  # noqa: F401
import catalogue_flow  # noqa: F401
import catalogue_layers  # noqa: F401
import catalogue_movement  # noqa: F401
import catalogue_values  # noqa: F401
import near_misses
from probe import CATALOGUE, inferred
from workers import Worker


def distinct(probes, seen=None):
    """Without models that are there already under other names."""
    seen = set() if seen is None else seen
    for probe in probes:
        key = probe.model.SerializeToString(deterministic=True)
        if key not in seen:
            seen.add(key)
            yield probe


def misses(probe, seed=None, count=None):
    """Near misses that are valid models: all, or the first of them in an order that is random."""
    changed, made = list(near_misses.near_misses(probe.model)), []
    if seed is not None:
        random.Random(f"{seed} {probe.name}").shuffle(changed)
    for label, model in changed:
        if len(made) == count:
            break
        model = inferred(model)
        if model is not None:
            made.append(probe.with_model(model, f"{probe.name}; {label}"))
    return made


class Isolated:
    """Near misses, made in a process of its own: shape inference may abort on sizes below 0."""

    def __init__(self, seed):
        self.worker, self.seed = Worker("probes"), seed

    def misses(self, probe, count=None):
        said, made = self.worker.ask(30, "misses", probe, self.seed, count)
        return made if said == "done" else []


def named(names, groups, isolated):
    """The probes of these names, in their order; a near miss is named after its origin."""
    origins = {p.name: p for group in groups for p in group}
    for name in names:
        base, _, label = name.partition("; ")
        if base in origins:
            made = isolated.misses(origins[base]) if label else [origins[base]]
            yield from (p for p in made if p.name == name)


def stream(rules, seed, share=1, first=()):
    """First the probes named in `first`; then the templates, with `share` near misses of each, and
    the rules' source sides, in random order; then all near misses of random ones."""
    order = random.Random(seed)
    seeds = [list(CATALOGUE), list(rules)]
    deeper, seen, isolated = [], set(), Isolated(seed)
    try:
        yield from distinct(named(first, seeds, isolated), seen)
        for group in seeds:
            order.shuffle(group)
        while any(seeds) or deeper:
            for group, near in zip(seeds, (share, 0)):
                for probe in group[:1]:
                    deeper.append(probe)
                    yield from distinct([probe], seen)
                    yield from distinct(isolated.misses(probe, near) if near else [], seen)
                del group[:1]
            if not any(seeds):  # all were tried: all near misses of some
                for probe in [deeper.pop(order.randrange(len(deeper))) for _ in deeper[:2]]:
                    yield from distinct(isolated.misses(probe), seen)
    finally:
        isolated.worker.stop()
