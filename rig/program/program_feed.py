"""Draws the program in a thread that frames never wait for, and only while somebody watches it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.api.feed.latest_picture import LatestPicture
from downfield.api.program.live_stream import LiveStream
from downfield.api.program.program_options import ProgramOptions
from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.core.scene import Player, Scene
from downfield.core.supervision import supervised_thread
from downfield.game.published.game_topics import GameView, TeamView
from downfield.rig.live.connections import BoundedQueue, LoopObserver
from downfield.rig.live.picture_rate import PictureRate
from downfield.rig.program.board_painter import BoardPainter
from downfield.rig.program.board_shapes import ShapeMaker
from downfield.rig.program.field_view import FieldView
from downfield.rig.program.figure_volume import Box
from downfield.rig.program.name_tags import Color, NameTag, TagPlacer, drawable
from downfield.rig.program.stream_encoder import ProgramEncoder
from downfield.vision.thread_priority import lower_priority


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Rates and quality of the program."""

    fps: float = 30.0
    """Rate while it is watched."""

    overloaded_fps: float = 6.0
    """Rate while the computer drops frames or detects too rarely, since calls come first."""

    jpeg_quality: int = 85
    """JPEG quality: it is encoded once more on the way to the audience."""


LIMITS: Final = ProgramLimits()


@dataclass(frozen=True, slots=True)
class ProgramMoment:
    """What the program shows besides the picture.

    Attributes:
        game: the state of the game; None for none.
        carrier: roster id of the ball carrier; None for none.
        players: on the board.

    """

    game: GameView | None = None
    carrier: str | None = None
    players: tuple[Player, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stage:
    """What draws the pictures of one calibration."""

    painter: BoardPainter
    shapes: ShapeMaker
    view: FieldView


class ProgramDrawer(LoopObserver):
    """Draws the newest frame, if the next picture is due; observes the loop.

    Args:
        moment: returns what is shown besides the picture.
        camera: returns where the camera was in the latest frame; None where its shake is not followed.
        overloaded: whether the computer is too slow for its work.
        failed: receives why a picture could not be drawn, as a phrase; the next one is drawn again.
        options: how it looks at first.
        late: whether frames come late.

    Attributes:
        picture: receives the program as pictures.
        stream: receives it as a film.

    """

    def __init__(
        self,
        moment: Callable[[], ProgramMoment],
        camera: Callable[[], Camera | None] = lambda: None,
        overloaded: Callable[[], bool] = lambda: False,
        failed: Callable[[str], None] = lambda _: None,
        options: ProgramOptions | None = None,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self.picture, self.stream = LatestPicture(), LiveStream()
        self._encoder = ProgramEncoder(self.stream, failed)
        self._moment, self._camera = moment, camera
        self._rate = PictureRate(LIMITS.fps, LIMITS.overloaded_fps, late, overloaded)
        self._options = options or ProgramOptions()
        self._stage: _Stage | None = None
        self._tags = TagPlacer()
        self._newest: BoundedQueue[tuple[Frame, Scene, Camera | None]] = BoundedQueue(1)
        self._next_at = 0.0
        self._thread = supervised_thread(
            self._run, "program feed", failed, restarts=True, closed=lambda: self._newest.finished
        )
        self._thread.start()

    @property
    def options(self) -> ProgramOptions:
        """How it looks now."""
        return self._options

    def use(self, options: ProgramOptions) -> None:
        """Change how it looks from the next picture on."""
        self._options = options

    def calibrate(self, calibration: Calibration) -> None:
        """Draw with a calibration from now on; before the first, pictures are shown plain."""
        camera, field = calibration.camera, calibration.field
        self._stage = _Stage(BoardPainter(camera, field), ShapeMaker(field), FieldView(camera, field))

    def scene_ready(self, frame: Frame, scene: Scene) -> None:
        """Draw a frame, if somebody watches and the next picture is due."""
        if not self.picture.watched and not self._encoder.wanted:
            self._rate.pause()
            return
        now = time.monotonic()
        fps = self._rate.fps(frame.index, now)
        # Half a frame early is on time: at 60 frames/s every second one is drawn, whatever the clock's grain.
        if now >= self._next_at - 0.25 / LIMITS.fps:
            self._next_at = max(self._next_at, now - 1 / fps) + 1 / fps
            self._newest.put_or_drop((frame, scene, self._camera()))

    def close(self) -> None:
        """Stop drawing."""
        self._newest.close()
        self._thread.join()
        self._encoder.close()
        self.picture.close()
        self.stream.close()

    def _run(self) -> None:
        lower_priority()
        for frame, scene, camera in self._newest:
            image = frame.image if self._stage is None else self._draw(self._stage, frame.image, scene, camera)
            if self._encoder.wanted:
                self._encoder.put(image, frame.t_ns)
            if self.picture.watched:
                self._put_jpeg(image)

    def _put_jpeg(self, image: Image) -> None:
        encoded, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, LIMITS.jpeg_quality])
        if encoded:
            self.picture.put(jpeg.tobytes())

    def _draw(self, stage: _Stage, image: Image, scene: Scene, camera: Camera | None) -> Image:
        options, moment = self._options, self._moment()
        shapes = stage.shapes.shapes(scene, moment.game, moment.carrier, options.elements, options.theme)
        stage.painter.use_roster(moment.players)
        painted = stage.painter.paint(image, scene, shapes, camera)
        boxes = {name: volume.box for name, volume in painted.volumes.items()}
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
    return [_tag(players[name], moment.game) for name in wanted if name is not None]


def _tag(player: Player, game: GameView | None) -> NameTag:
    team = None if game is None else next((one for one in (game.home, game.away) if one.jersey == player.jersey), None)
    number = player.number or player.id.rpartition("-")[2]
    text = " ".join(part for part in ("" if team is None else drawable(team.short), number, player.role) if part)
    return NameTag(player.id, text, *_colors(team))


def _colors(team: TeamView | None) -> tuple[Color, Color]:
    if team is None:
        return (28, 21, 16), (250, 247, 244)
    color = _bgr(team.color)
    # White or black, whichever is clearer: a team's own ink may not be readable.
    bright = 0.114 * color[0] + 0.587 * color[1] + 0.299 * color[2] > 140
    return color, (16, 16, 16) if bright else (250, 250, 250)


def _bgr(color: str) -> Color:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return blue, green, red
