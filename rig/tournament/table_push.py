"""What a tournament's desk sends to its tables, and what each table answers about it."""

from __future__ import annotations

import base64
import json
from typing import Final, Literal

from downfield.core.records import record
from downfield.rig.tournament.push_payloads import Payload
from downfield.store.sealing.signing import RigKey, verify_signature

PUSH_SUBJECT: Final = "downfield.push.get"
"""A rig sends here what it has done, and gets what the desk has for it."""

_SIGNED_AS: Final = b"downfield.push\n"

PushStatus = Literal["waiting", "applied", "refused", "replaced"]


@record
class TablePush:
    """Something that a desk sends to tables.

    Attributes:
        id: unique.
        at_ns: wall clock, ns since 1970; a label.
        by: who sent it.
        title: for people.
        payload: what it is.
        rigs: ids of the rigs it is for; empty for all.

    """

    id: str
    at_ns: int
    by: str
    title: str
    payload: Payload
    rigs: tuple[str, ...] = ()


@record
class PushState:
    """What became of a push at a table.

    Attributes:
        status: ``"waiting"`` for the end of a game, ``"applied"``, ``"refused"`` for good, or ``"replaced"``: a later
            one of its kind came before this one could be applied.
        text: what was done, or why not.

    """

    status: PushStatus
    text: str


@record
class PushReport:
    """A rig's report of what it has done, with which it gets what is new.

    Attributes:
        key: its public key.
        table: the table's name.
        states: by id of the push.
        signature: Ed25519, base64.

    """

    key: str
    table: str
    states: dict[str, PushState]
    signature: str = ""
    format: Literal["downfield.push-report"] = "downfield.push-report"
    version: Literal[1] = 1

    @property
    def is_signed(self) -> bool:
        """Whether the rig of the key has made it."""
        try:
            raw = base64.b64decode(self.signature, validate=True)
        except ValueError:
            return False
        return verify_signature(self.key, _signed(self.table, self.states), raw)


@record
class PushList:
    """What a desk has for a rig, the earliest first."""

    pushes: tuple[TablePush, ...]
    format: Literal["downfield.push-list"] = "downfield.push-list"
    version: Literal[1] = 1


def signed_report(key: RigKey, table: str, states: dict[str, PushState]) -> PushReport:
    """Return a rig's report."""
    signature = base64.b64encode(key.sign(_signed(table, states))).decode()
    return PushReport(key.public_text, table, states, signature)


def _signed(table: str, states: dict[str, PushState]) -> bytes:
    rows = [[push, state.status, state.text] for push, state in sorted(states.items())]
    return _SIGNED_AS + json.dumps([table, rows]).encode()
