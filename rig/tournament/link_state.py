"""What the health of a rig says of its tournament."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.game.published.board_topics import HealthReason, HealthStatus, ReplicationStatus
from downfield.rig.tournament.identity_watch import REMEDY, OtherRun
from downfield.rig.tournament.journal_sender import SenderState

WARN_AFTER_S: Final = 10.0
"""A cut of a few seconds, as when the desk is started again, is nobody's business at the table."""

_GOES_ON: Final = "The game goes on, and everything is kept on this computer"


@dataclass(frozen=True, slots=True)
class LinkState:
    """How a rig's link to its tournament stands.

    Attributes:
        is_connected: whether the broker is reached.
        problem: why the broker or the desk behind it is not; empty where they are.
        sender: how far the tournament's store is behind.
        other: another computer that is this rig; None where there is none.

    """

    is_connected: bool
    problem: str
    sender: SenderState
    other: OtherRun | None = None


def with_tournament(health: HealthStatus, link: LinkState) -> HealthStatus:
    """Return a rig's health with how far its tournament is behind; a warning where that does not end by itself.

    Another computer that is the same rig is a warning, too.
    """
    if link.other is not None:
        copied = HealthReason(code="rig_copied", level="warning", text=f"{link.other.text}.", remedy=REMEDY)
        health = _with_reason(health, copied)
    sender = link.sender
    behind_s = round(sender.stalled_s, 1)
    if sender.refused:
        game, why = sender.refused[-1]
        text = f"The tournament does not take game {game}: {why}. {_GOES_ON}"
        remedy = "Tell the director. Keep this computer's data folder as it is"
        reason: HealthReason | None = HealthReason(
            code="replication_refused", level="warning", text=text, remedy=remedy
        )
        status = ReplicationStatus(state="refused", entries=sender.behind, seconds=behind_s)
    elif sender.is_complete and link.is_connected and not link.problem:
        return health.model_copy(update={"replication": ReplicationStatus(state="ok")})
    else:
        status = ReplicationStatus(state="behind", entries=sender.behind, seconds=behind_s)
        reason = None
        if sender.stalled_s > WARN_AFTER_S:
            why = link.problem or sender.problem or "nothing was stored there"
            text = f"The tournament is {_entries(sender.behind)} behind for {_time(behind_s)}: {why}. {_GOES_ON}"
            remedy = "See to the network and the director's desk. What is missing follows by itself"
            reason = HealthReason(code="replication_behind", level="warning", text=text, remedy=remedy)
    health = health.model_copy(update={"replication": status})
    return health if reason is None else _with_reason(health, reason)


def _with_reason(health: HealthStatus, reason: HealthReason) -> HealthStatus:
    level = "alarm" if health.level == "alarm" else "warning"
    return health.model_copy(update={"reasons": (*health.reasons, reason), "level": level})


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
