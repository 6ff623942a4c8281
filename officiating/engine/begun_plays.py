"""How a play began: recorded once for every play, be it seen by a camera, told by its end, rolled or read off cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.officiating.calls import Call, CallKind
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import CardPlayed, PlayEnded, Side
from downfield.officiating.engine.engine_state import EngineState
from downfield.officiating.events import Event, Ruling
from downfield.officiating.state.game_state import PENDING_INPUT, GameState
from downfield.officiating.state.play_state import PlayKind

PLAY_CALLS: Final[frozenset[CallKind]] = frozenset(
    {
        "tackle",
        "sack",
        "down_by_fall",
        "out_of_bounds",
        "stopped",
        "fumble",
        "fumble_recovery",
        "touchdown",
        "safety",
        "touchback",
        "incomplete",
        "overrun",
        "reception",
        "interception",
        "kick",
        "field_goal",
        "extra_point",
        "two_point",
    }
)
"""Calls that only a play makes: one of them between plays is a play that nobody saw begin."""

_BY_CALL: Final[dict[CallKind, PlayKind]] = {
    "field_goal": "field_goal",
    "extra_point": "extra_point",
    "two_point": "two_point",
    "kick": "punt",
}
"""The kind of a play from scrimmage, or of a try, that its first call shows."""
_BY_CARD: Final[dict[str, PlayKind]] = {
    "punt": "punt",
    "touch_punt": "punt",
    "field_goal": "field_goal",
    "fair_catch_kick": "field_goal",
    "extra_point": "extra_point",
    "two_point": "two_point",
    "onside": "onside",
}


@record
class Snap:
    """A play began.

    Attributes:
        kind: of play.
        t_ns: when.
        offense: whose down it is.
        direction: 1 when the offense goes toward larger x of the board, -1 toward smaller x.
        down, distance_yd, spot_yd: as in football.
        period: 1-based.
        situation: down, distance and spot in words.
        carrier: roster id, None while not known.
        clock_s: time left in the period; None where no clock runs down.
        told: whether nobody saw it begin: it was told by its end, rolled or read off cards.
        is_pass: whether it was a pass, as its card says or its end; None where its calls alone can tell.
    """

    kind: PlayKind
    t_ns: int
    offense: Side
    direction: int
    down: int
    distance_yd: float
    spot_yd: float
    period: int
    situation: str
    carrier: str | None = None
    clock_s: float | None = None
    told: bool = False
    is_pass: bool | None = None


def begun_play(before: EngineState, after: EngineState, entry: Scene | Event, calls: Sequence[Call]) -> Snap | None:
    """Return the play that began with an entry, None where none did.

    Args:
        before: the engine before the entry.
        after: the engine after it.
        entry: a scene or an event.
        calls: made by it.
    """
    snap_ns = after.game.play.snap_ns
    if after.superseded != before.superseded:
        return None  # said of the play before
    if snap_ns is not None:
        told = isinstance(entry, Event) and isinstance(entry.body, PlayEnded)
        kind = after.game.play.kind
        return None if snap_ns == before.game.play.snap_ns else _snap(before.game, kind, snap_ns, told=told)
    first = next((call for call in calls if call.verdict != "reported"), None)
    if first is None or first.kind not in PLAY_CALLS or _is_under_way(before.game):
        return None
    body = entry.body if isinstance(entry, Event) else None
    kind, carrier = _kind(before.game, first, body), _carrier(before.game, body)
    is_pass = _is_pass(before.game, body)
    return _snap(before.game, kind, first.t_ns, carrier, told=True, is_pass=is_pass)


def _is_under_way(game: GameState) -> bool:
    play = game.play
    at_rest = game.phase in AT_REST or game.phase in PENDING_INPUT
    return not at_rest or play.snap_ns is not None or bool(play.holds) or play.stoppage is not None


def _kind(game: GameState, first: Call, body: object) -> PlayKind:
    if isinstance(body, CardPlayed):
        return _BY_CARD.get(body.kind, "scrimmage" if game.due not in {"kickoff", "free_kick"} else game.due)
    if game.play.kind != "scrimmage":
        return game.play.kind
    return _BY_CALL.get(first.kind, game.due) if game.due in {"scrimmage", "extra_point"} else game.due


def _carrier(game: GameState, body: object) -> str | None:
    told = isinstance(body, PlayEnded) and body.kind != "fumble" and body.by in {None, game.offense}
    return body.player if told and isinstance(body, PlayEnded) else None


def _is_pass(game: GameState, body: object) -> bool | None:
    if isinstance(body, CardPlayed):
        return body.kind == "pass"
    if isinstance(body, Ruling):
        return None
    if isinstance(body, PlayEnded):
        return True if body.kind in {"incomplete", "sack"} else None
    return game.play.pass_attempts > 0


def _snap(
    before: GameState, kind: PlayKind, t_ns: int, carrier: str | None = None, *, told: bool, is_pass: bool | None = None
) -> Snap:
    left_s = before.clock.left_at_s(t_ns)
    return Snap(
        kind,
        t_ns,
        before.offense,
        before.direction,
        before.down,
        round(before.distance_yd, 2),
        round(before.los_yd, 2),
        before.period,
        before.situation,
        before.play.carrier or carrier,
        None if left_s is None else round(left_s, 1),
        told,
        is_pass,
    )
