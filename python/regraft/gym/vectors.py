"""Several environments that step at once, on the library's own threads."""
import os
from typing import Any, Dict, List, Optional, Tuple

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space

from . import _spaces
from ._native import Environments, Models
from ..errors import InputError, UsageError


class GraphVectorEnv(gymnasium.vector.VectorEnv):
    """gymnasium.make_vec("regraft/Graph-v0", num_envs=8, models=[..]): keywords as for make.

    An episode that is over begins anew in the next step (AutoresetMode.NEXT_STEP). threads: None
    is one for each core; what comes out does not depend on it. copy=False: observations are the
    same arrays in each step, and change with the next one."""

    metadata: Dict[str, Any] = {"render_modes": [],
                                "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
    FACTORISED = False

    def __init__(self, num_envs: int, models: Models, threads: Optional[int] = None,
                 copy: bool = True, hide_cost: bool = False, **options: Any):
        if options.pop("raw", False):
            raise UsageError("raw: graphs of several sizes are no batch; use make, not make_vec")
        self.num_envs = num_envs
        self.copy = copy
        self.envs = Environments(models, dict(
            options, environments=num_envs, hide_cost=bool(hide_cost),
            threads=threads or min(num_envs, len(os.sched_getaffinity(0))),
            actions="factorised" if self.FACTORISED else "matches"))
        self.rules, self.operators = self.envs.rules, self.envs.operators
        self.rows, self.info = self.envs.of("observation"), self.envs.of("info")
        self.single_observation_space = _spaces.padded(self.envs)
        self.single_action_space = _spaces.actions(self.envs, self.FACTORISED)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.names = _spaces.rule_names(self.envs)
        self.model_names = np.array(_spaces.model_names(self.envs), dtype=object)
        self.all = np.ones(num_envs, bool)
        self.seeded = False

    def reset(self, *, seed: Any = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        """seed: one for all, environment k takes seed + k, or a list. options: {"model": k} and
        {"reset_mask": truth values}."""
        given = dict(options or {})
        super().reset(seed=None if isinstance(seed, (list, tuple)) else seed)
        if seed is None and not self.seeded:
            seed = int(self.np_random.integers(2**31))
        self.seeded = True
        if isinstance(seed, (list, tuple)):
            given["seeds"] = list(seed)
        elif seed is not None:
            given["seed"] = seed
        if "reset_mask" in given:
            given["marked"] = [bool(m) for m in given.pop("reset_mask")]
        self.envs.reset(**given)
        return self.observed(), self.told()

    def step(self, actions: Any) -> Tuple[Any, Any, Any, Any, Dict[str, Any]]:
        try:
            self.envs.actions[...] = actions
        except (TypeError, ValueError):
            raise InputError(f"actions: {self.action_space} is needed") from None
        self.envs.step()
        info = self.info
        return (self.observed(), info["reward"].copy(), info["terminated"].astype(bool),
                info["truncated"].astype(bool), self.told())

    def observed(self) -> Dict[str, Any]:
        return {name: data.copy() for name, data in self.rows.items()} if self.copy \
            else dict(self.rows)

    def told(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {name: data.copy() for name, data in self.info.items()
                                 if name not in _spaces.RETURNED}
        found["invalid"] = found["invalid"].astype(bool)
        found["rule"] = self.names[found.pop("rule_applied")]
        found["model"] = self.model_names[found["model"]]
        found.update({"_" + name: self.all for name in list(found)})
        return found

    def action_masks(self) -> "np.ndarray[Any, Any]":
        """Which actions are allowed: a row for each environment."""
        return self.rows["action_mask"].astype(bool)

    def moves(self, environment: int) -> List[Dict[str, Any]]:
        """The rules that were applied in the episode of one environment."""
        return self.envs.moves(environment)

    def export(self, path: Any, environment: int = 0, which: str = "best",
               certificate: Optional[Any] = None, check: int = 1) -> None:
        """As GraphEnv.export, of one environment."""
        self.envs.export(environment, path, which, certificate, check)

    def close_extras(self, **_: Any) -> None:
        self.envs.close()


class FactorisedVectorEnv(GraphVectorEnv):
    """The same for regraft/Factorised-v0."""

    FACTORISED = True

    def action_masks(self) -> "np.ndarray[Any, Any]":
        return np.concatenate([self.rows["rule_mask"], self.rows["location_mask"]], 1).astype(bool)
