"""What a release says of itself: licences of everything that is carried or installed, versions that agree."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from limberjack import bill_of_materials
from limberjack.bridge.console.assets import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
specification = importlib.util.spec_from_file_location("notices", ROOT / ".ci/notices.py")
notices = importlib.util.module_from_spec(specification)
specification.loader.exec_module(notices)
#: words of old metadata, as SPDX
OLD = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Python Software Foundation License": "PSF-2.0",
    "Apache Software License": "Apache-2.0",
}


def noticed() -> dict[str, str]:
    """Name → licence of each line of NOTICE."""
    text = (ROOT / "NOTICE").read_text(encoding="utf-8")
    found = (re.match(r"  ([\w.-]+) +(\S.*?)(?:  .*)?$", line) for line in text.splitlines())
    return {notices.plain(match[1]): match[2] for match in found if match}


def requirements() -> list[str]:
    """Names of the packages that pip installs with Limberjack, or with an extra for users."""
    names = {re.match(r"[\w-]+", entry)[0] for entry in notices.required()}
    return sorted(names - {"limberjack"})


@pytest.mark.parametrize("name", requirements())
def test_notice_has_every_package_that_is_installed(name):
    assert notices.plain(name) in noticed()


def test_packages_that_others_need_are_found_and_named(monkeypatch):
    needs = {
        "direct": ["Needed_one>=2", "elsewhere; sys_platform == 'nowhere'", "optional; extra == 'more'"],
        "needed-one": ["deep[more]"],
        "deep": ["direct", "optional; extra == 'more'", "other; extra == 'unused'"],
    }
    found = notices.all_needed(["direct>=1"], lambda name: needs.get(notices.plain(name), []))
    assert found == {"direct": "", "needed-one": "direct", "deep": "needed-one", "optional": "deep"}
    monkeypatch.setattr(notices, "all_needed", lambda entries: {"numpy": "", "unheard-of": "numpy"})
    assert notices.missing() == ["unheard-of (numpy)"]


@pytest.mark.parametrize("name", sorted({*map(notices.plain, requirements()), *notices.all_needed(notices.required())}))
def test_notice_has_the_licences_that_packages_state(name):
    """Also of packages that other packages need; .ci/notices.py finds those that NOTICE does not name."""
    try:
        about = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if name not in noticed():
        pytest.skip(f"NOTICE does not name {name} yet; a release would stop")
    said = about["License-Expression"] or next(
        (OLD[last] for entry in about.get_all("Classifier", []) if (last := entry.split(" :: ")[-1]) in OLD), ""
    )
    ours = noticed()[name]
    assert ours in said or said in ours or ours.startswith(said), f"{name} says {said!r}, NOTICE {ours!r}"


def test_notice_has_what_is_carried_and_what_the_console_fetches():
    carried = (bill_of_materials.COMPILER_RT, bill_of_materials.MINGW, bill_of_materials.LIBZMQ)
    for part in (*carried, bill_of_materials.LIBSODIUM):
        assert noticed()[part.name].startswith(part.licence)
    assert {package.name for package in PACKAGES} <= set(noticed())


def test_licence_files_and_versions_agree():
    assert PROJECT["license"] == "Apache-2.0"
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])
    assert (ROOT / "src/limberjack/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_browser_sources_are_ours():
    """No library of others lies in the console's folder, where a licence would have to go with it."""
    for path in (ROOT / "bridge/console/static").glob("*.js"):
        assert not re.search(r"@license|copyright|SPDX", path.read_text(encoding="utf-8"), re.I), path.name
