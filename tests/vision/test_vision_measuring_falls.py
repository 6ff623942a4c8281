"""The posture filter: when a figure is believed to lie, and since when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from made_measurements import EXACT, measurements
from tracked_tables import LINE_UP_S, Table, standing, tracked_with

from downfield.core.frame import DetectionKind
from downfield.vision.measuring.falls import BaseMotion, FallSigns, PostureFilter

STEP_NS = 16_666_667
FALLEN, UPRIGHT = 2.4, -1.1  # log-odds of one detection
FIGURE = np.array([0])
OWN_MM = (30.0, 18.0)
EDGE_MM = (30.0, 6.0)


def update(posture: PostureFilter, odds: Sequence[float | None], first: int = 1) -> None:
    """Add frames that show one figure, or do not."""
    for frame, value in enumerate(odds, first):
        rows = np.array([] if value is None else [0], dtype=np.intp)
        posture.update(rows, np.array([] if value is None else [value]), STEP_NS * 1e-9, frame * STEP_NS)


def lies(
    posture: PostureFilter,
    kind: DetectionKind,
    jumps_mm: list[float],
    *,
    size_mm: tuple[float, float] = OWN_MM,
    own_mm: tuple[float, float] = OWN_MM,
    helmet_over: bool = True,
    speed_mm: float = 0.0,
    at_rest: bool = False,
    crowded: bool = False,
    step_ns: int = STEP_NS,
) -> list[bool]:
    """Whether one figure, which goes on by so much in a frame, is believed to lie after each of these detections."""
    out = []
    signs = FallSigns(np.array([kind == "fallen"]), np.array([0.95]), np.array([size_mm]), np.array([helmet_over]))
    for frame, jump_mm in enumerate(jumps_mm):
        place_mm = np.array([[300.0 + speed_mm * frame, 200.0]])
        bases = BaseMotion(np.array([own_mm]), np.array([jump_mm]), np.array([True]), place_mm, np.array([crowded]))
        odds = posture.weigh(FIGURE, signs, bases, step_ns / 1e9, 0, np.array([at_rest]))
        posture.update(FIGURE, odds, step_ns / 1e9, 0)
        out.append(bool(posture.fallen[0] > 0.5))
    return out


def upright() -> PostureFilter:
    """A figure that has stood for a second."""
    posture = PostureFilter(1, 0)
    lies(posture, "upright", [0.0] * 60)
    return posture


def test_a_fall_is_dated_between_the_last_upright_and_the_first_fallen_detection() -> None:
    posture = PostureFilter(1, 0)
    update(posture, [UPRIGHT] * 30 + [None] * 4 + [FALLEN] * 10)
    assert posture.fell_ns == [(30 * STEP_NS + 35 * STEP_NS) // 2]


def test_a_single_wrong_detection_does_not_date_a_later_fall() -> None:
    posture = PostureFilter(1, 0)
    update(posture, [UPRIGHT] * 10 + [FALLEN] + [UPRIGHT] * 19 + [FALLEN] * 10)
    assert posture.fell_ns == [(30 * STEP_NS + 31 * STEP_NS) // 2]


def test_a_figure_that_lay_for_long_and_stands_again_falls_anew() -> None:
    posture = PostureFilter(1, 0)
    update(posture, [UPRIGHT] * 30 + [FALLEN] * 120)
    update(posture, [UPRIGHT] * 60, first=151)
    assert posture.fell_ns == [None]
    update(posture, [FALLEN] * 10, first=211)
    assert posture.fell_ns == [(210 * STEP_NS + 211 * STEP_NS) // 2]


def test_detections_before_a_hand_held_the_figure_date_no_fall() -> None:
    posture = PostureFilter(1, 0)
    update(posture, [UPRIGHT] * 30 + [FALLEN])
    posture.set_upright(FIGURE)
    update(posture, [None] * 30 + [FALLEN] * 10, first=32)
    assert posture.fell_ns == [(31 * STEP_NS + 62 * STEP_NS) // 2]


@pytest.mark.parametrize(
    ("kind", "jump_mm", "falls"), [("fallen", 8.0, True), ("fallen", 2.0, False), ("upright", 8.0, False)]
)
def test_a_figure_called_fallen_just_as_its_base_jumps_falls_at_once(
    kind: DetectionKind, jump_mm: float, falls: bool
) -> None:
    assert lies(upright(), kind, [jump_mm] * 4)[-1] == falls


def test_a_fallen_figure_stands_up_only_when_called_upright() -> None:
    posture = upright()
    lies(posture, "fallen", [8.0] * 4)
    assert all(lies(posture, "fallen", [0.0] * 60))
    assert not lies(posture, "upright", [0.0] * 60)[-1]


def test_a_fallen_figure_called_upright_for_a_moment_lies_and_one_that_walks_on_stands() -> None:
    for speed_mm, still in ((0.0, True), (6.0, False)):
        posture = upright()
        lies(posture, "fallen", [8.0] * 4)
        assert lies(posture, "upright", [0.0] * 12, step_ns=66_666_667, speed_mm=speed_mm)[9] == still


@pytest.mark.parametrize(
    ("visible", "missed", "by_a_hand", "falls"),
    [(0.9, 2, False, True), (0.9, 1, False, False), (0.9, 2, True, False), (0.3, 2, False, False)],
)
def test_a_visible_figure_that_vanished_is_believed_to_lie_at_the_first_detection(
    visible: float, missed: int, by_a_hand: bool, falls: bool
) -> None:
    posture = upright()
    for _ in range(30):
        posture.update_missed(FIGURE, np.array([False]), np.array([visible]), 0)
    for _ in range(missed):
        posture.update_missed(FIGURE[:0], np.array([not by_a_hand]), np.array([]), 0)
    assert lies(posture, "fallen", [0.0], size_mm=EDGE_MM)[-1] == falls


def test_a_vanished_figure_that_comes_back_upright_needs_the_usual_evidence_to_fall() -> None:
    posture = upright()
    for _ in range(2):
        posture.update_missed(FIGURE[:0], np.array([True]), np.array([]), 0)
    assert not any(lies(posture, "upright", [0.0] * 3))
    assert not lies(posture, "fallen", [0.0], size_mm=EDGE_MM)[-1]


@pytest.mark.parametrize("helmet_over", [True, False])
def test_a_figure_called_fallen_whose_base_lies_as_it_lay_stands_however_long_it_is_called_so(
    helmet_over: bool,
) -> None:
    assert not any(lies(upright(), "fallen", [0.0] * 600, helmet_over=helmet_over))


def test_a_figure_that_was_often_called_fallen_still_falls_when_its_base_tilts() -> None:
    posture = upright()
    lies(posture, "fallen", [0.0] * 600, helmet_over=False)
    assert lies(posture, "fallen", [0.0] * 9, size_mm=EDGE_MM, helmet_over=False)[-1]


def test_a_base_that_tilted_and_lies_flat_again_beside_its_helmet_is_a_fall() -> None:
    posture = upright()
    assert not lies(posture, "upright", [0.0], size_mm=EDGE_MM)[-1]
    assert lies(posture, "fallen", [0.0] * 9, helmet_over=False)[-1]


def test_a_figure_always_called_fallen_that_is_missed_for_a_moment_stands() -> None:
    posture = upright()
    lies(posture, "fallen", [0.0] * 300, helmet_over=False)
    for _ in range(3):
        posture.update_missed(FIGURE[:0], np.array([True]), np.array([]), 0)
    assert not any(lies(posture, "fallen", [0.0] * 60, helmet_over=False))


def vanish(posture: PostureFilter) -> None:
    """Two frames miss the figure."""
    for _ in range(2):
        posture.update_missed(FIGURE[:0], np.array([True]), np.array([]), 0)
    posture.update_missed(FIGURE, np.array([False]), np.array([0.9]), 0)


def test_a_figure_missed_for_a_moment_that_is_back_in_full_where_it_was_stands_although_called_fallen() -> None:
    posture = upright()
    vanish(posture)
    assert not any(lies(posture, "fallen", [0.0] * 30, helmet_over=False))


@pytest.mark.parametrize(("jump_mm", "size_mm"), [(9.0, OWN_MM), (0.0, EDGE_MM)])
def test_a_figure_that_vanished_and_is_back_beside_its_way_or_on_its_edge_lies(
    jump_mm: float, size_mm: tuple[float, float]
) -> None:
    posture = upright()
    vanish(posture)
    assert lies(posture, "fallen", [jump_mm] + [0.0] * 6, size_mm=size_mm, helmet_over=False)[-1]


def test_a_small_base_measured_short_is_no_base_on_its_edge() -> None:
    small, short = (24.0, 14.0), (19.5, 10.8)
    assert not any(lies(upright(), "fallen", [0.0] * 30, size_mm=short, own_mm=small, helmet_over=False))
    assert lies(upright(), "fallen", [0.0] * 9, size_mm=(24.0, 6.0), own_mm=small, helmet_over=False)[-1]


@pytest.mark.parametrize(("size_mm", "stands"), [(OWN_MM, True), (EDGE_MM, False)])
def test_a_figure_taken_for_a_fallen_one_that_walks_on_with_a_flat_base_stands(
    size_mm: tuple[float, float], stands: bool
) -> None:
    posture = upright()
    assert lies(posture, "fallen", [8.0] * 4)[-1]
    assert lies(posture, "fallen", [0.0] * 60, size_mm=size_mm, speed_mm=1.5)[-1] != stands


def test_a_figure_taken_for_a_fallen_one_whose_base_stays_where_it_is_lies() -> None:
    posture = upright()
    lies(posture, "fallen", [8.0] * 4)
    assert lies(posture, "fallen", [0.0] * 60, speed_mm=0.3)[-1]


def test_a_figure_called_fallen_that_starts_to_walk_with_the_board_stands() -> None:
    """It leaves the place where it stood a few frames before the board is known to be on."""
    places = {"dark-1": (200.0, 200.0), "dark-2": (480.0, 200.0), "light-1": (480.0, 100.0), "light-2": (480.0, 300.0)}
    table = Table({id_: standing(x, y) for id_, (x, y) in places.items()}, 0.6, power=lambda _: False)
    frames, tracker = tracked_with(table)
    t_ns = round((frames[-1].t_s + LINE_UP_S) * 1e9)
    for frame in range(20):
        t_ns += 66_666_667
        walked_mm = 6.5 * max(frame - 8, 0)
        found = measurements(*((x + walked_mm, y, EXACT, 0.95, 0.0) for x, y in places.values()))
        if 6 <= frame < 14:
            found.signs.called_fallen[:], found.signs.helmet_over[:] = True, False
        now = tracker.update(found, t_ns, power="on" if frame > 10 else "off")
        assert all(figure.posture == "upright" for figure in now), frame


def frames_until_known(posture: PostureFilter) -> int:
    """Frames of a fall until it is known: the base stands on its edge, and the figure is called fallen."""
    return lies(posture, "fallen", [8.0] * 60, size_mm=EDGE_MM, helmet_over=False).index(True) + 1


def test_where_signs_of_falls_often_speak_falsely_a_fall_takes_more_of_them() -> None:
    strange = upright()
    for _ in range(40):
        lies(strange, "fallen", [0.0], size_mm=EDGE_MM)
        lies(strange, "upright", [0.0] * 9)
    assert frames_until_known(upright()) < frames_until_known(strange) <= 10


def test_a_true_fall_is_no_false_alarm() -> None:
    posture = PostureFilter(2, 0)
    lies(posture, "upright", [0.0] * 60)
    lies(posture, "fallen", [8.0] * 120, size_mm=EDGE_MM, helmet_over=False)
    other = np.array([1])
    before = posture.fallen[1]
    odds = posture.weigh(
        other,
        FallSigns(np.array([True]), np.array([0.95]), np.array([EDGE_MM]), np.array([False])),
        BaseMotion(np.array([OWN_MM]), np.array([8.0]), np.array([True]), np.zeros((1, 2)), np.array([False])),
        STEP_NS / 1e9,
        0,
    )
    assert before < 0.5
    assert odds[0] > 2 * FALLEN


@pytest.mark.parametrize("step_ns", [STEP_NS, 2 * STEP_NS], ids=["60 a second", "30 a second"])
def test_in_a_scrum_a_neighbors_body_over_the_base_for_a_moment_is_no_fall_and_one_that_lasts_is(step_ns: int) -> None:
    hidden, moment = (30.0, 11.5), round(5 * STEP_NS / step_ns)
    assert lies(upright(), "fallen", [5.0] * moment, size_mm=hidden, helmet_over=False, step_ns=step_ns)[-1]
    scrum = upright()
    assert not any(
        lies(scrum, "fallen", [5.0] * moment, size_mm=hidden, helmet_over=False, crowded=True, step_ns=step_ns)
    )
    assert not any(lies(scrum, "upright", [0.0] * 5, crowded=True, step_ns=step_ns))
    lasts = lies(upright(), "fallen", [5.0] * 30, size_mm=EDGE_MM, helmet_over=False, crowded=True, step_ns=step_ns)
    assert lasts.index(True) * step_ns < 300_000_000


def test_while_the_board_is_off_signs_of_a_fall_must_last() -> None:
    posture = upright()
    known = lies(posture, "fallen", [0.0] * 300, size_mm=EDGE_MM, helmet_over=False, at_rest=True)
    assert 60 < known.index(True) < 240, "a second at least, but a figure that somebody knocked over is known at last"
    assert all(known[known.index(True) :])
    assert lies(upright(), "fallen", [0.0] * 6, size_mm=EDGE_MM, helmet_over=False)[-1]
