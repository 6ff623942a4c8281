"""Which calls are worth a replay, and which of several at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from downfield.game.published.game_topics import CallView
from downfield.officiating.calls import CallKind

WORTH: Final[dict[CallKind, int]] = {
    "touchdown": 9,
    "interception": 8,
    "fumble": 8,
    "safety": 8,
    "field_goal": 6,
    "sack": 5,
    "out_of_bounds": 4,
    "reception": 4,
    "two_point": 4,
    "tackle": 3,
    "down_by_fall": 3,
    "broken_tackle": 2,
}
"""Kinds of calls that show something on the board, by how much a viewer wants to see them again."""

FRESH_NS: Final = 10_000_000_000
"""A call about an instant longer ago was made again by a ruling: it is not replayed by itself."""


def worth_replaying(call: CallView) -> bool:
    """Return whether a call shows something on the board and counts, or waits to be ruled on."""
    made_on_board = call.frame is not None and (bool(call.players) or call.spot_yd is not None)
    return made_on_board and call.kind in WORTH and call.verdict != "reported" and call.standing in {"stands", "open"}


def most_worth(calls: Iterable[CallView], now_ns: int) -> CallView | None:
    """Return the call to replay of those made at once; None for none.

    Args:
        calls: in the order they were made.
        now_ns: the latest instant judged, on their clock.
    """
    fresh = [call for call in calls if worth_replaying(call) and now_ns - call.t_ns < FRESH_NS]
    # A close call is the one everybody asks about.
    return max(fresh, key=lambda call: (call.verdict == "too_close", WORTH[call.kind]), default=None)
