"""Many steps in portions: the same bits, others act in between, and a stop is heard."""

from __future__ import annotations

import time

from limberjack.bridge.stepping import Stepper
from limberjack.engine.api.simulation import Simulation


def test_portions_give_the_bits_of_one_call_and_others_act_between_them(arm):
    whole, simulation = Simulation(arm), Simulation(arm)
    whole.step(5000)
    stepper, seen = Stepper(simulation.step), []
    stepper.between = lambda: seen.append(simulation.step_count)
    assert stepper.advance(5000, lambda: False) == 5000
    assert simulation.state.tobytes() == whole.state.tobytes()
    assert len(seen) > 4
    assert seen == sorted(seen)
    assert seen[0] == 16


def test_a_stop_is_heard_between_two_portions(arm):
    simulation = Simulation(arm)
    stepper = Stepper(simulation.step)
    done = stepper.advance(100_000, lambda: simulation.step_count > 0)
    assert done == simulation.step_count == 16


class Slow:
    """Stands for a simulation whose steps take long."""

    def __init__(self, step_s):
        self.step_s, self.portions = step_s, []

    def step(self, n, ahead):
        self.portions.append(n)
        time.sleep(n * self.step_s)


def test_portions_of_slow_steps_become_small():
    slow = Slow(0.03)
    Stepper(slow.step).advance(60, lambda: False)
    assert slow.portions[0] == 16
    assert min(slow.portions[:-1]) <= 8  # 0.24 s, then half of it: portions of a tenth of a second are sought
