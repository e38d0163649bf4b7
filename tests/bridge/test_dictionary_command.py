"""`limberjack dictionary` of a running engine."""

from __future__ import annotations

from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.exports import Subject, export_of
from limberjack.cli import main
from limberjack.engine.simulation import Simulation


def test_the_dictionary_of_a_running_engine_is_that_of_its_model(engine, endpoint, arm, capsys):
    engine(mode="free-running")
    assert main(["dictionary", endpoint]) == 0
    simulation = Simulation(arm)
    assert capsys.readouterr().out == export_of("markdown").make(Subject(simulation, dictionary_of(simulation)))
