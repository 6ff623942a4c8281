"""The final score signed off by both coaches, each with a name and a tap; with both signatures the game is closed."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from downfield.core.errors import RefusedError
from downfield.core.records import made_of, record
from downfield.game.records.models import TopicModel
from downfield.officiating.declarations import Side


@record
class ScoreSigned:
    """A coach signed the final score."""

    side: Side  # the coach's
    name: str  # the coach's
    score: tuple[int, int]  # home, away, as it was shown
    note: str  # what he disagrees with; empty when he agrees
    by: str  # the person or device that it was signed on


Signatures = dict[Side, ScoreSigned]  # the latest signature of each coach


class SignatureView(TopicModel):
    """A coach's signature under the final score."""

    side: Side
    name: str
    score: tuple[int, int] = Field(description="Home, away, as signed.")
    note: str = Field(description="What the coach disagrees with; empty when he agrees.")
    by: str = Field(description="The device that it was signed on.")
    current: bool = Field(description="Whether the score is still the one that was signed.")


class SignOff(TopicModel):
    """The final score and who has signed it."""

    game: str
    score: tuple[int, int] = Field(description="Home, away, as it stands.")
    signatures: tuple[SignatureView, ...]
    closed: bool = Field(description="Whether both coaches have signed this score, so that the game is over.")


def check_score(shown: tuple[int, int], score: tuple[int, int]) -> None:
    """Check that a coach signs the score as it is. Raises RefusedError: it has changed since it was shown."""
    if shown != score:
        raise RefusedError(f"The score is now {score[0]} to {score[1]} (home to away). Look again before you sign.")


def are_complete(signatures: Mapping[Side, ScoreSigned], score: tuple[int, int]) -> bool:
    """Return whether both coaches have signed a score."""
    return all(side in signatures and signatures[side].score == score for side in ("home", "away"))


def signature_views(signatures: Mapping[Side, ScoreSigned], score: tuple[int, int]) -> tuple[SignatureView, ...]:
    """Return signatures as they are shown beside the score as it stands."""
    return tuple(made_of(SignatureView, signed, current=signed.score == score) for signed in signatures.values())
