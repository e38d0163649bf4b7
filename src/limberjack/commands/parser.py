"""A command line parser whose errors suggest what the user may have meant, and where to find help."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

from limberjack.engine.common.errors import ExitCode
from limberjack.engine.common.nearest import nearest

#: an argument that looks like an option, not like a negative number
_OPTION = re.compile(r"--?[A-Za-z]")


class Parser(argparse.ArgumentParser):
    """Errors suggest the nearest option, command or choice, after the usage, and name --help. They exit with 2."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._given: list[str] = []
        #: option of other commands → where this command has what it sets
        self.elsewhere: dict[str, str] = {}

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        """All words are known, or it is an error of the command to which they were given."""
        words = list(sys.argv[1:] if args is None else args)
        whole = self._subparsers is None  # words after a command are the command's
        self._given = words if whole else list(takewhile(lambda word: word[:1] == "-", words))
        found, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(self._too_many(rest))
        return found, []

    def error(self, message: str) -> NoReturn:
        """Usage, what is wrong, options that may have been meant, where help is."""
        self.print_usage(sys.stderr)
        hints = [hint for hint in map(self._meant, self._unknown()) if hint not in message]
        text = "; ".join([message, *hints])
        end = "" if text[-1] in ".?" else "."
        self.exit(
            int(ExitCode.BAD_INPUT), f"{self.prog}: error: {text}{end} '{self.prog} --help' lists all arguments.\n"
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does it, with the nearest choice."""
        if action.choices is None or value in action.choices:
            return
        choices = list(map(str, action.choices))
        near = nearest(value, choices)
        hint = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(choices)}"
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command '{value!s:.100}'; {hint}")
        raise argparse.ArgumentError(action, f"'{value!s:.100}' is not one of its choices; {hint}")

    def _too_many(self, rest: Sequence[str]) -> str:
        """What to do with words that no argument takes."""
        unknown = [name for name in (word.partition("=")[0] for word in rest) if name in self._unknown()]
        if unknown:
            return "; ".join(map(self._meant, unknown))
        text = f"'{rest[0]:.100}' is an unexpected argument"
        for word in reversed(self._given[: self._given.index(rest[0])]):
            action = self._option_string_actions.get(word)
            if isinstance(action, argparse._AppendAction):
                return f"{text}: {word} takes one value; repeat it, {word} {rest[0]:.100}"
            if action is not None:
                break
        return text

    def _unknown(self) -> list[str]:
        """Arguments that look like options but are not options, unique prefixes of one, or short options with a
        value."""
        end = self._given.index("--") if "--" in self._given else None
        names = [word.partition("=")[0] for word in self._given[:end] if _OPTION.match(word)]
        known = tuple(self._option_string_actions)
        return [name for name in names if name[:2] not in known and not any(each.startswith(name) for each in known)]

    def _meant(self, name: str) -> str:
        if name in self.elsewhere:
            return f"there is no option '{name}'; {self.elsewhere[name]}"
        near = nearest(name, [option for option in self._option_string_actions if option[:2] == "--"])
        return f"there is no option '{name:.100}'" + (f"; did you mean '{near[0]}'?" if near else "")
