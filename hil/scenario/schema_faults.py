"""The YAML schema of a scenario's faults and watchdogs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from limberjack.engine.files.schema_values import (
    Listed,
    Model,
    Name,
    NamePattern,
    NonNegative,
    Number,
    Positive,
)

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Patterns = Annotated[Listed[NamePattern], Field(min_length=1)]


class _Fault(Model):
    name: Name = Field(description="unique among faults; the timeline begins and clears it")


class _CommandFault(_Fault):
    commands: Patterns = Field(description="patterns of the commands that it changes on their way to the model")


class _SignalFault(_Fault):
    signals: Patterns = Field(description="patterns of the signals that it changes on their way to the devices")


class ParameterFault(_Fault):
    """Parameters of the model change: friction, mass, stiffness."""

    type: Literal["parameter"]
    values: dict[Name, Number] = Field(default={}, description="parameter → value while it lasts")
    factors: dict[Name, Number] = Field(default={}, description="parameter → factor on its value")

    @model_validator(mode="after")
    def _something(self) -> ParameterFault:
        if not self.values and not self.factors:
            raise ValueError("the fault changes nothing; give values or factors")
        twice = sorted(set(self.values) & set(self.factors))
        if twice:
            raise ValueError(f"parameter '{twice[0]}' is among values and factors; give it once")
        return self


class FrequencyFault(_Fault):
    """The frequency of a mode changes: its stiffness by the square of the factor, its damping ratio stays."""

    type: Literal["modal_frequency"]
    body: Name = Field(description="a flexible body")
    mode: Annotated[int, Field(ge=1)] = Field(description="number of the mode, from 1")
    factor: Positive


class LockFault(_Fault):
    """A hinge stops and stays where it is; the model needs a lock for it."""

    type: Literal["lock"]
    hinge: Name


class StuckFault(_CommandFault):
    """Commands stay what they are, or become a value."""

    type: Literal["stuck"]
    value: Number | None = Field(default=None, description="default: what they are when it begins")


class EffectivenessFault(_CommandFault):
    """A factor on commands."""

    type: Literal["effectiveness"]
    factor: Number = Field(description="0: none is left; above 1: too much")


class ReversedFault(_CommandFault):
    """Commands with the other sign."""

    type: Literal["reversed"]


class RunawayFault(_CommandFault):
    """Commands run away from what they are when it begins."""

    type: Literal["runaway"]
    rate: Number = Field(description="their unit a second")
    most: Positive | None = Field(default=None, description="largest magnitude (default: no limit)")


class DelayFault(_CommandFault):
    """Commands arrive later."""

    type: Literal["delay"]
    delay: Positive = Field(description="s; rounded to whole frames, at least one")


class BiasFault(_SignalFault):
    """A constant is added."""

    type: Literal["bias"]
    value: Number


class DriftFault(_SignalFault):
    """What is added grows."""

    type: Literal["drift"]
    rate: Number = Field(description="its unit a second, from when the fault begins")


class FreezeFault(_SignalFault):
    """Signals stay what they are when it begins."""

    type: Literal["freeze"]


class DropoutFault(_SignalFault):
    """Signals read a constant."""

    type: Literal["dropout"]
    value: Number = Field(default=0.0, description="default 0")


class SpikeFault(_SignalFault):
    """Single frames with a value added, at random."""

    type: Literal["spike"]
    value: Number
    every_s: Positive = Field(description="mean time from one to the next, s; each signal has its own")


class NoiseFault(_SignalFault):
    """White noise is added, normal and independent from frame to frame."""

    type: Literal["noise"]
    sigma: NonNegative = Field(description="standard deviation")


class DisturbanceSpec(Model):
    """What happens to each message of one direction."""

    latency_s: NonNegative = Field(default=0.0, description="delay of simulated time, s (default 0)")
    jitter_s: NonNegative = Field(default=0.0, description="a uniform share of it is added to the delay, s (default 0)")
    loss: Probability = Field(default=0.0, description="probability (default 0)")
    duplicate: Probability = Field(default=0.0, description="probability (default 0)")
    reorder: Probability = Field(default=0.0, description="probability that it is held back (default 0)")
    reorder_s: NonNegative = Field(default=0.0, description="by how much, s; needed by reorder")

    @model_validator(mode="after")
    def _held_back(self) -> DisturbanceSpec:
        if self.reorder > 0.0 and self.reorder_s == 0.0:
            raise ValueError("reorder needs reorder_s, by how much a message is held back")
        return self


class LinkFault(_Fault):
    """The link of a device delays, loses, doubles or reorders messages; random by the scenario's seed."""

    type: Literal["link"]
    device: Name
    signals: DisturbanceSpec = Field(default=DisturbanceSpec(), description="to the device (default: sound)")
    commands: DisturbanceSpec = Field(default=DisturbanceSpec(), description="from the device (default: sound)")


FaultSpec = Annotated[
    ParameterFault
    | LinkFault
    | FrequencyFault
    | LockFault
    | StuckFault
    | EffectivenessFault
    | ReversedFault
    | RunawayFault
    | DelayFault
    | BiasFault
    | DriftFault
    | FreezeFault
    | DropoutFault
    | SpikeFault
    | NoiseFault,
    Field(discriminator="type"),
]

SafeState = Literal["hold", "zero", "brake", "stop"]


class _Watchdog(Model):
    name: Name = Field(description="unique among watchdogs; source of its events")
    safe: SafeState = Field(description="what to do with the commands; stop ends the run")
    latched: bool = Field(
        default=False, description="whether the safe state stays when the cause has gone (default no)"
    )
    brake_gain: Positive | None = Field(
        default=None, description="of drives that are commanded in torque, N·m·s/rad or N·s/m; needed by brake for them"
    )


class CommandAgeSpec(_Watchdog):
    """Commands from a device are too old, one of them or all."""

    type: Literal["command_age"]
    commands: Patterns = Field(description="patterns; each must be set by a device. They go to the safe state")
    limit: Positive = Field(description="s of simulated time")


class HeartbeatSpec(_Watchdog):
    """Nothing has come from a device."""

    type: Literal["heartbeat"]
    device: Name
    limit: Positive = Field(description="s of simulated time")
    commands: Listed[NamePattern] = Field(default=[], description="that go to the safe state (default: the device's)")


class LimitSpec(_Watchdog):
    """A signal leaves its range."""

    type: Literal["limit"]
    signals: Patterns
    lower: Number | None = Field(default=None, description="default: no bound")
    upper: Number | None = Field(default=None, description="default: no bound")
    commands: Listed[NamePattern] = Field(default=[], description="that go to the safe state (default: all)")

    @model_validator(mode="after")
    def _bounded(self) -> LimitSpec:
        if self.lower is None and self.upper is None:
            raise ValueError("no bound is given; give lower, upper or both")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"lower is {self.lower:g}, not below upper, {self.upper:g}")
        return self


class EngineSpec(_Watchdog):
    """The engine: a signal is not finite, or time stands still."""

    type: Literal["engine"]
    commands: Listed[NamePattern] = Field(default=[], description="that go to the safe state (default: all)")


WatchdogSpec = Annotated[CommandAgeSpec | HeartbeatSpec | LimitSpec | EngineSpec, Field(discriminator="type")]
