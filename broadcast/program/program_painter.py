"""Draws one picture of the program: paint on the board, the view of the field, name tags above the figures."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.broadcast.program.board_painter import BoardPainter
from downfield.broadcast.program.board_shapes import ShapeMaker
from downfield.broadcast.program.figure_volume import Box
from downfield.broadcast.program.lettering import Color, draw_text, is_drawable, text_width
from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player, Scene
from downfield.game.published.game_topics import GameView, TeamView
from downfield.game.published.stream_topics import OnAirPerson, ProgramOptions
from downfield.review.pictures.projection import BoardRegion, board_map

_MARGIN_MM = 12.0


_SIZE_PX: Final = 22  # of the text in a picture 1080 pixels high
_PADDING_PX: Final = 7
_FAR_PX: Final = 16  # between a figure and its tag
_LONG_NAME: Final = 20  # letters of a name; of a longer one the last word is shown
_WITHOUT_GLYPHS: Final = frozenset(
    {"So", "Sk", "Cf", "Cc", "Co", "Cs", "Cn"}
)  # symbols, modifiers, joiners, no characters
_VARIANTS: Final = "\ufe0e\ufe0f\u20e3"  # that choose between the shapes of an emoji
_SIDES: Final = ((0, -1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (1, 1), (-1, 1))
"""Where a tag may be, the best first: above, then beside, then below."""


@dataclass(frozen=True, slots=True)
class NameTag:
    """A tag to place."""

    figure: str  # roster id
    text: str
    color: Color
    ink: Color


class TagPlacer:
    """Places tags picture after picture; a tag stays on its side of the figure while there is room."""

    def __init__(self) -> None:
        self._sides: dict[str, int] = {}

    def draw(self, out: Image, tags: Sequence[NameTag], boxes: Mapping[str, Box]) -> None:
        """Draw tags on a picture, uint8 BGR, in place: the most important first.

        Args:
            boxes: what every figure covers of it, by roster id.
        """
        taken = np.array(list(boxes.values()), dtype=np.float64).reshape(-1, 4)
        size = max(12, round(_SIZE_PX * out.shape[0] / 1080))
        for tag in tags:
            if tag.figure not in boxes:
                continue
            placed = self._place(tag, boxes[tag.figure], taken, size, (out.shape[1], out.shape[0]))
            if placed is None:
                self._sides.pop(tag.figure, None)
                continue
            side, box = placed
            self._sides[tag.figure] = side
            taken = np.concatenate([taken, [box]])
            _draw(out, tag, box, boxes[tag.figure], size)

    def _place(
        self, tag: NameTag, figure: Box, taken: Array, size: int, picture: tuple[int, int]
    ) -> tuple[int, Box] | None:
        wide = text_width(tag.text, size) + 2 * _PADDING_PX
        high = size + 2 * _PADDING_PX
        last = self._sides.get(tag.figure)
        order = range(len(_SIDES)) if last is None else (last, *(one for one in range(len(_SIDES)) if one != last))
        for side in order:
            box = _beside(figure, _SIDES[side], wide, high)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= picture[0] and box[3] <= picture[1]
            if inside and not _meets_any(box, taken):
                return side, box
        return None


def drawable(text: str) -> str:
    """Return a text without what no font of pictures has, such as emoji: they would be question marks."""
    kept = (char for char in text if unicodedata.category(char) not in _WITHOUT_GLYPHS and char not in _VARIANTS)
    return " ".join("".join(kept).split())


def tag_text(team: str, number: str, role: str, name: str = "") -> str:
    """Return the text of a tag; with the role in place of a name, and without the team's, that can't be drawn here."""
    name = drawable(name)
    name = name if len(name) <= _LONG_NAME else name.rpartition(" ")[2][:_LONG_NAME]
    tried = ((drawable(team), number, name or role), (drawable(team), number, role), (number, role))
    texts = [" ".join(part for part in parts if part) for parts in tried]
    return next((text for text in texts if is_drawable(text)), texts[-1])


def _beside(figure: Box, side: tuple[int, int], wide: int, high: int) -> Box:
    left, top, right, bottom = figure
    across, down = side
    x = (left + right - wide) // 2 if across == 0 else right + _FAR_PX if across > 0 else left - _FAR_PX - wide
    y = (top + bottom - high) // 2 if down == 0 else bottom + _FAR_PX if down > 0 else top - _FAR_PX - high
    return x, y, x + wide, y + high


def _meets_any(box: Box, taken: Array) -> bool:
    apart = (taken[:, 2] <= box[0]) | (taken[:, 0] >= box[2]) | (taken[:, 3] <= box[1]) | (taken[:, 1] >= box[3])
    return bool((~apart).any())


def _draw(out: Image, tag: NameTag, box: Box, figure: Box, size: int) -> None:
    left, top, right, bottom = box
    center = ((figure[0] + figure[2]) // 2, (figure[1] + figure[3]) // 2)
    ends = (min(max(center[0], left), right), min(max(center[1], top), bottom))
    edge = (min(max(ends[0], figure[0]), figure[2]), min(max(ends[1], figure[1]), figure[3]))
    cv2.line(out, ends, edge, tag.color, 2, cv2.LINE_AA)
    cv2.rectangle(out, (left, top), (right - 1, bottom - 1), tag.color, -1)
    draw_text(out, tag.text, (left + _PADDING_PX, bottom - _PADDING_PX - size // 10), tag.ink, size)


class FieldView:
    """Turns pictures of a camera into views of the field, of the pictures' size."""

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        wide, high = camera.lens.size_px
        shown = (field.length_mm + 2 * (field.end_zone_mm + _MARGIN_MM), field.width_mm + 2 * _MARGIN_MM)
        scale = min(wide / shown[0], high / shown[1])
        width, height = wide / scale, high / scale
        x, y = (field.length_mm - width) / 2, (field.width_mm - height) / 2
        self.region = BoardRegion(x, y, width, height, scale, 0.0)
        size = self.region.size_px
        self._map = np.ascontiguousarray(board_map(camera, self.region)[: size[1], : size[0]])
        self._still = cv2.convertMaps(self._map, np.zeros(0, np.float32), cv2.CV_16SC2)

    def show(self, image: Image, move: Array | None) -> Image:
        """Return the view in a picture; `move` is of the calibration's pixels, None where the camera stands still."""
        first, second = self._still
        if move is not None:
            moved = cv2.transform(self._map, move)
            first, second = cv2.convertMaps(np.asarray(moved, np.float32), np.zeros(0, np.float32), cv2.CV_16SC2)
        return np.asarray(cv2.remap(image, first, second, cv2.INTER_LINEAR), dtype=np.uint8)

    def pixels(self, px: Array, camera: Camera) -> Array:
        """Return where pixels of the camera's picture are in the view, shape (n, 2) both."""
        return self.region.pixels(camera.to_board(px, 0.0))


@dataclass(frozen=True, slots=True)
class ProgramMoment:
    """What the program shows besides the picture."""

    game: GameView | None = None  # the state of the game; None for none
    carrier: str | None = None  # roster id of the ball carrier; None for none
    players: tuple[Player, ...] = ()
    people: tuple[OnAirPerson, ...] = ()  # whose names the tags show


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """Requests a picture of the program."""

    t_ns: int
    scene: Scene
    camera: Camera | None  # where it was; None for as calibrated
    # moment, options: as of `ProgramPainter.draw`
    moment: ProgramMoment
    options: ProgramOptions
    film: bool  # whether it is a picture of the film
    picture: bool  # whether it is shown as a picture


@dataclass(frozen=True, slots=True)
class _Stage:
    painter: BoardPainter
    shapes: ShapeMaker
    view: FieldView


class ProgramPainter:
    """Draws the pictures of one camera; for one thread."""

    def __init__(self) -> None:
        self._calibration: Calibration | None = None
        self._stage: _Stage | None = None
        self._tags = TagPlacer()

    def calibrate(self, calibration: Calibration | None) -> None:
        """Draw with a calibration from now on; without one, pictures are shown plain."""
        if calibration is self._calibration:
            return
        self._calibration = calibration
        self._stage = None
        if calibration is not None:
            camera, field = calibration.camera, calibration.field
            self._stage = _Stage(BoardPainter(camera, field), ShapeMaker(field), FieldView(camera, field))

    def draw(
        self, image: Image, scene: Scene, camera: Camera | None, moment: ProgramMoment, options: ProgramOptions
    ) -> Image:
        """Return a picture of the program: another one, or the same where nothing is to be drawn.

        Args:
            image: the camera's picture, uint8 BGR.
            camera: where it is in this picture; None for as calibrated.
        """
        stage = self._stage
        if stage is None:
            return image
        shapes = stage.shapes.shapes(scene, moment.game, moment.carrier, options.elements, options.theme)
        stage.painter.use_roster(moment.players)
        painted = stage.painter.paint(image, scene, shapes, camera)
        boxes = {name: volume.middle_box for name, volume in painted.volumes.items()}
        out = painted.image
        if options.view == "field":
            out = stage.view.show(out, painted.move)
            boxes = _seen_boxes(stage.view, boxes, painted.camera) if options.tags != "off" else {}
        self._tags.draw(out, _tags(options, moment), boxes)
        return out


def _seen_boxes(view: FieldView, boxes: Mapping[str, Box], camera: Camera) -> dict[str, Box]:
    """Return the boxes around boxes of the camera's picture in the view."""
    if not boxes:
        return {}
    corners = np.array(
        [corner for x0, y0, x1, y1 in boxes.values() for corner in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))],
        dtype=np.float64,
    )
    seen = np.nan_to_num(view.pixels(corners, camera)).reshape(-1, 4, 2)
    low, high = np.floor(seen.min(axis=1)).astype(int).tolist(), np.ceil(seen.max(axis=1)).astype(int).tolist()
    return {name: (x0, y0, x1, y1) for name, (x0, y0), (x1, y1) in zip(boxes, low, high, strict=True)}


def _tags(options: ProgramOptions, moment: ProgramMoment) -> list[NameTag]:
    """Return the tags to show, the carrier's first."""
    if options.tags == "off":
        return []
    players = {player.id: player for player in moment.players}
    wanted = [moment.carrier] if moment.carrier in players else []
    if options.tags == "all":
        wanted += [name for name in players if name != moment.carrier]
    return [_tag(players[name], moment) for name in wanted if name is not None]


def _tag(player: Player, moment: ProgramMoment) -> NameTag:
    game = moment.game
    team = None if game is None else next((one for one in (game.home, game.away) if one.jersey == player.jersey), None)
    number = player.number or player.id.rpartition("-")[2]
    name = next((one.name for one in moment.people if team is not None and one.plays_as(number, team)), "")
    text = tag_text("" if team is None else team.short, number, player.role, name)
    return NameTag(player.id, text, *_colors(team))


def _colors(team: TeamView | None) -> tuple[Color, Color]:
    if team is None:
        return (28, 21, 16), (250, 247, 244)
    red, green, blue = (int(team.color[at : at + 2], 16) for at in (1, 3, 5))
    # White or black, whichever is clearer: a team's own ink may not be readable.
    bright = 0.114 * blue + 0.587 * green + 0.299 * red > 140
    return (blue, green, red), (16, 16, 16) if bright else (250, 250, 250)
