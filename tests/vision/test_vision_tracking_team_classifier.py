"""Teams' colors are learned from surely tracked figures only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated_detector import PERFECT, SimulatedDetector, calibration_of
from tracked_tables import Table, filmed, look_of, roster_of, standing

from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import Measurements, measure
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.teams import POINTS, TEAM_LIMITS, TeamClassifier, TeamColors
from downfield.vision.tracking.tracker import Tracker

TABLE = Table(
    {f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in range(4)}
    | {f"light-{i}": standing(400, 60 + 60 * i, 180) for i in range(4)},
    0.0,
)
DARK, LIGHT, UNKNOWN = (10.0, 0.0, 0.0), (56.0, 0.0, 0.0), (30.0, 50.0, 0.0)


def colors() -> TeamColors:
    """Of a line-up: each team in one color, a third one of both alike."""
    color_counts = np.zeros((2, 3, 3))
    color_counts[0, :, 1] = color_counts[1, :, 0] = 4 * POINTS / 3
    return TeamColors(np.array([DARK, LIGHT, UNKNOWN]), color_counts)


def frame(painted: dict[str, tuple[float, float, float]]) -> tuple[Measurements, tuple[Estimate, ...]]:
    """The measurements and estimates of a table at rest, with some figures painted unlike their teams."""
    image = filmed(TABLE)[0][0]
    measured = measure(SimulatedDetector(PERFECT).detect(image), calibration_of(image, look_of(TABLE.players)), 5.5)
    search = LineUpSearch(calibration_of(image, look_of(TABLE.players)).field, roster_of(TABLE))
    found = search.from_single_frame(measured, 0)
    assert found is not None
    estimates = Tracker(found, 0).update(measured, 1_000_000)
    paint = np.zeros((len(measured), POINTS, 3))
    for figure in estimates:
        row = np.hypot(*(measured.pose[:, :2] - (figure.footprint.x_mm, figure.footprint.y_mm)).T).argmin()
        paint[row] = painted.get(figure.id, LIGHT if figure.jersey == "light" else DARK)
    return replace(measured, colors=paint), estimates


def learned(
    classifier: TeamClassifier, measured: Measurements, estimates: tuple[Estimate, ...], t_ns: int = 10
) -> float:
    """The number of figures that the classifier learned from."""
    assert classifier.colors is not None
    before = classifier.colors.color_counts.sum()
    classifier.update(classifier.classify(measured), estimates, t_ns)
    return float(classifier.colors.color_counts.sum() - before) / POINTS


def test_every_surely_tracked_figure_is_learned_from_a_few_times_per_second() -> None:
    measured, estimates = frame({})
    classifier = TeamClassifier(colors())
    assert learned(classifier, measured, estimates, 10) == pytest.approx(8)
    assert learned(classifier, measured, estimates, TEAM_LIMITS.update_every_ns // 2) == 0
    assert learned(classifier, measured, estimates, 10 + TEAM_LIMITS.update_every_ns) == pytest.approx(8)


def test_an_unknown_color_becomes_that_of_its_team() -> None:
    measured, estimates = frame({"dark-2": UNKNOWN})
    classifier = TeamClassifier(colors())
    before = classifier.classify(measured).light
    learned(classifier, measured, estimates)
    after = classifier.classify(measured).light
    odd = int(np.flatnonzero((measured.colors[:, 0] == UNKNOWN).all(axis=1))[0])
    assert before[odd] - measured.light[odd] == pytest.approx(0, abs=0.3)
    assert after[odd] < before[odd] - 2


def test_a_figure_that_looks_like_the_other_team_is_not_learned_from() -> None:
    measured, estimates = frame({"dark-2": LIGHT})
    assert learned(TeamClassifier(colors()), measured, estimates) == pytest.approx(7)


@pytest.mark.parametrize(
    "otherwise", [{"identity": 0.5}, {"seen": False}, {"fresh": False}, {"posture": "fallen"}, {"posture": "lifted"}]
)
def test_unsure_unseen_and_not_standing_figures_are_not_learned_from(otherwise: dict[str, object]) -> None:
    measured, estimates = frame({})
    others = tuple(replace(figure, **otherwise) if figure.id == "light-1" else figure for figure in estimates)  # type: ignore[arg-type]
    assert learned(TeamClassifier(colors()), measured, others) == pytest.approx(7)


def test_without_team_colors_nothing_is_learned() -> None:
    measured, estimates = frame({})
    classifier = TeamClassifier()
    classifier.update(classifier.classify(measured), estimates, 10)
    assert classifier.colors is None
