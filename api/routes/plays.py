"""The games and their plays as a reviewer looks for them, with small pictures of the calls."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Annotated, Final

from fastapi import Query, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import CallViewerDep, GameServiceDep, part_of_context
from downfield.api.http.requests import CallId, sends
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.game.published.plays import Play
from downfield.game.records.final_score import SignatureView, signature_views
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import CallKind
from downfield.officiating.declarations import Side
from downfield.officiating.state.game_state import opponent
from downfield.review.catalog import CallOutcome, GameCatalog, GameLine, GameSearch, GameStanding, PlaySearch
from downfield.review.evidence.ready_pictures import Thumbnails
from downfield.store.history import GameDetails, GameSummary, History, summary

router = AuthorizedRouter(prefix="/api/games", tags=["games"])

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
    return [_listed(line, in_play) for line in found]


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
    headers = {"Cache-Control": "private, max-age=600"}
    return Response(
        thumbnails.get((row.id, call), lambda: viewer.close_up_jpeg(row, call)),
        media_type="image/jpeg",
        headers=headers,
    )


def _listed(line: GameLine, in_play: str) -> ListedGame:
    return ListedGame(
        **summary(line.row, line.rulebook_title).model_dump(),
        standing=line.standing(in_play),
        score=line.score,
        text=line.text,
        under_review=line.under_review,
    )
