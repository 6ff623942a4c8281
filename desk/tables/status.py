"""What a table is doing now, and how urgently it needs somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from downfield.desk.tables.address_book import TableEntry

Need = Literal["refused", "lost", "alarm", "waiting", "warning", "playing", "idle"]
"""From the most to the least urgent."""

_ORDER: Final[tuple[Need, ...]] = ("refused", "lost", "alarm", "waiting", "warning", "playing", "idle")

STALE_S: Final = 4.5
"""A rig reports every second; a table that was not heard of for this long is lost, which is seen within 5 s."""


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table as the desk shows it.

    Attributes:
        id, name, address: of the table.
        need: how urgently it needs somebody.
        text: why, one line; empty where everything is well.
        home, away: the teams' names; empty without a game.
        score: home and away.
        situation: such as ``"2nd & 7 at B 34"``.
        phase: what the game waits for, such as ``"lined up"``.
        clock: as the game shows it; empty without one.
        period: of the game; 0 without a game.
        rulebook: its title.
        questions: what waits for a person at the table.
        under_review: whether a call is being looked at.
        silent_s: how long nothing was heard; None if nothing was ever heard.

    """

    id: str
    name: str
    address: str
    need: Need
    text: str
    home: str
    away: str
    score: tuple[int, int]
    situation: str
    phase: str
    clock: str
    period: int
    rulebook: str
    questions: tuple[str, ...]
    under_review: bool
    silent_s: float | None

    @property
    def order(self) -> tuple[int, str]:
        """Sorts tables by who needs somebody first, then by name."""
        return _ORDER.index(self.need), self.name.casefold()


def status_of(
    entry: TableEntry, values: Mapping[str, Any], silent_s: float | None, problem: str, *, refused: bool
) -> TableStatus:
    """Return what a table is doing.

    Args:
        entry: the table.
        values: of the topics it publishes, as JSON; whatever is missing or malformed counts as unknown.
        silent_s: how long nothing was heard; None if nothing was ever heard.
        problem: why it can't be watched; empty where it can.
        refused: whether its rig does not let the desk watch.

    """
    game, health = _object(values.get("game")), _object(values.get("health"))
    questions = tuple(
        _text(_object(item).get("text")) for item in _list(_object(values.get("questions")).get("questions"))
    )
    lost = silent_s is None or silent_s > STALE_S
    need, text = _need(game, health, questions, problem, lost=lost, refused=refused)
    score = _list(game.get("score"))
    home, away = (points if isinstance(points, int) else 0 for points in (*score, 0, 0)[:2])
    return TableStatus(
        entry.id,
        entry.name,
        entry.address,
        need,
        text,
        _text(_object(game.get("home")).get("name")),
        _text(_object(game.get("away")).get("name")),
        (home, away),
        _text(game.get("situation")),
        _text(game.get("phase_text")),
        _text(_object(game.get("clock")).get("text")),
        period if isinstance(period := game.get("period"), int) else 0,
        _text(game.get("rulebook_title")),
        questions,
        game.get("under_review") is True,
        None if silent_s is None else round(silent_s, 1),
    )


def _need(
    game: Mapping[str, Any],
    health: Mapping[str, Any],
    questions: tuple[str, ...],
    problem: str,
    *,
    lost: bool,
    refused: bool,
) -> tuple[Need, str]:
    if refused:
        return "refused", problem
    if lost:
        return "lost", problem or "nothing is heard of its rig"
    reasons = [_text(_object(reason).get("text")) for reason in _list(health.get("reasons"))]
    said = "; ".join(reasons) or _text(health.get("text"))
    if health.get("level") == "alarm":
        return "alarm", said
    if questions:
        more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
        return "waiting", questions[0] + more
    if health.get("level") == "warning":
        return "warning", said
    return ("idle", "") if not game or game.get("phase") == "over" else ("playing", "")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
