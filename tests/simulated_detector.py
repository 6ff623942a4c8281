"""A detector simulated from the twin's truth, with the errors of a network: for tests and benchmarks.

`simulated_views` gives what a camera views in every frame of a play: exact corners, boxes and what hides what.
`SimulatedDetector` makes detections of it; every error is a named number of `Faults`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection, DetectionKind
from downfield.core.scene import Player
from downfield.models.base_sizes import CORNER_CORRELATION
from downfield.twin.film.sensor_effects import Sway
from downfield.twin.physics.poses import FALLEN_DEG, with_bench
from downfield.twin.render.renderer import base_tops
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import FigurePose, Snapshot
from downfield.twin.table.solids import SolidPlacer, cloud, hand_solids
from downfield.vision.measuring.measurement import Measurements

Box = tuple[float, float, float, float]

_EDGEWISE = np.stack([np.linalg.cholesky(CORNER_CORRELATION[..., axis]) for axis in (0, 1)], axis=2)


@dataclass(frozen=True, slots=True)
class SimulatedFigure:
    """One figure in the image.

    Attributes:
        id: roster id.
        corners_px: of its base's top, shape (4, 2).
        corners_visible: which of them are visible.
        visible: share of the base's top that is visible.
        covered: whether a hand covers its middle.
        box: around all of it.
        helmet_px: center of the helmet.
        tilt_deg: 0 upright.
    """

    id: str
    corners_px: Array
    corners_visible: tuple[bool, ...]
    visible: float
    covered: bool
    box: Box
    helmet_px: Array
    tilt_deg: float


@dataclass(frozen=True, slots=True)
class SimulatedView:
    """What the camera views in one frame.

    Attributes:
        t_ns: its time.
        camera: where the camera truly is.
        figures: in roster order, without those outside the image.
        ball_px: center of the ball, None when there is none.
        hands: box and fingertips of each.
    """

    t_ns: int
    camera: Camera
    figures: tuple[SimulatedFigure, ...]
    ball_px: Array | None
    hands: tuple[tuple[Box, Array], ...]


def simulated_views(
    snapshots: Iterable[Snapshot], players: tuple[Player, ...], look: Appearance, *, seed: int = 0
) -> Iterator[SimulatedView]:
    """What the appearance's camera, swaying and vibrating, views in each snapshot."""
    placer, sway = SolidPlacer(look), Sway(look.sensor, seed)
    helmets = [i for i, solid in enumerate(s for f in look.figures for s in f.solids) if solid.part == "helmet"]
    starts = np.cumsum([0, *(len(figure.solids) for figure in look.figures)])
    for bare in snapshots:
        snapshot = with_bench(bare, players, look.field)
        camera = sway.camera(look.camera, snapshot.t_ns * 1e-9, power=snapshot.power)
        placed = placer.place(snapshot)
        points = camera.to_pixels(placed.points_mm[: starts[-1]])
        low = np.minimum.reduceat(points.min(axis=1), starts[:-1])
        high = np.maximum.reduceat(points.max(axis=1), starts[:-1])
        hands = [_hand(hand_points, camera) for hand_points in _hand_points(snapshot)]
        tops = base_tops(players, snapshot, placed, camera)
        size = np.array(camera.lens.size_px)
        figures = tuple(
            SimulatedFigure(
                id=top.id,
                corners_px=top.corners_px,
                corners_visible=top.corners_visible,
                visible=top.visible,
                covered=any(_inside(outline, top.corners_px.mean(axis=0)) for _, _, outline in hands),
                box=_box(low[i], high[i]),
                helmet_px=points[helmets[i]].mean(axis=0),
                tilt_deg=_tilt_deg(pose),
            )
            for i, (top, pose) in enumerate(zip(tops, snapshot.figures, strict=True))
            if np.isfinite(top.corners_px).all() and (high[i] > 0).all() and (low[i] < size).all()
        )
        ball = None if snapshot.ball is None else camera.to_pixels(np.array(snapshot.ball.position_mm))
        yield SimulatedView(snapshot.t_ns, camera, figures, ball, tuple((box, tip) for box, tip, _ in hands))


@dataclass(frozen=True, slots=True)
class Faults:
    """Errors of the network. Pixels are those of an image 1920 wide.

    Attributes:
        corner_px: standard deviation of a visible corner, in each direction.
        hidden_px: the same of a hidden one.
        lasting: share of the corners' variance that persists from frame to frame.
        lasting_s: time constant of that.
        wild: share of figures whose corners have three times the error.
        miss: share of fully visible figures that are missed.
        faint: visible share of a base top below which misses become more frequent.
        flip: share of figures detected the wrong way around.
        flip_s: how long one stays so.
        turned: share of figures detected the wrong way around throughout, as those of unknown builds.
        called_fallen: share of figures called fallen throughout, their helmets seen beside their bases, likewise.
        double: share of figures detected twice.
        false: false detections per frame.
        tilt_deg: standard deviation of the tilt that decides between upright and fallen.
        mistake: share of figures classified wrongly at random.
    """

    corner_px: float = 0.65
    hidden_px: float = 2.2
    lasting: float = 0.5
    lasting_s: float = 0.4
    wild: float = 0.02
    miss: float = 0.004
    faint: float = 0.3
    flip: float = 0.03
    flip_s: float = 0.08
    turned: float = 0.0
    called_fallen: float = 0.0
    double: float = 0.004
    false: float = 0.03
    tilt_deg: float = 8.0
    mistake: float = 0.005


PERFECT = Faults(
    corner_px=0.0,
    hidden_px=0.0,
    wild=0.0,
    miss=0.0,
    faint=0.0,
    flip=0.0,
    double=0.0,
    false=0.0,
    tilt_deg=0.0,
    mistake=0.0,
)
"""No faults at all."""

_HIDDEN_MISSED = 0.95  # share of entirely hidden figures
_HIDDEN_SCORE, _SEEN_SCORE = 0.3, 0.93
_JERSEY_ODDS = 5.0
_HELMET_PX, _BOX_PX = 1.0, 1.5
_BESIDE_PX = np.array([0.0, 45.0])  # a helmet that stands out over the base
_BALL_PX = (5.0, 0.6)  # half its size, and error
_BALL_FOUND = 0.6


class SimulatedDetector:
    """Detects figures as a network would, frame after frame.

    Args:
        faults: its errors.
        seed: of the errors.
    """

    def __init__(self, faults: Faults | None = None, seed: int = 0) -> None:
        self._faults = faults or Faults()
        self._random = np.random.default_rng([seed, 0xDE7EC7])
        self._lasting: dict[str, Array] = {}
        self._flipped: dict[str, bool] = {}
        self._turned: dict[str, bool] = {}
        self._called_fallen: dict[str, bool] = {}
        self._last_ns: int | None = None

    def detect(self, view: SimulatedView) -> tuple[Detection, ...]:
        """The detections of one frame, best first."""
        scale = view.camera.lens.size_px[0] / 1920
        step_s = 1 / 30 if self._last_ns is None else (view.t_ns - self._last_ns) * 1e-9
        self._last_ns = view.t_ns
        found = []
        for figure in view.figures:
            if self._random.random() < self._missed(figure):
                continue
            detection = self._figure(figure, step_s, scale)
            found.append(detection)
            if self._random.random() < self._faults.double:
                found.append(replace(self._figure(figure, step_s, scale), score=0.6 * detection.score))
        found += [self._false(view, scale) for _ in range(self._random.poisson(self._faults.false))]
        found += self._things(view, scale)
        return tuple(sorted(found, key=lambda detection: -detection.score))

    def _missed(self, figure: SimulatedFigure) -> float:
        faults = self._faults
        lies = figure.tilt_deg > FALLEN_DEG  # its base top may be hidden
        seen = (0.0 if figure.covered else 1.0) if lies else figure.visible
        if seen >= faults.faint:
            return faults.miss
        return faults.miss + (_HIDDEN_MISSED - faults.miss) * (1 - seen / faults.faint) ** 2

    def _figure(self, figure: SimulatedFigure, step_s: float, scale: float) -> Detection:
        faults, random = self._faults, self._random
        shown = np.array(figure.corners_visible)
        sigma = np.where(shown, faults.corner_px, faults.hidden_px) * scale
        if random.random() < faults.wild:
            sigma = 3 * sigma
        ahead = figure.corners_px[:2].mean(axis=0) - figure.corners_px[2:].mean(axis=0)
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
        axes = np.array([ahead, [-ahead[1], ahead[0]]])
        corners = figure.corners_px + sigma[:, None] * (self._unit_error(figure.id, step_s) @ axes)
        scores = np.where(shown, _SEEN_SCORE, _HIDDEN_SCORE) + random.normal(0, [0.04, 0.15])[(~shown).astype(int)]
        kind: DetectionKind = (
            "fallen" if figure.tilt_deg + random.normal(0, faults.tilt_deg) > FALLEN_DEG else "upright"
        )
        if random.random() < faults.mistake:
            kind = "upright" if kind == "fallen" else "fallen"
        doubt = 0.35 * math.exp(-(((figure.tilt_deg - FALLEN_DEG) / 20) ** 2)) + 0.3 * (figure.visible < faults.faint)
        if self._is_flipped(figure.id, step_s) != self._lasts(figure.id, faults.turned, self._turned):
            corners, scores = np.roll(corners, 2, axis=0), np.roll(scores, 2)
        helmet = figure.helmet_px + random.normal(0, _HELMET_PX * scale, 2)
        if self._lasts(figure.id, faults.called_fallen, self._called_fallen):
            kind, helmet = "fallen", helmet + _BESIDE_PX * scale
        return Detection(
            kind=kind,
            score=float(np.clip(0.92 - doubt + random.normal(0, 0.03), 0.05, 0.99)),
            box_px=_shaken(figure.box, random.normal(0, _BOX_PX * scale, 4)),
            corners_px=tuple((float(x), float(y)) for x, y in corners),
            corner_scores=tuple(float(score) for score in np.clip(scores, 0.01, 0.99)),
            helmet_px=(float(helmet[0]), float(helmet[1])),
            helmet_score=0.9,
        )

    def _unit_error(self, id_: str, step_s: float) -> Array:
        """Errors of a figure's corners along and across its base, unit variance, in part persistent; shape (4, 2)."""
        faults = self._faults
        fresh = self._random.normal(size=(4, 2))
        keep = math.exp(-step_s / faults.lasting_s)
        before = self._lasting.get(id_)
        lasting = fresh if before is None else keep * before + math.sqrt(1 - keep**2) * fresh
        self._lasting[id_] = lasting
        error: Array = math.sqrt(faults.lasting) * lasting + math.sqrt(1 - faults.lasting) * self._random.normal(
            size=(4, 2)
        )
        # A network mistakes edges rather than corners.
        edgewise: Array = np.einsum("ijk,jk->ik", _EDGEWISE, error)
        return edgewise

    def _is_flipped(self, id_: str, step_s: float) -> bool:
        keep = math.exp(-step_s / self._faults.flip_s)
        if id_ not in self._flipped or self._random.random() > keep:
            self._flipped[id_] = bool(self._random.random() < self._faults.flip)
        return self._flipped[id_]

    def _lasts(self, id_: str, share: float, known: dict[str, bool]) -> bool:
        """Whether a figure is one of the share with a fault that lasts throughout; drawn once for each figure."""
        if share and id_ not in known:
            known[id_] = bool(self._random.random() < share)
        return known.get(id_, False)

    def _false(self, view: SimulatedView, scale: float) -> Detection:
        random = self._random
        center = random.uniform((0, 0), view.camera.lens.size_px)
        turn, half = random.uniform(0, 2 * np.pi), random.uniform(0.6, 1.3) * scale * np.array([27.0, 16.0])
        spin = np.array([[math.cos(turn), math.sin(turn)], [math.sin(turn), -math.cos(turn)]])
        corners = center + (half * [(1, 1), (1, -1), (-1, -1), (-1, 1)]) @ spin.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        return Detection(
            "upright",
            float(random.uniform(0.25, 0.6)),
            _box(low, high),
            tuple((float(x), float(y)) for x, y in corners),
            tuple(float(score) for score in random.uniform(0.2, 0.9, 4)),
        )

    def _things(self, view: SimulatedView, scale: float) -> list[Detection]:
        random = self._random
        out = []
        if view.ball_px is not None and random.random() < _BALL_FOUND:
            center = view.ball_px + random.normal(0, _BALL_PX[1] * scale, 2)
            half = _BALL_PX[0] * scale
            at = (float(center[0]), float(center[1]))
            out.append(Detection("ball", 0.995, _box(center - half, center + half), helmet_px=at, helmet_score=0.7))
        for box, tip in view.hands:
            seen = tip + random.normal(0, 4 * scale, 2)
            at = (float(seen[0]), float(seen[1]))
            shaken = _shaken(box, random.normal(0, 4 * scale, 4))
            out.append(Detection("hand", 0.85, shaken, helmet_px=at, helmet_score=0.8))
        return out


def classify_jerseys(measurements: Measurements, view: SimulatedView) -> Measurements:
    """The measurements with the teams that their colors would show; ids start with the jersey."""
    light = []
    for detection in measurements.detections:
        middle = np.mean(detection.corners_px, axis=0)
        near = min(view.figures, key=lambda figure: float(np.linalg.norm(figure.corners_px.mean(axis=0) - middle)))
        light.append(_JERSEY_ODDS if near.id.startswith("light") else -_JERSEY_ODDS)
    return replace(measurements, light=np.array(light))


class ListDetector:
    """Returns prepared detections, image by image.

    Args:
        detections: of every image to come.
    """

    def __init__(self, detections: Iterable[Sequence[Detection]]) -> None:
        self._detections = iter(detections)

    @property
    def name(self) -> str:
        """Its name in reports."""
        return "simulated"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """The next detections, whatever the image."""
        del image
        return tuple(next(self._detections))


def calibration_of(view: SimulatedView, look: Appearance) -> Calibration:
    """The calibration that a shake tracker would have in this frame."""
    return Calibration(look.field, view.camera, "truth")


def _tilt_deg(pose: FigurePose) -> float:
    _, x, y, _ = pose.rotation
    return math.degrees(2 * math.asin(min(1.0, math.hypot(x, y))))


def _hand_points(snapshot: Snapshot) -> list[Array]:
    gray = (0.5, 0.5, 0.5)
    return [cloud(hand_solids(hand, gray, gray)).reshape(-1, 3) for hand in snapshot.hands]


def _hand(points_mm: Array, camera: Camera) -> tuple[Box, Array, Array]:
    """A hand's box, its fingertips and its outline, px."""
    px = camera.to_pixels(points_mm)
    size = np.array(camera.lens.size_px, dtype=np.float64)
    low, high = np.clip(px.min(axis=0), 0, size), np.clip(px.max(axis=0), 0, size)
    tip = px[np.argmin(points_mm[:, 2])]
    outline = cv2.convexHull(px.astype(np.float32))
    return _box(low, high), tip, np.asarray(outline, dtype=np.float64)


def _box(low: Array, high: Array) -> Box:
    return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def _shaken(box: Box, by: Array) -> Box:
    left, top, right, bottom = (np.array(box) + by).tolist()
    return (left, top, max(right, left + 1.0), max(bottom, top + 1.0))


def _inside(outline: Array, point: Array) -> bool:
    return cv2.pointPolygonTest(outline.astype(np.float32), (float(point[0]), float(point[1])), False) >= 0
