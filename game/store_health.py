"""What the health says of the store."""

from __future__ import annotations

from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.records.keeping import StoreProblem


def with_store_problem(health: HealthStatus, problem: StoreProblem | None) -> HealthStatus:
    """Return the rig's health with what is wrong with the store; a warning while everything is on some disk."""
    if problem is None:
        return health
    if problem.kept_in:
        text = f"The store is behind: {problem.reason}. Everything is kept on this computer meanwhile"
        remedy = f"See to the disk or server. What waits in {problem.kept_in} is stored by itself, also after a restart"
        reason = HealthReason(code="store_behind", level="warning", text=text, remedy=remedy)
    else:
        reason = HealthReason(
            code="store_behind",
            level="alarm",
            text=f"Declarations are not saved: {problem.reason}",
            remedy="Free some disk space, or see to the server. Unsaved entries are written as soon as possible.",
        )
    level = "alarm" if "alarm" in {health.level, reason.level} else "warning"
    reasons = (*health.reasons, reason)
    return health.model_copy(update={"level": level, "store": "behind", "reasons": reasons})
