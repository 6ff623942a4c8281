"""Collects the frames of a contribution from a rig's games and recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from downfield.capture.footage import Footage
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.game.records.keeping import GameRow
from downfield.rig.contribution.anonymizing import crop_to_board, numbered_figures, shows_board, table_id
from downfield.rig.contribution.contribution_file import ContributedFrame
from downfield.rig.contribution.moments import Moment, find_moments
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Attributes:
        frames: with their pictures, in the order of their times.
        unrecorded: moments worth learning from of which no picture or no calibration is kept.

    """

    frames: tuple[tuple[ContributedFrame, Image], ...]
    unrecorded: int


@dataclass(frozen=True, slots=True)
class Collector:
    """Collects frames.

    Attributes:
        store: of the games.
        footage: of their pictures.
        data_folder: of the rig.

    """

    store: StoreReader
    footage: Footage
    data_folder: Path

    def collect(
        self, games: Sequence[GameRow], count: int, progress: Progress = lambda _done, _total: None
    ) -> Collected:
        """Return the frames most worth learning from, at most so many.

        Args:
            games: to look through.
            count: most frames.
            progress: told how much of a game has been looked through, and of how much.

        Raises:
            FormatError: a journal can't be read.
            OutputError: the store can't be read.

        """
        found: list[tuple[Moment, GameRow, History]] = []
        for row in games:
            history = History(self.store, row)
            found += [(moment, row, history) for moment in find_moments(self.store, history, progress)]
        found.sort(key=lambda item: (not item[0].corrected, -item[0].doubt))
        chosen: list[tuple[tuple[int, int], ContributedFrame, Image]] = []
        unrecorded = 0
        for moment, row, history in found:
            if len(chosen) == count:
                break
            made = self._frame(moment, row, history)
            if made is None:
                unrecorded += 1
            else:
                chosen.append(((row.began_ns, moment.scene.t_ns), *made))
        chosen.sort(key=lambda item: item[0])
        return Collected(tuple((frame, image) for _, frame, image in chosen), unrecorded)

    def _frame(self, moment: Moment, row: GameRow, history: History) -> tuple[ContributedFrame, Image] | None:
        t_ns = moment.scene.t_ns
        with suppress(NotRecordedError):
            still = self.footage.between(t_ns, t_ns, row.began_ns)[0]
            image = self.footage.picture(still)
            kept = self.footage.calibration(still).fitting((image.shape[1], image.shape[0]))
            if kept.calibration is None or not shows_board(kept.calibration):
                return None
            part, calibration = crop_to_board(image, kept.calibration)
            scene, players = numbered_figures(moment.scene, history.players(t_ns))
            table = table_id(self.data_folder, f"{row.table}\n{kept.calibration.field.name}")
            return ContributedFrame(table, moment.reasons, calibration, scene, players), part
        return None
