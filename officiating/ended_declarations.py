"""Declarations of how a pass, a kick or a play ended, for what no camera followed."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record
from downfield.officiating.sides import Side

PlayEnd = Literal[
    "tackle",
    "sack",
    "down_by_fall",
    "out_of_bounds",
    "stopped",
    "fumble",
    "recovered",
    "touchdown",
    "safety",
    "touchback",
    "incomplete",
]
"""How a play, or a part of it, can be told to have ended.

After a ``"fumble"`` the ball is free, until the coin or until it is ``"recovered"``; everything else ends the play.
"""


@record
class PassEnded:
    """The end of a pass that the camera did not follow.

    Attributes:
        end: caught by the offense, by the defense, or by nobody.
        player: roster id of the figure that caught it.
        spot_yd: where it was caught, field yards along x of the board and across; None for where the camera sees him.
    """

    end: Literal["complete", "incomplete", "intercepted"]
    player: str | None = None
    spot_yd: tuple[float, float] | None = None
    type: Literal["pass_ended"] = "pass_ended"


@record
class KickEnded:
    """The end of a kick that the camera did not follow.

    Attributes:
        end: through the posts or past them, blocked, out of bounds, or touched on the field by `player`.
        x_yd, y_yd: where it came down or was touched, field yards; None for a kick at the posts.
        player: roster id of the figure that touched it.
        by: the side that touched it, where no figure is named.
    """

    end: Literal["good", "no_good", "blocked", "out_of_bounds", "touched"]
    x_yd: float | None = None
    y_yd: float | None = None
    player: str | None = None
    by: Side | None = None
    type: Literal["kick_ended"] = "kick_ended"


@record
class PlayEnded:
    """The end of a play as a person saw it, from the snap on if nothing before it was declared.

    Attributes:
        kind: how it ended.
        spot_yd: where the ball was then, field yards along x of the board and across; None for points, touchbacks
            and incomplete passes.
        player: roster id of the figure concerned: the carrier, or of a fumble the tackler.
        by: the side that had the ball at the end: the other one after an interception or a fumble lost. None for the
            side that had it before.
    """

    kind: PlayEnd
    spot_yd: tuple[float, float] | None = None
    player: str | None = None
    by: Side | None = None
    type: Literal["play_ended"] = "play_ended"
