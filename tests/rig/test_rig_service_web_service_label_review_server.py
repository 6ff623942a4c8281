"""Checking labels in a real browser before the network learns from them, and what the page's server refuses."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import av
import httpx
import numpy as np
import pytest
from browsers import browser, page_in
from playwright.sync_api import Browser, Page
from waiting import WAIT_S

from downfield.api.label_review import Corners, LabelReview
from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.rig.service.web_service import serve_label_review

PICTURES = 2


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


def _review() -> LabelReview:
    """The bundled clip's first frames, labeled with their tracks."""
    clip = bundled_demo()
    calibration = read_calibration(clip.with_suffix(".calibration.json"))
    images, marks = [], []
    with av.open(str(clip)) as video:
        for frame, scene in zip(video.decode(video=0), open_clip(clip).tracks, strict=False):
            images.append(np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8))
            marks.append([_corners(calibration.camera.to_pixels(_top(one))) for one in scene.figures])
            if len(images) == PICTURES:
                break
    return LabelReview(images, marks)


def _top(figure: object) -> np.ndarray:
    corners = figure.footprint.corners_mm()  # type: ignore[attr-defined]
    return np.column_stack([corners, np.full(4, 5.5)])


def _corners(px: np.ndarray) -> Corners:
    return tuple((float(x), float(y)) for x, y in px)


class RunningReview:
    """A review that is served in a thread of its own."""

    def __init__(self, review: LabelReview) -> None:
        self.review = review
        addresses: queue.Queue[str] = queue.Queue()
        self.thread = threading.Thread(target=serve_label_review, args=(review, addresses.put), daemon=True)
        self.thread.start()
        self.address = addresses.get(timeout=WAIT_S)

    def has_ended(self) -> bool:
        self.thread.join(WAIT_S)
        return not self.thread.is_alive()


def _tap(page: Page, at: tuple[float, float]) -> None:
    """Tap the picture at one of its pixels."""
    page.get_by_text("Picture ").wait_for()  # shown when it is drawn
    box = page.locator("#picture").bounding_box()
    assert box is not None
    by = min(box["width"] / 1920, box["height"] / 1080)
    left, top = (box["width"] - 1920 * by) / 2, (box["height"] - 1080 * by) / 2
    page.mouse.click(box["x"] + left + at[0] * by, box["y"] + top + at[1] * by)


def test_bases_are_rotated_removed_and_added_and_others_stay(chromium: Browser) -> None:
    running = RunningReview(_review())
    before = [list(marks) for marks in running.review.labels]
    first, second = (np.array(before[0][row]).mean(axis=0) for row in (0, 1))
    with page_in(chromium) as page:
        page.goto(running.address)
        _tap(page, tuple(first))
        page.get_by_role("button", name="Rotate").click()
        _tap(page, tuple(second))
        page.get_by_role("button", name="Remove").click()
        page.get_by_role("button", name="Add a figure").click()
        _tap(page, (300.0, 900.0))
        page.get_by_role("button", name="Correct").click()
        page.get_by_text("Picture 2 of 2").wait_for()
        page.get_by_role("button", name="Correct, start learning").click()
        page.get_by_text("The network is learning now").wait_for()
    assert running.has_ended()
    assert running.review.checked == {0, 1}
    assert not running.review.skipped
    after = running.review.labels
    np.testing.assert_allclose(after[0][0], np.roll(before[0][0], 2, axis=0))
    assert len(after[0]) == len(before[0])
    np.testing.assert_allclose(after[0][1], before[0][2])
    np.testing.assert_allclose(np.array(after[0][-1]).mean(axis=0), (300, 900), atol=3)
    np.testing.assert_allclose(after[1], before[1])


def test_a_corner_is_dragged_in_a_zoomed_picture(chromium: Browser) -> None:
    running = RunningReview(_review())
    corners = np.array(running.review.labels[0][5])
    with page_in(chromium) as page:
        page.goto(running.address)
        _tap(page, tuple(corners.mean(axis=0)))
        box = page.locator("#picture").bounding_box()
        assert box is not None
        by = min(box["width"] / 1920, box["height"] / 1080)
        left, top = (box["width"] - 1920 * by) / 2, (box["height"] - 1080 * by) / 2
        x, y = (float(v) for v in corners[0] * by + (box["x"] + left, box["y"] + top))
        page.mouse.move(x, y)
        page.mouse.wheel(0, -556)  # e to the 556/400: four times as large, about that corner
        page.mouse.down()
        page.mouse.move(x + 40, y - 20, steps=4)
        page.mouse.up()
        page.get_by_role("button", name="Correct").click()
        page.get_by_text("Picture 2 of 2").wait_for()
        page.get_by_role("button", name="Skip all").click()
    assert running.has_ended()
    moved = np.array(running.review.labels[0][5]) - corners
    zoom = float(np.exp(556 / 400))
    np.testing.assert_allclose(moved[0], np.array([40, -20]) / by / zoom, atol=0.5)
    np.testing.assert_allclose(moved[1:], 0, atol=1e-9)


def test_an_edit_is_undone_and_all_can_be_skipped(chromium: Browser) -> None:
    running = RunningReview(_review())
    middle = np.array(running.review.labels[0][3]).mean(axis=0)
    with page_in(chromium) as page:
        page.goto(running.address)
        _tap(page, tuple(middle))
        page.get_by_role("button", name="Remove").click()
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("22 figures").wait_for()
        page.get_by_role("button", name="Skip all").click()
        page.get_by_text("Skipped").wait_for()
    assert running.has_ended()
    assert running.review.skipped
    assert running.review.checked == set()


def test_the_page_needs_its_secret_path_and_bad_labels_are_refused() -> None:
    running = RunningReview(_review())
    root = running.address.removesuffix(f"{running.review.token}/")
    with httpx.Client(timeout=WAIT_S) as client:
        assert client.get(root).status_code == 404
        assert client.get(f"{root}pictures").status_code == 404
        assert client.post(f"{root}end", json={"outcome": "saved"}).status_code == 404
        assert client.get(f"{running.address}pictures/0.jpg").headers["content-type"] == "image/jpeg"
        assert client.get(f"{running.address}pictures/7.jpg").status_code == 404
        put = f"{running.address}pictures/0"
        square = [[1, 1], [2, 1], [2, 2], [1, 2]]
        for wrong in ({}, {"figures": [{"corners": square[:3]}]}, {"figures": [{"corners": [[1, "x"], *square[1:]]}]}):
            assert client.put(put, json=wrong).status_code == 422
        assert (
            client.put(put, content=b'{"figures": [{"corners": [[NaN, 1], [2, 1], [2, 2], [1, 2]]}]}').status_code
            == 422
        )
        assert client.put(f"{running.address}pictures/9", json={"figures": []}).status_code == 404
        assert client.post(f"{running.address}end", json={"outcome": "perhaps"}).status_code == 422
        assert not running.review.checked
        assert client.post(f"{running.address}end", json={"outcome": "saved"}).status_code == 204
    assert running.has_ended()
