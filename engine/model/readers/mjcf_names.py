"""Names of a compiled MJCF model: made where the file has none, changed where two kinds share one."""

from __future__ import annotations

from typing import Any

from limberjack.engine.common.names import free_name


class Place:
    """Where a thing is in an MJCF file. MuJoCo's compiled model has names, but no lines."""

    def __init__(self, source: str) -> None:
        self._source = source

    def of(self, kind: str, name: str) -> str:
        """The place of a thing."""
        return f"{self._source}, {kind} '{name}'"


class Names:
    """Names by MuJoCo's numbers. Bodies and sites share a namespace, as do joints and welds.

    ``changed`` lists, one text each, the names that differ from the file's.
    """

    def __init__(self, model: Any, mujoco: Any) -> None:
        self._model, self._kinds, self._read = model, mujoco.mjtObj, mujoco.mj_id2name
        self.changed: list[str] = []
        self._frames: set[str] = set()
        self._hinges: set[str] = set()
        self._drives: set[str] = set()
        self._loops: set[str] = set()
        self._shapes: set[str] = set()
        self._contacts: set[str] = set()
        bodies = range(model.nbody)
        self._bodies = {i: self._take("BODY", i, f"body_{i}", self._frames) for i in bodies if i}
        self._joints = {j: self._take("JOINT", j, self._joint_name(j), self._hinges) for j in range(model.njnt)}
        self._sites = {i: self._take("SITE", i, f"site_{i}", self._frames) for i in range(model.nsite)}
        self._tendons: dict[int, str] = {}  # only those that are asked for take a name
        self._geoms = {i: self._take("GEOM", i, f"geom_{i}", self._shapes) for i in range(model.ngeom)}

    def model(self, default: str) -> str:
        """The model's name, which MuJoCo stores first; "MuJoCo Model" is its default for none."""
        name = bytes(self._model.names).split(b"\0", 1)[0].decode(errors="replace").strip()
        return default if name in ("", "MuJoCo Model") else name

    def body(self, index: int) -> str:
        """Name of body ``index`` ≥ 1."""
        return self._bodies[index]

    def joint(self, index: int) -> str:
        """Name of a joint."""
        return self._joints[index]

    def site(self, index: int) -> str:
        """Name of a site's node."""
        return self._sites[index]

    def tendon(self, index: int) -> str:
        """Name of the hinge whose coordinate is a tendon's length."""
        if index not in self._tendons:
            self._tendons[index] = self._take("TENDON", index, f"tendon_{index}", self._hinges)
        return self._tendons[index]

    def slider(self, tendon: int) -> str:
        """Name for the massless body on that hinge."""
        return free_name(self.tendon(tendon), self._frames)

    def tendon_loop(self, tendon: int) -> str:
        """Name for the loop that keeps it at the tendon's length."""
        return free_name(self.tendon(tendon), self._loops)

    def geom(self, index: int) -> str:
        """Name of a geom's shape."""
        return self._geoms[index]

    def pair(self, first: int, second: int) -> str:
        """Name of the <pair> of two geoms, "" if there is none or it has no name."""
        model = self._model
        for k in range(model.npair):
            if {int(model.pair_geom1[k]), int(model.pair_geom2[k])} == {first, second}:
                return (self._read(model, int(self._kinds.mjOBJ_PAIR), k) or "").strip()
        return ""

    def contact(self, index: int, pair: str = "") -> str:
        """Name of a contact: of its <pair>, else of its geom, with a number behind it where that has several laws."""
        return free_name(pair or self._geoms[index], self._contacts)

    def actuator(self, index: int, joint: str) -> str:
        """Name of an actuator; its joint's if the file gives none."""
        return self._take("ACTUATOR", index, joint, self._drives)

    def equality(self, index: int) -> str:
        """Name of an equality constraint's loop."""
        return self._take("EQUALITY", index, f"equality_{index}", self._loops)

    def weld(self, body: str) -> str:
        """Name for the fixed hinge of a body without joints."""
        return free_name(body, self._hinges)

    def between(self, body: str, joint: str) -> str:
        """Name for the massless body that ``joint`` moves, one of several joints of ``body``."""
        return free_name(f"{body}_after_{joint}", self._frames)

    def _joint_name(self, index: int) -> str:
        owner = int(self._model.jnt_bodyid[index])
        suffix = f"_{index - int(self._model.body_jntadr[owner]) + 1}" if self._model.body_jntnum[owner] > 1 else ""
        return f"{self._bodies[owner]}_joint{suffix}"

    def _take(self, kind: str, index: int, default: str, taken: set[str]) -> str:
        given = self._read(self._model, int(getattr(self._kinds, f"mjOBJ_{kind}")), index)
        wanted = (given or "").strip() or default
        name = wanted if wanted not in taken else f"{wanted}_{kind.lower()}"
        name = free_name(name, taken)
        if given and name != given:
            self.changed.append(f"{kind.lower()} '{given}' is called '{name}', because the name is in use")
        return name
