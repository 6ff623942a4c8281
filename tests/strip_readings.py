"""Readings of a strip made by hand, and a game followed by them, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from downfield.core.field.model import preset
from downfield.core.strip import Count, Third, load_strip
from downfield.game.published.stream_topics import StripView
from downfield.game.strip.strip_follower import StripFollower
from downfield.game.strip.strip_moves import StripFacts, facts_of_game
from downfield.officiating.declarations import Declaration
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.game_state import GameState
from downfield.vision.strip.dial_reader import DialReading
from downfield.vision.strip.slide_reader import SlideReading
from downfield.vision.strip.strip_reader import StripReading

STRIP = load_strip()
SECOND_NS = 1_000_000_000


def reading_of(facts: StripFacts, t_ns: int, *, sure: float = 0.99, settled: bool = True) -> StripReading:
    """Return a reading that says these facts; a spot of None is a slide that is not seen."""
    yard = None if facts.spot_yd is None else round(facts.spot_yd)
    slide = SlideReading(yard, 0.0 if yard is None else sure, facts.spot_yd, facts.third, sure if facts.third else 0.0)
    numbers: dict[Count, tuple[int | None, float]] = {name: (number, sure) for name, number in facts.numbers.items()}
    dials = tuple(DialReading(dial.faces[0], sure) for dial in STRIP.dials)
    return StripReading(t_ns, settled, not settled, slide, dials, numbers)


class FollowedTable:
    """A game of cards with its strip: declares, sets the strip, and keeps what is published."""

    def __init__(self, rulebook: str = "nfl-strategy", *, declares: bool = False) -> None:
        self.game = JudgedGame(load_rulebook(rulebook), preset("tudor-620"))
        self.views: list[StripView] = []
        self.taken: list[Event] = []
        self.now_ns = SECOND_NS
        system = load_rulebook(rulebook).system.name
        self._session: Any = SimpleNamespace(started=SimpleNamespace(rulebook=SimpleNamespace(system=system)))
        self.follower = StripFollower(STRIP, self, self.views.append, declares=declares)

    @property
    def state(self) -> GameState:
        return self.game.state

    @property
    def view(self) -> StripView:
        return self.views[-1]

    @contextmanager
    def in_play(self) -> Iterator[Any]:
        self._session.state, self._session.preview = self.game.state, self.game.preview
        yield self._session

    def take(self, entry: Any) -> tuple[Any, ...]:
        update = self.game.apply(entry)
        self.taken.append(entry)
        return update.calls

    def declare(self, *bodies: Declaration) -> None:
        """Declare as an operator does."""
        for body in bodies:
            self.now_ns += SECOND_NS
            self.game.apply(Event(f"op-{self.now_ns}", self.now_ns, "operator", body))

    def agreed(self, **changes: Any) -> StripFacts:
        """Return what the strip should say now, with changes: spot_yd, third, or a count."""
        facts = facts_of_game(self.state, STRIP)
        third: Third | None = changes.pop("third", facts.third)
        return StripFacts(changes.pop("spot_yd", facts.spot_yd), third, dict[Any, Any](facts.numbers) | changes)

    def shows(self, facts: StripFacts, seconds: float = 4.0, **how: Any) -> StripView:
        """Show the strip like this for a while, five readings a second; return what is published at the end."""
        for _ in range(round(seconds * 5)):
            self.now_ns += SECOND_NS // 5
            self.follower.follow(reading_of(facts, self.now_ns, **how))
        return self.view
