"""CycloneDX bills of materials: the third-party parts of wheels (PEP 770) and FMUs. NOTICE lists the same."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

SPECIFICATION = "1.6"


@dataclass(frozen=True)
class Component:
    """A third-party part. licence : SPDX expression; version : "" if the build does not record it."""

    name: str
    licence: str
    address: str
    version: str = ""

    def entry(self) -> dict[str, object]:
        """Its entry in the list of components."""
        known = {"version": self.version} if self.version else {}
        return {
            "type": "library",
            "bom-ref": self.name,
            "name": self.name,
            **known,
            "licenses": [{"expression": self.licence}],
            "purl": f"{self.address}@{self.version}" if self.version else self.address,
        }


COMPILER_RT = Component("compiler-rt", "Apache-2.0 WITH LLVM-exception", "pkg:github/llvm/llvm-project")
MINGW = Component("mingw-w64", "ZPL-2.1", "pkg:generic/mingw-w64")
LIBZMQ = Component("libzmq", "MPL-2.0", "pkg:github/zeromq/libzmq")
LIBSODIUM = Component("libsodium", "ISC", "pkg:github/jedisct1/libsodium")


def linked(platforms: Sequence[str]) -> list[Component]:
    """Components that are linked into binaries for these platforms, such as "x86_64-windows"."""
    return [COMPILER_RT, *([MINGW] if any("windows" in platform for platform in platforms) else [])]


def limberjack(version: str) -> Component:
    """Limberjack itself."""
    return Component("limberjack", "Apache-2.0", "pkg:pypi/limberjack", version)


def document(main: dict[str, object], components: Sequence[Component]) -> bytes:
    """A CycloneDX JSON document. Its serial number is a hash of its content, so the same build gives the same bytes.

    main : the entry of the wheel or FMU that contains the components
    """
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"component": {**main, "bom-ref": "main"}},
        "components": [component.entry() for component in components],
        "dependencies": [
            {"ref": "main", "dependsOn": [component.name for component in components]},
            *({"ref": component.name} for component in components),
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return (json.dumps({**body, "serialNumber": f"urn:uuid:{number}"}, indent=2, sort_keys=True) + "\n").encode()
