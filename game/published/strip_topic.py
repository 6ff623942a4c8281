"""Topic `strip`: what the strip of a card game says, and the question when the game says something else."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from downfield.core.strip import Third
from downfield.game.records.models import TopicModel

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
