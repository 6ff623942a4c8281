"""Topics about the stream, as pydantic models: the replay on the overlay."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from downfield.game.published.game_topics import TopicModel


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
