"""Errors in arguments: the nearest option or command is offered, and each says where help is."""

from __future__ import annotations

import argparse
import re

import pytest

from limberjack.cli import _parser, main

COMMANDS = next(action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)).choices


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The last line on standard error of a command that ends with 2, after its usage."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: limberjack")
    return err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run --durration", "limberjack run: error: there is no option '--durration'; did you mean '--duration'?"),
        ("run m.yaml --durration=5", "there is no option '--durration'; did you mean '--duration'?"),
        ("run m.yaml --durration 5", "there is no option '--durration'; did you mean '--duration'?"),
        (
            "plot R.mcap --signals A B",
            "limberjack plot: error: 'B' is an unexpected argument: --signals takes one value; repeat it, --signals B.",
        ),
        ("plto R.mcap", "limberjack: error: there is no command 'plto'; did you mean 'plot'?"),
        ("xyzzy --out d", "there is no command 'xyzzy'; choose from demo, run, info"),
        ("graph m.yaml --format svgg", "argument --format: 'svgg' is not one of its choices; did you mean 'svg'?"),
        ("check --strct", "required: MODEL; there is no option '--strct'; did you mean '--strict'?"),
        ("--verison", "there is no option '--verison'; did you mean '--version'?"),
        ("check m.yaml -z", "there is no option '-z'."),
        ("check m.yaml --gravity 0 0 -9.81 x", "error: 'x' is an unexpected argument."),
        (
            "hil a.yaml --real-time",
            "there is no option '--real-time'; the scenario sets real time: write 'pacing: {real_time: true}', "
            "or give --set pacing.real_time=true.",
        ),
        ("hil a.yaml --seconds ten", "argument --seconds: invalid float value: 'ten'."),
        ("", "the following arguments are required: COMMAND."),
    ],
)
def test_what_was_meant_is_offered(capsys, words, message):
    reported = error_of(capsys, *words.split())
    assert message in reported
    assert re.search(r"'limberjack( \w+)? --help' lists all arguments\.$", reported)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_offers_each_of_its_options_for_a_misspelt_one(capsys, command):
    options = [name for name in COMMANDS[command]._option_string_actions if name[:2] == "--" and len(name) > 5]
    for option in options:
        reported = error_of(capsys, command, "x", f"{option[:-2]}{option[-1]}{option[-2]}q")
        assert f"there is no option '{option[:-2]}{option[-1]}{option[-2]}q'; did you mean '" in reported
        assert reported.endswith(f"'limberjack {command} --help' lists all arguments.")


def test_beginnings_of_options_and_values_in_one_word_are_no_errors():
    found = _parser().parse_args(["check", "m.yaml", "--grav", "0", "0", "-9.81"])
    assert found.gravity == [0.0, 0.0, -9.81]
    assert str(_parser().parse_args(["plot", "a.csv", "-ofoo.png"]).out) == "foo.png"


@pytest.mark.parametrize("command", ["check", "info", "hil", "campaign", "export", "messages"])
def test_the_nearest_file_is_offered_for_one_that_is_not_there(command, tmp_path, capsys):
    (tmp_path / "slew.yaml").touch()
    (tmp_path / "slwe.urdf").touch()
    assert main([command, str(tmp_path / "slwe.yaml")]) == 2
    err = capsys.readouterr().err
    assert "slwe.yaml: the file does not exist. Check the path; did you mean" in err
    assert f"did you mean '{tmp_path / 'slew.yaml'}'?" in err
    assert main([command, str(tmp_path / "quite_another.yaml")]) == 2
    assert "quite_another.yaml: the file does not exist. Check the path.\n" in capsys.readouterr().err
