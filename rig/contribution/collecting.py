"""Collects the frames of a contribution from a rig's games and recordings, and takes out what is private.

The surroundings of the board, names, times and the table's name are not in it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import Footage
from downfield.core.arrays import Array, Image
from downfield.core.errors import NotRecordedError, OutputError
from downfield.core.files.private_files import create_private_file
from downfield.core.scene import Hand, Player, Scene
from downfield.game.records.keeping import GameRow
from downfield.rig.contribution.contribution_file import ContributedFrame
from downfield.rig.contribution.moments import Moment, find_moments
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

MARGIN_MM: Final = 45.0
"""Kept around the board, as far as a helmet over its edge leans out in the picture."""

SALT: Final = "contribution-salt"
"""File in the data folder without which tables' ids can't be made or matched with names."""

_GRAY: Final = 128
_EDGE_POINTS: Final = 24  # along each side: a lens bends it


def crop_to_board(image: Image, calibration: Calibration) -> tuple[Image, Calibration]:
    """Return the part of a picture that shows the board, gray outside of it, and the calibration of that part.

    Names, dates and notes of field and calibration are left out.

    Args:
        image: the picture, uint8, shape (height, width, 3).
        calibration: of the whole picture.
    """
    outline = np.rint(_board_outline_px(calibration)).astype(np.int64)
    height, width = image.shape[:2]
    (left, top), (right, bottom) = outline.min(axis=0), outline.max(axis=0) + 1
    left, right = (int(np.clip(x, 0, width)) for x in (left, right))
    top, bottom = (int(np.clip(y, 0, height)) for y in (top, bottom))
    mask = np.zeros((height, width), np.uint8)
    cv2.fillPoly(mask, [outline.astype(np.int32)], 255)
    part = np.where(mask[top:bottom, left:right, None] > 0, image[top:bottom, left:right], np.uint8(_GRAY))
    lens = calibration.camera.lens
    moved = replace(
        lens, size_px=(right - left, bottom - top), center_px=(lens.center_px[0] - left, lens.center_px[1] - top)
    )
    field = replace(calibration.field, name="board", title="Board", source="")
    camera = replace(calibration.camera, lens=moved)
    return np.ascontiguousarray(part), Calibration(field, camera, calibration.method)


def shows_board(calibration: Calibration) -> bool:
    """Return whether a calibration's picture shows a good part of the board, so that something is left of it."""
    width, height = calibration.camera.lens.size_px
    low, high = (edge(_board_outline_px(calibration), axis=0) for edge in (np.min, np.max))
    inside = np.clip(high, 0, (width, height)) - np.clip(low, 0, (width, height))
    return bool((inside > 32).all())


def _board_outline_px(calibration: Calibration) -> Array:
    x0, y0, x1, y1 = calibration.field.board_mm
    corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]) + MARGIN_MM * np.array(
        [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    )
    steps = np.linspace(0, 1, _EDGE_POINTS, endpoint=False)[:, None]
    edges = [a + steps * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    outline = np.concatenate(edges)
    pixels: Array = calibration.camera.to_pixels(np.column_stack([outline, np.zeros(len(outline))]))
    return pixels[np.isfinite(pixels).all(axis=1)]


def numbered_figures(scene: Scene, players: tuple[Player, ...]) -> tuple[Scene, tuple[Player, ...]]:
    """Return a scene and its bases without times, names, shirt numbers and roles: figures are only numbered."""
    jerseys = {figure.id: figure.jersey for figure in scene.figures}
    names = {name: f"{jersey}-{row}" for row, (name, jersey) in enumerate(jerseys.items(), start=1)}
    bases = {player.id: player.base for player in players}
    figures = tuple(replace(figure, id=names[figure.id], fell_ns=None) for figure in scene.figures)
    ball = scene.ball
    if ball is not None:
        ball = replace(ball, carrier=names.get(ball.carrier or ""), touched_by=None, touched_ns=None)
    hands = tuple(Hand(hand.outline_mm) for hand in scene.hands)
    plain = Scene(0, 0, scene.board, figures, (), ball, hands)
    base_of = {name: bases.get(name, Player(name, jersey).base) for name, jersey in jerseys.items()}
    return plain, tuple(Player(names[name], jersey, base=base_of[name]) for name, jersey in jerseys.items())


def table_id(data_folder: Path, table: str) -> str:
    """Return 16 hexadecimal digits that stay the same for a rig's table and say nothing about it.

    Args:
        data_folder: of the rig; a random file there makes them unguessable.
        table: the table's name; may be empty.

    Raises:
        OutputError: the data folder can't be written.
    """
    path = data_folder / SALT
    try:
        create_private_file(path, secrets.token_bytes(32))
        salt = path.read_bytes()
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    return hashlib.sha256(salt + table.encode(errors="surrogatepass")).hexdigest()[:16]


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
            progress: receives how much of a game has been searched, and of how much.

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
