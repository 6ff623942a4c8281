"""Seals of what a game is judged from, in its journal: its recording, calibration, network, configuration, rulebook."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from downfield.calibration.calibration import Calibration
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.segment import SegmentSealer
from downfield.core.errors import DownfieldError
from downfield.core.files.facts import file_digest
from downfield.core.records import to_json
from downfield.game.published.board_topics import HealthStatus
from downfield.game.records.commands import Settings
from downfield.game.records.entries import MaterialUsed, RulebookRecord
from downfield.game.service import GameService
from downfield.models.card import BUNDLED, find_network, named_files, read_card


class TableSeals:
    """Journals what the game in play is judged with, and the recorded files as they are finished.

    Args:
        settings: the configuration, without secrets.
        network: its name or folder, empty for the bundled one; None where none is used.
    """

    def __init__(
        self, game: GameService, calibration: Callable[[], Calibration | None], settings: Settings, network: str | None
    ) -> None:
        self._game, self._calibration = game, calibration
        values = json.dumps(settings.values, sort_keys=True)
        self._fixed = [MaterialUsed("configuration", settings.version, _digest(values)), *_network(network)]
        self._noted: dict[str, MaterialUsed] = {}
        self._noted_game = ""
        self._calibrated: tuple[Calibration | None, MaterialUsed | None] = (None, None)
        self._sealer = SegmentSealer(game.note)
        self.seal = self._sealer.seal

    def finish(self, recorder: Recorder | None) -> None:
        """Finish the recording, and seal it while the journal is open."""
        if recorder is not None:
            recorder.close()
        self._sealer.close()

    def publish_health(self, health: HealthStatus) -> None:
        """Publish the health, once a second: what the game is judged with is compared as often."""
        self.check()
        self._game.publish_health(health)

    def check(self) -> None:
        """Journal what has changed since the last time: everything for another game."""
        if self._game.started is None:
            return
        game, rulebook = self._game.started
        if game != self._noted_game:
            self._noted_game = game
            self._noted.clear()
        used = [*self._fixed, MaterialUsed("rulebook", rulebook.name, _digest(to_json(RulebookRecord, rulebook)))]
        calibration = self._calibration()
        if calibration is not None:
            if self._calibrated[0] is not calibration:
                digest = _digest(to_json(Calibration, calibration))
                self._calibrated = (calibration, MaterialUsed("calibration", calibration.field.name, digest))
            if self._calibrated[1] is not None:
                used.append(self._calibrated[1])
        for material in used:
            if self._noted.get(material.material) != material:
                self._noted[material.material] = material
                self._game.note(material)


def _network(name: str | None) -> list[MaterialUsed]:
    """Return the digest of a network's files; nothing where none is used or it can't be read, which others report."""
    if name is None:
        return []
    try:
        folder = find_network(name or BUNDLED)
        files = {path.name: file_digest(path) for path in sorted(folder.iterdir()) if path.is_file()}
        files |= {name: file_digest(folder / name) for name in named_files(read_card(folder)) if name not in files}
    except (DownfieldError, OSError):
        return []
    return [MaterialUsed("network", Path(folder).name, _digest(json.dumps(files, sort_keys=True)))]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
