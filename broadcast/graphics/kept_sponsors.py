"""The sponsors' logos that the stream shows in turn: chosen once, kept in the data folder, and published."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from downfield.broadcast.graphics.logos import LogoFolder
from downfield.core.errors import InputError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import SponsorsView
from downfield.game.records.commands import Logo, RequestModel

MAX_SPONSORS: Final = 24

_FILE: Final = "sponsors.json"
_log = logging.getLogger(__name__)


class SponsorsRequest(RequestModel):
    """Which sponsors' logos are shown, and how."""

    shown: bool = Field(default=True, description="Whether they are on the stream.")
    logos: tuple[Logo, ...] = Field(
        default=(), max_length=MAX_SPONSORS, description="In the order shown, as `POST /api/logos` named them."
    )
    seconds: float = Field(default=10.0, ge=2, le=600, description="How long each stays.")


class KeptSponsors:
    """The sponsors of a rig; those kept before are published when this is made.

    Args:
        folder: the data folder, which need not exist; None to keep them for this run only.
        logos: the logos that may be named.
        hub: where changes are published.

    """

    def __init__(self, folder: Path | None, logos: LogoFolder, hub: Hub) -> None:
        self._path = folder and folder / _FILE
        self._logos, self._hub, self._lock = logos, hub, threading.Lock()
        self._now = SponsorsView(shown=False)
        kept = self._read()
        if kept is not None:
            self._publish(kept)

    @property
    def now(self) -> SponsorsView:
        """What is shown now."""
        return self._now

    def use(self, wanted: SponsorsRequest) -> SponsorsView:
        """Keep and publish other sponsors, and return them.

        Raises:
            InputError: a logo was never uploaded.
            OutputError: they can't be kept; those from before stay.

        """
        for logo in wanted.logos:
            if self._logos.read(logo) is None:
                raise InputError(f"There is no logo {logo}. Upload it first.")
        with self._lock:
            if self._path is not None:
                try:
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    replace_private_file(self._path, wanted.model_dump_json().encode())
                except OSError as error:
                    raise OutputError(f"The sponsors can't be kept: {error.strerror or error}.") from None
            return self._publish(wanted)

    def _read(self) -> SponsorsRequest | None:
        if self._path is None or not self._path.is_file():
            return None
        try:
            return SponsorsRequest.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            _log.warning("%s can't be read: no sponsors are shown. Choose them anew in the panel.", self._path.name)
            return None

    def _publish(self, wanted: SponsorsRequest) -> SponsorsView:
        self._now = SponsorsView(shown=wanted.shown, logos=wanted.logos, seconds=wanted.seconds)
        self._hub.publish("sponsors", self._now)
        return self._now
