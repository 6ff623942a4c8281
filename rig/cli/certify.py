"""`downfield certify`: what a table's positions are worth, measured and stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.calibration import read_calibration, write_calibration
from downfield.calibration.certificate import (
    Ruler,
    add_certificate,
    check_hash_marks,
    check_rulers,
    check_spots,
    render_certificate,
)
from downfield.calibration.drawing import draw_calibration
from downfield.calibration.pictures import read_pictures
from downfield.core.errors import InputError
from downfield.core.records import write_text
from downfield.rig.cli.calibrate import parse_landmark


def certify(
    source: Annotated[Path, typer.Argument(help="A picture or a video of the table, the camera where it is.")],
    calibration: Annotated[
        Path, typer.Option("--calibration", "-c", help="Its calibration; the certificate is added.")
    ],
    report: Annotated[Path, typer.Option(help="Where to write the report, HTML.")],
    spot: Annotated[list[str] | None, typer.Option(help="x_yd,y_yd=px,py of a known spot; three or more.")] = None,
    ruler: Annotated[
        list[str] | None, typer.Option(help="px,py=px,py=mm of a stretch of a ruler on the board; three or more.")
    ] = None,
    height_mm: Annotated[float, typer.Option(help="Of the spots' or the ruler's face over the paint.")] = 0.0,
) -> None:
    """Measure the table's accuracy against what the calibration was not made from: hash marks, spots or a ruler."""
    if spot and ruler:
        raise InputError("certify by spots or by a ruler, not by both: --spot or --ruler")
    image = read_pictures(source)[0]
    known = read_calibration(calibration)
    if spot:
        check = check_spots(known, [parse_landmark(text) for text in spot], height_mm=height_mm)
    elif ruler:
        check = check_rulers(known, [parse_ruler(text) for text in ruler], height_mm=height_mm)
    else:
        check = check_hash_marks(image, known)
    done = add_certificate(known, check)
    write_text(report, [render_certificate(done, check, draw_calibration(image, done))])
    write_calibration(calibration, done)
    worth = done.certificate
    if worth:
        typer.echo(
            f"{worth.points} {worth.against}: median {worth.median_mm:.3f} mm, 95% within {worth.p95_mm:.3f} mm ="
            f" {max(worth.p95_yd):.4f} yd; report in {report}"
        )


def parse_ruler(text: str) -> Ruler:
    """A stretch of a ruler written as ``px,py=px,py=mm``.

    Raises:
        InputError: it is written otherwise.

    """
    try:
        start, end, length = text.split("=")
        (ax, ay), (bx, by) = ((float(part) for part in pair.split(",")) for pair in (start, end))
        length_mm = float(length)
    except ValueError:
        raise InputError(f"'{text}' is no ruler: write px,py=px,py=mm, such as 412.5,600=900,604.2=300") from None
    return Ruler((ax, ay), (bx, by), length_mm)
