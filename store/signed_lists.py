"""A store against what its rigs signed in it, and against its own journals: what was deleted, added, cut or edited.

Journals are chained, and the lists of games and devices are not: a row can be edited alone, so what both say must
agree. That takes no signature, and tells less than one: whoever seals the journals again as well is found by the signed
lists only, as is whatever was sealed without a rig's key.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import FormatError
from downfield.core.texts import counted
from downfield.game.records.entries import KINDS, START_KINDS, DeviceChanged, GameStarted, unpack_entry
from downfield.game.records.keeping import GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.reader import StoreReader
from downfield.store.sealing.hash_chain import row_digest
from downfield.store.sealing.signed_list import DEVICE, GAME, SEAL, DeviceStanding, GameStanding, read_row, read_seal

_ATTEMPTS: Final = 3
_BETWEEN_S: Final = 0.5
"""A rig that plays writes between two readings of its store; what differs each time is no such entry."""


@dataclass(frozen=True, slots=True)
class _RigList:
    owner: str
    rows: Mapping[tuple[str, str], str]  # content by kind and subject
    seal: str | None  # content of its seal; None where it is missing

    def games(self) -> dict[str, GameStanding | None]:
        """Return where the games stand that it lists, by id; None for a row that can't be read."""
        return {name: read_row(GameStanding, text) for (kind, name), text in self.rows.items() if kind == GAME}


@dataclass(frozen=True, slots=True)
class Signer:
    """A rig that has signed a list in a store, or whose games are there."""

    rig: str
    key: str  # the public key that its list is signed with; empty where none is, or its seal is damaged
    tables: tuple[str, ...]  # names of the tables of its games
    games: int  # how many of the store's games are its own
    devices: int  # how many of the paired devices it lists


def signers(store: StoreReader) -> list[Signer]:
    """Return the rigs of a store: whoever made up a rig of his own to add games or devices is among them."""
    lists = {one.owner: one for one in _read_lists(store)}
    paired = {device.id for device in store.devices()}
    games = [row for row in store.games(limit=1_000_000) if row.owner]
    found = []
    for rig in sorted({*lists, *(row.owner for row in games if row.owner)}):
        own = [row for row in games if row.owner == rig]
        one = lists.get(rig)
        seal = None if one is None else read_seal(rig, one.rows, one.seal)
        devices = 0 if one is None else sum(kind == DEVICE and subject in paired for kind, subject in one.rows)
        tables = tuple(sorted({row.table for row in own if row.table}))
        found.append(Signer(rig, "" if seal is None else seal.key, tables, len(own), devices))
    return found


def list_differences(store: StoreReader, game: str | None = None, keys: Collection[str] = ()) -> list[str]:
    """Return how a store differs from the lists that its rigs signed, one sentence for each difference.

    Args:
        store: the store; its rigs may be writing.
        game: the id of the only game to compare; None for all, and the devices.
        keys: public keys of rigs that must have lists there.
    """
    differences: list[str] = []
    for attempt in range(_ATTEMPTS):
        found = list(_differences(store, game, keys))
        differences = [difference for difference in found if attempt == 0 or difference in differences]
        if not differences:
            break
        if attempt < _ATTEMPTS - 1:
            time.sleep(_BETWEEN_S)
    return differences


def rigs_without_list(store: StoreReader) -> list[str]:
    """Return the ids of rigs that have games in a store, but no list: it was deleted, or the games are copies."""
    listed = {row.owner for row in store.signed_lists()}
    return sorted({row.owner for row in store.games(limit=1_000_000) if row.owner} - listed)


def _differences(store: StoreReader, game: str | None, keys: Collection[str]) -> Iterator[str]:
    lists = _read_lists(store)
    if not lists and not keys:
        return
    owners = {one.owner for one in lists}
    yield from (
        f"The list of games and devices that the rig with the key {key} signs is missing."
        for key in keys
        if rig_id(key) not in owners
    )
    games, numbers = {row.id: row for row in store.games(limit=1_000_000)}, store.numbers()
    compared = {name: row for name, row in games.items() if game in {None, name}}
    listed_by: dict[str, set[str]] = {}
    for one in lists:
        yield from _seal_differs(one)
        for name in one.games():
            listed_by.setdefault(name, set()).add(one.owner)
    for one in lists:
        for name, content in one.games().items():
            row = games.get(name)
            if content is None or game not in {None, name}:
                continue
            yield from _game_differs(store, name, row, content, numbers.get(name))
    for name, row in compared.items():
        known = listed_by.get(name, set())
        if row.owner in owners - known:
            yield f"{name}: its rig has never listed this game. It was added by somebody else."
        elif not row.owner and not known and lists:
            yield f"{name}: belongs to no rig, and none has listed it. It was added by somebody else."
    if game is None and lists:
        yield from _devices_differ(store, lists)


def _seal_differs(one: _RigList) -> Iterator[str]:
    seal = read_seal(one.owner, one.rows, one.seal)
    if seal is None:
        yield f"The list of games and devices was altered: rig {one.owner} did not sign it so."
    elif seal.altered:
        yield f"The list of games and devices of rig {one.owner} was altered before the rig went on with it."


def _read_lists(store: StoreReader) -> list[_RigList]:
    contents: dict[str, dict[tuple[str, str], str]] = {}
    for row in store.signed_lists():
        contents.setdefault(row.owner, {})[row.kind, row.subject] = row.content
    return [_RigList(owner, rows, rows.pop((SEAL, ""), None)) for owner, rows in contents.items()]


def _game_differs(
    store: StoreReader, game: str, row: GameRow | None, listed: GameStanding, number: int | None
) -> Iterator[str]:
    """Yield how a game, with its place in the order of games, differs from where its rig left it."""
    if row is None:
        yield f"{game}: the game is missing, which its rig has listed. It was deleted."
        return
    if row_digest(row) != listed.row:
        yield f"{game}: its title, teams, rulebook, date, table or owner was altered."
    if listed.number != number:
        yield f"{game}: its place in the order of games was altered."
    if listed.rewound_to is not None:
        yield f"{game}: entries after {listed.rewound_to} were cut off or sealed again before the rig went on."
    last = store.last_entry(game)
    if last is None or last.seq < listed.seq:
        yield f"{game}: entry {listed.seq} is missing. The end was cut off."
    elif last.seq > listed.seq:
        yield f"{game}: {counted(last.seq - listed.seq, 'entry', 'were')} added after the last that its rig has listed."
    elif last.digest != listed.digest:
        yield f"{game}: entry {last.seq} is not the one that its rig has listed. The journal was sealed again."


def _devices_differ(store: StoreReader, lists: list[_RigList]) -> Iterator[str]:
    """Yield how the paired devices differ from those that any of the store's rigs paired or revoked."""
    listed: dict[str, list[DeviceStanding]] = {}
    for one in lists:
        for (kind, subject), text in one.rows.items():
            content = read_row(DeviceStanding, text) if kind == DEVICE else None
            if content is not None:
                listed.setdefault(subject, []).append(content)
    there = {device.id: device for device in store.devices()}
    for name, device in there.items():
        known = listed.get(name, [])
        if not known:
            yield f"The device '{device.name}' was added by somebody else: no rig has listed it."
        elif any(not one.row for one in known):
            yield f"The device '{device.name}' was put back: it was revoked, or had expired."
        elif any(one.row != row_digest(device) for one in known):
            yield f"The device '{device.name}' was altered. It was paired as '{known[0].name}'."
    for name, known in listed.items():
        if name not in there and all(one.row for one in known):
            yield f"The device '{known[0].name}' is missing, though no rig revoked it."


_DATED_ID: Final = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}")
_DEVICE_KINDS: Final = {name for name, kind in KINDS.items() if kind is DeviceChanged}


def listing_differences(store: StoreReader, games: Sequence[str] | None = None) -> Iterator[str]:
    """Yield how a store's lists differ from its journals, one sentence each: of some games, or all and devices."""
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
