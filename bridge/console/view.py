"""The 3-D view in the web console: its scene, its meshes and its stream of poses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from limberjack.bridge.console.scene import poses_of, scene_of
from limberjack.bridge.scene.drawing import MEDIA, Drawing
from limberjack.bridge.scene.poses import Poses
from limberjack.bridge.telemetry.sample import Sample

if TYPE_CHECKING:
    from limberjack.bridge.console.live import Live
    from limberjack.bridge.telemetry.session import Session


class View:
    """What the page /view asks for, of one model."""

    def __init__(self, session: Session) -> None:
        self._system, self._poses = session.system, Poses(session)
        self._made: asyncio.Task[tuple[str, list[Path]]] | None = None

    def add_to(self, app: web.Application, live: Live) -> None:
        """Register the handlers, and the stream that browsers ask for by name."""
        app.router.add_get("/api/scene", self._serve_scene)
        app.router.add_get("/api/mesh/{place:[0-9]{1,6}}", self._serve_mesh)
        live.streams["poses"] = self.poses

    def poses(self, sample: Sample) -> dict[str, Any]:
        """Content of a message of the stream."""
        return poses_of(self._poses.at(sample))

    async def _scene(self) -> tuple[str, list[Path]]:
        """The scene's JSON and its mesh files, made once, beside the event loop: large models take a second."""
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._made)

    def _make(self) -> tuple[str, list[Path]]:
        content, files = scene_of(Drawing(self._system))
        return json.dumps(content, separators=(",", ":"), allow_nan=False), files

    async def _serve_scene(self, _: web.Request) -> web.Response:
        reply = web.Response(text=(await self._scene())[0], content_type="application/json")
        reply.enable_compression()
        return reply

    async def _serve_mesh(self, request: web.Request) -> web.StreamResponse:
        """Only files that the model names as meshes."""
        _, files = await self._scene()
        place = int(request.match_info["place"])
        if place >= len(files):
            raise web.HTTPNotFound(text=f"The model has {len(files)} meshes; mesh {place} does not exist.")
        path = files[place]
        return web.FileResponse(path, headers={"Content-Type": MEDIA[path.suffix.lower()]})
