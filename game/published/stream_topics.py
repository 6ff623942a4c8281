"""Topics about the stream, as pydantic models: the replay on the overlay."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from downfield.game.records.models import TopicModel


class ReplayView(TopicModel):
    """Topic `replay`: the replay that the overlay shows, or has shown last."""

    take: int = Field(default=0, description="Counts the replays of this run: a new number is a new replay.")
    state: Literal["none", "making", "ready", "failed"] = Field(
        default="none", description="none: off the overlay; ready: the clip can be loaded and is to be shown."
    )
    game: str = Field(default="", description="The game's id.")
    call: str = Field(default="", description="The call's id.")
    text: str = Field(default="", description="The call in words; why it failed, if it did.")
    clip: str = Field(default="", description="Path of the clip, relative to the start page.")
    seconds: float = Field(default=0.0, description="How long it plays.")
    automatic: bool = Field(default=False, description="Whether it was made by itself, not at a person's request.")


class GraphicRow(TopicModel):
    """A row of a graphic."""

    label: str
    values: tuple[str, ...] = Field(description="One, or away and home.")


class GraphicView(TopicModel):
    """Topic `graphic`: the card that the overlay `graphics` shows."""

    take: int = Field(default=0, description="Counts the cards of this run.")
    kind: Literal["none", "drive", "player", "line_up", "teams", "standings", "review", "message"] = "none"
    title: str = ""
    subtitle: str = ""
    side: Literal["home", "away"] | None = Field(default=None, description="Whose colors it has.")
    rows: tuple[GraphicRow, ...] = ()
    picture: str = Field(default="", description="Path of a picture, relative to the start page; empty for none.")
    logo: str | None = Field(default=None, description="Of a message, as `POST /api/logos` named it; null for none.")
    seconds: float = Field(default=8.0, description="How long it stays; 0 until it is taken off.")


class SponsorsView(TopicModel):
    """Topic `sponsors`: the logos that the overlay `sponsors` shows in turn. Published once some were chosen."""

    shown: bool = Field(default=False, description="Whether they are on the stream now.")
    logos: tuple[str, ...] = Field(default=(), description="In order, as `POST /api/logos` named them.")
    seconds: float = Field(default=10.0, description="How long each stays.")
