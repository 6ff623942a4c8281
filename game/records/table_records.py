"""Entries of a journal beside the game: commands, devices, what it is judged with, files of the recording."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record

Material = Literal["calibration", "configuration", "network", "rulebook"]
"""What a game is judged with besides its pictures."""


@record
class CommandCarriedOut:
    """A command was carried out."""

    command: str  # its name
    text: str  # what was done
    by: str  # the person or device it came from
    role: str = ""  # of the device


@record
class DeviceChanged:
    """A device was paired, revoked, was paired for too long, or its grant was refused."""

    change: Literal["paired", "revoked", "expired", "refused"]  # what happened to it
    device: str  # its id
    name: str  # as people call it
    role: str  # of the device
    by: str = ""  # who did it; empty where nobody did
    text: str = ""  # why its grant was refused; empty otherwise


@record
class MaterialUsed:
    """The game is judged with something from now on."""

    material: Material  # what it is
    name: str  # for people
    sha256: str  # of its content, hexadecimal


@record
class SegmentSealed:
    """A file of the recording was finished."""

    segment: str  # its folder and name
    files: dict[str, str]  # SHA-256 of the video and of what lies beside it, by name, hexadecimal


TableRecord = CommandCarriedOut | DeviceChanged | MaterialUsed | SegmentSealed
