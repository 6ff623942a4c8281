"""Measures what a reviewer waits for in a game of full length: 60 minutes at 30 frames/s, 300 plays.

Run: python benchmarks/long_game.py [FOLDER [MINUTES]]

The game is played into FOLDER once, which takes some minutes, and is found there the next time. Processor time is what
counts on a busy machine, the wall clock beside it shows how busy it was; memory is what Python allocates. Its bundle is
written with 60 files of recording, 1.2 GB.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from downfield.capture.footage import Footage, FootageFrame
from downfield.core.errors import BusyError
from downfield.game.published.game_topics import CallView
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.officiating.declarations import Carrier, SetUp
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles.format import BundleFile, BundleSource, bundle_chunks
from downfield.review.catalog import GameCatalog, GameSearch
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.rejudging.finished_games import FinishedGames, LateRuling
from downfield.review.rejudging.standings import GameStandings, KeptJudgings
from downfield.review.rejudging.worker import JudgingWorker
from downfield.review.reports.game_report import GameReport
from downfield.rig.service.review import NoCamera
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store
from officiating import FIELD, PLAY_S, PLAYERS, play_scenes

T = TypeVar("T")

MINUTES = 60
EVERY = 2  # of the scenes of a play, which come at 60 frames/s
VIDEO_FILES, VIDEO_BYTES = 60, 20 << 20


class CountedStore(Store):
    """A store that counts the scenes it hands out."""

    read_bytes = 0

    def attachment(self, game: str, seq: int) -> bytes | None:
        """See `StoreReader.attachment`."""
        found = super().attachment(game, seq)
        self.read_bytes += len(found or b"")
        return found


class FramesOnly:
    """Stands in for the pictures: has a frame every thirtieth of a second."""

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:  # noqa: ARG002 - the seam's
        """See `Footage.between`."""
        step = 1_000_000_000 // 30
        return tuple(
            FootageFrame(k, k * step, Path("game.mkv"), k * step) for k in range(from_ns // step, to_ns // step)
        )


def main() -> None:
    """Play the game where it is missing, measure, and print."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="downfield-long-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = cast("CountedStore", CountedStore.at(folder / "games.db"))
    if len(store.games()) < 2:
        minutes = int(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
        report(f"{minutes} minutes played and written", lambda: play(store, minutes))
    row = store.games()[1]
    report("list of games", lambda: GameCatalog(store).find(GameSearch(), limit=50, before=None, in_play=""))
    history = report("plays of the game", lambda: History(store, row))
    plays = report("their results", history.plays)
    print(f"  {len(plays)} plays, {len(history.calls())} calls, {history.entries} entries")
    calls = [call for call in history.calls() if call.kind == "tackle"]
    finder = EvidenceFinder(store, None, cast("Footage", FramesOnly()))
    for name, call in (
        ("evidence of a call, the first of its game", calls[len(calls) // 2]),
        ("of another", calls[-9]),
    ):
        store.read_bytes = 0
        report(name, lambda call=call: finder.find(row, call.id))  # type: ignore[misc]
        print(f"  {store.read_bytes / 1e3:.0f} kB of scenes read")
    late_rulings(store, row, calls, folder)
    report("report for print", lambda: GameReport(store, History(store, row)).html())
    bundle(store, row, folder)
    store.close()


def play(store: Store, minutes: int) -> None:
    """Play the game, and begin the next one."""
    game_service = GameService(StoredJournals(store), Hub(), NoCamera(None, {}), FIELD, load_rulebook())
    game_service.start_game(NewGame(title="long"), PLAYERS)
    scenes = play_scenes()[::EVERY]
    for number in range(minutes * 60 // PLAY_S):
        since_ns = number * PLAY_S * 1_000_000_000
        for body in (SetUp("home", 1, 40.0), Carrier("dark-0")):
            game_service.declare(body, Submission("operator"))
        for place, scene in enumerate(scenes):
            contacts = tuple(
                replace(one, since_ns=None if one.since_ns is None else one.since_ns + since_ns)
                for one in scene.contacts
            )
            frame = number * len(scenes) + place
            game_service.take(replace(scene, frame=frame, t_ns=scene.t_ns + since_ns, contacts=contacts))
    game_service.start_game(NewGame(title="the next one"))
    game_service.close()


def late_rulings(store: Store, row: GameRow, calls: Sequence[CallView], folder: Path) -> None:
    """Try rulings after the game as a rig that was started anew does: with nothing kept of it, and once more."""
    shutil.rmtree(folder / "judged", ignore_errors=True)
    kept = KeptJudgings(folder / "judged", RigKey.generate())
    for run in ("nothing of the game is kept", "after a restart"):
        worker = JudgingWorker()
        finished = FinishedGames(store, lambda: "", worker, GameStandings(store, worker, kept))
        print(f"late rulings, {run}:")
        for name, call, decision in (
            ("the first, on the last play", calls[-1], "overturn"),
            ("on the first play, which changes nothing", calls[0], "confirm"),
            ("on one amid the game", calls[len(calls) // 2], "overturn"),
        ):
            ruling = LateRuling(Ruling(call.id, decision, None, "for the benchmark"), "benchmark")  # type: ignore[arg-type]
            work = partial(finished.preview, row, ruling)
            report(f"  {name}, tried", lambda work=work: until_done(work))  # type: ignore[misc]
        worker.close()
    print(f"  {sum(file.stat().st_size for file in (folder / 'judged').iterdir()) / 1e6:.0f} MB kept of the game")


def until_done(work: Callable[[], T]) -> T:
    """Return the result of some work that is asked for again for as long as it goes on."""
    while True:
        try:
            return work()
        except BusyError:
            continue


def bundle(store: Store, row: GameRow, folder: Path) -> None:
    """Write the game's bundle with a long recording."""
    video = folder / "0001.mkv"
    with video.open("wb") as file:
        file.truncate(VIDEO_BYTES)  # takes no room on the disk
    files = tuple(BundleFile(f"recording/20270105-180000/{n:04d}.mkv", video) for n in range(1, VIDEO_FILES + 1))
    tracemalloc.start()
    source = BundleSource(store, row, RigKey.generate(), video=files)
    size = report("bundle", lambda: sum(len(chunk) for chunk in bundle_chunks(source)))
    print(f"  {size / 1e6:.0f} MB, at most {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB of memory")
    tracemalloc.stop()


def report(what: str, work: Callable[[], T]) -> T:
    """Print how long some work takes; return its result."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    result = work()
    print(
        f"{what}: {time.process_time() - cpu_s:.3f} s of processor time; {time.perf_counter() - wall_s:.3f} s",
        flush=True,
    )
    return result


if __name__ == "__main__":
    main()
