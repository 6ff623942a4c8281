"""Random plays: legal, varied, the same for the same seed, and they can be played."""

from __future__ import annotations

import pytest

from downfield.core.field.model import load_field
from downfield.officiating.declarations import Carrier, PivotsDone
from downfield.twin.plays.ground import Ground, check_script
from downfield.twin.plays.playbook.random_play import random_play
from downfield.twin.plays.recording import play
from downfield.twin.plays.script import Declare, Hands, Script

SEEDS = range(40)


@pytest.fixture(scope="module")
def scripts() -> list[Script]:
    return [random_play(seed) for seed in SEEDS]


def test_the_same_seed_draws_the_same_play(scripts: list[Script]) -> None:
    assert random_play(7) == scripts[7]
    assert random_play(8) != scripts[7]


def test_random_plays_can_be_lined_up(scripts: list[Script]) -> None:
    for script in scripts:
        field = check_script(script)
        ground = Ground(field, script.line_yd, script.direction)
        players = {player.id: player for player in script.players}
        bases = {stance.player: ground.stand(players[stance.player], stance) for stance in script.formation}
        dark = [ground.foremost_yd(base) for id_, base in bases.items() if players[id_].jersey == "dark"]
        assert len(bases) == 22
        assert sum(reach > -0.3 for reach in dark) >= 7  # on the line
        assert max(dark) < 0.05
        assert min(dark) > -20.0


def test_random_plays_differ(scripts: list[Script]) -> None:
    assert len({script.board for script in scripts}) >= 4
    assert {script.direction for script in scripts} == {-1, 1}
    assert len({script.players[0].base for script in scripts}) == len(scripts)
    carriers = {
        step.body.player
        for s in scripts
        for step in s.steps
        if isinstance(step, Declare) and isinstance(step.body, Carrier)
    }
    assert len(carriers) == 2


def test_the_defense_pivots_none_when_the_offense_pivots_none(scripts: list[Script]) -> None:
    for script in scripts:
        offense = defense = 0
        for step in script.steps:
            if isinstance(step, Hands) and step.by == "home":
                offense = len(step.moves)
            elif isinstance(step, Hands):
                defense = len(step.moves)
            elif isinstance(step, Declare) and isinstance(step.body, PivotsDone) and step.body.by == "away":
                assert defense <= (offense + 1 if offense else 0)
                offense = defense = 0


def test_a_random_play_is_played() -> None:
    recording = play(random_play(5), 5)
    assert len(recording.scenes) == len(recording.snapshots) > 60
    assert {scene.board for scene in recording.scenes} == {"on", "off"}
    assert load_field(recording.script.board) == recording.field
