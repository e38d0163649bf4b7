"""`limberjack new`: files to start from, which run at once; existing files are never overwritten."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from limberjack.commands.messages import wired_devices, write_code
from limberjack.commands.new_laws import laws
from limberjack.commands.new_scenario import Link, of_a_model
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.bounded_file import size_of
from limberjack.engine.model.load import load
from limberjack.hil.scenario.scenario_file import load_scenario

EXAMPLES = files("limberjack.examples")
#: kind of controller → its shipped files, and what they are called here
CONTROLLERS: dict[str, dict[str, str]] = {
    "python": {"balance.py": "{}.py"},
    "zmq": {"balance_zmq.py": "{}.py"},
    "udp": {"balance_udp.c": "{}.c", "balance.h": "{}.h"},
    "shm": {"balance_shm.c": "{}.c", "balance.h": "{}.h"},
    "octave": {"balance_tcp.m": "{}.m"},
}
#: kind → file of the messages of its device
_MESSAGES = {"udp": "cart_messages.h", "shm": "cart_memory.h", "octave": "cart_messages.m"}
_PYTHON_TAKEN = {*sys.stdlib_module_names, "limberjack", "msgpack", "numpy", "zmq"}
_FIRST_PORT, _PORTS = 47300, 600


def new(what: str, name: str, kind: str | None, model: Path | None) -> None:
    """Write the files and print how to use them. Raises ArgumentError for a bad name, or if a file exists already."""
    place = Path(name.removesuffix(".yaml"))
    _check_name(place.name, what)
    if not place.parent.is_dir():
        raise ArgumentError(f"{place.parent}: there is no such folder; make it first.")
    if model is not None:
        size_of(model)
    if what == "controller":
        _controller(place, kind or "python", model)
    elif what == "model":
        kind = kind or "arm"
        file = place.with_name(f"{place.name}.yaml")
        _written({file: _renamed(_start(f"{kind}.yaml"), {f"name: {kind}": f"name: {place.name}"})})
        _say([file], [f"limberjack info {file} --signals", f"limberjack run {file} --duration 5"])
    else:
        _scenario(place, model)


def _check_name(name: str, what: str) -> None:
    """Raise ArgumentError for a name that files, programs or functions cannot have."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,50}", name):
        better = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")[:50]
        better = better if better[:1].isalpha() else f"my_{better}"
        raise ArgumentError(f"'{name}' is not a name for a {what}: use letters, digits and _, for example '{better}'.")
    if what == "controller" and name in _PYTHON_TAKEN:
        raise ArgumentError(f"'{name}' is a module of Python, which a file of this name would hide; use 'my_{name}'.")


def _scenario(place: Path, model: Path | None) -> None:
    """A scenario of a model, or one with its model."""
    file = place.with_name(f"{place.name}.yaml")
    if model is not None:
        system = load(model)
        _written({file: of_a_model(place.name, system, _seen_from(place.parent, model), None)})
        _say([file], [f"limberjack hil {file}", f"limberjack info {model} --signals"])
        return
    arm = place.with_name(f"{place.name}_model.yaml")
    text = _renamed(_start("arm_scenario.yaml"), {"arm_scenario": place.name, "arm.yaml": arm.name})
    _written({file: text, arm: _renamed(_start("arm.yaml"), {"name: arm\n": f"name: {place.name}_model\n"})})
    _say([file, arm], [f"limberjack hil {file}"])


def _controller(place: Path, kind: str, model: Path | None) -> None:
    """A folder with a controller and the scenario that runs it; made elsewhere and then moved into place."""
    if place.exists():
        raise ArgumentError(f"{place} exists already; use another name, or move it away.")
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    made.chmod(0o755)
    try:
        _fill(made, place.name, kind, model)
        made.rename(place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _say(sorted(place.iterdir()), [f"limberjack hil {place / place.name}.yaml"])


def _fill(folder: Path, name: str, kind: str, model: Path | None) -> None:
    """The files of a controller, of the pole on a cart or of a model."""
    words = _words(name, kind, model)
    for file, target in CONTROLLERS[kind].items():
        (folder / target.format(name)).write_text(_shipped(file, words), "utf-8")
    scenario, system = folder / f"{name}.yaml", None if model is None else load(model)
    if system is None or model is None:
        (folder / "cart_pole.yaml").write_text(_shipped("cart_pole.yaml", {}), "utf-8")
        scenario.write_text(_shipped(f"balance_{kind}.yaml", words), "utf-8")
    else:
        scenario.write_text(of_a_model(name, system, _seen_from(folder, model), _link(name, kind, words)), "utf-8")
    (wired,) = wired_devices(load_scenario(scenario), scenario.name)
    if system is not None and model is not None:
        for file, target in CONTROLLERS[kind].items():
            path = folder / target.format(name)
            path.write_text(laws(file, path.read_text(encoding="utf-8"), wired, system, _plain(model)), "utf-8")
    if kind in _MESSAGES:
        write_code(wired, folder / _MESSAGES[kind].replace("cart_", f"{wired.name}_"))


def _words(name: str, kind: str, model: Path | None) -> dict[str, str]:
    """Replacements in the new files: names of files and of the device, and its port."""
    words = {f"balance_{kind}": name, "balance_tcp": name, "BALANCE_H": f"{name.upper()}_H"}
    words |= {f"{Path(file).stem}.": f"{name}." for file in CONTROLLERS[kind]}
    words |= {"python:balance:": f"python:{name}:", "shm://cart": f"shm://{name}"}
    words |= dict.fromkeys(("47201", "47202", "47204"), str(_FIRST_PORT + zlib.crc32(name.encode()) % _PORTS))
    if model is not None:
        words |= {"cart_": f"{name}_", "CART_": f"{name.upper()}_"}
        words |= {"balances a pole on a cart": f"controls the model {_plain(model)}"}
    return words


def _plain(model: Path) -> str:
    """The model's name, safe for the text of a program."""
    return re.sub(r"[^\w .-]", "_", model.stem)


def _link(name: str, kind: str, words: Mapping[str, str]) -> Link:
    """The device and the program of the shipped scenario, with its own names."""
    spec = load_scenario(Path(str(EXAMPLES / "controllers" / f"balance_{kind}.yaml"))).spec
    program = spec.controllers[0].command if spec.controllers else []
    return Link(name, _renamed(spec.devices[0].uri, words), tuple(_renamed(word, words) for word in program))


def _shipped(file: str, words: Mapping[str, str]) -> str:
    return _renamed((EXAMPLES / "controllers" / file).read_text(encoding="utf-8"), words)


def _start(file: str) -> str:
    return (EXAMPLES / "starts" / file).read_text(encoding="utf-8")


def _renamed(text: str, words: Mapping[str, str]) -> str:
    """The text with each word replaced, the longest first, none twice."""
    if not words:
        return text
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(pattern, lambda match: words[match[0]], text)


def _seen_from(folder: Path, model: Path) -> str:
    """The model's path as a scenario in a folder writes it."""
    there, here = model.resolve(), folder.resolve()
    up = 0
    while not there.is_relative_to(here):
        here, up = here.parent, up + 1
    return "/".join([*[".."] * up, *there.relative_to(here).parts])


def _written(texts: Mapping[Path, str]) -> None:
    """Write new files; if any of them exists already, raise ArgumentError and write none."""
    there = [str(file) for file in texts if file.exists()]
    if there:
        raise ArgumentError(f"{', '.join(there)} exists already; use another name, or move it away.")
    for file, text in texts.items():
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)


def _say(made: list[Path], steps: list[str]) -> None:
    for file in made:
        print(f"wrote {file}")
    for i, step in enumerate(steps):
        print(f"{'try' if i == 0 else '   '}   {step}")
