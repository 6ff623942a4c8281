"""A photo of play cards: its windows as text for the panel, which a person checks before anything is declared."""

from __future__ import annotations

from typing import Final

import numpy as np
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from downfield.api.http.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.capture.uploaded_pictures import MAX_UPLOAD_BYTES, decode_uploaded
from downfield.game.records.models import TopicModel
from downfield.game.strip.card_lines import unread_text, window_lines
from downfield.vision.card.card_photo import CardReading, read_card

router = APIRouter(tags=["play"])

_NO_PICTURE: Final = (
    f"This is no photo that can be read. Give a PNG, JPEG or WebP file of at most {MAX_UPLOAD_BYTES >> 20} MiB."
)


class CardPhotoView(TopicModel):
    """What a photo of play cards shows."""

    lines: tuple[str, ...] = Field(
        description='The five windows: black, red and blue result, each with its dot, such as "-2 black, 3 red, inc". A'
        " question mark stands for what is not read surely."
    )
    unread: str = Field(description="What a person must fill in; empty when all is read.")


@router.post(
    "/api/card-photo",
    summary="Read the windows of play cards from a photo",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in ("image/jpeg", "image/png", "image/webp")
            },
        }
    },
)
@allow("operator")
async def card_photo(request: Request) -> CardPhotoView:
    """A JPEG, PNG or WebP file of at most 1 MiB as the body. Nothing is declared and nothing kept."""
    reading = await run_in_threadpool(_read, await request.body())
    if reading.problem:
        raise ProblemError(422, f"{reading.problem[:1].upper()}{reading.problem[1:]}.")
    return CardPhotoView(lines=window_lines(reading), unread=unread_text(reading))


def _read(data: bytes) -> CardReading:
    photo = decode_uploaded(data)
    if photo is None:
        raise ProblemError(422, _NO_PICTURE)
    return read_card(np.asarray(photo, dtype=np.uint8))
