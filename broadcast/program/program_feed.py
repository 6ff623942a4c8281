"""Draws the program in a thread that frames never wait for, and only while somebody watches it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from downfield.broadcast.latest_picture import LatestPicture, PictureRate
from downfield.broadcast.program.live_stream import FilmWriter, LiveStream
from downfield.broadcast.program.picture_process import PictureProcess, program_jpeg
from downfield.broadcast.program.program_painter import DrawRequest, ProgramMoment, ProgramPainter
from downfield.broadcast.program.stream_encoder import ProgramEncoder
from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.capture.source import LoopObserver
from downfield.core.frame import Frame
from downfield.core.platform.processes import lower_priority
from downfield.core.scene import Scene
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.game.published.stream_topics import OnAirPerson, ProgramOptions


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Rates and quality of the program."""

    fps: float = 30.0  # Rate while it is watched
    overloaded_fps: float = 6.0  # Rate while the computer drops frames or detects too rarely, since calls come first


PROGRAM_LIMITS: Final = ProgramLimits()

_FIRST_TAKES: Final = 1 << 30


class ProgramDrawer(LoopObserver):
    """Draws the newest frame, if the next picture is due; observes the loop.

    Args:
        moment: returns what is shown besides the picture.
        camera: returns where the camera was in the latest frame; None where its shake is not followed.
        overloaded: whether the computer is too slow for its work.
        failed: receives why a picture could not be drawn, as a phrase; the next one is drawn again.
        own_process: whether pictures are drawn in a process of their own, where that can be had.

    Attributes:
        stream: receives it as a film.
        options: how it looks now.
    """

    def __init__(
        self,
        moment: Callable[[], ProgramMoment],
        camera: Callable[[], Camera | None] = lambda: None,
        overloaded: Callable[[], bool] = lambda: False,
        failed: Callable[[str], None] = lambda _: None,
        late: Callable[[], bool] = lambda: False,
        own_process: bool = False,
    ) -> None:
        self.picture, self.stream = LatestPicture(), LiveStream(secrets.randbelow(_FIRST_TAKES))
        self._process = PictureProcess(FilmWriter(self.stream), self.picture.put, failed) if own_process else None
        self._encoder = ProgramEncoder(FilmWriter(self.stream), failed)
        self._moment, self._camera = moment, camera
        self._rate = PictureRate(PROGRAM_LIMITS.fps, PROGRAM_LIMITS.overloaded_fps, late, overloaded)
        self.options, self._people = ProgramOptions(), tuple[OnAirPerson, ...]()
        self._painter = ProgramPainter()
        self._calibration: Calibration | None = None
        self._newest: BoundedQueue[tuple[Frame, Scene, Camera | None]] = BoundedQueue(1)
        self._next_at = 0.0
        self._thread = supervised_thread(
            self._run, "program feed", failed, restarts=True, closed=lambda: self._newest.finished
        )
        self._thread.start()

    def use(self, options: ProgramOptions, people: tuple[OnAirPerson, ...] = ()) -> None:
        """Change how it looks from the next picture on, and who is named in its tags."""
        self.options, self._people = options, people

    def calibrate(self, calibration: Calibration) -> None:
        """Draw with a calibration from now on; before the first, pictures are shown plain."""
        self._calibration = calibration

    def scene_ready(self, frame: Frame, scene: Scene) -> None:
        """Draw a frame, if somebody watches and the next picture is due."""
        if not self.picture.watchers and not self.stream.wanted:
            self._rate.pause()
            return
        now = time.monotonic()
        fps = self._rate.fps(frame.index, now)
        # Half a frame early is on time: at 60 frames/s every second one is drawn, whatever the clock's grain.
        if now >= self._next_at - 0.25 / PROGRAM_LIMITS.fps:
            self._next_at = max(self._next_at, now - 1 / fps) + 1 / fps
            self._newest.put_or_drop((frame, scene, self._camera()))

    def close(self) -> None:
        """Stop drawing."""
        self._newest.close()
        if self._process is not None:
            self._process.end()  # the thread may be waiting for a picture of it
        self._thread.join()
        if self._process is not None:
            self._process.close()
        self._encoder.close()
        self.picture.close()
        self.stream.close()

    def _run(self) -> None:
        lower_priority()
        for frame, scene, camera in self._newest:
            film, picture = self.stream.wanted, self.picture.watchers > 0
            moment, options = replace(self._moment(), people=self._people), self.options
            if self._process is not None:
                request = DrawRequest(frame.t_ns, scene, camera, moment, options, film=film, picture=picture)
                if self._process.draw(frame.image, request, self._calibration):
                    continue
                film = film and self._process.unusable  # it begins a film once, where it goes on
            self._painter.calibrate(self._calibration)
            image = self._painter.draw(frame.image, scene, camera, moment, options)
            if film:
                self._encoder.put(image, frame.t_ns)
            if picture and (jpeg := program_jpeg(image)) is not None:
                self.picture.put(jpeg)
