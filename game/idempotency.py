"""What was asked under which idempotency key, and how it was answered: a double tap is answered twice, taken once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.records import adapter
from downfield.game.commands import Command
from downfield.game.hash_chain import canonical
from downfield.game.receipts import Accepted, Receipt, Refused
from downfield.officiating.events import Body

KEYS: Final = 10_000
"""Keys remembered; the oldest are forgotten first."""


@dataclass(frozen=True, slots=True)
class _Answered:
    content: str
    receipt: Accepted


class Answers:
    """Keys and their receipts. The caller guards it."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Answered] = OrderedDict()

    def again(self, key: str | None, content: Body | Command) -> Receipt | None:
        """The answer a key got before; refused when it was for something else, None when it is new."""
        known = None if key is None else self._known.get(key)
        if known is None:
            return None
        if known.content != _plain(content):
            return Refused(f"the key {key!r} was used for something else", "key_reused")
        return replace(known.receipt, again=True)

    def remember(self, key: str | None, content: Body | Command, receipt: Accepted) -> None:
        """Remember, or amend, the answer to a key."""
        if key is None:
            return
        self._known[key] = _Answered(_plain(content), receipt)
        if len(self._known) > KEYS:
            self._known.popitem(last=False)


def _plain(content: Body | Command) -> str:
    kind = type(content)
    return f"{kind.__name__} {canonical(adapter(kind).dump_python(content, mode='json'))}"
