"""What is wrong with lamps, exposure, rate and a camera that came back is told in health, with what to do, and ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CapturedFrame, SourceFacts
from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.rig.live.camera_watch import CAMERA_CHANGED, EXPOSURE, FLICKER, LOWERED_RATE, REPORT_NS, CameraWatch

FACTS = SourceFacts("camera", "Table Cam", (96, 64), 30.0, live=True)
BEGAN_NS = 1_795_000_000_000_000_000
PRINT = np.kron(np.random.default_rng(3).integers(60, 140, (8, 12, 3)), np.ones((8, 8, 1)))

Light = Callable[[float], float | Image]
"""What a picture is multiplied with at a time, s."""


class Table:
    """A table under a camera that is watched."""

    def __init__(self, facts: SourceFacts = FACTS) -> None:
        self.problems = ActiveProblems()
        self.watch = CameraWatch(lambda: facts, self.problems)
        self.index, self.t_s = 0, 0.0
        self._noise = np.random.default_rng(9)

    def play(self, seconds: float, light: Light = lambda _: 1.0, fps: float = 30.0, skip: int = 0) -> list[str]:
        """Show pictures; return the codes of what is told at the end."""
        until = self.t_s + seconds
        while self.t_s < until:
            image = np.clip(PRINT * light(self.t_s) + self._noise.normal(0, 1, PRINT.shape), 0, 255).astype(np.uint8)
            t_ns = BEGAN_NS + round(self.t_s * 1e9)
            self.watch.frame_captured(CapturedFrame(self.index, t_ns, t_ns, image=image))
            self.watch.scene_ready(Frame(self.index, t_ns, image), Scene(self.index, t_ns, "off", ()))
            self.index += 1 + skip
            self.t_s += (1 + skip) / fps
        return [problem.code for problem in self.problems.active()]

    def text(self) -> str:
        (problem,) = self.problems.active()
        return f"{problem.text}. {problem.remedy}"


def mains(hertz: float, amplitude: float = 0.04) -> Light:
    return lambda t: 1 + amplitude * np.sin(2 * np.pi * 2 * hertz * t)


def test_good_light_is_nothing_to_tell() -> None:
    assert Table().play(10) == []


@pytest.mark.parametrize(("hertz", "fps", "exposure"), [(50, 30.0, "100 or 200"), (60, 25.0, "83 or 167")])
def test_flicker_is_told_with_the_exposure_that_hides_it_and_ends(hertz: int, fps: float, exposure: str) -> None:
    table = Table(replace(FACTS, fps=fps))
    assert table.play(8, mains(hertz), fps) == [FLICKER]
    assert f"mains of {hertz} Hz" in table.text()
    assert exposure in table.text()
    assert table.play(4 + REPORT_NS / 1e9 + 4, fps=fps) == []


def test_a_rate_that_halves_is_told_with_both_rates_and_ends() -> None:
    table = Table()
    assert table.play(4) == []
    assert table.play(5, fps=15.0) == [LOWERED_RATE]
    assert "15 frames/s in place of 30" in table.text()
    assert table.play(REPORT_NS / 1e9 + 4) == []


def test_a_stream_that_announces_another_rate_than_it_sends_is_judged_by_what_it_sent() -> None:
    table = Table(replace(FACTS, kind="stream", fps=60.0))
    assert table.play(6) == []
    assert table.play(5, fps=15.0) == [LOWERED_RATE]
    assert "exposure in [source]" not in table.text(), "a stream has no exposure that the rig sets"
    assert "network" in table.text()


def test_frames_that_are_dropped_are_no_lowered_rate() -> None:
    table = Table()
    table.play(4)
    assert table.play(5, skip=1) == []


def hand(t_s: float) -> Image:
    cover = np.ones_like(PRINT)
    cover[:32, :40] = 1 - 0.5 * np.clip((t_s - 5) / 0.3, 0, 1)
    return cover


def test_exposure_that_answers_to_a_hand_is_told_and_a_hand_alone_is_not() -> None:
    assert Table().play(8, hand) == []
    told = Table()
    assert told.play(8, lambda t: hand(t) * np.exp(0.2 * np.clip((t - 5.1) / 0.7, 0, 1))) == [EXPOSURE]
    assert "Hold it" in told.text()


@pytest.mark.parametrize("factor", [0.4, 1.7])
def test_a_lamp_that_is_switched_is_told_by_nobody(factor: float) -> None:
    assert Table().play(10, lambda t: factor if 4 < t < 7 else 1.0) == []


def test_a_camera_that_comes_back_otherwise_is_told_and_one_that_is_as_before_is_not() -> None:
    table = Table()
    table.play(4)
    table.t_s += 3.0
    assert table.play(4) == []
    table.t_s += 3.0
    assert table.play(4, lambda _: 1.5) == [CAMERA_CHANGED]
    assert "brighter" in table.text()
    assert table.play(REPORT_NS * 2 / 1e9 + 4, lambda _: 1.5) == [], "it is the usual look after a while"


def test_other_colors_after_it_comes_back_are_told() -> None:
    table = Table()
    table.play(4)
    table.t_s += 3.0
    assert table.play(4, lambda _: np.ones_like(PRINT) * [1.3, 1.0, 0.75]) == [CAMERA_CHANGED]
    assert "of other colors" in table.text()
