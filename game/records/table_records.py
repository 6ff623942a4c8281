"""Entries of a journal beside the game: commands, devices, what it is judged with, files of the recording."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record

Material = Literal["calibration", "configuration", "network", "rulebook"]
"""What a game is judged with besides its pictures."""


@record
class CommandCarriedOut:
    """A command was carried out.

    Attributes:
        command: its name.
        text: what was done.
        by: the person or device it came from.
        role: of the device.
    """

    command: str
    text: str
    by: str
    role: str = ""


@record
class DeviceChanged:
    """A device was paired, revoked, was paired for too long, or its grant was refused.

    Attributes:
        change: what happened to it.
        device: its id.
        name: as people call it.
        role: of the device.
        by: who did it; empty where nobody did.
        text: why its grant was refused; empty otherwise.
    """

    change: Literal["paired", "revoked", "expired", "refused"]
    device: str
    name: str
    role: str
    by: str = ""
    text: str = ""


@record
class MaterialUsed:
    """The game is judged with something from now on.

    Attributes:
        material: what it is.
        name: for people.
        sha256: of its content, hexadecimal.
    """

    material: Material
    name: str
    sha256: str


@record
class SegmentSealed:
    """A file of the recording was finished.

    Attributes:
        segment: its folder and name.
        files: SHA-256 of the video and of what lies beside it, by name, hexadecimal.
    """

    segment: str
    files: dict[str, str]


TableRecord = CommandCarriedOut | DeviceChanged | MaterialUsed | SegmentSealed
