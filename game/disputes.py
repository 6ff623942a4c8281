"""Challenges and the end of the game in play: each step is in the journal before it is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from downfield.core.errors import NotFoundError, RefusedError
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.challenges import (
    ChallengeAppealed,
    ChallengeDecision,
    ChallengeOpinion,
    ChallengeRaised,
    ChallengeRuled,
    ChallengesView,
)
from downfield.game.records.final_score import ScoreSigned, SignOff, are_complete, check_score, signature_views
from downfield.game.service import GameService
from downfield.game.session import GameSession
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Claim, Side
from downfield.officiating.events import Ruling, Undo


@dataclass(frozen=True, slots=True)
class Decision:
    """How a challenge is decided."""

    decision: ChallengeDecision
    reason: str
    by: str
    replacement: Call | None = None  # the call that stands instead of one overturned; None for no call


@dataclass(frozen=True, slots=True)
class DecidedChallenge:
    """A challenge that was decided."""

    challenges: ChallengesView
    receipt: Accepted | None  # of the ruling on the call; None where none was needed


class Disputes:
    """Challenges of the game in play, and its end. Callable from any thread."""

    def __init__(self, game_service: GameService) -> None:
        self._game_service = game_service

    def raise_challenge(self, side: Side, call: str, reason: str, by: str) -> ChallengesView:
        """Put a call under review. Raises NotFoundError: no such call; RefusedError: no game, or not allowed."""
        with self._game_service.in_play() as session:
            text = next((view.text for view in session.calls() if view.id == call), None)
            if text is None:
                raise NotFoundError(f"This game has no call {call!r}.")
            book, rules = session.challenges, session.challenge_rules
            half = rules.half(session.state.period)
            raised = ChallengeRaised(f"challenge-{len(book.raised) + 1}", side, call, text, reason, by, half)
            if any(replace(raised, id=known.id) == known for known in book.open):
                return _view(session)  # sent again
            refusal = book.refusal(side, call, half, rules)
            if refusal:
                raise RefusedError(refusal)
            book.add(raised)
            pending = session.journal.append(raised)
            view = _view(session)
        pending.wait()
        return view

    def note(self, entry: ChallengeOpinion | ChallengeAppealed) -> ChallengesView:
        """Take another official's opinion of a challenge under review, or an appeal against how one was decided.

        Raises:
            NotFoundError: the game has no such challenge.
            RefusedError: no game is in play, or it can't be given now, or not by this person.
        """
        with self._game_service.in_play() as session:
            pending = session.journal.append(entry) if session.challenges.note(entry) else None
            view = _view(session)
        if pending is not None:
            pending.wait()
        return view

    def rule(self, challenge: str, decision: Decision) -> DecidedChallenge:
        """Decide a challenge; a call that is overturned is ruled on, and everything after it is judged again.

        Raises:
            NotFoundError: the game has no such challenge.
            RefusedError: it was decided otherwise already, or the call can't be ruled on any more.
        """
        with self._game_service.in_play() as session:
            book = session.challenges
            known = book.ruled.get(challenge)
            if known is not None and (known.decision, known.reason, known.by) == (
                decision.decision,
                decision.reason,
                decision.by,
            ):
                return DecidedChallenge(_view(session), None)  # sent again
            raised = book.undecided(challenge)
            book.check_decider(challenge, decision.by)
            _, appealed = book.appeals.get(challenge, (None, None))
            if appealed is not None and appealed.event:  # the call is as it was made before it is decided anew
                session.submit(Undo(appealed.event, "appealed"), Submission(decision.by), session.state.now_ns)
            receipt = _rule(session, raised.call, decision)
            cost = "" if appealed is not None else _charge(session, raised.side, decision)
            event = "" if receipt is None else receipt.event
            ruled = ChallengeRuled(challenge, decision.decision, decision.reason, decision.by, event, cost)
            book.add(ruled)
            pending = session.journal.append(ruled)
            view = _view(session)
        pending.wait()
        return DecidedChallenge(view, receipt)

    def sign(self, signed: ScoreSigned) -> SignOff:
        """Sign the final score for a coach; the game is over once both have signed it.

        A coach may sign again, as long as the game is in play; a signature under another score does not count.

        Raises:
            RefusedError: no game is in play, a challenge is open, or the score is not the one that was shown.
        """
        with self._game_service.in_play() as session:
            score = session.state.score
            check_score(signed.score, score)
            if session.challenges.open:
                raise RefusedError("A challenge is under review. Decide it before the score is signed.")
            pending = None
            if session.signatures.get(signed.side) != signed:
                session.signatures[signed.side] = signed
                pending = session.journal.append(signed)
            closed = are_complete(session.signatures, score)
            if closed:
                pending = session.end("both coaches")
            views = signature_views(session.signatures, score)
            sign_off = SignOff(game=session.game_id, score=score, signatures=views, closed=closed)
        if pending is not None:
            pending.wait()
        return sign_off

    def view(self) -> ChallengesView:
        """Return the challenges of the game in play; none without a game."""
        try:
            with self._game_service.in_play() as session:
                return _view(session)
        except RefusedError:
            return ChallengesView()


def ruling_of(call: str, decision: Decision) -> Ruling | None:
    """Return the ruling on a call that a decision needs; None where the call stays as it is."""
    if decision.decision == "too_close":
        return None
    kind = "confirm" if decision.decision == "upheld" else "overturn"
    return Ruling(call, kind, decision.replacement, decision.reason)  # type: ignore[arg-type]  # one of the two


def _view(session: GameSession) -> ChallengesView:
    return session.challenges.view(session.game_id, session.state.period, session.challenge_rules)


def _rule(session: GameSession, call: str, decision: Decision) -> Accepted | None:
    ruling = ruling_of(call, decision)
    if ruling is None:
        return None
    try:
        receipt, _ = session.submit(ruling, Submission(decision.by), session.state.now_ns)
    except RefusedError:
        if decision.decision == "overturned":
            raise
        return None  # too long ago to be confirmed: the call stands anyway
    return receipt


def _charge(session: GameSession, side: Side, decision: Decision) -> str:
    """Take what a lost challenge costs; return it in words."""
    rules = session.challenge_rules
    if not rules.is_lost(decision.decision) or rules.lost_costs == "nothing":
        return ""
    try:
        session.submit(Claim("time_out", side), Submission(decision.by), session.state.now_ns)
    except RefusedError as error:
        return f"No time-out could be taken: {str(error).removeprefix('time-out: ')}"
    return "One time-out"
