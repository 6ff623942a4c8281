"""A stand-in for the rig, for benchmarks of the game service alone."""

from __future__ import annotations

from downfield.calibration.calibration import Calibration
from downfield.core.errors import RefusedError
from downfield.game.records.commands import RigCommand, Settings


class NoRig:
    """A rig without a camera: it refuses every command."""

    def do(self, command: RigCommand) -> str:
        """Refuse a command."""
        raise RefusedError(f"{command.command}: there is no camera here")

    def calibration(self) -> Calibration | None:
        """Return None."""
        return None

    def settings(self) -> Settings:
        """Return empty settings."""
        return Settings(version="", values={}, origins={})
