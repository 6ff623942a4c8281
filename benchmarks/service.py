"""The feed with many clients: what publishing costs the rig, and how late a change arrives.

``python benchmarks/service.py [--clients 200] [--stalled 20] [--rate 60] [--seconds 20]``. A real server in a process
of its own publishes scenes and calls at a fixed rate; clients in another process read Server-Sent Events over loopback,
some of them not at all. Latency is from `publish` to the client's line, on one clock; the cost is of `publish` alone.
The same is measured without clients first: what clients add is the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import re
import socket
import time
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from no_rig import NoRig

from downfield.api.dependencies import AppContext
from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.core.field import preset
from downfield.game.commands import NewGame
from downfield.game.published.board_topics import FigureView, SceneView
from downfield.game.service import GameService
from downfield.game.store import Store
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service import Service

SCENES_PER_S = 15  # as the game service tells them; the rest of the rate are calls and states
WARM_S = 4.0
_SENT = re.compile(rb'"topic":"calls".*?"sent_ns":([1-9]\d+)')


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


def serve(pipe: Connection, folder: str, rate: float, seconds: float) -> None:
    """Serve, and publish when told to begin; tell what publishing cost, in seconds."""
    store, hub, picture = Store.at(Path(folder) / "games.db"), Hub(), LatestPicture()
    game_service = GameService(store, hub, NoRig(), preset("ultimate"), load_rulebook("tap"))
    game_service.start_game(NewGame())
    service = Service(AppContext(game_service, hub, picture, store), ServiceSettings(port=0))
    pipe.send(service.port)
    while pipe.recv() == "go":
        before_s = time.process_time()
        costs = _publish(hub, rate, seconds)
        pipe.send((costs, (time.process_time() - before_s) / seconds))
    service.end()
    game_service.close()


def _publish(hub: Hub, rate: float, seconds: float) -> list[float]:
    costs = []
    began, every = time.perf_counter(), max(1, round(rate / SCENES_PER_S))
    for number in range(round(rate * seconds)):
        time.sleep(max(0.0, began + number / rate - time.perf_counter()))
        value = scene(number) if number % every == 0 else {"sent_ns": 0, "text": "2nd & 7 at B 34" * 20}
        topic = "scene" if number % every == 0 else "calls"
        before = time.perf_counter()
        if isinstance(value, dict):
            value["sent_ns"] = time.time_ns()
        hub.publish(topic, value, full={})
        costs.append(time.perf_counter() - before)
    return costs


class Reader(asyncio.Protocol):
    """Reads a feed, and notes how late every message of the calls is; as little work as can be, to load nothing."""

    def __init__(self, late_ms: list[float]) -> None:
        self._late_ms = late_ms
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(b"GET /api/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def data_received(self, data: bytes) -> None:
        """Find the times that messages were published at."""
        now_ns = time.time_ns()
        told, mark, self._rest = (self._rest + data).rpartition(b"\n\n")
        self._late_ms += [(now_ns - int(sent)) / 1e6 for sent in _SENT.findall(told + mark)]


async def read(port: int, late_ms: list[float], until: float) -> None:
    """Read a feed until a time."""
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: Reader(late_ms), "127.0.0.1", port)
    await asyncio.sleep(max(0.0, until - time.time()))
    transport.close()


async def stall(port: int, until: float) -> None:
    """Open a feed and take nothing of it."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", port))
    await asyncio.get_running_loop().sock_sendall(plain, b"GET /api/feed HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await asyncio.sleep(max(0.0, until - time.time()))
    plain.close()


def clients(pipe: Connection, port: int, reading: int, stalled: int, seconds: float) -> None:
    """Open all feeds, say so, and tell how late the messages were, ms."""

    async def all_of_them() -> list[float]:
        late_ms: list[float] = []
        until = time.time() + WARM_S + seconds + 1.0
        tasks = [asyncio.create_task(read(port, late_ms, until)) for _ in range(reading)]
        tasks += [asyncio.create_task(stall(port, until)) for _ in range(stalled)]
        await asyncio.sleep(WARM_S)
        pipe.send("open")
        await asyncio.gather(*tasks)
        return late_ms

    pipe.send(asyncio.run(all_of_them()))


def main() -> None:
    """Measure, and say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=20)
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder:
        ours, theirs = context.Pipe()
        server = context.Process(target=serve, args=(theirs, folder, asked.rate, asked.seconds), daemon=True)
        server.start()
        port = ours.recv()
        ours.send("go")
        alone, alone_cpu = ours.recv()
        mine, other = context.Pipe()
        reading = asked.clients - asked.stalled
        reader = context.Process(target=clients, args=(other, port, reading, asked.stalled, asked.seconds), daemon=True)
        reader.start()
        mine.recv()
        ours.send("go")
        busy, busy_cpu = ours.recv()
        late_ms = np.array(mine.recv())
        ours.send("end")
        server.join(5)
    games = round(asked.rate * asked.seconds) - len(range(0, round(asked.rate * asked.seconds), round(asked.rate / 15)))
    crowd = f"{asked.clients} clients, {asked.stalled} stalled"
    for name, taken, cpu in (("no client", alone, alone_cpu), (crowd, busy, busy_cpu)):
        costs = np.array(taken)
        p50, p99 = np.percentile(costs * 1e6, [50, 99])
        told = f"p50 {p50:.0f} us, p99 {p99:.0f} us, worst {costs.max() * 1e3:.1f} ms"
        print(f"publish with {name}: {told}; the server took {cpu:.0%} of a core")
    p50, p99 = np.percentile(late_ms, [50, 99])
    share = len(late_ms) / (reading * games)
    print(f"delivery to {reading} clients at {asked.rate:g}/s: p50 {p50:.1f} ms, p99 {p99:.1f} ms, {share:.1%} arrived")


if __name__ == "__main__":
    main()
