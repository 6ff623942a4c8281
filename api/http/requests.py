"""The bodies and parameters of requests, beside commands, as pydantic models; and what is sent besides JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import Annotated, Any, Final, Literal

from fastapi import Header, Path, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from downfield.api.http.problems import ProblemError
from downfield.core.scene import Player
from downfield.game.records.commands import TeamSheet
from downfield.game.records.models import RequestModel
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import BallPlaced, Declaration, KickEnded, SetUp, Side

MAX_PLAYERS: Final = 120  # Of one roster; a real one has 53, a table's seldom more than 40

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


def sends(*media_types: str, is_binary: bool = False) -> dict[str, Any]:
    """Return the options of an endpoint that answers with a text, a picture or a file instead of JSON."""
    schema = {"type": "string", "format": "binary"} if is_binary else {"type": "string"}
    content = {kind: {"schema": schema} for kind in media_types}
    return {"response_class": Response, "responses": {200: {"content": content}}}


def sent_file(name: str, content: bytes | str | Iterator[bytes] | Iterator[str], media_type: str) -> Response:
    """Return a file to be kept by a name; one may be made while it is sent, but for its first part.

    So what can't be read is told before the response begins.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if isinstance(content, bytes | str):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(chain([next(content, b"")], content), media_type=media_type, headers=headers)


PICTURE_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            f"image/{kind}": {"schema": {"type": "string", "format": "binary"}} for kind in ("png", "jpeg", "webp")
        },
    }
}
"""How OpenAPI describes the body of an endpoint that takes a picture."""

Place = Callable[[str], tuple[float, float]]
"""Returns where a spot is that a person names, along x of the board and across."""

NamedSpot = Annotated[
    str,
    Field(
        max_length=40,
        description="Instead of yards along the board: a team and its yard line, such as `H 44`, `A 44` or its short"
        " name, or `50`; in the middle across.",
    ),
]
SpotYd = Annotated[float, Field(ge=-30, le=230, description="On the field or beside it.")]
Note = Annotated[str, Field(max_length=500)]


class DeclarationRequest(RequestModel):
    """A declaration."""

    declaration: Annotated[Declaration, Field(examples=[{"type": "carrier", "player": "dark-28"}])]
    spot: NamedSpot = ""
    ago_ms: AgoMs = 0

    def declared(self, place: Place) -> Declaration:
        """Return the declaration, with its spot where one is named. Raises ProblemError: it has no spot."""
        body = self.declaration
        if not self.spot:
            return body
        if not {field.name for field in fields(body)} & {"spot_yd", "x_yd"}:
            raise ProblemError(422, f"spot: a {body.type.replace('_', ' ')} is at no spot; leave it out.")
        x_yd, y_yd = place(self.spot)
        at: dict[str, Any] = {"spot_yd": x_yd if isinstance(body, SetUp) else (x_yd, y_yd)}
        return replace(body, **({"x_yd": x_yd, "y_yd": y_yd} if isinstance(body, KickEnded | BallPlaced) else at))


class CallRequest(RequestModel):
    """A call as a person makes it."""

    kind: CallKind
    text: Annotated[str, Field(min_length=1, max_length=200)]
    side: Side | None = Field(default=None, description="Side that gets the ball, the points or the yards.")
    spot_yd: tuple[SpotYd, SpotYd] | None = Field(default=None, description="Along x of the board, across.")
    spot: NamedSpot = ""
    players: Annotated[tuple[Annotated[str, Field(max_length=60)], ...], Field(max_length=8)] = ()
    detail: Annotated[str, Field(max_length=60)] = ""

    def call(self, call_id: str, t_ns: int, rulebook: str, place: Place) -> Call:
        """Return the call itself; `place` returns where on the board a named spot is."""
        return Call(
            call_id,
            self.kind,
            t_ns,
            rulebook,
            (),
            "called",
            self.text,
            self.players,
            place(self.spot) if self.spot else self.spot_yd,
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
    """Why and when an undo was made."""

    note: Note = ""
    ago_ms: AgoMs = 0


class TeamRequest(TeamSheet):
    """A team with its roster."""

    players: Annotated[tuple[Player, ...], Field(max_length=MAX_PLAYERS)] = ()
