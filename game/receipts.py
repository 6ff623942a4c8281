"""Submissions to a game, and their receipts."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.core.records import to_json
from downfield.game.published.game_topics import CallView
from downfield.officiating.events import Body


@dataclass(frozen=True, slots=True)
class Submission:
    """Where a declaration, ruling or command comes from.

    Attributes:
        by: the person or device, as the panel shows it.
        key: idempotency key: a second submission with the same key and content gets the receipt of the first and
            changes nothing.
        ago_ms: how long before it arrived it was made, as far as the device knows its own delay.

    """

    by: str = "operator"
    key: str | None = None
    ago_ms: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """Receipt for a submission that was accepted, judged and recorded.

    Attributes:
        event: id of the event it became; empty for a command that is none.
        seq: number of its entry in the game's journal; 0 for a command without one.
        digest: the journal's hash up to and including that entry.
        t_ns: the instant the event holds at.
        calls: calls made or changed by it.
        withdrawn: ids of calls that no longer stand.
        set_aside: ids of events that no longer apply.
        text: the game afterwards, on one line.
        saved: False while it could not be written to disk: it counts, but would be lost in a crash.
        repeated: whether this answers a key that was used before.

    """

    event: str = ""
    seq: int = 0
    digest: str = ""
    t_ns: int = 0
    calls: tuple[CallView, ...] = ()
    withdrawn: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    text: str = ""
    saved: bool = True
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Receipt for a submission that was refused; nothing has changed.

    Attributes:
        reason: why, for people.
        code: ``"not_now"`` (the state of the game does not allow it), ``"unknown"`` (no such call or event),
            ``"key_reused"`` (the key was used for something else), ``"invalid"`` (it names what does not exist),
            ``"no_game"`` or ``"failed"``.

    """

    reason: str
    code: str = "not_now"


Receipt = Accepted | Refused


def is_encodable(body: Body) -> bool:
    """Return whether every text in a body can be written as UTF-8; half of a surrogate pair can't."""
    try:
        to_json(Body, body)
    except ValueError:
        return False
    return True
