"""What the program feed shows."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.live_stream import LiveStream

ProgramElement = Literal["red_zone", "drive", "scrimmage", "to_gain", "trails", "carrier"]
"""What is painted on the board, what lies lowest first."""

ProgramTheme = Literal["broadcast", "chalk", "contrast"]


class ProgramOptions(BaseModel):
    """How the program feed looks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    view: Literal["camera", "field"] = Field(
        default="camera", description="The camera's picture as it is, or the field as seen from straight above."
    )
    elements: tuple[ProgramElement, ...] = Field(
        default=("red_zone", "scrimmage", "to_gain", "trails", "carrier"),
        max_length=12,
        description="What is painted on the board, under the figures.",
    )
    tags: Literal["off", "carrier", "all"] = Field(
        default="carrier", description="Whose name tag floats above the board; it never covers a figure."
    )
    theme: ProgramTheme = Field(default="broadcast", description="Colors of the paint.")


class ProgramFeed(Protocol):
    """Draws the program; `downfield.broadcast.program.program_feed.ProgramDrawer` is one. Callable from any thread."""

    @property
    def picture(self) -> LatestPicture:
        """The newest picture."""
        ...

    @property
    def stream(self) -> LiveStream:
        """The last seconds as a film."""
        ...

    @property
    def options(self) -> ProgramOptions:
        """How it looks now."""
        ...

    def use(self, options: ProgramOptions) -> None:
        """Change how it looks from the next picture on."""
        ...
