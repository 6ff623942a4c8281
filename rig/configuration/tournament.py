"""The settings of a rig, or of the desk, that takes part in a tournament."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from downfield.core.settings_section import SettingsSection

Server = Annotated[str, Field(pattern=r"^(nats|tls)://[^\s@]+$", max_length=300)]
"""Address of a broker, without a password."""


class TournamentSettings(SettingsSection):
    """A tournament of many tables ([Run a tournament](run-a-tournament.md)). Needs the extra `tournament`."""

    servers: tuple[Server, ...] = Field(
        default=(),
        description="Addresses of the tournament's broker, such as `nats://192.168.1.10:4222`; `tls://` with TLS. The"
        " rig keeps its games itself and copies them there as soon as that works. Empty: no tournament.",
    )
    credentials: str = Field(
        default="",
        description="The file by which the broker lets a rig or the desk in, as `downfield desk broker` writes it.",
    )
    database: str = Field(
        default="",
        description="For the desk: the PostgreSQL database (15 or later) with the games of all tables, such as"
        " `postgresql://me@host/downfield`. Rigs need none.",
    )
