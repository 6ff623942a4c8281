"""Makes replays and puts them on the overlay: by itself after a call, or as a person asks.

It works in threads of its own and only listens to what is published: whatever fails here ends no game.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from downfield.broadcast.replay.highlights import most_worth, worth_replaying
from downfield.broadcast.replay.replay_maker import BegunReplay, ReplayMaker
from downfield.core.errors import BusyError, DownfieldError, NotFoundError, NotRecordedError
from downfield.core.files.facts import by_date, date_last
from downfield.core.files.private_files import make_private_folder
from downfield.core.platform.processes import lower_priority
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.game_topics import CallView
from downfield.game.published.hub import Hub, NewCalls
from downfield.game.published.stream_topics import ReplayView
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService

_log = logging.getLogger(__name__)


STALLED_S: Final = 20.0  # A reader that waits longer for the next part gives up: the computer has no time for replays


class ReplayClip:
    """A clip that grows until it is complete; its name is empty until it has begun. Callable from any thread."""

    def __init__(self) -> None:
        self.name = ""
        self._parts: list[bytes] = []
        self._complete = False
        self._error: DownfieldError | None = None
        self._changed = threading.Condition()

    def add(self, part: bytes) -> None:
        """Add the next part."""
        with self._changed:
            self._parts.append(part)
            self._changed.notify_all()

    def end(self, error: DownfieldError | None = None) -> None:
        """Complete it; with an error, its readers learn why there is no more."""
        with self._changed:
            self._complete, self._error = True, error
            self._changed.notify_all()

    @property
    def failed(self) -> bool:
        """Whether it could not be made."""
        return self._error is not None

    @property
    def content(self) -> bytes:
        """What there is of it so far."""
        with self._changed:
            return b"".join(self._parts)

    def wait_until_begun(self) -> None:
        """Wait for the first part. Raises DownfieldError: it can't be made; BusyError: nothing came in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._parts or self._complete, STALLED_S)
            if self._error is not None:
                raise self._error
            if not self._parts:
                raise BusyError("The replay is still being made. Try again in a few seconds.")

    def parts(self) -> Iterator[bytes]:
        """Yield it from the beginning; ends early where the rest can't be made."""
        place = 0
        while new := self._after(place):
            yield from new
            place += len(new)

    def _after(self, place: int) -> list[bytes]:
        """Wait for parts after some; empty when there are no more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._parts) > place or self._complete, STALLED_S)
            return self._parts[place:]


@dataclass(frozen=True, slots=True)
class DirectorLimits:
    """Limits of the replays."""

    recorded_within_s: float = 3.0  # How long the pictures of a call may take to reach the disk
    recorded_step_s: float = 0.05  # Time between two looks for them
    held: int = 8  # Replays held in memory, some 3 MB each, to be sent without being made again
    waiting: int = 4  # Replays that may wait to be made
    close_timeout_s: float = 5.0  # Timeout for the picture that is being made to end
    ahead: int = 8  # Pictures made before a replay is shown: the others follow faster than they are seen


DIRECTOR_LIMITS: Final = DirectorLimits()


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How replays are made."""

    automatic: bool = False  # whether one is made by itself after a call that is worth it
    folder: Path | None = None  # where their clips are saved; None to save none
    keep: int = 200  # clips kept in that folder; the oldest are deleted


@dataclass(frozen=True, slots=True)
class _Job:
    """A clip to be made, and the request of the overlay it is for; None for none."""

    game: str
    call: str
    clip: ReplayClip
    view: ReplayView | None


class ReplayDirector:
    """Directs the replays of a service, on the hub's topic `replay`. Callable from any thread."""

    def __init__(
        self,
        hub: Hub,
        game_service: GameService,
        find_game: Callable[[str], GameRow | None],
        maker: ReplayMaker,
        options: ReplayOptions = ReplayOptions(),
    ) -> None:
        self._hub, self._game_service, self._find_game = hub, game_service, find_game
        self._maker, self._options = maker, options
        self._lock = threading.Lock()
        self._take = 0
        self._held: dict[tuple[str, str, str], ReplayClip] = {}
        self._waiting: queue.Queue[_Job | None] = queue.Queue()
        self._worker: threading.Thread | None = None
        self._closed = threading.Event()
        hub.publish("replay", ReplayView())
        if options.automatic:
            maker.renderer.prepare()
            supervised_thread(
                self._watch, "replay watch", only_logged, restarts=True, closed=lambda: hub.closed
            ).start()

    def show(self, call_id: str | None = None, *, automatic: bool = False) -> ReplayView:
        """Begin to make a replay of a call of the game in play, which the overlay then shows; return at once.

        Raises NotFoundError: the game has no such call.

        Args:
            call_id: the call; None for the latest that is worth one.
            automatic: whether nobody asked for it.
        """
        calls = self._game_service.calls()
        wanted = [call for call in calls if (worth_replaying(call) if call_id is None else call.id == call_id)]
        if not wanted:
            raise NotFoundError("There is no such call to replay in this game.")
        call = wanted[-1]
        game = self._game_service.game_id
        clip = f"api/games/{quote(game, safe='')}/calls/{quote(call.id, safe='')}/replay.mp4"
        with self._lock:
            self._take += 1
            view = ReplayView(
                take=self._take, state="making", game=game, call=call.id, text=call.text, clip=clip, automatic=automatic
            )
            self._hub.publish("replay", view)
        try:
            self._clip(game, call.id, view)
        except BusyError as error:
            self._publish(view, {"state": "failed", "text": str(error)})
        return view

    def pace(self, speed: float, *, frozen: bool) -> ReplayView:
        """Play the replay on the overlay at another speed, or hold its picture. Raises NotFoundError: none is on."""
        with self._lock:
            now = self._hub.value("replay")
            if not isinstance(now, ReplayView) or now.state not in {"making", "ready"}:
                raise NotFoundError("No replay is on. Put one on the overlay first.")
            view = now.model_copy(update={"speed": speed, "frozen": frozen})
            self._hub.publish("replay", view)
        return view

    def hide(self) -> ReplayView:
        """Take the replay off the overlay; one that is being made is not shown."""
        with self._lock:
            self._take += 1
            view = ReplayView(take=self._take)
            self._hub.publish("replay", view)
        return view

    def clip(self, row: GameRow, call: str) -> ReplayClip:
        """Return a replay's clip once it has begun: one made before, or one that is made from now on.

        Raises NotFoundError: the game has no such call; NotRecordedError: no picture of it is kept; BusyError: too many
        wait already.
        """
        clip = self._clip(row.id, call, None)
        clip.wait_until_begun()
        return clip

    def close(self) -> None:
        """Make no more replays, and wait for the thread: one that draws while the program ends would abort it."""
        self._closed.set()
        self._maker.renderer.close()
        self._waiting.put(None)
        if self._worker is not None:
            self._worker.join(DIRECTOR_LIMITS.close_timeout_s)

    def _clip(self, game: str, call: str, view: ReplayView | None) -> ReplayClip:
        """Return a clip that is held, or have it made."""
        standing = next((one for one in self._game_service.calls() if one.id == call), None)
        key = (game, call, "" if standing is None else _look(standing))
        with self._lock:
            clip = self._held.get(key)
            if clip is None or clip.failed:
                if self._waiting.qsize() >= DIRECTOR_LIMITS.waiting:
                    raise BusyError(
                        f"{DIRECTOR_LIMITS.waiting} replays are waiting already. Try again in a few seconds."
                    )
                clip = self._held[key] = ReplayClip()
                while len(self._held) > DIRECTOR_LIMITS.held:
                    del self._held[next(iter(self._held))]
            self._waiting.put(_Job(game, call, clip, view))
            if self._worker is None:
                self._worker = supervised_thread(self._work, "replays", only_logged, restarts=True)
                self._worker.start()
        return clip

    def _work(self) -> None:
        lower_priority("decode")
        while (job := self._waiting.get()) is not None and not self._closed.is_set():
            view, clip = job.view, job.clip
            try:
                begun = None if clip.name else self._begin(job)
                self._announce(view, clip, begun)
            except DownfieldError as error:
                clip.end(error)
                self._publish(view, {"state": "failed", "text": str(error)})
            except Exception as error:
                _log.exception("A replay could not be made")
                clip.end(NotRecordedError(f"The replay could not be made: {type(error).__name__}."))
                self._publish(view, {"state": "failed", "text": f"{type(error).__name__}: {error}"})

    def _begin(self, job: _Job) -> BegunReplay:
        row = self._find_game(job.game)
        if row is None:
            raise NotFoundError("The game is not in the store.")
        # Only calls of a game in play may be about pictures that are still to come.
        calls = self._game_service.calls() if self._game_service.game_id == job.game else ()
        live = next((one for one in calls if one.id == job.call), None)
        until = time.monotonic() + DIRECTOR_LIMITS.recorded_within_s
        while live is not None and not self._maker.is_recorded(row, live.t_ns) and time.monotonic() < until:
            if self._closed.wait(DIRECTOR_LIMITS.recorded_step_s):
                break
        begun = self._maker.begin(row, job.call)
        job.clip.name = begun.name
        return begun

    def _announce(self, view: ReplayView | None, clip: ReplayClip, begun: BegunReplay | None) -> None:
        """Make what is to be made of a clip, and tell the overlay once enough is there to play without a stop."""
        if begun is None:
            self._publish(view, {"state": "ready"})
            return
        ready = {"state": "ready", "text": begun.call.text, "seconds": round(begun.seconds, 2)}
        for number, part in enumerate(begun.parts):
            if self._closed.is_set():
                raise BusyError("Downfield is being closed.")
            clip.add(part)
            if number == DIRECTOR_LIMITS.ahead:
                self._publish(view, ready)
        clip.end()
        self._publish(view, ready)
        self._save(clip)

    def _publish(self, view: ReplayView | None, changes: dict[str, object]) -> None:
        """Publish how a replay stands, unless another was asked for meanwhile."""
        if view is None:
            return
        with self._lock:
            now = self._hub.value("replay")
            if view.take == self._take and isinstance(now, ReplayView):
                changed = now.model_copy(update=changes)  # its speed may have been changed meanwhile
                if now != changed:
                    self._hub.publish("replay", changed)

    def _save(self, clip: ReplayClip) -> None:
        """Keep a replay as a file; a full disk costs the file only."""
        folder = self._options.folder
        if folder is None:
            return
        try:
            make_private_folder(folder)
            part = folder / f".{clip.name}.part"
            part.write_bytes(clip.content)
            part.replace(folder / clip.name)
            clips = list(folder.glob("*_replay.mp4"))
            date_last(folder / clip.name, clips)
            for old in by_date(clips)[: max(0, len(clips) - self._options.keep)]:
                old.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The replay %s could not be saved: %s", clip.name, error)

    def _watch(self) -> None:
        while not self._hub.closed:
            asyncio.run(self._follow())

    async def _follow(self) -> None:
        new_calls = NewCalls()
        async with aclosing(self._hub.subscribe({"calls"})) as batches:
            async for messages in batches:
                made = [call for message in messages for call in new_calls.of(message)]
                call = most_worth(made, self._game_service.now_ns)
                if call is not None:
                    with suppress(NotFoundError):  # withdrawn since
                        self.show(call.id, automatic=True)


def _look(call: CallView) -> str:
    """Return what a call's replay depends on: it is made again once the call has changed."""
    return f"{call.standing} {call.verdict} {call.probability} {call.t_ns}"
