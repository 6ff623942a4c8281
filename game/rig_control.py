"""The seam to the rig: what a game asks of it."""

from __future__ import annotations

from typing import Protocol

from downfield.calibration.calibration import Calibration
from downfield.game.records.commands import RigCommand, Settings


class RigControl(Protocol):
    """Commands that only the rig can carry out; the game service passes them on."""

    def do(self, command: RigCommand) -> str:
        """Carry out a command, or start to.

        Returns:
            What was done, in words.

        Raises:
            RefusedError: it can't be done now.
            DownfieldError: it failed.

        """
        ...

    def calibration(self) -> Calibration | None:
        """Return the calibration in use."""
        ...

    def settings(self) -> Settings:
        """Return the configuration in force, without secrets."""
        ...
