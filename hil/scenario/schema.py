"""The YAML format of scenarios as pydantic models; `json_schema` exports it for editors.

Field meanings, units and defaults are in the descriptions; docs/reference/scenario-format.md explains them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from limberjack.engine.files.schema_values import (
    Listed,
    Model,
    Name,
    NamePattern,
    NonNegative,
    Number,
    Positive,
    Vector3,
    schema_text,
)
from limberjack.hil.scenario.schema_criteria import CriterionSpec, Traced
from limberjack.hil.scenario.schema_faults import FaultSpec, WatchdogSpec
from limberjack.hil.scenario.schema_timeline import TimelineSpec

#: a path, URI or argument
Word = Annotated[str, Field(min_length=1, max_length=4000)]
Count = Annotated[int, Field(ge=1, le=2**31)]
Tally = Annotated[int, Field(ge=0, le=2**31)]
Share = Annotated[float, Field(ge=0, le=1)]


class LoadSpec(Model):
    """How the model file is read."""

    base: Literal["fixed", "free"] | None = Field(default=None, description="default: as the file says")
    strict: bool | None = Field(
        default=None,
        description="true: turn every warning into an error; false: keep inertias that no real body has "
        "(default: as the file says)",
    )
    mimic: Literal["couple", "independent", "refuse"] = Field(
        default="couple", description="URDF joints that mimic another (default couple)"
    )
    gravity: Vector3 | None = Field(default=None, description="m/s² (default: as the file says)")
    merge: bool | None = Field(default=None, description="whether fixed hinges are folded (default: as the file says)")
    contacts: bool = Field(
        default=False, description="true: geoms of MJCF touch as the file says, collision shapes of URDF have names"
    )


class PacingSpec(Model):
    """Pace and requested privileges."""

    real_time: bool = Field(
        default=False, description="at the pace of the clock; else in lockstep, as fast as devices answer (default)"
    )
    policy: Literal["catch_up", "skip", "stop"] = Field(default="catch_up", description="at overruns; default catch_up")
    most_total: Tally | None = Field(default=None, description="more overruns end the run (default: any number)")
    most_consecutive: Tally | None = Field(default=None, description="more overruns in a row end the run")
    start_up_frames: Tally = Field(default=0, description="frames at the start that are counted apart (default 0)")
    most_start_up: Tally | None = Field(default=None, description="more overruns in those end the run")
    overrun_share: Share = Field(
        default=0.01, description="largest fraction of frames that may overrun if the run is to pass (default 0.01)"
    )
    most_late_s: Positive | None = Field(
        default=None,
        description="time by which a frame may end too late, s (default: ten frames, at least 0.02)",
    )
    answer_limit_s: Positive = Field(default=1.0, description="longest wait for an answer in lockstep, s (default 1)")
    priority: Annotated[int, Field(ge=1, le=99)] | None = Field(default=None, description="SCHED_FIFO priority")
    cpus: Listed[Tally] = Field(default=[], description="processors to stay on (default: all)")
    lock_memory: bool = Field(default=False, description="keep all pages in memory (default false)")


class InitialSpec(Model):
    """The state at the start, where it is not the model's."""

    coordinates: dict[Name, Number] = Field(default={}, description="name → value, rad, m; quaternions are made unit")
    velocities: dict[Name, Number] = Field(default={}, description="name → value, rad/s, m/s")
    commands: dict[Name, Number] = Field(default={}, description="name → first value")
    parameters: dict[Name, Number] = Field(default={}, description="name → value")


class CompensationSpec(Model):
    """Forces that hardware measures, carried on over the delay with which they come."""

    delay: Annotated[float, Field(gt=0, le=1)] = Field(description="s, from a motion to the force that it causes")
    over: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="s, over which the slope of the force is taken (default: the delay)"
    )


class DeviceSpec(Model):
    """A controller, drive or instrument."""

    name: Name = Field(description="unique among devices")
    uri: Word = Field(
        description="python:MODULE:FUNCTION, arrays:MODULE:FUNCTION or fmu:PATH in this process, or a link; see "
        "docs/reference/devices.md"
    )
    signals: Listed[NamePattern] = Field(default=[], description="what it is sent each frame, patterns, in this order")
    commands: Listed[NamePattern] = Field(default=[], description="what it sets, patterns, in this order")
    every: Count = Field(default=1, description="frames from one message to the next (default 1)")
    compensate: CompensationSpec | None = Field(default=None, description="of its commands, if these are late forces")
    options: dict[Name, Any] = Field(default={}, description="of the URI's scheme, or arguments of the function")


class ControllerSpec(Model):
    """A program that runs beside the bench, started before it and ended with it."""

    name: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")] = Field(
        description="unique among controllers; letters, digits, _, . and -, as its output goes to <name>.log"
    )
    command: Annotated[Listed[Word], Field(min_length=1)] = Field(
        description="program and arguments; {python}: this interpreter, {folder}: the scenario's folder"
    )
    ready: Word | None = Field(default=None, description="line of its output that says it is ready (default: none)")
    start_s: NonNegative = Field(
        default=0.5, description="time that it is given to start, s (default 0.5); with ready: at most, 10 is usual"
    )
    end_s: NonNegative = Field(default=2.0, description="time that it is given to end before it is killed (default 2)")
    may_end: bool = Field(default=False, description="whether the run goes on when it ends (default false)")


class PlotSpec(Model):
    """One diagram of the report."""

    title: Name
    signals: Annotated[Listed[NamePattern], Field(min_length=1)]


class RecordSpec(Model):
    """What is kept of a run."""

    signals: Listed[NamePattern] = Field(default=["*"], description="patterns of what is kept (default: all)")
    mcap: bool | None = Field(
        default=None, description="write record.mcap, which can be replayed (default: if the package mcap is installed)"
    )
    csv: bool = Field(default=True, description="write the table signals.csv (default true)")
    every: Count = Field(default=1, description="frames from one row of the table to the next (default 1)")


class ScenarioSpec(Traced):
    """A Limberjack scenario file."""

    limberjack_scenario: Literal[1] = Field(description="version of this format")
    name: Name
    description: str = Field(default="", description="for the report")
    model: Word = Field(description="model file, beside the scenario unless the path is absolute")
    load: LoadSpec = LoadSpec()
    dt: Positive | None = Field(default=None, description="step, s (default: the model's)")
    integrator: Literal["rk4", "semi_implicit", "implicit"] | None = Field(default=None, description="the model's")
    substeps: Annotated[int, Field(ge=1, le=1000)] = Field(default=1, description="equal parts of a step (default 1)")
    steps_per_frame: Count = Field(default=1, description="steps from one exchange with devices to the next")
    pacing: PacingSpec = PacingSpec()
    duration: Positive = Field(description="simulated time, s")
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = Field(default=0, description="of all random numbers (default 0)")
    initial: InitialSpec = InitialSpec()
    devices: Listed[DeviceSpec] = Field(default=[])
    controllers: Listed[ControllerSpec] = Field(default=[])
    watchdogs: Listed[WatchdogSpec] = Field(default=[])
    faults: Listed[FaultSpec] = Field(default=[])
    timeline: Listed[TimelineSpec] = Field(default=[])
    expect: Literal["completed", "tripped"] = Field(
        default="completed", description="how the run must end: in time, or by a watchdog (default completed)"
    )
    criteria: Listed[CriterionSpec] = Field(default=[])
    plots: Listed[PlotSpec] = Field(default=[], description="diagrams (default: one for the signals of each criterion)")
    record: RecordSpec = RecordSpec()


def json_schema() -> str:
    """The JSON Schema of the format."""
    return schema_text(ScenarioSpec, "Limberjack scenario")
