"""Collects the frames of a contribution from a rig's games and recordings, and takes out what is private.

The surroundings of the board, names, times and the table's name are not in it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
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
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Figure, Hand, Player, Scene
from downfield.game.records.entries import unpack_scenes
from downfield.game.records.keeping import GameRow
from downfield.officiating.declarations import FrontDeclared, LineUpDeclared
from downfield.officiating.events import Event, Ruling, Undo
from downfield.review.tracks import batched_scenes
from downfield.rig.games.contribution_file import ContributedFrame, Reason
from downfield.store.database.reader import StoreReader
from downfield.store.history import History, SceneBatch

MARGIN_MM: Final = 45.0  # Kept around the board, as far as a helmet over its edge leans out in the picture

SALT: Final = "contribution-salt"
"""File in the data folder without which tables' ids can't be made or matched with names."""

Progress = Callable[[int, int], None]

_GRAY: Final = 128
_EDGE_POINTS: Final = 24  # along each side: a lens bends it


_REACH_NS: Final = 1_000_000_000  # A correction is about the latest scene this long before it
_APART_NS: Final = 3_000_000_000  # Uncertain moments are so far apart at least: figures that stand still look the same
_LEAST_DOUBT: Final = 0.5  # Below this sum of doubts a scene teaches nothing new: it is half a front that nobody knows
_SIGMA_MM: Final = 3.0  # Deviation of a position that counts as a whole doubt; a figure in the open has 0.2 to 0.5
_LEAST_GAP_CHANCE: Final = 0.2  # A contact less probable than this, or more probable than the rest, is no doubt


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment."""

    scene: Scene  # what is believed of it, with what people corrected
    reasons: tuple[Reason, ...]
    doubt: float  # how unsure the tracker was; larger for corrections than for anything else

    @property
    def corrected(self) -> bool:
        """Whether a person corrected something."""
        return self.reasons != ("uncertain",)


def find_moments(store: StoreReader, history: History, progress: Progress) -> list[Moment]:
    """Return the moments of a game, those people corrected first, then by falling doubt.

    Args:
        progress: receives how many batches of scenes have been searched, and of how many.

    Raises:
        FormatError, OutputError: the journal or the store can't be read.
    """
    corrections: dict[int, Moment] = {}
    for scene, reason in _corrections(store, history):
        before = corrections.get(scene.t_ns)
        reasons = (reason,) if before is None else tuple(dict.fromkeys((*before.reasons, reason)))
        corrections[scene.t_ns] = Moment(scene, reasons, doubt(scene))
    unsure: list[Moment] = []
    for number, batch in enumerate(history.batches, start=1):
        # A batch is a second or two, and a figure that is unsure is so for longer: one scene of each is examined.
        first = next(iter(_scenes(store, history, batch)), None)
        if first is not None and not first.unfit and doubt(first) >= _LEAST_DOUBT:
            unsure.append(Moment(first, ("uncertain",), doubt(first)))
        progress(number, len(history.batches))
    by_doubt = sorted(unsure, key=lambda moment: -moment.doubt)
    return spread([*sorted(corrections.values(), key=lambda moment: moment.scene.t_ns), *by_doubt])


def spread(moments: Sequence[Moment]) -> list[Moment]:
    """Return the moments, in order, without uncertain ones that are close to one before them."""
    kept: list[Moment] = []
    for moment in moments:
        if moment.corrected or all(abs(moment.scene.t_ns - one.scene.t_ns) >= _APART_NS for one in kept):
            kept.append(moment)
    return kept


def doubt(scene: Scene) -> float:
    """Return how unsure the tracker was of a scene: a sum over its figures and contacts, one for each whole doubt."""
    figures = [figure for figure in scene.figures if figure.posture in {"upright", "fallen"} and not figure.lost]
    touches = sum(_LEAST_GAP_CHANCE < contact.probability < 1 - _LEAST_GAP_CHANCE for contact in scene.contacts)
    return sum(_doubt_of(figure) for figure in figures) + 0.25 * touches


def _doubt_of(figure: Figure) -> float:
    front = 1 - abs(2 * figure.front - 1)
    place = min(max(figure.sigma_mm) / _SIGMA_MM, 1.0)
    return front + 0.5 * place + 0.5 * (not figure.sure)


def _corrections(store: StoreReader, history: History) -> Iterable[tuple[Scene, Reason]]:
    """Yield the scenes that people corrected, as corrected, and how."""
    undone = {event.body.event for event in history.events if isinstance(event.body, Undo)}
    called_ns = {call.id: (call.t_ns, call.players) for call in (*history.struck(), *history.calls())}
    for event in history.events:
        if event.id in undone:
            continue
        body = event.body
        if isinstance(body, FrontDeclared):
            for scene in _scene_before(store, history, event.t_ns):
                yield turned_as_declared(scene, body), "front_turned"
        elif isinstance(body, LineUpDeclared) and event.origin != "vision":
            for scene in _scene_before(store, history, event.t_ns):
                if any(not figure.sure for figure in scene.figures):
                    yield scene, "identities_confirmed"
        elif isinstance(body, Ruling):
            yield from _ruled(store, history, event, called_ns)


def _ruled(
    store: StoreReader, history: History, event: Event, called: dict[str, tuple[int, tuple[str, ...]]]
) -> Iterable[tuple[Scene, Reason]]:
    ruling = event.body
    assert isinstance(ruling, Ruling)
    if ruling.decision == "manual" and ruling.replacement is not None:
        # A call by hand without an instant of its own is about the moment when it was made.
        at_ns = ruling.replacement.t_ns or event.t_ns
        for scene in _scene_before(store, history, at_ns):
            yield doubted(scene, ruling.replacement.players), "call_added"
    elif ruling.decision in {"overturn", "strike"} and ruling.call in called:
        at_ns, players = called[ruling.call]
        for scene in _scene_before(store, history, at_ns):
            yield doubted(scene, players), "call_overturned"


def turned_as_declared(scene: Scene, declared: FrontDeclared) -> Scene:
    """Return a scene in which a figure faces as a person declared, beyond doubt."""
    figures = []
    for figure in scene.figures:
        if figure.id == declared.player:
            wrong = abs(wrap_deg(figure.heading_deg - declared.heading_deg)) > 90
            figure = replace(figure.turned_around() if wrong else figure, front=1.0)
        figures.append(figure)
    return replace(scene, figures=tuple(figures))


def doubted(scene: Scene, players: Iterable[str]) -> Scene:
    """Return a scene in which figures are unsure: what a person overturned must not be learned as the truth."""
    names = set(players)
    figures = (replace(figure, sure=False) if figure.id in names else figure for figure in scene.figures)
    return replace(scene, figures=tuple(figures))


def _scene_before(store: StoreReader, history: History, at_ns: int) -> list[Scene]:
    """Return the latest scene at an instant or shortly before it; empty where there is none."""
    from_ns = at_ns - _REACH_NS
    scenes = (one for one in batched_scenes(store, history, from_ns, at_ns) if from_ns <= one.t_ns <= at_ns)
    latest = max(scenes, key=lambda scene: scene.t_ns, default=None)
    return [] if latest is None else [latest]


def _scenes(store: StoreReader, history: History, batch: SceneBatch) -> Iterable[Scene]:
    attachment = store.attachment(history.row.id, batch.seq)
    return [] if attachment is None else unpack_scenes(attachment, where=f"game {history.row.id}, entry {batch.seq}")


def crop_to_board(image: Image, calibration: Calibration) -> tuple[Image, Calibration]:
    """Return the part of a picture that shows the board, gray outside of it, and the calibration of that part.

    The picture is uint8, shape (height, width, 3). Names, dates and notes of field and calibration are left out.
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

    A random file in the data folder makes them unguessable. Raises OutputError: the folder can't be written.
    """
    path = data_folder / SALT
    try:
        create_private_file(path, secrets.token_bytes(32))
        salt = path.read_bytes()
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    return hashlib.sha256(salt + table.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found."""

    frames: tuple[tuple[ContributedFrame, Image], ...]  # with their pictures, in the order of their times
    unrecorded: int  # moments worth learning from of which no picture or no calibration is kept


def collect(
    store: StoreReader, footage: Footage, data_folder: Path, games: Sequence[GameRow], count: int, progress: Progress
) -> Collected:
    """Return the frames most worth learning from, at most so many.

    Args:
        progress: receives how much of a game has been searched, and of how much.

    Raises:
        FormatError, OutputError: a journal or the store can't be read.
    """
    found: list[tuple[Moment, GameRow, History]] = []
    for row in games:
        history = History(store, row)
        found += [(moment, row, history) for moment in find_moments(store, history, progress)]
    found.sort(key=lambda item: (not item[0].corrected, -item[0].doubt))
    chosen: list[tuple[tuple[int, int], ContributedFrame, Image]] = []
    unrecorded = 0
    for moment, row, history in found:
        if len(chosen) == count:
            break
        made = _frame(footage, data_folder, moment, row, history)
        if made is None:
            unrecorded += 1
        else:
            chosen.append(((row.began_ns, moment.scene.t_ns), *made))
    chosen.sort(key=lambda item: item[0])
    return Collected(tuple((frame, image) for _, frame, image in chosen), unrecorded)


def _frame(
    footage: Footage, data_folder: Path, moment: Moment, row: GameRow, history: History
) -> tuple[ContributedFrame, Image] | None:
    t_ns = moment.scene.t_ns
    with suppress(NotRecordedError):
        still = footage.between(t_ns, t_ns, row.began_ns)[0]
        image = footage.picture(still)
        kept = footage.calibration(still).fitting((image.shape[1], image.shape[0]))
        if kept.calibration is None or not shows_board(kept.calibration):
            return None
        part, calibration = crop_to_board(image, kept.calibration)
        scene, players = numbered_figures(moment.scene, history.players(t_ns))
        table = table_id(data_folder, f"{row.table}\n{kept.calibration.field.name}")
        return ContributedFrame(table, moment.reasons, calibration, scene, players), part
    return None
