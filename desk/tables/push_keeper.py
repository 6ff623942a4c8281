"""What the desk sends to tables: kept in a file until every table has it, with what each table answers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from downfield.core.errors import FormatError, NotFoundError, OutputError, RefusedError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import from_json, read_record, record, to_json
from downfield.game.records.commands import MatchTicket
from downfield.game.records.owner import rig_id
from downfield.officiating.rulebooks.rulebook import parse_rulebook
from downfield.rig.tournament.broker import BrokerConnection, is_inbox
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
from downfield.rig.tournament.table_feed import DESK_SUBJECT
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


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What became of a push at a table."""

    table: str
    state: PushState


class PushKeeper:
    """Keeps what is sent, answers the rigs, and notes their reports. Callable from any thread.

    Args:
        path: the file; None to keep them in memory.
        standing: returns what every table gets besides, as it is now.
        is_open: whether a match may still be started; a game sent for another one is not given to its table.
        key: the desk's, which signs what tables get; None for one of its own.

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
        self._pushes = read_record(PushesFile, path).pushes if path is not None and path.exists() else ()
        self._reports: dict[str, PushReport] = {}

    @property
    def pushes(self) -> tuple[TablePush, ...]:
        """Everything that is sent, the earliest first."""
        return self._pushes

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
        with self._lock:
            if all(known.id != identity and not _is_same_game(push, known) for known in self._pushes):
                kept = [known for known in self._pushes if not _is_in_place_of(push, known)]
                self._keep(self._without_earliest([*kept, push]))

    def withdraw(self, identity: str) -> None:
        """Send something no longer; what was applied stays.

        Raises:
            NotFoundError: nothing of this id is sent.
            OutputError: it can't be kept.
        """
        with self._lock:
            left = tuple(push for push in self._pushes if push.id != identity)
            if len(left) == len(self._pushes):
                raise NotFoundError("Nothing of this id is sent.")
            self._keep(left)

    def answers(self, push: TablePush, tables: Mapping[str, str]) -> list[TableAnswer]:
        """Return what became of a push at each table it is for, by the tables' names.

        Args:
            tables: names of the tables that are known, by the rigs' ids.
        """
        names = {rig: report.table for rig, report in self._reports.items()} | dict(tables)
        found = []
        for rig in push.rigs or names:
            report = self._reports.get(rig)
            state = NOT_REACHED if report is None else report.states.get(push.id, NOT_REACHED)
            found.append(TableAnswer(names.get(rig, rig), state))
        return sorted(found, key=lambda answer: answer.table.casefold())

    def list_for(self, report: PushReport) -> PushList:
        """Note a rig's report, and return what there is for it.

        Raises:
            FormatError: it is not signed by the rig of its key.
        """
        if not report.is_signed:
            raise FormatError(PUSH_SUBJECT, "the report is not signed by its rig")
        rig = rig_id(report.key)
        self._reports[rig] = report
        own = tuple(push for push in self._current() if not push.rigs or rig in push.rigs)
        return signed_list(self._key, rig, report.nonce, self.standing() + own)

    def _current(self) -> tuple[TablePush, ...]:
        """Return what tables may still apply: no game for a match that was decided since."""
        return tuple(push for push in self._pushes if (ticket := _ticket_of(push)) is None or self._is_open(ticket))

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
        self._pushes = pushes


def _ticket_of(push: TablePush) -> MatchTicket | None:
    return push.payload.game.match if isinstance(push.payload, PushedGame) else None


def _is_same_game(new: TablePush, known: TablePush) -> bool:
    """Return whether a next game was sent to the same table before, for the same match."""
    ticket = _ticket_of(new)
    return ticket is not None and ticket == _ticket_of(known)


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
