"""Drives OBS Studio over obs-websocket 5: saves its replay buffer after calls, shows a scene while a replay runs.

Source: https://github.com/obsproject/obs-websocket/blob/master/docs/generated/protocol.md

simpleobsws 1.4.3 waits out its timeout where OBS has closed the connection, so that a wrong password, another version
and a slow answer look alike, and it needs msgpack; obsws-python 1.8.0 is synchronous and needs a second WebSocket
library. What is sent here are five kinds of messages.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.frames import CloseCode

from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.broadcast.replay.highlights import worth_replaying
from downfield.game.published.stream_topics import ReplayView

_RPC_VERSION: Final = 1
_HELLO, _IDENTIFY, _IDENTIFIED, _REQUEST, _RESPONSE = 0, 1, 2, 6, 7
_WRONG_PASSWORD: Final = 4009
_NO_OBS: Final = "what answers there is no OBS with obs-websocket 5 (OBS 28 or newer)"
_SUCCESS, _NOT_RUNNING, _NOT_FOUND = 100, 501, 600
_PLAYING: Final = frozenset({"live", "in_air", "kick"})  # the overlay shows no replay then


@dataclass(frozen=True, slots=True)
class ObsLimits:
    """Times of the connection."""

    answer_s: float = 4.0  # Timeout for an answer of OBS
    settle_s: float = 2.0  # The replay buffer is saved so long after a call, so that what follows is in it
    longer_s: float = 0.6  # A scene stays so much longer than the replay it shows
    # What happened longer ago, while OBS was away, is not done any more: its buffer holds another play by then
    stale_s: float = 5.0
    message_bytes: int = 1_000_000  # Longest message from OBS


OBS_LIMITS: Final = ObsLimits()


@dataclass(frozen=True, slots=True)
class ObsOptions:
    """What OBS is asked for."""

    address: str  # such as ``ws://127.0.0.1:4455``
    password: str = ""  # as shown in its WebSocket server settings; empty for none
    scene: str = ""  # shown while a replay runs, then the one before again; empty for none
    replay_buffer: bool = False  # whether its replay buffer is saved after each call that shows something on the board


class ObsError(Exception):
    """OBS can't be driven; the text says why and what to do."""


class ObsRefusedError(ObsError):
    """OBS refuses a request, with a code of obs-websocket."""

    def __init__(self, text: str, code: object) -> None:
        super().__init__(text)
        self.code = code


class ObsOutlet:
    """Drives one OBS; `report` receives what it refuses, as a sentence, once in a connection."""

    name = "OBS"

    def __init__(self, options: ObsOptions, report: Callable[[str], None] = lambda _: None) -> None:
        self._options, self._report = options, report
        self._refused: set[str] = set()
        self._scene = ReplayScene(options.scene, self._note)

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Connect, and do what the updates ask for.

        Raises ObsError: it can't be reached, refuses the password, or the connection ends.
        """
        try:
            async with connect(
                self._options.address, max_size=OBS_LIMITS.message_bytes, open_timeout=OBS_LIMITS.answer_s
            ) as socket:
                session = ObsSession(socket)
                self._refused.clear()
                await session.identify(self._options.password)
                await self._drive(session, updates)
        except ConnectionClosed as closed:
            code = None if closed.rcvd is None else closed.rcvd.code
            if code == _WRONG_PASSWORD:
                raise ObsError("the password is wrong. Set obs.password to the one in its WebSocket settings") from None
            if code is None and closed.sent is not None and closed.sent.code == CloseCode.INTERNAL_ERROR:
                raise ObsError("it answers no more: its computer sleeps, is overloaded or left the network") from None
            raise ObsError("the connection ended") from None
        except (OSError, TimeoutError, InvalidHandshake):
            raise ObsError(
                f"no answer at {self._options.address}. Start it, and enable its WebSocket server (Tools menu)"
            ) from None

    async def _drive(self, session: ObsSession, updates: AsyncIterator[StreamUpdate]) -> None:
        reading = asyncio.create_task(session.read())
        following = asyncio.ensure_future(anext(updates))
        scene = self._scene
        scene.use(session)
        saving: set[asyncio.Task[None]] = set()
        try:
            while True:
                await asyncio.wait({reading, following}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
                    return
                update, following = following.result(), asyncio.ensure_future(anext(updates))
                if time.monotonic() - update.made_s > OBS_LIMITS.stale_s:
                    continue
                if self._options.replay_buffer and update.call is not None and worth_replaying(update.call):
                    task = asyncio.create_task(self._save(session))
                    saving.add(task)
                    task.add_done_callback(saving.discard)
                if self._options.scene and update.replay is not None:
                    scene.show(update.replay)
                elif update.paced is not None:
                    scene.pace(update.paced)
                elif update.replay_over or (update.game is not None and update.game.phase in _PLAYING):
                    scene.end()
        finally:
            reading.cancel()
            following.cancel()
            scene.close()
            for task in saving:
                task.cancel()

    async def _save(self, session: ObsSession) -> None:
        await asyncio.sleep(OBS_LIMITS.settle_s)
        with suppress(ConnectionClosed):
            try:
                await session.request("SaveReplayBuffer")
            except ObsError as error:
                self._note(error)

    def _note(self, error: ObsError) -> None:
        """Report what OBS refuses; the connection goes on, since the streamer can put it right there."""
        text = str(error)
        if isinstance(error, ObsRefusedError) and error.code == _NOT_RUNNING:
            text = "its replay buffer is not running, so nothing is saved. Press Start Replay Buffer in OBS"
        elif isinstance(error, ObsRefusedError) and error.code == _NOT_FOUND:
            text = f"it has no scene '{self._options.scene}'. Set obs.scene to the name of one that it has"
        if text not in self._refused:
            self._refused.add(text)
            self._report(f"OBS: {text}.")


class ReplayScene:
    """Shows a scene of OBS while a replay runs, and then the one before, unless somebody changed it meanwhile."""

    def __init__(self, name: str, failed: Callable[[ObsError], None]) -> None:
        self._name, self._failed = name, failed
        self._session: ObsSession | None = None
        self._before = ""
        self._over, self._runs, self._left_s, self._replay = asyncio.Event(), asyncio.Timeout(None), 0.0, ReplayView()
        self._showing: asyncio.Task[None] | None = None

    def use(self, session: ObsSession) -> None:
        """Go on with a connection, signed in: where the last one broke while a replay was shown, that is taken off."""
        self.close()
        self._session = session
        if self._before:
            self._showing = asyncio.create_task(self._go_back())

    def show(self, replay: ReplayView) -> None:
        """Show it for a replay; one that still runs gives way, and the scene before it stays the one to go back to."""
        self.close()
        self._over, self._left_s, self._replay = asyncio.Event(), replay.seconds, replay
        self._showing = asyncio.create_task(self._show(self._over))

    def pace(self, replay: ReplayView) -> None:
        """Stay for longer where the replay goes on more slowly, and for as long as it is frozen."""
        ends, now = self._runs.when(), asyncio.get_running_loop().time()
        if ends is not None:
            self._left_s = max(0.0, ends - OBS_LIMITS.longer_s - now) * self._replay.speed
        self._replay = replay
        with suppress(RuntimeError):  # it is not shown yet, or no more
            self._runs.reschedule(None if replay.frozen else now + self._left_s / replay.speed + OBS_LIMITS.longer_s)

    def end(self) -> None:
        """Go back now: the overlay shows no replay any more."""
        self._over.set()

    def close(self) -> None:
        """Do nothing more."""
        if self._showing is not None:
            self._showing.cancel()

    async def _show(self, over: asyncio.Event) -> None:
        with suppress(ObsError, ConnectionClosed):
            now = await self._now()
            if now != self._name:
                try:
                    await self._switch(self._name)
                except ObsRefusedError as error:
                    self._failed(error)
                    return
                self._before = now
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as self._runs:
                    self.pace(self._replay)
                    await over.wait()
            if over is self._over:  # else the next replay has begun
                await self._go_back()

    async def _go_back(self) -> None:
        with suppress(ObsError, ConnectionClosed):
            unchanged = await self._now() == self._name
            if unchanged and self._before:
                await self._switch(self._before)
            self._before = ""

    async def _now(self) -> str:
        return str((await self._request("GetCurrentProgramScene")).get("currentProgramSceneName", ""))

    async def _switch(self, name: str) -> None:
        await self._request("SetCurrentProgramScene", {"sceneName": name})

    async def _request(self, kind: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._session is None:
            raise ObsError("it is not connected")
        return await self._session.request(kind, data)


class ObsSession:
    """A connection to OBS."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = count(1)
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def identify(self, password: str) -> None:
        """Sign in. Raises ObsError: it wants a password and has none, or is no OBS."""
        hello = await self._message(_HELLO)
        answer: dict[str, Any] = {"rpcVersion": _RPC_VERSION, "eventSubscriptions": 0}
        challenge = hello.get("authentication")
        if challenge is not None:
            if not password:
                raise ObsError("it asks for a password. Set obs.password to the one in its WebSocket settings")
            answer["authentication"] = authentication(password, str(challenge["salt"]), str(challenge["challenge"]))
        await self._send(_IDENTIFY, answer)
        await self._message(_IDENTIFIED)

    async def read(self) -> None:
        """Take the answers of OBS until the connection ends.

        Raises ConnectionClosed: it has ended; ObsError: what comes is none of its messages.
        """
        while True:
            op, data = _read(await self._socket.recv())
            if op == _RESPONSE:
                waiting = self._waiting.pop(str(data.get("requestId")), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(data)

    async def request(self, kind: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a request; `read` must be running. Raises ObsError: it is refused, or not answered."""
        name = str(next(self._ids))
        self._waiting[name] = answered = asyncio.get_running_loop().create_future()
        await self._send(_REQUEST, {"requestType": kind, "requestId": name, "requestData": data or {}})
        try:
            async with asyncio.timeout(OBS_LIMITS.answer_s):
                response = await answered
        except TimeoutError:
            raise ObsError(f"{kind} was not answered") from None
        finally:
            self._waiting.pop(name, None)
        status = response.get("requestStatus", {})
        if status.get("code") != _SUCCESS:
            reason = status.get("comment", "no reason given")
            raise ObsRefusedError(f"{kind} was refused: {reason}", status.get("code"))
        found: dict[str, Any] = response.get("responseData") or {}
        return found

    async def _send(self, op: int, data: dict[str, Any]) -> None:
        await self._socket.send(json.dumps({"op": op, "d": data}))

    async def _message(self, op: int) -> dict[str, Any]:
        async with asyncio.timeout(OBS_LIMITS.answer_s):
            found, data = _read(await self._socket.recv())
        if found != op:
            raise ObsError(_NO_OBS)
        return data


def _read(text: str | bytes) -> tuple[int, dict[str, Any]]:
    """Return kind and content of a message. Raises ObsError: it is none of obs-websocket."""
    with suppress(ValueError, KeyError, TypeError):
        message = json.loads(text)
        if isinstance(message["d"], dict):
            return int(message["op"]), message["d"]
    raise ObsError(_NO_OBS)


def authentication(password: str, salt: str, challenge: str) -> str:
    """Return the answer to a challenge: base64(SHA-256(base64(SHA-256(password + salt)) + challenge))."""
    secret = base64.b64encode(hashlib.sha256((password + salt).encode()).digest()).decode()
    return base64.b64encode(hashlib.sha256((secret + challenge).encode()).digest()).decode()
