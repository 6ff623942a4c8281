"""How long resuming a game takes, with a checkpoint and without: ``python benchmarks/resume.py [--minutes 60]``.

Plays the bundled recording again and again into a store, with a pause between plays as at a table, then resumes the
game as a rig does at its start. Both ways must lead to the same game.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from kill import _shifted
from no_rig import NoRig

from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.scene import Scene
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.journals import CheckpointFile, StoredJournals
from downfield.store.writing.store import Store

PAUSE_NS = 20_000_000_000
"""Between two plays."""


def main() -> None:
    """Print how long it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="of the game")
    minutes: float = parser.parse_args().minutes
    recording = open_clip(bundled_demo())
    both: list[Scene | Event] = [*recording.events, *recording.tracks]
    entries = sorted(both, key=lambda entry: (entry.t_ns, isinstance(entry, Scene)))
    with tempfile.TemporaryDirectory() as folder:
        game_ns = [0]
        checkpoints = CheckpointFile(Path(folder) / "game.checkpoint", RigKey.generate(), lambda: game_ns[0] / 1e9)
        store = Store.at(Path(folder) / "games.db")

        def service(kept: CheckpointFile | None) -> GameService:
            field = recording.tracks.header.field
            return GameService(StoredJournals(store, kept), Hub(), NoRig(), field, load_rulebook(), lambda: game_ns[0])

        played = service(checkpoints)
        played.start_game(NewGame(), recording.tracks.header.players)
        plays, scenes = 0, 0
        while game_ns[0] < minutes * 60e9:
            offset_ns = played.now_ns + PAUSE_NS
            for entry in entries:
                game_ns[0] = offset_ns + entry.t_ns
                if isinstance(entry, Scene):
                    played.take(_shifted(entry, offset_ns))
                    scenes += 1
                elif not isinstance(entry.body, Ruling | Undo | Tick):
                    played.declare(entry.body, Submission(key=f"{offset_ns}-{entry.id}"))
            plays += 1
        played_to = played.text, [(call.id, call.text) for call in played.calls()]
        played.close()
        taken = {}
        for name, kept in (("with a checkpoint", checkpoints), ("without", None)):
            resumed = service(kept)
            began_s = time.perf_counter()
            resumed.resume()
            taken[name] = time.perf_counter() - began_s
            text, calls = resumed.text, [(call.id, call.text) for call in resumed.calls()]
            if (text, calls) != played_to:
                sys.exit(f"{name}: another game was resumed: {resumed.text}")
            resumed.close()
        size_mb = (Path(folder) / "game.checkpoint").stat().st_size / 1e6
        store.close()
    print(f"{minutes:g} minutes, {plays} plays, {scenes} scenes; the checkpoint has {size_mb:.1f} MB")
    for name, seconds in taken.items():
        print(f"resumed {name} in {seconds:.2f} s")


if __name__ == "__main__":
    main()
