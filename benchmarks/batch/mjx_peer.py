"""MJX on the processor's cores: MuJoCo in JAX, which compiles a function for a model and a number of worlds."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.mujoco_peer import model_of
from benchmarks.peer_build import require, version_of
from benchmarks.trees import tree_of
from limberjack.engine.model.system import System

#: steps of a call: one takes seconds
STEPS = 2
#: calls, of which the fastest counts
CALLS = 3


def measured(system: System, worlds: int, dt: float) -> str:
    """What MJX does on all cores, in a sentence. PeerUnavailableError where it is not installed.

    In double precision, as all engines here. XLA shares the work among threads of its own.
    """
    require(["mujoco", "mujoco-mjx", "jax"])
    import jax
    import mujoco
    from mujoco import mjx

    jax.config.update("jax_enable_x64", True)
    model = model_of(mujoco, tree_of(system))
    model.opt.timestep = dt
    rates = 0.01 * np.random.default_rng(5).normal(size=(worlds, model.nv))
    begin = time.perf_counter()
    compiled, data = mjx.put_model(model), mjx.make_data(model)
    start = jax.vmap(lambda v: data.replace(qvel=v))(rates)
    step = jax.vmap(mjx.step, (None, 0))
    run = jax.jit(lambda state: jax.lax.scan(lambda each, _: (step(compiled, each), None), state, None, STEPS)[0])
    spent = []
    for _ in range(1 + CALLS):
        jax.block_until_ready(run(start))
        spent.append(time.perf_counter() - begin)
        begin = time.perf_counter()
    rate = worlds * STEPS / min(spent[1:]) / 1e3
    return (
        f"MJX {version_of('mujoco-mjx')} on all cores: {rate:.2f} thousand worlds × steps a second, after "
        f"{spent[0]:.0f} s of compilation"
    )
