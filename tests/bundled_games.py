"""A played game in a store, and bundles of it, whole and altered."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from played_table import Table

from downfield.calibration.calibration import Calibration, Certificate
from downfield.calibration.camera import Camera, Lens
from downfield.core.field.model import preset
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.review.bundles.format import BundleFile, BundleSource, bundle_chunks
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

KEY, FOREIGN_KEY = RigKey.generate(), RigKey.generate()
CALIBRATION = Calibration(
    preset("ultimate"),
    Camera(Lens((320, 180), (250, 250), (159.5, 89.5)), (np.pi, 0.0, 0.0), (-495.0, 290.0, 1000.0)),
    "truth",
    certificate=Certificate("2027-01-05T18:00:00Z", "ruler", 9, 0.3, 0.8, 1.0, (0.05, 0.04)),
)


@dataclass(frozen=True)
class PlayedGame:
    """A game in a store.

    Attributes:
        store: the store's file.
        row: the game.
    """

    store: Path
    row: GameRow


def played_game(folder: Path) -> PlayedGame:
    """Play the tackle of `played_table` into a store, and end the game."""
    table = Table(folder / "games.db")
    game = table.begin()
    table.play()
    table.game_service.start_game(NewGame(title="the next one"))
    row = table.store.game(game)
    table.close()
    assert row is not None
    return PlayedGame(folder / "games.db", row)


def bundle_of(game: PlayedGame, key: RigKey = KEY, **more: object) -> bytes:
    """Return a bundle of a game, with a video of two files."""
    video = game.store.parent / "0001.mkv"
    video.write_bytes(bytes(range(256)) * 40)
    index = game.store.parent / "0001.frames.jsonl"
    index.write_text('{"frame":0}\n')
    files = tuple(BundleFile(f"recording/000001-20270105-180000/{path.name}", path) for path in (video, index))
    store = Store.at(game.store)
    source = BundleSource(store, game.row, key, CALIBRATION, {"game": {"rulebook": "tap"}}, files)
    try:
        return b"".join(bundle_chunks(replace(source, **more)))  # type: ignore[arg-type]
    finally:
        store.close()


def written_anew(bundle: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """Return a bundle whose parts were changed by somebody who writes a sound zip file, but has no key."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()
