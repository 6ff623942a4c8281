"""Teams' colors are learned from who is surely followed, and from nobody else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated_detector import PERFECT, Network, calibration_of
from tracked_tables import Table, filmed, look_of, roster_of, standing

from downfield.vision.tracking.estimate import Estimate
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.measurement import Measurements, measure
from downfield.vision.tracking.team_learning import EVERY_NS, TeamLearner
from downfield.vision.tracking.teams import POINTS, TeamColors
from downfield.vision.tracking.tracker import Tracker

TABLE = Table(
    {f"dark-{i}": standing(300, 60 + 60 * i, 0) for i in range(4)}
    | {f"light-{i}": standing(400, 60 + 60 * i, 180) for i in range(4)},
    0.0,
)
DARK, LIGHT, STRANGE = (10.0, 0.0, 0.0), (56.0, 0.0, 0.0), (30.0, 50.0, 0.0)


def colors() -> TeamColors:
    """Of a line-up: each team in one color, a third one of both alike."""
    met = np.zeros((2, 3, 3))
    met[0, :, 1] = met[1, :, 0] = 4 * POINTS / 3
    return TeamColors(np.array([DARK, LIGHT, STRANGE]), met)


def frame(painted: dict[str, tuple[float, float, float]]) -> tuple[Measurements, tuple[Estimate, ...]]:
    """The table at rest as seen and as believed, those told painted otherwise than their teams."""
    image = filmed(TABLE)[0][0]
    seen = measure(Network(PERFECT).see(image), calibration_of(image, look_of(TABLE.players)), 5.5)
    search = LineUpSearch(calibration_of(image, look_of(TABLE.players)).field, roster_of(TABLE))
    found = search.at_once(seen, 0)
    assert found is not None
    estimates = Tracker(found, 0).step(seen, 1_000_000)
    paint = np.zeros((len(seen), POINTS, 3))
    for one in estimates:
        row = np.hypot(*(seen.pose[:, :2] - (one.footprint.x_mm, one.footprint.y_mm)).T).argmin()
        paint[row] = painted.get(one.id, LIGHT if one.jersey == "light" else DARK)
    return replace(seen, colors=paint), estimates


def learned(learner: TeamLearner, seen: Measurements, estimates: tuple[Estimate, ...], t_ns: int = 10) -> float:
    """How many figures were learned from."""
    assert learner.colors is not None
    before = learner.colors.met.sum()
    learner.learn(learner.tell(seen), estimates, t_ns)
    return float(learner.colors.met.sum() - before) / POINTS


def test_everybody_who_is_surely_followed_teaches_a_few_times_a_second() -> None:
    seen, estimates = frame({})
    learner = TeamLearner(colors())
    assert learned(learner, seen, estimates, 10) == pytest.approx(8)
    assert learned(learner, seen, estimates, EVERY_NS // 2) == 0
    assert learned(learner, seen, estimates, 10 + EVERY_NS) == pytest.approx(8)


def test_a_strange_color_becomes_its_teams() -> None:
    seen, estimates = frame({"dark-2": STRANGE})
    learner = TeamLearner(colors())
    before = learner.tell(seen).light
    learned(learner, seen, estimates)
    after = learner.tell(seen).light
    odd = int(np.flatnonzero((seen.colors[:, 0] == STRANGE).all(axis=1))[0])
    assert before[odd] - seen.light[odd] == pytest.approx(0, abs=0.3)
    assert after[odd] < before[odd] - 2


def test_who_looks_like_the_other_team_may_be_another_and_teaches_nothing() -> None:
    seen, estimates = frame({"dark-2": LIGHT})
    assert learned(TeamLearner(colors()), seen, estimates) == pytest.approx(7)


@pytest.mark.parametrize(
    "otherwise", [{"sure": False}, {"seen": False}, {"fresh": False}, {"posture": "fallen"}, {"posture": "lifted"}]
)
def test_who_is_in_doubt_not_seen_or_not_standing_teaches_nothing(otherwise: dict[str, object]) -> None:
    seen, estimates = frame({})
    doubted = tuple(replace(one, **otherwise) if one.id == "light-1" else one for one in estimates)  # type: ignore[arg-type]
    assert learned(TeamLearner(colors()), seen, doubted) == pytest.approx(7)


def test_where_teams_are_not_told_apart_nothing_is_learned() -> None:
    seen, estimates = frame({})
    learner = TeamLearner()
    learner.learn(learner.tell(seen), estimates, 10)
    assert learner.colors is None
