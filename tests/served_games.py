"""A service in a process of its own for tests and benchmarks: it plays the bundled recording through a game service.

Run as ``python tests/served_games.py STORE [--lan] [--hold]``: prints its address, then plays.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import uvicorn
from waiting import WAIT_S, wait_until

from downfield.api.app import create_app
from downfield.api.context.access_control import access_control_of
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits
from downfield.broadcast.latest_picture import LatestPicture
from downfield.calibration.calibration import Calibration
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.errors import RefusedError
from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthStatus, SourceStatus
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame, RigCommand, Settings, UseCalibration
from downfield.game.service import GameService
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


class FakeRig:
    """Carries out commands by saying so."""

    def __init__(self, calibration: Calibration | None) -> None:
        self._calibration = calibration

    def do(self, command: RigCommand) -> str:
        if isinstance(command, UseCalibration):
            self._calibration = command.calibration
        if command.command == "find_figures":
            raise RefusedError("a recording's figures are known")
        return f"{command.command} done"

    def calibration(self) -> Calibration | None:
        return self._calibration

    def settings(self) -> Settings:
        return Settings(version="test", values={"camera": {"source": "demo"}}, origins={})


@dataclass(frozen=True, slots=True)
class Served:
    """A running service."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def served(store: Path, *options: str) -> Iterator[Served]:
    """A service in a process of its own, ended afterwards."""
    command = [sys.executable, str(Path(__file__)), str(store), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if found := ADDRESS.search(line):
                yield Served(found[0], process)
                break
        else:
            raise AssertionError("".join(lines))
    finally:
        process.terminate()
        process.wait(WAIT_S)
        process.stdout.close()


def play(
    game_service: GameService,
    journals: StoredJournals,
    hub: Hub,
    picture: LatestPicture,
    stop: threading.Event,
    *,
    paced: bool,
) -> None:
    """Play the bundled recording once, until all of it is stored, then keep publishing the rig's health."""
    recording = open_clip(bundled_demo())
    entries: list[Scene | Event] = [*recording.events, *recording.tracks]
    blank = cv2.imencode(".jpg", np.zeros((90, 160, 3), np.uint8))[1].tobytes()
    began = time.monotonic()
    for entry in sorted(entries, key=lambda entry: (entry.t_ns, isinstance(entry, Scene))):
        if stop.is_set():
            return
        if paced:
            stop.wait(max(0.0, began + entry.t_ns / 1e9 - time.monotonic()))
        try:
            game_service.take(entry)
        except RefusedError as error:
            sys.stdout.write(f"refused: {error}\n")
        if isinstance(entry, Scene) and entry.frame % 10 == 0:
            picture.put(blank)
            game_service.publish_health(HealthStatus(text="playing", fps=30.0, frames=entry.frame))
    wait_until(lambda: stop.is_set() or not journals._writer._storing.waiting, "the entries are not stored")
    hub.publish("notice", {"level": "info", "text": "played"})
    while not stop.wait(1.0):
        game_service.publish_health(HealthStatus(text="the recording is over"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=Path)
    parser.add_argument("--lan", action="store_true")
    parser.add_argument("--mistrust", action="store_true")
    parser.add_argument("--paced", action="store_true")
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("--unlimited", action="store_true")
    options = parser.parse_args()
    store, hub, picture, stop = Store.at(options.store), Hub(), LatestPicture(), threading.Event()
    recording = open_clip(bundled_demo())
    machine = FakeRig(recording.calibration)
    journals = StoredJournals(store)
    game_service = GameService(journals, hub, machine, recording.tracks.header.field, load_rulebook("tap"))
    resumed = game_service.resume()
    if resumed is None:
        game_service.start_game(NewGame(title="demo"), recording.tracks.header.players)
    game_service.publish_source(SourceStatus(kind="clip", name="demo", text="the bundled recording"))
    often = RateLimit(1e9, 10**9)
    limits = RateLimits(often, often, often) if options.unlimited else RateLimits()
    access = AccessPolicy(lan=options.lan, trust_local=not options.mistrust, limits=limits)
    app = create_app(RigParts(game_service, hub, picture, store), access)
    if options.mistrust:
        sys.stdout.write(f"admin code {access_control_of(app).token_store.make_code('admin').code}\n")
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="off")
    server = uvicorn.Server(config)
    playing = threading.Thread(
        target=play, args=(game_service, journals, hub, picture, stop), kwargs={"paced": options.paced}, daemon=True
    )
    if not options.hold and resumed is None:
        playing.start()
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    server.run(sockets=[listening])
    stop.set()
    hub.close()
    picture.close()
    game_service.close()
    store.close()


if __name__ == "__main__":
    main()
