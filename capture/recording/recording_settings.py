"""The settings of the recording; a module of its own, since every command reads settings and few read video."""

from __future__ import annotations

from pydantic import Field

from downfield.core.records import SettingsSection


class RecordingSettings(SettingsSection):
    """Recording of the camera."""

    on: bool = True
    """Whether live sources are recorded from the start."""
    folder: str = ""
    """Where recordings go; empty for `recordings` in the data folder."""
    segment_s: float = Field(default=60.0, ge=1, le=3600)
    """Length of one file, seconds."""
    keep_gb: float = Field(default=200.0, gt=0)
    """The oldest recordings are deleted beyond this size."""
    keep_days: float = Field(default=30.0, gt=0)
    """Recordings older than this are deleted, but for calls of games that may be disputed."""
    warn_below_gb: float = Field(default=10.0, ge=0)
    """Warn when less disk space is free."""
    encode_again_below_gb: float = Field(default=100.0, ge=0)
    """While less disk space is free, or left of keep_gb, motion JPEG is encoded again as H.264 in idle time; 0 for
    never."""
    stop_below_gb: float = Field(default=2.0, ge=0)
    """Stop recording when less disk space is free; calls continue."""
