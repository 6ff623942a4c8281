"""A newcomer who sets up a board that nobody knows in a browser, doing what the page says; taps and numbers counted."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Page, expect
from setup_pages import SOLVED_MS, drag_to
from unknown_cameras import Photograph
from waiting import wait_until

from downfield.core.arrays import Array

_IN = 25.4


@dataclass
class Effort:
    """What it took."""

    taps: int = 0
    drags: int = 0
    numbers: int = 0
    refusals: tuple[str, ...] = ()

    def text(self) -> str:
        """Return it in one line."""
        refused = f"; refused {len(self.refusals)} times" if self.refusals else ""
        return f"{self.taps} taps, {self.drags} drags, {self.numbers} typed numbers{refused}"


@dataclass(frozen=True)
class Newcomer:
    """Somebody at the set-up page who sees the board of a photograph and has a tape measure."""

    page: Page
    photo: Photograph
    effort: Effort = dataclasses.field(default_factory=Effort)

    def open_stream(self, address: str) -> None:
        """Give the camera's address."""
        self.page.get_by_label("Or a stream's address").fill(address)
        self.tap("Open")
        expect(self.page.get_by_text("Is the whole field in the picture?")).to_be_visible()
        expect(self.page.locator("#picture")).to_be_visible()

    def find_field(self) -> None:
        """Press the button that finds the field, and follow what the page says until lines are shown."""
        self.tap("Find the field")
        for _ in range(4):
            wait_until(self._is_answered, "the search ends")
            if self._step() == "confirm":
                return
            self._follow_remedy()
        raise AssertionError(f"no way out of {self.effort.refusals}")

    def choose_reading(self) -> None:
        """Tap the picture whose lines lie on the print, if the page asks."""
        view = self._view()
        if not view["undecided"]:
            return
        offs = []
        for i, reading in enumerate(view["readings"]):
            if reading["mirrored"]:
                continue
            self.page.locator("#readings button").nth(i).click()
            expect(self.page.locator("#readings button").nth(i)).to_have_attribute("aria-checked", "true")
            offs.append((self._corners_off_px(), i))
        best = min(offs)[1]
        if best != offs[-1][1]:
            self.page.locator("#readings button").nth(best).click()
            expect(self.page.locator("#readings button").nth(best)).to_have_attribute("aria-checked", "true")
        self.effort.taps += 1  # a person sees it, and taps once

    def follow_advice(self) -> None:
        """Measure what the page says would help most, while that is something a tape tells."""
        for _ in range(3):
            measure = self._view()["measure"]
            if measure in {None, "lens"}:
                return
            self.tap("Enter it")
            self._enter(measure)
            before = self._view()["revision"]
            self.tap("Use what was measured")
            wait_until(lambda: self._view()["revision"] != before, "it is solved again")  # noqa: B023 - within the turn

    def save(self, name: str) -> None:
        """Name the table and save it; wait until the game can begin."""
        self.page.get_by_label("Name of the table").fill(name, timeout=SOLVED_MS)
        self.tap("Save and play")
        expect(self.page.get_by_text("is open: the game can begin.")).to_be_visible(timeout=SOLVED_MS)

    def tap(self, name: str) -> None:
        """Tap a button."""
        self.page.get_by_role("button", name=name, exact=True).click()
        self.effort.taps += 1

    def _is_answered(self) -> bool:
        if self.page.locator("main").get_attribute("aria-busy") == "true":
            return False
        return self._step() == "confirm" or (self._step() == "aim" and self.page.locator("#refusal").is_visible())

    def _step(self) -> str:
        return str(self.page.evaluate("document.body.dataset.step"))

    def _follow_remedy(self) -> None:
        view = self._view()
        told = self.page.locator("#problem").inner_text()
        self.effort.refusals += (told,)
        assert view["remedy"], f"nothing is said to do about: {told}"
        remedy = self.page.locator("#remedy")
        if view["remedy"] == "measure" and self.page.locator("[name=goal]").input_value() == "":
            remedy.click()
            self._enter("goal_to_goal")
            self._enter("side_to_side")
            self.tap("Find the field")
        else:
            assert not self.effort.drags, f"no way out of: {self.effort.refusals}"
            # The same board in the same picture: another one would not help here, corners do.
            self.tap("Place the corners by hand")
            self._place_corners()

    def _place_corners(self) -> None:
        board = self.photo.board
        if self.page.get_by_label("Goal line to goal line on the print").is_visible():
            self.page.get_by_label("Goal line to goal line on the print").select_option(f"yards-{board.length_yd:g}")
        names = ("Lower left corner", "Lower right corner", "Upper right corner", "Upper left corner")
        size = np.array(self.photo.view.optics.size_px)
        for name, px in zip(names, self._corners_px(), strict=True):
            x, y = (px / size).tolist()
            drag_to(self.page, self.page.get_by_role("button", name=name), (x, y))
            self.effort.drags += 1
        self.tap("Use these corners")

    def _enter(self, measure: str) -> None:
        board = self.photo.board
        label, length_mm = {
            "goal_to_goal": ("Goal line to goal line", board.length_yd * board.yard_mm[0]),
            "side_to_side": ("Sideline to sideline", board.width_yd * board.yard_mm[1]),
            "camera_height": ("Lens over the board", float(self.photo.view.eye_mm[2])),
        }[measure]
        self.page.get_by_label(label, exact=True).fill(f"{round(length_mm / _IN * 16) / 16:.4f}")  # to a sixteenth inch
        self.effort.numbers += 1

    def _corners_px(self) -> Array:
        """Return the corners in the picture, lower left first, counter-clockwise."""
        board = self.photo.board
        return self.photo.view.pixels(np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * (
            board.length_yd * board.yard_mm[0], board.width_yd * board.yard_mm[1]
        ))  # fmt: skip

    def _corners_off_px(self) -> float:
        shown = np.array([mark["px"] for mark in self._view()["landmarks"] if mark["corner"]])
        return float(np.linalg.norm(shown[:, None] - self._corners_px(), axis=2).min(axis=1).max())

    def _view(self) -> dict:  # type: ignore[type-arg]
        state: dict = self.page.evaluate("async () => (await fetch('api/setup')).json()")  # type: ignore[type-arg]
        return state
