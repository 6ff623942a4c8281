"""Certifies a table: its accuracy against marks that the calibration was not made from, and the report."""

from __future__ import annotations

import base64
import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration, Certificate
from downfield.calibration.field.landmarks import Landmark
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.paint.paint_measurement import measure_paint
from downfield.calibration.field.paint.paint_samples import sample_hash_marks, sample_long_lines
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.records import check


@dataclass(frozen=True, slots=True)
class CertificateLimits:
    """What a certificate needs, and how it is drawn."""

    search_px: float = 2.0  # distance from its prediction within which a hash mark is searched for
    min_marks: int = 20  # least number of visible hash marks
    min_spots: int = 3  # least number of known spots, or of stretches of a ruler
    # a spot this far off is the wrong spot or the wrong pixel: no calibration that found the paint errs so much
    wrong_mm: float = 15.0
    outlier_mm: float = 3.0  # a spot with a larger error is wrong as well, if `outlier_ratio` agrees
    outlier_ratio: float = 6.0  # error of such a spot at least, as a multiple of the median error of the others
    wrong_share: float = 0.05  # relative error of a ruler's length from which it was read wrongly
    min_axis_share: float = 0.7  # share of a ruler's length that must lie along an axis to measure it
    bins: int = 24  # number of bins of the histogram
    chart_px: tuple[int, int] = (900, 260)  # width and height of the histogram


_LIMITS: Final = CertificateLimits()
_BAR: Final = (160, 110, 30)  # color of the histogram, blue green red
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse}td,th{padding:.3rem 1rem .3rem 0;text-align:left;border-bottom:1px solid #d8dee4}"
    "img{max-width:100%;margin:1rem 0}"
)


@dataclass(frozen=True, slots=True)
class Ruler:
    """A stretch of a ruler laid on the board."""

    start_px: tuple[float, float]  # start_px, end_px: where its ends are seen
    end_px: tuple[float, float]
    length_mm: float  # between them

    def __post_init__(self) -> None:
        check(self.length_mm > 0, InputError, f"the length of a ruler must be above 0 mm, not {self.length_mm:g} mm")
        check(self.start_px != self.end_px, InputError, "both ends of a ruler are at the same pixel")


@dataclass(frozen=True, slots=True)
class AccuracyCheck:
    """Marks that were measured with a calibration."""

    against: str  # `"hash marks"`, `"known spots"` or `"ruler"`
    points_mm: Array
    off_mm: Array  # measured less true place, NaN along an axis that was not measured, shape (n, 2)

    @property
    def distances_mm(self) -> Array:
        """Length of each error over the measured axes, shape (n,)."""
        distances: Array = np.sqrt(np.nansum(self.off_mm**2, axis=1))
        return distances


def check_hash_marks(image: Image, calibration: Calibration) -> AccuracyCheck:
    """Measure hash marks, of which the fit used none. Raises CalibrationError: too few are printed or in view."""
    marks = sample_hash_marks(calibration.field)
    plane = clearest_channel(image)
    like = measure_paint(plane, calibration.camera, sample_long_lines(calibration.field), _LIMITS.search_px)
    if not len(marks.line):
        raise CalibrationError("this field has no hash marks. Certify with known spots instead (--spot).")
    seen = measure_paint(plane, calibration.camera, marks, _LIMITS.search_px, like)
    if seen.found.sum() < _LIMITS.min_marks:
        raise CalibrationError(
            f"only {int(seen.found.sum())} of {len(marks.line)} hash marks are seen. Clear and light the field, or"
            " calibrate again if the camera was moved."
        )
    px = (seen.px + seen.offset_px[:, None] * seen.normals)[seen.found]
    points = marks.points_mm[seen.found]
    off = calibration.camera.to_board(px) - points
    off[:, 1] = np.nan  # a hash mark runs across the field: only its place along the field is measured
    return AccuracyCheck("hash marks", points, off)


def check_spots(calibration: Calibration, spots: Sequence[Landmark], *, height_mm: float = 0.0) -> AccuracyCheck:
    """Measure spots whose field yards are known, such as coins laid on crossings of lines.

    Args:
        height_mm: of the spots over the paint.

    Raises:
        CalibrationError: fewer than three, or one is so far off that it was named or read wrongly.
    """
    if len(spots) < _LIMITS.min_spots:
        raise CalibrationError(f"{len(spots)} known spots are too few to certify. Give at least {_LIMITS.min_spots}.")
    for spot in spots:
        _check_in_picture(spot.px, calibration)
    points = np.array([(spot.x_yd, spot.y_yd) for spot in spots]) * calibration.field.mm_per_yd
    off = calibration.camera.to_board([spot.px for spot in spots], height_mm) - points
    _check_plausible(calibration, spots, np.linalg.norm(off, axis=1), height_mm)
    return AccuracyCheck("known spots", points, off)


def check_rulers(calibration: Calibration, rulers: Sequence[Ruler], *, height_mm: float = 0.0) -> AccuracyCheck:
    """Measure lengths along and across the field. They do not show a shift of the whole board.

    Args:
        rulers: three or more, some along the field and some across it.
        height_mm: of the rulers' faces over the paint.

    Raises:
        CalibrationError: fewer than three, none lies along the field, or one was read wrongly.
    """
    if len(rulers) < _LIMITS.min_spots:
        raise CalibrationError(
            f"{len(rulers)} ruler measurements are too few to certify. Give at least {_LIMITS.min_spots}."
        )
    for ruler in rulers:
        _check_in_picture(ruler.start_px, calibration)
        _check_in_picture(ruler.end_px, calibration)
    ends_px = ([ruler.start_px for ruler in rulers], [ruler.end_px for ruler in rulers])
    start, end = (calibration.camera.to_board(px, height_mm) for px in ends_px)
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    for ruler, measured_mm in zip(rulers, length[:, 0].tolist(), strict=True):
        if not abs(measured_mm - ruler.length_mm) < _LIMITS.wrong_share * ruler.length_mm + _LIMITS.outlier_mm:
            raise CalibrationError(
                f"the ruler of {ruler.length_mm:g} mm measures {measured_mm:.0f} mm between {_pair(ruler.start_px)} and"
                f" {_pair(ruler.end_px)}: its length or a pixel is wrong. Read them again."
            )
    direction = (end - start) / length
    off = (length - np.array([[ruler.length_mm] for ruler in rulers])) * direction
    off[np.abs(direction) < _LIMITS.min_axis_share] = np.nan
    if np.isnan(off[:, 0]).all():
        raise CalibrationError("no ruler lies along the field. Lay one from goal line to goal line too.")
    return AccuracyCheck("ruler", (start + end) / 2, off)


def _check_in_picture(px: tuple[float, float], calibration: Calibration) -> None:
    width, height = calibration.camera.lens.size_px
    if not (-0.5 <= px[0] <= width - 0.5 and -0.5 <= px[1] <= height - 0.5):
        raise CalibrationError(f"pixel {_pair(px)} is outside the picture of {width}x{height}. Read it again.")


def _check_plausible(
    calibration: Calibration, spots: Sequence[Landmark], distances_mm: Array, height_mm: float
) -> None:
    """Refuse a spot that was named or read wrongly: it is far off, or much further than the others."""
    for i, (spot, off_mm) in enumerate(zip(spots, distances_mm.tolist(), strict=True)):
        others_mm = float(np.median(np.delete(distances_mm, i)))
        is_odd = off_mm > _LIMITS.outlier_mm and off_mm > _LIMITS.outlier_ratio * others_mm
        if is_odd or not off_mm < _LIMITS.wrong_mm:
            place_mm = [(*(np.array([spot.x_yd, spot.y_yd]) * calibration.field.mm_per_yd).tolist(), height_mm)]
            expected = calibration.camera.to_pixels(place_mm)[0].tolist()
            raise CalibrationError(
                f"the spot {spot.x_yd:g},{spot.y_yd:g} at pixel {_pair(spot.px)} is {off_mm:.0f} mm from its place; the"
                f" calibration has it at {_pair(expected)}. Check its yards and its pixel."
            )


def _pair(px: Sequence[float]) -> str:
    return f"{px[0]:.0f},{px[1]:.0f}"


def add_certificate(calibration: Calibration, measured: AccuracyCheck) -> Calibration:
    """Return the calibration with a certificate of the measured accuracy."""
    off_yd = np.abs(measured.off_mm) / calibration.field.mm_per_yd
    along, across = (float(np.nanpercentile(axis, 95)) if np.isfinite(axis).any() else None for axis in off_yd.T)
    # An axis that was not measured is assumed to be as good in millimeters as the other.
    ratio = calibration.field.mm_per_yd_x / calibration.field.mm_per_yd_y
    along = (across or 0.0) / ratio if along is None else along
    across = along * ratio if across is None else across
    distances = measured.distances_mm
    certificate = Certificate(
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        measured.against,
        len(distances),
        float(np.median(distances)),
        float(np.percentile(distances, 95)),
        float(distances.max()),
        (along, across),
    )
    return dataclasses.replace(calibration, certificate=certificate)


def render_certificate(calibration: Calibration, check: AccuracyCheck, picture: Image) -> str:
    """Render the certificate as one HTML page that needs no other file: figures, and pictures inside it.

    Args:
        picture: of the calibration, as `drawing.draw_calibration` draws it.

    Raises:
        CalibrationError: the calibration carries no certificate.
    """
    certificate = calibration.certificate
    if certificate is None:
        raise CalibrationError("the calibration is not certified yet. Run 'downfield certify' first.")
    along, across = certificate.p95_yd
    blind = [name for name, off in zip(("along", "across"), check.off_mm.T, strict=True) if np.isnan(off).all()]
    unseen = f" ({blind[0]} was not measured and is assumed to be as good)" if blind else ""
    rows = [
        ("Field", calibration.field.title),
        ("Calibrated", f"{calibration.made_at} from {', '.join(calibration.made_from) or 'unknown'}"),
        ("Certified", certificate.certified_at),
        ("Measured against", f"{certificate.points} {certificate.against}"),
        ("Median error", f"{certificate.median_mm:.3f} mm"),
        ("95% of errors within", f"{certificate.p95_mm:.3f} mm = {along:.4f} yd along, {across:.4f} yd across{unseen}"),
        ("Largest error", f"{certificate.max_mm:.3f} mm"),
        ("Base tops, by the calibration's own error", _base_tops(calibration)),
    ]
    table = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Certificate of {escape(calibration.field.title)}"
        f"</title><style>{_STYLE}</style><h1>Measured accuracy of this table</h1><table>{table}</table>"
        f"<p>Calls with a margin below {max(along, across):.3f} yd are too close to call on this table.</p>"
        f"<h2>Errors, mm</h2>{_embedded(_histogram(check.distances_mm))}"
        f"<h2>The calibration</h2>{_embedded(picture)}</html>\n"
    )


def _base_tops(calibration: Calibration) -> str:
    """Two standard deviations of a base top's position, typical over the field, which marks in the paint can't show."""
    if calibration.quality is None or not calibration.quality.cells:
        return "exact"
    sigma_yd = np.array([cell.sigma_mm for cell in calibration.quality.cells]) / calibration.field.mm_per_yd
    along, across = 2 * np.median(sigma_yd, axis=0)
    return f"within {along:.4f} yd along, {across:.4f} yd across (two sigma, typical)"


def _embedded(image: Image) -> str:
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 88])
    return f"<img alt='' src='data:image/jpeg;base64,{base64.b64encode(packed.tobytes()).decode('ascii')}'>"


def _histogram(distances_mm: Array) -> Image:
    width, height = _LIMITS.chart_px
    counts, edges = np.histogram(distances_mm, bins=_LIMITS.bins, range=(0, max(float(distances_mm.max()), 1e-6)))
    chart = np.full((height, width, 3), 255, dtype=np.uint8)
    step = (width - 40) / _LIMITS.bins
    for i, count in enumerate(counts):
        top = height - 40 - round((height - 60) * float(count) / max(float(counts.max()), 1.0))
        left = round(20 + i * step)
        cv2.rectangle(chart, (left, top), (round(left + step - 3), height - 40), _BAR, -1)
    for i in range(0, _LIMITS.bins + 1, 6):
        at = (round(8 + i * step), height - 14)
        cv2.putText(chart, f"{edges[i]:.2f}", at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (40, 40, 40), 1, cv2.LINE_AA)
    return chart
