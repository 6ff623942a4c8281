"""The certificate of a table as one HTML page that needs nothing else: figures, and pictures inside it."""

from __future__ import annotations

import base64
from html import escape

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.certificate import Check
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse}td,th{padding:.3rem 1rem .3rem 0;text-align:left;border-bottom:1px solid #d8dee4}"
    "img{max-width:100%;margin:1rem 0}"
)
_BINS = 24
_CHART_PX = (900, 260)
_BAR = (160, 110, 30)


def report_page(calibration: Calibration, check: Check, picture: Image) -> str:
    """The report.

    Args:
        calibration: certified.
        check: what it was certified by.
        picture: of the calibration, as `picture.draw_calibration` draws it.

    Raises:
        CalibrationError: the calibration carries no certificate.

    """
    certificate = calibration.certificate
    if certificate is None:
        raise CalibrationError("the calibration is not certified yet")
    along, across = certificate.p95_yd
    blind = [name for name, off in zip(("along", "across"), check.off_mm.T, strict=True) if np.isnan(off).all()]
    unseen = f" ({blind[0]} was not measured, and is taken to be as good)" if blind else ""
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
        f"</title><style>{_STYLE}</style><h1>What this table's positions are worth</h1><table>{table}</table>"
        f"<p>Calls finer than {max(along, across):.3f} yd are too close to call on this table.</p>"
        f"<h2>Errors, mm</h2>{_embedded(_histogram(check.distances_mm))}"
        f"<h2>The calibration</h2>{_embedded(picture)}</html>\n"
    )


def _base_tops(calibration: Calibration) -> str:
    """Two standard deviations of a base top's position, typical over the field: marks in the paint can't show it."""
    if calibration.quality is None or not calibration.quality.cells:
        return "exact"
    sigma_yd = np.array([cell.sigma_mm for cell in calibration.quality.cells]) / calibration.field.mm_per_yd
    along, across = 2 * np.median(sigma_yd, axis=0)
    return f"within {along:.4f} yd along, {across:.4f} yd across (two sigma, typical)"


def _embedded(image: Image) -> str:
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 88])
    return f"<img alt='' src='data:image/jpeg;base64,{base64.b64encode(packed.tobytes()).decode('ascii')}'>"


def _histogram(distances_mm: Array) -> Image:
    width, height = _CHART_PX
    counts, edges = np.histogram(distances_mm, bins=_BINS, range=(0, max(float(distances_mm.max()), 1e-6)))
    chart = np.full((height, width, 3), 255, dtype=np.uint8)
    step = (width - 40) / _BINS
    for i, count in enumerate(counts):
        top = height - 40 - round((height - 60) * float(count) / max(float(counts.max()), 1.0))
        left = round(20 + i * step)
        cv2.rectangle(chart, (left, top), (round(left + step - 3), height - 40), _BAR, -1)
    for i in range(0, _BINS + 1, 6):
        at = (round(8 + i * step), height - 14)
        cv2.putText(chart, f"{edges[i]:.2f}", at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (40, 40, 40), 1, cv2.LINE_AA)
    return chart
