"""The games in the store and their plays: listed, read back, exported, verified; and starting a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Final

from fastapi import Depends, Query, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import (
    AppContext,
    CallViewerDep,
    GameServiceDep,
    RigParts,
    RigPartsDep,
    StoreDep,
    SubmissionDep,
    part_of_context,
)
from downfield.api.http.problems import ProblemError, accepted
from downfield.api.http.requests import CallId, GameId, sends, sent_file
from downfield.core.records import to_json
from downfield.game.published.game_topics import CallView, DeclarationView, GameView
from downfield.game.published.plays import Play
from downfield.game.receipts import Accepted
from downfield.game.records.commands import NewGame
from downfield.game.records.final_score import SignatureView, signature_views
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.declarations import Side
from downfield.officiating.events import Event, EventsHeader
from downfield.officiating.state.game_state import opponent
from downfield.review.catalog import CallOutcome, GameCatalog, GameSearch, GameStanding, PlaySearch
from downfield.review.evidence.ready_pictures import Thumbnails
from downfield.store.history import GameDetails, GameSummary, History, RecentHistories, summary
from downfield.store.sealing.hash_chain import verify_journal

router = AuthorizedRouter(prefix="/api/games", tags=["games"])

Limit = Annotated[int, Query(ge=1, le=1000, description="How many; the latest are returned.")]
Around = Annotated[str | None, Query(max_length=200, description="Id of a call: those around it are returned.")]
Struck = Annotated[bool, Query(description="Also the calls that a ruling took away; then in the order of their times.")]


class VerificationResult(TopicModel):
    """Whether a journal is as it was written."""

    intact: bool
    entries: int = Field(description="Intact entries, or the number of the first that is not.")
    head: str = Field(description="Digest of the last intact entry.")
    problem: str = Field(description="What is wrong and where; empty when nothing is.")


def shown_game(rig: RigParts) -> str:
    """Return the id of the game in play, or of the last one until another begins; empty for none."""
    shown = rig.hub.value("game")
    return rig.game_service.game_id or (shown.game if isinstance(shown, GameView) else "")


def _row(rig: RigPartsDep, game: GameId) -> GameRow:
    """Return a game of the store; ``"current"`` is the one that the feed shows. Raises ProblemError: there is none."""
    row = rig.store.game(shown_game(rig) if game == "current" else game)
    if row is None:
        raise ProblemError(404, "No game in the store has that id. See GET /api/games.")
    return row


GameRowDep = Annotated[GameRow, Depends(_row)]


def _history(
    row: GameRowDep, histories: Annotated[RecentHistories, part_of_context(lambda context: context.histories)]
) -> History:
    return histories.of(row)


HistoryDep = Annotated[History, Depends(_history)]


def shown_history(context: AppContext) -> History | None:
    """Return the game that the feed shows, as its journal has it; None for none."""
    row = context.rig.store.game(shown_game(context.rig))
    return None if row is None else context.histories.of(row)


@router.post("", "operator", summary="Start a game")
def start(game_service: GameServiceDep, by: SubmissionDep, request: NewGame) -> Accepted:
    """The game in play is ended; the line-up stays."""
    return accepted(game_service.command(request, by))


@router.get("/{game}/calls", "viewer", summary="A game's calls")
def calls(history: HistoryDep, limit: Limit = 200, around: Around = None, struck: Struck = False) -> list[CallView]:
    """The calls that stand, in the order they were made: the latest, or those before and after one of them."""
    found = history.calls()
    if struck:
        found = sorted([*found, *history.struck()], key=lambda view: view.t_ns)
    if around is None:
        return found[-limit:]
    place = next((place for place, view in enumerate(found) if view.id == around), None)
    if place is None:
        raise ProblemError(404, "No call of this game that stands has that id.")
    first = max(0, place - limit // 2)
    return found[first : first + limit]


@router.get("/{game}/events", "viewer", summary="A game's declarations and rulings")
def events(history: HistoryDep, limit: Limit = 200) -> list[DeclarationView]:
    """In order."""
    return history.declarations()[-limit:]


@router.get("/{game}/events.jsonl", "viewer", summary="A game's events as a file", **sends("application/jsonl"))
def events_file(history: HistoryDep) -> Response:
    """For `downfield judge --events`, under this rulebook or another."""
    return sent_file(f"{history.row.id}.events.jsonl", _lines(history), "application/jsonl")


@router.get("/{game}/verification", "viewer", summary="Whether a game's journal is unaltered")
def verification(
    store: StoreDep,
    row: GameRowDep,
    head: Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$", description="A digest kept from before.")] = None,
) -> VerificationResult:
    """Checks the hash chain from the first entry to the last."""
    found = verify_journal(row.id, store.entries(row.id, after=None), head)
    return VerificationResult(intact=not found.problem, entries=found.entries, head=found.head, problem=found.problem)


def _lines(history: History) -> Iterator[str]:
    yield to_json(EventsHeader, EventsHeader(history.row.id)) + "\n"
    for event in history.events:
        yield to_json(Event, event) + "\n"


_STANDING: Final = (
    "in_play: now at the table; ended: over; reopened: over, and open for rulings; unfinished: none of these."
)

Text = Annotated[str, Query(max_length=100, description="Every word of it must be found.")]


class ListedGame(GameSummary):
    """A game in the list of games."""

    standing: GameStanding = Field(description=_STANDING)
    score: tuple[int, int] = Field(description="Home, away, as it stands.")
    text: str = Field(description="The game as it stands, on one line.")
    under_review: int = Field(description="Challenges that are not decided.")


class ReviewedGame(GameDetails):
    """A game with its result, the head of its journal, and how it stands."""

    standing: GameStanding = Field(description=_STANDING)
    camera: bool = Field(description="Whether a camera saw any of it; the rest was entered by people.")
    signatures: tuple[SignatureView, ...] = Field(description="Of the coaches under the final score.")
    dark: Side | None = Field(description="Whose figures wear the dark jersey; null where no play tells.")


@router.get("", "viewer", summary="Games, the latest first")
def games(
    catalog: Annotated[GameCatalog, part_of_context(lambda context: context.catalog)],
    game_service: GameServiceDep,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str | None, Query(max_length=40, description="Only those started before this game.")] = None,
    text: Text = "",
    standing: GameStanding | None = None,
    under_review: Annotated[bool, Query(description="Only games with an open challenge.")] = False,
) -> list[ListedGame]:
    """For the next page, give the last one's `id` as `before`."""
    in_play = game_service.game_id
    found = catalog.find(GameSearch(text, standing, under_review), limit=limit, before=before, in_play=in_play)
    return [
        ListedGame(
            **summary(line.row, line.rulebook_title).model_dump(),
            standing=line.standing(in_play),
            score=line.score,
            text=line.text,
            under_review=line.under_review,
        )
        for line in found
    ]


@router.get("/{game}", "viewer", summary="One game")
def game(history: HistoryDep, game_service: GameServiceDep) -> ReviewedGame:
    """With the digest that proves its journal."""
    details = history.details()
    standing: GameStanding = "reopened" if history.reopened else "ended" if details.ended else "unfinished"
    if details.id == game_service.game_id:
        standing = "in_play"
    return ReviewedGame(
        **details.model_dump(),
        standing=standing,
        camera=bool(history.batches),
        signatures=signature_views(history.signatures, history.score),
        dark=_dark_side(history),
    )


def _dark_side(history: History) -> Side | None:
    """Return whose figures wear the dark jersey: most plays from scrimmage are carried by a figure of the offense."""
    sides = Counter(
        snap.offense if snap.carrier.startswith("dark-") else opponent(snap.offense)
        for snap in history.snaps()
        if snap.kind == "scrimmage" and snap.carrier is not None
    )
    return next((side for side, _ in sides.most_common(1)), None)


class PlayChoices(TopicModel):
    """What the plays of a game can be filtered by."""

    plays: int = Field(description="How many there are.")
    quarters: tuple[int, ...] = Field(description="The periods they are of, in order.")
    kinds: tuple[CallKind, ...] = Field(description="The kinds of their calls, by name.")


@router.get("/{game}/play-choices", "viewer", summary="What a game's plays can be filtered by")
def play_choices(history: HistoryDep) -> PlayChoices:
    """Quarters and kinds of calls, struck calls included, without the plays themselves."""
    snaps = history.snaps()
    return PlayChoices(
        plays=len(snaps),
        quarters=tuple(sorted({snap.period for snap in snaps})),
        kinds=tuple(sorted({call.kind for call in (*history.calls(), *history.struck())})),
    )


@router.get("/{game}/plays", "viewer", summary="A game's plays")
def plays(
    history: HistoryDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many; the latest, or the first after one.")] = 200,
    after: Annotated[int | None, Query(ge=0, description="Only plays after this one, the first of them.")] = None,
    play: Annotated[int | None, Query(ge=1, description="Number of the play.")] = None,
    quarter: Annotated[int | None, Query(ge=1, description="The period.")] = None,
    kind: Annotated[CallKind | None, Query(description="Only plays and calls of this kind of call.")] = None,
    verdict: Annotated[CallOutcome | None, Query(description="What became of a call.")] = None,
    player: Annotated[str, Query(max_length=60, description='Such as "dark-28" or "28".')] = "",
    text: Text = "",
) -> list[Play]:
    """Each with the calls from its snap to the next; only the calls looked for, where any are.

    For the next page, give the last one's `number` as `after`, and 0 for the first.
    """
    search = PlaySearch(play, quarter, kind, verdict, player, text)
    found = (search.of(reviewed) for reviewed in history.plays() if after is None or reviewed.number > after)
    matching = (reviewed for reviewed in found if reviewed is not None)
    return list(matching)[-limit:] if after is None else list(islice(matching, limit))


@router.get(
    "/{game}/calls/{call}/thumbnail.jpg", "viewer", summary="A call's decisive picture, small", **sends("image/jpeg")
)
def thumbnail(
    row: GameRowDep,
    viewer: CallViewerDep,
    thumbnails: Annotated[Thumbnails, part_of_context(lambda context: context.thumbnails)],
    call: CallId,
) -> Response:
    """With the call's measurement drawn on it."""
    jpeg = thumbnails.get((row.id, call), lambda: viewer.close_up_jpeg(row, call))
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=600"})
