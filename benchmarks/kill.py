"""Kill a process that runs a game, at random moments, and check that nothing acknowledged is lost.

``python benchmarks/kill.py --kills 100``. A process plays the bundled recording over and over through a game service
and writes what was acknowledged to its output. It is killed with SIGKILL. Then its store is opened, every acknowledged
entry is looked up, the hash chain verified, and the game resumed: it must lead to the state and calls in the journal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from no_rig import NoRig

from downfield.api.feed.hub import Hub
from downfield.core.scene import Scene
from downfield.game.commands import NewGame
from downfield.game.history import History
from downfield.game.journal import verify_journal
from downfield.game.receipts import Accepted, Receipt, Submission
from downfield.game.service import GameService
from downfield.game.store import Store
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.recording.clip import bundled_demo, open_clip

FASTER = 20.0  # than life, so that a kill falls anywhere in a play
ALIVE_S = 3.0  # at most, before the kill
PAUSE_NS = 2_000_000_000  # between two showings


def desk_on(store: Store) -> GameService:
    """A game_service for the bundled recording."""
    field = open_clip(bundled_demo()).tracks.header.field
    return GameService(store, Hub(), NoRig(), field, load_rulebook("tap"))


def write(path: Path, tell: TextIO) -> None:
    """Play without an end, and say what is acknowledged."""
    recording = open_clip(bundled_demo())
    both: list[Scene | Event] = [*recording.events, *recording.tracks]
    entries = sorted(both, key=lambda entry: (entry.t_ns, isinstance(entry, Scene)))
    game_service = desk_on(Store.at(path))
    if game_service.resume() is None:
        game_service.start_game(NewGame(title="kill"), recording.tracks.header.players)
    tell.write("{}\n")
    while True:
        offset_ns = game_service.now_ns + PAUSE_NS
        before_ns = 0
        for entry in entries:
            time.sleep(max(0.0, (entry.t_ns - before_ns) / 1e9 / FASTER))
            before_ns = entry.t_ns
            if isinstance(entry, Scene):
                game_service.take(_shifted(entry, offset_ns))
            elif not isinstance(entry.body, Ruling | Undo | Tick):
                _tell(tell, game_service.declare(entry.body, Submission(key=f"{offset_ns}-{entry.id}")))
        tackle = next((call for call in reversed(game_service.calls()) if call.kind == "tackle"), None)
        if tackle is not None:
            struck = game_service.rule(Ruling(tackle.id, "strike"), Submission(key=f"{offset_ns}-strike"))
            _tell(tell, struck)
            if isinstance(struck, Accepted):
                _tell(tell, game_service.undo(struck.event, Submission(key=f"{offset_ns}-undo")))


def _tell(tell: TextIO, receipt: Receipt) -> None:
    if isinstance(receipt, Accepted) and receipt.saved:
        tell.write(json.dumps({"seq": receipt.seq, "digest": receipt.digest}) + "\n")


def _shifted(scene: Scene, by_ns: int) -> Scene:
    contacts = tuple(
        contact if contact.since_ns is None else replace(contact, since_ns=contact.since_ns + by_ns)
        for contact in scene.contacts
    )
    return replace(scene, t_ns=scene.t_ns + by_ns, contacts=contacts)


def killed(path: Path, alive_s: float, *, ready: bool) -> list[tuple[int, str]]:
    """Let a writer live for a while, from its start or from when it is ready, and kill it.

    Returns:
        Number and digest of every entry it acknowledged.

    """
    reading, writing = os.pipe()
    child = os.fork()  # not a fresh interpreter: importing would take longer than living
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w", buffering=1) as tell:
            write(path, tell)
        os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        if ready and not told.readline():
            raise RuntimeError("the writer ended by itself")
        time.sleep(alive_s)
        os.kill(child, signal.SIGKILL)
        whole = [json.loads(line) for line in told.read().splitlines() if line.endswith('"}')]
    os.waitpid(child, 0)
    return [(one["seq"], one["digest"]) for one in whole]


def faults(path: Path, acknowledged: dict[int, str]) -> list[str]:
    """What is wrong with a store after a kill: nothing, one hopes."""
    store = Store.at(path)
    games = store.games(limit=1)
    if not games:
        store.close()
        return ["an acknowledged game is lost"] if acknowledged else []
    row = games[0]
    digests = {entry.seq: entry.digest for entry in store.entries(row.id, attachments=False)}
    lost = [seq for seq, digest in acknowledged.items() if digests.get(seq) != digest]
    found = [f"{len(lost)} acknowledged entries are lost: {lost[:5]}"] if lost else []
    verified = verify_journal(row.id, store.entries(row.id))
    if verified.problem:
        found.append(verified.problem)
    told = History(store, row)
    game_service = desk_on(store)
    if game_service.resume() != row.id:
        found.append("the game was not resumed")
    if game_service.text != told.text:
        found.append(f"resumed as {game_service.text!r}, not {told.text!r}")
    resumed = [(call.id, call.text) for call in game_service.calls()]
    if resumed != [(call.id, call.text) for call in told.calls()]:
        found.append("the calls resumed are not those of the journal")
    game_service.close()
    store.close()
    return found


def main() -> int:
    """Kill, look, and say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--games", type=int, default=10, help="kills of one game before the next is begun")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    faulty, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        acknowledged: dict[int, str] = {}
        for kill in range(asked.kills):
            path = Path(folder) / f"{kill // asked.games}.db"
            if kill % asked.games == 0:
                acknowledged = {}
            told = killed(path, chance.uniform(0.0, ALIVE_S), ready=chance.random() > 0.1)
            acknowledged |= dict(told)
            count += len(told)
            for fault in faults(path, acknowledged):
                faulty += 1
                print(f"kill {kill + 1}: {fault}", flush=True)
    print(f"{asked.kills} kills, {count} acknowledged entries, {faulty} faults")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
