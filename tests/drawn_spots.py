"""Spots that are off by their stated error, and whether what the engine says of them is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from declared_game import DeclaredGame
from phase_situations import met_at_the_goal_line
from scripted_plays import FIELD

from downfield.officiating.calls import Call
from downfield.officiating.events import Ruling
from downfield.officiating.rules.lines import BALL_RADIUS_MM

NORMAL = NormalDist()
SIGMAS_YD = (0.05, 0.12, 0.3)


@dataclass
class Tally:
    """What was called of drawn spots, how much of it was wrong, and how many were left to a person."""

    called: int = 0
    wrong: int = 0
    too_close: int = 0

    @property
    def wrong_share(self) -> float:
        """Share of what was called that is wrong."""
        return self.wrong / max(1, self.called)


def errors(count: int) -> list[float]:
    """Return so many errors of one standard deviation, evenly by their probability."""
    return [NORMAL.inv_cdf((place + 0.5) / count) for place in range(count)]


def tackled(game: DeclaredGame, x_yd: float, sigma_yd: float) -> list[Call]:
    """Return the calls that follow from a tackle at a measured spot."""
    call = Call(
        "", "tackle", game.state.now_ns, "", (), "called", "tackle", (), (x_yd, 20.0), spot_sigma_yd=(sigma_yd, 0.0)
    )
    return game.declare(Ruling("", "manual", call))[1:]


def first_downs(book: str, count: int) -> Tally:
    """Return how fourth downs end whose series and whose end were both measured with an error."""
    tally = Tally()
    for true_yd, sigma_yd, start_error, error in _draws(count):
        game = DeclaredGame(book).at(20.0, 1, 5.0)
        tackled(game, 30.0 + start_error * sigma_yd, sigma_yd)  # a first down, really at the 30
        for _down in range(3):
            tackled(game, 35.0, sigma_yd)
        made = tackled(game, 40.0 + true_yd + error * sigma_yd, sigma_yd)
        _count(tally, made, "first_down" if true_yd >= 0 else "turnover_on_downs", {"first_down", "turnover_on_downs"})
    return tally


def safeties(book: str, count: int) -> Tally:
    """Return how tackles near the own goal line end."""
    tally = Tally()
    for true_yd, sigma_yd, _start, error in _draws(count):
        made = tackled(DeclaredGame(book).at(20.0, 1, 10.0), true_yd + error * sigma_yd, sigma_yd)
        _count(tally, made, "safety" if true_yd <= 0 else "", {"safety"})
    return tally


def touchdowns(book: str, count: int) -> Tally:
    """Return how runs end that are met near the goal line, by the camera."""
    tally = Tally()
    ball_yd = BALL_RADIUS_MM / FIELD.mm_per_yd_x if book == "lions-den" else 0.0  # any part of the ball (LD-021)
    for place in range(-5, 6):
        true_yd = place * 0.12 + 0.01
        for sigma_yd in SIGMAS_YD:
            for error in errors(max(1, count // 10)):
                situation = met_at_the_goal_line(book, -true_yd, sigma_yd, error * sigma_yd)
                made = situation.judge(60, 0.5)
                _count(tally, list(made.calls), "touchdown" if true_yd + ball_yd >= 0 else "", {"touchdown"})
    return tally


def _draws(count: int) -> Iterator[tuple[float, float, float, float]]:
    """Yield true places past a line, errors stated, and errors made of two spots."""
    drawn = errors(count)
    for place in range(-10, 11):
        for sigma_yd in SIGMAS_YD:
            for number, error in enumerate(drawn):
                yield place * 0.08, sigma_yd, drawn[(7 * number + place) % count], error


def _count(tally: Tally, made: list[Call], true_kind: str, kinds: set[str]) -> None:
    said = [call for call in made if call.kind in kinds]
    if any(call.verdict == "too_close" for call in said):
        tally.too_close += 1
        return
    tally.called += 1
    tally.wrong += (said[0].kind if said else "") != true_kind
