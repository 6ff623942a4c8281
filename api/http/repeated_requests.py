"""Requests that are sent again, because no answer came in time, take effect once.

The pages send a request with the same ``Idempotency-Key`` until it is answered. Declarations, calls and commands have
receipts of their own in the game's journal (`game.receipts`); every other change gets the answer of the first
attempt, for which a second one waits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import Response

_KEY: Final = "Idempotency-Key"
_CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SENDER: Final = ("cookie", "authorization")

MAX_ANSWERS: Final = 1_000
"""Answers that are remembered: of the last minutes even where fifty phones are busy."""

MAX_BODY: Final = 64 << 10
"""Bytes of an answer that is remembered."""


@dataclass(slots=True)
class _Attempt:
    request: bytes
    done: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Response | None = None


class AnsweredRequests:
    """The answers to the latest changes, by key. For the tasks of one event loop."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[str, _Attempt] = OrderedDict()

    async def once(self, key: str, request: bytes, handle: Callable[[], Awaitable[Response]]) -> Response:
        """Return the answer of a request, which is handled unless the same one was, or is being, handled.

        An answer that is an error is not remembered: the next attempt is handled anew.

        Args:
            key: of all its attempts.
            request: what was requested, and by whom; a key with something else is handled by itself.
        """
        # Of those that waited for an attempt that failed, one goes on and the others wait for it.
        while (known := self._attempts.get(key)) is not None and known.request == request:
            await known.done.wait()
            if known.answer is not None:
                return known.answer
        attempt = self._attempts[key] = _Attempt(request)
        try:
            answer = await handle()
            body: bytes | None = getattr(answer, "body", None)  # None for one that is streamed
            if answer.status_code < 400 and body is not None and len(body) <= MAX_BODY:
                attempt.answer = answer
            return answer
        finally:
            attempt.done.set()
            if attempt.answer is None and self._attempts.get(key) is attempt:
                del self._attempts[key]
            while len(self._attempts) > MAX_ANSWERS:
                self._attempts.popitem(last=False)
