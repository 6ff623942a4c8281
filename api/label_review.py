"""Checking and correcting labels of pictures in the browser: a page for one person at this computer.

Everything is under a path that can't be guessed, so that no other website can reach it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import cv2
from fastapi import APIRouter, FastAPI, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from downfield.api.routes.pages import asset, pages
from downfield.core.arrays import Image

Corners = tuple[tuple[float, float], ...]  # A base's top: front left, front right, rear right, rear left, pixels

_JPEG_QUALITY: Final = 92
_MAX_FIGURES: Final = 60

Coordinate = Annotated[FiniteFloat, Field(ge=-4000, le=20000)]
Corner = tuple[Coordinate, Coordinate]


class LabeledFigure(BaseModel):
    """One figure's base."""

    model_config = ConfigDict(extra="forbid")

    corners: tuple[Corner, Corner, Corner, Corner]


class PictureLabels(BaseModel):
    """All labels of a picture."""

    model_config = ConfigDict(extra="forbid")

    figures: list[LabeledFigure] = Field(max_length=_MAX_FIGURES)


class ReviewOutcome(BaseModel):
    """How a review ended."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["saved", "skipped"]


@dataclass(slots=True)
class LabelReview:
    """Pictures with labels, to be corrected by a person in a browser."""

    images: Sequence[Image]
    labels: list[list[Corners]]  # figures' corners in each; the person changes them
    checked: set[int] = field(default_factory=set)  # numbers of the pictures that were checked
    skipped: bool = False
    ended: threading.Event = field(default_factory=threading.Event)  # set when the person is done
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))  # the part of the path that can't be guessed

    def app(self) -> FastAPI:
        """Return the application that serves the page and takes the corrections."""
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        app.include_router(self._routes(), prefix=f"/{self.token}")
        return app

    def _routes(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route("/assets/{file}", asset, methods=["GET"])

        @router.get("/")
        def page(request: Request) -> Response:
            return pages()["label_review.html"].response(request)

        @router.get("/pictures")
        def pictures() -> list[dict[str, list[Corners]]]:
            return [{"figures": labels} for labels in self.labels]

        @router.get("/pictures/{number}.jpg")
        def picture(number: Annotated[int, Path(ge=0)]) -> Response:
            _, jpeg = cv2.imencode(".jpg", self._image(number), [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
            return Response(jpeg.tobytes(), media_type="image/jpeg", headers={"Cache-Control": "no-store"})

        @router.put("/pictures/{number}", status_code=204)
        def put_labels(number: Annotated[int, Path(ge=0)], labels: PictureLabels) -> None:
            self._image(number)
            self.labels[number] = [figure.corners for figure in labels.figures]
            self.checked.add(number)

        @router.post("/end", status_code=204)
        def end(request: ReviewOutcome) -> None:
            self.skipped = request.outcome == "skipped"
            self.ended.set()

        return router

    def _image(self, number: int) -> Image:
        if number >= len(self.images):
            raise HTTPException(404, f"There is no picture {number}. They are numbered 0 to {len(self.images) - 1}.")
        return self.images[number]
