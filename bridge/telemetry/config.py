"""The gateway's file: engine, history, who may command, outlets (docs/how-to/telemetry.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from limberjack.bridge.telemetry.orders import ACTIONS, Rule
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.schema_values import Listed, Model, Name, Positive
from limberjack.engine.files.yaml_document import read_document
from limberjack.engine.model.readers.schema_errors import Dialect, validated

PAGE = "docs/how-to/telemetry.md"
Word = Annotated[str, Field(min_length=1, max_length=4000)]


class HistorySpec(Model):
    """The file and size of the history."""

    file: Word | None = Field(
        default=None,
        description="relative to this file; none: a temporary one (default: in the user's folder of state)",
    )
    full_minutes: Positive = Field(default=10.0, description="for how long every sample is kept (default 10)")
    size_mb: Positive = Field(default=1000.0, description="size of the file, about (default 1000)")


class AllowSpec(Model):
    """Rights of some users. Patterns are those of file names: * and ?."""

    who: Word = Field(default="*", description='"outlet/name", as notices show it')
    actions: Listed[Word] = Field(default=["*"], description=f"of {', '.join(ACTIONS)}")
    targets: Listed[Word] = Field(default=["*"], description="names of commands, parameters, loops or hinges")


class OutletSpec(Model):
    """One outlet."""

    kind: Name = Field(description="as the option of `limberjack gateway` without its dashes")
    to: Word = Field(description="as the value of that option")
    rate_hz: Positive | None = Field(default=None, description="samples a second at most (default: the outlet's own)")
    options: dict[Name, Any] = Field(default={}, description="options that only this kind has")


class GatewaySpec(Model):
    """A gateway."""

    limberjack_gateway: Literal[1] = Field(description="version of this format")
    engine: Word | None = Field(default=None, description="address; the one of the command line comes first")
    keys: Word | None = Field(default=None, description="folder of CurveZMQ keys, relative to this file")
    key_name: Name = Field(default="client", description="of the key pair (default client)")
    rate_hz: Positive | None = Field(default=None, description="states taken from the engine a second (default: all)")
    history: HistorySpec | None = Field(default=None, description="default: at home, where an outlet needs it")
    allow: Listed[AllowSpec] | None = Field(
        default=None, description="default: operators may do everything; []: nothing"
    )
    outlets: Listed[OutletSpec] = Field(default=[], description="beside those of the command line")

    def rules(self) -> tuple[Rule, ...]:
        """Who may do what."""
        if self.allow is None:
            return (Rule(),)
        return tuple(Rule(each.who, tuple(each.actions), tuple(each.targets)) for each in self.allow)


def load_config(path: Path) -> GatewaySpec:
    """Read and check a gateway's file. ModelError with file, line and field path for whatever is wrong with it."""
    document = read_document(path)
    if not isinstance(document.root.content, dict):
        remedy = f"Begin with 'limberjack_gateway: 1'; see {PAGE}"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), remedy=remedy)
    spec = validated(GatewaySpec, document, Dialect(GatewaySpec, PAGE))
    for place, allow in enumerate(spec.allow or ()):
        for action in allow.actions:
            if action != "*" and action not in ACTIONS:
                where = document.place(("allow", place, "actions"))
                what, remedy = f"'{action}' is not an action", f"Use {', '.join(ACTIONS)} or *"
                raise ModelError(what, where=where, remedy=remedy)
    return spec
