"""Notices another computer that is on the tournament's broker as this very rig, because its data folder was copied.

Every run of a rig tells with its address which run it is and for how long it has gone on, and hears what others tell in
the rig's name. They answer each other, so a copy is known for as long as it is there and no longer. Of two the one
that began later is the copy that must become a rig of its own: no clock of two computers is compared for that.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from downfield.core.errors import FormatError, RefusedError
from downfield.rig.tournament.broker import BrokerConnection
from downfield.rig.tournament.table_feed import ABOUT, SIGNATURE_HEADER, TableMessage, opened_message, subject_of

if TYPE_CHECKING:
    from nats.aio.msg import Msg

ANSWER_S: Final = 2.0
"""Time between two answers to another run, and of silence after which one's own run is told of again."""

GONE_S: Final = 10.0
"""A run that was not heard of for this long is over: a rig that was killed and started again is no copy."""

REMEDY: Final = (
    "Stop it on the computer that has the copy, delete rig.key in the data folder there, and start it again:"
    " it is a rig of its own then"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run of this rig, which goes on now.

    Attributes:
        where: address of its pages, else its table.
        began_first: whether it began before this one.

    """

    where: str
    began_first: bool

    @property
    def text(self) -> str:
        """What is wrong, one sentence without its full stop."""
        return (
            f"Another computer referees as this rig, {self.where}: its data folder is a copy of this one, or this of it"
        )


class IdentityWatch:
    """Knows whether another run of this rig goes on. Callable from any thread.

    Args:
        rig: the rig's id.
        monotonic_s: measures time; never compared with another computer's.

    """

    def __init__(self, rig: str, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._rig, self._monotonic_s = rig, monotonic_s
        self._run, self._began_s = secrets.token_hex(8), monotonic_s()
        self._lock = threading.Lock()
        self._others: dict[str, tuple[float, OtherRun]] = {}
        self._told_s = -GONE_S
        self._is_answer_due = False

    def about(self) -> dict[str, Any]:
        """Return what is told of this run with the rig's address; nothing more is due until another is heard of."""
        with self._lock:
            self._told_s, self._is_answer_due = self._monotonic_s(), False
            return {"run": self._run, "running_s": round(self._told_s - self._began_s, 1)}

    @property
    def is_answer_due(self) -> bool:
        """Whether another run has been heard of and is to hear of this one."""
        with self._lock:
            return self._is_answer_due and self._monotonic_s() - self._told_s >= ANSWER_S

    @property
    def other(self) -> OtherRun | None:
        """Another run of this rig that goes on now; None where there is none."""
        with self._lock:
            now_s = self._monotonic_s()
            self._others = {run: heard for run, heard in self._others.items() if now_s - heard[0] < GONE_S}
            return next((other for _, other in self._others.values()), None)

    def require_first(self) -> None:
        """Refuse what only the first of two runs of a rig may do.

        Raises:
            RefusedError: another run goes on, which began before this one.

        """
        other = self.other
        if other is not None and other.began_first:
            raise RefusedError(f"{other.text}. {REMEDY}.")

    def hear(self, message: TableMessage) -> None:
        """Note what was told in the name of this rig; runs of versions that do not tell which they are say nothing."""
        run, running_s = message.data.get("run"), message.data.get("running_s")
        if not isinstance(run, str) or not isinstance(running_s, int | float) or run == self._run:
            return
        address = message.data.get("address")
        with self._lock:
            now_s = self._monotonic_s()
            is_first = (float(running_s), run) > (now_s - self._began_s, self._run)
            where = address if isinstance(address, str) and address else message.table
            if run not in self._others:
                _log.warning("Another run of this rig is on the tournament's broker: %s", where)
            self._others[run] = (now_s, OtherRun(where, is_first))
            self._is_answer_due = True

    async def follow(self, connection: BrokerConnection) -> None:
        """Hear what is told in the name of this rig, for as long as a connection lasts."""
        await connection.client.subscribe(subject_of(self._rig, ABOUT), cb=self._take)

    async def _take(self, message: Msg) -> None:
        try:
            signature = (message.headers or {}).get(SIGNATURE_HEADER, "")
            self.hear(opened_message(message.subject, message.data, signature))
        except FormatError as error:
            _log.warning("%s", error)
