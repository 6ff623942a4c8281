"""Rolls, coins and fixed distances of NFL Strategy; rolls are 1..100.

Yard lines are in the offense's own frame: 0 its own goal line, 100 the opponent's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import Hash

FUMBLE_DEFENSE_TO: Final = 40  # highest roll with which the defense recovers a fumble (NFLS-047)
REVIEW_UPHELD_TO: Final = 40  # highest roll with which an interception stands, which costs a time-out (NFLS-059, 060)
REVIEWABLE: Final[tuple[tuple[int, int], ...]] = ((42, 50), (76, 80))
PENALTY_ROLLS: Final = frozenset({11, 21, 31, 41, 51, 81})  # first rolls that bring a penalty (NFLS-061)
REVIEW_LATE_S: Final = 120.0

END_ZONE_YD: Final = 10.0
TOUCH_PUNT_FROM_YD: Final = 50.0
RUN_OUT_YD: Final = 5.0
LONG_PASSES: Final = frozenset({"x fly", "z fly", "z post", "u fly", "54 y go"})
LONG_PASS_BARRED_YD: Final = 20.0
SHORT_YARDAGE_YD: Final = 2.0
SHORT_YARDAGE_GOAL_YD: Final = 3.0

Color = Literal["black", "red", "blue"]
FumbleEnd = Literal["offense", "defense", "touchdown", "safety", "defense_touchdown"]
Mark = Literal[
    "gain",
    "fumble",
    "interception",
    "incomplete",
    "good",
    "no_good",
    "blocked",
    "out_of_bounds",
    "downed",
    "fair_catch",
    "touchback",
]
InterceptionEnd = Literal["ball", "incomplete", "touchback", "touchdown"]

HASHES: Final[dict[Color, Hash]] = {"black": "left", "red": "center", "blue": "right"}
"""The hash the ball goes to, by the dot beside the number (NFLS-091); blue is the right one (NFLS-026)."""
_MARKS: Final[dict[str, Mark]] = {
    "": "gain",
    "f": "fumble",
    "i": "interception",
    "inc": "incomplete",
    "good": "good",
    "no good": "no_good",
    "blocked": "blocked",
    "ob": "out_of_bounds",
    "dn": "downed",
    "fc": "fair_catch",
    "tb": "touchback",
}
_KICK_MARKS: Final = frozenset({"ob", "dn", "fc", "tb"})
_MARKS_ALONE: Final = frozenset({"inc", "good", "no good", "blocked"})
_RESULT = re.compile(r"(?P<yards>[+-]?\d+)?\s*(?P<mark>f|i|inc|good|no good|blocked|ob|dn|fc|tb)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CardResult:
    """One result read from a card."""

    # gained or kicked, or where an interception's return ends past the line of scrimmage; None where there is none
    yards: int | None
    mark: Mark  # the mark printed with the yards; `"gain"` without a mark


def read_card_result(text: str) -> CardResult:
    """Parse a card's result as printed.

    A number alone is a gain; ``"10F"`` is a fumble and ``"13i"`` an interception (NFLS-052). A kick may have ``OB``
    (out of bounds), ``DN`` (downed), ``FC`` (fair catch) or ``TB`` (touchback), alone or after its yards; ``inc``,
    ``good``, ``no good`` and ``blocked`` stand alone. Raises RefusedError: the text is none of these.
    """
    found = _RESULT.fullmatch(text.strip())
    mark = (found["mark"] or "").casefold() if found else ""
    if found is None or (mark not in _KICK_MARKS and (found["yards"] is not None) is (mark in _MARKS_ALONE)):
        raise RefusedError(
            f"card: {text!r} is not a result. Enter yards alone or followed by F, i, OB, DN, FC or TB, such as 13i; or "
            "inc, good, no good or blocked"
        )
    return CardResult(None if found["yards"] is None else int(found["yards"]), _MARKS[mark])


def gain_out_of_bounds(gain: float, dot: Color) -> float:
    """Return the gain of a runner who stops the clock (NFLS-026). Raises RefusedError: he ended in mid-field."""
    if dot == "red":
        raise RefusedError("out of bounds: only from a play that ends in the black or blue zone (NFLS-026)")
    return gain - RUN_OUT_YD


def fumble_end(
    spot_yd: float, gain: float, recovered: Literal["offense", "defense"] | None, length_yd: float = 100.0
) -> FumbleEnd:
    """Return how a fumble ends where it happened (NFLS-047..049). Raises RefusedError: no recovery has been rolled for.

    `spot_yd` is the line of scrimmage. Who has broken the plane of the goal line needs no recovery.
    """
    if spot_yd + gain >= length_yd:
        return "touchdown"
    if recovered is None:
        raise RefusedError("fumble: roll for the recovery first (NFLS-047)")
    if spot_yd + gain <= 0:
        return "safety" if recovered == "offense" else "defense_touchdown"
    return recovered


def interception_end(
    spot_yd: float, yards: float, *, length_yd: float = 100.0, end_zone_yd: float = END_ZONE_YD
) -> InterceptionEnd:
    """Return how an interception ends, by its number (NFLS-052, 053).

    In the end zone but not through it is a touchback, and at or behind the offense's goal line a touchdown: the source
    is silent about both, and this is football.
    """
    end = spot_yd + yards
    if end >= length_yd + end_zone_yd:
        return "incomplete"
    if end >= length_yd:
        return "touchback"
    return "touchdown" if end <= 0 else "ball"


def review_refusal(roll: int, successes_left: int, time_outs: int, left_s: float) -> str | None:
    """Return why an interception may not be reviewed, None when it may (NFLS-055..058).

    Args:
        roll: the one that was intercepted.
        successes_left: successful reviews still allowed in this game, or in this overtime.
        left_s: time left in the half or overtime, after the play.
    """
    if not any(low <= roll <= high for low, high in REVIEWABLE):
        return f"an interception on a roll of {roll} is not reviewable, only on 42-50 and 76-80 (NFLS-055)"
    if successes_left < 1:
        return "no review is left (NFLS-056, NFLS-058)"
    if time_outs < 1 and left_s > REVIEW_LATE_S:
        return "a review requires a time-out left, or two minutes or less left after the play (NFLS-057)"
    return None


def is_safety_foul(line_yd: float, yards: int, *, on_pass: bool, incomplete: bool, loss_of_down: bool) -> bool:
    """Return whether an offensive foul is a safety (NFLS-079, 080), by the line from which the play started.

    The foul that also costs the down (`loss_of_down`) is for incomplete passes only.
    """
    near = 1 <= line_yd <= 3
    return near and on_pass and yards == 10 and (incomplete or not loss_of_down)


def goes_to_kickoff(yards: int, scored: str) -> bool:
    """Return whether a defensive foul on a score is enforced on the ensuing kickoff (NFLS-078)."""
    return scored in {"extra_point", "two_point"} or yards == 15


def card_name(text: str) -> str:
    """Return a card's name as people may write it, such as "Z-POST", in one spelling: "z post"."""
    return " ".join(re.findall(r"[a-z0-9]+", text.casefold()))


def play_refusal(play: str, spot_yd: float, length_yd: float = 100.0) -> str | None:
    """Return why the offense may not choose a play, None when it may (NFLS-034, NFLS-084)."""
    to_goal = length_yd - spot_yd
    if card_name(play) in LONG_PASSES and to_goal <= LONG_PASS_BARRED_YD:
        return f"{play}: not allowed on the opponent's 20 or closer (NFLS-084)"
    if play == "Touch Punt" and to_goal > TOUCH_PUNT_FROM_YD:
        return "Touch Punt: allowed only from the 50 or closer (NFLS-034)"
    return None


def is_short_yardage_allowed(down: int, distance_yd: float, spot_yd: float, length_yd: float = 100.0) -> bool:
    """Return whether the defense may choose short yardage (NFLS-085)."""
    return (down >= 3 and distance_yd <= SHORT_YARDAGE_YD) or length_yd - spot_yd <= SHORT_YARDAGE_GOAL_YD
