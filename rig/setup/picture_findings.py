"""What is wrong with a camera's picture or its place over the table, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from downfield.api.setup.table_setup import SetupFinding
from downfield.calibration.camera import Camera
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError

_OBLIQUE_DEG: Final = 25.0
"""Tilt from which figures hide those behind them."""


def picture_findings(image: Image) -> Iterator[SetupFinding]:
    """Yield what is wrong with a picture: its size, its light, its focus."""
    try:
        check_picture(image)
    except CalibrationError as error:
        yield finding_of(error)
        return
    if is_blurred(image):
        yield SetupFinding(text="The picture is blurred.", remedy="Focus the camera on the board and keep it still.")


def camera_findings(camera: Camera) -> Iterator[SetupFinding]:
    """Yield what is wrong with the place of a solved camera."""
    if camera.tilt_deg > _OBLIQUE_DEG:
        yield SetupFinding(
            text=f"The camera looks at the board obliquely ({camera.tilt_deg:.0f} degrees from straight down).",
            remedy="Mount it over the middle of the board, tilted by 5 to 10 degrees.",
        )


def finding_of(error: CalibrationError) -> SetupFinding:
    """Return a refusal as a finding: what is wrong before the first period or colon, what to do after it."""
    text, *remedy = re.split(r"[.:] ", str(error), maxsplit=1)
    return SetupFinding(text=_sentence(text), remedy=_sentence("".join(remedy)))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
