"""Who ordered what, when and with what result: rows for pages and for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from limberjack.bridge.telemetry.sample import Notice

COLUMNS = ("time of day (UTC)", "simulated time, s", "who", "order", "result", "text")
_FORMULAS = ("=", "+", "-", "@")


def row_of(notice: Notice) -> dict[str, Any]:
    """An order as a page shows it. result : "done", or the code of the refusal; "" of other notices"""
    data = notice.data
    done = "done" if "who" in data else ""
    return {
        "utc": 1e-6 * notice.unix_ns,
        "time": notice.time,
        "who": str(data.get("who", "")),
        "order": str(data.get("order", "")),
        "result": str(data.get("code", "refused")) if notice.kind == "refused" else done,
        "text": notice.text,
    }


def csv_of(notices: Iterable[Notice]) -> str:
    """The same as CSV with a header. Names come from clients, so they are escaped: none becomes a spreadsheet
    formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for notice in notices:
        row = row_of(notice)
        texts = (_text(row[key]) for key in ("who", "order", "result", "text"))
        writer.writerow([_stamp(notice.unix_ns), repr(row["time"]), *texts])
    return out.getvalue()


def _stamp(unix_ns: int) -> str:
    """Date and time in milliseconds."""
    whole, rest = divmod(unix_ns // 1_000_000, 1000)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"


def _text(value: str) -> str:
    return f"'{value}" if value.startswith(_FORMULAS) else value
