"""`downfield certify`: what a table's positions are worth, measured and stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.calibration import read_calibration, write_calibration
from downfield.calibration.certify import certified, check_hash_marks, check_spots
from downfield.calibration.picture import draw_calibration
from downfield.calibration.pictures import read_pictures
from downfield.calibration.records import write_text
from downfield.calibration.report import report_page
from downfield.rig.calibrate import parse_landmark


def certify(
    source: Annotated[Path, typer.Argument(help="A picture or a video of the table, the camera where it is.")],
    calibration: Annotated[
        Path, typer.Option("--calibration", "-c", help="Its calibration; the certificate is added.")
    ],
    report: Annotated[Path, typer.Option(help="Where to write the report, HTML.")],
    spot: Annotated[list[str] | None, typer.Option(help="x_yd,y_yd=px,py of a known spot; else hash marks.")] = None,
) -> None:
    """Measure the table's accuracy against marks that the calibration was not made from."""
    image = read_pictures(source)[0]
    known = read_calibration(calibration)
    check = check_spots(known, [parse_landmark(text) for text in spot]) if spot else check_hash_marks(image, known)
    done = certified(known, check)
    write_text(report, [report_page(done, check, draw_calibration(image, done))])
    write_calibration(calibration, done)
    worth = done.certificate
    if worth:
        typer.echo(
            f"{worth.points} {worth.against}: median {worth.median_mm:.3f} mm, 95% within {worth.p95_mm:.3f} mm ="
            f" {max(worth.p95_yd):.4f} yd; report in {report}"
        )
