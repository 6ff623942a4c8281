"""Files for mixers such as vMix: the state as one JSON file, and each part of it as a text file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from downfield.broadcast.integrations.documents import game_document
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.core.platform.clock import RUN_CLOCK
from downfield.game.published.game_topics import GameView
from downfield.game.published.views import clock_text
from downfield.review.pictures.painting import spoken_name

_TICK_S: Final = 0.5  # a running clock is written this often


class FilesError(Exception):
    """The files can't be written; the text says why."""


class FilesOutlet:
    """Writes files into a folder.

    Args:
        folder: made if it does not exist.
    """

    name = "Files for mixers"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, str] = {}
        self._call = ""

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Write what changes.

        Raises:
            FilesError: the folder can't be written to.
        """
        try:
            await self._run(updates)
        except OSError as error:
            raise FilesError(f"{self._folder} can't be written ({error.strerror or error})") from None

    async def _run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        self._written.clear()
        game: GameView | None = None
        following = asyncio.ensure_future(anext(updates))
        try:
            while True:
                done, _ = await asyncio.wait({following}, timeout=_TICK_S)
                if done:
                    update = following.result()
                    game = update.game or game
                    self._call = self._call if update.call is None else spoken_name(update.call.text)
                    following = asyncio.ensure_future(anext(updates))
                if game is not None:
                    await asyncio.to_thread(self._write_all, game)
        except StopAsyncIteration:
            return
        finally:
            following.cancel()

    def _write_all(self, game: GameView) -> None:
        document = game_document(game) | {"clock": clock_now(game), "call": self._call}
        self._write("state.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n")
        for name, value in document.items():
            self._write(f"{name}.txt", _text(value))

    def _write(self, name: str, text: str) -> None:
        """Write a file whole: a mixer never reads half of one."""
        if self._written.get(name) == text:
            return
        part = self._folder / f".{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self._folder / name)
        self._written[name] = text


def clock_now(game: GameView) -> str:
    """Return the game clock as it stands now; empty without one."""
    left_s = game.clock.left_s
    if left_s is None:
        return game.clock.text
    gone_s = max(0, RUN_CLOCK.now_ms() - game.clock.at_ms) / 1000 if game.clock.running else 0.0
    return clock_text(max(0.0, left_s - gone_s))


def _text(value: Any) -> str:
    return "" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
