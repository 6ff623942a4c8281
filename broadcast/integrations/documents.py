"""What other programs are sent: the state as JSON, as files for mixers such as vMix, and calls as WebVTT captions.

The JSON is versioned, and flat where a mixer reads it; a mixer also finds each part of it as a text file.
"""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.core.platform.clock import RUN_CLOCK
from downfield.game.published.game_topics import CallView, GameView
from downfield.game.published.views import clock_text
from downfield.review.pictures.painting import spoken_name

VERSION: Final = 1  # Version of the documents; a new field is no new version

_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def game_document(game: GameView) -> dict[str, Any]:
    """Return the state of a game for a mixer: one level deep, all of it text or numbers."""
    teams: dict[str, Any] = {}
    for side, team in (("home", game.home), ("away", game.away)):
        teams |= {f"{side}_{name}": getattr(team, name) for name in ("name", "short", "color")}
        teams |= {f"{side}_score": team.points, f"{side}_time_outs": team.time_outs}
    return {
        "v": VERSION,
        "game": game.game,
        **teams,
        "possession": game.possession,
        "period": game.period,
        "clock": game.clock.text,
        "clock_running": game.clock.running,
        "down": game.down,
        "distance": _distance(game),
        "down_and_distance": _down(game),
        "spot": game.spot_text,
        "phase": game.phase_text,
        "under_review": game.under_review,
    }


def update_document(update: StreamUpdate) -> dict[str, Any]:
    """Return what a webhook is sent.

    ``event`` is ``state``, ``call``, ``call_changed``, ``call_withdrawn``, ``replay``, ``game_started`` or
    ``game_ended``.
    """
    call = update.call or update.changed or update.withdrawn
    document: dict[str, Any] = {"v": VERSION, "event": _event(update), "at_ms": update.at_ms}
    document["game"] = None if update.game is None else game_document(update.game)
    if call is not None:
        document["call"] = call.model_dump(mode="json")
        document["cause"] = None if update.cause is None else update.cause.model_dump(mode="json")
    if update.replay is not None:
        document["replay"] = update.replay.model_dump(mode="json")
    return document


def chat_text(update: StreamUpdate) -> str:
    """Return what a chat is told, a sentence or two; empty for what is no news to people."""
    call, game = update.call or update.changed or update.withdrawn, update.game
    score = "" if game is None else f" {game.away.short} {game.away.points}, {game.home.short} {game.home.points}."
    if call is None:
        return f"The game has {update.turn}.{score}" if update.turn else ""
    if call.verdict == "reported":
        return ""
    what = "Withdrawn: " if update.withdrawn else f"{call.standing.capitalize()}: " if update.changed else ""
    note = call.ruling.note if call.ruling and not update.withdrawn else update.cause.note if update.cause else ""
    note = f" ({note})" if note else ""
    return f"{what}{spoken_name(call.text)}{note}.{score}"


def _event(update: StreamUpdate) -> str:
    if update.call is not None:
        return "call"
    if update.changed is not None:
        return "call_changed"
    if update.withdrawn is not None:
        return "call_withdrawn"
    if update.replay is not None:
        return "replay"
    return f"game_{update.turn}" if update.turn else "state"


def _distance(game: GameView) -> str:
    return "goal" if game.goal_to_go else str(max(1, round(game.distance_yd)))


def _down(game: GameView) -> str:
    if game.phase == "over":
        return "Final"
    if game.due != "scrimmage":
        return game.due.replace("_", " ").capitalize()
    return f"{_ORDINALS.get(game.down, f'{game.down}th')} & {_distance(game)}"


WALL_CLOCK_NS = 10**17
"""Capture times above this are ns since 1970, those of live sources; others count from the start of a recording."""

SHOWN_S = 5.0  # How long a caption stays, if no other follows


def web_vtt(calls: Sequence[CallView], from_ns: int, offset_s: float = 0.0) -> str:
    """Return captions (https://www.w3.org/TR/webvtt1/); calls before the start of the video are left out.

    Args:
        calls: in any order.
        from_ns: the instant at which the video begins, on the calls' clock.
        offset_s: added to all times.
    """
    shown = sorted((call for call in calls if call.verdict != "reported"), key=lambda call: call.t_ns)
    times = [
        round((call.t_ns - from_ns) / 1e9 + offset_s, 3) for call in shown
    ]  # as written: a cue must end after it begins
    lines = ["WEBVTT", ""]
    for place, (call, at_s) in enumerate(zip(shown, times, strict=True)):
        if at_s < 0:
            continue
        later = [time for time in times[place + 1 :] if time > at_s]
        until_s = min([at_s + SHOWN_S, *later[:1]])
        text = spoken_name(call.text)
        words = text[:1].upper() + text[1:]
        lines += [
            call.id.replace("-->", "").replace("\n", " "),
            f"{_time(at_s)} --> {_time(until_s)}",
            html.escape(words, quote=False),
            "",
        ]
    return "\n".join(lines)


def _time(seconds: float) -> str:
    whole_ms = round(seconds * 1000)
    minutes, ms = divmod(whole_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{ms // 1000:02d}.{ms % 1000:03d}"


class ShownGame:
    """The game as other programs show it: its state, its clock now, and its last call in words.

    Attributes:
        call: the last one made, with what became of it; None before there is one, and once it is withdrawn.
    """

    def __init__(self) -> None:
        self._game: GameView | None = None
        self.call: CallView | None = None

    def note(self, update: StreamUpdate) -> None:
        """Keep what an update tells: a call as it was ruled on, and none once it is withdrawn or another game began."""
        self._game = update.game or self._game
        shown_id = "" if self.call is None else self.call.id
        made = update.call if update.call is not None and update.call.verdict != "reported" else None
        if made is not None or (update.changed is not None and update.changed.id == shown_id):
            self.call = made or update.changed
        elif update.turn == "started" or (update.withdrawn is not None and update.withdrawn.id == shown_id):
            self.call = None

    def document(self) -> dict[str, Any]:
        """Return the state as of now; empty before there is a game."""
        if self._game is None:
            return {}
        words = "" if self.call is None or self.call.standing == "struck" else spoken_name(self.call.text)
        return game_document(self._game) | {"clock": clock_now(self._game), "call": words}


async def with_ticks(updates: AsyncIterator[StreamUpdate], every_s: float) -> AsyncGenerator[StreamUpdate | None]:
    """Yield updates as they come, and None where none came for a while."""
    following = asyncio.ensure_future(anext(updates))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=every_s)
            if not done:
                yield None
                continue
            update, following = following.result(), asyncio.ensure_future(anext(updates))
            yield update
    except StopAsyncIteration:
        return
    finally:
        following.cancel()


_TICK_S: Final = 0.5  # a running clock is written this often


class FilesError(Exception):
    """The files can't be written; the text says why."""


class FilesOutlet:
    """Writes files into a folder, which is made if it does not exist."""

    name = "Files for mixers"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, str] = {}
        self._shown = ShownGame()

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Write what changes. Raises FilesError: the folder can't be written to."""
        try:
            await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
            self._written.clear()
            async with aclosing(with_ticks(updates, _TICK_S)) as ticking:
                async for update in ticking:
                    if update is not None:
                        self._shown.note(update)
                    if document := self._shown.document():
                        await asyncio.to_thread(self._write_all, document)
        except OSError as error:
            raise FilesError(f"{self._folder} can't be written ({error.strerror or error})") from None

    def _write_all(self, document: dict[str, Any]) -> None:
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
