"""The `limberjack` command. docs/reference/command-line.md lists its exit codes."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from limberjack.commands.controller_commands import CONTROLLER_COMMANDS
from limberjack.commands.embedding_commands import EMBEDDING_COMMANDS
from limberjack.commands.parser import Parser
from limberjack.commands.parsing import command as _command
from limberjack.commands.parsing import load_arguments, load_options, model_options, step_options
from limberjack.commands.record_commands import RECORD_COMMANDS
from limberjack.commands.serving_options import add_arguments as serving_arguments
from limberjack.commands.telemetry_commands import TELEMETRY_COMMANDS
from limberjack.engine.common.errors import ExitCode, LimberjackError, ModelWarning, exit_code_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ModelWarning)
            warnings.showwarning = _show_warning
            return int(options.work(options) or ExitCode.DONE)
    except (KeyboardInterrupt, LimberjackError, MemoryError, OSError) as error:
        with contextlib.suppress(OSError):
            print(_last_words(error), file=sys.stderr)
        return exit_code_of(error)


def _last_words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "stopped by the user"
    if isinstance(error, LimberjackError):
        return f"limberjack: {error}"
    if isinstance(error, MemoryError):
        return "limberjack: there is not enough memory. Close other programs, or use a smaller model."
    assert isinstance(error, OSError)
    return f"limberjack: {_file_trouble(error)}"


def _file_trouble(error: OSError) -> str:
    if isinstance(error, BrokenPipeError) and error.filename is None:
        return "the program that read its output has ended."
    if error.filename is None:
        return f"the system refuses: {error.strerror or error}."
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: there is no such file or folder. Check the path, and that its folder exists."
    if exit_code_of(error) == ExitCode.MACHINE:
        return f"{error.filename}: {error.strerror}. Make room, or give a path on another disk."
    return f"{error.filename}: {error.strerror}. Give another path, in a folder that exists and that you may write to."


class _Version(argparse.Action):
    """--version; the distribution's metadata are read only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from limberjack.version import __version__

        print(f"limberjack {__version__}")
        parser.exit()


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any
) -> None:
    """Print a warning: those about models contain their place; for others, as from a controller, add the Python
    line."""
    if issubclass(category, ModelWarning):
        print(f"limberjack: warning: {message}", file=sys.stderr)
    else:
        print(f"limberjack: {category.__name__}: {message} ({Path(filename).name}:{lineno})", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="limberjack", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _demo,
        _run,
        _info,
        _graph,
        _check,
        _export,
        *EMBEDDING_COMMANDS,
        _hil,
        *CONTROLLER_COMMANDS,
        _campaign,
        _modes,
        _schema,
        _keygen,
        _bench,
        _validate,
        *TELEMETRY_COMMANDS,
        *RECORD_COMMANDS,
    ):
        add(commands)
    return parser


def _demo(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.run import demo

        demo(options.out, options.part)

    text = (
        "drive the shipped space manipulator over ZeroMQ, as an FMU too, let it grasp a tumbling satellite, and plot "
        "what happens"
    )
    parser = _command(commands, "demo", work, text)
    parts = ("all", "arm", "grasp")
    parser.add_argument("part", nargs="?", choices=parts, default="all", help="which part to do (default: all)")
    parser.add_argument("--out", type=Path, default=Path("results/demo"), help="results folder (default: %(default)s)")


def _run(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.run import run

        run(options, load_options(options))

    text = (
        "run a model in an engine process: serve it until stopped, or, with --duration, drive its joints along a "
        "test trajectory from a controller process and write log, plot and table"
    )
    parser = _command(commands, "run", work, text)
    model_options(parser, count="?")
    step_options(parser)
    parser.add_argument("--substeps", type=int, default=1, metavar="N", help="equal parts of a step; only when serving")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input ends; only when serving")
    text = "with --with-parent: folder that the parent made for this engine, removed when the engine ends with it"
    parser.add_argument("--parent-folder", type=Path, metavar="DIR", help=text)
    parser.add_argument("--duration", type=float, metavar="S", help="drive the joints for S simulated seconds")
    parser.add_argument("--out", type=Path, help="results folder of --duration (default: results/<model>)")
    parser.add_argument(
        "--endpoint", help="default: tcp://127.0.0.1:5555, with --duration a free port; also ipc:///path"
    )
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="step freely, paced by the clock, else in lockstep; with --duration the controller keeps the pace",
    )
    parser.add_argument("--rate", type=float, metavar="HZ", help="cycles a second; only with --real-time")
    parser.add_argument("--publish-every", type=int, default=1, metavar="N", help="publish every N-th state")
    parser.add_argument(
        "--lease", type=float, default=3.0, metavar="S", help="how long a silent client keeps the lease"
    )
    parser.add_argument("--keys", type=Path, metavar="DIR", help="CurveZMQ keys made by 'limberjack keygen'")
    parser.add_argument("--cpu", type=int, action="append", help="processor to stay on (may be repeated)")
    parser.add_argument("--priority", type=int, help="SCHED_FIFO priority, 1 to 99")
    serving_arguments(parser)


def _info(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.info import info, parameters, signals

        show = signals if options.signals else parameters if options.parameters else info
        show(options.model, load_options(options))

    text = "what a model holds: tree, loops and aggregated nodes, coordinates, masses, drives, sensors"
    parser = _command(commands, "info", work, text)
    model_options(parser)
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--signals", action="store_true", help="instead, every signal with its unit and range")
    names.add_argument("--parameters", action="store_true", help="instead, every parameter with its unit and value")


def _graph(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.graph import graph

        graph(options.model, load_options(options), options.format, options.out)

    text = "a model's spanning tree, cut edges and aggregated nodes as a graph: text for Graphviz or Mermaid, or SVG"
    parser = _command(commands, "graph", work, text)
    model_options(parser)
    text = "default: by the ending of --out, else dot; svg needs Graphviz"
    parser.add_argument("--format", choices=("dot", "mermaid", "svg"), help=text)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="default: standard output")


def _check(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        from limberjack.commands.info import check

        return check(options.model, load_options(options))

    model_options(_command(commands, "check", work, "read and check a model; list every warning"))


def _export(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.export import export

        export(options, load_options(options))

    text = "write a model as an FMU that other tools simulate with the engine's own machine code"
    parser = _command(commands, "export", work, text)
    model_options(parser)
    step_options(parser)
    parser.add_argument("--substeps", type=int, default=1, metavar="N", help="equal parts of a step (default: 1)")
    parser.add_argument("-o", "--out", type=Path, metavar="FMU", help="file to write (default: <model>.fmu)")
    parser.add_argument("--fmi", choices=("3", "2"), default="3", help="version of the standard (default: 3)")
    parser.add_argument("--scalar", action="store_true", help="FMI 3 without arrays, for tools that do not read them")
    parser.add_argument(
        "--coupling",
        choices=("embedded", "process"),
        default="embedded",
        help="the engine inside (default), or a thin FMU that talks to a 'limberjack run' engine process",
    )
    parser.add_argument(
        "--platform",
        action="append",
        metavar="NAME",
        help="x86_64-linux, aarch64-linux, x86_64-windows, x86_64-darwin, aarch64-darwin, host or all; may be repeated "
        "(default: all; with --coupling process the host)",
    )
    for name in ("input", "output", "parameter"):
        parser.add_argument(
            f"--{name}", action="append", metavar="PATTERN", help=f"{name}s by name, such as 'hinge.*' (repeatable)"
        )
    parser.add_argument("--stop-time", type=float, metavar="S", help="end of the default experiment, s")
    parser.add_argument("--step-size", type=float, metavar="S", help="communication step of the default experiment, s")


def _hil(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        if not options.probe:
            from limberjack.commands.scenario import scenario

            return scenario(options)
        from limberjack.commands.hil import hil

        return hil(options, load_options(options))

    text = (
        "run a scenario of the test bench and judge it (docs/how-to/hil.md), or, with --probe, say how fast and how "
        "steadily this machine can run a model in real time (docs/how-to/real-time.md)"
    )
    parser = _command(commands, "hil", work, text)
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario (.yaml), or the model of --probe")
    parser.add_argument("--out", type=Path, help="folder of the report (default: results/<file>), of --probe's plot")
    text = "the scenario sets real time: write 'pacing: {real_time: true}', or give --set pacing.real_time=true"
    parser.elsewhere["--real-time"] = text
    run = parser.add_argument_group("scenarios")
    run.add_argument("--seed", type=int, help="instead of the scenario's")
    run.add_argument("--no-pace", action="store_true", help="in lockstep, as fast as devices answer")
    text = "override a value of the file, as pacing.policy=skip or faults[wheel].factor=0.5 (repeatable)"
    run.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help=text)
    text = "run the bench in a process of its own; end it, and say so, if no frame arrives for this long"
    run.add_argument("--hung-after", type=float, metavar="S", help=text)
    run.add_argument("--no-progress", action="store_true", help="show nothing until the run has ended")
    text = "answer clients, consoles and 'limberjack gateway' here while the scenario runs, as tcp://127.0.0.1:5555"
    run.add_argument("--serve", metavar="ENDPOINT", help=text)
    run.add_argument("--publish-every", type=int, metavar="N", help="with --serve: publish every N-th frame")
    run.add_argument("--lease", type=float, metavar="S", help="with --serve: how long a silent client keeps the lease")
    run.add_argument("--keys", type=Path, metavar="DIR", help="with --serve: keys made by 'limberjack keygen'")
    probe = parser.add_argument_group("--probe")
    probe.add_argument("--probe", action="store_true", help="measure a model on this machine")
    load_arguments(probe)
    probe.add_argument("--rate", type=float, metavar="HZ", help="frames a second (default: 1 / the model's dt)")
    probe.add_argument("--seconds", type=float, default=10.0, metavar="S", help="length of the run (default: 10)")
    probe.add_argument("--cpu", type=int, action="append", help="processor to stay on (may be repeated)")
    probe.add_argument("--priority", type=int, help="SCHED_FIFO priority, 1 to 99")
    probe.add_argument("--lock-memory", action="store_true", help="keep all pages in memory")


def _campaign(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        from limberjack.commands.campaign import campaign

        return campaign(options)

    text = "run a scenario many times with values drawn at random or from a grid; see docs/how-to/campaigns.md"
    parser = _command(commands, "campaign", work, text)
    parser.add_argument("file", type=Path, metavar="FILE", help="campaign (.yaml)")
    parser.add_argument("--out", type=Path, help="results folder (default: results/<campaign>)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one for each processor)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster of tcp://HOST:PORT instead")
    parser.add_argument("--resume", action="store_true", help="continue with the runs that the folder lacks")
    text = "make many runs at once, as worlds of a batch, or end with the reason why not (default: where it can be)"
    parser.add_argument("--batch", action=argparse.BooleanOptionalAction, help=text)
    text = "make the reports of the N worst runs; the campaign's report links to them (default: 3)"
    parser.add_argument("--reports", type=int, default=3, metavar="N", help=text)
    text = "re-run only run N, with the report of its scenario in runs/N of the folder"
    parser.add_argument("--report", type=int, metavar="N", help=text)


def _modes(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.modes import modes

        modes(options)

    text = "make the modal data of a flexible body from a description, and report on them; see docs/how-to/modes.md"
    parser = _command(commands, "modes", work, text)
    parser.add_argument("source", type=Path, metavar="FILE", help=".yaml description, or .npz modal data to report on")
    parser.add_argument("-o", "--out", type=Path, metavar="NPZ", help="file to write (default: <description>.npz)")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="also draw the first mode shapes")
    parser.add_argument("--table", type=Path, metavar="CSV", help="also write the report as a table")
    text = "only write the static steps under unit loads that give a CalculiX body its geometric stiffness"
    parser.add_argument("--unit-loads", type=Path, metavar="INP", help=text)


def _schema(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        if options.modes:
            from limberjack.engine.modes.description import json_schema
        elif options.scenario:
            from limberjack.hil.scenario.schema import json_schema
        elif options.campaign:
            from limberjack.hil.campaign.schema import json_schema
        else:
            from limberjack.engine.model.readers.schema import json_schema
        print(json_schema(), end="")

    parser = _command(commands, "schema", work, "print the JSON Schema of the YAML formats, for editors")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--modes", action="store_true", help="of descriptions for 'limberjack modes', not of models")
    which.add_argument("--scenario", action="store_true", help="of scenarios for 'limberjack hil'")
    which.add_argument("--campaign", action="store_true", help="of campaigns for 'limberjack campaign'")


def _keygen(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.bridge.keys import keygen

        for path in keygen(options.directory, options.client or ("client",), options.role):
            print(path)

    parser = _command(commands, "keygen", work, "make CurveZMQ keys for an engine and its clients")
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--client", action="append", metavar="NAME", help="a client's name (may be repeated)")
    help = "what these clients may do at the engine's port (default: %(default)s)"
    parser.add_argument("--role", choices=("read", "command", "admin"), default="admin", help=help)


def _bench(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.bench import bench

        bench(options)

    parser = _command(commands, "bench", work, "time the kernels beside Pinocchio and MuJoCo in one run")
    parser.add_argument("--quick", action="store_true", help="small models, few repeats: a smoke test")
    subject = parser.add_mutually_exclusive_group()
    subject.add_argument("--fmu", action="store_true", help="time FMUs from a C host instead, beside PythonFMU's")
    subject.add_argument("--loops", action="store_true", help="time closed chains instead of trees")
    subject.add_argument("--flexible", action="store_true", help="time flexible bodies, beside Exudyn and Basilisk")
    subject.add_argument("--real-time", action="store_true", help="time the executive of hil beside a loop in C")
    subject.add_argument("--batch", action="store_true", help="time many worlds at once, beside MuJoCo's rollout")
    subject.add_argument("--campaign", action="store_true", help="time campaigns over batches, beside Basilisk's")
    subject.add_argument("--contacts", action="store_true", help="time contacts, beside MuJoCo and Drake")
    subject.add_argument("--telemetry", action="store_true", help="time an engine and its readers, up to 20 of them")
    parser.add_argument("--out", type=Path, default=Path("results/bench"), help="plot folder (default: %(default)s)")
    parser.add_argument("--history", type=Path, help="append one JSON line to this file")
    parser.add_argument("--core", type=int, help="processor to stay on (default: chosen)")


def _validate(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        from limberjack.commands.validate import validate

        return validate(options)

    parser = _command(commands, "validate", work, "run the tests of all models and promises, and report their figures")
    parser.add_argument("--quick", action="store_true", help="leave out long tests: the report is then incomplete")
    folder = Path("results/validation")
    parser.add_argument("--out", type=Path, default=folder, help="folder of the report (default: %(default)s)")
