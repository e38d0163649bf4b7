"""`limberjack monitor`: the picture as a terminal shows it, keys, and a real engine."""

from __future__ import annotations

import io
import math
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyte
import pytest
from rich.console import Console
from rich.screen import Screen

import limberjack as lj
from limberjack import cli
from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity, dictionary_of
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.commands.monitor import act
from limberjack.commands.monitor_board import COLUMNS, Board, Picture
from limberjack.commands.monitor_keys import split
from limberjack.commands.monitor_view import Choice, number, screen, sparkline

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WAIT_S = 20.0


@pytest.fixture(scope="module")
def simulation() -> lj.Simulation:
    return lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"))


@pytest.fixture(scope="module")
def dictionary(simulation) -> Dictionary:
    """The model's, with limits on two quantities."""
    limits = {"q.elbow_pitch": ((-1.0, 1.0), (-2.0, 2.0)), "energy.total": ((-math.inf, 5.0), (-math.inf, 9.0))}
    found = dictionary_of(simulation)

    def limited(each: Quantity) -> Quantity:
        warning, critical = limits.get(each.id, (each.warning, each.critical))
        return Quantity(each.id, each.group, each.unit, each.description, warning=warning, critical=critical)

    return Dictionary(found.model, found.model_hash, tuple(map(limited, found)))


LIVE = Condition("live", "live")


def board_of(dictionary: Dictionary, count: int, condition: Condition = LIVE, **last: float) -> Board:
    """A board after `count` samples in which the elbow moves; `last` values of the last one."""
    board = Board(lambda: condition)
    board.open(dictionary)
    for i in range(count):
        vector = np.zeros(len(dictionary))
        vector[0], vector[dictionary.place("q.elbow_pitch")] = 0.1 * i, math.sin(0.3 * i)
        vector[dictionary.place("engine.running")] = 1.0
        if i == count - 1:
            for name, value in last.items():
                vector[dictionary.place(name.replace("__", "."))] = value
        board.sample(Sample(i, vector[0], i, vector))
    return board


def seen(picture: Picture, choice: Choice, columns: int = 100, lines: int = 30) -> pyte.Screen:
    """What a terminal of this size shows."""
    out = io.StringIO()
    console = Console(file=out, width=columns, height=lines, force_terminal=True, color_system="256")
    console.print(Screen(screen(picture, choice, "tcp://x:1", columns, lines)), end="")  # as Live does
    terminal = pyte.Screen(columns, lines)
    pyte.Stream(terminal).feed(out.getvalue().replace("\n", "\r\n"))
    return terminal


def colors_of(terminal: pyte.Screen, text: str) -> set[str]:
    """Backgrounds under a text on the screen."""
    (line,) = (i for i, shown in enumerate(terminal.display) if text in shown)
    at = terminal.display[line].index(text)
    return {terminal.buffer[line][at + i].bg for i in range(len(text))}


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (100, 30), (200, 60)])
def test_screen_fills_the_terminal_and_no_more(dictionary, columns, lines):
    picture = board_of(dictionary, 20).picture()
    terminal = seen(picture, Choice(), columns, lines)
    assert dictionary.model in terminal.display[1]
    assert "tcp://x:1  live" in terminal.display[1]
    assert "│" not in terminal.display[-1]
    assert "1 to" in terminal.display[-1]
    assert "q end" in terminal.display[-1]


def test_alarms_are_colored_counted_and_can_be_singled_out(dictionary):
    board = board_of(dictionary, 5, q__elbow_pitch=2.5, energy__total=6.0)
    board.notice(Notice("alarm", 2, "q.elbow_pitch is critical", 0.4, 0))
    picture = board.picture()
    assert picture is not None
    choice = Choice()
    act("a", choice, picture)
    terminal = seen(picture, choice, 120)
    text = "\n".join(terminal.display)
    assert "1 in alarm, 1 warned" in text
    assert "ALARM -2…2" in text
    assert "warning -inf…5" in text
    assert "alarm: q.elbow_pitch is critical" in text
    assert "q.shoulder_yaw" not in text
    assert colors_of(terminal, "ALARM -2…2") == {"red"}
    assert colors_of(terminal, "energy.total ") != {"red"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_critical_without_limits_too(dictionary, value):
    picture = board_of(dictionary, 1, tau__shoulder_yaw=value).picture()
    assert picture is not None
    assert picture.severities[dictionary.place("tau.shoulder_yaw")] == 2


@pytest.mark.parametrize(
    ("condition", "alarms", "ground"),
    [
        (LIVE, "1 in alarm, 0 warned", {"red"}),
        (Condition("overrunning", "overrunning: 31 % of cycles late"), "1 in alarm, 0 warned", {"red"}),
        (Condition("failed", "engine failed"), "1 in alarm, 0 warned", {"red"}),
        (Condition("stale", "stale for 3 s", 3.0), "alarms unknown (1 in alarm, 0 warned before)", {"default"}),
        (Condition("gone", "gone, last heard 7 s ago", 7.0), "alarms unknown (1 in alarm", {"default"}),
    ],
    ids=lambda each: getattr(each, "state", ""),
)
def test_the_gateways_condition_is_shown_and_old_alarms_are_no_alarms(dictionary, condition, alarms, ground):
    picture = board_of(dictionary, 3, condition, q__elbow_pitch=2.5).picture()
    terminal = seen(picture, Choice(("q.elbow_pitch",)), 120)
    assert condition.text in terminal.display[1]
    assert alarms in terminal.display[1]
    assert colors_of(terminal, "ALARM -2…2") == ground


def test_gap_is_a_blank_in_the_trend_and_old_samples_leave(dictionary):
    board = board_of(dictionary, 3)
    newest = np.zeros(len(dictionary))
    board.sample(Sample(10, 1.0, 0, newest, gap=6))
    picture = board.picture()
    assert picture.lost == 6
    assert np.isnan(picture.history[:, 0]).tolist() == [False, False, False, True, False]
    for i in range(3 * COLUMNS):
        board.sample(Sample(11 + i, 0.0, 0, newest + i))
    picture = board.picture()
    assert picture.history[:, 1].tolist() == list(range(2 * COLUMNS, 3 * COLUMNS))


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0, 7, 3.5, math.nan, 1], "▁█▅ ▂"),
        ([2, 2, 2], "▁▁▁"),
        ([math.nan, math.inf], "  "),
        ([], ""),
        ([0.0, 1e-13, -1e-13, 2e-13], "▁▁▁▁"),  # rounding
        ([5e6, 5e6 + 1e-4, 5e6], "▁▁▁"),
        ([0.0, 1e-4], "▁█"),
    ],
)
def test_sparkline(values, drawn):
    assert sparkline(np.array(values, dtype=float), "rad/s") == drawn


@pytest.mark.parametrize("value", [0.0, -1e-300, 1e-5, -123456.789, 9999999.0, -1.7e308, math.nan, math.inf])
def test_numbers_fit_their_column_and_are_right(value):
    text = number(value)
    assert len(text) <= 13
    assert float(text) == pytest.approx(value, rel=1e-5, nan_ok=True)


def test_keys_scroll_choose_and_enter_patterns(dictionary):
    picture = board_of(dictionary, 2).picture()
    choice = Choice()
    for key in split("\x1b[B\x1b[6~"):
        assert act(key, choice, picture)
    assert choice.first == 21
    act("end", choice, picture)
    terminal = seen(picture, choice)
    assert f"to {len(dictionary)} of {len(dictionary)}" in terminal.display[-1]
    for key in split("\t"):
        act(key, choice, picture)
    assert choice.group == "q"
    act("back tab", choice, picture)
    assert choice.group == ""
    for key in split("/\x7fenergy.*,q.elbw\x7f\x7fbow*\r"):
        assert act(key, choice, picture)
    assert choice.patterns == ("energy.*", "q.elbow*")
    shown = "\n".join(seen(picture, choice).display)
    assert "energy.strain" in shown
    assert "q.wrist_yaw" not in shown
    assert not act("q", choice, picture)


@pytest.fixture
def engine(simulation) -> Iterator[str]:
    """A free-running engine in a thread; its address."""
    with tempfile.TemporaryDirectory(prefix="lj") as folder:
        server = Server(simulation, Settings(endpoint=f"ipc://{folder}/e", mode="free-running", rate_hz=100.0))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield f"ipc://{folder}/e"
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_table_of_a_running_engine_on_a_pipe(engine, capsys):
    assert cli.main(["monitor", engine, "--show", "q.*", "--show", "engine.*"]) == 0
    shown = capsys.readouterr().out
    assert "space_manipulator" in shown
    assert "1.900000" in next(line for line in shown.splitlines() if line.startswith("q.elbow_pitch"))
    assert "v.elbow_pitch" not in shown
    assert cli.main(["monitor", engine, "--show", "z*"]) == 2
    assert "no quantity of 'space_manipulator' fits z*" in capsys.readouterr().err


def test_monitor_looks_where_limberjack_run_serves(engine, capsys, monkeypatch):
    monkeypatch.setattr("limberjack.commands.telemetry_commands.DEFAULT_ENDPOINT", engine)
    assert cli.main(["monitor", "--once", "--show", "q.*"]) == 0
    assert f"space_manipulator  {engine}" in capsys.readouterr().out


def test_monitor_without_an_engine_says_how_to_start_one(capsys):
    assert cli.main(["monitor", "ipc:///tmp/lj-no-engine"]) == 3
    assert "limberjack run MODEL" in capsys.readouterr().err
    assert cli.main(["monitor", "ipc:///tmp/lj-no-engine", "--rate", "nan"]) == 2


def test_times_of_frames_are_shown_of_a_bench_only_and_are_no_alarm_without(dictionary):
    whole = Dictionary("m", "h", tuple(replace(each, may_lack=".frame_p" in each.id) for each in dictionary))
    for value, shown in ((math.nan, False), (2e-3, True)):
        picture = board_of(whole, 3, engine__frame_p50=value, engine__frame_p99=value).picture()
        places = [whole.place(f"engine.frame_{part}") for part in ("p50", "p99")]
        assert picture.severities[places].tolist() == [0, 0]
        text = "\n".join(seen(picture, Choice(("*",)), columns=200).display)
        assert ("frames 2.00 ms, 99 % 2.00 ms" in text) == shown
