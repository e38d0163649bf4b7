"""The file of packets: the quantities of each packet, its rate, and who may send telecommands."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.schema_values import Listed, Model, NamePattern, Positive
from limberjack.engine.files.yaml_document import read_document
from limberjack.engine.model.readers.schema_errors import Dialect, validated

PAGE = "docs/how-to/telemetry.md"
MOST_SETS = 200

Apid = Annotated[int, Field(ge=1, le=2046)]


def _date(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("date", "is not a date; write it as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None or not 0 <= moment.timestamp() < 2**32:
        raise PydanticCustomError("date", "needs its zone and must lie between 1970 and 2106; write Z for UTC")
    return text


def _word(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", text):
        raise PydanticCustomError("word", "write letters, digits and _, at most 64, a letter first")
    return text


Word = Annotated[str, AfterValidator(_word)]


class SetSpec(Model):
    """Quantities that travel together."""

    name: Word = Field(description="letters, digits and _")
    quantities: Annotated[Listed[NamePattern], Field(min_length=1)] = Field(
        description="identifiers of the dictionary, with * and ?"
    )
    rate_hz: Positive | None = Field(
        default=None, description="packets for each second of simulated time (default: one for each sample)"
    )
    type: Literal["float64", "float32"] = Field(default="float64", description="width of the numbers (default float64)")
    apid: Apid | None = Field(default=None, description="(default: the next free one)")


class SourceSpec(Model):
    """Someone who may send telecommands."""

    name: Word = Field(description="as notices call it")
    source: Annotated[int, Field(ge=0, le=65535)] = Field(description="source ID in the telecommands")
    role: Literal["viewer", "operator"] = Field(default="operator", description="(default operator)")
    key_file: str | None = Field(
        default=None, description="its telecommands must be authentic by this key, 16 to 4096 bytes, mode 0600"
    )


class PacketsSpec(Model):
    """The whole file."""

    limberjack_packets: Literal[1]
    apid: Apid = Field(
        default=100, description="of the gateway: telecommands, acknowledgements and events (default 100)"
    )
    clock: Literal["received", "simulated"] = Field(
        default="received",
        description="what the time in the packets is: when the gateway received the sample, or simulated time since "
        "epoch (default received)",
    )
    epoch: Annotated[str, AfterValidator(_date)] = Field(
        default="1970-01-01T00:00:00Z", description="date of simulated time 0 (default 1970)"
    )
    largest: Annotated[int, Field(ge=256, le=65000)] = Field(
        default=1400, description="bytes of the largest packet; larger sets become several (default 1400)"
    )
    sets: Annotated[list[SetSpec], Field(min_length=1, max_length=MOST_SETS)]
    sources: Annotated[list[SourceSpec], Field(max_length=64)] | None = Field(
        default=None, description="who may send telecommands (default: whoever is on this machine)"
    )

    @property
    def epoch_ns(self) -> int:
        """Date of simulated time 0, ns since 1970."""
        return int(datetime.fromisoformat(self.epoch).astimezone(UTC).timestamp() * 1e6) * 1000


#: without a file
DEFAULT = PacketsSpec(
    limberjack_packets=1,
    sets=[
        SetSpec(name="motion", quantities=["q.*", "v.*", "tau.*", "command.*"], rate_hz=50.0),
        SetSpec(name="sensors", quantities=["output.*"], rate_hz=50.0),
        SetSpec(name="balance", quantities=["energy.*", "momentum.*"], rate_hz=10.0),
        SetSpec(name="engine", quantities=["engine.*"], rate_hz=1.0),
    ],
)


def read_packets(path: Path) -> PacketsSpec:
    """The file of packets. ModelError with line and field for whatever is wrong with it."""
    document = read_document(path)
    if not isinstance(document.root.content, dict):
        raise ModelError(
            "a file of packets is a mapping", where=str(path), remedy=f"Begin with 'limberjack_packets: 1'; see {PAGE}"
        )
    return validated(PacketsSpec, document, Dialect(PacketsSpec, PAGE))
