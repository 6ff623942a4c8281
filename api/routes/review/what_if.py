"""What if: a game under another rulebook or house rules."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field, model_validator

from downfield.api.context.context import AppContextDep, StoreDep
from downfield.api.routes.review.games import GameRowDep
from downfield.api.security.roles import allow
from downfield.game.records.commands import RulebookName
from downfield.game.records.models import RequestModel
from downfield.officiating.rulebooks.rulebook import load_rulebook, parse_rulebook
from downfield.review.rejudging.what_if import WhatIf, what_if
from downfield.review.rejudging.worker import JudgingWorker

router = APIRouter(prefix="/api/games/{game}", tags=["games"])


class WhatIfRequest(RequestModel):
    """The other rulebook: one that comes with Downfield, or the text of a league's file."""

    rulebook: RulebookName | None = None
    house_rules: Annotated[str, Field(max_length=50_000)] = Field(default="", description="A league's file, TOML.")

    @model_validator(mode="after")
    def _one_of_both(self) -> WhatIfRequest:
        if (self.rulebook is None) == (not self.house_rules.strip()):
            raise ValueError("give either a rulebook's name or house rules")
        return self


async def _worker(context: AppContextDep) -> JudgingWorker:
    return context.judging


@router.post("/what-if", summary="A game under another rulebook")
@allow("operator", in_review="viewer")
def compare(
    row: GameRowDep,
    store: StoreDep,
    worker: Annotated[JudgingWorker, Depends(_worker)],
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
