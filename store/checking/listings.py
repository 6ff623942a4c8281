"""What a store lists, against what its own journals say: games and devices whose rows were edited, added or deleted.

Journals are chained, and the lists of games and devices are not: a row can be edited alone. What both say must agree.
This takes no kept head, and tells less than one: whoever seals the journals again as well is found by heads only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from downfield.core.errors import FormatError
from downfield.game.records.entries import KINDS, START_KINDS, GameStarted, unpack_entry
from downfield.game.records.keeping import GameRow
from downfield.game.records.table_records import DeviceChanged
from downfield.store.database.reader import StoreReader

_DATED_ID: Final = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}")
_DEVICE_KINDS: Final = {name for name, kind in KINDS.items() if kind is DeviceChanged}


def listing_differences(store: StoreReader, games: Sequence[str] | None = None) -> Iterator[str]:
    """Yield how the lists of a store differ from its journals, one sentence for each difference.

    Args:
        games: ids of the games to compare; None for all, and the devices.
    """
    changes: dict[str, DeviceChanged] = {}
    for row in reversed(store.games(limit=1_000_000)):
        if games is None or row.id in games:
            yield from _row_differs(store, row)
        if games is None:
            changes |= {change.device: change for change in _device_changes(store, row.id)}
    if games is not None:
        return
    for game in store.unlisted_games():
        yield f"{game}: has a journal, but is not in the list of games. It was deleted there, or renamed."
    for trigger in store.triggers():
        yield f"The store has a trigger, '{trigger}', which no rig makes: it changes what is written there."
    for device in store.devices():
        last = changes.get(device.id)
        if last is None:
            continue  # it was paired while no game was played
        if last.change != "paired":
            yield f"The device '{device.name}' is listed, though the journals say that it was {last.change}."
        elif (device.name, device.role) != (last.name, last.role):
            yield (
                f"The device '{device.name}' is listed as {device.role}; it was paired as '{last.name}', {last.role}."
            )


def _row_differs(store: StoreReader, row: GameRow) -> Iterator[str]:
    """Yield how a game's row differs from the first entry of its journal."""
    try:
        first = next(store.entries(row.id, attachments=False), None)
    except FormatError:
        return  # the journal's own check says so
    if first is None:
        yield f"{row.id}: is in the list of games, but has no journal. It was deleted."
        return
    if first.seq != 1 or first.kind not in START_KINDS:
        return  # the journal's own check says so
    try:
        started = unpack_entry(first.kind, first.content, where=row.id)
    except FormatError:
        return
    if not isinstance(started, GameStarted):
        return
    dated = _DATED_ID.fullmatch(row.id)
    pairs = (
        ("title", row.title, started.title),
        ("home team", row.home, started.home.name),
        ("away team", row.away, started.away.name),
        ("rulebook", row.rulebook, started.rulebook.name),
        ("date", _dated(row.began_ns), dated.group(1) if dated else _dated(row.began_ns)),
    )
    for name, listed, journaled in pairs:
        if listed != journaled:
            yield f"{row.id}: its {name} is listed as '{listed}'; its journal says '{journaled}'."


def _dated(began_ns: int) -> str:
    """Return the date in the form of a game's id; empty for one that no calendar has."""
    try:
        return time.strftime("%Y%m%d-%H%M%S", time.gmtime(began_ns / 1e9))
    except (OverflowError, ValueError, OSError):
        return ""


def _device_changes(store: StoreReader, game: str) -> Iterator[DeviceChanged]:
    with suppress(FormatError):  # of an entry that can't be read the journal's own check tells
        for entry in store.entries(game, attachments=False):
            if entry.kind in _DEVICE_KINDS:
                try:
                    content = unpack_entry(entry.kind, entry.content, where=game)
                except FormatError:
                    continue
                if isinstance(content, DeviceChanged) and content.change != "refused":
                    yield content
