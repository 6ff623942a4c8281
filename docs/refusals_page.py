"""Make ``refusals.md``: what a calibration refuses, each text with a picture of the twin that causes it.

``python docs/refusals_page.py docs/refusals.md docs/pictures``
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from altered_prints import refused_prints
from refusal_texts import ROOT, is_listed, refusal_texts

from downfield.calibration.calibration import read_calibration
from downfield.calibration.certificate import Ruler, check_hash_marks, check_rulers, check_spots
from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.calibration.field.measured_height import StandingObject, with_standing_object
from downfield.calibration.field.solver import solve_field
from downfield.calibration.picture_match import check_same_view
from downfield.calibration.pictures import read_pictures
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError
from downfield.core.field.model import preset

WIDTH_PX: Final = 480
QUALITY: Final = 70

INTRODUCTION: Final = """# What a calibration refuses

A calibration that cannot be trusted is refused, with what to change. Each text below is what Downfield says about the
picture over it. The page is made by `python docs/refusals_page.py docs/refusals.md docs/pictures`.
"""


WITHOUT_PICTURE: Final = """## Texts without a picture

What was entered causes these, or a picture that the twin's recording cannot stand for. A text that is part of another,
such as what speaks against a solution, is listed by itself. An ellipsis stands for what is filled in.
"""


def main() -> None:
    """Write the page and its pictures."""
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    parts = [INTRODUCTION]
    for name, (title, image, refuse) in _cases().items():
        try:
            refuse(image)
        except DownfieldError as error:
            text = str(error)
        else:
            raise AssertionError(f"{name}: was not refused")
        picture = folder / f"refused-{name}.jpg"
        height = round(image.shape[0] * WIDTH_PX / image.shape[1])
        cv2.imwrite(str(picture), cv2.resize(image, (WIDTH_PX, height)), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        parts.append(f"## {title}\n\n![{title}](pictures/{picture.name})\n\n> {text}\n")
    parts.append(_without_picture("\n".join(parts)))
    page.write_text("\n".join(parts), encoding="utf-8")


def _without_picture(page: str) -> str:
    """Return the section of the texts that the page does not have yet, by what refuses; an ellipsis is filled in."""
    parts = [WITHOUT_PICTURE]
    for place, texts in refusal_texts().items():
        missing = [text for text in texts if not is_listed(text, page)]
        if missing:
            title = (ast.get_docstring(ast.parse((ROOT / place).read_text(encoding="utf-8"))) or place).splitlines()[0]
            parts.append(f"**{place}**: {title[0].lower()}{title[1:]}\n")
            parts += [f"- {text}" for text in missing]
            parts.append("")
    return "\n".join(parts)


def _cases() -> dict[str, tuple[str, Image, Callable[[Image], object]]]:
    """Return title, picture and what refuses it, by name."""
    clip = bundled_demo()
    image = read_pictures(clip, 1)[0]
    calibration = read_calibration(clip.with_suffix(".calibration.json"))
    height, width = image.shape[:2]
    field = calibration.field

    def solve(picture: Image) -> object:
        return solve_field([picture], [field])

    def as_another(picture: Image) -> object:
        return solve_field([picture], [preset("arena-50")])

    def with_wrong_corner(picture: Image) -> object:
        places = np.array([(0.0, 0.0), (100.0, 0.0), (100.0, field.width_yd), (0.0, field.width_yd), (50.0, 0.0)])
        px = calibration.camera.to_pixels(field.to_mm(places))
        px[4] += (0.0, -200.0)
        marks = [Landmark(x, y, (u, v)) for (x, y), (u, v) in zip(places.tolist(), px.tolist(), strict=True)]
        return solve_landmarks([picture], field, marks)

    def with_wrong_spot(_: Image) -> object:
        places = np.array([(20.0, 10.0), (50.0, 30.0), (80.0, 45.0)])
        px = calibration.camera.to_pixels(field.to_mm(places))
        px[2] += (60.0, 0.0)
        return check_spots(
            calibration, [Landmark(x, y, (u, v)) for (x, y), (u, v) in zip(places.tolist(), px.tolist(), strict=True)]
        )

    def with_ruler(_: Image) -> object:
        ends = calibration.camera.to_pixels(
            field.to_mm(np.array([(10.0, 20.0), (30.0, 20.0), (20.0, 10.0), (20.0, 30.0)]))
        )
        (a, b), (c, d), (e, f), (g, h) = ends.tolist()
        along, across = 20 * field.mm_per_yd_x, 20 * field.mm_per_yd_y
        return check_rulers(calibration, [Ruler((a, b), (c, d), 1.1 * along), Ruler((e, f), (g, h), across)] * 2)

    def without_marks(picture: Image) -> object:
        check_hash_marks(picture, calibration)
        return None

    def same_view(picture: Image) -> object:
        check_same_view(picture, calibration)
        return None

    def standing(foot_yd: tuple[float, float], top_px: tuple[float, float]) -> Callable[[Image], object]:
        """Return what refuses a card of 88 mm whose top is so far from its foot in the picture."""

        def measure(picture: Image) -> object:
            x, y = calibration.camera.to_pixels(field.to_mm(np.array(foot_yd))).tolist()
            card = StandingObject(88.0, (x, y), (x + top_px[0], y + top_px[1]))
            return with_standing_object(solve_field([picture], [field]), [picture], card)

        return measure

    covered = image.copy()
    cv2.ellipse(
        covered, (width // 2, height // 2), (round(0.36 * width), round(0.62 * height)), 0, 0, 360, (96, 120, 168), -1
    )
    shifted = cv2.warpAffine(image, np.array([[1.0, 0.0, 2.5], [0.0, 1.0, 1.5]]), (width, height))
    moved = cv2.warpAffine(image, np.array([[1.0, 0.0, 40.0], [0.0, 1.0, 25.0]]), (width, height))
    pictures: dict[str, tuple[str, object, Callable[[Image], object]]] = {
        "dark": ("Too dark", image // 12, solve),
        "overexposed": ("Overexposed", np.clip(image.astype(np.int32) * 6 + 120, 0, 255), solve),
        "small": ("Too small", cv2.resize(image, (320, 180)), solve),
        "blurred": ("Out of focus", cv2.GaussianBlur(image, (0, 0), 14), solve),
        "empty": ("No field in the picture", np.full_like(image, 110), solve),
        "cut": ("The field is cut by the picture's edge", image[:, : round(width * 0.7)].copy(), solve),
        "mirrored": ("Mirrored", image[:, ::-1].copy(), solve),
        "other": ("Another print than the one named", image, as_another),
        "covered": ("Most of the field is covered", covered, solve),
        "short": ("What stands on the board is right below the camera", image, standing((50.0, 26.0), (3.0, 2.0))),
        "inward": ("What stands on the board leans or is marked wrongly", image, standing((5.0, 5.0), (80.0, -50.0))),
        "corner": ("A landmark in the wrong place", image, with_wrong_corner),
        "shifted": ("Certify: the camera was moved a little", shifted, same_view),
        "moved": ("Certify: the camera was moved", moved, same_view),
        "size": ("Certify: a picture of another size", cv2.resize(image, (1280, 720)), same_view),
        "marks": ("Certify: no hash marks can be seen", cv2.GaussianBlur(image, (0, 0), 14), without_marks),
        "ruler": ("Certify: a ruler that was read wrongly", image, with_ruler),
        "spot": ("Certify: a spot that was read wrongly", image, with_wrong_spot),
    }
    made = {name: (title, np.asarray(made, dtype=np.uint8), refuse) for name, (title, made, refuse) in pictures.items()}
    return made | refused_prints(image, calibration)


if __name__ == "__main__":
    main()
