"""`limberjack modes`: finite elements to modal data, with a report and a picture of the first mode shapes."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from limberjack.commands.console import open_console
from limberjack.commands.modes_plot import plot_modes
from limberjack.commands.run import PICTURES
from limberjack.commands.tables import new_table
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.describe import modal_data_of, write_unit_loads
from limberjack.engine.modes.effective_mass import DIRECTIONS, EffectiveMass, effective_mass
from limberjack.engine.modes.inertia_range import CARRIER, Ranges, ranges
from limberjack.engine.modes.modal_file import check_suffix, read_modal_data, write_modal_data


def modes(options: argparse.Namespace) -> None:
    """Make modal data from a description, or read them; print the report, write file, table and picture."""
    source: Path = options.source
    _check_targets(options)
    if options.unit_loads is not None:
        _write_loads(source, options.unit_loads)
        return
    if source.suffix.lower() == ".npz":
        if options.out is not None:
            raise ArgumentError(f"{source} holds modal data already. Leave --out out, or give a .yaml description.")
        data = read_modal_data(source)
    else:
        data = modal_data_of(source)
    table, reach = effective_mass(data), ranges(data)
    report(data, table, reach)
    console = open_console()
    if source.suffix.lower() != ".npz":
        path = write_modal_data(data, options.out or source.with_suffix(".npz"))
        size = path.stat().st_size / 1e3
        console.print(f"{path}: {data.modes} modes, {size:.0f} kB", highlight=False, soft_wrap=True)
    if options.table is not None:
        write_table(table, reach, options.table)
        console.print(f"{options.table}", highlight=False, soft_wrap=True)
    if options.plot is not None:
        plot_modes(data, options.plot)
        console.print(f"{options.plot}", highlight=False, soft_wrap=True)


def _check_targets(options: argparse.Namespace) -> None:
    """Names of files to write, before minutes of work; ArgumentError or ModelError for an ending of another format."""
    if options.out is not None:
        check_suffix(options.out)
    if options.table is not None and options.table.suffix.lower() != ".csv":
        raise ArgumentError(f"--table {options.table}: the table is comma-separated text; end its name in .csv.")
    if options.plot is not None and options.plot.suffix.lower() not in PICTURES:
        raise ArgumentError(
            f"--plot {options.plot}: not a picture that can be drawn; end its name in {', '.join(PICTURES)}."
        )


def _write_loads(source: Path, out: Path) -> None:
    """Write the steps of --unit-loads, and print how to use them."""
    if source.suffix.lower() == ".npz":
        raise ArgumentError(f"{source}: unit loads are made from a description. Give the .yaml file.")
    count = write_unit_loads(source, out)
    text = f"{out}: {count} steps; include them in the deck, run ccx, and name its .dat file as stress in {source.name}"
    open_console().print(text, highlight=False, soft_wrap=True)


def report(data: ModalData, table: EffectiveMass, reach: Ranges) -> None:
    """Frequencies, effective masses, what the modes leave out, participation and range of deformation, as tables."""
    console = open_console()
    about = "the centre of mass" if data.kind == "free-free" else f"'{data.inboard}'"
    mass, m = table.rigid, table.rigid[3, 3]
    console.print(
        f"{data.name}: {data.kind} modes of {data.source}; {len(data.masses)} nodes, {m:.6g} kg, "
        f"moments of inertia about {about} {', '.join(f'{mass[i, i]:.4g}' for i in range(3))} kg·m²",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"geometric stiffening: {_geometric(data)}", highlight=False, soft_wrap=True)
    shares = new_table("effective mass, % of the body's", "mode", "Hz", "damping", *DIRECTIONS)
    fractions = 100.0 * table.fractions()
    for r in range(data.modes):
        numbers = (f"{value:.2f}" for value in fractions[:, r])
        shares.add_row(str(r + 1), f"{table.frequencies[r]:.5g}", f"{table.damping[r]:.4g}", *numbers)
    shares.add_section()
    shares.add_row("all", "", "", *(f"{value:.2f}" for value in fractions.sum(axis=1)))
    rest = np.diag(table.residual) / np.where(np.diag(table.rigid) > 0.0, np.diag(table.rigid), 1.0)
    shares.add_row("rest", "", "", *(f"{100.0 * value:.2f}" for value in rest))
    console.print(shares)
    units = [f"{name} / √kg" + "·m" * (i < 3) for i, name in enumerate(DIRECTIONS)]
    factors = new_table(
        "participation, per unit modal mass; range of `full`", "mode", *units, "alone / m", "carried / m"
    )
    carried = np.full(data.modes, np.nan) if reach.carried is None else reach.carried
    noise = 1e-9 * np.sqrt(np.maximum(np.diag(table.rigid), 1e-300))
    for r in range(data.modes):
        column, turned = table.participation[:, r], bool(reach.turned[r])
        numbers = (f"{value:.4g}" for value in np.where(np.abs(column) > noise, column, 0.0))
        factors.add_row(str(r + 1), *numbers, _size(reach.alone[r], turned), _size(carried[r], turned))
    factors.add_section()
    together = (f"{reach.together[0]:.2g}", "" if reach.carried is None else f"{reach.together[1]:.2g}")
    factors.add_row("ρ", *[""] * 6, *together)
    console.print(factors)
    console.print(
        "range: largest displacement (of twisting modes: rotation) for which the mass matrix of second order is "
        f"positive definite, of the body alone, and with {100 * CARRIER:g} % of its own inertia where it is held; "
        "several modes: Σ (share of the range)² < ρ². `variant: linearized` has none. See docs/how-to/modes.md.",
        highlight=False,
        soft_wrap=True,
    )


def _geometric(data: ModalData) -> str:
    """The source of geometric stiffening, as text."""
    if data.foreshortening is not None:
        return "foreshortening at every node"
    if data.stress is not None:
        labels = data.labels()
        nodes = ", ".join(labels[node] for node in data.stress.nodes) or "none"
        return f"stress stiffness under unit accelerations and unit forces at: {nodes}"
    return "none, there are no geometric data (docs/how-to/modes.md explains how to give them)"


def _size(value: float, turned: bool) -> str:
    return "" if np.isnan(value) else "any" if np.isinf(value) else f"{value:.3g}" + " rad" * turned


def write_table(table: EffectiveMass, reach: Ranges, path: Path) -> None:
    """The report as a .csv file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = [
        "mode",
        "frequency_hz",
        "damping",
        *(f"effective_{name}" for name in DIRECTIONS),
        *(f"participation_{name}" for name in DIRECTIONS),
        "range_alone",
        "range_carried",
        "range_unit",
    ]
    carried = np.full(len(reach.alone), np.nan) if reach.carried is None else reach.carried
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        for r, frequency in enumerate(table.frequencies):
            row = [frequency, table.damping[r], *table.effective[:, r], *table.participation[:, r]]
            row += [reach.alone[r], carried[r]]
            unit = "rad" if reach.turned[r] else "m"
            writer.writerow([r + 1, *(repr(float(value)) for value in row), unit])
