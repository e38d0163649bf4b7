"""`limberjack hil` as an operator sees it: on a terminal with keys, and in a pipe."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from xml.etree import ElementTree

import pyte
import pytest
from rich.console import Console

from limberjack.commands.monitor_keys import Keys
from limberjack.commands.progress_view import Operator, line, picture
from limberjack.hil.progress.progress import Progress
from tests.hil.progress_runs import write

WAIT_S = 120.0  # the first run on a machine compiles


class Terminal:
    """A program on a terminal of 100 columns and 30 lines."""

    def __init__(self, command: list[str], folder: Path, columns: int = 100, lines: int = 30) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen = pyte.Screen(columns, lines)
        self._stream, self._ours = pyte.ByteStream(self.screen), ours

        def own_terminal() -> None:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        environment = {**os.environ, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment, preexec_fn=own_terminal
        )
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def look(self) -> str:
        """What stands on the terminal now."""
        if select.select([self._ours], [], [], 0.1)[0]:
            self._stream.feed(os.read(self._ours, 65536))
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait(self, *texts: str) -> str:
        """The first picture that has all texts; the next one may be caught half drawn."""
        deadline, shown = time.monotonic() + WAIT_S, self.look()
        while not all(text in shown for text in texts):
            assert time.monotonic() < deadline, f"{texts} never came; the terminal has\n{shown}"
            shown = self.look()
        return shown

    def end(self) -> int:
        deadline = time.monotonic() + WAIT_S
        while self.process.poll() is None:
            self.look()
            assert time.monotonic() < deadline, self.look()
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "limberjack", "hil", str(path), "--out", "out", *more]


@pytest.fixture
def terminal(tmp_path):
    made = Terminal(command(write(tmp_path)), tmp_path)
    yield made
    made.close()


@pytest.mark.long
def test_an_operator_pauses_steps_and_aborts(terminal, tmp_path):
    """The terminal shows the run, obeys keys, and is left as it was; report and JUnit have the reason."""
    judged = "1 passing, 1 undecided, 1 failing"
    shown = terminal.wait("running", "to go", "heavy since 0.5 s (scenario)", "next", "50 s: clear heavy", judged)
    assert "slow" in next(each for each in shown.splitlines() if each.startswith("  failing"))
    assert "overruns" in shown
    (tmp_path / "shown.txt").write_text(shown)
    terminal.press("p")
    shown = terminal.wait(" paused ", "by the terminal")
    at = float(shown.partition(" of 60 s")[0].rpartition(" ")[2])
    terminal.press("s")
    terminal.wait(f"{at + 0.01:.3f} of 60 s", " paused ")
    terminal.press("ano power")
    terminal.wait("abort, because: no power")
    terminal.press("\r")
    assert terminal.end() == 130
    assert termios.tcgetattr(terminal._theirs) == terminal.before
    assert "to go" not in terminal.look()  # the picture is gone, the verdicts stay
    root = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    failures = {case.get("name"): case.find("failure") for case in root.iter("testcase")}
    assert failures["end of the run"].get("type") == "aborted"
    assert "by the terminal: no power" in failures["end of the run"].get("message")
    assert "by the terminal: no power" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.long
def test_ctrl_c_ends_the_run_in_order(terminal, tmp_path):
    terminal.wait("running", "to go")
    terminal.press("\x03")
    assert terminal.end() == 130
    assert termios.tcgetattr(terminal._theirs) == terminal.before
    assert "stopped by SIGINT" in (tmp_path / "out" / "junit.xml").read_text()


@pytest.mark.long
def test_a_run_without_progress_shows_none(tmp_path):
    made = Terminal(command(write(tmp_path), "--no-progress", "--no-pace"), tmp_path)
    try:
        assert made.end() == 1
        assert "to go" not in made.look()
    finally:
        made.close()


@pytest.mark.long
def test_in_a_pipe_progress_is_plain_lines(tmp_path):
    done = subprocess.Popen(
        command(write(tmp_path)), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert done.stderr is not None
    lines = []
    while not lines or "running" not in lines[-1]:
        lines.append(done.stderr.readline())
        assert lines[-1], lines
    done.terminate()
    done.communicate(timeout=WAIT_S)
    assert lines[-1].startswith("watched: running, ")
    assert "1 failing (slow)" in lines[-1]
    assert "next 50 s: clear heavy" in lines[-1]
    assert not any("\x1b" in each or "\r" in each for each in lines)


PROGRESS = Progress(
    "grasp", "running", 12.34, 60.0, 47.66, frames=1234, overruns=3, late_max=0.0012,
    criteria=[
        {"name": "holds", "state": "passing", "text": "fine"},
        {"name": "settles", "state": "undecided", "text": "not yet"},
        {"name": "no [b]overshoot[/b]", "state": "failing", "text": "came to 3"},
    ],
    faults=[{"name": "dead", "since": 8.0, "by": "alice"}], tripped=[{"name": "dog", "since": 9.0}],
    next={"time": 20.0, "text": "clear dead"},
)  # fmt: skip


def drawn(progress: Progress, width: int, height: int) -> str:
    console = Console(width=width, height=height, markup=False, file=io.StringIO(), record=True)
    console.print(picture(progress, "hint", height))
    return console.export_text()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50), (40, 12)])
def test_the_picture_fits_its_terminal(width, height):
    text = drawn(PROGRESS, width, height)
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) <= height
    assert "12.3 of 60 s" in text.replace("\n", " ")
    assert text.index("failing ") < text.index("settles")


def test_more_criteria_than_lines_are_counted():
    many = [{"name": f"c{k}", "state": "passing", "text": ""} for k in range(50)]
    text = drawn(Progress("s", "running", 1.0, 2.0, criteria=many), 80, 24)
    assert "and 36 more" in text
    assert len(text.splitlines()) <= 24


def test_a_line_says_all():
    assert line(PROGRESS) == (
        "grasp: running, 12.3 of 60 s, 48 s to go; criteria 1 passing, 1 undecided, 1 failing (no [b]overshoot[/b]); "
        "overruns 3 of 1234 frames (0.24 %), by up to 1.2 ms; faults dead since 8 s (alice); tripped dog at 9 s; "
        "next 20 s: clear dead"
    )


def test_keys_of_the_operator():
    operator = Operator(there=True)
    assert list(operator.press(["p", "s", "x"])) == [{"do": "pause"}, {"do": "step"}]
    operator.follow(Progress("s", "paused", 0.0, 1.0))
    assert list(operator.press(["p"])) == [{"do": "resume"}]
    assert list(operator.press(["a", "p", "o", "backspace", "escape", "p"])) == [{"do": "resume"}]
    assert list(operator.press([*"a", *"psa", "enter"])) == [{"do": "abort", "reason": "psa"}]
    assert Operator(there=False).hint == ""
    assert Keys(None).descriptors == []
