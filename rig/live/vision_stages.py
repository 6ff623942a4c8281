"""Two vision stages: the network, in another process where frames must not wait, and scenes that were recorded."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.errors import DownfieldError, InputError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint
from downfield.core.frame import Frame
from downfield.core.mathematics import wrap_deg
from downfield.core.records import read_record, record, to_json, write_text
from downfield.core.scene import Ball, Player, Scene, SentFigure
from downfield.core.track_files import read_roster
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.models.worker_client import open_with_worker
from downfield.rig.configuration.settings import NetworkSettings, RigSettings, tables_folder
from downfield.rig.live.connections import DetectionResult, FigurelessVision
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.pipeline import Vision
from downfield.vision.tracking.teams import TeamColors

_log = logging.getLogger(__name__)
_DIGEST_DIGITS: Final = 12

PLAYBACK_DIVISOR: Final = 3.0
"""Factor by which whole frames of a recording are detected more rarely: frames wait for the detector, and the recording
should still play at its own pace."""


def open_vision(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> Vision:
    """Open the vision stage of a camera. All stages share one detector, so only one of them may be in use.

    Args:
        roster: a file with the players on the board; None to number the figures found.
        live: whether frames are dropped when detection takes too long, so that it must adapt to the computer. Recorded
            frames wait, and the result does not depend on the computer.

    Raises:
        InputError, FormatError: the network or the file does not exist, or the roster is malformed.
    """
    known = None if roster is None else read_roster(roster)
    network = settings.network
    if live:
        rate = detection_rate(network, time.perf_counter_ns)
        if roster is None:  # other teams may play on the table next time
            return Vision(calibration, worker_detector(network), rate=rate)
        kept = KeptColors.of(settings, roster)
        return Vision(
            calibration, worker_detector(network), known, rate=rate, colors=kept.read(), keep_colors=kept.write
        )
    rate = DetectionRate(_period_ns(network.detections_per_s / PLAYBACK_DIVISOR), _period_ns(network.refinements_per_s))
    return Vision(calibration, local_detector(network), known, rate=rate)


@record
class LearnedColors:
    """The colors of two teams, ``*.colors.json``, as learned at the last line-up in which it was known who is who."""

    palette: tuple[tuple[float, ...], ...]  # colors in Lab, L as weighted
    # how often each occurs on each part of the light and of the dark team
    counts: tuple[tuple[tuple[float, ...], ...], ...]
    format: Literal["downfield.colors"] = "downfield.colors"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class KeptColors:
    """The file of the colors of a roster's teams on one table; without it they are learned anew."""

    path: Path

    @classmethod
    def of(cls, settings: RigSettings, roster: Path) -> KeptColors:
        """Return the file for a source and a roster."""
        source = hashlib.sha256(settings.source.name.encode()).hexdigest()[:_DIGEST_DIGITS]
        return cls(tables_folder(settings) / f"{roster.stem}-{source}.colors.json")

    def read(self) -> TeamColors | None:
        """Return the colors; None if there are none yet."""
        if not self.path.is_file():
            return None
        try:
            kept = read_record(LearnedColors, self.path)
        except DownfieldError as error:
            _log.warning("the teams' colors are learned anew: %s", error)
            return None
        return TeamColors(np.array(kept.palette), np.array(kept.counts))

    def write(self, colors: TeamColors) -> None:
        """Keep the colors."""
        palette = tuple(tuple(color) for color in colors.palette.tolist())
        counts = tuple(tuple(tuple(part) for part in team) for team in colors.color_counts.tolist())
        learned = LearnedColors(palette, counts)
        try:
            write_text(self.path, (to_json(LearnedColors, learned),))
        except DownfieldError as error:
            _log.warning("the teams' colors are not kept: %s", error)


def detection_rate(network: NetworkSettings, clock: Callable[[], int]) -> DetectionRate:
    """Return the rates at which the network runs, adapted by a clock; see `DetectionRate`."""
    return DetectionRate(_period_ns(network.detections_per_s), _period_ns(network.refinements_per_s), clock)


@cache
def local_detector(network: NetworkSettings) -> Detector:
    """Return the detector of this process, opened once. Raises InputError: its network can't be run here."""
    return open_detector(**_arguments(network))


@cache
def worker_detector(network: NetworkSettings) -> Detector:
    """Return the detector that sends whole frames to another process, if possible, so that tracking does not wait.

    Raises InputError: the network does not exist, or can't be run here.
    """
    open_here = partial(open_detector, **_arguments(network))
    return open_with_worker(lambda whole_pictures: open_here(whole_pictures=whole_pictures), _arguments(network))


def _period_ns(times_per_s: float) -> int:
    return round(1e9 / times_per_s)


def _arguments(network: NetworkSettings) -> dict[str, Any]:
    return {
        "name_or_path": network.name or BUNDLED,
        "threads": network.threads,
        "refine_threads": network.refine_threads,
        "refine": network.refine,
    }


class RecordedVision(FigurelessVision):
    """Returns the scenes recorded beside a clip, frame by frame; no players where recorded events declare them."""

    def __init__(self, tracks: Iterable[Scene], players: tuple[Player, ...] = ()) -> None:
        self.players = players
        self._scenes = iter(tracks)
        self._next: Scene | None = next(self._scenes, None)

    def update(self, frame: Frame, *_: object) -> Scene:
        """Return the scene of a frame. Raises InputError: the tracks have no scene for the frame."""
        while self._next is not None and self._next.frame < frame.index:
            self._next = next(self._scenes, None)
        if self._next is None or self._next.frame != frame.index:
            raise InputError(f"frame {frame.index}: the clip's tracks hold no scene for it")
        return self._next


_SMOOTHING: Final = 0.5  # Share of the step before in a sent figure's velocity
_LONGEST_STEP_S: Final = 0.5  # Two scenes further apart say nothing of a velocity


class SentVision(FigurelessVision):
    """Makes scenes of what another program has seen: contacts are measured by the errors that it states.

    Figures that the roster does not name are added to it as they are first seen.
    """

    def __init__(self, field: FieldModel, players: tuple[Player, ...] = ()) -> None:
        self.players = players
        self._scales = {"mm": (1.0, 1.0), "yd": (field.mm_per_yd_x, field.mm_per_yd_y)}
        self._contacts = ContactTracker()
        self._before: dict[str, tuple[int, Estimate]] = {}

    def update(self, frame: Frame, _: DetectionResult, carrier: str | None = None, /) -> Scene:
        """Return the scene of a frame. Raises InputError: nothing was sent with it."""
        sent = frame.sent
        if sent is None:
            raise InputError(f"frame {frame.index}: no scene was sent with it")
        known = {player.id: player for player in self.players}
        for figure in sent.figures:
            id_ = f"{figure.team}-{figure.number}"
            known.setdefault(id_, Player(id_, figure.team, figure.number))
        self.players = tuple(known.values())
        x_mm, y_mm = self._scales[sent.unit]
        estimates = [
            self._estimate(figure, known[f"{figure.team}-{figure.number}"], frame.t_ns, (x_mm, y_mm))
            for figure in sent.figures
        ]
        contacts = self._contacts.step(estimates, frame.t_ns, power=sent.board, fit=not sent.unfit)
        figures = {estimate.id: estimate.to_figure() for estimate in estimates}
        ball = sent.ball
        return Scene(
            frame.index,
            frame.t_ns,
            sent.board,
            tuple(figures[id_] for id_ in known if id_ in figures),
            contacts,
            Ball(ball.state, ball.x * x_mm, ball.y * y_mm, ball.carrier or carrier, ball.sigma_mm) if ball else None,
            unfit=sent.unfit,
        )

    def _estimate(self, figure: SentFigure, player: Player, t_ns: int, scale: tuple[float, float]) -> Estimate:
        pose = np.array([figure.x * scale[0], figure.y * scale[1], math.radians(figure.heading_deg)])
        heading_deg = wrap_deg(figure.heading_deg)
        sigmas = figure.sigma_mm, figure.sigma_mm, math.radians(figure.sigma_deg)
        velocity, fell_ns = np.zeros(3), t_ns if figure.fallen else None
        if (known := self._before.get(player.id)) is not None:
            then_ns, last = known
            step_s = (t_ns - then_ns) / 1e9
            footprint = last.footprint
            gone = pose - (footprint.x_mm, footprint.y_mm, math.radians(footprint.heading_deg))
            gone[2] = math.radians(wrap_deg(math.degrees(gone[2])))
            if step_s < _LONGEST_STEP_S:
                velocity = _SMOOTHING * last.velocity + (1 - _SMOOTHING) * gone / step_s
            fell_ns = (last.fell_ns or t_ns) if figure.fallen else None
        estimate = Estimate(
            player.id,
            player.jersey,
            Footprint(float(pose[0]), float(pose[1]), heading_deg, player.base),
            np.diag(np.square(np.maximum(sigmas, 1e-6))),
            velocity,
            "fallen" if figure.fallen else "upright",
            float(figure.fallen),
            fell_ns=fell_ns,
        )
        self._before[player.id] = t_ns, estimate
        return estimate


class UncalibratedVision(FigurelessVision):
    """Returns empty scenes that are unfit for calls, so that the camera can be aimed by its picture."""

    def __init__(self, reason: str) -> None:
        self._unfit = (reason,)

    def update(self, frame: Frame, *_: object) -> Scene:
        """Return an empty scene, unfit for calls."""
        return Scene(frame.index, frame.t_ns, "unknown", (), unfit=self._unfit)
