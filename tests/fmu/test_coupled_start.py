"""How long an FMU waits for an engine that it starts: while that computes, not while it is silent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fmu.coupled_fmu import CoupledFmu, built, children, load_arm
from tests.fmu.shim_build import ERROR, OK

#: an engine that takes its time, and says so or not, before it claims to listen
SLOW = """
i=0
while [ $i -lt 20 ]; do
    sleep 0.25
    {says}
    i=$((i+1))
done
echo "engine answers at ipc:///nobody, "
sleep 60
"""


@pytest.fixture(scope="module")
def impatient():
    """The library that gives up after 3 s of silence."""
    with built(load_arm(), "-DSTART_SILENCE_S=3.0") as folder:
        yield folder


@pytest.mark.parametrize(
    ("says", "words"), [("echo starting", "no reply to 'hello'"), (":", "does not listen and has said nothing for 3 s")]
)
def test_an_engine_is_waited_for_while_it_says_that_it_computes(impatient, tmp_path, says, words):
    script = tmp_path / "slow.sh"
    script.write_text(SLOW.format(says=says))
    unit = CoupledFmu(impatient / "coupled.so", impatient / "resources", load_arm())
    assert unit.set_text("engine.command", f"sh '{script}'") == OK
    assert unit.assign("engine.timeout", 0.3) == OK
    assert unit.start() == ERROR
    assert words in unit.last_error()
    assert children() == []
    unit.free()


def test_an_engine_that_computes_says_so(tmp_path):
    """Until it serves, and not after; silent while it does not compute."""
    program = """
import signal, sys, time
from pathlib import Path
from limberjack.bridge import parent
parent._REPORT_S = 0.2
parent.end_with_parent(Path(sys.argv[1]))
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
compute(1.0)
signal.signal(signal.SIGTERM, lambda *_: None)
time.sleep(0.2)  # a report that began before this is written before the next line
print("serves", file=sys.stderr, flush=True)
compute(1.0)
print("end", file=sys.stderr, flush=True)
"""
    folder = tmp_path / "ljtest"
    folder.mkdir()
    words = [sys.executable, "-c", program, str(folder)]
    running = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before, after = running.stderr.read().split("serves\n")
    running.communicate()
    assert "s of processor time so far" in before
    assert after == "end\n"
