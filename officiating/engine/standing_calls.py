"""Which calls stand once a ruling or a person's word has come, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from downfield.officiating.calls import Call
from downfield.officiating.engine.engine_state import EngineState


def standing_calls(calls: Iterable[Call], state: EngineState) -> tuple[Call, ...]:
    """Return those calls in whose place a person has told nothing else."""
    gone = set(state.superseded)
    return tuple(call for call in calls if call.id not in gone)


def calls_to_append(before: Iterable[str], now: Sequence[str]) -> tuple[str, ...]:
    """Return the calls that a subscriber must move to the end of its list to have the order of `now`.

    A subscriber drops withdrawn calls and appends new ones. That is not enough when a ruling brings back a call from
    before others that stood all the while.

    Args:
        before: ids of the calls that stood, in order.
        now: ids of the calls that stand, in order.

    Returns:
        Ids to move to the end one by one; none where dropping and appending lead to the right order.
    """
    standing, stood = set(now), dict.fromkeys(before)
    appended = [*(name for name in stood if name in standing), *(name for name in now if name not in stood)]
    pairs = enumerate(zip(appended, now, strict=True))
    first = next((place for place, (has, wanted) in pairs if has != wanted), len(now))
    return tuple(now[first:])
