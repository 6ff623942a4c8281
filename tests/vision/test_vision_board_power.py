"""Board power from movement: on, off, and not misled by hands, jams or a microphone alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.capture.sources.sound import hum_evidence
from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.board.power import PowerDetector, PowerReading
from downfield.vision.measuring.estimate import Estimate

FRAME_NS = 16_666_667
COVARIANCE = np.diag([0.05, 0.05, 1e-4])


class Table:
    """Twenty-two figures of which some walk while the board is on."""

    def __init__(self, seed: int = 0, *, walking: float = 0.8, noise_mm: float = 0.1) -> None:
        self._rng = np.random.default_rng(seed)
        self._at = self._rng.uniform(0, 500, (22, 2))
        speed = self._rng.uniform(25, 120, 22) * (self._rng.random(22) < walking)
        turn = self._rng.uniform(-np.pi, np.pi, 22)
        self.velocity = speed[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        self._noise_mm = noise_mm

    def frame(self, *, on: bool, by_hand: int = 0) -> list[Estimate]:
        """The next frame."""
        if on:
            self._at += self.velocity * FRAME_NS / 1e9
        self._at[:by_hand] += 3.0
        seen = self._at + self._rng.normal(0, self._noise_mm, self._at.shape)
        return [
            Estimate(f"dark-{i}", "dark", Footprint(float(x), float(y), 0.0, BaseSize()), COVARIANCE, np.zeros(3))
            for i, (x, y) in enumerate(seen)
        ]


def run(states: list[bool], table: Table, by_hand: int = 0) -> list[PowerReading]:
    """What is read of a board that is switched so."""
    detector = PowerDetector()
    return [detector.step(table.frame(on=on, by_hand=by_hand), i * FRAME_NS) for i, on in enumerate(states)]


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), noise_mm=st.floats(0.02, 0.25))
def test_switches_are_noticed_within_a_fifth_of_a_second_and_nothing_else_is(seed: int, noise_mm: float) -> None:
    states = [False] * 60 + [True] * 90 + [False] * 60 + [True] * 60
    readings = run(states, Table(seed, noise_mm=noise_mm))
    for i, (state, reading) in enumerate(zip(states, readings, strict=True)):
        settled = len(set(states[max(i - 12, 0) : i + 1])) == 1 and i >= 12
        if settled:
            assert reading.power == ("on" if state else "off"), i


def test_a_hand_that_moves_two_figures_does_not_switch_the_board_on() -> None:
    assert {reading.power for reading in run([False] * 90, Table(1), by_hand=2)[12:]} == {"off"}


def test_figures_that_jump_at_a_cut_do_not_switch_it_on() -> None:
    table, detector, states = Table(4, noise_mm=0.05), PowerDetector(), set()
    for i in range(90):
        if i == 45:  # the recording was cut
            table._at += np.random.default_rng(5).uniform(-15, 15, table._at.shape)
        states.add(detector.step(table.frame(on=False), i * FRAME_NS).power)
    assert "on" not in states


def test_figures_with_uncertain_positions_do_not_switch_it_on() -> None:
    table, detector, states = Table(6, noise_mm=0.05), PowerDetector(), set()
    rng = np.random.default_rng(7)
    for i in range(90):
        seen = table.frame(on=False)
        for row in range(14) if i >= 45 else ():
            figure, (x, y) = seen[row], rng.normal(0, 0.8, 2)
            place = Footprint(figure.footprint.x_mm + x, figure.footprint.y_mm + y, 0.0, BaseSize())
            seen[row] = replace(figure, footprint=place, covariance=np.diag([0.64, 0.64, 1e-3]))
        states.add(detector.step(seen, i * FRAME_NS).power)
    assert "on" not in states


def test_a_board_on_which_a_third_of_the_figures_walk_is_on() -> None:
    table = Table(3, walking=0.0)
    table.velocity[:8] = 60.0, 0.0
    assert {reading.power for reading in run([True] * 60, table)[12:]} == {"on"}


def test_without_figures_the_state_is_unknown() -> None:
    reading = PowerDetector().step([], 0)
    assert (reading.power, reading.probability) == ("unknown", 0.5)


def test_the_state_stays_while_no_figure_is_seen() -> None:
    detector, table = PowerDetector(), Table(2)
    for i in range(30):
        detector.step(table.frame(on=True), i * FRAME_NS)
    assert [detector.step([], (30 + i) * FRAME_NS).power for i in range(20)] == ["on"] * 20


def test_print_shake_decides_once_both_states_are_known() -> None:
    detector, table = PowerDetector(), Table(4)
    time_ns = 0
    for on in (True, False):
        for _ in range(120):
            detector.step(table.frame(on=on), time_ns, shake_px=0.5 if on else 0.02)
            time_ns += FRAME_NS
    for _ in range(12):
        reading = detector.step([], time_ns, shake_px=0.5)
        time_ns += FRAME_NS
    assert reading.power == "on"


def sound(hertz: float, loud: float, seed: int = 0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A quarter of a second of noise with a tone."""
    t = np.arange(4000) / 16000
    return np.asarray(np.random.default_rng(seed).normal(0, 1, 4000) + loud * np.sin(2 * np.pi * hertz * t))


@pytest.mark.parametrize("hertz", [100.0, 120.0, 240.0])
def test_a_hum_at_twice_the_mains_is_evidence_for_on(hertz: float) -> None:
    assert hum_evidence(sound(hertz, 1.0), 16000) > 0.5


@pytest.mark.parametrize("hertz", [70.0, 440.0, 1000.0])
def test_noise_and_other_tones_are_not(hertz: float) -> None:
    assert hum_evidence(sound(hertz, 1.0), 16000) <= 0.0


def test_a_microphone_that_heard_the_board_decides_when_no_figure_is_in_view() -> None:
    detector, table = PowerDetector(), Table(2)
    for i in range(30):
        detector.step(table.frame(on=True), i * FRAME_NS, hum=1.0)
    assert [detector.step([], (30 + i) * FRAME_NS, hum=-1.0).power for i in range(20)][-1] == "off"


def test_a_microphone_out_of_reach_of_the_board_does_not_switch_it_off() -> None:
    detector, table = PowerDetector(), Table(2)
    for i in range(30):
        detector.step(table.frame(on=True), i * FRAME_NS, hum=-1.0)
    assert [detector.step([], (30 + i) * FRAME_NS, hum=-1.0).power for i in range(20)] == ["on"] * 20


def test_a_refrigerator_does_not_switch_a_dead_board_on() -> None:
    detector, table = PowerDetector(), Table(3)
    assert {detector.step(table.frame(on=False), i * FRAME_NS, hum=1.0).power for i in range(60)} <= {"off", "unknown"}
