"""Submissions to a game: their receipts, and all of a game in order, in a few words as the panel lists them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from downfield.core.errors import DownfieldError, InputError, NotFoundError, RefusedError
from downfield.core.records import made_of, number_fault, to_json
from downfield.core.scene import Player
from downfield.game.published.game_topics import CallView, DeclarationView, RulingView
from downfield.game.published.views import clock_text
from downfield.game.records.models import NOT_ENCODABLE
from downfield.officiating import declarations as d
from downfield.officiating.events import Body, Event, Ruling, Tick, Undo, undone_events


@dataclass(frozen=True, slots=True)
class Submission:
    """Where a declaration, ruling or command comes from."""

    by: str = "operator"  # the person or device, as the panel shows it
    # idempotency key: a second submission of the same key and content gets the first receipt and changes nothing
    key: str | None = None
    ago_ms: int = 0  # how long before it arrived it was made, as far as the device knows its own delay
    role: str = ""


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
    """Receipt for a submission that was refused; nothing has changed."""

    reason: str
    # `"not_now"` (the state of the game does not allow it), `"unknown"` (no such call or event), `"key_reused"` (the
    # key was used for something else), `"invalid"` (it names what does not exist), `"no_game"` or `"failed"`
    code: str = "not_now"


Receipt = Accepted | Refused


REMEMBERED_KEYS: Final = 10_000  # idempotency keys remembered with their receipts; the oldest are forgotten first

WHOLE_PLAYS: Final = (d.PlayEnded, d.CardPlayed)  # declarations that can tell a play from its beginning to its end


def refusal_of(error: DownfieldError) -> Refused:
    """Return the receipt for a submission that ended in an error."""
    codes = ((NotFoundError, "unknown"), (RefusedError, "not_now"), (InputError, "invalid"))
    return Refused(str(error), next((code for kind, code in codes if isinstance(error, kind)), "failed"))


def content_fault(body: Body) -> str:
    """Return why a body can't be kept, as what is kept must be read again; empty if it can."""
    try:
        text = to_json(Body, body)
    except ValueError:
        return NOT_ENCODABLE
    problem = number_fault(text)
    return f"What was declared can't be kept: {problem}." if problem else ""


_DIRECTIONS: Final = ("right", "up", "left", "down")  # as the camera sees the board, from +x in steps of 90 degrees


def _identities_text(body: d.IdentitiesDeclared) -> str:
    said = [f"the {body.left} team is on the left"] if body.left else []
    said += [f"{spot.id} stands at {spot.x_yd:.1f} yd" for spot in body.places]
    return ", ".join(said) or "all figures are right as drawn"


_SENTENCES: Final[dict[str, Callable[[Any], str]]] = {
    "line_up": lambda body: f"line-up of {len(body.players)}",
    "separated": lambda _: "figures separated",
    "set": lambda _: "offense set",
    "front": lambda body: f"{body.player} faces {_DIRECTIONS[round(body.heading_deg / 90) % 4]}",
    "identities": _identities_text,
    "carrier": lambda body: f"{body.player} has the ball",
    "pass": lambda body: f"pass to {body.receiver}" if body.receiver else "pass",
    "pitch": lambda body: f"pitch to {body.to}",
    "pivots_done": lambda body: f"{body.by} is done pivoting",
    "base_swap": lambda body: f"{body.player} {'on a' if body.stationary else 'off the'} stationary base",
    "kick": lambda body: _words(body.kick),
    "choice": lambda body: f"choice: {_words(body.choice)}",
    "claim": lambda body: f"{body.by} claims {_words(body.claim)}",
    "ball_placed": lambda body: "ball removed" if body.x_yd is None else "ball placed",
    "pass_ended": lambda body: f"pass {body.end}" + (f" by {body.player}" if body.player else ""),
    "kick_ended": lambda body: f"kick {_words(body.end)}",
    "play_ended": lambda body: (
        f"play ended: {_words(body.kind)}"
        + (f" by {body.player}" if body.player else f", {body.by}" if body.by else "")
    ),
    "card": lambda body: f"card: {_words(body.kind)} {body.shown}".rstrip(),
    "return": lambda body: f"return {body.shown}",
    "foul": lambda body: (
        "offsetting fouls" if body.offsetting else f"foul on {body.by}, {body.yards} yards {body.name}".rstrip()
    ),
    "tick": lambda _: "time passes",
}


_DOWNS: Final = MappingProxyType({1: "1st", 2: "2nd", 3: "3rd", 4: "4th"})
_DECISIONS: Final = {"confirm": "confirmed", "overturn": "overturned", "strike": "removed", "manual": "called by hand"}


def describe(body: Body, texts: Mapping[str, str]) -> str:
    """Return a body in a few words. `texts`: of calls and earlier declarations by id; one that is gone is not named."""
    if isinstance(body, Ruling):
        call = body.replacement.text if body.replacement is not None else texts.get(body.call, "a call")
        return f"{_DECISIONS[body.decision]}: {call}"
    if isinstance(body, Undo):
        return f"undone: {texts.get(body.event, 'a declaration')}"
    if isinstance(body, d.SetUp):
        score = f"score home {body.score[0]}, away {body.score[1]}"
        if body.due != "scrimmage":
            return f"set up: {_words(body.due)}, {body.offense} on offense, {score}"
        distance = f"{body.distance_yd:g}" if body.distance_yd else "goal"
        return f"set up: {body.offense} ball, {_DOWNS.get(body.down, f'down {body.down}')} & {distance}, {score}"
    if isinstance(body, d.Switch):
        return f"board {'on' if body.on else 'off'}"
    if isinstance(body, d.Roll):
        return " ".join(part for part in ("roll", " ".join(map(str, body.dice)), _for(body.purpose)) if part)
    if isinstance(body, d.Coin):
        return " ".join(part for part in ("coin", "heads" if body.heads else "tails", _for(body.purpose)) if part)
    if body.type == "clock":
        left = "" if body.left_s is None else f" at {clock_text(body.left_s)}"
        return f"clock {'runs' if body.running else 'stopped'}{left}"
    return _SENTENCES[body.type](body)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _for(purpose: str) -> str:
    return f"for {_words(purpose)}" if purpose else ""


class EventLog:
    """The events of one game, in order, each with the person or device it came from."""

    def __init__(self) -> None:
        self.events: list[tuple[Event, str]] = []
        self.line_up_revision = 0
        """Counts line-ups and "set" declarations made by a person; line-ups found by the camera are not counted."""
        self.fronts: dict[str, d.FrontDeclared] = {}
        """Where figures face, as declared, by event id; those undone included."""
        self.identities: dict[str, d.IdentitiesDeclared] = {}
        """Who is who, as declared, by event id; those undone included."""

    def add(self, event: Event, by: str) -> None:
        """Add an event and the person or device it came from."""
        self.events.append((event, by))
        self.line_up_revision += isinstance(event.body, d.LineUpDeclared | d.OffenseSet) and event.origin != "vision"
        if isinstance(event.body, d.FrontDeclared):
            self.fronts[event.id] = event.body
        if isinstance(event.body, d.IdentitiesDeclared):
            self.identities[event.id] = event.body

    def told_by_another(
        self, event: Event, by: str, within_ns: int, undone: Collection[str]
    ) -> tuple[Event, str] | None:
        """Return the last event with who entered it, if it tells a whole play as this one does, and is another's."""
        if not isinstance(event.body, WHOLE_PLAYS):
            return None
        said = (pair for pair in reversed(self.events) if not isinstance(pair[0].body, Tick | d.LineUpDeclared))
        last, teller = next(said, (event, by))
        told = isinstance(last.body, WHOLE_PLAYS) and last.id not in undone
        return (last, teller) if told and teller != by and event.t_ns - last.t_ns < within_ns else None

    @property
    def undone(self) -> frozenset[str]:
        """Ids of the events that were undone."""
        return undone_events([event for event, _ in self.events])

    def rulings(self, undone: Collection[str]) -> dict[str, RulingView]:
        """Return what people decided, by call id, without what was undone."""
        rulings = {}
        for event, by in self.events:
            ruling = event.body
            if isinstance(ruling, Ruling) and event.id not in undone:
                made = ruling.replacement if ruling.decision == "manual" else None
                replaced = ruling.decision == "overturn" and ruling.replacement is not None
                view = made_of(RulingView, ruling, by=by, event=event.id, replaced=replaced)
                rulings[ruling.call if made is None else made.id] = view
        return rulings

    def declarations(
        self, undone: Collection[str], set_aside: Mapping[str, str], calls: Mapping[str, str], latest: int | None = None
    ) -> list[DeclarationView]:
        """Return declarations and rulings, in order.

        Args:
            undone: ids of the events that were undone.
            set_aside: why events no longer count, by id.
            latest: how many; None for all.
        """
        shown = [(event, by) for event, by in self.events if not isinstance(event.body, Tick)]
        if latest is not None:
            shown = shown[-latest:]
        undoing = {event.body.event for event, _ in shown if isinstance(event.body, Undo)}
        texts = dict(calls)
        texts |= {event.id: describe(event.body, calls) for event, _ in self.events if event.id in undoing}
        return [
            DeclarationView(
                id=event.id,
                type=event.body.type,
                text=describe(event.body, texts),
                by=by,
                note=event.body.note if isinstance(event.body, Ruling | Undo) else "",
                t_ns=event.t_ns,
                undone=event.id in undone,
                set_aside=set_aside.get(event.id, ""),
            )
            for event, by in shown
        ]

    def players(self, t_ns: int) -> tuple[Player, ...]:
        """Return the figures that were on the board at an instant."""
        undone = self.undone
        bodies = [event.body for event, _ in self.events if event.t_ns <= t_ns and event.id not in undone]
        return next((body.players for body in reversed(bodies) if isinstance(body, d.LineUpDeclared)), ())

    def __contains__(self, event_id: object) -> bool:
        """Whether a declaration or ruling has this id."""
        return any(event.id == event_id and not isinstance(event.body, Tick) for event, _ in self.events)


@dataclass(slots=True)
class KeyedReceipt:
    """A submission with an idempotency key, and its receipt once there is one."""

    content: object
    receipt: Accepted | None = None

    def once(self, content: object, carry_out: Callable[[], str]) -> Receipt:
        """Return the receipt of a command; it is carried out unless it has been, by what returns that as a sentence."""
        if self.receipt is not None:
            return self.repeat(content)
        try:
            self.receipt = Accepted(text=carry_out())
        except DownfieldError as error:
            return refusal_of(error)
        return self.receipt

    def repeat(self, content: object) -> Receipt:
        """Return the receipt of a repeated submission; there must be one already."""
        if self.receipt is None or self.content != content:
            return Refused("This Idempotency-Key was used for something else. Send a new one.", "key_reused")
        return replace(self.receipt, repeated=True)


class IdempotencyCache:
    """The receipts of submissions with an idempotency key. The caller locks it."""

    def __init__(self) -> None:
        self._receipts: OrderedDict[str, KeyedReceipt] = OrderedDict()

    def open(self, key: str | None, content: object) -> KeyedReceipt:
        """Return the record of a key, without a receipt if the key is new."""
        known = None if key is None else self._receipts.get(key)
        if known is not None and known.receipt is not None:
            return known
        fresh = KeyedReceipt(content)
        if key is not None:
            self._receipts[key] = fresh
            if len(self._receipts) > REMEMBERED_KEYS:
                self._receipts.popitem(last=False)
        return fresh


def as_submitted(body: Body) -> Body:
    """Return a body without what is filled in as it is judged (a replacement's date and name), to be compared."""
    if isinstance(body, Ruling) and body.replacement is not None:
        return replace(body, replacement=replace(body.replacement, t_ns=0, rulebook=""))
    return body
