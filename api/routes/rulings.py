"""Finished games reopened, ruled and closed again; challenges, signed scores, and a game under other rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import Field, model_validator

from downfield.api.context.access_control import AuthorizedRouter, PrincipalDep
from downfield.api.context.context import (
    FinishedGamesDep,
    GameServiceDep,
    ReviewerDep,
    RigPartsDep,
    StoreDep,
    part_of_context,
    reviewer,
)
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import CallId, CallRequest, EventId, IdempotencyKey, Note, RulingRequest
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.api.security.access import Principal
from downfield.game.disputes import Decision, Disputes
from downfield.game.published.game_topics import CallView
from downfield.game.records.challenges import ChallengeAppealed, ChallengeDecision, ChallengeOpinion, ChallengesView
from downfield.game.records.commands import RulebookName
from downfield.game.records.final_score import ScoreSigned, SignOff
from downfield.game.records.models import RequestModel, TopicModel
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Side
from downfield.officiating.events import Ruling, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook, parse_rulebook
from downfield.review.catalog import ChallengeStatistics, challenge_statistics
from downfield.review.rejudging.changes import NOTHING_CHANGED, GameChanges, WhatIf, receipt_lines, what_if
from downfield.review.rejudging.finished_games import AuditLine, LateRuling, audit_trail, challenges_of
from downfield.review.rejudging.worker import JudgingWorker
from downfield.store.history import History

router = AuthorizedRouter(prefix="/api", tags=["games"])

PersonName = Annotated[str, Field(max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$", description="Who decides.")]
Reason = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]
Preview = Annotated[bool, Query(description="Whether only to say what would change; nothing is written.")]


class ReopeningRequest(RequestModel):
    """Why a finished game is reopened."""

    reason: Reason
    name: PersonName = ""


class ClosingRequest(RequestModel):
    """Who closes a reopened game."""

    name: PersonName = ""


class LateRulingRequest(RulingRequest):
    """A decision about one call of a finished game."""

    name: PersonName = ""


class LateUndoRequest(RequestModel):
    """Who undoes an event of a finished game, and why."""

    name: PersonName = ""
    note: Note = ""


@dataclass(frozen=True, slots=True)
class _FinishedGame:
    """A finished game, and who may rule on it."""

    row: GameRowDep
    store: StoreDep
    finished: FinishedGamesDep
    principal: ReviewerDep

    def audit(self) -> list[AuditLine]:
        return audit_trail(History(self.store, self.row))


FinishedGameDep = Annotated[_FinishedGame, Depends()]


@dataclass(frozen=True, slots=True)
class _LateChange(_FinishedGame):
    """A change to a finished game, or a preview of it."""

    key: IdempotencyKey = None
    preview: Preview = False

    def make(self, change: Ruling | Undo, name: str) -> GameChanges:
        late = LateRuling(change, signed(name, self.principal), self.key)
        return self.finished.preview(self.row, late) if self.preview else self.finished.rule(self.row, late)


LateChangeDep = Annotated[_LateChange, Depends()]


@router.get("/games/{game}/audit", "viewer", summary="What happened to a game once it was over")
def audit(history: HistoryDep) -> list[AuditLine]:
    """Ended, reopened, ruled, closed again: when, by whom and why, as the journal has it."""
    return audit_trail(history)


@router.post("/games/{game}/reopening", "operator", summary="Reopen a finished game for rulings")
def reopen(game: FinishedGameDep, request: ReopeningRequest) -> list[AuditLine]:
    """For the admin; for operators too where `game.operators_review` is set. A game in play is not touched."""
    game.finished.reopen(game.row, signed(request.name, game.principal), request.reason.strip())
    return game.audit()


@router.post("/games/{game}/closing", "operator", summary="Close a reopened game")
def close(game: FinishedGameDep, request: ClosingRequest) -> list[AuditLine]:
    """For those who may reopen it."""
    game.finished.close(game.row, signed(request.name, game.principal))
    return game.audit()


@router.post(
    "/games/{game}/calls/{call}/rulings", "operator", summary="Confirm, overturn or strike one call of a reopened game"
)
def rule(change: LateChangeDep, call: CallId, request: LateRulingRequest) -> GameChanges:
    """The game is judged again from its journal; the response says what has changed. For those who may reopen it."""
    replacement = None
    if request.replacement is not None:
        if request.decision != "overturn":
            raise ProblemError(422, f"A ruling to {request.decision} a call takes no replacement; only overturn does.")
        history = History(change.store, change.row)
        replacement = _replacing(request.replacement, call, history, history.calls())
    return change.make(Ruling(call, request.decision, replacement, request.note), request.name)


@router.post(
    "/games/{game}/events/{event}/undo", "operator", summary="Undo one declaration or ruling of a reopened game"
)
def undo(change: LateChangeDep, event: EventId, request: LateUndoRequest | None = None) -> GameChanges:
    """As if it had never been submitted; the response says what has changed. For those who may reopen the game."""
    request = request or LateUndoRequest()
    return change.make(Undo(event, request.note), request.name)


def _replacing(replacement: CallRequest, call: str, history: History, standing: Sequence[CallView]) -> Call:
    """Return the call that a person puts in the place of one that stands or was struck."""
    t_ns = next((view.t_ns for view in (*standing, *history.struck()) if view.id == call), 0)
    return replacement.call(call, t_ns, history.row.rulebook, partial(history.place, t_ns=t_ns))


def signed(name: str, principal: Principal) -> str:
    """Return a person's name with the device it was entered on; the device alone where no name is given."""
    return f"{name.strip()} ({principal.name})" if name.strip() else principal.name


ChallengeId = Annotated[str, Path(pattern=r"^challenge-[0-9]{1,6}$", examples=["challenge-1"])]


class ChallengeRequest(RequestModel):
    """A coach challenges a call."""

    side: Side = Field(description="Whose coach.")
    call: Annotated[str, Field(min_length=1, max_length=200, description="Id of the call.")]
    reason: Reason
    name: PersonName = ""


class OpinionRequest(RequestModel):
    """What another official thinks of a challenged call."""

    decision: ChallengeDecision
    reason: Reason
    name: PersonName = ""


class DecisionRequest(OpinionRequest):
    """How a challenge is decided."""

    replacement: CallRequest | None = Field(default=None, description="The call that stands instead of one overturned.")


class AppealRequest(RequestModel):
    """A coach appeals against how a challenge was decided."""

    reason: Reason
    name: PersonName = ""


class SignatureRequest(RequestModel):
    """A coach signs the final score."""

    side: Side
    name: Annotated[
        str, Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s][^\x00-\x1f\x7f]*$")
    ]
    score: tuple[int, int] = Field(description="Home, away, as shown to the coach.")
    note: Annotated[str, Field(max_length=500)] = Field(default="", description="What the coach disagrees with.")


class DecisionResult(TopicModel):
    """A decided challenge, and what has changed."""

    challenges: ChallengesView
    lines: tuple[str, ...] = Field(description="What has changed, in plain words; never empty.")


@dataclass(frozen=True, slots=True)
class _Challenged:
    """A game with challenges, and who sends the request."""

    row: GameRowDep
    rig: RigPartsDep
    finished: FinishedGamesDep
    principal: PrincipalDep

    def in_play(self) -> Disputes | None:
        """Return its disputes; None for a finished game. Raises ProblemError: its sender may not rule on those."""
        if self.row.id == self.rig.game_service.game_id:
            return Disputes(self.rig.game_service)
        reviewer(self.rig, self.principal)
        return None

    def note(self, entry: ChallengeOpinion | ChallengeAppealed) -> ChallengesView:
        """Keep what somebody says about a challenge."""
        disputes = self.in_play()
        return self.finished.note_challenge(self.row, entry) if disputes is None else disputes.note(entry)


ChallengedDep = Annotated[_Challenged, Depends()]


@router.get("/challenges", "viewer", summary="How challenges were decided in all games")
def statistics(store: StoreDep) -> ChallengeStatistics:
    """By kind of call and in all, over the latest 500 games."""
    return challenge_statistics(store)


@router.get("/games/{game}/challenges", "viewer", summary="A game's challenges")
def challenges(row: GameRowDep, store: StoreDep, game_service: GameServiceDep) -> ChallengesView:
    """With how many each coach has left."""
    if row.id == game_service.game_id:
        return Disputes(game_service).view()
    return challenges_of(History(store, row))


@router.post("/games/{game}/challenges", "operator", summary="Challenge a call")
def challenge(game: ChallengedDep, request: ChallengeRequest) -> ChallengesView:
    """The call is under review on air from now on. In a finished game for those who may reopen it."""
    raised = (request.side, request.call, request.reason.strip(), signed(request.name, game.principal))
    disputes = game.in_play()
    return game.finished.raise_challenge(game.row, *raised) if disputes is None else disputes.raise_challenge(*raised)


@router.post("/games/{game}/challenges/{challenge}/ruling", "operator", summary="Decide a challenge")
def decide(game: ChallengedDep, challenge: ChallengeId, request: DecisionRequest) -> DecisionResult:
    """Upheld, overturned, or too close to tell; what follows an overturned call is judged again."""
    if request.replacement is not None and request.decision != "overturned":
        raise ProblemError(422, f"A call that is {request.decision.replace('_', ' ')} takes no replacement.")
    row, game_service, disputes = game.row, game.rig.game_service, game.in_play()
    history = History(game.rig.store, row)
    before = history.calls() if disputes is None else game_service.calls()
    replacement = None
    if request.replacement is not None:
        shown = challenges_of(history) if disputes is None else disputes.view()
        raised = next((known.call for known in shown.challenges if known.id == challenge), "")
        replacement = _replacing(request.replacement, raised, history, before)
    decision = Decision(request.decision, request.reason.strip(), signed(request.name, game.principal), replacement)
    if disputes is None:
        changes = game.finished.rule_challenge(row, challenge, decision)
        lines = () if changes is None else changes.lines
        shown = challenges_of(History(game.rig.store, row))
        return DecisionResult(challenges=shown, lines=lines or (NOTHING_CHANGED,))
    declarations = game_service.declarations()
    decided = disputes.rule(challenge, decision)
    receipt = decided.receipt
    lines = (NOTHING_CHANGED,) if receipt is None else receipt_lines(before, declarations, receipt)
    return DecisionResult(challenges=decided.challenges, lines=lines)


@router.post(
    "/games/{game}/challenges/{challenge}/opinions", "operator", summary="Give an opinion on a challenged call"
)
def give_opinion(game: ChallengedDep, challenge: ChallengeId, request: OpinionRequest) -> ChallengesView:
    """Another official's, beside others', before the challenge is decided."""
    by = signed(request.name, game.principal)
    return game.note(ChallengeOpinion(challenge, request.decision, request.reason.strip(), by))


@router.post(
    "/games/{game}/challenges/{challenge}/appeal", "operator", summary="Appeal against how a challenge was decided"
)
def appeal(game: ChallengedDep, challenge: ChallengeId, request: AppealRequest) -> ChallengesView:
    """Once; the call is under review again, and somebody else decides, which is final."""
    by = signed(request.name, game.principal)
    return game.note(ChallengeAppealed(challenge, request.reason.strip(), by))


@router.post("/games/{game}/signatures", "operator", summary="Sign the final score for a coach")
def sign(row: GameRowDep, game_service: GameServiceDep, principal: PrincipalDep, request: SignatureRequest) -> SignOff:
    """With both signatures under one score the game is over; a note says what a coach disagrees with."""
    if row.id != game_service.game_id:
        raise ProblemError(409, "This game is not in play, so nobody can sign its score any more.", "not_now")
    if not request.name.strip():
        raise ProblemError(422, "A signature needs the coach's name.")
    signed = ScoreSigned(request.side, request.name.strip(), request.score, request.note.strip(), principal.name)
    return Disputes(game_service).sign(signed)


class WhatIfRequest(RequestModel):
    """The other rulebook: one that comes with Downfield, or the text of a league's file."""

    rulebook: RulebookName | None = None
    house_rules: Annotated[str, Field(max_length=50_000)] = Field(default="", description="A league's file, TOML.")

    @model_validator(mode="after")
    def _one_of_both(self) -> WhatIfRequest:
        if (self.rulebook is None) == (not self.house_rules.strip()):
            raise ValueError("give either a rulebook's name or house rules")
        return self


@router.post("/games/{game}/what-if", "operator", in_review="viewer", summary="A game under another rulebook")
def compare(
    row: GameRowDep,
    store: StoreDep,
    worker: Annotated[JudgingWorker, part_of_context(lambda context: context.judging)],
    request: WhatIfRequest,
    play: Annotated[int | None, Query(ge=1, description="Only what differs in this play.")] = None,
) -> WhatIf:
    """Judged from the journal by the same engine, side by side with the game's own rulebook; nothing is changed.

    Where games are only reviewed (`downfield review`), everybody may.
    """
    if request.rulebook is not None:
        rulebook = load_rulebook(request.rulebook)
    else:
        rulebook = parse_rulebook(request.house_rules, "house rules")
    return what_if(store, row, rulebook, worker, play)
