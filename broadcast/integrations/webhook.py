"""Posts updates to a webhook: signed, in order, tried again for a minute, never more than a few hundred waiting."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final

from downfield.broadcast.integrations.documents import chat_text, update_document
from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.core.addresses import host_only


@dataclass(frozen=True, slots=True)
class WebhookLimits:
    """Times of the deliveries."""

    timeout_s: float = 5.0  # Timeout of one attempt
    # Pauses between attempts; after the last the update is given up
    pauses_s: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0)
    # Statuses below 500 that another attempt can change; any other says that the delivery itself is refused
    later: tuple[int, ...] = (408, 425, 429)
    longest_wait_s: float = 60.0  # Longest pause that a receiver can ask for with Retry-After


WEBHOOK_LIMITS: Final = WebhookLimits()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered."""

    status: int
    retry_after_s: float | None = None  # the pause that it asked for; None for none


_CHATS: Final = {"://discord.com/api/webhooks/": "content", "://hooks.slack.com/": "text"}
"""Where chats take sentences, and as what."""

Post = Callable[[str, bytes, Mapping[str, str]], Answer]
"""Posts bytes to an address with headers, and returns the answer; OSError or HTTPException where there is none."""


class WebhookError(Exception):
    """An update could not be delivered."""


class WebhookOutlet:
    """Posts updates to one address.

    Args:
        url: the address; behind a ``#`` may be the events that are sent, such as ``#call,game_ended``.
        secret: signs every delivery; empty for none.
        states: whether every change of the game is sent, or calls and replays only.
        pauses_s: between attempts.
    """

    name = "Webhook"

    def __init__(
        self,
        url: str,
        secret: str = "",
        *,
        states: bool = True,
        post: Post | None = None,
        pauses_s: tuple[float, ...] = WEBHOOK_LIMITS.pauses_s,
    ) -> None:
        self._url, _, named = url.partition("#")
        self._secret, self._states, self._named = secret, states, frozenset(filter(None, named.split(",")))
        self._chat = next((key for place, key in _CHATS.items() if place in self._url), "")
        self._post, self._pauses_s = post or _post, pauses_s
        self._state: Mapping[str, object] | None = None  # as sent last

    async def run(self, updates: AsyncIterator[StreamUpdate]) -> None:
        """Deliver updates one after another.

        Raises:
            WebhookError: one was given up; the next are delivered when it is run again.
        """
        async for update in updates:
            if update.replay_over or (update.is_state and not self._states):
                continue
            document = update_document(update)
            if self._named and document["event"] not in self._named:
                continue
            if self._chat:
                if text := chat_text(update):
                    await self._deliver(json.dumps({self._chat: text}).encode())
                continue
            state = {key: document[key] for key in ("v", "game")}
            if update.is_state and state == self._state:
                continue  # what has changed is not sent to other programs
            self._state = state
            await self._deliver(json.dumps(document, separators=(",", ":")).encode())

    async def _deliver(self, body: bytes) -> None:
        delivery, cause = secrets.token_hex(8), ""
        for pause_s in (*self._pauses_s, None):
            headers = {"Content-Type": "application/json", "X-Downfield-Delivery": delivery}
            headers |= signed(self._secret, body, int(time.time()))
            wanted_s = 0.0
            try:
                answer = await asyncio.to_thread(self._post, self._url, body, headers)
            except (OSError, HTTPException) as error:
                cause = _cause(error)
            else:
                if answer.status < 300:
                    return
                cause = f"status {answer.status}"
                if answer.status < 400:
                    cause += ": it redirects; set webhook.url to where"
                if answer.status < 500 and answer.status not in WEBHOOK_LIMITS.later:
                    break
                wanted_s = min(answer.retry_after_s or 0.0, WEBHOOK_LIMITS.longest_wait_s)
            if pause_s is not None:
                await asyncio.sleep(max(pause_s, wanted_s))
        raise WebhookError(f"{host_only(self._url)} took no delivery ({cause})")


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
