"""`limberjack hil SCENARIO`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from limberjack.bridge.endpoints import check_binding
from limberjack.bridge.settings import Settings
from limberjack.commands.console import open_console
from limberjack.commands.hil import show_rights, show_statistics
from limberjack.commands.tables import new_table
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.yaml_document import parse_document
from limberjack.hil.bench_interfaces import Visitor
from limberjack.hil.guarded_bench import guard, watched
from limberjack.hil.progress.watch import watched_run
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.execution import Visit, run_scenario
from limberjack.hil.scenario.results import Result
from limberjack.hil.scenario.scenario_file import Scenario, load_scenario
from limberjack.hil.served_bench import served

#: options that are passed to the process of a guarded bench
_PASSED_ON = ("seed", "serve", "publish_every", "lease", "keys")
#: the process that shows the progress
_PROGRESS = (sys.executable, "-m", "limberjack.commands.progress")


def scenario(options: argparse.Namespace) -> int:
    """Run a scenario; its exit code."""
    _refuse_probe_options(options)
    overrides = parse_overrides(options.set)
    loaded = load_scenario(options.file, overrides)
    out = options.out or Path("results") / options.file.stem
    if options.hung_after is not None:
        limit_s = arguments.positive("--hung-after", options.hung_after)
        return guard(_command(options, out), loaded.spec.name, out, limit_s, _say)
    pace = False if options.no_pace else None
    if loaded.spec.pacing.real_time and not options.no_pace:
        _say(f"{loaded.spec.name}: {loaded.spec.duration:g} s at the pace of the clock")
    result = run_scenario(loaded, out=out, seed=options.seed, paced=pace, visit=watched(_visit(options, loaded)))
    _show(result)
    return result.exit_code


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _command(options: argparse.Namespace, out: Path) -> list[str]:
    """The command that runs the same scenario in another process."""
    words = [str(options.file), "--out", str(out)]
    words += [f"--{name.replace('_', '-')}" for name in ("no_pace", "no_progress") if getattr(options, name)]
    for name in _PASSED_ON:
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    words += [word for text in options.set for word in ("--set", text)]
    return [sys.executable, "-m", "limberjack", "hil", *words]


def _visit(options: argparse.Namespace, loaded: Scenario) -> Visit:
    """The requested observer and server of the run. Raises ArgumentError or EndpointError for options that do not
    fit."""
    settings = _settings(options)

    @contextlib.contextmanager
    def visit(built: Built) -> Iterator[Visitor | None]:
        with contextlib.ExitStack() as parts:
            watch = None if options.no_progress else parts.enter_context(watched_run(loaded, built, _PROGRESS))
            progress = None if watch is None else watch.latest
            yield None if settings is None else parts.enter_context(served(loaded, built, settings, _say, progress))

    return visit


def _settings(options: argparse.Namespace) -> Settings | None:
    """Settings of a bench that is served; None if it is not."""
    if options.serve is None:
        for name, value in (("keys", options.keys), ("publish-every", options.publish_every), ("lease", options.lease)):
            if value is not None:
                raise ArgumentError(f"--{name} is for a bench that is served. Add --serve, or leave it out.")
        return None
    check_binding(options.serve, keyed=options.keys is not None)
    given = {"publish_divisor": options.publish_every, "lease_s": options.lease, "keys": options.keys}
    return Settings(options.serve, **{name: value for name, value in given.items() if value is not None})


def parse_overrides(given: Sequence[str]) -> dict[str, Any]:
    """PATH=VALUE texts as a mapping; values are read as YAML. Raises ArgumentError for other texts."""
    found: dict[str, Any] = {}
    for text in given:
        path, sign, value = text.partition("=")
        if not sign or not path:
            raise ArgumentError(f"--set {text:.100}: write PATH=VALUE, as duration=5 or faults[0].factor=0.5.")
        found[path] = parse_document(value, f"--set {path:.100}").root.plain() if value.strip() else None
    return found


def _refuse_probe_options(options: argparse.Namespace) -> None:
    given = {"base": options.base, "strict": options.strict, "gravity": options.gravity, "merge": options.merge}
    given |= {"contacts": options.contacts or None}
    given |= {"rate": options.rate, "cpu": options.cpu}
    given |= {"priority": options.priority, "lock-memory": options.lock_memory or None}
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(f"--{name} belongs to --probe; a scenario says it in its file (load, dt, pacing).")


def _show(result: Result) -> None:
    console = open_console()
    frames = result.outcome.frames.statistics()
    if result.built.executive.paced:
        show_rights(console, result.outcome.rights, result.outcome.margin_ns)
        show_statistics(console, result.name, frames)
    title = f"{result.name}: {'passed' if result.passed else 'FAILED'}"
    table = new_table(title, "criterion", "", "", folding=(0, 2))
    for verdict in result.criteria:
        table.add_row(verdict.name, verdict.word if verdict.passed else verdict.word.upper(), verdict.text)
    console.print(table)
    assert result.folder is not None
    names = sorted(path.name for path in result.folder.iterdir() if path.is_file())
    console.print(f"{result.folder}: {', '.join(names)}", markup=False)
