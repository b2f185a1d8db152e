#!/usr/bin/env python3
"""The Gymnasium environments, with the libregraft.so and the program of the build.

  REGRAFT_LIBRARY=build/release/libregraft.so REGRAFT=build/release/regraft
      python gym_test.py [TestClass[.test]]
"""
import ctypes
import doctest
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import venv  # noqa: E402

venv.use()
try:
    import gymnasium
except ImportError:
    venv.skip("no gymnasium; run scripts/python-env")
sys.path[:0] = [str(venv.ROOT / "python")]

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import regraft  # noqa: E402
import regraft.gym  # noqa: E402

REGRAFT = os.environ.get("REGRAFT", str(venv.ROOT / "build/release/regraft"))
RULES = b"""\
neg-neg       (neg (neg ?x)) => ?x
matmul-assoc  (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))
relu-relu     (relu (relu ?x)) => (relu ?x)
"""


def model(nodes=3, size=8, name="chain"):
    """-(-(x)) W0 W1 .. then two times relu."""
    rng = np.random.default_rng(nodes)
    weights = [numpy_helper.from_array(rng.standard_normal((size, size)).astype(np.float32),
                                       f"w{k}") for k in range(nodes)]
    made = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Neg", ["n"], ["v0"])]
    made += [helper.make_node("MatMul", [f"v{k}", f"w{k}"], [f"v{k + 1}"]) for k in range(nodes)]
    made += [helper.make_node("Relu", [f"v{nodes}"], ["r"]), helper.make_node("Relu", ["r"], ["y"])]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, size])
    graph = helper.make_graph(made, name, [value("x")], [value("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep.cleanup)
        cls.folder = pathlib.Path(cls.keep.name)
        candidates, cls.rules = cls.folder / "candidates.rules", cls.folder / "some.rules"
        candidates.write_bytes(RULES)
        regraft.verify(candidates, out=str(cls.rules))

    def make(self, name="Graph", models=None, **options):
        options.setdefault("rules", [str(self.rules)])
        env = gymnasium.make(f"regraft/{name}-v0", models=models or [model()], **options)
        self.addCleanup(env.close)
        return env

    def make_vec(self, name="Graph", num_envs=3, models=None, **options):
        options.setdefault("rules", [str(self.rules)])
        env = gymnasium.make_vec(f"regraft/{name}-v0", num_envs=num_envs,
                                 models=models or [model(), model(4)], **options)
        self.addCleanup(env.close)
        return env


def allowed(env):
    return np.flatnonzero(env.action_masks())


class Contract(Files):
    def test_check_env_has_nothing_to_say(self):
        for name in ("Graph", "Factorised"):
            for options in ({}, {"raw": True}, {"hide_cost": True}):
                with self.subTest(name, **options), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    check_env(self.make(name, **options), skip_render_check=True)

    def test_it_is_found_by_its_module(self):
        env = gymnasium.make("regraft.gym:regraft/Graph-v0", models=model(),
                             rules=[str(self.rules)])
        self.addCleanup(env.close)
        self.assertIn(env.reset(seed=1)[0], env.observation_space)

    def test_nothing_is_wrapped_around_it(self):
        env = gymnasium.make("regraft/Graph-v0", models=model(), rules=[str(self.rules)])
        self.addCleanup(env.close)
        with self.assertRaisesRegex(regraft.UsageError, r"reset\(\) comes first"):
            env.step(0)
        env.reset(seed=1)
        self.assertTrue(env.action_masks()[0])
        env.export(self.folder / "unchanged.onnx")
        self.assertTrue((self.folder / "unchanged.onnx").exists())

    def test_to_stop_ends_the_episode(self):
        for name, stop in (("Graph", 0), ("Factorised", [0, 0])):
            env = self.make(name)
            env.reset(seed=1)
            _, reward, terminated, truncated, info = env.step(stop)
            self.assertEqual((reward, terminated, truncated), (0, True, False))
            self.assertIsNone(info["rule"])
            with self.assertRaisesRegex(regraft.UsageError, r"reset\(\) comes first"):
                env.step(stop)

    def test_the_limit_of_steps_truncates(self):
        env = self.make(max_steps=2)
        env.reset(seed=1)
        env.step(len(env.action_masks()) - 1)  # not allowed
        self.assertEqual(env.step(len(env.action_masks()) - 1)[2:4], (False, True))

    def test_rewards_are_what_was_saved_in_percent(self):
        for reward in ("change", "final", "best"):
            env = self.make(reward=reward)
            _, info = env.reset(seed=1)
            before, paid, done = info["cost"], 0.0, False
            while not done:
                _, now, terminated, truncated, info = env.step(allowed(env)[-1])
                paid, done = paid + now, terminated or truncated
            saved = info["best"] if reward == "best" else info["cost"]
            self.assertAlmostEqual(paid, 100 * (before - saved) / before, msg=reward)

    def test_hidden_costs(self):
        shown, hidden = self.make(), self.make(hide_cost=True)
        a, b = shown.reset(seed=1)[0], hidden.reset(seed=1)[0]
        self.assertTrue(a["match"][:, :4].any() and a["global"][5:8].any())
        self.assertFalse(b["match"][:, :4].any() or b["global"][5:8].any())
        self.assertEqual(a["match"][:, 4:].sum(), b["match"][:, 4:].sum())
        self.assertEqual(a["counts"].tolist(), b["counts"].tolist())

    def test_raw_is_the_same_graph(self):
        a, b = self.make().reset(seed=1)[0], self.make(raw=True).reset(seed=1)[0]
        nodes, edges, actions = a["counts"]
        np.testing.assert_array_equal(b["graph"].nodes[:, 1:], a["node"][:nodes])
        np.testing.assert_array_equal(b["graph"].edge_links, a["edge_index"][:, :edges].T)
        np.testing.assert_array_equal(b["inside"], a["inside"][:actions])

    def test_examples(self):
        from regraft.gym import envs
        finder = doctest.DocTestFinder(exclude_empty=True)
        tests = finder.find(envs, extraglobs={"gymnasium": gymnasium, "model": model()})
        run = [doctest.DocTestRunner().run(test) for test in tests if test.examples]
        self.assertTrue(run)
        self.assertEqual(sum(r.failed for r in run), 0)


class Life(Files):
    def test_nothing_is_left_after_close(self):
        env, several = self.make(), self.make_vec()
        for one in (env, several):
            one.reset(seed=1)
            one.close()
            one.close()
            with self.assertRaisesRegex(regraft.UsageError, "is closed"):
                one.reset(seed=1)
        with self.assertRaises(regraft.UsageError):
            env.step(0)
        with self.assertRaisesRegex(regraft.UsageError, "is closed"):
            several.step([0, 0, 0])
        for call in (lambda: env.moves(), lambda: several.moves(0),
                     lambda: env.export(self.folder / "closed.onnx")):
            with self.assertRaisesRegex(regraft.UsageError, "is closed"):
                call()
        self.assertFalse((self.folder / "closed.onnx").exists())

    def test_one_thread_at_a_time(self):
        env = self.make_vec()
        env.reset(seed=1)
        failures, refused = [], []

        def steps():
            for _ in range(300):
                try:
                    env.step([1, 1, 1])
                except regraft.UsageError as error:
                    refused.append(str(error))
                except Exception as error:  # whatever else there is
                    failures.append(error)
        threads = [threading.Thread(target=steps) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertLessEqual(set(refused), {"the environment is in use by another thread"})
        env.step([0, 0, 0])


class Masks(Files):
    def test_each_action_does_what_it_says_and_no_other_does_anything(self):
        """The mask is the engine's: what it allows applies, what it does not changes nothing."""
        env = self.make()
        observation, _ = env.reset(seed=1)
        actions = allowed(env)
        self.assertEqual(len(actions), observation["counts"][2])
        self.assertGreater(len(actions), 4)
        for action in range(len(env.action_masks())):
            before, start = env.reset(seed=1)
            after, _, terminated, _, info = env.step(action)
            if action in actions and action > 0:
                self.assertFalse(info["invalid"])
                self.assertEqual(info["rule"], env.rules[before["rule"][action] - 1])
                self.assertEqual(info["certificate_step"], 1)
                change = np.expm1(abs(before["match"][action, 0]) * 5)
                self.assertAlmostEqual(abs(info["cost"] - start["cost"]), change, 3)
            elif action > 0:
                self.assertTrue(info["invalid"] and not terminated)
                self.assertEqual((info["cost"], info["certificate_step"]), (start["cost"], 0))
                np.testing.assert_array_equal(after["match"], before["match"])

    def test_nothing_is_missing(self):
        """All places of the rules, counted by hand: Neg Neg, Relu Relu, and pairs of products."""
        env = self.make(models=[model(3)])
        observation, _ = env.reset(seed=1)
        names = [env.rules[r - 1] for r in observation["rule"][1:observation["counts"][2]]]
        counts = {name: names.count(name) for name in set(names)}
        self.assertEqual(counts, {"neg-neg": 1, "relu-relu": 1, "matmul-assoc": 2})

    def test_factorised_masks_are_those_of_the_matches(self):
        plain, pairs = self.make(models=[model(5)]), self.make("Factorised", models=[model(5)])
        a, _ = plain.reset(seed=1)
        b, _ = pairs.reset(seed=1)
        counted = np.bincount(a["rule"][:a["counts"][2]], minlength=len(plain.rules) + 1)
        np.testing.assert_array_equal(b["locations"], counted)
        mask = pairs.action_masks()
        self.assertEqual(len(mask), sum(pairs.action_space.nvec))
        np.testing.assert_array_equal(mask[:len(counted)], counted > 0)
        self.assertEqual(mask[len(counted):].sum(), counted.max())
        for rule in np.flatnonzero(counted):
            self.assertEqual(pairs.location_masks(rule).sum(), counted[rule])
        for rule in np.flatnonzero(counted)[1:]:
            for location in range(counted.max()):
                pairs.reset(seed=1)
                info = pairs.step([rule, location])[4]
                self.assertEqual(info["invalid"], bool(location >= counted[rule]))
                first = int(np.flatnonzero(a["rule"] == rule)[0])
                plain.reset(seed=1)
                if not info["invalid"]:
                    self.assertEqual(plain.step(first + location)[4]["cost"], info["cost"])

    def test_actions_that_do_not_fit_are_counted(self):
        env = self.make(max_actions=2)
        observation, info = env.reset(seed=1)
        self.assertEqual(observation["action_mask"].tolist(), [1, 1, 1])
        self.assertEqual(info["overflow"], 2)
        small = self.make(max_nodes=2, max_edges=1)
        observation, info = small.reset(seed=1)
        self.assertEqual(observation["node"].shape[0], 2)
        self.assertGreater(info["left_out"], 0)
        self.assertLess(observation["inside"].max(), 2)
        self.assertIn(observation, small.observation_space)


def rollout(env, steps, seed=5):
    """All that a vector environment tells, with actions that are drawn."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=3)
    told = []
    for _ in range(steps):
        actions = [rng.choice(np.flatnonzero(m)) for m in env.action_masks()]
        observation, *rest = env.step(actions)
        told.append((observation, *rest))
    return told


class Vectors(Files):
    def test_the_same_for_any_number_of_threads(self):
        one, two = (rollout(self.make_vec(threads=n, num_envs=5), 60) for n in (1, 2))
        self.assertTrue(any(r[2].any() for r in one))
        for a, b in zip(one, two):
            for x, y in zip(a[:1] + a[4:], b[:1] + b[4:]):
                self.assertEqual(list(x), list(y))
                for name in x:
                    np.testing.assert_array_equal(x[name], y[name], name)
            for x, y in zip(a[1:4], b[1:4]):
                np.testing.assert_array_equal(x, y)

    def test_each_is_as_alone(self):
        """Environment k with seed s + k does what one with that seed does."""
        several = self.make_vec(num_envs=3)
        together, _ = several.reset(seed=20)
        for k in range(3):
            alone = self.make(models=[model(), model(4)])
            observation, _ = alone.reset(seed=20 + k)
            for name, data in observation.items():
                np.testing.assert_array_equal(data, together[name][k])
            several.reset(seed=20)
            last = [len(np.flatnonzero(m)) - 1 for m in several.action_masks()]
            both = several.step(last), alone.step(last[k])
            self.assertEqual(both[0][1][k], both[1][1])
            np.testing.assert_array_equal(both[0][0]["node"][k], both[1][0]["node"])

    def test_an_episode_that_is_over_begins_anew(self):
        env = self.make_vec(num_envs=2)
        start, _ = env.reset(seed=1, options={"model": 0})
        first = int(np.flatnonzero(start["action_mask"][1])[-1])
        _, _, terminated, _, _ = env.step([0, first])
        self.assertEqual(terminated.tolist(), [True, False])
        _, reward, terminated, _, info = env.step([first, first])
        self.assertEqual((reward[0], terminated[0], info["steps"][0]), (0, False, 0))
        self.assertEqual(info["steps"][1], 2)

    def test_models_are_drawn_by_the_seed(self):
        env = self.make_vec(num_envs=16)
        _, a = env.reset(seed=4)
        _, b = env.reset(seed=4)
        self.assertEqual(a["model"].tolist(), b["model"].tolist())
        self.assertEqual(set(a["model"]), {"models[0]", "models[1]"})
        _, c = env.reset(seed=list(range(4, 20)))
        self.assertEqual(a["model"].tolist(), c["model"].tolist())
        _, d = env.reset(options={"model": 1})
        self.assertEqual(set(d["model"]), {"models[1]"})

    def test_some_may_be_reset(self):
        env = self.make_vec(num_envs=2)
        env.reset(seed=1)
        env.step([1, 1])
        _, info = env.reset(options={"reset_mask": np.array([True, False])})
        self.assertEqual(info["steps"].tolist(), [0, 1])

    def test_observations_fit_their_space(self):
        for name in ("Graph", "Factorised"):
            env = self.make_vec(name)
            observation, _ = env.reset(seed=1)
            self.assertIn(observation, env.observation_space)
            kept = {k: v.copy() for k, v in observation.items()}
            env.step(env.action_space.sample())
            for k, v in kept.items():
                np.testing.assert_array_equal(v, observation[k])


class Input(Files):
    def refused(self, kind, words, **options):
        with self.assertRaises(kind) as told:
            self.make(**options)
        self.assertRegex(str(told.exception), words)
        self.assertNotIn("\n", str(told.exception))

    def test_one_line_says_what_is_wrong(self):
        wrong = regraft.InputError
        self.refused(wrong, "no_such.onnx", models=["no_such.onnx"])
        self.refused(wrong, r"models\[1\]", models=[model(), b"no model"])
        self.refused(regraft.UsageError, r"models\[0\]: a path, bytes", models=[7])
        self.refused(wrong, "no_such.rules", rules=["no_such.rules"])
        self.refused(wrong, "reward: change, final, .* or mixed is needed", reward="much")
        self.refused(wrong, "cost: no_such is no cost model", cost="no_such")
        self.refused(wrong, "max_nodes: a whole number from 0", max_nodes=-1)
        self.refused(wrong, "max_growth: a number from 0", max_growth="much")

    def test_no_models(self):
        with self.assertRaisesRegex(regraft.InputError, "at least one"):
            gymnasium.make("regraft/Graph-v0", models=[])

    def test_options_of_reset(self):
        env = self.make()
        for wrong, words in (({"model": 1}, "from 0 to 0"), ({"mdoel": 0}, "mdoel: there is no")):
            with self.assertRaisesRegex(regraft.InputError, words):
                env.reset(options=wrong)

    def test_actions(self):
        env = self.make("Factorised")
        env.reset(seed=1)
        with self.assertRaisesRegex(regraft.InputError, "MultiDiscrete"):
            env.step("stop")
        for action in ([-1, 0], [1, -1], [0, 1], [10**9, 0], [1, 10**12]):
            self.assertTrue(env.step(action)[4]["invalid"], action)

    def test_raw_graphs_are_no_batch(self):
        with self.assertRaisesRegex(regraft.UsageError, "use make"):
            self.make_vec(raw=True)

    def test_the_library_wants_things_in_order(self):
        env = self.make()
        with self.assertRaisesRegex(regraft.InputError, r"reset\(\) comes first"):
            env.export(self.folder / "early.onnx")
        native = env.envs
        self.assertEqual(native.native.regraft_envs_step(native.handle, native.actions_at), 3)
        self.assertEqual(native.native.regraft_envs_bind(native.handle, (ctypes.c_void_p * 1)(), 1),
                         3)


class Export(Files):
    def test_the_program_accepts_it(self):
        before, after, proof = (self.folder / n for n in ("in.onnx", "out.onnx", "certificate"))
        onnx.save(model(), before)
        env = self.make(models=[before])
        env.reset(seed=1)
        for _ in range(3):
            observation, _, done, _, info = env.step(allowed(env)[1])
        env.export(after, which="last", certificate=proof)
        self.assertEqual(len(env.moves()), info["certificate_step"])
        self.assertEqual(env.moves()[-1]["cost"], info["cost"])
        for more in ([], ["--certificate", str(proof)]):
            run = subprocess.run([REGRAFT, "check", str(before), str(after), *more], text=True,
                                 capture_output=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("3 steps", run.stdout)

    def test_the_best_of_the_episode(self):
        env = self.make()
        observation, _ = env.reset(seed=1)
        names = [None] + env.rules
        found = {names[r]: k for k, r in enumerate(observation["rule"])}
        _, _, _, _, info = env.step(found["neg-neg"])
        self.assertEqual(info["cost"], info["best"])
        env.step(0)
        env.export(self.folder / "best.onnx")
        types = [n.op_type for n in onnx.load(self.folder / "best.onnx").graph.node]
        self.assertEqual(types.count("Neg"), 0)
        self.assertEqual(types.count("Relu"), 2)

    def test_nothing_is_written_where_it_cannot_be(self):
        env = self.make()
        env.reset(seed=1)
        for path in (self.folder / "none" / "out.onnx", self.folder):
            with self.assertRaises(regraft.InputError) as told:
                env.export(path)
            self.assertNotIn("\n", str(told.exception))
        with self.assertRaisesRegex(regraft.InputError, "which: best or last"):
            env.export(self.folder / "out2.onnx", which="worst")
        self.assertFalse((self.folder / "out2.onnx").exists())

    def test_what_the_environment_was_made_of_stays(self):
        own, other, data = (self.folder / n for n in ("own.onnx", "other.onnx", "own.data"))
        onnx.save(model(), own, save_as_external_data=True, location=data.name, size_threshold=0)
        onnx.save(model(4), other)
        env = self.make(models=[own, other])
        env.reset(seed=1, options={"model": 0})
        kept = {path: path.read_bytes() for path in (own, other, data, self.rules)}
        fresh = self.folder / "fresh.onnx"
        for path, certificate in ((other, None), (data, None), (self.rules, None), (fresh, own),
                                  (fresh, other), (fresh, data), (fresh, self.rules),
                                  (fresh, fresh)):
            with self.assertRaisesRegex(regraft.InputError, "must be different files"):
                env.export(path, certificate=certificate)
        self.assertEqual({path: path.read_bytes() for path in kept}, kept)
        self.assertFalse(fresh.exists())
        env.export(own)  # a model may take its own place

    def test_an_environment_that_is_not_there(self):
        envs = self.make_vec(num_envs=2)
        envs.reset(seed=1)
        with self.assertRaisesRegex(regraft.InputError, "environment: from 0 to 1"):
            envs.export(self.folder / "seventh.onnx", environment=7)


class Geometric(Files):
    def setUp(self):
        try:
            import torch_geometric  # noqa: F401
        except ImportError:
            self.skipTest("torch_geometric is not installed")

    def test_data_is_what_arrays_hold(self):
        from torch_geometric.data import Batch
        env = self.make()
        observation, _ = env.reset(seed=1)
        data = regraft.gym.to_data(observation)
        nodes, edges, actions = observation["counts"]
        self.assertEqual((data.num_nodes, data.num_edges, len(data.rule)), (nodes, edges, actions))
        both = Batch.from_data_list([data, data])
        half = both.inside_index.size(1) // 2
        self.assertEqual((both.inside_index[:, half:] - both.inside_index[:, :half]).unique(dim=1)
                         .flatten().tolist(), [nodes, actions])


if __name__ == "__main__":
    unittest.main(verbosity=2)
