"""Files and messages of version 0.4.0 mean today what they meant then; see docs/reference/versioning.md.

`v0_4_0/` has examples of that release (paths shortened), a `.ljm` that it wrote, and its JSON Schemas without texts.
The messages are those of its description of the protocol.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.readers import schema as model_schema
from limberjack.engine.modes import description as modes_schema
from limberjack.hil.campaign import schema as campaign_schema
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.scenario import schema as scenario_schema
from limberjack.hil.scenario.execution import run_scenario

OLD = Path(__file__).resolve().parent / "v0_4_0"
TODAY = {"model": model_schema, "modes": modes_schema, "scenario": scenario_schema, "campaign": campaign_schema}


@pytest.mark.parametrize("name", ["satellite_grasp.yaml", "servicer.yaml", "torque_arm.yaml"])
def test_models_load_and_run(name):
    simulation = lj.Simulation(lj.load(OLD / name))
    simulation.step(10)
    assert np.isfinite(simulation.q).all()


def test_an_archive_of_another_release_is_refused_with_the_remedy():
    """It holds the fields of the release that wrote it; the model file is what lasts."""
    with pytest.raises(ModelError, match=r"satellite_grasp\.ljm: .*another version.*Write the file again"):
        lj.load(OLD / "satellite_grasp.ljm")


def test_modal_data_load(tmp_path):
    model = """
limberjack: 1
name: antenna
bodies:
  - name: wire
    flexible: {file: FILE, geometric: false}
    hinge: {name: root, type: revolute, parent: world, axis: [0, 0, 1]}
"""
    (tmp_path / "model.yaml").write_text(model.replace("FILE", str(OLD / "wire_antenna.npz")), encoding="utf-8")
    assert lj.load(tmp_path / "model.yaml").nv > 1


def test_a_scenario_passes_and_a_campaign_loads():
    assert run_scenario(OLD / "joint_step.yaml").passed
    assert load_campaign(OLD / "joint_step_spread.yaml").spec.runs == 60


def old_schemas() -> dict[str, Any]:
    return json.loads(gzip.decompress((OLD / "schemas.json.gz").read_bytes()))


@pytest.mark.parametrize("kind", sorted(TODAY))
def test_every_field_is_still_there_and_no_new_one_is_required(kind):
    old, new = old_schemas()[kind], json.loads(TODAY[kind].json_schema())
    assert sorted(set(broken(old, old, new, new, kind, set()))) == []


def broken(old: Any, old_root: Any, new: Any, new_root: Any, place: str, seen: set[str]) -> Iterator[str]:
    """Where what was valid is no longer."""
    (old, name), (new, _) = resolved(old, old_root), resolved(new, new_root)
    if name in seen:
        return
    seen = seen | {name} - {""}
    new_kinds = alternatives(new, new_root)
    for part in alternatives(old, old_root):
        if "properties" in part:
            fitting = [kind for kind in new_kinds if constants(part).items() <= constants(kind).items()]
            fitting = [kind for kind in fitting if set(part["properties"]) <= set(kind.get("properties", {}))]
            if not fitting:
                yield f"{place}: no object has {sorted(part['properties'])}"
                continue
            match = fitting[0]
            yield from (
                f"{place}.{f} is required" for f in set(match.get("required", [])) - set(part.get("required", []))
            )
            for field, spec in part["properties"].items():
                yield from broken(spec, old_root, match["properties"][field], new_root, f"{place}.{field}", seen)
        elif "items" in part:
            lists = [kind for kind in new_kinds if "items" in kind]
            if not lists:
                yield f"{place}: no list any more"
            elif isinstance(part["items"], dict):
                yield from broken(part["items"], old_root, lists[0]["items"], new_root, f"{place}[]", seen)
        elif "enum" in part:
            values = {value for kind in new_kinds for value in [*kind.get("enum", []), kind.get("const")]}
            yield from (f"{place}: {value!r} is gone" for value in part["enum"] if value not in values)


def resolved(schema: Any, root: Any) -> tuple[Any, str]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return (root["$defs"][name], name) if name else (schema, "")


def alternatives(schema: Any, root: Any) -> list[Any]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return [part for each in found for part in alternatives(resolved(each, root)[0], root)] if found else [schema]


def constants(schema: Any) -> dict[str, Any]:
    """What distinguishes one kind of object from another, such as type: distance."""
    fields = schema.get("properties", {}).items()
    return {name: spec["const"] for name, spec in fields if "const" in spec}


# Requests as 0.4.0's description of the protocol has them, bytes in hexadecimal; client 0x1122334455667788.
HELLO = (
    "96 01 a5 68 65 6c 6c 6f 01 cb 00 00 00 00 00 00 00 00 cf 11 22 33 44 55 66 77 88 81 a4 6e 61 6d 65 a4 64 65 6d 6f"
)
STEP = (
    "96 01 a4 73 74 65 70 03 cb 00 00 00 00 00 00 00 00 cf 11 22 33 44 55 66 77 88 "
    "93 0a c4 04 00 00 00 00 c4 08 00 00 00 00 00 00 f8 3f"
)


def test_messages_get_the_answers_of_then():
    simulation = lj.Simulation(lj.load(OLD / "torque_arm.yaml"))
    service = Service(simulation, Settings())
    hello = bytes(service.handle(bytes.fromhex(HELLO)))
    assert hello[:8] == bytes.fromhex("96 01 a5 68 65 6c 6c 6f")  # version 1, "hello"
    reply = bytes(service.handle(bytes.fromhex(STEP)))
    assert reply[:8] == bytes.fromhex("96 01 a5 73 74 61 74 65")  # version 1, "state"
    twin = lj.Simulation(lj.load(OLD / "torque_arm.yaml"))
    twin.command[twin.command_names[0]] = 1.5
    twin.step(10)
    assert np.frombuffer(reply, "<f8", simulation.system.nq, 50).tobytes() == twin.q.tobytes()
