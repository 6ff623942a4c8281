"""The bodies and parameters of requests, beside commands, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Header, Path
from pydantic import Field

from downfield.core.scene import Player
from downfield.game.records.commands import TeamSheet
from downfield.game.records.models import RequestModel
from downfield.officiating.calls import Call, CallKind
from downfield.officiating.declarations import Declaration, Side

MAX_PLAYERS: Final = 120
"""Of one roster; a real one has 53, a table's seldom more than 40."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[A-Za-z0-9._-]{1,64}$",
        description="The same key with the same body takes effect once and gets the same receipt.",
    ),
]
GameId = Annotated[str, Path(pattern=r"^([0-9]{8}-[0-9]{6}-[0-9a-f]{4,8}|current)$", examples=["current"])]
CallId = Annotated[str, Path(min_length=1, max_length=200, description="A call's id, percent-encoded.")]
EventId = Annotated[str, Path(pattern=r"^[A-Za-z0-9._:-]{1,80}$", examples=["op-12"])]
TeamId = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$", examples=["river-city"])]
AgoMs = Annotated[
    int,
    Field(
        ge=0,
        le=86_400_000,
        description="How long ago it was made, as measured by the sender, which may have had no network meanwhile. It"
        " is dated back as far as the rulebook allows (`calls.late_s`).",
    ),
]
SpotYd = Annotated[float, Field(ge=-30, le=230, description="On the field or beside it.")]
Note = Annotated[str, Field(max_length=500)]


class DeclarationRequest(RequestModel):
    """A declaration."""

    declaration: Declaration
    ago_ms: AgoMs = 0


class CallRequest(RequestModel):
    """A call as a person makes it."""

    kind: CallKind
    text: Annotated[str, Field(min_length=1, max_length=200)]
    side: Side | None = Field(default=None, description="Side that gets the ball, the points or the yards.")
    spot_yd: tuple[SpotYd, SpotYd] | None = Field(default=None, description="Along x of the board, across.")
    players: Annotated[tuple[Annotated[str, Field(max_length=60)], ...], Field(max_length=8)] = ()
    detail: Annotated[str, Field(max_length=60)] = ""

    def call(self, call_id: str, t_ns: int, rulebook: str) -> Call:
        """Return the call itself."""
        return Call(
            call_id,
            self.kind,
            t_ns,
            rulebook,
            (),
            "called",
            self.text,
            self.players,
            self.spot_yd,
            side=self.side,
            detail=self.detail,
        )


class ManualCallRequest(CallRequest):
    """A call made by hand."""

    note: Note = ""
    ago_ms: AgoMs = 0


class RulingRequest(RequestModel):
    """A decision about one call."""

    decision: Literal["confirm", "overturn", "strike"]
    replacement: CallRequest | None = Field(default=None, description="The call that stands instead of one overturned.")
    note: Note = ""
    ago_ms: AgoMs = 0


class UndoRequest(RequestModel):
    """When an undo was made."""

    ago_ms: AgoMs = 0


class TeamRequest(TeamSheet):
    """A team with its roster."""

    players: Annotated[tuple[Player, ...], Field(max_length=MAX_PLAYERS)] = ()
