"""A game read back from its journal: calls as they stand, plays, what was said; nothing is judged again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from downfield.core.scene import Player
from downfield.game.entries import Began, Ended, Followed, Said, Seen, Snap, unpacked
from downfield.game.published.game_topics import CallView, DeclarationView, RulingView, TopicModel
from downfield.game.published.views import Shown, call_view
from downfield.game.published.wording import said_text
from downfield.game.store import GameRow, Store
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUpDeclared, Side
from downfield.officiating.engine.play_state import PlayKind
from downfield.officiating.events import Event, Ruling, Tick, Undo


class GameSummary(TopicModel):
    """A game in the store."""

    id: str
    began_ms: int = Field(description="Wall clock, ms since 1970.")
    title: str
    home: str
    away: str
    rulebook: str


class GameDetails(GameSummary):
    """A game as its journal tells it."""

    ended: bool
    score: tuple[int, int]
    text: str = Field(description="The game at the end, on one line.")
    entries: int = Field(description="Entries of its journal.")
    head: str = Field(description="Digest of the last entry: keep it to prove later that nothing was altered.")


class PlayDetails(TopicModel):
    """One play."""

    number: int
    kind: PlayKind
    t_ns: int = Field(description="The snap, on the capture clock.")
    period: int
    offense: Side
    situation: str = Field(description='Such as "2nd & 7 at B 34".')
    down: int
    distance_yd: float
    spot_yd: float
    carrier: str | None
    calls: tuple[CallView, ...]
    state: Literal["over", "under way"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Scenes that were written together.

    Attributes:
        seq: the entry they are attached to.
        first_ns, last_ns: times of the first and the last.

    """

    seq: int
    first_ns: int
    last_ns: int


class History:
    """A game as its journal tells it.

    Args:
        store: where it is.
        row: which.

    Raises:
        FormatError: its journal can't be read.

    """

    def __init__(self, store: Store, row: GameRow) -> None:
        self.row = row
        self.ended = False
        self.score = (0, 0)
        self.text = ""
        self.entries = 0
        self.head = ""
        self.events: list[tuple[Event, str]] = []
        self.batches: list[Batch] = []
        self._calls: dict[str, Call] = {}
        self._frames: dict[str, int] = {}
        self._snaps: list[Snap] = []
        self._aside: set[str] = set()
        self._began: Began | None = None
        for entry in store.entries(row.id, attachments=False):
            self.entries, self.head = entry.seq, entry.digest
            content = unpacked(entry.kind, entry.content, where=f"game {row.id}, entry {entry.seq}")
            self._take(content)
            if isinstance(content, Seen):
                self.batches.append(Batch(entry.seq, content.first_ns, content.last_ns))

    def read(self) -> GameDetails:
        """The game in short."""
        return GameDetails(
            **listed(self.row).model_dump(),
            ended=self.ended,
            score=self.score,
            text=self.text,
            entries=self.entries,
            head=self.head,
        )

    def calls(self) -> list[CallView]:
        """Every call that stands, in the order they were made."""
        if self._began is None:
            return []
        waiting = frozenset(call.id for call in self._calls.values() if call.verdict in {"too_close", "proposed"})
        shown = Shown(self._began, lambda _: "", waiting, self._rulings(), self._frames)
        return [call_view(call, shown) for call in self._calls.values()]

    def plays(self) -> list[PlayDetails]:
        """Every play, in order, with the calls from its snap to the next."""
        calls = self.calls()
        ends = [snap.t_ns for snap in self._snaps[1:]]
        out = []
        for number, snap in enumerate(self._snaps, start=1):
            end = ends[number - 1] if number <= len(ends) else None
            made = tuple(call for call in calls if snap.t_ns <= call.t_ns and (end is None or call.t_ns < end))
            over = self.ended or end is not None
            out.append(
                PlayDetails(
                    number=number,
                    kind=snap.kind,
                    t_ns=snap.t_ns,
                    period=snap.period,
                    offense=snap.offense,
                    situation=snap.situation,
                    down=snap.down,
                    distance_yd=snap.distance_yd,
                    spot_yd=snap.spot_yd,
                    carrier=snap.carrier,
                    calls=made,
                    state="over" if over else "under way",
                )
            )
        return out

    def declared(self) -> list[DeclarationView]:
        """Every declaration and ruling, in order."""
        undone = self._undone()
        return [
            DeclarationView(
                id=event.id,
                type=event.body.type,
                text=said_text(event.body),
                by=by,
                t_ns=event.t_ns,
                undone=event.id in undone,
                set_aside="it no longer makes sense after a ruling" if event.id in self._aside else "",
            )
            for event, by in self.events
            if not isinstance(event.body, Tick)
        ]

    def players(self, t_ns: int) -> tuple[Player, ...]:
        """Who was on the board at an instant."""
        undone = self._undone()
        bodies = [event.body for event, _ in self.events if event.t_ns <= t_ns and event.id not in undone]
        return next((body.players for body in reversed(bodies) if isinstance(body, LineUpDeclared)), ())

    def los_yd(self, t_ns: int) -> float | None:
        """The line of scrimmage of the play that an instant is in; None before the first snap."""
        return next((snap.spot_yd for snap in reversed(self._snaps) if snap.t_ns <= t_ns), None)

    def _take(self, content: Began | Said | Seen | Ended) -> None:
        if isinstance(content, Began):
            self._began = content
        elif isinstance(content, Ended):
            self.ended, self.score, self.text = True, content.score, content.text
        else:
            self._follow(content.followed)
            if isinstance(content, Said):
                self.events.append((content.event, content.by))
            elif content.frame is not None:
                self._frames |= {call.id: content.frame for call in content.followed.calls}

    def _follow(self, followed: Followed) -> None:
        for gone in followed.withdrawn:
            self._calls.pop(gone, None)
        self._calls |= {call.id: call for call in followed.calls}
        self._calls |= {moved: self._calls.pop(moved) for moved in followed.moved}
        self._aside = set(followed.set_aside)
        self.score, self.text = followed.score, followed.text
        if followed.snap is not None:
            later = next((place for place, one in enumerate(self._snaps) if one.t_ns >= followed.snap.t_ns), None)
            self._snaps = [*self._snaps[:later], followed.snap]

    def _undone(self) -> set[str]:
        return {event.body.event for event, _ in self.events if isinstance(event.body, Undo)}

    def _rulings(self) -> dict[str, RulingView]:
        undone, out = self._undone(), {}
        for event, by in self.events:
            ruling = event.body
            if isinstance(ruling, Ruling) and event.id not in undone:
                made = ruling.replacement if ruling.decision == "manual" else None
                now = RulingView(decision=ruling.decision, by=by, note=ruling.note, event=event.id)
                out[ruling.call if made is None else made.id] = now
        return out


def listed(row: GameRow) -> GameSummary:
    """A game as it is listed."""
    return GameSummary(
        id=row.id,
        began_ms=row.began_ns // 1_000_000,
        title=row.title,
        home=row.home,
        away=row.away,
        rulebook=row.rulebook,
    )
