"""Who lies, by how he went from one look to the next."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.frame import Detection, DetectionKind
from downfield.vision.tracking.fall_evidence import followed_odds
from downfield.vision.tracking.falls import PostureBelief

LOOK_NS = 16_666_667
FULL_BASE = -0.3  # what one taken for fallen is worth whose base shows in full, with the helmet over it


def after(belief: PostureBelief, kind: DetectionKind, odds: float, jumps_mm: list[float]) -> list[bool]:
    """Whether one figure is believed to lie, look by look."""
    told = []
    looks = [Detection(kind, 0.95, (0.0, 0.0, 1.0, 1.0))]
    for jump_mm in jumps_mm:
        heard = followed_odds(np.array([odds]), looks, np.array([jump_mm]), belief.fallen)
        belief.update(np.array([0]), heard, LOOK_NS / 1e9, 0)
        told.append(bool(belief.fallen[0] > 0.5))
    return told


def standing() -> PostureBelief:
    belief = PostureBelief(1, 0)
    after(belief, "upright", -1.1, [0.0] * 60)
    return belief


@pytest.mark.parametrize(
    ("kind", "jump_mm", "falls"), [("fallen", 8.0, True), ("fallen", 2.0, False), ("upright", 8.0, False)]
)
def test_who_is_taken_for_fallen_as_his_base_jumps_falls_at_once(
    kind: DetectionKind, jump_mm: float, falls: bool
) -> None:
    odds = FULL_BASE if kind == "fallen" else -1.1
    assert after(standing(), kind, odds, [jump_mm] * 4)[-1] == falls


def test_who_lies_does_not_get_up_while_he_is_taken_for_fallen_but_does_when_seen_upright() -> None:
    belief = standing()
    after(belief, "fallen", FULL_BASE, [8.0] * 4)
    assert all(after(belief, "fallen", FULL_BASE, [0.0] * 60))
    assert not after(belief, "upright", -1.1, [0.0] * 60)[-1]


@pytest.mark.parametrize(
    ("shown", "looks", "by_a_hand", "falls"),
    [(0.9, 2, False, True), (0.9, 1, False, False), (0.9, 2, True, False), (0.3, 2, False, False)],
)
def test_who_showed_well_and_vanished_is_believed_to_lie_at_the_first_sight(
    shown: float, looks: int, by_a_hand: bool, falls: bool
) -> None:
    belief, he = standing(), np.array([0])
    for _ in range(30):
        belief.miss(he, np.array([False]), np.array([shown]))
    for _ in range(looks):
        belief.miss(he[:0], np.array([not by_a_hand]), np.array([]))
    assert after(belief, "fallen", 3.4, [0.0])[-1] == falls


def test_who_vanished_and_comes_back_upright_needs_as_much_as_before_to_be_believed_to_lie() -> None:
    belief, he = standing(), np.array([0])
    for _ in range(2):
        belief.miss(he[:0], np.array([True]), np.array([]))
    assert not any(after(belief, "upright", -1.1, [0.0] * 3))
    assert not after(belief, "fallen", 3.4, [0.0])[-1]
