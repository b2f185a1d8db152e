"""Observations for PyTorch Geometric."""
from typing import Any, Dict

import numpy as np


def pairs(table: Any) -> Any:
    """Rows of node numbers, -1 where there is none, as a list of (node, row)."""
    row, column = np.nonzero(table >= 0)
    return np.stack([table[row, column], row]).astype(np.int64)


def to_data(observation: Dict[str, Any]) -> Any:
    """A torch_geometric.data.Data of a padded observation, without the padding. Batches of them
    are made by torch_geometric.data.Batch.

    x, op: the nodes, their features and operators; edge_index, edge_attr; u: of the whole graph;
    rule, match: a row for each action, the first to stop; inside_index, near_index: pairs of a node
    and the action that replaces it, or reads from or is read by its neighbourhood."""
    import torch
    from torch_geometric.data import Data

    class Observed(Data):
        def __inc__(self, key: str, value: Any, *arguments: Any, **named: Any) -> Any:
            if key in ("inside_index", "near_index"):
                return torch.tensor([[self.x.size(0)], [self.rule.size(0)]])
            return super().__inc__(key, value, *arguments, **named)

        def __cat_dim__(self, key: str, value: Any, *arguments: Any, **named: Any) -> Any:
            return 1 if key.endswith("_index") else super().__cat_dim__(key, value, *arguments,
                                                                        **named)

    nodes, edges, actions = (int(k) for k in observation["counts"])
    tensor = torch.from_numpy

    def copied(name: str, kind: Any, count: int) -> Any:
        return tensor(observation[name][:count].astype(kind))
    return Observed(
        x=copied("node", np.float32, nodes), op=copied("op", np.int64, nodes),
        edge_index=tensor(observation["edge_index"][:, :edges].astype(np.int64)),
        edge_attr=copied("edge", np.float32, edges),
        u=tensor(observation["global"].astype(np.float32))[None],
        rule=copied("rule", np.int64, actions), match=copied("match", np.float32, actions),
        inside_index=tensor(pairs(observation["inside"][:actions])),
        near_index=tensor(pairs(observation["near"][:actions])))
