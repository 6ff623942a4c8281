"""The service: a page to watch, the live feed, the camera's annotated picture, health."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from downfield.api.hub import Hub
from downfield.api.picture import LatestPicture

_BOUNDARY = "downfield-frame"


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def _picture(request: Request) -> LatestPicture:
    picture: LatestPicture = request.app.state.picture
    return picture


def create_app(hub: Hub, picture: LatestPicture) -> FastAPI:
    """The service over a hub and a picture that the rig fills."""
    app = FastAPI(
        title="Downfield", version=version("downfield"), description="The automatic referee for electric football."
    )
    app.state.hub = hub
    app.state.picture = picture

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def watch() -> str:
        return (files("downfield.api") / "pages" / "watch.html").read_text(encoding="utf-8")

    @app.get("/healthz", tags=["health"])
    def healthz() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/api/state", tags=["feed"])
    def state(hub: Annotated[Hub, Depends(_hub)]) -> dict[str, object]:
        """Everything that is true now, by topic."""
        now = hub.snapshot()
        return {"seq": now.seq, "data": now.data}

    @app.get("/api/feed", response_class=EventSourceResponse, tags=["feed"])
    async def feed(hub: Annotated[Hub, Depends(_hub)]) -> AsyncIterable[ServerSentEvent]:
        """A snapshot, then numbered changes, as Server-Sent Events named by topic."""
        async for change in hub.listen():
            yield ServerSentEvent(data=change.data, event=change.topic, id=str(change.seq))

    @app.get("/camera.mjpeg", response_class=StreamingResponse, tags=["camera"])
    def camera(picture: Annotated[LatestPicture, Depends(_picture)]) -> StreamingResponse:
        """The camera's picture with footprints drawn on it, as motion JPEG."""
        return StreamingResponse(_parts(picture), media_type=f"multipart/x-mixed-replace; boundary={_BOUNDARY}")

    return app


async def _parts(picture: LatestPicture) -> AsyncIterator[bytes]:
    async for jpeg in picture.watch():
        head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
        yield head.encode() + jpeg + b"\r\n"
