"""The Windows binary under Wine and the aarch64 binary under qemu: the same driver, the same numbers.

Debian: apt-get install wine64 qemu-user libc6-arm64-cross
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fmu.host import describe
from tests.fmu.judged import Judged, compiled, exported, zig

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
STEPS = 100
ARM_ROOT = Path("/usr/aarch64-linux-gnu")
WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
#: bits may differ where a platform's C library or fused operations differ: a few roundings that the motion amplifies,
#: relative to the largest number of a variable
CLOSE = 1e-11
VARIANTS = ("fmi3", "fmi2")


class Foreign:
    """A driver for another platform and how it is started here."""

    def __init__(self, platform: str, start: list[str], environment: dict[str, str]) -> None:
        self.platform, self._start, self._environment = platform, start, environment

    def run(self, fmu: Judged, command: str, *options: object) -> subprocess.CompletedProcess[str]:
        facts = describe(fmu.unpacked, self.platform)
        words = [*self._start, command, self._path(facts), *(self._word(option) for option in options)]
        environment = os.environ | self._environment
        return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)

    def _word(self, option: object) -> str:
        return self._path(option) if isinstance(option, Path) else str(option)

    def _path(self, path: Path) -> str:
        text = str(path.resolve())
        return "Z:" + text.replace("/", "\\") if self.platform == "x86_64-windows" else text


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    qemu = shutil.which("qemu-aarch64")
    if qemu is None:
        pytest.skip("no qemu-aarch64 (Debian: qemu-user)")
    if not (ARM_ROOT / "lib" / "ld-linux-aarch64.so.1").exists():
        pytest.skip("no C library for aarch64 (Debian: libc6-arm64-cross)")
    folder = tmp_path_factory.mktemp("arm")
    driver = compiled(folder / "driver", zig("aarch64-linux-gnu.2.17"), ["-O2"])
    return Foreign("aarch64-linux", [qemu, "-L", str(ARM_ROOT), str(driver)], {})


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    wine = next((found for name in WINE if (found := shutil.which(name))), None)
    if wine is None:
        pytest.skip("no wine (Debian: wine64)")
    folder = tmp_path_factory.mktemp("windows")
    driver = compiled(folder / "driver.exe", zig("x86_64-windows-gnu"), ["-O2"], windows=True)
    environment = {"WINEPREFIX": str(folder / "prefix"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    return Foreign("x86_64-windows", [wine, str(driver)], environment)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    platforms = ["x86_64-linux", "aarch64-linux", "x86_64-windows"]
    folder = tmp_path_factory.mktemp("fmu")
    return {variant: exported("full", variant, folder, platforms=platforms) for variant in VARIANTS}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("here") / "driver", ["gcc"], ["-O2"])


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    """Each column to CLOSE of its largest number, but for loads that are zero: sums of terms of tens of newtons."""
    scale = np.maximum(np.abs(expected).max(axis=0), 10.0)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=CLOSE)


def compare(fmu: Judged, foreign: Foreign, here: Path, folder: Path, command: str) -> None:
    """A run there against the same run here."""
    options = ("--steps", STEPS, "--h", fmu.system.dt, "--out")
    done = fmu.run(here, command, *options, folder / "here.bin")
    assert done.returncode == 0, done.stderr
    away = foreign.run(fmu, command, *options, folder / "there.bin")
    assert away.returncode == 0, away.stderr
    expected, found = fmu.rows(folder / "here.bin"), fmu.rows(folder / "there.bin")
    assert np.ptp(expected, axis=0).max() > 0
    assert_close(found, expected)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("platform", ["arm", "windows"])
def test_the_same_numbers(
    platform: str, variant: str, request: pytest.FixtureRequest, fmus: dict[str, Judged], here: Path, tmp_path: Path
) -> None:
    foreign = request.getfixturevalue(platform)
    for command in ("run", "exchange"):
        compare(fmus[variant], foreign, here, tmp_path, command)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("platform", ["arm", "windows"])
def test_misuse(platform: str, variant: str, request: pytest.FixtureRequest, fmus: dict[str, Judged]) -> None:
    done = request.getfixturevalue(platform).run(fmus[variant], "misuse")
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.startswith("ok")]) > 50


@pytest.mark.parametrize("platform", ["arm", "windows"])
def test_a_state_moves_between_platforms(
    platform: str, request: pytest.FixtureRequest, fmus: dict[str, Judged], here: Path, tmp_path: Path
) -> None:
    """Saved there, restored here: the run goes on with the same numbers."""
    fmu, foreign = fmus["fmi3"], request.getfixturevalue(platform)
    away = foreign.run(fmu, "state", "--save", tmp_path / "s.bin", "--out", tmp_path / "there.bin")
    done = fmu.run(here, "state", "--restore", tmp_path / "s.bin", "--out", tmp_path / "here.bin")
    assert away.returncode == done.returncode == 0, away.stderr + done.stderr
    assert_close(fmu.rows(tmp_path / "here.bin"), fmu.rows(tmp_path / "there.bin"))
