"""What a game service has for a rig where there is none."""

from __future__ import annotations

from downfield.calibration.calibration import Calibration
from downfield.core.errors import RefusedError
from downfield.game.commands import RigCommand, Settings


class NoRig:
    """A rig without a camera."""

    def do(self, command: RigCommand) -> str:
        """Nothing."""
        raise RefusedError(f"{command.command}: no camera here")

    def calibration(self) -> Calibration | None:
        """None."""
        return None

    def settings(self) -> Settings:
        """None."""
        return Settings(version="", values={}, origins={})
