"""Random plays: legal line-ups on any board, figures of all speeds, stops with pivots, any outcome."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel, preset, preset_names
from downfield.core.footprint import BaseSize
from downfield.officiating.declarations import Carrier, LineUpDeclared, OffenseSet, PivotsDone, SetUp, Side
from downfield.twin.physics.body import Trait
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import (
    DEFENSE_11,
    FB,
    FL,
    FS,
    LCB,
    LLB,
    OFFENSE_11,
    QB,
    RB,
    RCB,
    RLB,
    SE,
    SS,
    TE,
    placed,
    standard,
    teams,
)
from downfield.twin.plays.ground import check_script
from downfield.twin.plays.playbook.common import stopped
from downfield.twin.plays.script import Script, Stance, Step

_DRAWS: Final = 50  # attempts to draw a play that can be played
_MOVABLE: Final = (SE, FL, FB, LLB, RLB, LCB, RCB, SS, FS)
_OFFENSE_PIVOTS: Final = (SE, FL, FB, TE)
_DEFENSE_PIVOTS: Final = (LLB, RLB, LCB, RCB, SS, FS)


def random_play(seed: int) -> Script:
    """Return a play drawn at random; the same seed gives the same play."""
    for attempt in itertools.count():
        draw = np.random.default_rng([seed, attempt])
        script = _drawn(seed, draw)
        try:
            check_script(script)
        except ScriptError:
            if attempt == _DRAWS:
                raise
        else:
            return script
    raise AssertionError


def _drawn(seed: int, draw: np.random.Generator) -> Script:
    board = str(draw.choice(preset_names()))
    field = preset(board)
    base = _base(draw)
    direction: Literal[-1, 1] = 1 if draw.random() < 0.5 else -1
    line_yd = float(np.round(draw.uniform(0.25, 0.75) * field.length_yd, 1))
    carrier = str(draw.choice([QB, RB]))
    formation = standard(field, apart_yd=float(draw.uniform(2.0, 5.0)), base=base)
    stances = [_moved(formation[id_], field, draw) for id_ in _MOVABLE if draw.random() < 0.6]
    steps: list[Step] = [
        do.Declare(SetUp("home", direction, line_yd, int(draw.integers(1, 5)), float(draw.integers(1, 15)))),
        do.Declare(LineUpDeclared(teams(base), "dark")),
        do.GiveBall(carrier),
        do.WaitFor(float(draw.uniform(0.2, 0.6))),
        do.Declare(OffenseSet()),
        do.WaitFor(float(draw.uniform(0.2, 0.5))),
        do.Declare(Carrier(carrier)),
        do.WaitFor(0.2),
        do.Board(on=True, by="home"),
    ]
    chasers = draw.choice(_DEFENSE_PIVOTS, size=int(draw.integers(0, 4)), replace=False)
    steps += [do.Steer(str(chaser), toward=carrier) for chaser in chasers]
    for _ in range(int(draw.integers(0, 3))):
        steps += [do.WaitFor(float(draw.uniform(0.4, 1.0))), *_stop(draw)]
    ends = (do.Engaged(carrier), do.Reaches(carrier, 15.0), do.TouchesSideline(carrier))
    steps += [
        do.Until(ends, within_s=float(draw.uniform(2.0, 4.0)), required=False),
        *stopped("away", float(draw.uniform(0.2, 0.5)), 0.6),
    ]
    return Script(
        name=f"random-{seed}",
        about="A play drawn at random.",
        players=teams(base),
        formation=placed(formation, *stances),
        steps=tuple(steps),
        board=board,
        line_yd=line_yd,
        direction=direction,
        traits=_traits(draw, carrier),
    )


def _base(draw: np.random.Generator) -> BaseSize:
    length, width, height = (float(np.round(draw.uniform(*span), 1)) for span in ((27, 33), (16, 20), (4, 7)))
    return BaseSize(length, width, height, float(np.round(draw.uniform(0.5, 2.0), 1)))


def _moved(stance: Stance, field: FieldModel, draw: np.random.Generator) -> Stance:
    """Return a figure moved and turned a little, still on its side of the line and, if wide, five yards off it."""
    away = 1.0 if stance.ahead_yd > 0 else -1.0
    further_mm, aside_mm, turn = draw.uniform(0, 12), draw.uniform(-6, 6), draw.normal(0, 12)
    ahead_yd = stance.ahead_yd + away * further_mm / field.mm_per_yd_x * (stance.player != SE)
    facing = 180.0 if away > 0 else 0.0
    across_yd = stance.across_yd + aside_mm / field.mm_per_yd_y
    turned = facing if stance.player == SE else facing + turn
    return replace(stance, ahead_yd=float(ahead_yd), across_yd=float(across_yd), heading_deg=float(turned))


def _traits(draw: np.random.Generator, carrier: str) -> dict[str, Trait]:
    out = {}
    for id_ in (*OFFENSE_11, *DEFENSE_11):
        out[id_] = Trait(
            speed_mm_s=float(draw.uniform(25, 110)),
            curl_deg_s=float(draw.normal(0, 10)),
            drive=float(draw.uniform(0.25, 0.5)),
            mass_g=float(draw.uniform(3.2, 4.6)),
            com_mm=float(draw.uniform(10.5, 14.5)),
            wander=float(draw.uniform(0.02, 0.15)),
            stationary=id_ == QB and carrier == QB and bool(draw.random() < 0.2),
        )
    return out


def _stop(draw: np.random.Generator) -> tuple[Step, ...]:
    """Return a stop with up to two pivots by the offense, and at most one more by the defense (none for none)."""
    offense = int(draw.integers(0, 3))
    defense = int(draw.integers(0, offense + 2)) if offense else 0
    return (
        do.Board(on=False, by="home"),
        do.WaitFor(float(draw.uniform(0.2, 0.4))),
        *_pivots("home", _OFFENSE_PIVOTS, offense, draw),
        do.Declare(PivotsDone("home")),
        *_pivots("away", _DEFENSE_PIVOTS, defense, draw),
        do.Declare(PivotsDone("away")),
        do.WaitFor(0.2),
        do.Board(on=True, by="home"),
    )


def _pivots(by: Side, players: tuple[str, ...], count: int, draw: np.random.Generator) -> tuple[Step, ...]:
    if not count:
        return ()
    drawn = zip(draw.choice(players, size=count, replace=False), draw.uniform(-60, 60, size=count), strict=True)
    moves = tuple(do.Handling(str(id_), turn_deg=float(turn), if_free=True) for id_, turn in drawn)
    return (do.Hands(by, moves, hands=2 if count > 1 else 1, seconds=float(draw.uniform(0.6, 1.0))),)
