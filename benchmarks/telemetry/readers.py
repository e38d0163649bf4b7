"""Many readers in one process: of the engine's own stream, of PlotJuggler's, of packets, and browsers' WebSockets.

The first of each kind notes what comes when. One of each is frozen: it connects and never reads. One of each comes
and goes twice a second.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket as network
import threading
import time
from typing import Any

import msgpack  # type: ignore[import-untyped]
import zmq

from limberjack.bridge.messages import decode
from limberjack.bridge.telemetry.ccsds.packets import HOUSEKEEPING, TELEMETRY_HEADER_BYTES
from limberjack.bridge.telemetry.ccsds.sets import DATA_HEADER

_COME_AND_GO_S = 0.5
_SERVICE_AT = 7  # of the service type in a packet


def readers(job: dict[str, Any]) -> None:
    """Job: topics, plotjuggler and console (address, count), ccsds (port, the engine's rate), cpus, out."""
    from benchmarks.telemetry.parts import Notes

    os.sched_setaffinity(0, job["cpus"])
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    notes = {name: Notes(2) for name in ("topics", "plotjuggler", "console", "ccsds")}
    threads = [
        threading.Thread(target=_subscribers, args=(*job[name], notes[name], ended))
        for name in ("topics", "plotjuggler")
        if job[name][1]
    ]
    if job["console"][1]:
        threads.append(threading.Thread(target=_browsers, args=(*job["console"], notes["console"], ended)))
    if job["ccsds"][0]:
        threads.append(threading.Thread(target=_packets, args=(*job["ccsds"], notes["ccsds"], ended)))
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    for thread in threads:
        thread.join()
    for name, found in notes.items():
        found.save(f"{job['out']}.{name}.npy")


def _subscribers(address: str, count: int, notes: Any, ended: threading.Event) -> None:
    """ZeroMQ readers of topics."""
    context, poller = zmq.Context(), zmq.Poller()
    sockets = [_subscriber(context, address) for _ in range(count)]
    first, coming = sockets[0], sockets[-1]
    for socket in sockets if count == 1 else [*sockets[:-2], coming]:
        poller.register(socket, zmq.POLLIN)
    due = time.monotonic() + _COME_AND_GO_S
    while not ended.is_set():
        for socket, _ in poller.poll(100):
            frames = socket.recv_multipart()
            if socket is first:
                _note(frames, notes)
        if count > 1 and time.monotonic() > due:
            poller.unregister(coming)
            coming.close()
            coming = _subscriber(context, address)
            poller.register(coming, zmq.POLLIN)
            due = time.monotonic() + _COME_AND_GO_S
    context.destroy(linger=0)


def _subscriber(context: zmq.Context, address: str) -> zmq.Socket:
    socket: zmq.Socket = context.socket(zmq.SUB)
    socket.linger = 0
    socket.subscribe(b"")
    socket.connect(address)
    return socket


def _note(frames: list[bytes], notes: Any) -> None:
    """The engine's step in a message of the engine's stream or of PlotJuggler's."""
    now = time.monotonic_ns()
    if len(frames) == 3:
        notes.add(int(msgpack.unpackb(frames[1])["engine"]["step"]), now)
    elif frames[0] == b"state":
        notes.add(decode(frames[1]).body[0], now)


def _packets(port: int, rate: float, notes: Any, ended: threading.Event) -> None:
    """Packets over UDP; the simulated time in their data identifies the engine's step."""
    with network.socket(network.AF_INET, network.SOCK_DGRAM) as socket:
        socket.bind(("127.0.0.1", port))
        socket.settimeout(0.1)
        while not ended.is_set():
            try:
                packet = socket.recv(65536)
            except TimeoutError:
                continue
            now = time.monotonic_ns()
            if packet[_SERVICE_AT] == HOUSEKEEPING:
                simulated = DATA_HEADER.unpack_from(packet, TELEMETRY_HEADER_BYTES)[-1]
                notes.add(round(simulated * rate), now)


def _browsers(address: str, count: int, notes: Any, ended: threading.Event) -> None:
    """WebSockets that ask for all that a display of a few plots asks for."""
    asyncio.run(_all_browsers(address, count, notes, ended))


async def _all_browsers(address: str, count: int, notes: Any, ended: threading.Event) -> None:
    tasks = [asyncio.create_task(_browser(address, notes, 0.0))]
    if count > 1:
        tasks += [asyncio.create_task(_browser(address, None, 0.0)) for _ in range(count - 3)]
        tasks += [asyncio.create_task(_frozen(address)), asyncio.create_task(_browser(address, None, _COME_AND_GO_S))]
    while not ended.is_set():
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _browser(address: str, notes: Any, stay_s: float) -> None:
    """stay_s : connection after which it comes again; 0: it stays"""
    import aiohttp

    async with aiohttp.ClientSession() as session:
        while True:
            async with session.ws_connect(f"{address}/api/live") as socket:
                await socket.send_json({"kind": "subscribe", "ids": ["engine.step", "energy.total", "time"]})
                leave = time.monotonic() + stay_s if stay_s else float("inf")
                async for message in socket:
                    now = time.monotonic_ns()
                    content = message.json()
                    if notes is not None and content["kind"] == "samples":
                        notes.add(int(content["values"]["engine.step"][-1][1]), now)
                    if time.monotonic() > leave:
                        break


async def _frozen(address: str) -> None:
    """Connects, asks for everything, never reads."""
    import aiohttp

    async with aiohttp.ClientSession() as session, session.ws_connect(f"{address}/api/live") as socket:
        await socket.send_json({"kind": "subscribe", "ids": ["engine.step", "energy.total", "time"]})
        await asyncio.sleep(1e6)
