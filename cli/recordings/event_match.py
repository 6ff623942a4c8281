"""Whether declarations belong to tracks: those of another game would give calls that look right and are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Player, Scene
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.events import Event

_BESIDE_NS: Final = 5_000_000_000
"""Time before the first scene and after the last in which declarations are usual: figures are still set up."""

_NAMED: Final = 5
"""Most players named in one line."""


@dataclass(slots=True)
class TimeSpan:
    """The times of the scenes that were read, capture clock; None before the first."""

    first_ns: int | None = None
    last_ns: int | None = None

    def noted(self, scenes: Iterable[Scene]) -> Iterator[Scene]:
        """Yield scenes and note their times."""
        for scene in scenes:
            self.first_ns = scene.t_ns if self.first_ns is None else self.first_ns
            self.last_ns = scene.t_ns
            yield scene


def mismatches(players: Sequence[Player], span: TimeSpan, events: Sequence[Event]) -> Iterator[str]:
    """Yield what events name that the tracks do not have, each as a phrase.

    Args:
        players: the roster of the tracks.
        span: the times of the tracks.
        events: the declarations.

    """
    known = {player.id for player in players}
    line_ups = [event.body for event in events if isinstance(event.body, LineUpDeclared)]
    known.update(player.id for line_up in line_ups for player in line_up.players)
    named = {name for event in events if (name := getattr(event.body, "player", None)) is not None}
    unknown = sorted(named - known)
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        yield f"players that are not in the tracks: {', '.join(unknown[:_NAMED])}{more}"
    if span.first_ns is None or span.last_ns is None:
        return
    first_ns, last_ns = span.first_ns - _BESIDE_NS, span.last_ns + _BESIDE_NS
    outside = [event for event in events if not first_ns <= event.t_ns <= last_ns]
    if outside:
        begin_s, end_s = span.first_ns / 1e9, span.last_ns / 1e9
        count = f"{len(outside)} of {len(events)}" if len(outside) < len(events) else "all"
        yield (
            f"times that the tracks do not have, in {count} events: the tracks are of {begin_s:.1f} s to {end_s:.1f} s,"
            f" '{outside[0].id}' is at {outside[0].t_ns / 1e9:.1f} s"
        )
