"""Where importers say that the resources are: FMI 2 URIs and FMI 3 paths."""

from __future__ import annotations

import ctypes

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, SHIM, Fmu, compile_c


@pytest.fixture(scope="module")
def parse(tmp_path_factory):
    """(path, None) or (None, what is wrong), from a URI (version 2) or a path."""
    folder = tmp_path_factory.mktemp("paths")
    library = compile_c(folder / "paths.so", [SHIM / "resources.c"], "-shared", "-fPIC", "-fvisibility=default")
    lib = ctypes.CDLL(str(library))

    def parse_(given: str, version: int = 2) -> tuple[str | None, str | None]:
        function = lib.resources_from_uri if version == 2 else lib.resources_from_path
        function.restype = ctypes.c_char_p
        path = ctypes.create_string_buffer(4096)
        wrong = function(given.encode(), path)
        return (None, wrong.decode()) if wrong else (path.value.decode(), None)

    return parse_


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///tmp/fmu/resources", "/tmp/fmu/resources"),
        ("file:///tmp/fmu/resources/", "/tmp/fmu/resources"),
        ("file:/tmp/fmu/resources", "/tmp/fmu/resources"),
        ("file://localhost/tmp/resources", "/tmp/resources"),
        ("FILE:///tmp/resources", "/tmp/resources"),
        ("file:///tmp/with%20space/%C3%A4%23", "/tmp/with space/ä#"),
        ("file:///tmp/with space/ä", "/tmp/with space/ä"),
        ("file:///tmp/100%", "/tmp/100%"),
        ("file:///tmp/100%zz", "/tmp/100%zz"),
        ("file:///C:/Temp/resources", "C:/Temp/resources"),
        ("file:///c%3A/Temp", "c:/Temp"),
        ("file:///C|/Temp", "C:/Temp"),
        ("file://C:/Temp", "C:/Temp"),
        ("file:///", "/"),
        ("file:///C:/", "C:/"),
        ("/tmp/plain", "/tmp/plain"),
        ("C:/Temp/plain/", "C:/Temp/plain"),
    ],
)
def test_uris(parse, uri, path):
    assert parse(uri) == (path, None)


@pytest.mark.parametrize(
    ("uri", "wrong"),
    [
        ("http://example.org/resources", "only file: URIs"),
        ("file://server/share", "another machine"),
        ("file:", "no path"),
        ("", "empty"),
        ("file:///a%00b", "zero character"),
        ("file:///" + "x" * 5000, "longer than"),
        ("/" + "x" * 5000, "longer than"),
    ],
)
def test_uris_that_cannot_be_used(parse, uri, wrong):
    path, reported = parse(uri)
    assert path is None
    assert wrong in reported


@pytest.mark.parametrize(
    ("given", "path"),
    [("/tmp/resources/", "/tmp/resources"), ("/tmp/resources", "/tmp/resources"), ("/", "/"), ("/a%20b//", "/a%20b")],
)
def test_paths(parse, given, path):
    assert parse(given, version=3) == (path, None)


def test_a_directory_with_odd_characters(tmp_path, shim_library):
    folder = toy.PlantData().write(tmp_path / "über 100% #1" / "resources")
    for version, given in ((2, folder.as_uri()), (3, f"{folder}/"), (2, str(folder))):
        fmu = Fmu(shim_library, version, CO_SIMULATION, given)
        assert fmu.c, fmu.log
        fmu.free()
