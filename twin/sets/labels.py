"""Labels of a rendered picture: exact corners, boxes, kinds, and the visible share of each object.

The visible share of whole figures, the ball and hands is counted in a picture of owners, drawn lowest first as by the
compositor; the visible parts of base tops come exactly from the renderer.

A picture of a data set is a record of them (`Sample`), and a line per object in the form YOLO-pose training reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.frame import Pixel
from downfield.core.records import record
from downfield.core.scene import BallState, Jersey, Player
from downfield.twin.physics.poses import FALLEN_DEG
from downfield.twin.randomization.deck import Split
from downfield.twin.render.compositor import fill_hull, to_fixed
from downfield.twin.render.renderer import BaseTop, RenderedFrame
from downfield.twin.table.appearance import Appearance, Solid
from downfield.twin.table.snapshot import FigurePose, Snapshot
from downfield.twin.table.solids import PlacedSolids, SolidPlacer, hand_solids, settle

Box = tuple[float, float, float, float]

_LYING_MM = 9.0  # over the board, at most


@record
class FigureLabel:
    """One figure in a picture."""

    id: str  # id, jersey: roster id and jersey of its player
    jersey: Jersey
    kind: Literal["upright", "fallen"]  # upright, or fallen when tilted by more than 45 degrees
    box_px: Box  # left, top, right, bottom of the whole figure, hidden parts included, cut at the picture's edge
    corners_px: tuple[Pixel, ...]  # the base top's front-left, front-right, rear-right, rear-left corners
    corners_visible: tuple[bool, ...]  # whether each of them is visible
    visible: float  # visible share of the base top, 0..1
    shown: float  # visible share of the whole figure, 0..1
    helmet_px: Pixel  # center of the helmet
    helmet_visible: bool  # whether the helmet itself is visible there
    position_mm: tuple[float, float, float]  # origin of its frame, board frame: the center of the base's underside
    heading_deg: float  # direction of its front on the board, counter-clockwise from +x
    tilt_deg: float  # 0 standing, 90 lying
    base_mm: tuple[float, float, float, float]  # length, width, height and corner radius of its base
    in_hand: bool  # whether a coach holds it


@record
class ThingLabel:
    """The ball, or a hand with its forearm."""

    kind: Literal["ball", "hand"]  # ball or hand
    box_px: Box  # left, top, right, bottom, cut at the picture's edge
    center_px: Pixel  # center of the whole ball; the fingertips of a hand
    shown: float  # visible share, 0..1
    state: BallState | None = None  # of the ball; None for a hand
    carrier: str | None = None  # roster id of the figure that carries the ball


@record
class Labels:
    """All labels of one picture. Objects wholly outside it have none."""

    figures: tuple[FigureLabel, ...]
    things: tuple[ThingLabel, ...]


class Labeler:
    """Labels pictures of one appearance."""

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        self._appearance = appearance
        self._players = tuple(players)
        self._placer = SolidPlacer(appearance)

    def label(self, snapshot: Snapshot, frame: RenderedFrame) -> Labels:
        """Return the labels of a picture.

        Args:
            snapshot: of the table at its mid exposure.
            frame: the picture with the visible parts of base tops.
        """
        settled = settle(snapshot, self._appearance.field, self._appearance.board.bow_mm)
        placed = self._placer.place(settled)
        owners = self._owners(placed, settled)
        seen = _Seen(placed, owners, frame.camera)
        figures = [
            self._figure(i, pose, top, placed, seen)
            for i, (pose, top) in enumerate(zip(settled.figures, frame.base_tops, strict=True))
            if seen.box(i) is not None
        ]
        return Labels(tuple(figures), tuple(self._things(settled, placed, seen, frame.camera)))

    def _owners(self, placed: PlacedSolids, snapshot: Snapshot) -> NDArray[np.intp]:
        """Return the owner of each solid: a figure's row, or a number for the ball, a hand or a figure's own ball."""
        owners = np.array(placed.owners)
        own_balls = [k for k, solid in enumerate(placed.solids) if solid.part in ("ball", "strewn")]
        owners[own_balls] += self._first_own_ball(snapshot)
        groups = [len(self._appearance.ball.solids)] if snapshot.ball else [0]
        groups += [len(hand_solids(hand, self._appearance.skin, self._appearance.sleeve)) for hand in snapshot.hands]
        start = len(owners) - sum(groups) - len(snapshot.sticks)
        for i, size in enumerate(groups):
            owners[start : start + size] = len(self._players) + i
            start += size
        return owners

    def _first_own_ball(self, snapshot: Snapshot) -> int:
        return len(self._players) + 1 + len(snapshot.hands)

    def _figure(self, i: int, pose: FigurePose, top: BaseTop, placed: PlacedSolids, seen: _Seen) -> FigureLabel:
        player = self._players[i]
        turn = Rotation.from_quat(pose.rotation, scalar_first=True).as_matrix()
        tilt = float(np.degrees(np.arccos(np.clip(turn[2, 2], -1, 1))))
        # A figure on its face or back has no level front; its heading is square to its left.
        level = np.hypot(*turn[:2, 0]) >= np.hypot(*turn[:2, 1])
        front = turn[:2, 0] if level else np.array([turn[1, 1], -turn[0, 1]])
        helmet_px, helmet_visible = seen.helmet(i, placed)
        base = player.base
        return FigureLabel(
            id=player.id,
            jersey=player.jersey,
            kind="fallen" if tilt > FALLEN_DEG else "upright",
            box_px=seen.box(i) or (0.0, 0.0, 0.0, 0.0),
            corners_px=tuple(_pixel(corner) for corner in top.corners_px),
            corners_visible=top.corners_visible,
            visible=round(top.visible, 4),
            shown=seen.share(i),
            helmet_px=helmet_px,
            helmet_visible=helmet_visible,
            position_mm=pose.position_mm,
            heading_deg=float(np.degrees(np.arctan2(front[1], front[0]))),
            tilt_deg=tilt,
            base_mm=(base.length_mm, base.width_mm, base.height_mm, base.corner_mm),
            in_hand=pose.in_hand,
        )

    def _things(self, snapshot: Snapshot, placed: PlacedSolids, seen: _Seen, camera: Camera) -> list[ThingLabel]:
        out, count = [], len(self._players)
        ball = snapshot.ball
        if ball and (box := seen.box(count)):
            state: BallState = "carried" if ball.carrier else "magnetic" if ball.kind == "magnetic" else "loose"
            at = _pixel(camera.to_pixels(np.array(ball.position_mm)))
            out.append(ThingLabel("ball", box, at, seen.share(count), state, ball.carrier))
        for i, player in enumerate(self._players):
            owner = self._first_own_ball(snapshot) + i
            if box := seen.box(owner):
                middle_mm = seen.middle_mm(owner, placed)
                lies = _lies(placed.solids[seen.first(owner)])
                # Around a fallen figure there is no room for a ball.
                shown = 0.0 if lies and abs(middle_mm[2]) > _LYING_MM else seen.share(owner)
                at = _pixel(camera.to_pixels(middle_mm))
                out.append(ThingLabel("ball", box, at, shown, lies or "carried", None if lies else player.id))
        for i, hand in enumerate(snapshot.hands):
            if box := seen.box(count + 1 + i):
                at = _pixel(camera.to_pixels(np.array(hand.fingertip_mm)))
                out.append(ThingLabel("hand", box, at, seen.share(count + 1 + i)))
        return out


def _lies(solid: Solid) -> BallState | None:
    """Return the state of a figure's own ball with this first solid: magnetic or loose; None for one that is held."""
    if solid.part != "strewn":
        return None
    return "magnetic" if solid.kind == "cylinder" else "loose"


class _Seen:
    """The visible owner at every pixel. `owners`: owner of each solid; -1 for none."""

    def __init__(self, placed: PlacedSolids, owners: NDArray[np.intp], camera: Camera) -> None:
        self._owners = owners
        self._camera = camera
        width, height = camera.lens.size_px
        points_px = camera.to_pixels(placed.points_mm)
        low, high = points_px.min(axis=1), points_px.max(axis=1)
        inside = (high > -0.5).all(axis=1) & (low < np.array([width, height]) - 0.5).all(axis=1)
        self._low, self._high = low, high
        self._inside = inside
        self._fixed = to_fixed(np.nan_to_num(points_px, nan=-1e5))
        self._picture = np.zeros((height, width), dtype=np.uint8)
        for k in np.argsort(placed.points_mm[:, :, 2].mean(axis=1)):
            if inside[k]:
                fill_hull(self._picture, self._fixed[k], (int(owners[k]) + 1,), smooth=False)

    def box(self, owner: int) -> Box | None:
        """Return the box of an owner's solids, cut at the picture's edge; None when it is outside."""
        own = (self._owners == owner) & self._inside
        if not own.any():
            return None
        size = np.array(self._camera.lens.size_px)
        low = np.clip(self._low[own].min(axis=0), -0.5, size - 0.5)
        high = np.clip(self._high[own].max(axis=0), -0.5, size - 0.5)
        return (*_pixel(low), *_pixel(high))

    def share(self, owner: int) -> float:
        """Return the visible share of an owner's outline, 0..1; parts outside the picture are not visible."""
        own = np.flatnonzero((self._owners == owner) & self._inside)
        box = self.box(owner)
        if box is None:
            return 0.0
        every = np.flatnonzero(self._owners == owner)
        low = np.floor(self._low[every].min(axis=0)).astype(int)
        columns, rows = np.ceil(self._high[every].max(axis=0)).astype(int) - low + 1
        if columns * rows > 4 * self._picture.size:  # an arm reaches far out of the picture
            low, (columns, rows) = np.array([0, 0]), self._picture.shape[::-1]
        alone = np.zeros((rows, columns), dtype=np.uint8)
        for k in own:
            fill_hull(alone, self._fixed[k] - to_fixed(low.astype(np.float64)), (255,), smooth=False)
        left, top = np.maximum(low, 0)
        seen = self._picture[top : max(low[1] + rows, 0), left : max(low[0] + columns, 0)] == owner + 1
        whole = cv2.countNonZero(alone)
        return round(min(float(np.count_nonzero(seen)) / whole, 1.0), 4) if whole else 0.0

    def middle_mm(self, owner: int, placed: PlacedSolids) -> Array:
        """Return the middle of an owner's first solid, board frame."""
        middle: Array = placed.points_mm[self.first(owner)].mean(axis=0)
        return middle

    def first(self, owner: int) -> int:
        """Return the row of an owner's first solid."""
        return int(np.flatnonzero(self._owners == owner)[0])

    def helmet(self, owner: int, placed: PlacedSolids) -> tuple[Pixel, bool]:
        """Return the center of a figure's helmet, and whether its own figure is visible there."""
        at = next(k for k in np.flatnonzero(self._owners == owner) if placed.solids[k].part == "helmet")
        middle = self._camera.to_pixels(placed.points_mm[at].mean(axis=0))
        column, row = np.rint(middle).astype(int)
        height, width = self._picture.shape
        inside = 0 <= row < height and 0 <= column < width
        return _pixel(middle), bool(inside and self._picture[row, column] == owner + 1)


def _pixel(point: Array) -> Pixel:
    return (round(float(point[0]), 3), round(float(point[1]), 3))


CLASSES = ("upright", "fallen", "ball", "hand")
KEYPOINTS = ("front_left", "front_right", "rear_right", "rear_left", "helmet")
_MIRRORED = (1, 0, 3, 2, 4)  # index of each keypoint in a picture flipped left to right

_HIDDEN, _SEEN = 1, 2  # flags of keypoints, as in COCO; 0 outside the picture
SEEN_SHARE = 0.2  # visible share of a ball or a hand from which its point is flagged as seen
LEAST_SHOWN = 0.08  # objects with a smaller visible share have no line


@record
class Sample:
    """One picture with its exact truth."""

    index: int  # of the picture in its split
    image: str  # its path, relative to the data set's folder
    split: Split  # training, validation or test
    table: int  # number of its drawn table; pictures of one table share its appearance
    play: bool  # whether it comes from a play of the physics; otherwise it was arranged
    renderer: str  # name of the program that drew it: one of the twin's renderers, or another
    power: bool  # whether the board was on
    calibration: Calibration  # the printed field, and the camera at mid exposure, shake included
    labels: Labels  # of the objects in it


def yolo_lines(labels: Labels, size_px: tuple[int, int]) -> list[str]:
    """Return one line per object: class, box, then x, y and flag of five keypoints, all as shares of the picture.

    The ball and hands carry their center and fingertips in the helmet's place, flagged as hidden where less than
    `SEEN_SHARE` of them is visible. Objects with a visible share below `LEAST_SHOWN` are left out.
    """
    every: list[FigureLabel | ThingLabel] = [*labels.figures, *labels.things]
    return [_line(each, size_px) for each in every if each.shown >= LEAST_SHOWN]


def data_yaml() -> str:
    """Return the data set's description for ultralytics, with paths relative to itself."""
    names = "\n".join(f"  {i}: {name}" for i, name in enumerate(CLASSES))
    return (
        "train: images/train\nval: images/val\ntest: images/test\n"
        f"kpt_shape: [{len(KEYPOINTS)}, 3]\nflip_idx: {list(_MIRRORED)}\nnames:\n{names}\n"
    )


def _line(label: FigureLabel | ThingLabel, size_px: tuple[int, int]) -> str:
    points: list[tuple[Pixel | None, bool]]
    if isinstance(label, ThingLabel):
        points = [(None, False)] * (len(KEYPOINTS) - 1) + [(label.center_px, label.shown >= SEEN_SHARE)]
    else:
        seen = (*label.corners_visible, label.helmet_visible)
        points = list(zip((*label.corners_px, label.helmet_px), seen, strict=True))
    width, height = size_px
    left, top, right, bottom = label.box_px
    # Pixel centers are whole numbers here; shares count from the picture's outer edge.
    values = [(left + right) / 2 + 0.5, (top + bottom) / 2 + 0.5, right - left, bottom - top]
    numbers = [f"{value / side:.6f}" for value, side in zip(values, (width, height, width, height), strict=True)]
    for point, visible in points:
        if point is None or not all(-0.5 <= value < side - 0.5 for value, side in zip(point, size_px, strict=True)):
            numbers += ["0", "0", "0"]
        else:
            numbers += [f"{(value + 0.5) / side:.6f}" for value, side in zip(point, size_px, strict=True)]
            numbers.append(str(_SEEN if visible else _HIDDEN))
    return " ".join([str(CLASSES.index(label.kind)), *numbers])
