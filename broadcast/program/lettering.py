"""Text on pictures in every script: OpenCV's own font where it has the letters, else Pillow with one of the system.

OpenCV neither joins letters (Arabic) nor forms syllables (Devanagari), and draws question marks for what its font
lacks. Pillow's Raqm does it as browsers do (the Unicode Bidirectional Algorithm, UAX 9, and HarfBuzz). It is optional,
and so is a font that has the script: without both a text can't be drawn, and whoever shows it leaves it out.
"""

from __future__ import annotations

import importlib.util
import os
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.platform.system import SYSTEM

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

Color = tuple[int, int, int]  # Blue, green, red

_WEIGHT: Final = 700
_PLAIN: Final = frozenset({"LATIN", "GREEK", "CYRILLIC", "CJK", "HANGUL", "HIRAGANA", "KATAKANA"})
"""Scripts, as the names of characters begin, that OpenCV's font has and draws rightly letter by letter."""
_FOLDERS: Final = {
    "linux": ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts"),
    "macos": ("/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts"),
    "windows": ("%WINDIR%/Fonts", "%LOCALAPPDATA%/Microsoft/Windows/Fonts"),
    "other": ("/usr/share/fonts", "/usr/local/share/fonts"),
}
_OF_MANY_SCRIPTS: Final = (
    "dejavusans-bold",
    "arialuni",
    "arial unicode",
    "nirmalab",
    "segoeuib",
    "freesansbold",
    "unifont",
)
_TRIED_FONTS: Final = 24  # the likeliest; a system may have thousands


def is_drawable(text: str) -> bool:
    """Return whether a text can be drawn as people write it."""
    return _is_plain(text) or _font_path(_letters(text)) is not None


def text_width(text: str, size: int) -> int:
    """Return the width of a drawable text whose letters are of a size, both px."""
    if _is_plain(text):
        return int(cv2.getTextSize((0, 0), text, (0, 0), cv2.FontFace("sans"), size, _WEIGHT)[2])
    font = _font(_letters(text), size)
    return 0 if font is None else round(font.getlength(text))


def draw_text(out: Image, text: str, origin: tuple[int, int], ink: Color, size: int) -> None:
    """Draw a drawable text on a picture, uint8 BGR, in place; its baseline begins at the origin. Sizes are in px."""
    if _is_plain(text):
        cv2.putText(out, text, origin, ink, cv2.FontFace("sans"), size, _WEIGHT)
        return
    font = _font(_letters(text), size)
    if font is None:
        return
    mask, (left, top) = font.getmask2(text, mode="L", anchor="ls")
    width, height = mask.size
    cover = np.array(mask, dtype=np.uint8).reshape(height, width)
    x, y = origin[0] + round(left), origin[1] + round(top)
    x0, y0 = max(0, x), max(0, y)
    x1, y1 = min(out.shape[1], x + width), min(out.shape[0], y + height)
    if x0 >= x1 or y0 >= y1:
        return
    alpha = cover[y0 - y : y1 - y, x0 - x : x1 - x, None].astype(np.uint16)
    part = out[y0:y1, x0:x1]
    part[:] = (part * (255 - alpha) + np.array(ink, np.uint16) * alpha + 127) // 255


@lru_cache(maxsize=256)
def _is_plain(text: str) -> bool:
    """Return whether OpenCV draws a text rightly."""
    return all(unicodedata.name(char, "").split(" ")[0] in _PLAIN for char in _letters(text))


def _letters(text: str) -> str:
    """Return every letter and mark of a text once, beyond ASCII and those marks that stand on letters of any script."""
    letters = (char for char in text if unicodedata.category(char)[0] in "LM" and not char.isascii())
    return "".join(dict.fromkeys(char for char in letters if "COMBINING" not in unicodedata.name(char, "")))


@lru_cache(maxsize=64)
def _font(letters: str, size: int) -> FreeTypeFont | None:
    path = _font_path(letters)
    return None if path is None else _opened(path, size)


def _opened(path: Path, size: int) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.RAQM)


@lru_cache(maxsize=64)
def _font_path(letters: str) -> Path | None:
    """Return a font of the system that has all letters; None without one, or without Pillow and its Raqm."""
    if not _has_raqm():
        return None
    return next((path for path in _likely_fonts(letters) if _has_glyphs(path, letters)), None)


def _has_raqm() -> bool:
    if importlib.util.find_spec("PIL") is None:
        return False
    from PIL import features

    return bool(features.check("raqm"))


def _likely_fonts(letters: str) -> Iterator[Path]:
    """Yield fonts that may have letters, the likeliest first: named for their script, bold, without serifs."""
    scripts = {unicodedata.name(char, " ").split(" ")[0].casefold() for char in letters}

    def rank(path: Path) -> tuple[bool, bool, bool, bool, str]:
        name = path.stem.casefold()
        of_script = any(script and script in name for script in scripts)
        return (
            not of_script,
            not any(known in name for known in _OF_MANY_SCRIPTS),
            "bold" not in name,
            "sans" not in name,
            name,
        )

    yield from sorted(_fonts(), key=rank)[:_TRIED_FONTS]


@lru_cache(maxsize=1)
def _fonts() -> tuple[Path, ...]:
    folders = [Path(os.path.expandvars(folder)).expanduser() for folder in _FOLDERS[SYSTEM]]
    found = (path for folder in folders if folder.is_dir() for path in folder.rglob("*"))
    return tuple(path for path in found if path.suffix.casefold() in {".ttf", ".otf", ".ttc"})


def _has_glyphs(path: Path, letters: str) -> bool:
    """Return whether a font has letters: what it draws for each differs from what it draws for no character."""
    try:
        font = _opened(path, 20)
        missing = _drawn(font, "\ufffe")
        return all(_drawn(font, char) != missing for char in letters)
    except OSError:  # no font, or one of a kind that can't be read
        return False


def _drawn(font: FreeTypeFont, char: str) -> tuple[Any, bytes]:
    mask = font.getmask(char)
    return mask.size, bytes(mask)
