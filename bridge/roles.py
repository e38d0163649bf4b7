"""Rights of the owners of keys: roles, the file that assigns them, and the role that each request needs."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from limberjack.bridge.errors import Code, KeyFileError
from limberjack.bridge.messages import Message, Refusal
from limberjack.engine.files.bounded_file import is_special

ROLES_FILE = "roles"
_FILE_MAX = 1_000_000  # bytes
_HEAD = "# what each client key may do: read, command or admin, then the key's name; a key that is not here may read\n"


class Role(enum.IntEnum):
    """Each role includes the rights of those before it.

    READ : look; COMMAND : hold the lease, step, command, close and open loops; ADMIN : change the simulation itself
    """

    READ = 1
    COMMAND = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        """Its name in files and messages."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Role:
        """The role of this name. Raises KeyFileError."""
        try:
            return cls[word.upper()]
        except KeyError:
            raise KeyFileError(f"{word!r} is not a role. Give {', '.join(role.word for role in cls)}.") from None


class Grant(NamedTuple):
    """A key's name and role."""

    name: str
    role: Role


class Sender(NamedTuple):
    """The origin of a request. peer : its connection;  user : its public key, empty if no keys are in use"""

    peer: bytes
    user: str
    role: Role


#: the sender if no keys are in use
OWNER = Sender(b"", "", Role.ADMIN)

_NEEDED = {
    **dict.fromkeys(("step", "command", "acquire", "attach", "lock", "unlock"), Role.COMMAND),
    **dict.fromkeys(("restore", "reset", "shutdown"), Role.ADMIN),
}


def needed(message: Message) -> Role:
    """The least role for a request, whose body may be invalid."""
    kind, body = message.type, message.body
    if kind in ("parameter", "fault"):
        looks = type(body) is list and len(body) == 2 and body[1] is None
        return Role.READ if looks else Role.ADMIN
    if kind == "run":
        return Role.ADMIN if type(body) is list and body[:1] == ["abort"] else Role.COMMAND
    if kind == "release":
        return Role.READ if body is None else Role.COMMAND
    return _NEEDED.get(kind, Role.READ)


def check(sender: Sender, message: Message) -> None:
    """Raise Refusal for a request that the sender's role does not allow."""
    if sender.role is not Role.ADMIN and sender.role < (least := needed(message)):
        text = (
            f"'{message.type}' needs the role {least.word}; this client's key has {sender.role.word}. The file "
            f"'{ROLES_FILE}' in the engine's folder of keys gives roles."
        )
        raise Refusal(Code.ROLE, text)


def read_roles(folder: Path) -> dict[str, Role] | None:
    """Name of a key → role, from a folder of keys; None where it has no such file. Raises KeyFileError, OSError."""
    path = folder / ROLES_FILE
    if not path.exists():
        return None
    if is_special(path):  # a named pipe would be waited for
        raise KeyFileError(f"{path}: this is not a file. Write the roles into a text file.")
    if path.stat().st_size > _FILE_MAX:
        raise KeyFileError(f"{path}: larger than {_FILE_MAX} bytes; a file of roles is never so large.")
    roles: dict[str, Role] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        word, name = line.split("#")[0].strip().partition(" ")[0], _name(line)
        if not word:
            continue
        try:
            role = Role.of(word)
        except KeyFileError as error:
            raise KeyFileError(f"{path}:{number}: {error}") from None
        if not name or name in roles:
            what = "a role, but no key's name" if not name else f"'{name}' appears twice"
            raise KeyFileError(f"{path}:{number}: {what}. Write a line for each key: a role and its name.")
        roles[name] = role
    return roles


def add_roles(folder: Path, role: Role, names: Sequence[str], before: Sequence[str]) -> None:
    """Give keys a role, which replaces earlier ones of these names. Raises KeyFileError, OSError.

    before : keys that had every right until now, where there is no file of roles yet
    """
    path = folder / ROLES_FILE
    if read_roles(folder) is None:
        lines = [_HEAD.rstrip(), *(f"{Role.ADMIN.word} {name}" for name in before)]
    else:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if _name(line) not in names]
    lines += [f"{role.word} {name}" for name in names]
    made = path.with_name(f".{ROLES_FILE}.{os.getpid()}")
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(made, path)


def _name(line: str) -> str:
    """The key that a line of the file is about, empty for none."""
    return line.split("#")[0].strip().partition(" ")[2].strip()
