"""`BatchEnv`: the worlds of a batch as a vector environment of Gymnasium, for reinforcement learning.

It needs the package gymnasium: pip install "limberjack[gym]". See docs/how-to/batches.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from limberjack.engine.api.batch import Batch
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.model.system import System

try:
    from gymnasium import spaces
    from gymnasium.utils.seeding import np_random
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise MissingExtraError("a vector environment", "gymnasium", "gym") from None

#: where worlds begin: their coordinates (m, nq) and velocities (m, nv), by the random generators of m worlds;
#: None: as the model says
Begin = Callable[[Sequence[np.random.Generator]], tuple[np.ndarray | None, np.ndarray | None]]


class BatchEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """n environments, the worlds of a batch; observations, rewards and terminations are functions over arrays.

    Parameters
    ----------
    system : from `limberjack.load`
    num_envs : worlds
    actions : command → (lowest, highest); an action is these commands, in this order, held for a step
    observe : function of the batch; returns observations (n, k) in the units that you choose
    reward : function of the batch after a step and of the actions (n, m); returns rewards (n,)
    terminated : function of the batch after a step; returns whether each episode ends there, (n,) bool
    begin : initial states of episodes (see `Begin`); None: those of the model
    steps : steps of dt in a step of the environment
    most_steps : steps of the environment after which an episode is truncated; None: never
    autoreset_mode : of Gymnasium: NEXT_STEP, SAME_STEP or DISABLED
    dt : step, s, the model's if None;  integrator, substeps, threads : as for `Batch`

    Attributes
    ----------
    batch : the worlds

    World i has a separate random generator: `reset(seed=s)` seeds it with s + i, as Gymnasium's vectors of single
    environments do.
    A world that diverges has terminated; info["diverged"] (n,) says so. Actions are not clipped; ArgumentError for NaN.
    """

    def __init__(
        self,
        system: System,
        num_envs: int,
        *,
        actions: Mapping[str, tuple[float, float]],
        observe: Callable[[Batch], np.ndarray],
        reward: Callable[[Batch, np.ndarray], np.ndarray],
        terminated: Callable[[Batch], np.ndarray],
        begin: Begin | None = None,
        steps: int = 1,
        most_steps: int | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        dt: float | None = None,
        integrator: str | None = None,
        substeps: int = 1,
        threads: int | None = None,
    ) -> None:
        self.batch = Batch(system, num_envs, dt, integrator, substeps, threads)
        self.num_envs, self._steps = self.batch.n, arguments.count("steps", steps, 1, 2**31)
        self._most = None if most_steps is None else arguments.count("most_steps", most_steps, 1, 2**53)
        self._observe, self._reward, self._terminated, self._begin = observe, reward, terminated, begin
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self._mode, "render_modes": []}
        self._commands = _places(self.batch, actions)
        low, high = (np.array([bounds[i] for bounds in actions.values()], dtype=np.float64) for i in (0, 1))
        self.single_action_space = spaces.Box(low, high, dtype=np.float64)
        seen = self._shaped("observe", observe(self.batch), 2)
        self.single_observation_space = spaces.Box(-np.inf, np.inf, seen.shape[1:], np.float64)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._randoms = [np_random()[0] for _ in range(self.num_envs)]
        self._taken = np.zeros(self.num_envs, dtype=np.int64)
        self._ended = np.zeros(self.num_envs, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin episodes; the observations (n, k) and no infos.

        seed : s seeds world i with s + i; a sequence has a seed for each; None: generators continue
        options : {"reset_mask": (n,) of bool} begins only those episodes
        """
        mask = np.ones(self.num_envs, dtype=bool)
        if options and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ArgumentError(f"reset_mask must be {self.num_envs} values, true or false, at least one true.")
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ArgumentError(f"there are {len(seeds)} seeds for {self.num_envs} worlds; give one for each.")
        for world, own in enumerate([] if seeds is None else seeds):
            if mask[world] and own is not None:
                self._randoms[world] = np_random(int(own))[0]
        self._restart(np.flatnonzero(mask))
        return self._seen(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all worlds: observations (n, k), rewards, terminations and truncations (n,), infos.

        After an episode has ended, its world begins another in the next step, which its action does not enter
        (NEXT_STEP), in the same step, and the last observation is in info["final_obs"] (SAME_STEP), or when `reset` is
        called (DISABLED); ArgumentError where it was not.
        """
        again = self._ended.copy()
        if again.any() and self._mode == AutoresetMode.DISABLED:
            world = int(np.argmax(again))
            raise ArgumentError(f"the episode of world {world} has ended; call reset with options' reset_mask.")
        given = arguments.vector("actions", actions, (self.num_envs, len(self._commands)))
        commands = self.batch.command_vector
        commands[:, self._commands] = given
        self.batch.command_vector = commands
        self.batch.step(self._steps)
        if again.any():
            self._restart(np.flatnonzero(again))
        self._taken += ~again
        rewards, terminations, truncations, diverged = self._judged(given, again)
        infos: dict[str, Any] = {}
        if diverged.any():
            infos["diverged"], infos["_diverged"] = diverged, diverged.copy()
        self._ended = terminations | truncations
        seen = self._seen()
        if self._mode == AutoresetMode.SAME_STEP and self._ended.any():
            seen, infos = self._renewed(seen, infos)
        return seen, rewards, terminations, truncations, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is open."""

    def _judged(self, given: np.ndarray, again: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rewards, terminations, truncations and divergences (n,); 0 or False for worlds just reset, except the
        last."""
        diverged = np.zeros(self.num_envs, dtype=bool)
        diverged[list(self.batch.errors)] = True
        rewards = self._shaped("reward", self._reward(self.batch, given), 1)
        terminations = self._shaped("terminated", self._terminated(self.batch), 1).astype(bool) | diverged
        truncations = np.zeros(self.num_envs, dtype=bool) if self._most is None else self._taken >= self._most
        return np.where(again, 0.0, rewards), terminations & ~again, truncations & ~again, diverged

    def _renewed(self, seen: np.ndarray, infos: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """Observations and infos after episodes that ended were reset in the same step."""
        ended = self._ended.copy()
        last = np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(ended):
            last[world] = seen[world].copy()
        self._restart(np.flatnonzero(ended))
        return self._seen(), {"final_obs": last, "_final_obs": ended, "final_info": infos, "_final_info": ended.copy()}

    def _restart(self, worlds: np.ndarray) -> None:
        """Begin episodes of these worlds: the model's state, seeds of noise, and the result of `begin`."""
        randoms = [self._randoms[world] for world in worlds]
        self.batch.reset(worlds)
        if "noise.seed" in self.batch.plant.parameters:
            seeds = self.batch.parameters["noise.seed"]
            seeds[worlds] = [random.integers(2**32) for random in randoms]
            self.batch.parameters["noise.seed"] = seeds
        if self._begin is not None:
            self.batch.move(worlds, *self._begin(randoms))
        self._taken[worlds] = 0
        self._ended[worlds] = False

    def _seen(self) -> np.ndarray:
        return self._shaped("observe", self._observe(self.batch), 2).astype(np.float64)

    def _shaped(self, name: str, values: Any, dimensions: int) -> np.ndarray:
        """The result of a user's function. Raises ArgumentError unless it has a row for each world."""
        found = np.asarray(values)
        if found.ndim != dimensions or len(found) != self.num_envs:
            shape = "(worlds, numbers)" if dimensions == 2 else "(worlds,)"
            raise ArgumentError(
                f"{name} gave an array of shape {found.shape}; return {shape} of {self.num_envs} worlds."
            )
        return found


def _places(batch: Batch, actions: Mapping[str, tuple[float, float]]) -> list[int]:
    """Indices of the commands. Raises ArgumentError for unknown names and invalid bounds."""
    if not actions:
        raise ArgumentError("there are no actions; give commands and their bounds, as {'motor': (-1, 1)}.")
    for name, bounds in actions.items():
        low, high = arguments.vector(f"the bounds of action '{name}'", bounds, (2,))
        if not low < high:
            raise ArgumentError(f"the bounds of action '{name}', {low:g} and {high:g}, leave nothing between them.")
    return [arguments.index_of("command", name, batch.system.command_names) for name in actions]
