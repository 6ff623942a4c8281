"""Posts updates to a webhook: signed, in order, kept until they are taken, for a day and over a restart.

Of states the newest alone waits, and calls always: whoever was away for five minutes misses no call and is not shown
what is long past. What became of each delivery is in a log, from which it can be sent again.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Final, Literal

from downfield.broadcast.integrations.documents import chat_text, update_document
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.core.addresses import host_only
from downfield.core.errors import FormatError, OutputError
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import from_json, record, to_json, write_text


@dataclass(frozen=True, slots=True)
class WebhookLimits:
    """Times and numbers of the deliveries."""

    timeout_s: float = 5.0  # Timeout of one attempt
    # Pauses between attempts; the last is repeated: a receiver that is back hears all within that time
    pauses_s: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0)
    give_up_s: float = 86_400.0  # A delivery that nobody took for so long after it happened is given up
    # Statuses below 500 that another attempt can change; any other says that the delivery itself is refused
    later: tuple[int, ...] = (408, 425, 429)
    longest_wait_s: float = 60.0  # Longest pause that a receiver can ask for with Retry-After
    waiting: int = 1000  # Deliveries that wait; beyond that the oldest are dropped. A game has some 300 calls
    logged: int = 200  # Deliveries in the log


WEBHOOK_LIMITS: Final = WebhookLimits()

Status = Literal["waiting", "delivered", "refused", "given_up", "dropped"]
STATUSES: Final[tuple[Status, ...]] = ("delivered", "refused", "given_up", "dropped")  # of those that no longer wait


@record
class WebhookDelivery:
    """One update on its way to an address, or what became of it."""

    id: str  # the same for every attempt, as in X-Downfield-Delivery
    event: str  # such as "call"
    at_ms: int  # when it happened, ms since 1970
    body: str  # what is posted
    status: Status = "waiting"
    attempts: int = 0
    tried_ms: int = 0  # when it was tried last, ms since 1970; 0 before
    took_ms: int = 0  # how long that attempt took
    answer: str = ""  # what it came to, such as "status 503"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered."""

    status: int
    retry_after_s: float | None = None  # the pause that it asked for; None for none


_CHATS: Final = {"://discord.com/api/webhooks/": "content", "://hooks.slack.com/": "text"}
"""Where chats take sentences, and as what."""

Post = Callable[[str, bytes, Mapping[str, str]], Answer]
"""Posts bytes to an address with headers, and returns the answer; OSError or HTTPException where there is none."""


class WebhookOutlet:
    """Posts updates to one address. What is asked of it besides `run` may be asked from any thread.

    Attributes:
        to: the address without what may be secret in it.
        counts: how many deliveries came to each status in this run.

    Args:
        url: the address; behind a ``#`` may be the events that are sent, such as ``#call,game_ended``.
        secret: signs every delivery; empty for none.
        states: whether every change of the game is sent, or calls and replays only.
        report: receives what goes wrong, as a sentence; once until it works again.
        folder: where deliveries that wait are kept over a restart; None to keep none.
        pause: waits some seconds between two attempts; None for `asyncio`'s.
        now_ms: wall clock, ms since 1970.
    """

    name = "Webhook"

    def __init__(
        self,
        url: str,
        secret: str = "",
        *,
        states: bool = True,
        report: Callable[[str], None] = lambda _: None,
        folder: Path | None = None,
        post: Post | None = None,
        pause: Callable[[float], Awaitable[None]] | None = None,
        now_ms: Callable[[], int] = RUN_CLOCK.now_ms,
    ) -> None:
        self._url, _, named = url.partition("#")
        self._secret, self._states, self._named = secret, states, frozenset(filter(None, named.split(",")))
        self._chat = next((key for place, key in _CHATS.items() if place in self._url), "")
        self._report, self._post, self._pause, self._now_ms = report, post or _post, pause or self._wait, now_ms
        self._file = folder and folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.jsonl"
        self._state: Mapping[str, object] | None = None  # as queued last
        self._lock = threading.Lock()
        self._waiting = self._kept()
        self._log: deque[WebhookDelivery] = deque(maxlen=WEBHOOK_LIMITS.logged)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._filled, self._hurry = asyncio.Event(), asyncio.Event()
        self._failures, self._told = 0, ""
        self.to, self.counts = host_only(self._url), Counter[Status]()

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Deliver updates one after another, each once the one before it was taken, refused or given up."""
        self._loop = asyncio.get_running_loop()
        taking = asyncio.create_task(self._take(updates))
        try:
            while self._waiting or not taking.done():
                if self._waiting:
                    await self._send(self._waiting[0])
                else:
                    self._filled.clear()
                    await self._filled.wait()
            taking.result()
        finally:
            taking.cancel()
            self._keep()

    @property
    def is_failing(self) -> bool:
        """Whether deliveries wait because the last attempts failed."""
        return self._failures > 1

    def deliveries(self) -> tuple[list[WebhookDelivery], list[WebhookDelivery]]:
        """Return those that wait, in order, and those of the log, the latest first."""
        with self._lock:
            return list(self._waiting), list(reversed(self._log))

    def send_again(self, delivery_id: str) -> bool:
        """Send a delivery again, or at once if it waits; return whether there is such a one."""
        with self._lock:
            known = next((one for one in (*self._waiting, *reversed(self._log)) if one.id == delivery_id), None)
            if known is not None and known not in self._waiting:
                self._waiting.append(replace(known, status="waiting", attempts=0, at_ms=self._now_ms()))
        if known is not None and self._loop is not None:
            with suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._wake)
        return known is not None

    def _wake(self) -> None:
        self._filled.set()
        self._hurry.set()

    async def _wait(self, seconds: float) -> None:
        self._hurry.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()

    async def _take(self, updates: AsyncIterator[StreamUpdate]) -> None:
        try:
            async for update in updates:
                document = update_document(update)
                if (body := self._body(update, document)) is not None:
                    text = json.dumps(body, separators=(",", ":"))
                    self._put(
                        WebhookDelivery(secrets.token_hex(8), document["event"], update.at_ms or self._now_ms(), text)
                    )
        finally:
            self._filled.set()

    def _body(self, update: StreamUpdate, document: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return what is sent of an update; None for nothing."""
        if update.replay_over or update.paced or (update.is_state and not self._states):
            return None
        if self._named and document["event"] not in self._named:
            return None
        if self._chat:
            return {self._chat: text} if (text := chat_text(update)) else None
        state = {key: document[key] for key in ("v", "game")}
        if update.is_state and state == self._state:
            return None  # what has changed is not sent to other programs
        self._state = state
        return document

    def _put(self, delivery: WebhookDelivery) -> None:
        with self._lock:
            if delivery.event == "state":  # the newest says all that older ones say
                self._waiting = [one for one in self._waiting if one.event != "state"]
            elif len(self._waiting) >= WEBHOOK_LIMITS.waiting:
                self._settle(self._waiting.pop(0), "dropped")
            self._waiting.append(delivery)
        if self._failures:
            self._keep()
        self._filled.set()

    def _settle(self, delivery: WebhookDelivery, status: Status) -> None:
        self._log.append(replace(delivery, status=status))
        self.counts[status] += 1

    async def _send(self, delivery: WebhookDelivery) -> None:
        """Try to deliver once, and pause after a failure."""
        began_ms = self._now_ms()
        status, answer, wanted_s = await self._attempt(delivery)
        now_ms = self._now_ms()
        if status == "waiting" and now_ms - delivery.at_ms > WEBHOOK_LIMITS.give_up_s * 1000:
            status = "given_up"
        attempts = delivery.attempts + 1
        tried = replace(delivery, attempts=attempts, tried_ms=began_ms, took_ms=now_ms - began_ms, answer=answer)
        with self._lock:
            place = next((place for place, one in enumerate(self._waiting) if one.id == delivery.id), None)
            if place is not None:  # a newer state has not taken its place
                self._waiting[place : place + 1] = [tried] if status == "waiting" else []
            if status != "waiting":
                self._settle(tried, status)
        was_failing, self._failures = self._failures, self._failures + 1 if status in {"waiting", "given_up"} else 0
        self._tell(status, answer)
        if was_failing or self._failures:
            self._keep()
        if self._failures and self._waiting:
            pauses_s = WEBHOOK_LIMITS.pauses_s
            await self._pause(max(pauses_s[min(self._failures, len(pauses_s)) - 1], wanted_s))

    async def _attempt(self, delivery: WebhookDelivery) -> tuple[Status, str, float]:
        """Return what an attempt came to, in words too, and the seconds that the receiver wants to be left alone."""
        body = delivery.body.encode()
        headers = {"Content-Type": "application/json", "X-Downfield-Delivery": delivery.id}
        headers |= signed(self._secret, body, int(time.time()))
        try:
            answer = await asyncio.to_thread(self._post, self._url, body, headers)
        except (OSError, HTTPException) as error:
            return "waiting", _cause(error), 0.0
        said = f"status {answer.status}"
        if answer.status < 300:
            return "delivered", said, 0.0
        if answer.status < 400:
            said += ": it redirects; set webhook.url to where"
        if answer.status < 500 and answer.status not in WEBHOOK_LIMITS.later:
            return "refused", said, 0.0
        return "waiting", said, min(answer.retry_after_s or 0.0, WEBHOOK_LIMITS.longest_wait_s)

    def _tell(self, status: Status, answer: str) -> None:
        text = ""
        if status == "refused":
            text = f"Webhook: {self.to} refused a delivery ({answer}). See the page of the webhooks."
        elif status != "delivered":
            text = f"Webhook: {self.to} took no delivery ({answer}). It is tried again; the game goes on."
        if text and text != self._told:
            self._report(text)
        self._told = text

    def _kept(self) -> list[WebhookDelivery]:
        """Return what waited when the program ended; what can't be read is left."""
        with suppress(OSError, FormatError):
            if self._file is not None and self._file.exists():
                lines = self._file.read_text(encoding="utf-8").splitlines()
                return [from_json(WebhookDelivery, line, path=str(self._file)) for line in lines]
        return []

    def _keep(self) -> None:
        if self._file is None:
            return
        with suppress(OSError, OutputError):  # a full disk; health says so elsewhere
            if self._waiting:
                write_text(self._file, (to_json(WebhookDelivery, one) + "\n" for one in self._waiting))
            else:
                self._file.unlink(missing_ok=True)


def signed(secret: str, body: bytes, at_s: int) -> dict[str, str]:
    """Return the headers that sign a delivery: HMAC-SHA256 of the time, a dot and the body; empty without a secret."""
    if not secret:
        return {}
    mac = hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Downfield-Timestamp": str(at_s), "X-Downfield-Signature": f"sha256={mac}"}


def _cause(error: Exception) -> str:
    """Return why there was no answer, as a phrase."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {reason.verify_message}"
    if isinstance(reason, TimeoutError):
        return f"no answer within {WEBHOOK_LIMITS.timeout_s:g} s"
    if isinstance(reason, HTTPException) and not isinstance(reason, OSError):
        return "what it answers is no HTTP"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: a POST would arrive as a GET without its body, and its signature at another host."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirects)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310 - checked
    try:
        with _OPENER.open(request, timeout=WEBHOOK_LIMITS.timeout_s) as answer:
            return Answer(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        asked = error.headers.get("Retry-After", "").strip()
        return Answer(error.code, float(asked) if asked.isascii() and asked.isdigit() else None)
