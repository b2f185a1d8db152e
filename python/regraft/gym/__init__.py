"""Graph optimisation as Gymnasium environments: a state is a model, an action a rewrite.

    import gymnasium, regraft.gym     # or gymnasium.make("regraft.gym:regraft/Graph-v0", ..)
    env = gymnasium.make("regraft/Graph-v0", models=["model.onnx"])
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(0)   # 0 stops
    env.export("faster.onnx")

docs/gymnasium.md says what observations, actions and rewards are. Needs gymnasium and numpy:
pip install regraft[gym]."""
import gymnasium

from .envs import FactorisedEnv, GraphEnv
from .graphs import to_data
from .vectors import FactorisedVectorEnv, GraphVectorEnv

__all__ = ["GraphEnv", "FactorisedEnv", "GraphVectorEnv", "FactorisedVectorEnv", "to_data"]

for name in ("Graph", "Factorised"):
    if f"regraft/{name}-v0" not in gymnasium.registry:
        # No wrappers: steps come in order or are refused, and methods of the environment are there.
        gymnasium.register(f"regraft/{name}-v0", entry_point=f"regraft.gym:{name}Env",
                           vector_entry_point=f"regraft.gym:{name}VectorEnv",
                           order_enforce=False, disable_env_checker=True)
