"""Receipts by idempotency key, so that a submission that is sent again takes effect once."""

from __future__ import annotations

from collections import OrderedDict

from downfield.game.receipts import KeyedReceipt
from downfield.game.session import LIMITS


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
            if len(self._receipts) > LIMITS.idempotency_keys:
                self._receipts.popitem(last=False)
        return fresh
