"""Tickets: what the desk signs for a rig, so that a game there is played for one match of the event.

A game's first entry holds its ticket, under the hash chain and the rig's own signature. Without the desk's signature,
or at another rig, a ticket counts for nothing: nobody decides a match by calling two teams as it does.
"""

from __future__ import annotations

from typing import Final

from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Match
from downfield.desk.event.state import TournamentEvent
from downfield.game.records.commands import MatchTicket
from downfield.store.sealing.hash_chain import canonical_json
from downfield.store.sealing.signing import RigKey, is_signed_text

_SIGNED_AS: Final = b"downfield.match\n"


def ticket_for(
    event: TournamentEvent, match: Match, rig: str, names: tuple[str, str], key: RigKey
) -> MatchTicket | None:
    """Return a match's ticket for a rig, by the desk's key, with the teams' names there; None while a side is open."""
    home, away = Progress(event).sides(match)
    if home is None or away is None:
        return None
    played = sum(game.ticket is not None and _is_of(event, match, game.ticket) for game in event.games.values())
    ticket = MatchTicket(draw=event.draw, match=match.id, sides=(home, away), names=names, rig=rig, number=played + 1)
    return ticket.model_copy(update={"signature": key.sign_text(_signed(ticket))})


def is_assigned(ticket: MatchTicket, rig: str, public_text: str) -> bool:
    """Return whether a desk has signed a ticket for a rig.

    Args:
        public_text: the desk's public key.
    """
    return ticket.rig == rig and is_signed_text(public_text, _signed(ticket), ticket.signature)


def is_open(event: TournamentEvent, ticket: MatchTicket) -> bool:
    """Return whether the match of a ticket may still be started with it."""
    match = next((match for match in event.matches if _is_of(event, match, ticket)), None)
    if match is None or match.result is not None or match.dispute:
        return False
    return Progress(event).sides(match) in (ticket.sides, ticket.sides[::-1])


def _is_of(event: TournamentEvent, match: Match, ticket: MatchTicket) -> bool:
    return (ticket.draw, ticket.match) == (event.draw, match.id)


def _signed(ticket: MatchTicket) -> bytes:
    return _SIGNED_AS + canonical_json(ticket.model_dump(mode="json", exclude={"signature"})).encode()
