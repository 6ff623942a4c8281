"""What the desk sends to tables: kept in a file until every table has it, with what each table answers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from downfield.core.errors import FormatError, NotFoundError, OutputError, RefusedError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import from_json, read_record, record, to_json
from downfield.game.records.commands import MatchTicket
from downfield.game.records.owner import rig_id
from downfield.officiating.rulebooks.rulebook import parse_rulebook
from downfield.rig.tournament.broker import DESK_SUBJECT, BrokerConnection, is_inbox
from downfield.rig.tournament.push_payloads import (
    PUSH_SUBJECT,
    Payload,
    PushedGame,
    PushedRulebook,
    PushedSchedule,
    PushedTeams,
    PushList,
    PushReport,
    PushState,
    TablePush,
    signed_list,
)
from downfield.store.sealing.signing import RigKey

if TYPE_CHECKING:
    from nats.aio.msg import Msg

MAX_PUSHES: Final = 50
"""The earliest are dropped beyond this, but games still to be played: a called round has one for each table."""

MAX_BYTES: Final = 6 << 20
"""Everything that is sent, as it goes to a rig in one answer; a broker carries messages of 8 MB."""

_LOOK_S: Final = 0.25
NOT_REACHED: Final = PushState("waiting", "until its rig is connected")
_log = logging.getLogger(__name__)


@record
class PushesFile:
    """The file of what was sent."""

    pushes: tuple[TablePush, ...] = ()
    format: Literal["downfield.desk-pushes"] = "downfield.desk-pushes"
    version: Literal[1] = 1


class PushKeeper:
    """Keeps what is sent, answers the rigs, and notes their reports. Callable from any thread.

    Args:
        path: the file; None to keep them in memory.
        standing: returns what every table gets besides, as it is now.
        is_open: whether a match may still be started; a game sent for another one is not given to its table.
        key: the desk's, which signs what tables get; None for one of its own.

    Attributes:
        pushes: everything that is sent, the earliest first.

    Raises:
        InputError: it can't be read.
        FormatError: it holds something else.
    """

    def __init__(
        self,
        path: Path | None = None,
        standing: Callable[[], tuple[TablePush, ...]] = tuple,
        is_open: Callable[[MatchTicket], bool] = lambda _: True,
        key: RigKey | None = None,
    ) -> None:
        self._path, self.standing, self._is_open = path, standing, is_open
        self._key = key or RigKey.generate()
        self._lock = threading.Lock()
        self.pushes = read_record(PushesFile, path).pushes if path is not None and path.exists() else ()
        self._reports: dict[str, PushReport] = {}

    def send(self, by: str, title: str, payload: Payload, rigs: Sequence[str] = (), key: str = "") -> None:
        """Send something to tables; it is on disk when this returns.

        Args:
            rigs: ids of the rigs it is for; empty for all.
            key: idempotency key; what was sent under a key is not sent again. Empty for none.

        Raises:
            RulebookError: a rulebook is none; the message says where.
            RefusedError: with it more is sent than a broker carries.
            OutputError: it can't be kept, so it is not sent.
        """
        if isinstance(payload, PushedRulebook):
            title = parse_rulebook(payload.toml, "the rulebook").title
        identity = hashlib.sha256(key.encode()).hexdigest()[:12] if key else secrets.token_hex(6)
        push = TablePush(identity, time.time_ns(), by, title, payload, tuple(rigs))
        ticket = _ticket_of(push)
        with self._lock:
            is_sent = any(ticket is not None and ticket == _ticket_of(known) for known in self.pushes)
            if not is_sent and all(known.id != identity for known in self.pushes):
                kept = [known for known in self.pushes if not _is_in_place_of(push, known)]
                self._keep(self._without_earliest([*kept, push]))

    def withdraw(self, identity: str) -> None:
        """Send something no longer; what was applied stays. Raises NotFoundError: it isn't sent; OutputError."""
        with self._lock:
            left = tuple(push for push in self.pushes if push.id != identity)
            if len(left) == len(self.pushes):
                raise NotFoundError("Nothing of this id is sent.")
            self._keep(left)

    def answers(self, push: TablePush, tables: Mapping[str, str]) -> list[tuple[str, PushState]]:
        """Return the names of a push's tables, each with what became of it. `tables`: known names by the rigs' ids."""
        names = {rig: report.table for rig, report in self._reports.items()} | dict(tables)
        found = []
        for rig in push.rigs or names:
            report = self._reports.get(rig)
            state = NOT_REACHED if report is None else report.states.get(push.id, NOT_REACHED)
            found.append((names.get(rig, rig), state))
        return sorted(found, key=lambda answer: answer[0].casefold())

    def list_for(self, report: PushReport) -> PushList:
        """Note a rig's report, and return what there is for it. Raises FormatError: it is not signed by its rig."""
        if not report.is_signed:
            raise FormatError(PUSH_SUBJECT, "the report is not signed by its rig")
        rig = rig_id(report.key)
        self._reports[rig] = report
        own = tuple(push for push in self._current() if not push.rigs or rig in push.rigs)
        return signed_list(self._key, rig, report.nonce, self.standing() + own)

    def _current(self) -> tuple[TablePush, ...]:
        """Return what tables may still apply: no game for a match that was decided since."""
        return tuple(push for push in self.pushes if (ticket := _ticket_of(push)) is None or self._is_open(ticket))

    def _without_earliest(self, pushes: Sequence[TablePush]) -> tuple[TablePush, ...]:
        left = {push.id for push in pushes if (ticket := _ticket_of(push)) is not None and self._is_open(ticket)}
        left |= {push.id for push in [push for push in pushes if push.id not in left][-MAX_PUSHES:]}
        return tuple(push for push in pushes if push.id in left)

    @property
    def mark(self) -> str:
        """Names what there is for tables by now: another one once there is something new."""
        return hashlib.sha256(" ".join(push.id for push in self.standing() + self._current()).encode()).hexdigest()

    async def run(self, connection: BrokerConnection) -> None:
        """Answer rigs for as long as a connection lasts, and announce what is new."""
        await connection.client.subscribe(PUSH_SUBJECT, cb=self._answer)
        announced: tuple[TablePush, ...] | None = None
        while True:
            if announced != (now := self.standing() + self._current()):
                announced = now
                await connection.publish(DESK_SUBJECT, b"")
            await asyncio.sleep(_LOOK_S)

    async def _answer(self, message: Msg) -> None:
        if not is_inbox(message.reply):
            return
        try:
            report = from_json(PushReport, message.data, path=PUSH_SUBJECT)
            await message.respond(to_json(PushList, self.list_for(report)).encode())
        except FormatError as error:
            _log.warning("%s", error)

    def _keep(self, pushes: tuple[TablePush, ...]) -> None:
        content = to_json(PushesFile, PushesFile(pushes)).encode()
        if len(content) > MAX_BYTES:
            raise RefusedError("That is more than can be sent at once. Press 'Send no longer' at something else first.")
        if self._path is not None:
            try:
                replace_private_file(self._path, content)
            except OSError as error:
                raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was sent.") from None
        self.pushes = pushes


def _ticket_of(push: TablePush) -> MatchTicket | None:
    return push.payload.game.match if isinstance(push.payload, PushedGame) else None


def _is_in_place_of(new: TablePush, known: TablePush) -> bool:
    """Return whether something new says all that was sent before; a match goes to the table it was sent to last."""
    ticket, before = _ticket_of(new), _ticket_of(known)
    if ticket is not None and before is not None:
        return (ticket.draw, ticket.match) == (before.draw, before.match)
    return (
        isinstance(new.payload, PushedTeams | PushedSchedule)
        and type(new.payload) is type(known.payload)
        and new.rigs == known.rigs
    )
