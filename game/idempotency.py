"""Receipts by idempotency key, so that a submission that is sent again takes effect once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from downfield.core.errors import DownfieldError
from downfield.game.receipts import Accepted, Receipt, Refused, refusal_of
from downfield.game.session import GAME_LIMITS
from downfield.officiating.events import Body, Ruling


@dataclass(slots=True)
class KeyedReceipt:
    """A submission with an idempotency key, and its receipt once there is one."""

    content: object
    receipt: Accepted | None = None

    def once(self, content: object, carry_out: Callable[[], str]) -> Receipt:
        """Return the receipt of a command, which is carried out unless it has been.

        Args:
            content: the command.
            carry_out: carries it out and returns what was done, as a sentence.

        """
        if self.receipt is not None:
            return self.repeat(content)
        try:
            self.receipt = Accepted(text=carry_out())
        except DownfieldError as error:
            return refusal_of(error)
        return self.receipt

    def repeat(self, content: object) -> Receipt:
        """Return the receipt of a repeated submission; there must be one already."""
        if self.receipt is None or self.content != content:
            return Refused("This Idempotency-Key was used for something else. Send a new one.", "key_reused")
        return replace(self.receipt, repeated=True)


class IdempotencyCache:
    """The receipts of submissions with an idempotency key. The caller locks it."""

    def __init__(self) -> None:
        self._receipts: OrderedDict[str, KeyedReceipt] = OrderedDict()

    def open(self, key: str | None, content: object) -> KeyedReceipt:
        """Return the record of a key, without a receipt if the key is new."""
        known = None if key is None else self._receipts.get(key)
        if known is not None and known.receipt is not None:
            return known
        fresh = KeyedReceipt(content)
        if key is not None:
            self._receipts[key] = fresh
            if len(self._receipts) > GAME_LIMITS.idempotency_keys:
                self._receipts.popitem(last=False)
        return fresh


def as_submitted(body: Body) -> Body:
    """Return a body without what the program fills in when it is judged, so that it can be compared with another.

    The replacement of a ruling is dated, and named for the rulebook in force, only then.
    """
    if isinstance(body, Ruling) and body.replacement is not None:
        return replace(body, replacement=replace(body.replacement, t_ns=0, rulebook=""))
    return body
