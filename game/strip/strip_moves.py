"""What a strip says and what it should say in a state of the game, and what may have happened where they differ.

That are declarations that lead to just what the strip says now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.strip import Count, StripSet, Third
from downfield.game.published.views import clock_text
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import CardPlayed, ChoiceMade, Declaration, PlayEnded, SetUp, Side
from downfield.officiating.state.game_state import GameState, opponent
from downfield.vision.strip.strip_reader import StripReading

Preview = Callable[[Sequence[Declaration]], GameState]
"""Returns the state that declarations would lead to; raises `RefusedError` where the rules do not allow them."""

CENTER_OF: Final[dict[Third, float]] = {"left": 5 / 6, "center": 1 / 2, "right": 1 / 6}
"""The middle of each third, as a share of the field's width."""
TRY_WAITS: Final = "try"


HALF_YD: Final = 0.501
"""A line of scrimmage this near to the slide's yard is there: penalties half the distance leave fractions."""
SLIDE_YD: Final = (1, 1)  # the slide is set no nearer to the goal lines than this, left and right
DIAL_S: Final = 10  # a clock that the dials can't show exactly agrees within this
ORDINALS: Final = ("1st", "2nd", "3rd", "4th")


@dataclass(frozen=True, slots=True)
class StripFacts:
    """What a strip says, or should say."""

    spot_yd: float | None = None  # the slide's place along x; None when not known, or meaningless between two plays
    third: Third | None = None  # the ball's place; None likewise
    numbers: Mapping[Count, int] = field(default_factory=dict)  # what the dials say, without those that are not known

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
    """One thing that a strip and a game say differently."""

    about: str  # `"slide"`, `"ball"`, `"clock"`, or the count of a dial
    strip: str  # strip, game: what each says, for people
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
    found = []
    if strip.spot_yd is not None and expected.spot_yd is not None and abs(strip.spot_yd - expected.spot_yd) > HALF_YD:
        found.append(StripDifference("slide", game.spot_text(strip.spot_yd), game.spot_text(expected.spot_yd)))
    if strip.third is not None and expected.third is not None and strip.third != expected.third:
        found.append(StripDifference("ball", f"ball {strip.third}", f"ball {expected.third}"))
    for counts in ("down", "quarter"):
        said, should = strip.numbers.get(counts), expected.numbers.get(counts)
        if said is not None and should is not None and said != should:
            found.append(StripDifference(counts, _words(counts, said), _words(counts, should)))
    if strip.score is not None and expected.score is not None and strip.score != expected.score:
        found.append(StripDifference("score", *("{}-{}".format(*score) for score in (strip.score, expected.score))))
    if strip.clock_s is not None and expected.clock_s is not None and not same_clock(strip.clock_s, expected.clock_s):
        found.append(StripDifference("clock", clock_text(strip.clock_s), clock_text(expected.clock_s)))
    return tuple(found)


def same_clock(strip_s: int, game_s: int) -> bool:
    """Return whether dials of ten seconds show a clock."""
    return strip_s == game_s if game_s % DIAL_S == 0 else abs(strip_s - game_s) < DIAL_S


def _words(counts: str, number: int) -> str:
    if counts == "down":
        return f"{ORDINALS[number - 1]} down" if 1 <= number <= len(ORDINALS) else f"down {number}"
    return f"quarter {number}"


@dataclass(frozen=True, slots=True)
class StripMoveFound:
    """Something that may have happened."""

    text: str
    declaration: Declaration


def moves_to(said: StripFacts, game: GameState, strip: StripSet, preview: Preview) -> tuple[StripMoveFound, ...]:
    """Return everything that may have happened to bring the game to what a strip says.

    A move counts when score, down, slide and ball then agree. Where the clock agrees too after some, others are out.
    """
    if said.score is None:
        return ()
    found: list[tuple[StripMoveFound, bool]] = []
    for move in _possible(said, game):
        try:
            after = preview([move.declaration])
        except RefusedError:
            continue
        expected = facts_of_game(after, strip)
        if expected.spot_yd is not None and (said.spot_yd is None or "down" not in said.numbers):
            continue
        if any(each.about not in {"clock", "quarter"} for each in differences(said, expected, after)):
            continue
        clock = said.clock_s is not None and expected.clock_s is not None and same_clock(said.clock_s, expected.clock_s)
        found.append((move, clock))
    timed = tuple(move for move, clock in found if clock)
    return timed or tuple(move for move, _ in found)


def _possible(said: StripFacts, game: GameState) -> Iterator[StripMoveFound]:
    """Yield what could be declared now, by the kind of play that is due."""
    wait = game.wait
    if wait is not None and wait.kind == "choice" and wait.purpose != TRY_WAITS:
        for option in wait.options:
            words = f"{wait.purpose.replace('_', ' ')}: {option.replace('_', ' ')}"
            yield StripMoveFound(words, ChoiceMade(option, wait.by))
        return
    if (wait is not None and wait.purpose == TRY_WAITS) or game.due in {"extra_point", "two_point"}:
        team = game.team(game.offense).name
        yield StripMoveFound(f"extra point good, {team}", CardPlayed("extra_point", "good"))
        yield StripMoveFound("extra point no good", CardPlayed("extra_point", "no good"))
        yield StripMoveFound(f"two points, {team}", CardPlayed("two_point", "2"))
        yield StripMoveFound("two-point try fails", CardPlayed("two_point", "inc"))
        return
    if wait is None and game.phase in AT_REST:
        yield from _plays(said, game)


def _plays(said: StripFacts, game: GameState) -> Iterator[StripMoveFound]:
    sides: tuple[Side, Side] = (game.offense, opponent(game.offense))
    if said.spot_yd is not None:
        spot = (said.spot_yd, game.width_yd * CENTER_OF[said.third or "center"])
        for side in sides:
            text = f"the play ended at {game.spot_text(said.spot_yd)}, {game.team(side).name} ball"
            yield StripMoveFound(text, PlayEnded("stopped", spot, by=side))
    for side in sides:
        yield StripMoveFound(f"touchdown, {game.team(side).name}", PlayEnded("touchdown", by=side))
        yield StripMoveFound(f"touchback, {game.team(side).name}", PlayEnded("touchback", by=side))
    if game.due == "scrimmage":
        yield StripMoveFound("incomplete pass", PlayEnded("incomplete"))
        yield StripMoveFound(f"field goal, {game.team(game.offense).name}", CardPlayed("field_goal", "good"))
        yield StripMoveFound("field goal no good", CardPlayed("field_goal", "no good"))
        yield StripMoveFound(f"safety, {game.team(game.defense).name}", PlayEnded("safety"))


def set_ups_to(said: StripFacts, game: GameState) -> tuple[StripMoveFound, ...]:
    """Return the game set up as a strip says, by what it does not say: who has the ball on a first down elsewhere."""
    if game.wait is not None and game.wait.purpose != TRY_WAITS:
        return ()
    now = SetUp(
        game.offense,
        game.direction,
        period=said.numbers.get("quarter", game.period),
        clock_s=float(said.clock_s) if said.clock_s is not None else game.clock.left_s,
        score=said.score or game.score,
        hash=said.third or game.hash,
    )
    if game.due in {"kickoff", "free_kick"}:
        return (StripMoveFound("", replace(now, due="kickoff" if game.due == "kickoff" else "free_kick")),)
    if game.wait is not None:
        return (StripMoveFound("", replace(now, due="try")),)
    if game.due in {"extra_point", "two_point"}:
        return (StripMoveFound("", replace(now, due="extra_point" if game.due == "extra_point" else "two_point")),)
    spot_yd = game.los_yd if said.spot_yd is None else said.spot_yd
    down = said.numbers.get("down", game.down)
    new_series = down == 1 and (game.down != 1 or abs(spot_yd - game.los_yd) > 1)
    if not new_series:
        to_go = game.progress_yd(game.to_gain_yd) - game.progress_yd(spot_yd)
        scrimmage = replace(now, spot_yd=spot_yd, down=down, distance_yd=max(to_go, 1.0))
        return (StripMoveFound("", scrimmage),)
    found = []
    for side in (game.offense, opponent(game.offense)):
        direction: Literal[-1, 1] = 1 if game.direction_of(side) > 0 else -1
        own = game.progress_yd(spot_yd, direction)
        scrimmage = replace(
            now, offense=side, direction=direction, spot_yd=spot_yd, down=1, distance_yd=min(10.0, game.length_yd - own)
        )
        found.append(StripMoveFound(f"{game.team(side).name} ball", scrimmage))
    return tuple(found)
