"""Which calls are worth showing again, and a game's highlights as one film, each at real speed and then its replay."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final

import cv2
import numpy as np

from downfield.broadcast.replay.framing import HEIGHT_PX, WIDTH_PX
from downfield.broadcast.replay.replay_maker import PictureReader, ReplayRenderer, ReplayWork, replay_work
from downfield.core.arrays import Image
from downfield.core.errors import BusyError, NotFoundError, NotRecordedError
from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import Play
from downfield.game.records.keeping import GameRow
from downfield.officiating.call_kinds import CallKind
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.pictures.clips import TimedImage
from downfield.review.pictures.painting import spoken_name

_WORTH: Final = {
    "touchdown": 100.0,
    "interception": 80.0,
    "safety": 80.0,
    "fumble": 60.0,
    "field_goal": 40.0,
    "sack": 30.0,
    "two_point": 30.0,
    "broken_tackle": 20.0,
    "reception": 15.0,
    "tackle": 0.0,
    "out_of_bounds": 0.0,
    "down_by_fall": 0.0,
}
"""Kinds of calls that can be a highlight, by how much they are worth."""


WORTH: Final[dict[CallKind, int]] = {
    "touchdown": 9,
    "interception": 8,
    "fumble": 8,
    "safety": 8,
    "field_goal": 6,
    "sack": 5,
    "out_of_bounds": 4,
    "reception": 4,
    "two_point": 4,
    "tackle": 3,
    "down_by_fall": 3,
    "broken_tackle": 2,
}
"""Kinds of calls that show something on the board, by how much a viewer wants to see them again."""

FRESH_NS: Final = 10_000_000_000
"""A call about an instant longer ago was made again by a ruling: it is not replayed by itself."""


def worth_replaying(call: CallView) -> bool:
    """Return whether a call shows something on the board and counts, or waits to be ruled on."""
    made_on_board = call.frame is not None and (bool(call.players) or call.spot_yd is not None)
    return made_on_board and call.kind in WORTH and call.verdict != "reported" and call.standing in {"stands", "open"}


def most_worth(calls: Iterable[CallView], now_ns: int) -> CallView | None:
    """Return the call to replay of those made at once; `now_ns` is the latest instant judged. None for none."""
    fresh = [call for call in calls if worth_replaying(call) and now_ns - call.t_ns < FRESH_NS]
    # A close call is the one everybody asks about.
    return max(fresh, key=lambda call: (call.verdict == "too_close", WORTH[call.kind]), default=None)


@dataclass(frozen=True, slots=True)
class HighlightLimits:
    """What makes a highlight, and how it is shown."""

    most: int = 8  # Highlights of a game: two minutes
    yard: float = 2.0  # Worth of a yard gained or lost from the snap to the spot
    close: float = 25.0  # Worth of a call that was too close, or that was overturned by a challenge and made again
    least: float = 16.0  # A play worth less is none: a run of eight yards
    before_s: float = 2.4  # It begins so long before the call,
    after_s: float = 0.5  # and ends so long after it
    title_s: float = 1.6  # How long its title is shown
    gap_ns: int = 300_000_000  # Between two parts of the film the last picture stays so long


_LIMITS: Final = HighlightLimits()

_NOT_KEPT: Final = "No picture of this game's plays is kept: recording was off, or it was deleted."


@dataclass(frozen=True, slots=True)
class Highlight:
    """One highlight."""

    play: Play
    call: CallView
    worth: float  # by which it was chosen


def choose_highlights(plays: Iterable[Play], most: int = _LIMITS.most) -> list[Highlight]:
    """Return the greatest plays of a game, in the order they were played, one call of each.

    Where no play is worth much, the best of them are returned all the same.
    """
    best = []
    for play in plays:
        of_play = [Highlight(play, call, _worth(play, call)) for call in play.calls if _counts(call)]
        if of_play:
            best.append(max(of_play, key=lambda one: one.worth))
    great = [one for one in best if one.worth >= _LIMITS.least] or best
    chosen = sorted(great, key=lambda one: one.worth, reverse=True)[:most]
    return sorted(chosen, key=lambda one: one.play.number)


@dataclass(frozen=True, slots=True)
class HighlightsWork:
    """The highlights of a game: a `FilmWork`."""

    shown: tuple[tuple[Highlight, ReplayWork], ...]  # of every highlight what its replay is made of

    def images(self, read: PictureReader) -> Iterator[TimedImage]:
        """Yield the pictures of all highlights one after another; one without pictures is left out."""
        begins_ns, shown = 0, 0
        for highlight, replay in self.shown:
            last_ns = begins_ns
            try:
                for at_ns, image in _pictures(highlight, replay, read):
                    last_ns = begins_ns + at_ns
                    shown += 1
                    yield last_ns, image
            except NotRecordedError:
                continue
            begins_ns = last_ns + _LIMITS.gap_ns
        if not shown:
            raise NotRecordedError(_NOT_KEPT)


def highlight_film(
    row: GameRow, plays: Sequence[Play], finder: EvidenceFinder, renderer: ReplayRenderer | None = None
) -> Iterator[bytes]:
    """Return the film of a game's highlights, H.264 in a fragmented MP4, which is made as its parts are taken.

    Raises NotFoundError: the game has no play to show; NotRecordedError, with the first part: no picture of any is
    kept.
    """
    chosen = choose_highlights(plays)
    if not chosen:
        raise NotFoundError("This game has no play to show yet.")
    return _film(row, chosen, finder, renderer or ReplayRenderer())


def _film(
    row: GameRow, chosen: Sequence[Highlight], finder: EvidenceFinder, renderer: ReplayRenderer
) -> Iterator[bytes]:
    shown = []
    for highlight in chosen:
        with suppress(NotRecordedError):
            shown.append((highlight, replay_work(finder, row, highlight.call.id)))
    if not shown:
        raise NotRecordedError(_NOT_KEPT)
    yield from renderer.film(HighlightsWork(tuple(shown)), finder.pictures)


def _counts(call: CallView) -> bool:
    return call.frame is not None and call.kind in _WORTH and call.standing not in {"struck", "noted"}


def _worth(play: Play, call: CallView) -> float:
    gained_yd = 0.0
    if play.gain_yd is not None:
        gained_yd = abs(play.gain_yd)
    elif call.spot_yd is not None:  # a kick or a return is worth its length, too
        gained_yd = abs(call.spot_yd[0] - play.spot_yd)
    close = _LIMITS.close if call.verdict == "too_close" else 0.0
    return _WORTH[call.kind] + _LIMITS.yard * gained_yd + close


def _pictures(highlight: Highlight, replay: ReplayWork, read: PictureReader) -> Iterator[TimedImage]:
    played = _at_real_speed(replay, read)
    first = next(played, None)
    if first is None:
        raise NotRecordedError("No picture of this play can be read.")
    yield 0, _title(highlight)
    begins_ns = last_ns = round(_LIMITS.title_s * 1e9)
    for at_ns, image in chain((first,), played):
        last_ns = begins_ns + at_ns
        yield last_ns, image
    begins_ns = last_ns + _LIMITS.gap_ns
    for at_ns, image in replay.images(read):
        yield begins_ns + at_ns, image


def _at_real_speed(replay: ReplayWork, read: PictureReader) -> Iterator[TimedImage]:
    t_ns = replay.evidence.call.t_ns
    from_ns, to_ns = t_ns - round(_LIMITS.before_s * 1e9), t_ns + round(_LIMITS.after_s * 1e9)
    stills = [still for still in replay.evidence.stills if from_ns <= still.t_ns <= to_ns]
    for still, image in zip(stills, read(stills), strict=True):
        if image is not None:
            yield still.t_ns - stills[0].t_ns, replay.board(image, 0.0)


def _title(highlight: Highlight) -> Image:
    image = np.full((HEIGHT_PX, WIDTH_PX, 3), (28, 21, 16), np.uint8)
    play = highlight.play
    lines = (
        (f"Play {play.number}   Q{play.period}   {play.situation}", 34, (195, 182, 169), 500),
        (spoken_name(highlight.call.text), 62, (250, 247, 244), 700),
        (play.result, 34, (195, 182, 169), 500),
    )
    y = HEIGHT_PX // 2 - 30
    for text, size, color, weight in lines:
        font = cv2.FontFace("sans")
        wide = cv2.getTextSize((0, 0), text, (0, 0), font, size, weight)[2]
        px = size if wide <= WIDTH_PX - 120 else max(16, size * (WIDTH_PX - 120) // wide)
        wide = cv2.getTextSize((0, 0), text, (0, 0), font, px, weight)[2]
        cv2.putText(image, text, ((WIDTH_PX - wide) // 2, y), color, font, px, weight)
        y += 90
    return image


_CLOSE_TIMEOUT_S: Final = 5.0


class FilmMaker:
    """Makes films, one at a time, by a renderer that is closed with this. Callable from any thread."""

    def __init__(self, renderer: ReplayRenderer | None = None) -> None:
        self.renderer = renderer or ReplayRenderer()
        self._making, self._drawing = threading.Lock(), threading.Lock()
        self._closed = False

    def parts(self, film: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the parts of a film, each made as it is taken; nothing goes on when nobody takes them any more.

        Raises BusyError: another is being made; DownfieldError: it failed, such as for a game that was not recorded.
        """
        if not self._making.acquire(blocking=False):
            raise BusyError("Another film is being made already. Try again in a minute.")
        try:
            while not self._closed:
                with self._drawing:
                    part = next(film, None)
                if part is None:
                    return
                yield part
        finally:
            self._making.release()

    def close(self) -> None:
        """Make no more films, and wait for the part that is made: drawing while the program ends would abort it."""
        self._closed = True
        self.renderer.close()
        if self._drawing.acquire(timeout=_CLOSE_TIMEOUT_S):
            self._drawing.release()
