"""One environment at a time."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

import gymnasium
import numpy as np

from . import _spaces
from ._native import Environments, Models
from ..errors import InputError, UsageError


class GraphEnv(gymnasium.Env):
    """regraft/Graph-v0: action 0 stops, k applies the k-th match of the state.

    models: one or several; each episode draws one of them. rules, cost, reward: as `regraft train`
    has them. hide_cost: states do not show what a match changes. raw: observations are
    gymnasium.spaces.Graph beside a row for each action, not padded arrays. The rest limits episodes
    and arrays: None is what the models need.

    >>> env = gymnasium.make("regraft/Graph-v0", models=[model])
    >>> observation, info = env.reset(seed=1)
    >>> bool(env.action_masks()[0])
    True
    """

    metadata: Dict[str, Any] = {"render_modes": []}
    FACTORISED = False

    def __init__(self, models: Models, rules: Optional[Sequence[str]] = None,
                 cost: str = "roofline", reward: str = "change", hide_cost: bool = False,
                 raw: bool = False, max_steps: Optional[int] = None, max_locations: int = 200,
                 max_growth: Optional[float] = None, ceiling: Optional[float] = None,
                 max_nodes: Optional[int] = None, max_edges: Optional[int] = None,
                 max_actions: Optional[int] = None):
        self.raw = raw
        self.envs = Environments(models, dict(
            rules=rules, cost=cost, reward=reward, hide_cost=bool(hide_cost), max_steps=max_steps,
            max_locations=max_locations, max_growth=max_growth, ceiling=ceiling,
            max_nodes=max_nodes, max_edges=max_edges, max_actions=max_actions,
            actions="factorised" if self.FACTORISED else "matches"))
        self.rules, self.operators = self.envs.rules, self.envs.operators
        self.row = {name: data[0] for name, data in self.envs.of("observation").items()}
        self.info = {name: data for name, data in self.envs.of("info").items()}
        self.observation_space = (_spaces.raw if raw else _spaces.padded)(self.envs)
        self.action_space = _spaces.actions(self.envs, self.FACTORISED)
        self.seeded = False
        self.begun = False

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        """options: {"model": k} takes the k-th model instead of drawing one."""
        super().reset(seed=seed)
        if seed is None and not self.seeded:
            seed = int(self.np_random.integers(2**31))
        self.seeded = True
        self.envs.reset(seed=seed, **(options or {}))
        self.begun = True
        return self.observed(), self.told()

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        if not self.begun:
            raise UsageError("step: the episode is over, or was not begun; reset() comes first")
        try:
            self.envs.actions[0] = action
        except (TypeError, ValueError):
            raise InputError(f"action: {self.action_space} is needed, not {action!r}") from None
        self.envs.step()
        terminated = bool(self.info["terminated"][0])
        truncated = bool(self.info["truncated"][0])
        self.begun = not (terminated or truncated)
        return (self.observed(), float(self.info["reward"][0]), terminated, truncated,
                self.told())

    def observed(self) -> Dict[str, Any]:
        if self.raw:
            return _spaces.raw_observation(self.row)
        return {name: data.copy() for name, data in self.row.items()}

    def told(self) -> Dict[str, Any]:
        """What is known beside the state: costs in microseconds."""
        found = {name: data[0].item() for name, data in self.info.items()
                 if name not in _spaces.RETURNED}
        found["invalid"] = bool(found["invalid"])
        rule = found.pop("rule_applied")
        found["rule"] = self.rules[rule - 1] if rule else None
        found["model"] = self.envs.models[found["model"]]["name"]
        return found

    def action_masks(self) -> "np.ndarray[Any, Any]":
        """Which actions are allowed, as MaskablePPO asks for it."""
        return self.row["action_mask"].astype(bool)

    def moves(self) -> List[Dict[str, Any]]:
        """The rules that were applied in this episode, and the cost after each."""
        return self.envs.moves(0)

    def export(self, path: Any, which: str = "best", certificate: Optional[Any] = None,
               check: int = 1) -> None:
        """Writes the cheapest model of the episode (which="last": the present one), compared with
        the original on random inputs before. certificate: a file for `regraft check`."""
        self.envs.export(0, path, which, certificate, check)

    def close(self) -> None:
        self.envs.close()
        self.begun = False


class FactorisedEnv(GraphEnv):
    """regraft/Factorised-v0: an action is a rule, 0 to stop, and which of its locations.

    action_masks() is the mask of the rules, and then that of the locations that some rule has:
    what MaskablePPO can use. location_masks(rule) is exact for a rule. A location that the rule
    does not have changes nothing, and counts as a step.
    """

    FACTORISED = True

    def action_masks(self) -> "np.ndarray[Any, Any]":
        return np.concatenate([self.row["rule_mask"], self.row["location_mask"]]).astype(bool)

    def location_masks(self, rule: int) -> "np.ndarray[Any, Any]":
        """Which locations the rule has, in the present state."""
        return np.arange(len(self.row["location_mask"])) < self.row["locations"][rule]
