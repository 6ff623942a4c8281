"""Topics about the board and the rig, as pydantic models: line-up, scene, health, source, schedule."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from downfield.core.field.model import FieldModel
from downfield.core.scene import Jersey, Player, Posture, Power
from downfield.game.records.commands import MatchTicket
from downfield.game.records.models import TopicModel

Level = Literal["ok", "warning", "alarm"]


class LineUpView(TopicModel):
    """Topic `line_up`: the figures on the board, and the board's measures."""

    players: tuple[Player, ...]
    field: FieldModel
    revision: int = Field(description='Counts the line-ups and "set" declarations of this game made by a person.')


class FigureView(TopicModel):
    """One figure; positions to 0.01 yd and 0.1 mm, headings to 0.1 degrees."""

    id: str
    jersey: Jersey
    x_yd: float
    y_yd: float
    x_mm: float
    y_mm: float
    heading: float = Field(description="Degrees counter-clockwise from +x.")
    posture: Posture
    sigma_mm: float = Field(description="Standard deviation of the position, the larger of both axes.")
    sure: bool = Field(description="Whether its identity is 95 % certain or more.")
    front: float = Field(default=1.0, description="Probability that the heading points to its front, 0..1.")
    identity: float = Field(default=1.0, description="Probability that it is this figure, 0..1.")


class SceneView(TopicModel):
    """Topic `scene`: where every figure is; at most 15 a second, fewer for more than 60 subscribers.

    A subscriber that lags gets the newest only.
    """

    frame: int
    t_ns: int
    board: Power
    figures: tuple[FigureView, ...]
    touching: tuple[tuple[str, str], ...] = Field(default=(), description="Pairs of roster ids in contact.")
    ball_mm: tuple[float, float] | None = None
    hands: tuple[tuple[tuple[float, float], ...], ...] = Field(default=(), description="Outlines, mm on the board.")


class PictureView(TopicModel):
    """Topic `picture`: where the board lies in the camera's picture. Published with each calibration of a camera."""

    to_picture: tuple[float, float, float, float, float, float, float, float, float] = Field(
        description="Homography, row by row, from mm on the board to the picture, 0..1 from its left and its top. "
        "Without the lens' distortion: for what is placed, not for what is measured."
    )
    size: tuple[int, int] = Field(description="Of the camera's picture, pixels.")


class HealthReason(TopicModel):
    """One problem of the rig."""

    code: str = Field(description='Machine-readable, such as "camera_lost" or "disk_full".')
    level: Literal["warning", "alarm"]
    text: str
    remedy: str = Field(default="", description="What to do about it.")


class RecordingStatus(TopicModel):
    """State of the recording."""

    on: bool = False
    file: str = ""
    seconds: float = 0.0
    free_gb: float | None = None


class ReplicationStatus(TopicModel):
    """How far a tournament's copy of this rig's games is behind."""

    state: Literal["off", "ok", "behind", "refused"] = Field(
        default="off", description="off: no tournament; refused: it has other entries than this rig."
    )
    entries: int = Field(default=0, description="Entries that are not there yet.")
    seconds: float = Field(default=0.0, description="How long nothing was stored there while some waited.")


class UnfitFrames(TopicModel):
    """Frames in a row from which no calls could be made, for one reason."""

    reason: str
    first: int = Field(description="Number of the first of them.")
    last: int
    count: int = Field(description="How many there were; fewer than their numbers tell, where some never came.")


class HealthStatus(TopicModel):
    """Topic `health`: whether the rig can be trusted; once a second, and at once when the level changes."""

    level: Level = "ok"
    text: str = Field(default="", description="One line for people.")
    reasons: tuple[HealthReason, ...] = ()
    calls: Literal["on", "suspended"] = Field(default="on", description="Whether calls are made from the camera.")
    unfit: tuple[UnfitFrames, ...] = Field(
        default=(), description="The frames of the last ten seconds from which no calls could be made, latest last."
    )
    setting_up: bool = Field(
        default=False,
        description="Whether nothing suspends the calls but people at the board: their hands, or no line-up yet.",
    )
    fps: float | None = Field(default=None, description="Frames per second.")
    latency_ms: float | None = Field(default=None, description="Capture-to-publish latency, median of a second.")
    latency_p99_ms: float | None = None
    frames: int = 0
    dropped: int = Field(default=0, description="Dropped frames since the start.")
    damaged: int = Field(default=0, description="Frames since the start whose picture could not be decoded.")
    board: Power = "unknown"
    camera: str = ""
    size: tuple[int, int] | None = None
    calibration_rms_px: float | None = None
    calibration_rms_yd: tuple[float, float] | None = None
    recording: RecordingStatus = RecordingStatus()
    store: Literal["ok", "behind"] = Field(default="ok", description="behind: declarations are not on disk yet.")
    replication: ReplicationStatus = ReplicationStatus()

    def with_reason(self, reason: HealthReason) -> HealthStatus:
        """Return the health with one more problem."""
        level = "alarm" if "alarm" in {self.level, reason.level} else "warning"
        return self.model_copy(update={"level": level, "reasons": (*self.reasons, reason)})


class SourceStatus(TopicModel):
    """Topic `source`: where the pictures come from."""

    kind: Literal["camera", "clip", "stream", "images", "twin", "none"] = "none"
    name: str = ""
    text: str = ""
    live: bool = False


class ScheduledGameView(TopicModel):
    """A game that is to be played at this table."""

    id: str = Field(description="Of the game in the event.")
    begins: str = Field(description="Local time of the hall, ISO 8601; empty while it is open.")
    home: str = Field(description="The team, or where it comes from.")
    away: str
    ticket: MatchTicket | None = Field(default=None, description="For `match` of a new game; null while it is open.")


class ScheduleView(TopicModel):
    """Topic `schedule`: in order, as the tournament's desk sent it last. Published only in a tournament."""

    event: str = ""
    games: tuple[ScheduledGameView, ...] = ()
    said: tuple[str, ...] = Field(default=(), description="What the desk announced here lately, the latest first.")
