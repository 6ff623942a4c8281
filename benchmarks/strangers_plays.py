"""Short plays for the strangers' clips: on the strangers' fields and bases, slow boards, falls and stops among them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from strangers import field_of
from strangers_prints import Print, draw_print

from downfield.core.errors import ScriptError
from downfield.core.field.model import load_field
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.officiating.declarations import Carrier, LineUpDeclared, OffenseSet, SetUp
from downfield.twin.physics.body import Trait
from downfield.twin.plays.formations import FB, QB, RB, RLB, standard, teams
from downfield.twin.plays.recording import PlayRecording, play
from downfield.twin.plays.script import Board, Declare, GiveBall, Handling, Hands, Script, Steer, Step, Topple, WaitFor

FPS = 15.0
_DRAWS = 60
_SPEEDS_MM_S = ((25.0, 90.0), (40.0, 110.0), (10.0, 20.0), (20.0, 60.0))
"""Of figures, slowest and fastest, by the clip's number."""


@dataclass(frozen=True)
class StrangePlay:
    """A performed play.

    Attributes:
        recording: of it.
        printed: its board.
        carrier: roster id of the figure with the ball.
    """

    recording: PlayRecording
    printed: Print
    carrier: str


def draw_play(
    number: int, rng: np.random.Generator, kinds: tuple[dict[str, Any], dict[str, Any]], field_file: Path
) -> StrangePlay:
    """A play drawn at random, on a board on which both teams have room.

    Args:
        number: of the clip: each second has falls, each fourth is slow, each fourth has a stop with a hand.
        rng: of everything else.
        kinds: bases of the dark and the light team.
        field_file: gets the description of the printed field.

    Raises:
        ScriptError: no board drawn has room for the line-up.
    """
    for left in reversed(range(_DRAWS)):
        printed = draw_print(rng)
        field = field_of(printed)
        field_file.write_text(
            f'name = "{field.name}"\ntitle = "{field.title}"\nlength_yd = {field.length_yd}\n'
            f"width_yd = {field.width_yd}\nend_zone_yd = {field.end_zone_yd}\nmm_per_yd_x = {field.mm_per_yd_x}\n"
            f"mm_per_yd_y = {field.mm_per_yd_y}\nline_mm = {field.line_mm}\n"
        )
        carrier = str(rng.choice([RB, FB]))
        script = _script(number, rng, kinds, str(field_file), carrier)
        try:
            return StrangePlay(play(script, 9_000 + number), printed, carrier)
        except ScriptError:
            if not left:
                raise
    raise AssertionError


def _script(
    number: int, rng: np.random.Generator, kinds: tuple[dict[str, Any], dict[str, Any]], board: str, carrier: str
) -> Script:
    dark, light = (BaseSize(k["length"], k["width"], k["height"], k["corner"]) for k in kinds)
    larger = max((dark, light), key=lambda size: size.length_mm * size.width_mm)
    players = tuple(
        man for base, jersey in ((dark, "dark"), (light, "light")) for man in teams(base) if man.jersey == jersey
    )
    printed = load_field(board)
    formation = standard(printed, apart_yd=float(rng.uniform(2.0, 4.0)), base=larger)
    line_yd = float(np.round(rng.uniform(40.0, 60.0), 1))
    direction: Literal[-1, 1] = 1 if rng.random() < 0.5 else -1
    slowest, fastest = _SPEEDS_MM_S[number % len(_SPEEDS_MM_S)]
    traits = {
        man.id: Trait(
            speed_mm_s=float(rng.uniform(slowest, fastest)),
            curl_deg_s=float(rng.normal(0, 8)),
            drive=float(rng.uniform(0.25, 0.5)),
            com_mm=float(rng.uniform(9.5, 11.5)),
            wander=float(rng.uniform(0.02, 0.12)),
            stationary=man.id == QB,
        )
        for man in players
    }
    chasers = [str(one) for one in rng.choice([man.id for man in players if man.jersey == "light"], 3, replace=False)]
    return Script(
        name=f"stranger-{number}",
        about="A play drawn at random on a stranger's board.",
        players=players,
        formation=tuple(formation.values()),
        steps=_steps(number, rng, carrier, chasers, SetUp("home", direction, line_yd, 1, 10.0), players),
        board=board,
        line_yd=line_yd,
        direction=direction,
        traits=traits,
        fps=FPS,
    )


def _steps(
    number: int, rng: np.random.Generator, carrier: str, chasers: list[str], set_up: SetUp, players: tuple[Player, ...]
) -> tuple[Step, ...]:
    """Half a second of line-up, two to three seconds of running, a third of a second after the switch."""
    steps: list[Step] = [
        Declare(set_up),
        Declare(LineUpDeclared(players, "dark")),
        GiveBall(carrier),
        WaitFor(0.4),
        Declare(OffenseSet()),
        Declare(Carrier(carrier)),
        WaitFor(0.2),
        Board(on=True, by="home"),
        *(Steer(chaser, toward=carrier) for chaser in chasers),
        WaitFor(float(rng.uniform(0.8, 1.2))),
    ]
    if number % 4 == 3:
        steps += [
            Board(on=False, by="home"),
            Hands("away", (Handling(RLB, turn_deg=float(rng.uniform(-50, 50)), if_free=True),), seconds=0.6),
            Board(on=True, by="home"),
        ]
    if number % 2:
        fallers = rng.choice([man.id for man in players if man.id != carrier], 2, replace=False)
        steps += [Topple(str(one)) for one in fallers]
    return (*steps, WaitFor(float(rng.uniform(1.2, 1.6))), Board(on=False, by="away"), WaitFor(0.4))
