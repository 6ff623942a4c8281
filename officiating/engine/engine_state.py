"""Everything the engine knows: the game, the last scenes, and the play that ended last, which people still speak of.

How a play began is recorded once for every play, be it seen by a camera, told by its end, rolled or read off cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.records import made_of, record, replace
from downfield.core.scene import Power, Scene
from downfield.officiating.call_kinds import MEANINGS, PLAY_CALLS
from downfield.officiating.calls import Call, RefusedEvent
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import CardPlayed, PlayEnded, Side
from downfield.officiating.events import Event, Ruling
from downfield.officiating.state.game_state import PENDING_INPUT, GameState, PendingInput, Phase
from downfield.officiating.state.play_state import PlayKind, kind_by_card


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


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Time limits of the rules engine."""

    recent_ns: int = 600_000_000  # how far back rules may look: the longest window in which any measures motion
    gap_ns: int = 100_000_000  # a longer time between two scenes is one in which nothing was seen
    # an end told this soon after the camera saw a play end is the same one: nobody plays the next in that time
    seen_again_ns: int = 3_000_000_000
    # a scene this much older than a declaration says nothing of it: the camera is gone, and people see the board
    stale_ns: int = 2_000_000_000


ENGINE_LIMITS: Final = EngineLimits()


@record
class PlayEnding:
    """The end of a play."""

    t_ns: int  # of the entry in which it ended
    calls: tuple[str, ...]  # ids of the calls which that entry made
    seen: bool  # whether a camera saw it, else a person told it


@dataclass(frozen=True, slots=True)
class EngineState:
    """Everything the engine knows."""

    game: GameState  # the state of the game
    recent: tuple[Scene, ...] = ()  # the last scenes, oldest first
    power: Power = "unknown"  # the board's power as last measured; only changes of it are acted on
    event_ns: int | None = None  # time of the latest event
    # the game as it was when its last play ended, until the next snap, for claims made after the whistle
    ended: GameState | None = None
    ending: PlayEnding | None = None  # when and by what that play ended; None where `ended` is
    superseded: tuple[str, ...] = ()  # ids of calls in whose place a person told the same play; they count no more


def with_ended(before: EngineState, after: EngineState, calls: tuple[Call, ...], *, seen: bool) -> EngineState:
    """Return the state with the game as a play ended, if one ended in this entry, and without it from a snap on."""
    if after.game.play.snap_ns is not None:
        return after if after.ended is None else replace(after, ended=None, ending=None)
    told = after.ended is not before.ended
    if before.game.play.snap_ns is None and not told:
        return after
    names = tuple(call.id for call in calls if call.verdict != "reported" and call.id not in after.superseded)
    ending = PlayEnding(after.game.now_ns, names, seen)
    return replace(after, ended=after.ended if told else before.game, ending=ending)


def is_same_play(state: EngineState, now_ns: int) -> bool:
    """Return whether an end told now is that of the play which the camera has just seen end, not of one after it."""
    if state.ended is None or state.ending is None or state.game.phase is Phase.OVER:
        return False
    return state.ending.seen and now_ns - state.ending.t_ns < ENGINE_LIMITS.seen_again_ns


def advance_clock(game: GameState, t_ns: int) -> GameState:
    """Return the game no earlier than an instant."""
    return game if t_ns <= game.now_ns else replace(game, now_ns=t_ns)


def suspended_by(state: EngineState, game: GameState, scene: Scene) -> GameState:
    """Return the game at a scene that calls can't be made from, with since when nothing was seen."""
    since_ns = game.unseen_ns[0] if game.unseen_ns and game.suspended else scene.t_ns
    if state.recent:
        since_ns = state.recent[-1].t_ns
    return replace(advance_clock(game, scene.t_ns), suspended=scene.unfit, unseen_ns=(since_ns, scene.t_ns))


def with_gap(state: EngineState, scene: Scene) -> GameState:
    """Return the game with since when nothing was seen, if frames before a scene did not come."""
    if not state.recent or scene.unfit or scene.t_ns - state.recent[-1].t_ns <= ENGINE_LIMITS.gap_ns:
        return state.game
    return replace(state.game, unseen_ns=(state.recent[-1].t_ns, scene.t_ns))


def append_recent(recent: tuple[Scene, ...], scene: Scene) -> tuple[Scene, ...]:
    """Return the recent scenes with one more, and without those too old to matter."""
    oldest_ns = scene.t_ns - ENGINE_LIMITS.recent_ns
    first = 0
    while first < len(recent) and recent[first].t_ns < oldest_ns:
        first += 1
    return (*recent[first:], scene)


def waiting_for_measurement(game: GameState) -> GameState:
    """Return the game waiting for a person to say on which side of a line the ball was: his ruling makes it go on."""
    return replace(game, phase=Phase.PENDING_CHOICE, wait=PendingInput("ruling", "measurement"))


def without_met_wait(game: GameState) -> GameState:
    """Return the game without what it waited for, once its phase shows that this has come or been overtaken."""
    return game if game.wait is None or game.phase in PENDING_INPUT else replace(game, wait=None)


@record
class Snap:
    """A play began."""

    kind: PlayKind  # of play
    t_ns: int  # when
    offense: Side  # whose down it is
    direction: int  # 1 when the offense goes toward larger x of the board, -1 toward smaller x
    down: int  # down, distance_yd, spot_yd: as in football
    distance_yd: float
    spot_yd: float
    period: int  # 1-based
    situation: str  # down, distance and spot in words
    carrier: str | None = None  # roster id, None while not known
    clock_s: float | None = None  # time left in the period; None where no clock runs down
    told: bool = False  # whether nobody saw it begin: it was told by its end, rolled or read off cards
    is_pass: bool | None = None  # whether it was a pass, by its card or its end; None where only its calls can tell
    for_yards: bool = False  # whether it is a play of an overtime of yards, in which nothing gives points


def begun_play(before: EngineState, after: EngineState, entry: Scene | Event, calls: Sequence[Call]) -> Snap | None:
    """Return the play that began with an entry, None where none did."""
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
        return kind_by_card(body.kind, game.due)
    if game.play.kind != "scrimmage":
        return game.play.kind
    return MEANINGS[first.kind].play or game.due if game.due in {"scrimmage", "extra_point"} else game.due


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
    return made_of(
        Snap,
        before,
        kind=kind,
        t_ns=t_ns,
        distance_yd=round(before.distance_yd, 2),
        spot_yd=round(before.los_yd, 2),
        carrier=before.play.carrier or carrier,
        clock_s=None if left_s is None else round(left_s, 1),
        told=told,
        is_pass=is_pass,
        for_yards=before.overtime is not None and before.overtime.for_yards,
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state to which a ruling can go back."""

    entries: int  # how many entries of the log had been applied
    state: EngineState  # the engine's state after them
    calls: int  # how many calls had been made
    plays: int  # how many plays had begun


@dataclass(frozen=True, slots=True)
class GameMemento:
    """All that a judged game has become, without the scenes of its log."""

    places: bytes  # of the log, True for each event and False for each scene
    state: EngineState  # the engine's
    checkpoints: tuple[Checkpoint, ...]  # to which rulings can go back; scenes before the first are not kept
    calls: tuple[Call, ...]  # that were made, in order
    plays: tuple[Snap, ...]  # how they began, in order
    log_index: dict[str, int]  # place of the entry that made a call, by the call's id
    undone: frozenset[str]  # ids of the events that were undone
    refused: tuple[RefusedEvent, ...]  # events that no longer apply
    rulings: dict[str, Ruling]  # that are in force, by call id
    ruled_ns: dict[str, int]  # when they were made
    off_since_ns: int | None  # since when the board has been off

    @property
    def kept_from(self) -> int:
        """The place in the log from which on scenes are needed."""
        return self.checkpoints[0].entries
