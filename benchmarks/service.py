"""The feed with many clients: what publishing costs the rig, and how late a message arrives.

``python benchmarks/service.py [--clients 200] [--stalled 20] [--rate 60] [--seconds 20]``. A server process publishes
scenes and calls at a fixed rate, and before each does a little work as the vision does for a frame. Clients in another
process read Server-Sent Events over loopback; some never read. Latency is from `publish` to the client, on one clock.
Work and publishing are measured without clients first. ``--no-relay`` serves all clients in the server process.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import re
import socket
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from no_rig import NoRig

from downfield.api.context.context import RigParts
from downfield.api.feed import relay
from downfield.broadcast.latest_picture import LatestPicture
from downfield.core.field.model import preset
from downfield.game.published.board_topics import FigureView, SceneView
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service.web_service import Service
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

SCENES_PER_S = 15  # as the rig publishes them; the rest of the rate are calls
CONNECT_S = 4.0  # for all clients to connect
WORK_STEPS = 40_000  # about 2 ms of Python
_SENT = re.compile(rb'"topic":"calls".*?"sent_ns":([1-9]\d+)')

Costs = tuple[list[float], list[float], float]
"""Seconds of work per message, seconds per `publish`, and the share of a core the process took."""


def scene(frame: int) -> SceneView:
    """A scene of 22 figures."""
    figures = tuple(
        FigureView(
            id=f"dark-{n}", jersey="dark", x_yd=n * 4.11, y_yd=20.5, x_mm=n * 41.1, y_mm=223.4, heading=12.5,
            posture="upright", sigma_mm=0.21, sure=True,
        )
        for n in range(22)
    )  # fmt: skip
    return SceneView(frame=frame, t_ns=time.time_ns(), board="on", figures=figures)


def serve(pipe: Connection, folder: str, rate: float, seconds: float, use_relay: bool) -> None:
    """Serve; publish whenever "go" comes, and send what it cost."""
    if not use_relay:
        relay.RELAY_LIMITS = replace(relay.RELAY_LIMITS, local_subscribers=10_000)  # type: ignore[misc]
    store, hub, picture = Store.at(Path(folder) / "games.db"), Hub(), LatestPicture()
    game_service = GameService(StoredJournals(store), hub, NoRig(), preset("ultimate"), load_rulebook())
    game_service.start_game(NewGame())
    service = Service(RigParts(game_service, hub, picture, store), ServiceSettings(port=0), Path(folder))
    pipe.send(service.port)
    while pipe.recv() == "go":
        pipe.send(_publish(hub, rate, seconds))
    service.close()
    game_service.close()


def _publish(hub: Hub, rate: float, seconds: float) -> Costs:
    work, publishing = [], []
    cpu_s, began, every = time.process_time(), time.perf_counter(), max(1, round(rate / SCENES_PER_S))
    for number in range(round(rate * seconds)):
        time.sleep(max(0.0, began + number / rate - time.perf_counter()))
        start = time.perf_counter()
        sum(step * step % 7 for step in range(WORK_STEPS))
        work.append(time.perf_counter() - start)
        is_scene = number % every == 0
        value = scene(number) if is_scene else {"sent_ns": time.time_ns(), "text": "2nd & 7 at B 34" * 20}
        start = time.perf_counter()
        hub.publish("scene" if is_scene else "calls", value, full={})
        publishing.append(time.perf_counter() - start)
    return work, publishing, (time.process_time() - cpu_s) / seconds


class Reader(asyncio.Protocol):
    """Reads a feed and notes the latency of every call, with as little work as possible."""

    def __init__(self, latencies_ms: list[float]) -> None:
        self._latencies_ms = latencies_ms
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(b"GET /api/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def data_received(self, data: bytes) -> None:
        """Find the times at which messages were published."""
        now_ns = time.time_ns()
        events, end, self._rest = (self._rest + data).rpartition(b"\n\n")
        self._latencies_ms += [(now_ns - int(sent_ns)) / 1e6 for sent_ns in _SENT.findall(events + end)]


async def read(port: int, latencies_ms: list[float], until: float) -> None:
    """Read a feed until a time."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: Reader(latencies_ms), "127.0.0.1", port)
    await asyncio.sleep(max(0.0, until - time.time()))
    transport.close()


async def stall(port: int, until: float) -> None:
    """Open a feed and read nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    await asyncio.get_running_loop().sock_sendall(connection, b"GET /api/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await asyncio.sleep(max(0.0, until - time.time()))
    connection.close()


def clients(pipe: Connection, port: int, reading: int, stalled: int, seconds: float) -> None:
    """Open all feeds, report that, and send the latencies in ms at the end."""

    async def run_all() -> list[float]:
        latencies_ms: list[float] = []
        until = time.time() + CONNECT_S + seconds + 1.0
        tasks = [asyncio.create_task(read(port, latencies_ms, until)) for _ in range(reading)]
        tasks += [asyncio.create_task(stall(port, until)) for _ in range(stalled)]
        await asyncio.sleep(CONNECT_S)
        pipe.send("open")
        await asyncio.gather(*tasks)
        return latencies_ms

    pipe.send(asyncio.run(run_all()))


def report(name: str, costs: Costs) -> None:
    """Print what a run cost."""
    work, publishing, cpu = costs
    work_p50, work_p99 = np.percentile(np.array(work) * 1e3, [50, 99])
    p50, p99 = np.percentile(np.array(publishing) * 1e6, [50, 99])
    print(
        f"{name}: publish p50 {p50:.0f} us, p99 {p99:.0f} us; work p50 {work_p50:.1f} ms, p99 {work_p99:.1f} ms; "
        f"{cpu:.0%} of a core"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=20)
    parser.add_argument("--rate", type=float, default=60.0, help="messages per second")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--no-relay", action="store_true")
    options = parser.parse_args()
    rate, seconds, reading = options.rate, options.seconds, options.clients - options.stalled
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder:
        to_server, server_end = context.Pipe()
        server_options = (server_end, folder, rate, seconds, not options.no_relay)
        server = context.Process(target=serve, args=server_options, daemon=True)
        server.start()
        port = to_server.recv()
        to_server.send("go")
        alone = to_server.recv()
        to_clients, clients_end = context.Pipe()
        reader_options = (clients_end, port, reading, options.stalled, seconds)
        context.Process(target=clients, args=reader_options, daemon=True).start()
        to_clients.recv()
        to_server.send("go")
        busy = to_server.recv()
        latencies_ms = np.array(to_clients.recv())
        to_server.send("end")
        server.join(5)
    report("no clients", alone)
    report(f"{options.clients} clients, {options.stalled} stalled", busy)
    messages = round(rate * seconds)
    calls = messages - len(range(0, messages, max(1, round(rate / SCENES_PER_S))))
    p50, p99 = np.percentile(latencies_ms, [50, 99])
    share = len(latencies_ms) / (reading * calls)
    print(f"latency to {reading} clients at {rate:g}/s: p50 {p50:.1f} ms, p99 {p99:.1f} ms; {share:.1%} arrived")


if __name__ == "__main__":
    main()
