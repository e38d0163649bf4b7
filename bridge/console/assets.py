"""The browser's libraries, Open MCT and three.js: fetched once from npm, checked, kept in the user's cache."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import platformdirs

from limberjack.bridge.errors import BridgeError
from limberjack.engine.common.errors import ExitCode
from limberjack.scratch import Scratch

DEFAULT_REGISTRY = "https://registry.npmjs.org"
_SIZE_MAX = 64 << 20  # largest size of a tarball, and of its extracted files, bytes
_TIMEOUT_S = 60.0


class AssetError(BridgeError, ValueError):
    """A library for the browser that is missing, cannot be fetched, or is not the one that is expected."""

    exit_code = ExitCode.BAD_INPUT


@dataclass(frozen=True)
class Package:
    """One npm package. integrity : sha512 of its tarball, base64;  wanted : beginnings of the paths that are kept."""

    name: str
    version: str
    integrity: str
    wanted: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where it is kept: each version in its own folder of the user's cache."""
        return Path(platformdirs.user_cache_dir("limberjack")) / "console" / f"{self.name}-{self.version}"

    @property
    def tarball(self) -> str:
        return f"{self.name}-{self.version}.tgz"

    @property
    def installed(self) -> bool:
        return self.folder.is_dir()


OPENMCT = Package(
    "openmct",
    "4.2.0",
    "3fprUHT5s22kBukpHC0WTWeW12UnD+JgehJN9KqjJoBbj928LV4um9FjHSRZG+P+6rAKZZD9+DFumVbDzJ4lHg==",
    ("dist/",),
)
THREE = Package(
    "three",
    "0.187.0",
    "Qiu7R+Cmh8CstZsY1uJOSWnVlfo7ZtNLV7mF8Jltk3LB3AtDu9cRZlcnRKkAk8Y4z6KKw35z7Y7Urd7jWY8etA==",
    ("LICENSE", "build/three.module.js", "build/three.core.js", "examples/jsm/controls/", "examples/jsm/loaders/"),
)
PACKAGES = (OPENMCT, THREE)


def installed_folder(package: Package) -> Path:
    """Where a package is. Raises AssetError with the command that installs it."""
    if not package.installed:
        raise AssetError(
            f"the browser's library {package.name} {package.version} is not installed (looked in {package.folder}). "
            "Install it once with: limberjack console --install."
        )
    return package.folder


def registry_url(option: str | None = None) -> str:
    """The npm registry to ask: the option, else npm's own environment variable, else the public one."""
    names = ("npm_config_registry", "NPM_CONFIG_REGISTRY")  # npm reads both
    environment = next((os.environ[name] for name in names if os.environ.get(name)), None)
    return (option or environment or DEFAULT_REGISTRY).rstrip("/")


def install(
    registry: str | None = None, tarballs: Path | None = None, say: Callable[[str], None] = lambda text: None
) -> None:
    """Install all missing packages. Raises AssetError.

    registry : URL of an npm registry;  tarballs : folder with the files of `npm pack`, instead of the network
    """
    for package in PACKAGES:
        if package.installed:
            say(f"{package.name} {package.version} is installed in {package.folder}")
            continue
        content = _from_folder(package, tarballs) if tarballs else _from_registry(package, registry_url(registry), say)
        _check(package, content)
        _unpack(package, content)
        say(f"installed {package.name} {package.version} in {package.folder}")


def _from_folder(package: Package, folder: Path) -> bytes:
    path = folder / package.tarball
    if not path.is_file():
        raise AssetError(f"{path}: there is no such file. Make it with: npm pack {package.name}@{package.version}.")
    return path.read_bytes()


def _from_registry(package: Package, registry: str, say: Callable[[str], None]) -> bytes:
    url = f"{registry}/{package.name}/-/{package.tarball}"
    if not url.startswith(("https://", "http://")):
        raise AssetError(f"{registry!r} is not the address of an npm registry. Use https://HOST/PATH.")
    say(f"fetching {url}")
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as reply:
            content: bytes = reply.read(_SIZE_MAX + 1)
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise AssetError(
            f"{url} cannot be fetched ({getattr(error, 'reason', None) or error}). Check the network and its proxy, "
            "give another registry with --registry, or take the tarballs from a machine that has one: "
            f"npm pack {' '.join(f'{each.name}@{each.version}' for each in PACKAGES)}, then --tarballs FOLDER."
        ) from None
    return content


def _check(package: Package, content: bytes) -> None:
    found = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != package.integrity:
        raise AssetError(
            f"what came as {package.tarball} is not the published package (sha512 {found[:16]}…, expected "
            f"{package.integrity[:16]}…). Nothing was installed; try again or use another registry."
        )


def _unpack(package: Package, content: bytes) -> None:
    """Unpack into a temporary folder, then move that into place, so that a package is complete or absent."""
    package.folder.parent.mkdir(parents=True, exist_ok=True)
    with Scratch(f".{package.name}-", package.folder.parent) as scratch:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for member in archive:
                path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                if member.isfile() and str(path).startswith(package.wanted) and not str(path).endswith(".map"):
                    _write(archive, member, scratch, path)
        scratch.chmod(0o755)
        if not package.installed:
            scratch.rename(package.folder)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, path: PurePosixPath) -> None:
    if path.is_absolute() or ".." in path.parts or member.size > _SIZE_MAX:
        raise AssetError(f"{member.name}: a path or size that has no place in the package. Nothing was installed.")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    source = archive.extractfile(member)
    assert source is not None
    target.write_bytes(source.read())
