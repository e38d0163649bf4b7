"""`BatchEnv` against Gymnasium's own vector of single environments over `Simulation`: equal in every bit and mode."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import limberjack as lj

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402
from gymnasium.wrappers import vector as wrappers  # noqa: E402

from limberjack.gym import BatchEnv  # noqa: E402

MODEL = """
limberjack: 1
name: pendulum
simulation: {dt: 0.01}
bodies:
  - {name: rod, mass: 1.0, com: [0, 0, -0.5], inertia: {xx: 0.1, yy: 0.1, zz: 0.01},
     hinge: {name: pivot, type: revolute, parent: world, axis: [0, 1, 0]}}
actuators:
  - {name: motor, coordinate: pivot, limit: 50}
sensors:
  - {name: gyro, type: gyro, target: rod, rate: 100, noise_density: 1.0e-3}
"""
N, LIMIT, MOST = 11, 0.9, 25
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "pendulum.yaml"
    path.write_text(MODEL, encoding="utf-8")
    return lj.load(path)


def observe(batch):
    return np.stack([batch.q[:, 0], batch.v[:, 0], batch.output["gyro.y"]], axis=1)


def reward(batch, actions):
    return -batch.q[:, 0] * batch.q[:, 0] - 1e-3 * actions[:, 0] * actions[:, 0]


def terminated(batch):
    return np.abs(batch.q[:, 0]) > LIMIT


def begin(randoms):
    return np.array([[random.uniform(-0.5, 0.5)] for random in randoms]), None


def vector(system, mode=AutoresetMode.NEXT_STEP, **more):
    options = {"begin": begin, "steps": 2, "most_steps": MOST, "terminated": terminated, **more}
    return BatchEnv(
        system, N, actions={"motor": (-20.0, 20.0)}, observe=observe, reward=reward, autoreset_mode=mode, **options
    )


class One(gymnasium.Env):
    """The same environment over a Simulation."""

    def __init__(self, system):
        self.sim, self.taken = lj.Simulation(system), 0
        self.action_space = gymnasium.spaces.Box(-20.0, 20.0, (1,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)

    def seen(self):
        return np.array([self.sim.q[0], self.sim.v[0], self.sim.output["gyro.y"]])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim.reset()
        self.taken = 0
        self.sim.parameters["noise.seed"] = float(self.np_random.integers(2**32))
        self.sim.q = [self.np_random.uniform(-0.5, 0.5)]
        return self.seen(), {}

    def step(self, action):
        self.sim.command["motor"] = action[0]
        self.sim.step(2)
        self.taken += 1
        paid = -self.sim.q[0] * self.sim.q[0] - 1e-3 * action[0] * action[0]
        return self.seen(), paid, bool(abs(self.sim.q[0]) > LIMIT), self.taken >= MOST, {}


def test_the_single_environment_of_these_tests_passes_gymnasiums_checks(system):
    check_env(One(system), skip_render_check=True)


@pytest.mark.parametrize("mode", MODES)
def test_every_number_is_that_of_single_environments(system, mode):
    ours = vector(system, mode)
    theirs = SyncVectorEnv([lambda: One(system)] * N, autoreset_mode=mode)
    for name in ("single_action_space", "action_space", "single_observation_space", "observation_space", "num_envs"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    random, ends = np.random.default_rng(1), np.zeros(2, dtype=int)
    assert data_equivalence(ours.reset(seed=5), theirs.reset(seed=5), exact=True)
    for _ in range(80):
        actions = random.uniform(-20, 20, (N, 1))
        mine, other = ours.step(actions), theirs.step(actions)
        assert mine[0] in ours.observation_space
        for a, b in zip(mine[:4], other[:4], strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        assert data_equivalence(without_info(mine[4]), without_info(other[4]), exact=True)
        ends += mine[2].sum(), mine[3].sum()
    assert (ends > 3).all()


def without_info(infos):
    """Ours has no infos of single worlds, theirs empty ones."""
    return {key: value for key, value in infos.items() if "final_info" not in key}


def test_seeds_make_episodes_again(system):
    env = vector(system)
    first, _ = env.reset(seed=3)
    later, _ = env.reset()
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again)
    assert not np.array_equal(first[:, 0], later[:, 0])
    shifted, _ = env.reset(seed=[4 + i for i in range(N)])
    assert np.array_equal(first[1:], shifted[:-1])


def test_episodes_that_are_not_reset_are_refused_and_a_mask_begins_some(system):
    env = vector(system, AutoresetMode.DISABLED, terminated=lambda batch: batch.q[:, 0] > 0.0)
    env.reset(seed=1)
    *_, ended, _, _ = env.step(np.zeros((N, 1)))
    assert 0 < ended.sum() < N
    with pytest.raises(lj.ArgumentError, match=rf"the episode of world {np.argmax(ended)} has ended"):
        env.step(np.zeros((N, 1)))
    before = env.batch.state
    env.reset(options={"reset_mask": ended})
    assert np.array_equal(env.batch.state[~ended], before[~ended])
    assert (env.batch.time[ended] == 0.0).all()
    env.step(np.zeros((N, 1)))
    with pytest.raises(lj.ArgumentError, match="reset_mask must be 11"):
        env.reset(options={"reset_mask": np.ones(3, dtype=bool)})


def test_a_world_that_diverges_has_terminated_and_begins_again(system):
    def wild(randoms):
        return None, np.array([[1.0e120 if i == 4 and len(randoms) == N else 0.0] for i in range(len(randoms))])

    env = vector(system, begin=wild, terminated=lambda batch: np.zeros(batch.n, dtype=bool))
    env.reset(seed=1)
    seen, _, ended, _, infos = env.step(np.zeros((N, 1)))
    assert np.flatnonzero(ended).tolist() == np.flatnonzero(infos["diverged"]).tolist() == [4]
    assert np.isfinite(np.delete(seen, 4, axis=0)).all()
    seen, paid, ended, _, infos = env.step(np.zeros((N, 1)))
    assert not ended.any()
    assert not infos
    assert paid[4] == 0.0
    assert env.batch.time[4] == 0.0
    assert not env.batch.errors


def test_wrappers_of_vector_environments_fit(system):
    env = wrappers.RecordEpisodeStatistics(wrappers.ClipAction(vector(system)))
    env.reset(seed=1)
    lengths = []
    for _ in range(60):
        *_, infos = env.step(np.full((N, 1), 1e3 * (-1.0) ** np.arange(N)[:, None]))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert lengths
    assert max(lengths) <= MOST
    env.close()


def test_bad_input_is_refused(system):
    env = vector(system)
    env.reset()
    actions = np.zeros((N, 1))
    actions[3] = np.nan
    with pytest.raises(lj.ArgumentError, match="actions"):
        env.step(actions)
    for more, text in (
        ({"actions": {}}, "there are no actions"),
        ({"actions": {"moto": (0, 1)}}, "moto"),
        ({"actions": {"motor": (1, 1)}}, "leave nothing between"),
        ({"observe": lambda batch: np.zeros(3)}, r"observe gave an array of shape \(3,\)"),
    ):
        options = {"actions": {"motor": (-1, 1)}, "observe": observe, "reward": reward, "terminated": terminated}
        with pytest.raises(lj.ArgumentError, match=text):
            BatchEnv(system, N, **{**options, **more})
    with pytest.raises(lj.ArgumentError, match="there are 2 seeds for 11 worlds"):
        env.reset(seed=[1, 2])


def test_without_gymnasium_the_message_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None\nimport limberjack.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs the package 'gymnasium'" in done.stderr
    assert 'pip install "limberjack[gym]"' in done.stderr
