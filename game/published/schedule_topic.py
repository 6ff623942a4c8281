"""Topic `schedule`: the games of a tournament that are to be played at this table."""

from __future__ import annotations

from pydantic import Field

from downfield.game.published.game_topics import TopicModel


class ScheduledGameView(TopicModel):
    """A game that is to be played at this table."""

    id: str = Field(description="Of the game in the event.")
    begins: str = Field(description="Local time of the hall, ISO 8601; empty while it is open.")
    home: str = Field(description="The team, or where it comes from.")
    away: str


class ScheduleView(TopicModel):
    """Topic `schedule`: in order, as the tournament's desk sent it last. Published only in a tournament."""

    event: str
    games: tuple[ScheduledGameView, ...]
