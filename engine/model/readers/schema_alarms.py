"""The YAML schema of alarms."""

from __future__ import annotations

import math

from pydantic import Field

from limberjack.engine.files.schema_values import Model, Name, Number
from limberjack.engine.model.alarms import Alarm, Bounds


class BoundsSpec(Model):
    """What a value may be, in its unit; both ends are allowed."""

    lower: Number | None = Field(default=None, description="default: no lower limit")
    upper: Number | None = Field(default=None, description="default: no upper limit")

    def bounds(self) -> Bounds:
        """The same for the System."""
        lower = -math.inf if self.lower is None else self.lower
        return Bounds(lower, math.inf if self.upper is None else self.upper)


class AlarmSpec(Model):
    """Limits beyond which a quantity of the running model is in alarm."""

    signal: Name = Field(
        description="name of a quantity, as q.elbow, v.…, tau.…, output.…, command.…, energy.total; or a pattern of "
        "names with * and ?"
    )
    warning: BoundsSpec = Field(default=BoundsSpec(), description="outside these: a warning (default: none)")
    critical: BoundsSpec = Field(
        default=BoundsSpec(), description="outside these: critical; they enclose those of the warning (default: none)"
    )

    def alarm(self, where: str) -> Alarm:
        """The same for the System."""
        return Alarm(self.signal, self.warning.bounds(), self.critical.bounds(), where)
