"""`limberjack modes`: finite elements to modal data, with a report and a picture of the first mode shapes."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from limberjack.commands.console import open_console
from limberjack.commands.modes_plot import plot_modes
from limberjack.commands.tables import new_table
from limberjack.engine.errors import ArgumentError
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.describe import modal_data_of
from limberjack.engine.modes.effective_mass import DIRECTIONS, EffectiveMass, effective_mass
from limberjack.engine.modes.modal_file import read_modal_data, write_modal_data


def modes(options: argparse.Namespace) -> None:
    """Make modal data from a description, or read them; print the report, write file, table and picture."""
    source: Path = options.source
    if source.suffix.lower() == ".npz":
        if options.out is not None:
            raise ArgumentError(f"{source} holds modal data already. Leave --out out, or give a .yaml description.")
        data = read_modal_data(source)
    else:
        data = modal_data_of(source)
    table = effective_mass(data)
    report(data, table)
    console = open_console()
    if source.suffix.lower() != ".npz":
        path = write_modal_data(data, options.out or source.with_suffix(".npz"))
        size = path.stat().st_size / 1e3
        console.print(f"{path}: {data.modes} modes, {size:.0f} kB", highlight=False, soft_wrap=True)
    if options.table is not None:
        write_table(table, options.table)
        console.print(f"{options.table}", highlight=False, soft_wrap=True)
    if options.plot is not None:
        plot_modes(data, options.plot)
        console.print(f"{options.plot}", highlight=False, soft_wrap=True)


def report(data: ModalData, table: EffectiveMass) -> None:
    """Frequencies, effective masses, participation and what the modes leave out, as tables."""
    console = open_console()
    about = "the centre of mass" if data.kind == "free-free" else f"'{data.inboard}'"
    mass, m = table.rigid, table.rigid[3, 3]
    console.print(
        f"{data.name}: {data.kind} modes of {data.source}; {len(data.masses)} nodes, {m:.6g} kg, "
        f"moments of inertia about {about} {', '.join(f'{mass[i, i]:.4g}' for i in range(3))} kg·m²",
        highlight=False,
        soft_wrap=True,
    )
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
    factors = new_table("participation, per unit modal mass", "mode", *units)
    for r in range(data.modes):
        factors.add_row(str(r + 1), *(f"{value:.4g}" for value in _tidy(table.participation[:, r])))
    console.print(factors)


def _tidy(values: np.ndarray) -> np.ndarray:
    """Rounding noise as 0."""
    return np.where(np.abs(values) > 1e-9 * max(float(np.abs(values).max()), 1e-300), values, 0.0)


def write_table(table: EffectiveMass, path: Path) -> None:
    """The report as a .csv file. Raises ArgumentError for another suffix, OSError."""
    if path.suffix.lower() != ".csv":
        raise ArgumentError(f"--table {path}: the table is comma-separated text; give a name that ends in .csv.")
    path.parent.mkdir(parents=True, exist_ok=True)
    header = [
        "mode",
        "frequency_hz",
        "damping",
        *(f"effective_{name}" for name in DIRECTIONS),
        *(f"participation_{name}" for name in DIRECTIONS),
    ]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        for r, frequency in enumerate(table.frequencies):
            row = [frequency, table.damping[r], *table.effective[:, r], *table.participation[:, r]]
            writer.writerow([r + 1, *(repr(float(value)) for value in row)])
