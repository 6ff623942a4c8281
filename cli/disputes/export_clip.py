"""A clip or a picture of a call or a play, written by ``downfield export``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.capture.recording.recorded_footage import RecordedFootage
from downfield.core.errors import InputError, NotFoundError
from downfield.game.records.keeping import GameRow
from downfield.review.evidence.exports import ClipExporter, ClipOptions
from downfield.review.evidence.finder import EvidenceFinder, NoGameInPlay
from downfield.review.pictures.clips import MEDIA_TYPES, ClipFormat
from downfield.review.pictures.painting import DRAWING_KINDS
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

CALL_S: Final = 1.5
"""A clip of a call reaches this long before and after it, as on the page."""

_WIDTH_PX: Final = 1920


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """What is to be seen.

    Attributes:
        file: where it is written; its ending says the form.
        play: the play's number; None for a call.
        call: the call's id; None for a play.
        speed: 1 for real time.
        plain: whether without drawings and words.

    """

    file: Path
    play: int | None
    call: str | None
    speed: float
    plain: bool

    def __post_init__(self) -> None:
        """Check what was asked for.

        Raises:
            InputError: it is no clip and no picture, or both a play and a call, or neither.

        """
        if self.form not in {*MEDIA_TYPES, "png"}:
            raise InputError(f"{self.file}: clips are written as .mp4 or .gif, pictures as .png. End the name so.")
        if (self.play is None) == (self.call is None):
            raise InputError("--clip needs either --play N or --call ID.")

    @property
    def form(self) -> str:
        """Of the file."""
        return self.file.suffix.lower().removeprefix(".")


def make_clip(request: ClipRequest, store: StoreReader, row: GameRow, recordings: Path) -> bytes:
    """Return a clip or a picture.

    Args:
        request: what is to be seen.
        store: of the games.
        row: the game.
        recordings: folder of the rig's recordings.

    Raises:
        InputError: the game has no such play or call.
        NotRecordedError: its pictures are not kept, or can't be read.
        RefusedError: it lasts too long.

    """
    exporter = ClipExporter(EvidenceFinder(store, NoGameInPlay(), RecordedFootage(recordings)))
    options = ClipOptions(request.speed, () if request.plain else DRAWING_KINDS, _WIDTH_PX)
    try:
        if request.play is not None:
            if request.form == "png":
                return exporter.play_picture(row, request.play, options)[1]
            return exporter.play(row, request.play, _form(request), options)[1]
        call = request.call or ""
        if request.form == "png":
            return exporter.call_picture(row, call, options)[1]
        return exporter.call(row, call, _form(request), CALL_S, options)[1]
    except NotFoundError as error:
        calls = [view.id for view in History(store, row).calls()]
        known = f" Its calls: {', '.join(calls[-20:])}." if request.call is not None and calls else ""
        raise InputError(f"{error}{known}") from None


def _form(request: ClipRequest) -> ClipFormat:
    return "gif" if request.form == "gif" else "mp4"
