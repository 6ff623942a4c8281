"""What may have happened when a strip was set differently: declarations that lead to just what it says now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.strip import StripSet, Third
from downfield.game.strip.strip_facts import AT_REST, StripFacts, differences, facts_of_game, same_clock
from downfield.officiating.declarations import CardPlayed, ChoiceMade, Declaration, PlayEnded, SetUp, Side
from downfield.officiating.state.game_state import GameState, opponent

Preview = Callable[[Sequence[Declaration]], GameState]
"""Returns the state that declarations would lead to; raises `RefusedError` where the rules do not allow them."""

CENTER_OF: Final[dict[Third, float]] = {"left": 5 / 6, "center": 1 / 2, "right": 1 / 6}
"""The middle of each third, as a share of the field's width."""
TRY_WAITS: Final = "try"


@dataclass(frozen=True, slots=True)
class StripMoveFound:
    """Something that may have happened.

    Attributes:
        text: for people.
        declaration: declares it.
    """

    text: str
    declaration: Declaration


def moves_to(said: StripFacts, game: GameState, strip: StripSet, preview: Preview) -> tuple[StripMoveFound, ...]:
    """Return everything that may have happened to bring the game to what a strip says.

    A move counts when score, down, slide and ball then agree. Where the clock agrees as well after some, the others are
    left out.
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
