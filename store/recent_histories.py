"""Games read back from their journals, kept until their journals grow: a page of a game makes many requests for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from downfield.game.records.keeping import GameRow
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

REMEMBERED: Final = 3
"""Games that stay read, some 10 MB each for one of an hour."""


class RecentHistories:
    """The games that were read last. Callable from any thread; what it returns is shared and only to be read.

    Args:
        store: where the games are.

    """

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: OrderedDict[str, History] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, row: GameRow) -> History:
        """Return a game as its journal has it now; it is read only where that has changed.

        Raises:
            FormatError: its journal can't be read.

        """
        last = next(iter(self._store.latest(row.id)), None)
        head = "" if last is None else last.digest
        with self._lock:
            known = self._known.get(row.id)
            if known is not None and (known.head, known.row) == (head, row):
                self._known.move_to_end(row.id)
                return known
        history = History(self._store, row)
        with self._lock:
            self._known[row.id] = history
            self._known.move_to_end(row.id)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return history
