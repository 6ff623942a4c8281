"""How challenges were decided over many games, in all and by kind of call."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from downfield.game.challenges import ChallengeCounts, ChallengeRaised, ChallengeRuled, counts_of
from downfield.game.entries import unpack_entry
from downfield.game.published.game_topics import TopicModel
from downfield.review.games.catalog import CATALOG_LIMITS, CHALLENGE_KINDS
from downfield.store.reader import StoreReader

GAMES: Final = 500
"""Games that are counted, the latest: some seasons of a league."""


class ChallengeStatistics(TopicModel):
    """How challenges were decided."""

    games: int = Field(description="Games with a challenge.")
    all: ChallengeCounts
    by_kind: dict[str, ChallengeCounts] = Field(description='By kind of the challenged call, such as "tackle".')


def challenge_statistics(store: StoreReader) -> ChallengeStatistics:
    """Return how the challenges of a store's games were decided."""
    raised: list[tuple[str, ChallengeRaised]] = []
    ruled: dict[tuple[str, str], ChallengeRuled] = {}
    for row in store.games(GAMES):
        for entry in store.latest(row.id, CHALLENGE_KINDS, CATALOG_LIMITS.challenges):
            content = unpack_entry(entry.kind, entry.content, where=f"game {row.id}, entry {entry.seq}")
            if isinstance(content, ChallengeRaised):
                raised.append((row.id, content))
            elif isinstance(content, ChallengeRuled):
                ruled[row.id, content.challenge] = content
    kinds = sorted({_kind(challenge) for _, challenge in raised})
    by_kind = {kind: _counts([known for known in raised if _kind(known[1]) == kind], ruled) for kind in kinds}
    return ChallengeStatistics(games=len({game for game, _ in raised}), all=_counts(raised, ruled), by_kind=by_kind)


def _counts(raised: list[tuple[str, ChallengeRaised]], ruled: dict[tuple[str, str], ChallengeRuled]) -> ChallengeCounts:
    decided = (ruled.get((game, challenge.id)) for game, challenge in raised)
    return counts_of((challenge for _, challenge in raised), (known for known in decided if known is not None))


def _kind(challenge: ChallengeRaised) -> str:
    """Return the kind of the challenged call, with which its id begins."""
    return challenge.call.partition(":")[0]
