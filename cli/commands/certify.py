"""``downfield certify``: measure the accuracy of a table, and add it to its calibration."""

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
from downfield.calibration.picture_match import check_same_view
from downfield.calibration.pictures import read_pictures
from downfield.cli.commands.calibrate import parse_landmark
from downfield.cli.console.options import JsonOption, check_outputs, number_between
from downfield.cli.console.output import print_result
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.core.records import write_text
from downfield.core.texts import parse_span


def certify(
    source: Annotated[Path, typer.Argument(help="A picture or a video of the table; the camera must not have moved.")],
    calibration: Annotated[
        Path, typer.Option("--calibration", "-c", help="Its calibration; the certificate is added to the file.")
    ],
    report: Annotated[Path, typer.Option(help="Write the report to this file, HTML.")],
    spot: Annotated[
        list[str] | None, typer.Option(help="A known spot, X_YD,Y_YD=PX,PY; three or more.", metavar="SPOT")
    ] = None,
    ruler: Annotated[
        list[str] | None,
        typer.Option(help="Two marks of a ruler on the board, PX,PY=PX,PY=MM; three or more.", metavar="MARKS"),
    ] = None,
    height_mm: Annotated[
        float,
        typer.Option(
            parser=number_between(0, 200), metavar="MM", help="Height of the spots or the ruler over the paint, mm."
        ),
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Measure a table's accuracy against marks that its calibration did not use: hash marks, spots or a ruler."""
    if spot and ruler:
        raise InputError("Use either --spot or --ruler, not both.")
    spots = [parse_landmark(text) for text in spot or ()]
    rulers = [Ruler(*parse_span(text, "a ruler")) for text in ruler or ()]
    check_outputs(report, inputs=(source, calibration))
    check_outputs(calibration, inputs=(source,), kind="downfield.calibration", in_place=True)
    known = read_calibration(calibration)
    with progress_bar("Certifying") as advance:
        advance(0, text="reading the picture")
        image = read_pictures(source)[0]
        advance(0, text="comparing it with the calibration")
        check_same_view(image, known)
        advance(0, text="measuring the marks")
        if spots:
            check = check_spots(known, spots, height_mm=height_mm)
        elif rulers:
            check = check_rulers(known, rulers, height_mm=height_mm)
        else:
            check = check_hash_marks(image, known)
        certified = add_certificate(known, check)
        page = render_certificate(certified, check, draw_calibration(image, certified))
    write_text(report, [page])
    write_calibration(calibration, certified)
    certificate = certified.certificate
    if certificate:
        line = (
            f"{certificate.points} {certificate.against}: median {certificate.median_mm:.3f} mm, 95% within"
            f" {certificate.p95_mm:.3f} mm = {max(certificate.p95_yd):.4f} yd; report in {report}"
        )
        print_result(as_json, [line], certificate=certificate)
