"""The 3-D view in the web console: its scene, its meshes and its stream of poses."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from limberjack.bridge.console.scene import Poses, Scene
from limberjack.bridge.telemetry.sample import Sample

if TYPE_CHECKING:
    from limberjack.bridge.console.live import Live
    from limberjack.bridge.telemetry.session import Session

_MEDIA = {".stl": "model/stl", ".obj": "model/obj", ".dae": "model/vnd.collada+xml"}


class View:
    """What the page /view asks for, of one model."""

    def __init__(self, session: Session) -> None:
        self._system, self._mirror = session.system, session.mirror
        self._groups = session.dictionary.groups
        self._poses = Poses(session.system)
        self._made: asyncio.Task[tuple[Scene, str]] | None = None

    def add_to(self, app: web.Application, live: Live) -> None:
        """Register the handlers, and the stream that browsers ask for by name."""
        app.router.add_get("/api/scene", self._serve_scene)
        app.router.add_get("/api/mesh/{place:[0-9]{1,6}}", self._serve_mesh)
        live.streams["poses"] = self.poses

    def poses(self, sample: Sample) -> dict[str, Any]:
        """Content of a message of the stream (`scene.Poses`)."""
        q, v, command = (
            sample.vector[self._groups[name]] if name in self._groups else sample.vector[:0]
            for name in ("q", "v", "command")
        )
        return self._poses.content(self._mirror.survey(q, v), q, command)

    async def _scene(self) -> tuple[Scene, str]:
        """The scene and its JSON, made once and beside the event loop: surfaces of large models take a second."""
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._made)

    def _make(self) -> tuple[Scene, str]:
        scene = Scene(self._system)
        return scene, json.dumps(scene.content, separators=(",", ":"), allow_nan=False)

    async def _serve_scene(self, _: web.Request) -> web.Response:
        reply = web.Response(text=(await self._scene())[1], content_type="application/json")
        reply.enable_compression()
        return reply

    async def _serve_mesh(self, request: web.Request) -> web.StreamResponse:
        """Only files that the model names as meshes."""
        scene, _ = await self._scene()
        place = int(request.match_info["place"])
        if place >= len(scene.meshes):
            raise web.HTTPNotFound(text=f"The model has {len(scene.meshes)} meshes; there is no mesh {place}.")
        path = scene.meshes[place]
        return web.FileResponse(path, headers={"Content-Type": _MEDIA[path.suffix.lower()]})
