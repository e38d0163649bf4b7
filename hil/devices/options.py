"""The options of a device: from the query of its URI and from the scenario, each read once, unknown ones refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.common.nearest import nearest
from limberjack.hil.devices.device import Device, Wiring
from limberjack.hil.devices.twin import Peer

#: longest time that opening may wait for a controller, s
LONGEST_WAIT_S = 3600.0
#: a device of a given name, and its counterpart for a given wiring
Made = tuple[Callable[[str], Device], Callable[[Wiring], Peer]]


class Options:
    """Options by name; each getter marks its option as known, `finish` refuses all others.

    where : the URI, for errors;  folder : relative paths begin there
    """

    def __init__(self, given: Mapping[str, Any], where: str, folder: Path) -> None:
        self.where, self._given, self._folder = where, dict(given), folder
        self._known: list[str] = []

    def get(self, name: str) -> Any:
        """The option as given, or None."""
        self._known.append(name)
        return self._given.get(name)

    def text(self, name: str, default: str = "", choices: tuple[str, ...] = ()) -> str:
        """Text."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or (choices and value not in choices):
            self.refuse(name, value, f"one of: {', '.join(choices)}" if choices else "text")
        return str(value)

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number from low to high."""
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(name, value, f"a whole number from {low} to {high}")
        return int(value)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number from low to high."""
        value = self.get(name)
        if value is None:
            return default
        try:
            number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else low - 1.0
        except ValueError:
            number = low - 1.0
        if not low <= number <= high:
            self.refuse(name, value, f"a number from {low:g} to {high:g}")
        return number

    def flag(self, name: str, default: bool = False) -> bool:
        """true or false."""
        value = self.get(name)
        words = {None: default, True: True, False: False, "true": True, "false": False}
        if not isinstance(value, (bool, str, type(None))) or value not in words:
            self.refuse(name, value, "true or false")
        return words[value]

    def path(self, name: str) -> Path | None:
        """A path, relative to the folder of the scenario."""
        value = self.text(name)
        return self._folder / value if value else None

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; in a URI separated by commas."""
        value = self.get(name)
        if value is None:
            return ()
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) and part for part in parts):
            self.refuse(name, value, "a list of texts")
        return tuple(parts)

    def mapping(self, name: str) -> dict[str, str]:
        """Texts by text."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(x, str) for pair in value.items() for x in pair):
            self.refuse(name, value, "a mapping of texts to texts")
        return dict(value)

    def refuse(self, name: str, value: object, wanted: str) -> None:
        """ArgumentError about one option."""
        raise ArgumentError(f"{self.where}: {name} is {value!r:.60}; give {wanted}.")

    def finish(self) -> None:
        """Raises ArgumentError for an option that no getter read."""
        for name in self._given:
            if name not in self._known:
                near = nearest(name, self._known, count=1)
                hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(sorted(set(self._known)))}."
                raise ArgumentError(f"{self.where}: no option of this device is called '{name}'; {hint}")
