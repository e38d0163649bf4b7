"""`limberjack dictionary` of a running engine."""

from __future__ import annotations

from limberjack.bridge.errors import KeyFileError
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.exports.registry import Subject, export_of
from limberjack.cli import main
from limberjack.engine.api.simulation import Simulation


def test_the_dictionary_of_a_running_engine_is_that_of_its_model(engine, endpoint, arm, capsys):
    engine(mode="free-running")
    assert main(["dictionary", endpoint]) == 0
    simulation = Simulation(arm)
    assert capsys.readouterr().out == export_of("markdown").make(Subject(simulation, dictionary_of(simulation)))


def test_the_key_pair_is_chosen_by_its_name(monkeypatch, tmp_path, capsys):
    asked = []

    def connect(endpoint: str, **options: object) -> None:
        asked.append(options)
        raise KeyFileError("there is no such key. Make one.")

    monkeypatch.setattr("limberjack.commands.dictionary.Client", connect)
    assert main(["dictionary", "tcp://127.0.0.1:1", "--keys", str(tmp_path), "--key-name", "alice"]) == 2
    assert asked == [{"name": "dictionary", "keys": tmp_path, "key_name": "alice"}]
    assert "no such key" in capsys.readouterr().err
