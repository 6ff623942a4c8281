"""What a strip says and what it should say in a state of the game, in one form, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from downfield.core.strip import Count, StripSet, Third
from downfield.game.published.views import clock_text
from downfield.officiating.state.game_state import GameState, Phase
from downfield.vision.strip.strip_reader import StripReading

AT_REST: Final = frozenset({Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.SET})
HALF_YD: Final = 0.501
"""A line of scrimmage this near to the slide's yard is there: penalties half the distance leave fractions."""
SLIDE_YD: Final = (1, 1)
"""The slide is set no nearer to the goal lines than this, left and right."""
DIAL_S: Final = 10
"""A clock that the dials can't show exactly agrees within this."""
ORDINALS: Final = ("1st", "2nd", "3rd", "4th")


@dataclass(frozen=True, slots=True)
class StripFacts:
    """What a strip says, or should say.

    Attributes:
        spot_yd: the slide's place along x; None when it is not known, or says nothing between two plays.
        third: the ball's place; None likewise.
        numbers: what the dials say, without those that are not known.
    """

    spot_yd: float | None = None
    third: Third | None = None
    numbers: Mapping[Count, int] = field(default_factory=dict)

    @property
    def clock_s(self) -> int | None:
        """Seconds left by minutes and seconds; None when one of them is not known."""
        if "minutes" not in self.numbers or "seconds" not in self.numbers:
            return None
        return self.numbers["minutes"] * 60 + self.numbers["seconds"]

    @property
    def score(self) -> tuple[int, int] | None:
        """Home, away; None when one of them is not known."""
        if "home" not in self.numbers or "away" not in self.numbers:
            return None
        return self.numbers["home"], self.numbers["away"]


@dataclass(frozen=True, slots=True)
class StripDifference:
    """One thing that a strip and a game say differently.

    Attributes:
        about: ``"slide"``, ``"ball"``, ``"clock"``, or the count of a dial.
        strip, game: what each says, for people.
    """

    about: str
    strip: str
    game: str


def facts_of_reading(reading: StripReading) -> StripFacts:
    """Return what a settled reading says for sure."""
    known = ((counts, reading.number(counts)) for counts in reading.numbers)
    numbers = {counts: number for counts, number in known if number is not None}
    return StripFacts(reading.yard(), reading.third(), numbers)


def facts_of_game(game: GameState, strip: StripSet) -> StripFacts:
    """Return what a strip should say in a state of the game.

    Before a kick or a try, and while dice or a choice are due, nobody sets the slide, the ball and the down.
    """
    left_s = max(round(game.clock.left_s or 0.0), 0)
    numbers: dict[Count, int] = {
        "home": game.score[0] % 100,
        "away": game.score[1] % 100,
        "quarter": game.period,
        "minutes": left_s // 60,
        "seconds": left_s % 60,
    }
    set_down = game.phase in AT_REST and game.due == "scrimmage" and game.wait is None
    if set_down:
        numbers["down"] = game.down
    shown = {counts: number for counts, number in numbers.items() if counts in strip.counts}
    if not set_down:
        return StripFacts(numbers=shown)
    low, high = SLIDE_YD[0], strip.field.length_yd - SLIDE_YD[1]
    return StripFacts(min(max(game.los_yd, low), high), game.hash, shown)


def differences(strip: StripFacts, expected: StripFacts, game: GameState) -> tuple[StripDifference, ...]:
    """Return where a strip differs from what it should say; what one of them does not know is no difference."""
    return tuple(_differences(strip, expected, game))


def _differences(strip: StripFacts, expected: StripFacts, game: GameState) -> Iterator[StripDifference]:
    if strip.spot_yd is not None and expected.spot_yd is not None and not same_spot(strip.spot_yd, expected.spot_yd):
        yield StripDifference("slide", game.spot_text(strip.spot_yd), game.spot_text(expected.spot_yd))
    if strip.third is not None and expected.third is not None and strip.third != expected.third:
        yield StripDifference("ball", f"ball {strip.third}", f"ball {expected.third}")
    for counts in ("down", "quarter"):
        said, should = strip.numbers.get(counts), expected.numbers.get(counts)
        if said is not None and should is not None and said != should:
            yield StripDifference(counts, _words(counts, said), _words(counts, should))
    if strip.score is not None and expected.score is not None and strip.score != expected.score:
        yield StripDifference("score", *("{}-{}".format(*score) for score in (strip.score, expected.score)))
    if strip.clock_s is not None and expected.clock_s is not None and not same_clock(strip.clock_s, expected.clock_s):
        yield StripDifference("clock", clock_text(strip.clock_s), clock_text(expected.clock_s))


def same_spot(strip_yd: float, game_yd: float) -> bool:
    """Return whether the slide's whole yard is that of a line of scrimmage."""
    return abs(strip_yd - game_yd) <= HALF_YD


def same_clock(strip_s: int, game_s: int) -> bool:
    """Return whether dials of ten seconds show a clock."""
    return strip_s == game_s if game_s % DIAL_S == 0 else abs(strip_s - game_s) < DIAL_S


def _words(counts: str, number: int) -> str:
    if counts == "down":
        return f"{ORDINALS[number - 1]} down" if 1 <= number <= len(ORDINALS) else f"down {number}"
    return f"quarter {number}"
