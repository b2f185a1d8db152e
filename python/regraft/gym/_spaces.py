"""Spaces of arrays, and what is told beside observations."""
from typing import Any, Dict, List

import numpy as np
from gymnasium import spaces

from ._native import Array, Environments

# Arrays that are no part of `info`, as step() returns them.
RETURNED = ("reward", "terminated", "truncated", "began")
MASKS = ("action_mask", "rule_mask", "location_mask")


def box(array: Array) -> spaces.Box:
    return spaces.Box(array.low, array.high, array.shape, array.data.dtype.type)


def padded(envs: Environments) -> spaces.Dict:
    return spaces.Dict({a.name: box(a) for a in envs.arrays if a.part == "observation"})


def raw(envs: Environments) -> spaces.Dict:
    """The graph as it is, and a row for each action."""
    by_name = {a.name: a for a in envs.arrays}

    def rows(name: str) -> spaces.Sequence:
        a = by_name[name]
        one = spaces.Box(a.low, a.high, a.shape[1:] or (1,), a.data.dtype.type)
        return spaces.Sequence(one, stack=True)
    node, edge = by_name["node"], by_name["edge"]
    low, high = float(node.low), float(node.high)
    graph = spaces.Graph(spaces.Box(low, high, (node.shape[1] + 1,), np.float32),
                         spaces.Box(low, high, (edge.shape[1],), np.float32))
    held: Dict[str, Any] = {"graph": graph, "global": box(by_name["global"])}
    held.update({name: rows(name) for name in ("rule", "match", "inside", "near")})
    held.update({a.name: box(a) for a in envs.arrays if a.name in (*MASKS, "locations")
                 and a.name != "action_mask"})
    return spaces.Dict(held)


def actions(envs: Environments, factorised: bool) -> Any:
    shapes = {a.name: a.shape for a in envs.arrays}
    if factorised:
        return spaces.MultiDiscrete([shapes["rule_mask"][0], shapes["location_mask"][0]])
    return spaces.Discrete(shapes["action_mask"][0])


def raw_observation(row: Dict[str, Any]) -> Dict[str, Any]:
    """Of the arrays of one environment."""
    nodes, edges, n = (int(k) for k in row["counts"])
    features = np.concatenate([row["op"][:nodes, None].astype(np.float32), row["node"][:nodes]], 1)
    links = np.ascontiguousarray(row["edge_index"][:, :edges].T)
    held: Dict[str, Any] = {
        "graph": spaces.GraphInstance(nodes=features, edges=row["edge"][:edges].copy(),
                                      edge_links=links),
        "global": row["global"].copy()}
    held.update({name: row[name][:n].copy() for name in ("match", "inside", "near")})
    held["rule"] = row["rule"][:n, None].copy()
    held.update({name: row[name].copy() for name in ("locations", "rule_mask", "location_mask")
                 if name in row})
    return held


def rule_names(envs: Environments) -> "np.ndarray[Any, Any]":
    """By the number that states have for a rule; of 0, to stop, None."""
    return np.array([None, *envs.rules], dtype=object)


def model_names(envs: Environments) -> List[str]:
    return [m["name"] for m in envs.models]
