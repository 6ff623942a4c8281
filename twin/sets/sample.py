"""One picture of a data set: its labels as a record, and as a line per object in the form YOLO-pose training reads."""

from __future__ import annotations

from downfield.calibration.calibration import Calibration
from downfield.core.frame import Pixel
from downfield.core.records import record
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.labels import FigureLabel, Labels, ThingLabel

CLASSES = ("upright", "fallen", "ball", "hand")
KEYPOINTS = ("front_left", "front_right", "rear_right", "rear_left", "helmet")
_MIRRORED = (1, 0, 3, 2, 4)  # index of each keypoint in a picture flipped left to right

_OUTSIDE, _HIDDEN, _SEEN = 0, 1, 2  # flags of keypoints, as in COCO
LEAST_SHOWN = 0.08
"""Objects with a smaller visible share have no line."""


@record
class Sample:
    """One picture with its exact truth.

    Attributes:
        index: of the picture in its split.
        image: its path, relative to the data set's folder.
        split: training, validation or test.
        table: number of its drawn table; pictures of one table share its appearance.
        play: whether it comes from a play of the physics; otherwise it was arranged.
        renderer: name of the program that drew it: one of the twin's renderers, or another.
        power: whether the board was on.
        calibration: the printed field, and the camera at mid exposure, shake included.
        labels: of the objects in it.
    """

    index: int
    image: str
    split: Split
    table: int
    play: bool
    renderer: str
    power: bool
    calibration: Calibration
    labels: Labels


def yolo_lines(labels: Labels, size_px: tuple[int, int]) -> list[str]:
    """Return one line per object: class, box, then x, y and flag of five keypoints, all as shares of the picture.

    The ball and hands carry their center and fingertips in the helmet's place. Objects with a visible share below
    `LEAST_SHOWN` are left out.
    """
    figures = [
        _line(CLASSES.index(figure.kind), figure.box_px, _figure_points(figure, size_px), size_px)
        for figure in labels.figures
        if figure.shown >= LEAST_SHOWN
    ]
    things = [
        _line(CLASSES.index(thing.kind), thing.box_px, _thing_points(thing, size_px), size_px)
        for thing in labels.things
        if thing.shown >= LEAST_SHOWN
    ]
    return figures + things


def data_yaml() -> str:
    """Return the data set's description for ultralytics, with paths relative to itself."""
    names = "\n".join(f"  {i}: {name}" for i, name in enumerate(CLASSES))
    return (
        "train: images/train\nval: images/val\ntest: images/test\n"
        f"kpt_shape: [{len(KEYPOINTS)}, 3]\nflip_idx: {list(_MIRRORED)}\nnames:\n{names}\n"
    )


def _figure_points(figure: FigureLabel, size_px: tuple[int, int]) -> list[tuple[Pixel, int]]:
    points = (*figure.corners_px, figure.helmet_px)
    seen = (*figure.corners_visible, figure.helmet_visible)
    return [_flagged(point, visible, size_px) for point, visible in zip(points, seen, strict=True)]


def _thing_points(thing: ThingLabel, size_px: tuple[int, int]) -> list[tuple[Pixel, int]]:
    nowhere = ((0.0, 0.0), _OUTSIDE)
    return [nowhere] * (len(KEYPOINTS) - 1) + [_flagged(thing.center_px, True, size_px)]


def _flagged(point: Pixel, visible: bool, size_px: tuple[int, int]) -> tuple[Pixel, int]:
    inside = all(-0.5 <= value < side - 0.5 for value, side in zip(point, size_px, strict=True))
    if not inside:
        return (0.0, 0.0), _OUTSIDE
    return point, _SEEN if visible else _HIDDEN


def _line(
    class_: int, box: tuple[float, float, float, float], points: list[tuple[Pixel, int]], size_px: tuple[int, int]
) -> str:
    width, height = size_px
    left, top, right, bottom = box
    # Pixel centers are whole numbers here; shares count from the picture's outer edge.
    values = [(left + right) / 2 + 0.5, (top + bottom) / 2 + 0.5, right - left, bottom - top]
    numbers = [f"{value / side:.6f}" for value, side in zip(values, (width, height, width, height), strict=True)]
    for (x, y), flag in points:
        if flag == _OUTSIDE:
            numbers += ["0", "0", "0"]
        else:
            numbers += [f"{(x + 0.5) / width:.6f}", f"{(y + 0.5) / height:.6f}", str(flag)]
    return " ".join([str(class_), *numbers])
