"""The browser's libraries: fetched from a registry or a folder, checked, kept; nothing half or wrong is installed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from limberjack.bridge.console import assets
from limberjack.bridge.console.assets import AssetError, Package, install, installed_folder, registry_url

FILES = {"dist/a.js": b"a", "dist/a.js.map": b"map", "src/b.js": b"b", "LICENSE": b"free"}


def tarball(files: dict[str, bytes], top: str = "package") -> bytes:
    """Equal bytes for equal files: compressed without the time, which would change with the second."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(stream.getvalue(), mtime=0)


def package_of(content: bytes) -> Package:
    integrity = base64.b64encode(hashlib.sha512(content).digest()).decode()
    return Package("toy", "1.0.0", integrity, ("dist/", "LICENSE"))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A package of its own in place of the real ones, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = package_of(tarball(FILES))
    monkeypatch.setattr(assets, "PACKAGES", (package,))
    return package


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """An npm registry with the toy."""
    (tmp_path / "toy" / "-").mkdir(parents=True)
    (tmp_path / "toy" / "-" / "toy-1.0.0.tgz").write_bytes(tarball(FILES))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_from_a_registry(toy, registry, monkeypatch):
    with pytest.raises(AssetError, match="limberjack console --install"):
        installed_folder(toy)
    said: list[str] = []
    monkeypatch.setenv("npm_config_registry", registry + "/")
    install(say=said.append)
    folder = installed_folder(toy)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == ["LICENSE", "dist/a.js"]
    assert said[0] == f"fetching {registry}/toy/-/toy-1.0.0.tgz"
    install("http://127.0.0.1:1", say=said.append)  # is there already: nothing is asked
    assert "is installed" in said[-1]


def test_which_registry(monkeypatch):
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    assert registry_url() == assets.DEFAULT_REGISTRY == "https://registry.npmjs.org"
    monkeypatch.setenv("npm_config_registry", "https://mirror.example/npm/")
    assert registry_url() == "https://mirror.example/npm"
    assert registry_url("https://other.example") == "https://other.example"


def test_from_a_folder(toy, tmp_path):
    with pytest.raises(AssetError, match="npm pack toy@1.0.0"):
        install(tarballs=tmp_path)
    (tmp_path / "toy-1.0.0.tgz").write_bytes(tarball(FILES))
    install(tarballs=tmp_path)
    assert toy.installed


def test_what_is_not_the_package_is_not_installed(toy, tmp_path):
    (tmp_path / "toy-1.0.0.tgz").write_bytes(tarball(FILES | {"dist/a.js": b"evil"}))
    with pytest.raises(AssetError, match="not the published package"):
        install(tarballs=tmp_path)
    assert not toy.installed


@pytest.mark.parametrize("name", ["dist/../../../evil.js", "dist/../evil.js"])
def test_paths_that_lead_out_are_refused(toy, tmp_path, monkeypatch, name):
    content = tarball({"dist/a.js": b"a", name: b"evil"})
    monkeypatch.setattr(assets, "PACKAGES", (replace(package_of(content)),))
    (tmp_path / "toy-1.0.0.tgz").write_bytes(content)
    with pytest.raises(AssetError, match="no place in the package"):
        install(tarballs=tmp_path)
    assert not toy.installed
    assert not list(tmp_path.rglob("evil.js"))
    assert not list(toy.folder.parent.glob(".toy-*"))


def test_a_registry_that_does_not_answer(toy):
    for registry in ("http://127.0.0.1:1", "ftp://x", "nonsense"):
        with pytest.raises(AssetError, match="npm pack|not the address"):
            install(registry)
    assert not toy.installed
