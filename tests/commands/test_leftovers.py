"""What a process killed with SIGKILL leaves, in folders and processes, is gone when the next one starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

from limberjack import children
from limberjack.bridge.telemetry.history.history import History
from limberjack.engine.compile.targets import host
from limberjack.scratch import Scratch, remove_left

WAIT_S = 30.0  # bound on every wait; reached only when something is broken


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The system's place for temporary files, of this process and of those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed(program, *words):
    """Run a program until it prints a line, kill it with SIGKILL; the line."""
    victim = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *words], stdout=subprocess.PIPE, text=True
    )
    line = victim.stdout.readline().strip()
    victim.kill()
    victim.wait(WAIT_S)
    victim.stdout.close()
    return line


def ended(pid):
    """Whether a process is gone, or only waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(condition, what):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- folders

MAKER = """
    import sys, time
    from pathlib import Path
    from limberjack.scratch import Scratch
    scratch = Scratch("x-", Path(sys.argv[1]))
    (scratch.path / "much").write_bytes(bytes(100))
    print(scratch.path, flush=True)
    time.sleep(600)
"""


def test_a_folder_is_there_and_gone(tmp_path):
    with Scratch("x-", tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == []


def test_a_folder_that_was_moved_stays_where_it_is(tmp_path):
    with Scratch("x-", tmp_path) as folder:
        (folder / "a").write_text("b")
        folder.rename(tmp_path / "kept")
    assert names(tmp_path) == ["kept"]


def test_the_next_one_removes_what_a_killed_process_left_and_nothing_else(tmp_path):
    left = Path(killed(MAKER, str(tmp_path)))
    assert (left / "much").exists()
    living, other = Scratch("x-", tmp_path), tmp_path / "x-of-somebody-else"
    other.mkdir()
    assert not left.exists()  # `living` did that
    with Scratch("x-", tmp_path):
        assert living.path.is_dir()
    assert names(tmp_path) == sorted([living.path.name, f"{living.path.name}.lock", other.name])
    living.cleanup()


def test_a_lock_that_points_elsewhere_is_left_alone(tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "x-1.lock").symlink_to(tmp_path / "none")
    (tmp_path / "x-2.lock").touch()
    (tmp_path / "x-2").symlink_to(target)
    assert remove_left("x-", tmp_path) == []
    assert names(tmp_path) == ["target", "x-1.lock", "x-2", "x-2.lock"]


def test_many_at_once_never_remove_each_others(tmp_path):
    troubles = []

    def make():
        for _ in range(50):
            with Scratch("x-", tmp_path) as folder:
                (folder / "a").write_text("b")
                if not (folder / "a").exists():
                    troubles.append(folder)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert (troubles, names(tmp_path)) == ([], [])


def test_the_temporary_history_of_a_killed_gateway_goes_when_the_next_begins(place):
    maker = """
        import time
        from limberjack.bridge.telemetry.history.history import History
        history = History()
        history._path.write_bytes(bytes(1 << 20))
        print(history._path, flush=True)
        time.sleep(600)
    """
    left = Path(killed(maker))
    assert left.stat().st_size == 1 << 20
    history = History()
    assert not left.parent.exists()
    assert len(names(place)) == 2
    del history
    assert names(place) == []


# ---- processes

GRANDPARENT = """
    import sys
    from limberjack import children
    program = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, file=sys.stderr, flush=True)"
    program += "; import time; time.sleep(600)"
    words = [sys.executable, "-c", program.replace("file=sys.stderr", f"file=open({sys.argv[1]!r}, 'w')")]
    print("begins", flush=True)
    children.run(words)
"""


def number(path):
    until(lambda: path.exists() and path.read_text().strip(), "the program did not begin")
    return int(path.read_text())


def test_a_program_and_what_it_started_end_with_a_killed_parent(tmp_path):
    reported = tmp_path / "pid"
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(GRANDPARENT), str(reported)], stdout=subprocess.PIPE
    )
    sleeper = number(reported)
    assert not ended(sleeper)
    parent.kill()
    parent.wait(WAIT_S)
    parent.stdout.close()
    until(lambda: ended(sleeper), "the program outlived its parent")


def test_a_program_that_hangs_ends_with_all_that_it_started(tmp_path):
    reported = tmp_path / "pid"
    done = children.run(["sh", "-c", f"sleep 600 & echo $! > {reported}; wait"], idle_s=2.0)
    assert (done.returncode, done.stderr) == (children.HUNG, "It was ended: it used no processor time for 2 s.\n")
    sleeper = number(reported)
    until(lambda: ended(sleeper), "what the program started outlived it")


BUSY = "import time\nwhile time.process_time() < {seconds}: pass"


def test_a_program_whose_child_works_does_not_hang(tmp_path):
    """However long it takes: three times as long as it might do nothing."""
    words = ["sh", "-c", '"$0" -c "$1"; exit 3', sys.executable, BUSY.format(seconds=3.0)]
    assert children.run(words, idle_s=1.0).returncode == 3


def test_a_program_that_computes_for_ever_is_ended():
    done = children.run([sys.executable, "-c", BUSY.format(seconds=1e9)], processor_s=1.0)
    assert done.returncode == 128 + signal.SIGXCPU
    assert done.stderr == "It was ended after 1 s of processor time.\n"


def test_processor_time_of_a_group_is_that_of_its_processes():
    program = BUSY.format(seconds=1.5) + "\nprint('done', flush=True)\ninput()"
    words = [sys.executable, "-c", program]
    worker = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert worker.stdout.readline() == b"done\n"
    assert 1.4 < children.processor_time(worker.pid) < 2.0
    assert children.processor_time(worker.pid) == children.processor_time(worker.pid)
    if shutil.which("ps"):  # where there is no /proc; in whole seconds
        assert 1.0 <= children._listed_time(worker.pid) <= 2.0
    worker.communicate(b"\n", WAIT_S)


def test_a_program_gives_its_words_and_its_exit_code():
    done = children.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert children.run(["sh", "-c", "kill -9 $$"]).returncode == 128 + 9
    done = children.run(["/no/such/program"])
    assert (done.returncode, done.stderr) == (127, "/no/such/program: No such file or directory\n")


EXPORT = """
    import os, sys
    from pathlib import Path
    from limberjack import children
    from limberjack.engine.compile import link, targets
    from limberjack.fmu import binaries
    run = children.run
    def slow(command, **options):  # the compiler, which takes its time
        program = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
        return run([sys.executable, "-c", program, sys.argv[1]], **options)
    link.children.run = slow
    binaries.binaries(targets.chosen("host"), "process")
"""


def test_an_interrupted_export_leaves_no_folder_and_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    reported = tmp_path / "pid"
    export = subprocess.Popen([sys.executable, "-c", textwrap.dedent(EXPORT), str(reported)])
    compiler = number(reported)
    folder = tmp_path / "cache" / "limberjack" / "compiled" / host()
    assert len(list(folder.glob("building-*[!k]"))) == 1
    os.kill(export.pid, signal.SIGKILL)
    export.wait(WAIT_S)
    until(lambda: ended(compiler), "the compiler outlived the export")
    with Scratch("building-", folder):  # what the next export makes first
        assert len(list(folder.glob("building-*[!k]"))) == 1
    assert list(folder.glob("building-*")) == []


EARLY = """
import sys
sys.stdin.readline()  # in the place of imports
from limberjack import children
children.ignore_interrupts()
print("deaf", flush=True)
sys.stdin.readline()
"""


def test_a_child_does_not_hear_ctrl_c_before_it_can_ignore_it():
    """Else Ctrl-C ends it with the traceback of an import."""
    pipe = subprocess.PIPE
    with children.interrupts_held():
        child = subprocess.Popen([sys.executable, "-c", EARLY], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    try:
        child.send_signal(signal.SIGINT)
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "deaf\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate("\n", timeout=60) == ("", "")
        assert child.returncode == 0
    finally:
        child.kill()
    with pytest.raises(KeyboardInterrupt), children.interrupts_held():
        signal.raise_signal(signal.SIGINT)
