"""Measures how fast and how steadily this machine can run a model, before a test that depends on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import System
from limberjack.hil.clock import Clock, measured_clock
from limberjack.hil.executive import Executive, Outcome
from limberjack.hil.frame_times import FrameLog, FrameStatistics
from limberjack.hil.overruns import OverrunPolicy
from limberjack.hil.realtime_rights import RealtimeRights

#: rates that are tried, in each power of ten: equal steps of the logarithm, rounded
PREFERRED = (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
_STRIDE = 3
_TRIAL_S = 2.0
#: time of a run at one rate besides its frames, s: the clock's margin is measured
_SET_UP_S = 0.3
#: a rate is nearly sustained if no more than this part of its frames overran
NEARLY = 1e-3
#: share of the period that the usual frame may fill at the first rate tried
_FILL = 0.9
MOST_SECONDS, SLOWEST_HZ, FASTEST_HZ = 86_400.0, 0.1, 1e6


@dataclass(frozen=True)
class Trial:
    """Frames of one rate; clean: none of them overran, nearly: almost none; completed: the model ran to the end."""

    rate_hz: float
    statistics: FrameStatistics
    completed: bool = True

    @property
    def clean(self) -> bool:
        """No frame overran."""
        return self.completed and self.statistics.overruns == 0

    @property
    def nearly(self) -> bool:
        """At most one of a thousand overran."""
        return self.completed and self.statistics.overruns <= NEARLY * self.statistics.frames


@dataclass(frozen=True)
class Probe:
    """What a probe found.

    rate_hz : frames a second of the long run;  outcome : of that run;  bare : an empty loop at the same rate
    trials : short runs at other rates, fastest first: by halves until one was clean, and the two rates above that
    """

    rate_hz: float
    outcome: Outcome
    bare: FrameLog
    trials: tuple[Trial, ...]

    @property
    def highest_hz(self) -> float | None:
        """The highest rate tried without any overrun; None if every one had some."""
        return next((trial.rate_hz for trial in self.trials if trial.clean), None)

    @property
    def nearly_hz(self) -> float | None:
        """The highest rate tried at which at most one of a thousand frames overran."""
        return next((trial.rate_hz for trial in self.trials if trial.nearly), None)


def probe(
    system: System,
    *,
    rate_hz: float | None = None,
    seconds: float = 10.0,
    trial_seconds: float | None = None,
    integrator: str | None = None,
    placing: RealtimeRights | None = None,
    say: Callable[[str, float], None] = lambda *_: None,
) -> Probe:
    """Run a model at a rate for some seconds beside an empty loop, then look for the highest rate without overrun.

    rate_hz : frames a second; 1 / the model's dt without. Slower frames have several steps, faster ones shorter steps
    trial_seconds : of each run at another rate; 2 s, or `seconds` if that is less, without
    say : called with what is measured next and the longest time that the rest takes, s
    ArgumentError for a rate or a duration that cannot be.
    """
    rate = _rate(1.0 / system.dt if rate_hz is None else rate_hz)
    trial_seconds = min(seconds, _TRIAL_S) if trial_seconds is None else trial_seconds
    for name, value in (("seconds", seconds), ("trial_seconds", trial_seconds)):
        if not 1.0 / rate <= arguments.positive(name, value) <= MOST_SECONDS:
            raise ArgumentError(f"{name} is {value:g}; give at least a frame ({1 / rate:g} s) and at most a day.")
    placing = placing or RealtimeRights()
    rates_most = len(_rates(max(0.1 * rate, 1.0 / trial_seconds), FASTEST_HZ))
    trial_s = trial_seconds + _SET_UP_S
    left = 2.0 * (seconds + _SET_UP_S) + _most_trials(rates_most) * trial_s
    say(f"an empty loop at {rate:g} Hz, {seconds:g} s", left)
    bare = bare_loop(rate, seconds, placing)
    say(f"the model at {rate:g} Hz, {seconds:g} s", left - seconds - _SET_UP_S)
    outcome = run_at(system, rate, seconds, integrator, placing)
    if outcome.reason != "completed":
        return Probe(rate, outcome, bare, ())
    usual = outcome.frames.statistics().compute.p50

    rates = _rates(max(0.1 * rate, 1.0 / trial_seconds), min(_FILL / usual, FASTEST_HZ))
    left = _most_trials(len(rates)) * trial_s

    def attempt(tried: float) -> Trial:
        nonlocal left
        say(f"the model at {tried:g} Hz, {trial_seconds:g} s", left)
        left -= trial_s
        ended = run_at(system, tried, trial_seconds, integrator, placing)
        return Trial(tried, ended.frames.statistics(), ended.reason == "completed")

    return Probe(rate, outcome, bare, tuple(_search(rates, attempt)))


def _search(rates: list[float], attempt: Callable[[float], Trial]) -> list[Trial]:
    """Every third rate, which is about half of the one before, until one is clean; then the two above that one."""
    trials: dict[float, Trial] = {}
    for i in range(0, len(rates), _STRIDE):
        trials[rates[i]] = attempt(rates[i])
        if trials[rates[i]].clean:
            trials |= {rate: attempt(rate) for rate in rates[max(i - _STRIDE + 1, 0) : i]}
            break
    return [trials[rate] for rate in sorted(trials, reverse=True)]


def _most_trials(rates: int) -> int:
    """How many of so many rates `_search` tries at most."""
    return -(-rates // _STRIDE) + _STRIDE - 1 if rates else 0


def run_at(system: System, rate_hz: float, seconds: float, integrator: str | None, placing: RealtimeRights) -> Outcome:
    """A paced run without devices: the fewest equal steps a frame that are no longer than the model's own.

    KeyboardInterrupt if the user stops it.
    """
    steps = equal_steps(system, rate_hz)
    simulation = Simulation(system, dt=1.0 / (steps * rate_hz), integrator=integrator)
    bench = Executive(simulation, steps_per_frame=steps, policy=OverrunPolicy("catch_up"), placing=placing)
    outcome = bench.run(seconds)
    if outcome.reason == "stopped":
        raise KeyboardInterrupt(outcome.text)
    return outcome


def equal_steps(system: System, rate_hz: float) -> int:
    """The fewest equal steps a frame that are no longer than the model's own."""
    return math.ceil(1.0 / (rate_hz * system.dt) - 1e-9)


def bare_loop(rate_hz: float, seconds: float, placing: RealtimeRights, clock: Clock | None = None) -> FrameLog:
    """The executive's loop without any work: shows the effect of the machine alone on frames."""
    period = round(1e9 / rate_hz)
    count = max(round(seconds * rate_hz), 1)
    log = FrameLog(period, count)
    with placing.held():
        clock = clock or measured_clock(period)
        deadline = clock.now_ns() + period
        for _ in range(count):
            start = clock.wait_until(deadline)
            if log.add(deadline, start, clock.now_ns()) < 0:
                log.overruns += 1
            deadline += period
            log.until_ns = deadline
    return log


def _rate(value: float) -> float:
    rate = arguments.positive("the rate", value)
    if not SLOWEST_HZ <= rate <= FASTEST_HZ:
        raise ArgumentError(f"a rate of {rate:g} Hz cannot be timed; give {SLOWEST_HZ:g} to {FASTEST_HZ:g} Hz.")
    return rate


def _rates(least_hz: float, most_hz: float) -> list[float]:
    """Preferred rates from least_hz to most_hz, fastest first."""
    found = [step * 10.0**power for power in range(-1, 6) for step in PREFERRED]
    return [rate for rate in reversed(found) if least_hz <= rate <= most_hz]
