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

from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.scene import Scene
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Receipt, Submission
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

SPEED_UP = 20.0
"""Of the recording, so that a kill falls at any moment of a play."""

MAX_LIFETIME_S = 3.0
"""Of a process, before it is killed."""

PAUSE_NS = 2_000_000_000
"""Between two runs of the recording."""


def service_on(store: Store) -> GameService:
    """Return a game service for the bundled recording."""
    field = open_clip(bundled_demo()).tracks.header.field
    return GameService(StoredJournals(store), Hub(), NoRig(), field, load_rulebook())


def write(path: Path, output: TextIO) -> None:
    """Play without end, and write what is acknowledged."""
    recording = open_clip(bundled_demo())
    both: list[Scene | Event] = [*recording.events, *recording.tracks]
    entries = sorted(both, key=lambda entry: (entry.t_ns, isinstance(entry, Scene)))
    service = service_on(Store.at(path))
    if service.resume() is None:
        service.start_game(NewGame(title="kill"), recording.tracks.header.players)
    output.write("{}\n")
    while True:
        offset_ns = service.now_ns + PAUSE_NS
        before_ns = 0
        for entry in entries:
            time.sleep(max(0.0, (entry.t_ns - before_ns) / 1e9 / SPEED_UP))
            before_ns = entry.t_ns
            if isinstance(entry, Scene):
                service.take(_shifted(entry, offset_ns))
            elif not isinstance(entry.body, Ruling | Undo | Tick):
                _acknowledge(output, service.declare(entry.body, Submission(key=f"{offset_ns}-{entry.id}")))
        tackle = next((call for call in reversed(service.calls()) if call.kind == "tackle"), None)
        if tackle is not None:
            struck = service.rule(Ruling(tackle.id, "strike"), Submission(key=f"{offset_ns}-strike"))
            _acknowledge(output, struck)
            if isinstance(struck, Accepted):
                _acknowledge(output, service.undo(struck.event, Submission(key=f"{offset_ns}-undo")))


def _acknowledge(output: TextIO, receipt: Receipt) -> None:
    if isinstance(receipt, Accepted) and receipt.saved:
        output.write(json.dumps({"seq": receipt.seq, "digest": receipt.digest}) + "\n")


def _shifted(scene: Scene, by_ns: int) -> Scene:
    contacts = tuple(
        contact if contact.since_ns is None else replace(contact, since_ns=contact.since_ns + by_ns)
        for contact in scene.contacts
    )
    return replace(scene, t_ns=scene.t_ns + by_ns, contacts=contacts)


def run_and_kill(path: Path, lifetime_s: float, *, ready: bool) -> dict[int, str]:
    """Let a process write for a while, from its start or from when it is ready, and kill it.

    Returns:
        The digest of every entry it acknowledged, by number.
    """
    read_end, write_end = os.pipe()
    child = os.fork()  # a fresh interpreter would spend its life importing
    if child == 0:
        os.close(read_end)
        with os.fdopen(write_end, "w", buffering=1) as output:
            write(path, output)
        os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end) as lines:
        if ready and not lines.readline():
            raise RuntimeError("the writer ended by itself")
        time.sleep(lifetime_s)
        os.kill(child, signal.SIGKILL)
        acknowledged = [json.loads(line) for line in lines.read().splitlines() if line.endswith('"}')]
    os.waitpid(child, 0)
    return {entry["seq"]: entry["digest"] for entry in acknowledged}


def find_faults(path: Path, acknowledged: dict[int, str]) -> list[str]:
    """Return what is wrong with a store after a kill."""
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
    history = History(store, row)
    service = service_on(store)
    if service.resume() != row.id:
        found.append("the game was not resumed")
    if service.text != history.text:
        found.append(f"resumed as {service.text!r}, not {history.text!r}")
    resumed = [(call.id, call.text) for call in service.calls()]
    if resumed != [(call.id, call.text) for call in history.calls()]:
        found.append("the calls of the resumed game are not those of the journal")
    service.close()
    store.close()
    return found


def main() -> int:
    """Kill, check and print the faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--games", type=int, default=10, help="kills of one game before the next is started")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    faulty, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        acknowledged: dict[int, str] = {}
        for kill in range(options.kills):
            path = Path(folder) / f"{kill // options.games}.db"
            if kill % options.games == 0:
                acknowledged = {}
            fresh = run_and_kill(path, chance.uniform(0.0, MAX_LIFETIME_S), ready=chance.random() > 0.1)
            acknowledged |= fresh
            count += len(fresh)
            for fault in find_faults(path, acknowledged):
                faulty += 1
                print(f"kill {kill + 1}: {fault}", flush=True)
    print(f"{options.kills} kills, {count} acknowledged entries, {faulty} faults")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
