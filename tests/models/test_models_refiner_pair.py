"""Two refiners as one: fronts, falls and what is a figure are weighted by the card."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import (
    BUNDLED,
    NetworkFiles,
    RefinerWeights,
    find_network,
    named_files,
    read_card,
    write_card,
)
from downfield.models.loading import open_detector
from downfield.models.refiner import FALLEN, FIGURE, LOG_ERRORS, OUTPUTS, PATCH_PX, POINTS, TURN, VISIBLE
from downfield.models.refiner_pair import COARSE_PX, RefinerPair
from downfield.rig.games.table_seals import _network


class FixedNetwork:
    """Gives the same numbers for every patch, in an array that it uses again."""

    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, name: str, *numbers: float) -> None:
        self.name = name
        self.row = np.array(numbers, np.float32)
        self.out = np.zeros((0, len(numbers)), np.float32)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.out = np.tile(self.row, (len(pictures), 1))
        return self.out


def patches(count: int) -> NDArray[np.uint8]:
    return np.zeros((count, PATCH_PX, PATCH_PX, 3), np.uint8)


@given(
    first=st.lists(st.floats(-50, 50, width=32), min_size=OUTPUTS, max_size=OUTPUTS),
    other=st.lists(st.floats(-50, 50, width=32), min_size=OUTPUTS, max_size=OUTPUTS + 9),
    count=st.integers(0, 3),
)
def test_fronts_falls_and_figures_are_the_mean_and_visibility_is_the_firsts(
    first: list[float], other: list[float], count: int
) -> None:
    one, two = FixedNetwork("one", *first), FixedNetwork("two", *other)
    both = RefinerPair(one, two)
    out = both.run(patches(count))
    assert (both.name, both.size_px) == ("one", (PATCH_PX, PATCH_PX))
    wanted = np.array(first, np.float32)
    for column in (TURN, FALLEN, FIGURE):
        wanted[column] = (np.float32(first[column]) + np.float32(other[column])) / 2
    kept = [*range(VISIBLE.start, OUTPUTS)]
    np.testing.assert_allclose(out[:, kept], np.tile(wanted[kept], (count, 1)), rtol=1e-6)
    np.testing.assert_array_equal(one.out, np.tile(one.row, (count, 1)), "the first refiner's own output is left alone")


@given(places=st.tuples(st.floats(-1, 1), st.floats(-1, 1)), errors=st.tuples(st.floats(-7, 2), st.floats(-7, 2)))
def test_a_corner_is_the_mean_of_both_weighted_by_how_exact_each_says_it_is(
    places: tuple[float, float], errors: tuple[float, float]
) -> None:
    rows = [np.zeros(OUTPUTS), np.zeros(OUTPUTS)]
    for row, place, error in zip(rows, places, errors, strict=True):
        row[POINTS], row[LOG_ERRORS] = place, error
    (out,) = RefinerPair(FixedNetwork("one", *rows[0]), FixedNetwork("two", *rows[1])).run(patches(1))
    shares = np.exp(-2 * np.array(errors))
    np.testing.assert_allclose(out[POINTS], np.dot(places, shares) / shares.sum(), atol=1e-4)
    said = out[LOG_ERRORS]
    assert min(errors) - 1e-4 <= said.min(), "no more exact than the better one: both err alike"
    assert said.max() <= min(errors) + 0.5 * np.log(2) + 1e-4, "and hardly less"


def test_errors_beyond_what_refiners_learn_make_no_place_infinite() -> None:
    row = np.zeros(OUTPUTS)
    row[LOG_ERRORS] = 500.0
    (out,) = RefinerPair(FixedNetwork("one", *row), FixedNetwork("two", *-row)).run(patches(1))
    assert np.isfinite(out).all()


@given(front=st.floats(0, 1), fallen=st.floats(0, 1), figure=st.floats(0, 2))
def test_each_refiner_counts_as_much_as_the_card_says(front: float, fallen: float, figure: float) -> None:
    weights = RefinerWeights((1 - front, front), (1 - fallen, fallen), (figure, 1.0))
    one, two = FixedNetwork("one", *[2.0] * OUTPUTS), FixedNetwork("two", *[-4.0] * OUTPUTS)
    (row,) = RefinerPair(one, two, weights).run(patches(1))
    wanted = [2 - 6 * front, 2 - 6 * fallen, 2 * figure - 4]
    np.testing.assert_allclose(row[[TURN, FALLEN, FIGURE]], wanted, atol=1e-5)
    assert (row[VISIBLE] == 2).all()


def test_a_tracked_figure_stays_a_figure_by_the_first_refiner_alone() -> None:
    """Its score says whether tracking goes on; it may not depend on whether the second was requested in this frame."""
    first, second = CountingNetwork([0.0, 0.0], [0.0, 0.0]), CountingNetwork([0.0, 0.0], [0.0, 0.0])
    first.rows[:, FIGURE], second.rows[:, FIGURE] = 3.0, -3.0
    both = RefinerPair(first, second, RefinerWeights(figure=(0.5, 0.5)))
    out = both.run_tracked(numbered(2), [known_figure("upright")], turn_logit=TURN_LOGIT, fallen_logit=FALLEN_LOGIT)
    assert second.seen == [0, 1]
    assert out[:, FIGURE].tolist() == [3.0, 0.0]


def test_a_network_that_is_no_refiner_is_refused() -> None:
    both = RefinerPair(FixedNetwork("one", *[0.0] * OUTPUTS), FixedNetwork("detector", 0.0, 1.0))
    with pytest.raises(InputError, match=r"detector: its output has shape \(2, 2\)"):
        both.run(patches(2))


TURN_LOGIT, FALLEN_LOGIT = 1.0, -1.0
EXACT = -4.5  # logarithm of a corner's error: a third of a pixel


class CountingNetwork:
    """Gives rows of its own for patches that carry their row's number in the first pixel; counts the patches."""

    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self, turn: list[float], fallen: list[float]) -> None:
        self.name = "counting"
        self.rows = np.zeros((len(turn), OUTPUTS), np.float32)
        self.rows[:, TURN], self.rows[:, FALLEN], self.rows[:, LOG_ERRORS] = turn, fallen, EXACT
        self.seen: list[int] = []

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        numbers = pictures[:, 0, 0, 0].tolist()
        self.seen += numbers
        out: NDArray[np.float32] = self.rows[numbers]
        return out


def numbered(count: int) -> NDArray[np.uint8]:
    out = patches(count)
    out[:, 0, 0, 0] = np.arange(count)
    return out


def known_figure(kind: str) -> Detection:
    return Detection("fallen" if kind == "fallen" else "upright", 0.9, (0.0, 0.0, 1.0, 1.0))


def run_tracked(first: CountingNetwork, second: CountingNetwork, kinds: list[str], count: int) -> NDArray[np.float64]:
    known = [known_figure(kind) for kind in kinds]
    both = RefinerPair(first, second)
    return both.run_tracked(numbered(count), known, turn_logit=TURN_LOGIT, fallen_logit=FALLEN_LOGIT)


@pytest.mark.parametrize(
    ("kind", "turn", "fallen", "again"),
    [
        ("upright", -9, -9, False),
        ("upright", 9, -9, True),  # would turn it around
        ("upright", -1, -9, True),  # not sure which way it faces
        ("upright", -9, 9, True),  # would call it fallen
        ("upright", -9, -2, True),  # not sure that it stands
        ("fallen", -9, 9, False),
        ("fallen", -9, -9, True),  # would call it upright
        ("fallen", 9, 9, True),
    ],
)
def test_of_a_tracked_figure_the_second_refiner_runs_only_where_the_first_may_change_what_is_known(
    kind: str, turn: float, fallen: float, *, again: bool
) -> None:
    first, second = CountingNetwork([turn], [fallen]), CountingNetwork([-turn], [-fallen])
    out = run_tracked(first, second, [kind], 1)
    assert second.seen == ([0] if again else [])
    assert out[0, [TURN, FALLEN]].tolist() == ([0, 0] if again else [turn, fallen])


def test_of_a_tracked_figure_whose_corners_are_coarse_the_second_refiner_runs() -> None:
    coarse = float(np.log(1.5 * COARSE_PX / (PATCH_PX / 2)))
    for errors, again in (([coarse] * 5, True), ([EXACT, EXACT, EXACT, coarse, coarse], False)):
        first, second = CountingNetwork([-9.0], [-9.0]), CountingNetwork([-9.0], [-9.0])
        first.rows[:, LOG_ERRORS] = errors
        out = run_tracked(first, second, ["upright"], 1)
        assert second.seen == ([0] if again else []), "a corner out of sight makes no base coarse"
        if again:
            assert out[0, LOG_ERRORS].max() < coarse


def test_of_new_figures_and_other_views_the_second_refiner_always_runs() -> None:
    sure = [-9.0] * 3
    first, second = CountingNetwork(sure, sure), CountingNetwork([9.0] * 3, [9.0] * 3)
    out = run_tracked(first, second, ["upright"], 3)
    assert (first.seen, second.seen) == ([0, 1, 2], [1, 2])
    assert out[:, TURN].tolist() == [-9, 0, 0]


def test_a_picture_without_figures_needs_no_second_refiner() -> None:
    first, second = CountingNetwork([], []), CountingNetwork([], [])
    assert run_tracked(first, second, [], 0).shape == (0, OUTPUTS)
    assert second.seen == []


def test_a_front_settled_by_both_stays_while_it_is_tracked() -> None:
    """The first refiner alone sees the figure turned; both together do not, in the still and in all frames after it."""
    first, second = CountingNetwork([5.0], [-9.0]), CountingNetwork([-9.0], [-9.0])
    both = RefinerPair(first, second)
    assert both.run(numbered(1))[0, TURN] < TURN_LOGIT
    for _ in range(3):
        out = run_tracked(first, second, ["upright"], 1)
        assert out[0, TURN] < TURN_LOGIT


def test_the_bundled_network_has_two_refiners() -> None:
    card = read_card(find_network(BUNDLED))
    assert card.second_refiner is not None
    assert all((find_network(BUNDLED) / file).is_file() for file in named_files(card))


def test_a_network_may_have_one_refiner_and_use_files_of_another_folder(tmp_path: Path) -> None:
    network = with_one_refiner(tmp_path)
    assert open_detector(network, threads=1).name.startswith("one refiner")
    (before,) = _network(str(network))
    (tmp_path / BUNDLED / "refiner.int8.onnx").write_bytes(b"another")
    (after,) = _network(str(network))
    assert before != after, "the journal's digest covers files of the other folder"


def with_one_refiner(folder: Path) -> Path:
    """Write a network of the bundled one's files without the second refiner."""
    shutil.copytree(find_network(BUNDLED), folder / BUNDLED)
    card = dataclasses.replace(
        read_card(find_network(BUNDLED)), name="one refiner", second_refiner=None, refiner_sees_ball=False
    )

    def elsewhere(files: NetworkFiles | None) -> NetworkFiles:
        assert files is not None
        return dataclasses.replace(files, fp32=f"../{BUNDLED}/{files.fp32}", int8=f"../{BUNDLED}/{files.int8}")

    card = dataclasses.replace(card, detector=elsewhere(card.detector), refiner=elsewhere(card.refiner))
    network = folder / "one"
    network.mkdir()
    write_card(network, card)
    return network
