"""The dictionary as domain objects of NASA Open MCT, in the form of Open MCT's JSON files: "openmct" and "rootId"."""

from __future__ import annotations

import json

from limberjack.bridge.console.objects import NAMESPACE, telemetry
from limberjack.bridge.telemetry.exports.registry import Subject


def export(subject: Subject) -> str:
    """The JSON of all objects by their key string: folders by group, a telemetry point for each quantity."""
    objects = {f"{NAMESPACE}:{key}": each for key, each in telemetry(subject.dictionary).items()}
    document = {"openmct": objects, "rootId": f"{NAMESPACE}:telemetry"}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
