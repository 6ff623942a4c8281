"""What happened to a game once it was over, line by line: ended, reopened, ruled, closed again, and by whom."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from downfield.game.challenges import DECISION_WORDS, ChallengeRaised, ChallengeRuled
from downfield.game.entries import Content, EventRecorded, GameEnded, GameReopened
from downfield.game.final_score import ScoreSigned
from downfield.game.published.game_topics import TopicModel
from downfield.game.receipts import describe
from downfield.officiating.events import Ruling
from downfield.review.pictures.painting import spoken_name
from downfield.store.history import History
from downfield.store.reader import GameRow


class AuditLine(TopicModel):
    """One line of what happened to a game once it was over."""

    seq: int = Field(description="Number of its entry in the journal.")
    at_ms: int = Field(description="Wall clock, ms since 1970.")
    by: str = Field(description="The person or device; empty where nobody did it.")
    text: str


def audit_trail(history: History) -> list[AuditLine]:
    """Return the lines of a game, in order."""
    texts = {view.id: spoken_name(view.text) for view in (*history.struck(), *history.calls())}
    texts |= {view.id: spoken_name(view.text) for view in history.declarations()}
    return [
        AuditLine(
            seq=late.seq,
            at_ms=late.at_ns // 1_000_000,
            by=_by(late.content),
            text=_text(late.content, texts, history.row),
        )
        for late in history.late
    ]


def _by(content: Content) -> str:
    known = EventRecorded | GameEnded | GameReopened | ChallengeRaised | ChallengeRuled | ScoreSigned
    return content.by if isinstance(content, known) else ""


def _text(content: Content, texts: Mapping[str, str], row: GameRow) -> str:
    if isinstance(content, GameReopened):
        return f"Reopened: {content.reason}"
    if isinstance(content, ScoreSigned):
        note = f", but disagrees: {content.note}" if content.note else ""
        team = row.home if content.side == "home" else row.away
        return f"{content.name} signed for {team}: {_score(row, content)}{note}"
    if isinstance(content, GameEnded):
        return f"{'Closed' if content.by else 'Ended'}: {_score(row, content)}"
    if isinstance(content, EventRecorded):
        body = content.event.body
        note = f" ({body.note})" if isinstance(body, Ruling) and body.note else ""
        return f"Ruling: {describe(body, texts)}{note}"
    if isinstance(content, ChallengeRaised):
        return f"Challenge by the {content.side} coach of {spoken_name(content.text)}: {content.reason}"
    if isinstance(content, ChallengeRuled):
        return f"Challenge decided, {DECISION_WORDS[content.decision]}: {content.reason}"
    return "Continued"


def _score(row: GameRow, content: ScoreSigned | GameEnded) -> str:
    home, away = content.score
    return f"{row.away} {away}, {row.home} {home}"
