"""Small pictures: scaled down, kept by name, and an honest error where the picture is broken."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from downfield.core.errors import NotRecordedError
from downfield.review.evidence import ready_pictures as module
from downfield.review.evidence.ready_pictures import THUMBNAIL_LIMITS, Thumbnails


def jpeg(width: int, height: int) -> bytes:
    return cv2.imencode(".jpg", np.full((height, width, 3), 90, np.uint8))[1].tobytes()


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (641, 2000), (100, 50)])
def test_a_picture_keeps_its_shape_and_is_never_enlarged(width: int, height: int) -> None:
    small = cv2.imdecode(
        np.frombuffer(Thumbnails().get(("a",), lambda: jpeg(width, height)), np.uint8), cv2.IMREAD_COLOR
    )
    assert small is not None
    shown_height, shown_width = small.shape[:2]
    assert shown_width <= min(width, THUMBNAIL_LIMITS.width_px)
    assert shown_height / shown_width == pytest.approx(height / width, rel=0.02)


@pytest.mark.parametrize("broken", [b"", b"no picture", jpeg(64, 64)[:20]])
def test_a_broken_picture_is_told(broken: bytes) -> None:
    with pytest.raises(NotRecordedError):
        Thumbnails().get(("a",), lambda: broken)


def test_each_picture_is_made_once_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "THUMBNAIL_LIMITS", module.ThumbnailLimits(remembered=2))
    made: list[str] = []

    def picture(name: str) -> bytes:
        made.append(name)
        return jpeg(64, 36)

    kept = Thumbnails()
    for name in ("a", "b", "a", "c", "a", "b"):
        kept.get((name,), lambda name=name: picture(name))  # type: ignore[misc]
    assert made == ["a", "b", "c", "b"]
