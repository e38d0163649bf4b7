"""The FMU file: the same bytes everywhere, whole or not at all, as the standard's section on distribution asks."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import subprocess
import sys
import zipfile

import pytest

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.targets import TARGETS
from limberjack.fmu import fmu_file
from tests.fmu import contents

FILES = {"modelDescription.xml": b"<a/>", "resources/plant.bin": bytes(range(256)) * 40, "binaries/x/m.so": b"\x7fELF"}

_WRITE = """
import hashlib, sys
from limberjack.fmu.fmu_file import write
from tests.fmu import contents
made = contents.short(contents.content("full", "3.0", "arrays"))
path = write(sys.argv[1], contents.files(made))
print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def test_names_dates_permissions_compression(tmp_path):
    path = fmu_file.write(tmp_path / "m.fmu", FILES)
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        entries = opened.infolist()
        assert {entry.filename: opened.read(entry) for entry in entries} == FILES
    assert [entry.filename for entry in entries] == sorted(FILES)
    for entry in entries:
        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        assert entry.compress_type == zipfile.ZIP_DEFLATED
        assert entry.flag_bits & 0x9 == 0, "neither encrypted nor streamed"
        assert entry.extract_version <= 20
        assert stat.S_ISREG(entry.external_attr >> 16)
        assert entry.extra == b""


def test_the_order_of_the_files_and_the_clock_do_not_matter(tmp_path, monkeypatch):
    one = fmu_file.write(tmp_path / "one.fmu", FILES).read_bytes()
    monkeypatch.setattr("time.time", lambda: 2e9)
    two = fmu_file.write(tmp_path / "two.fmu", dict(reversed(FILES.items()))).read_bytes()
    assert one == two


def test_another_process_another_place_the_same_bytes(tmp_path):
    digests = []
    for seed, zone, language in (("1", "UTC", "C"), ("77", "Asia/Kathmandu", "C.UTF-8")):
        changed = {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language}
        environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        command = [sys.executable, "-W", "ignore", "-c", _WRITE, str(tmp_path / f"m{seed}.fmu")]
        run = subprocess.run(command, env=environment | changed, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        digests.append(run.stdout.strip())
    made = contents.short(contents.content("full", "3.0", "arrays"))
    here = fmu_file.write(tmp_path / "here.fmu", contents.files(made)).read_bytes()
    assert digests == [hashlib.sha256(here).hexdigest()] * 2


def test_a_failed_export_leaves_the_old_file_and_nothing_else(tmp_path):
    path = fmu_file.write(tmp_path / "m.fmu", FILES)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        fmu_file.write(path, {"a": b"1", "b": object()})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.fmu"]


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(ArgumentError, match=r"m\.fmu.*No space left on device"):
        fmu_file.write(tmp_path / "m.fmu", FILES)
    assert os.listdir(tmp_path) == []


def test_the_file_mask_is_honoured(tmp_path):
    mask = os.umask(0o027)
    try:
        path = fmu_file.write(tmp_path / "m.fmu", FILES)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_bad_targets_are_refused_with_a_remedy(tmp_path):
    (tmp_path / "folder.fmu").mkdir()
    with pytest.raises(ArgumentError, match=r"must end in \.fmu; name the file arm\.fmu"):
        fmu_file.check_target(tmp_path / "arm.zip")
    with pytest.raises(ArgumentError, match="is a folder"):
        fmu_file.check_target(tmp_path / "folder.fmu")
    with pytest.raises(ArgumentError, match="does not exist"):
        fmu_file.check_target(tmp_path / "none" / "m.fmu")
    assert fmu_file.check_target(str(tmp_path / "m.FMU")) == tmp_path / "m.FMU"


@pytest.mark.parametrize(
    ("fmi", "names"),
    [
        ("3.0", ["x86_64-linux/m.so", "aarch64-linux/m.so", "x86_64-windows/m.dll", "x86_64-darwin/m.dylib"]),
        ("2.0", ["linux64/m.so", "aarch64-linux/m.so", "win64/m.dll", "darwin64/m.dylib"]),
    ],
)
def test_places_of_the_binaries(fmi, names):
    places = [fmu_file.binary_name(fmi, platform, "m") for platform in TARGETS]
    assert places == [f"binaries/{name}" for name in [*names, "aarch64-darwin/m.dylib"]]


def macho(processor: int, content: bytes) -> bytes:
    """The head of a thin 64-bit library, and something behind it."""
    return struct.pack("<III", 0xFEEDFACF, processor, 3) + content


def test_fmi_2_has_one_universal_library_for_both_processors_of_macos():
    built = {"x86_64-darwin": macho(0x01000007, b"intel" * 9000), "aarch64-darwin": macho(0x0100000C, b"arm" * 99)}
    files = fmu_file.binaries("2.0", "m", {"x86_64-linux": b"elf", **built})
    assert sorted(files) == ["binaries/darwin64/m.dylib", "binaries/linux64/m.so"]
    library = files["binaries/darwin64/m.dylib"]
    assert struct.unpack_from(">II", library) == (0xCAFEBABE, 2)
    for i, (platform, processor) in enumerate({"x86_64-darwin": 0x01000007, "aarch64-darwin": 0x0100000C}.items()):
        found, kind, offset, size, alignment = struct.unpack_from(">IIIII", library, 8 + 20 * i)
        assert (found, kind, alignment) == (processor, 3, 14)
        assert offset % (1 << alignment) == 0
        assert library[offset : offset + size] == built[platform]


def test_one_processor_of_macos_keeps_its_own_folder():
    thin = {"aarch64-darwin": macho(0x0100000C, b"arm")}
    assert fmu_file.binaries("2.0", "m", thin) == {"binaries/aarch64-darwin/m.dylib": thin["aarch64-darwin"]}
    assert set(fmu_file.binaries("3.0", "m", thin)) == {"binaries/aarch64-darwin/m.dylib"}
