"""Who is who from line-up to line-up: kept by all that is known, asked about where that is not enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from disturbed_pictures import DISTURBANCES
from simulated_detector import Faults, ListDetector, SimulatedDetector
from tracked_tables import FIELD, Path, Table, filmed, look_of, roster_of, standing

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Player, Scene
from downfield.core.track_files import Roster, RosterSpot
from downfield.twin.render.renderers import open_renderer
from downfield.vision.line_ups import LineUps
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.pipeline import Vision
from downfield.vision.tracking.teams import TeamColors

UNSEEN = 10
"""Frames after which figures that are no longer where they were are known to be gone."""

PHASE = UNSEEN + 14
"""Frames of each phase: these, and more than a line-up takes."""

FIRST = Table(
    {
        **{f"dark-{i}": standing(300, 90 + 60 * i, 0) for i in (1, 2, 3)},
        "dark-4": standing(230, 240, 0),
        "dark-5": standing(250, 150, 0),
        **{f"light-{i}": standing(360, 90 + 60 * i, 180) for i in (1, 2, 3)},
        "light-4": standing(430, 330, 180),
        "light-5": standing(450, 210, 180),
    },
    0.5,
)
NAMED = tuple(replace(player, number=player.id.split("-")[1]) for player in FIRST.players)


def shifted(table: Table, along_mm: float, across_mm: float, *, turned: bool = False) -> Table:
    """The same formation elsewhere; turned about the middle of the board, if the teams have changed ends."""

    def path(of: Path) -> Path:
        x, y, heading = of(0.0)
        if turned:
            x, y, heading = FIELD.length_mm - x, FIELD.width_mm - y, heading + 180
        return standing(x + along_mm, y + across_mm, heading)

    return replace(table, paths={id_: path(of) for id_, of in table.paths.items()})


SECOND = shifted(FIRST, 150, 25)
TURNED = shifted(FIRST, -120, -20, turned=True)


def exchanged(table: Table) -> Table:
    """The same with the two teams in each other's places, each with its own jersey."""
    other = {id_: f"{'light' if id_.startswith('dark') else 'dark'}-{id_.split('-')[1]}" for id_ in table.paths}
    return replace(table, paths={id_: table.paths[other[id_]] for id_ in table.paths})


Places = tuple[tuple[str, tuple[float, float, float]], ...]


@cache
def _seen(places: Places) -> tuple[Image, list[tuple[Detection, ...]]]:
    """A table on which all stand, rendered, and what is detected in each picture of a phase."""
    table = Table({id_: standing(*place) for id_, place in places}, 0.5)
    look = look_of(FIRST.players)
    renderer = open_renderer("compositor", look, FIRST.players)
    image = renderer.render(table.snapshot(0.0), look.camera, t_ns=0).image
    calm = SimulatedDetector(Faults(false=0.0, double=0.0, flip=0.0), seed=5)
    return image, [calm.detect(replace(view, camera=look.camera)) for view, _, _ in filmed(table)][:PHASE]


class Played:
    """Line-ups that follow each other on one table, as vision sees them.

    Args:
        tables: one line-up after the other.
        kind: what happens to the pictures.
    """

    def __init__(
        self, *tables: Table, roster: Roster | None, kind: str = "undisturbed", colors: TeamColors | None = None
    ) -> None:
        self._disturb, self.tables = DISTURBANCES[kind], tables
        seen = [_seen(tuple((id_, of(0.0)) for id_, of in table.paths.items())) for table in tables]
        self._images = [image for image, _ in seen]
        found = [detections for _, detected in seen for detections in detected]
        calibration = Calibration(FIELD, look_of(FIRST.players).camera, "truth")
        self.vision = Vision(calibration, ListDetector(found), roster, colors=colors)
        self._frames = self._film()

    def _film(self) -> Iterator[Frame]:
        for index, image in enumerate(np.repeat(np.arange(len(self._images)), PHASE)):
            t_ns = index * 33_333_333
            disturbed = self._disturb(self._images[image], t_ns).copy()
            disturbed[:32, :32] = index % 256  # or it would be the picture before, sent again
            yield Frame(index, t_ns, disturbed)

    def see(self, frames: int = PHASE) -> Scene:
        """Process so many frames; return the last scene."""
        return [self.vision.process(next(self._frames)) for _ in range(frames)][-1]


def wrong(scene: Scene, table: Table) -> set[str]:
    """The figures that are where another one is."""
    return {
        figure.id
        for figure in scene.figures
        if np.hypot(figure.x_mm - table.paths[figure.id](0.0)[0], figure.y_mm - table.paths[figure.id](0.0)[1]) > 15
    }


def placed(table: Table = FIRST, players: Sequence[Player] = NAMED) -> Roster:
    return replace(roster_of(table), players=tuple(players))


@pytest.mark.parametrize("kind", ["undisturbed", "dim and noisy", "soft and pale", "bands at 60 Hz", "cold", "shade"])
def test_in_poor_pictures_the_second_line_up_has_the_names_of_the_first(kind: str) -> None:
    played = Played(FIRST, SECOND, roster=placed(), kind=kind)
    first = played.see()
    assert wrong(first, FIRST) == set()
    assert all(figure.sure for figure in first.figures)
    played.see(UNSEEN)
    played.vision.line_up(NAMED)  # once the figures have been set up
    second = played.see(PHASE - UNSEEN)
    assert not second.asks
    assert wrong(second, SECOND) == set(), kind
    assert all(figure.sure for figure in second.figures)


@pytest.mark.parametrize("kind", ["undisturbed", "soft and pale"])
def test_an_honest_change_of_ends_is_asked_about_and_right_after_one_tap(kind: str) -> None:
    played = Played(FIRST, TURNED, TURNED, roster=placed(), kind=kind)
    played.see()
    played.see(UNSEEN)
    played.vision.line_up(NAMED)
    asked = played.see(PHASE - UNSEEN)
    assert asked.asks == "sides"
    assert "which team is on the left" in asked.unfit[-1]
    played.vision.line_up(NAMED)  # "Set" is no answer
    assert played.see(1).asks == "sides"
    played.vision.identify("light")
    answered = played.see(PHASE - 1)
    assert not answered.asks
    assert not answered.unfit
    assert wrong(answered, TURNED) == set()
    assert all(figure.sure for figure in answered.figures)


def test_after_a_change_of_ends_that_was_confirmed_the_next_line_up_there_is_not_asked_about() -> None:
    further = shifted(TURNED, -60, 10)
    played = Played(FIRST, TURNED, further, roster=placed())
    played.see()
    played.see(UNSEEN)
    played.vision.line_up(NAMED)
    played.see(PHASE - UNSEEN - 1)
    played.vision.identify("light")
    played.see(1 + UNSEEN)
    played.vision.line_up(NAMED)
    last = played.see(PHASE - UNSEEN)
    assert not last.asks
    assert wrong(last, further) == set()


def test_jerseys_that_seem_to_have_changed_color_are_asked_about_and_kept_when_a_person_says_so() -> None:
    """The looks of the two teams are exchanged: the dark team's figures stand where it stood, in the other jersey."""
    repainted = exchanged(SECOND)
    played = Played(FIRST, repainted, repainted, roster=placed())
    played.see()
    played.see(UNSEEN)
    played.vision.line_up(NAMED)
    assert played.see(PHASE - UNSEEN).asks == "sides"
    played.vision.identify("dark")
    answered = played.see()
    assert not answered.asks
    assert wrong(answered, SECOND) == set()


def test_names_without_places_belong_to_nobody_until_a_person_says_so() -> None:
    played = Played(FIRST, FIRST, FIRST, roster=None)
    played.vision.line_up(NAMED, "dark")
    dealt = played.see()
    assert dealt.asks in {"sides", "names"}
    assert dealt.unfit
    assert not any(figure.sure for figure in dealt.figures)
    played.vision.line_up(NAMED, "dark")  # "Set" is no answer
    assert not any(figure.sure for figure in played.see(PHASE - 2).figures)
    played.vision.identify("dark")
    asked = played.see(2)
    assert asked.asks == "names"
    assert max(figure.identity for figure in asked.figures) == pytest.approx(1 / 5, abs=0.02)
    played.vision.identify(None)
    answered = played.see(2)
    assert not answered.asks
    assert not answered.unfit
    assert all(figure.sure for figure in answered.figures)


def test_names_that_a_person_gives_places_are_exchanged() -> None:
    played = Played(FIRST, FIRST, FIRST, roster=placed())
    before = {figure.id: (figure.x_mm, figure.y_mm) for figure in played.see().figures}
    one, other = before["dark-1"], before["dark-5"]
    spots = [
        RosterSpot(id_, x / FIELD.mm_per_yd_x, y / FIELD.mm_per_yd_y)
        for id_, (x, y) in (("dark-1", other), ("dark-5", one))
    ]
    played.vision.identify(None, spots)
    after = {figure.id: (figure.x_mm, figure.y_mm) for figure in played.see().figures}
    assert after["dark-1"] == pytest.approx(other, abs=2)
    assert after["dark-5"] == pytest.approx(one, abs=2)
    assert {id_: at for id_, at in after.items() if np.hypot(*np.subtract(at, before[id_])) > 3}.keys() == {
        "dark-1",
        "dark-5",
    }


def test_one_name_without_a_place_is_that_of_the_one_figure_left() -> None:
    spots = tuple(spot for spot in placed().spots if spot.id != "dark-3")
    scene = Played(FIRST, roster=replace(placed(), spots=spots)).see()
    assert wrong(scene, FIRST) == set()
    assert all(figure.sure for figure in scene.figures)
    assert not scene.asks


def test_names_that_downfield_made_up_are_not_asked_about() -> None:
    played = Played(FIRST, FIRST, roster=None)
    numbered = played.see()
    assert not numbered.asks
    played.vision.line_up(played.vision.players, "dark")
    again = played.see()
    assert not again.asks
    assert all(figure.sure for figure in again.figures)


@pytest.mark.parametrize("kind", ["undisturbed", "dim and noisy", "bands at 60 Hz"])
def test_colors_learned_on_the_table_before_tell_the_teams_apart_at_the_first_line_up(kind: str) -> None:
    before = Played(FIRST, roster=placed())
    before.see()
    played = Played(SECOND, roster=None, kind=kind, colors=before.vision.colors)
    played.vision.line_up(FIRST.players)  # without names of people, any order is right
    scene = played.see()
    jersey_at = {(round(of(0.0)[0]), round(of(0.0)[1])): id_.split("-")[0] for id_, of in SECOND.paths.items()}
    for figure in scene.figures:
        near = min(jersey_at, key=lambda at: np.hypot(at[0] - figure.x_mm, at[1] - figure.y_mm))
        assert jersey_at[near] == figure.jersey
    assert not scene.asks


def estimates(unsure: int, of: int = 22) -> tuple[Estimate, ...]:
    at = Footprint(100.0, 100.0, 0.0, BaseSize())
    return tuple(
        Estimate(f"dark-{i}", "dark", at, np.eye(3), np.zeros(3), identity=0.5 if i < unsure else 1.0)
        for i in range(of)
    )


def test_uncertain_figures_are_named() -> None:
    assert "dark 0" in LineUps(FIELD, None).warnings(estimates(1))[0]
    assert LineUps(FIELD, None).warnings(estimates(0)) == ()


def test_a_ball_carrier_who_is_not_seen_is_named_and_nobody_else_is() -> None:
    hidden = tuple(replace(one, posture="unseen") if one.id in {"dark-3", "dark-4"} else one for one in estimates(0))
    (told,) = LineUps(FIELD, None).warnings(hidden, "dark-3")
    assert told.startswith("dark 3 has the ball and is not seen")
    assert LineUps(FIELD, None).warnings(hidden, "dark-5") == ()


@pytest.mark.parametrize(("unsure", "fit"), [(2, True), (11, True), (12, False), (22, False)])
def test_with_many_uncertain_identities_nothing_can_be_called(unsure: int, fit: bool) -> None:
    unfit = LineUps(FIELD, None).unfit(estimates(unsure))
    assert (not unfit) == fit
    if not fit:
        assert f"for {unsure} of 22" in unfit[0]
