"""The YAML schema of a scenario's timeline."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from limberjack.engine.files.schema_values import Model, Name, NonNegative, Number, Positive

#: fields of an entry that say what happens
ACTIONS = ("command", "ramp", "parameter", "fault", "clear", "arm", "attach", "release", "lock", "unlock", "end")


class RampSpec(Model):
    """Commands that move to a value in equal parts of a time."""

    to: Annotated[dict[Name, Number], Field(min_length=1)] = Field(description="command → value at the end")
    duration: Positive = Field(description="s")


class TimelineSpec(Model):
    """One thing that happens at a time."""

    at: NonNegative = Field(description="simulated time, s; in the first frame that begins then or later")
    command: dict[Name, Number] | None = Field(default=None, description="command → value, held")
    ramp: RampSpec | None = Field(default=None, description="commands that move evenly")
    parameter: dict[Name, Number] | None = Field(default=None, description="parameter → value")
    fault: Name | None = Field(default=None, description="fault that begins")
    clear: Name | None = Field(default=None, description="fault that ends")
    arm: Name | None = Field(default=None, description="watchdog whose safe state ends, also a latched one")
    attach: Name | None = Field(default=None, description="loop that closes")
    release: Name | None = Field(default=None, description="loop that opens")
    lock: Name | None = Field(default=None, description="hinge that stops, for which the model has a lock")
    unlock: Name | None = Field(default=None, description="hinge that may move again")
    end: bool | None = Field(default=None, description="true: the run ends here, completed")

    @model_validator(mode="after")
    def _one_action(self) -> TimelineSpec:
        given = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are given together" if given else "nothing happens in this entry"
            raise ValueError(f"{found}; give one of {', '.join(ACTIONS)}")
        if self.end is False:
            raise ValueError("end is false; leave the entry out")
        return self

    @property
    def action(self) -> str:
        """Which of the fields is given."""
        return next(name for name in ACTIONS if getattr(self, name) is not None)
