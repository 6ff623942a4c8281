"""Looking over what is believed of some pictures, in the browser: a page for one person at this computer.

Everything lies under a path that cannot be guessed, so no page from elsewhere can reach it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import cv2
from fastapi import APIRouter, FastAPI, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from downfield.api.routes.pages import asset, pages
from downfield.core.arrays import Image

Corners = tuple[tuple[float, float], ...]
"""A base's top: front left, front right, rear right, rear left, pixels."""

_JPEG_QUALITY = 92
_MOST_FIGURES = 60

Coordinate = Annotated[FiniteFloat, Field(ge=-4000, le=20000)]
Corner = tuple[Coordinate, Coordinate]


class Figure(BaseModel):
    """One figure's base."""

    model_config = ConfigDict(extra="forbid")

    corners: tuple[Corner, Corner, Corner, Corner]


class Marks(BaseModel):
    """Everything marked in a picture."""

    model_config = ConfigDict(extra="forbid")

    figures: list[Figure] = Field(max_length=_MOST_FIGURES)


class Ending(BaseModel):
    """How the looking over ended."""

    model_config = ConfigDict(extra="forbid")

    how: Literal["kept", "skipped"]


@dataclass(slots=True)
class LabelReview:
    """Pictures with what is marked in them, to be corrected by somebody at a browser.

    Attributes:
        images: the pictures.
        marks: figures' corners in each; changed by whoever looks.
        checked: which pictures were looked over.
        skipped: whether nothing of it is to be kept.
        ended: set when whoever looks is done.
        token: the path's part that cannot be guessed.

    """

    images: Sequence[Image]
    marks: list[list[Corners]]
    checked: set[int] = field(default_factory=set)
    skipped: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def app(self) -> FastAPI:
        """The page and what it asks for."""
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        app.add_api_route("/assets/{file}", asset, methods=["GET"])
        app.include_router(self._routes(), prefix=f"/{self.token}")
        return app

    def _routes(self) -> APIRouter:
        router = APIRouter()

        @router.get("/")
        def page(request: Request) -> Response:
            return pages()["label_review.html"].answer(request)

        @router.get("/pictures")
        def pictures() -> list[dict[str, list[Corners]]]:
            return [{"figures": marks} for marks in self.marks]

        @router.get("/pictures/{number}.jpg")
        def picture(number: Annotated[int, Path(ge=0)]) -> Response:
            _, packed = cv2.imencode(".jpg", self._image(number), [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
            return Response(packed.tobytes(), media_type="image/jpeg", headers={"Cache-Control": "no-store"})

        @router.put("/pictures/{number}", status_code=204)
        def mark(number: Annotated[int, Path(ge=0)], marks: Marks) -> None:
            self._image(number)
            self.marks[number] = [figure.corners for figure in marks.figures]
            self.checked.add(number)

        @router.post("/end", status_code=204)
        def end(ending: Ending) -> None:
            self.skipped = ending.how == "skipped"
            self.ended.set()

        return router

    def _image(self, number: int) -> Image:
        if number >= len(self.images):
            raise HTTPException(404, f"there is no picture {number}: they are 0 to {len(self.images) - 1}")
        return self.images[number]
