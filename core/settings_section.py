"""What every section of the configuration has in common."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict

SECRET: Final[JsonDict] = {"secret": "value"}
"""Marks a setting that is never shown."""

SECRET_PATH: Final[JsonDict] = {"secret": "path"}
"""Marks an address of which only the host is shown: anyone who knows its path may post there."""


class SettingsSection(BaseModel):
    """A section of the file: frozen, unknown keys refused; camera 0 may be written without quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)
