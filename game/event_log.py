"""The events of one game in order, and what people read of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from downfield.core.scene import Player
from downfield.game.published.game_topics import DeclarationView, RulingView
from downfield.game.receipts import describe
from downfield.officiating.declarations import FrontDeclared, LineUpDeclared, OffenseSet
from downfield.officiating.events import Event, Ruling, Tick, Undo


class EventLog:
    """The events of one game, in order, each with the person or device it came from."""

    def __init__(self) -> None:
        self.events: list[tuple[Event, str]] = []
        self.line_up_revision = 0
        """Counts line-ups and "set" declarations made by a person; line-ups found by the camera are not counted."""
        self.fronts: dict[str, FrontDeclared] = {}
        """Where figures face, as declared, by event id; those undone included."""

    def add(self, event: Event, by: str) -> None:
        """Add an event and the person or device it came from."""
        self.events.append((event, by))
        self.line_up_revision += isinstance(event.body, LineUpDeclared | OffenseSet) and event.origin != "vision"
        if isinstance(event.body, FrontDeclared):
            self.fronts[event.id] = event.body

    @property
    def undone(self) -> frozenset[str]:
        """Ids of the events that were undone."""
        return frozenset(event.body.event for event, _ in self.events if isinstance(event.body, Undo))

    def rulings(self, undone: Collection[str]) -> dict[str, RulingView]:
        """Return what people decided, by call id, without what was undone."""
        rulings = {}
        for event, by in self.events:
            ruling = event.body
            if isinstance(ruling, Ruling) and event.id not in undone:
                made = ruling.replacement if ruling.decision == "manual" else None
                view = RulingView(decision=ruling.decision, by=by, note=ruling.note, event=event.id)
                rulings[ruling.call if made is None else made.id] = view
        return rulings

    def declarations(
        self,
        undone: Collection[str],
        set_aside: Mapping[str, str],
        calls: Mapping[str, str],
        latest: int | None = None,
    ) -> list[DeclarationView]:
        """Return declarations and rulings, in order.

        Args:
            undone: ids of the events that were undone.
            set_aside: why events no longer count, by id.
            calls: texts of the calls, by id.
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
        return next((body.players for body in reversed(bodies) if isinstance(body, LineUpDeclared)), ())

    def __contains__(self, event_id: object) -> bool:
        """Whether a declaration or ruling has this id."""
        return any(event.id == event_id and not isinstance(event.body, Tick) for event, _ in self.events)
