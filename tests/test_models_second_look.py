"""The second look: what it says of patches comes back to the frame, in each figure's own order."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from seen_figures import FRAME, First, base, figure

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.patches import PATCH_PX, patch_transform, scale_of, to_patch, to_units
from downfield.models.second_look import TwoStageDetector
from downfield.models.second_look_output import (
    OUTPUTS,
    TURN,
    doubtful,
    turned_round,
)
from downfield.models.views import merge_refined, select_new_views


class Canned:
    """A network that says what it is told of patches, and the same of those in doubt turned round."""

    name = "canned"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, said: NDArray[np.float32], known: int = 0) -> None:
        self.said, self.known = said, known  # so many, the first, are looked at one way round only
        self.first: NDArray[np.uint8] | None = None

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        if self.first is None:
            self.first = pictures
            assert pictures.shape == (len(self.said), PATCH_PX, PATCH_PX, 3)
            return self.said
        rows = np.flatnonzero(doubtful(self.said.astype(np.float64)))
        rows = rows[rows >= self.known]
        np.testing.assert_array_equal(pictures, self.first[rows, ::-1, ::-1])
        return self.turned()[rows]

    def turned(self) -> NDArray[np.float32]:
        return turned_round(self.said.astype(np.float64)).astype(np.float32)


def said_of(
    guess: Array,
    truth: Array,
    *,
    flip: bool,
    fallen: bool = False,
    there: float = 3.0,
) -> NDArray[np.float32]:
    """What a perfect network would say of a patch cut by a guess; the corners in the patch's order."""
    order = (2, 3, 0, 1) if flip else (0, 1, 2, 3)
    points = np.concatenate([truth[list(order)], truth.mean(axis=0, keepdims=True) + 3.0])
    units = to_units(to_patch(points[None], patch_transform(guess[None])))[0]
    # The first corner of the figure is hidden and said badly: it must stay with its name.
    seen = [-20.0 if k == order.index(0) else 20.0 for k in range(4)] + [20.0]
    errors = np.log([0.2 if k == order.index(0) else 0.01 for k in range(4)] + [0.01])
    row = [*units.ravel(), *errors, *seen, 5.0 if flip else -5.0, 5.0 if fallen else -5.0, there]
    return np.array(row, np.float32)


@given(st.floats(-np.pi, np.pi), st.floats(-0.03, 0.03), st.booleans(), st.booleans())
def test_corners_come_back_in_the_figure_s_own_order_whatever_the_first_look_took_for_front(
    turn: float, off: float, turned: bool, fallen: bool
) -> None:
    truth = base(300, 200, turn)
    guess = base(300.8, 199.4, turn + off + (np.pi if turned else 0), 46)
    network = Canned(said_of(guess, truth, flip=turned, fallen=fallen)[None])
    (seen,) = TwoStageDetector(First(figure(guess)), network).detect(FRAME)
    np.testing.assert_allclose(seen.corners_px, truth, atol=1e-3)
    np.testing.assert_allclose(seen.helmet_px or (), truth.mean(axis=0) + 3, atol=1e-3)
    np.testing.assert_allclose(seen.corner_scores, [0, 1, 1, 1], atol=1e-6)
    scale = float(scale_of(patch_transform(guess)))
    sigma_px = np.sqrt(2) * np.array([0.2, 0.01, 0.01, 0.01]) * PATCH_PX / 2 / scale
    np.testing.assert_allclose(seen.corner_sigma_px, sigma_px, rtol=1e-4)
    assert seen.kind == ("fallen" if fallen else "upright")


@pytest.mark.parametrize("again", [3.0, -9.0])
def test_a_patch_that_was_cut_askew_is_cut_anew_and_both_say_whether_there_is_a_figure(again: float) -> None:
    truth, guess = base(300, 200, 0.3), base(306, 197, 0.1 + np.pi, 52)
    nearly = base(300.5, 199.8, 0.28)
    network = InTurn(said_of(guess, nearly, flip=True)[None], said_of(nearly, truth, flip=False, there=again)[None])
    seen = TwoStageDetector(First(figure(guess, 0.5)), network).detect(FRAME)
    assert not network.said
    assert len(seen) == (again > 0)
    for one in seen:
        np.testing.assert_allclose(one.corners_px, truth, atol=1e-3)
        assert one.score == pytest.approx(1 / (1 + np.exp(-(0 + 3.0) / 2)), abs=1e-3)


@pytest.mark.parametrize("word", [TURN, 21, 22])
def test_only_what_is_in_doubt_is_looked_at_both_ways_round(word: int) -> None:
    bases = [base(150, 150, 0), base(300, 150, 0), base(450, 150, 0)]
    said = np.stack([said_of(one, one, flip=False) for one in bases])
    said[:, 22] = 8.0
    assert not doubtful(said.astype(np.float64)).any()
    said[1, word] = -0.5
    asked: list[int] = []

    class Counting(Canned):
        def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
            asked.append(len(pictures))
            return super().run(pictures)

    TwoStageDetector(First(*map(figure, bases)), Counting(said)).detect(FRAME)
    assert asked == [3, 1]


def test_a_patch_turned_round_says_the_same_of_the_figure() -> None:
    """Cut by corners in the other order a patch is the same, turned; `turned_round` makes one answer of the other."""
    truth = base(300, 200, 0.7)
    guess = base(302, 199, 0.8)
    straight = said_of(guess, truth, flip=False)[None].astype(np.float64)
    other = said_of(guess[[2, 3, 0, 1]], truth, flip=True)[None].astype(np.float64)
    np.testing.assert_allclose(turned_round(other), straight, atol=1e-6)


def test_the_first_look_is_overruled_only_by_a_surer_second() -> None:
    truth = base(300, 200, 0.7)
    said = said_of(truth[[2, 3, 0, 1]], truth, flip=True)[None]
    first = First(figure(truth[[2, 3, 0, 1]]))
    (believed,) = TwoStageDetector(first, Canned(said), turn_logit=4.0).detect(FRAME)
    np.testing.assert_allclose(believed.corners_px, truth, atol=1e-3)
    assert believed.front_score == pytest.approx(1 / (1 + np.exp(-1.0)))
    (doubted,) = TwoStageDetector(first, Canned(said), turn_logit=7.0).detect(FRAME)
    np.testing.assert_allclose(doubted.corners_px, truth[[2, 3, 0, 1]], atol=1e-3)


@pytest.mark.parametrize(("limit", "kind"), [(4.0, "fallen"), (6.0, "upright")])
def test_who_has_fallen_is_said_only_above_the_limit(limit: float, kind: str) -> None:
    truth = base(300, 200, 0.7)
    network = Canned(said_of(truth, truth, flip=False, fallen=True)[None])
    (seen,) = TwoStageDetector(First(figure(truth)), network, fallen_logit=limit).detect(FRAME)
    assert seen.kind == kind


def test_what_is_no_figure_goes_and_a_hand_stays() -> None:
    real, unreal = base(100, 100, 0.3), base(400, 300, 2.0)
    hand = Detection("hand", 0.6, (1.0, 2.0, 3.0, 4.0))
    network = Canned(
        np.stack([said_of(unreal, unreal, flip=False, there=-5.0), said_of(real, real, flip=False, there=3.0)])
    )
    seen = TwoStageDetector(First(figure(unreal, 0.9), hand, figure(real, 0.4)), network).detect(FRAME)
    assert [one.kind for one in seen] == ["upright", "hand"]
    # Both looks count alike: the mean of their log-odds.
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))
    assert seen[1] is hand


def test_either_look_alone_may_be_mistaken_of_a_figure() -> None:
    place = base(100, 100, 0.3)
    for first, second, there in ((0.3, 4.0, True), (0.95, -1.5, True), (0.1, 1.0, False), (0.6, -2.0, False)):
        network = Canned(said_of(place, place, flip=False, there=second)[None])
        assert bool(TwoStageDetector(First(figure(place, first)), network).detect(FRAME)) == there


def test_a_network_that_says_something_else_is_refused() -> None:
    looks = TwoStageDetector(First(figure(base(100, 100, 0))), Canned(np.zeros((1, OUTPUTS - 1), np.float32)))
    with pytest.raises(InputError, match=rf"a second look gives \(n, {OUTPUTS}\)"):
        looks.detect(FRAME)


def test_what_was_seen_a_moment_ago_is_looked_at_where_it_was() -> None:
    before, now = base(300, 200, 0.7), base(304, 203, 0.75)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    looks = TwoStageDetector(First(), InTurn(said_of(before, now, flip=False)[None]))
    seen = looks.track(FRAME, [figure(before, 0.9), hand])
    assert [one.kind for one in seen] == ["upright", "hand"]
    np.testing.assert_allclose(seen[0].corners_px, now, atol=1e-3)


def test_who_was_lifted_away_is_not_seen_again() -> None:
    at = base(300, 200, 0.7)
    looks = TwoStageDetector(First(), Canned(said_of(at, at, flip=False, there=-6.0)[None], known=1))
    assert looks.track(FRAME, [figure(at, 0.9)]) == ()


def test_of_what_is_found_only_what_was_not_seen_there_anyhow_is_news() -> None:
    here, aside = base(300, 200, 0.7), base(305, 203, 0.7)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    vague, exact = (dataclasses.replace(figure(here, 0.9), corner_sigma_px=(sigma,) * 4) for sigma in (2.0, 0.3))
    assert select_new_views([figure(here)], [vague]) == []
    assert select_new_views([figure(aside)], [exact]) == []
    for found in (figure(aside), figure(base(100, 100, 0.0)), hand):
        assert select_new_views([figure(here), found], [vague]) == [found]
    assert select_new_views([figure(here)], [hand]) == [figure(here)]


def with_errors(one: Detection, sigma_px: float) -> Detection:
    return dataclasses.replace(one, corner_sigma_px=(sigma_px,) * 4)


def test_beside_the_frames_only_news_and_vague_figures_are_examined() -> None:
    exact, vague, new, junk = (base(x, 200, 0.0) for x in (100, 200, 300, 400))
    said = np.stack(
        [said_of(new, new, flip=False), said_of(junk, junk, flip=False, there=-6.0), said_of(vague, vague, flip=False)]
    )
    beside = TwoStageDetector(First(), Canned(said))
    looks = TwoStageDetector(First(), Canned(np.zeros((9, 9), np.float32)), beside=beside)
    found = [figure(exact), figure(new, 0.9), figure(junk), Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))]
    seen = [with_errors(figure(exact, 0.9), 0.3), with_errors(figure(vague, 0.9), 5.0)]
    assert middles(looks.refine_candidates(FRAME, found, seen)) == [(200, 200), (300, 200)]
    assert looks.refine_candidates(FRAME, (), ()) == ()


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-0.3, 0.3), st.booleans())
def test_a_better_view_of_an_earlier_picture_is_taken_along_to_where_its_figure_is_now(
    right: float, down: float, turn: float, better: bool
) -> None:
    others = [with_errors(figure(base(100 * k, 350, 0.1), 0.9), 1.0) for k in (1, 2, 3)]
    before, now = (with_errors(figure(base(300 + x, 200 + y, 0.7), 0.9), 2.0) for x, y in ((0, 0), (right, down)))
    view = with_errors(figure(base(301, 198, 0.7 + turn), 0.9), 1.5 if better else 1.8)
    hand = Detection("hand", 0.8, (1.0, 2.0, 3.0, 4.0))
    seen = merge_refined([*others, now, hand], [before, *others], [view])
    assert [*seen[:3], seen[4]] == [*others, hand]
    expected = base(301 + right, 198 + down, 0.7 + turn) if better else base(300 + right, 200 + down, 0.7)
    np.testing.assert_allclose(seen[3].corners_px, expected, atol=1e-6)


def test_who_was_found_in_an_earlier_picture_is_new_unless_somebody_is_seen_there_by_now() -> None:
    one, other = figure(base(100, 100, 0.7)), figure(base(300, 200, 0.7))
    assert merge_refined([one], [one], [other]) == (one, other)
    assert merge_refined([one, other], [one], [figure(base(301, 201, 0.6))]) == (one, other)
    assert merge_refined([other], [one, other], [with_errors(one, 0.1)]) == (other,)  # who is gone by now stays away


def test_two_that_were_seen_where_one_is_now_are_that_one() -> None:
    here, beside, now = (with_errors(figure(base(x, 200, 0.7), 0.9), 2.0) for x in (300, 312, 306))
    views = [with_errors(one, 1.0) for one in (here, beside)]
    (seen,) = merge_refined([now], [here, beside], views)
    assert seen.corner_sigma_px == (1.0,) * 4
    assert middles([seen]) == middles([now])


@pytest.mark.parametrize(("surer", "kept"), [(True, 1), (False, 0)])
def test_who_was_followed_astray_is_seen_anew_by_a_whole_look_if_that_is_surer(surer: bool, kept: int) -> None:
    """A patch cut by a wrong answer gives the next wrong answer; what a first look sees builds on none."""
    truth, astray = base(300, 200, 0.7), base(305, 204, 0.7, 36.0)
    views = np.stack([said_of(astray, astray, flip=False), said_of(truth, truth, flip=False)])
    views[1 if surer else 0, 10:15] -= 1.0  # its errors, logarithms
    looks = TwoStageDetector(First(figure(truth, 0.6)), Canned(views, known=1))
    (seen,) = looks.track(FRAME, [figure(astray, 0.6)], looks.find_candidates(FRAME))
    np.testing.assert_allclose(seen.corners_px, (astray, truth)[kept], atol=1e-3)


def test_who_is_followed_exactly_is_not_looked_at_anew() -> None:
    truth, astray = base(300, 200, 0.7), base(305, 204, 0.7, 36.0)
    exact = dataclasses.replace(figure(truth, 0.6), corner_sigma_px=(0.3,) * 4)
    network = Canned(said_of(truth, truth, flip=False)[None], known=1)
    looks = TwoStageDetector(First(figure(astray, 0.6)), network)
    (seen,) = looks.track(FRAME, [exact], looks.find_candidates(FRAME))
    np.testing.assert_allclose(seen.corners_px, truth, atol=1e-3)


class InTurn:
    """A network that says one thing after another."""

    name = "in turn"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, *said: NDArray[np.float32]) -> None:
        self.said = list(said)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        said = self.said.pop(0)
        assert len(said) == len(pictures)
        return said


@pytest.mark.parametrize("exact_across", [True, False])
def test_a_base_that_is_seen_but_vaguely_is_looked_at_across(exact_across: bool) -> None:
    """A clear base over a number may look like one that lies across it, and so does a patch cut across it."""
    truth = base(300, 200, 0.3)
    guess = base(300, 200, 0.3 + np.pi / 2)
    vague, across = said_of(guess, guess, flip=False)[None], said_of(truth, truth, flip=False)[None]
    vague[0, 10:15] = np.log(0.3)
    across[0, 10:15] = np.log(0.02 if exact_across else 0.29)
    network = InTurn(vague, across)
    (seen,) = TwoStageDetector(First(figure(guess)), network).detect(FRAME)
    assert not network.said
    length = np.linalg.norm(truth[0] - truth[3])
    ahead = np.array(seen.corners_px)[:2].mean(axis=0) - np.array(seen.corners_px)[2:].mean(axis=0)
    along = abs(ahead @ (truth[0] - truth[3])) / length**2
    assert along == pytest.approx(1.0 if exact_across else 0.0, abs=0.05)


def test_two_that_come_out_at_one_place_are_one() -> None:
    one, other, there = base(300, 200, 0.7), base(310, 205, 0.7), base(302, 201, 0.7)
    said = np.stack([said_of(one, there, flip=False, there=1.0), said_of(other, there, flip=False, there=3.0)])
    looks = TwoStageDetector(First(), Canned(said, known=2))
    seen = looks.track(FRAME, [figure(one), figure(other)])
    assert len(seen) == 1
    assert seen[0].score == pytest.approx(1 / (1 + np.exp(-(3.0 + np.log(0.4 / 0.6)) / 2)))


def test_nobody_seen_before_costs_no_look() -> None:
    assert TwoStageDetector(First(), Canned(np.zeros((9, 9), np.float32))).track(FRAME, []) == ()


def middles(seen: Sequence[Detection]) -> list[tuple[int, int]]:
    """Where figures are, in order, to the pixel."""
    return sorted((round(float(x)), round(float(y))) for x, y in (np.mean(one.corners_px, axis=0) for one in seen))


def test_who_was_there_a_moment_ago_stays_on_less_and_who_is_new_must_be_sure() -> None:
    at, beside = base(300, 200, 0.7), base(300, 300, 0.7)
    doubts = np.stack([said_of(place, place, flip=False, there=-1.0) for place in (at, beside)])
    looks = TwoStageDetector(First(figure(beside, 0.5)), Canned(doubts, known=1))
    seen = looks.track(FRAME, [figure(at, 0.5)], looks.find_candidates(FRAME))
    assert middles(seen) == [(300, 200)]


def test_a_whole_look_finds_who_is_new_and_takes_nobody_twice() -> None:
    known, again, new = base(300, 200, 0.7), base(301, 199, 0.72), base(400, 300, 0.2)
    said = np.stack([said_of(known, known, flip=False), said_of(new, new, flip=False)])
    looks = TwoStageDetector(First(figure(again, 0.6), figure(new, 0.6)), Canned(said, known=1))
    seen = looks.track(FRAME, [figure(known, 0.6)], looks.find_candidates(FRAME))
    assert middles(seen) == [(300, 200), (400, 300)]


def test_what_looks_like_a_base_between_two_that_touch_is_none_though_it_is_surest() -> None:
    one, other, between = base(300, 200, 0.0), base(345, 200, 0.0), base(322, 200, 0.0)
    said = np.stack(
        [said_of(place, place, flip=False, there=there) for place, there in ((one, 2.0), (between, 3.0), (other, 2.0))]
    )
    seen = TwoStageDetector(First(figure(one), figure(between), figure(other)), Canned(said)).detect(FRAME)
    assert middles(seen) == [(300, 200), (345, 200)]


@given(st.floats(0, 2 * np.pi), st.floats(0, 2 * np.pi), st.floats(0.0, 0.97))
def test_bases_that_touch_both_stay(turn: float, way: float, nearer: float) -> None:
    """Head to head, side by side, at any angle: as near as their outlines let them come, and a little nearer."""
    one = base(300, 200, turn)
    direction = np.array([np.cos(way), np.sin(way)])
    other = base(0, 0, turn)
    reach = 2 * np.abs((one - one.mean(axis=0)) @ direction).max()
    touching = other + one.mean(axis=0) + direction * reach * (1 - 0.03 * nearer)
    said = np.stack([said_of(place, place, flip=False) for place in (one, touching)])
    assert len(TwoStageDetector(First(figure(one), figure(touching)), Canned(said)).detect(FRAME)) == 2
