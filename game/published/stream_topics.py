"""Topics about the stream, as pydantic models: the replay on the overlay, and a card game's strip.

Topic `strip` is what the strip of a card game says, and the question when the game says something else.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from downfield.core.strip import Third
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


StripStatus = Literal["moving", "covered", "agrees", "differs", "unread", "other"]


class StripAnswer(TopicModel):
    """One answer to a question about the strip."""

    label: str
    declaration: dict[str, Any] | None = Field(
        description="What to declare, as `POST /api/declarations` takes it; null to keep the game as it is, by the"
        " command `keep_game`."
    )


class StripQuestion(TopicModel):
    """The strip says one thing and the game another."""

    id: str
    text: str = Field(description='Such as "The slide says H 34, the game says H 36: which?".')
    answers: tuple[StripAnswer, ...]


class StripView(TopicModel):
    """Topic `strip`: what was last read while the strip was still and nothing was over it.

    Published only where a camera looks at the strip of a card game.
    """

    status: StripStatus = Field(
        description="moving, covered: not read now; agrees with the game or differs from it; unread: still, but slide"
        " and dials can't be read; other: the game in play has no strip."
    )
    text: str = Field(description="One line for people.")
    slide_yd: int | None = Field(default=None, description="Under the slide's line, along x of the board.")
    third: Third | None = Field(default=None, description="Where the ball is.")
    numbers: dict[str, int] = Field(default={}, description="What the dials say, by what they count.")
    confidence: dict[str, float] = Field(
        default={}, description="0..1, of `slide`, `third` and each number; those below 0.9 are not reported."
    )
    unread: tuple[str, ...] = Field(default=(), description="What can't be read, and why.")
    hidden: tuple[str, ...] = Field(
        default=(), description="For each dial that a lamp's reflection hides: what to do, as a sentence."
    )
    question: StripQuestion | None = None
