"""Connections to a PostgreSQL server that give up on a server that stands still.

A server that is stopped, or whose disk hangs, still acknowledges what arrives, so neither the network nor the driver
notices. A thread that waited for it would wait for as long as it stands still, and the web service has few threads.
"""

from __future__ import annotations

import time
from typing import Any, Final

import psycopg

ANSWER_S: Final = 5.0  # How long a statement may take: the largest take a tenth of a second

NO_ANSWER: Final = "the server does not answer"


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed when a statement takes too long."""

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Carry out an operation of the driver. Raises OperationalError: the server does not answer in time."""
        return super().wait(self._bounded(gen), *args, **options)

    def _bounded(self, operation: Any) -> Any:
        """Pass on what an operation waits for, and what came of it, until its time is over."""
        deadline_s = time.monotonic() + ANSWER_S
        try:
            awaited = next(operation)
            while True:
                is_ready = yield awaited
                if not is_ready and time.monotonic() > deadline_s:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(NO_ANSWER)
                awaited = operation.send(is_ready)
        except StopIteration as result:
            return result.value
