"""A store against the lists that its rigs signed in it: what was deleted, added, cut or sealed without a rig's key."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from downfield.game.hash_chain import row_digest
from downfield.game.owner import rig_id
from downfield.game.signed_list import DEVICE, GAME, SEAL, DeviceStanding, GameStanding, read_row, read_seal
from downfield.game.store_reader import GameRow, StoreReader

_ATTEMPTS: Final = 3
_BETWEEN_S: Final = 0.5
"""A rig that plays writes between two readings of its store; what differs each time is no such entry."""


@dataclass(frozen=True, slots=True)
class _RigList:
    """One rig's list, as it is in the store.

    Attributes:
        owner: the rig's id.
        rows: content by kind and subject.
        seal: content of its seal; None where it is missing.

    """

    owner: str
    rows: Mapping[tuple[str, str], str]
    seal: str | None


def list_differences(store: StoreReader, game: str | None = None, key: str | None = None) -> list[str]:
    """Return how a store differs from the lists that its rigs signed, one sentence for each difference.

    Args:
        store: the store; its rigs may be writing.
        game: the id of the only game to compare; None for all, and the devices.
        key: the public key of a rig that must have a list there; None where none must.

    """
    differences: list[str] = []
    for attempt in range(_ATTEMPTS):
        found = list(_differences(store, game, key))
        differences = [difference for difference in found if attempt == 0 or difference in differences]
        if not differences:
            break
        if attempt < _ATTEMPTS - 1:
            time.sleep(_BETWEEN_S)
    return differences


def rigs_without_list(store: StoreReader) -> list[str]:
    """Return the ids of rigs that have games in a store, but no list: of an earlier version, or copied from theirs."""
    listed = {row.owner for row in store.signed_lists()}
    return sorted({row.owner for row in store.games(limit=1_000_000) if row.owner} - listed)


def _differences(store: StoreReader, game: str | None, key: str | None) -> Iterator[str]:
    lists = _read_lists(store)
    if key is not None and rig_id(key) not in {one.owner for one in lists}:
        yield f"The list of games and devices that the rig with the key {key} signs is missing."
    games = {row.id: row for row in store.games(limit=1_000_000)}
    for one in lists:
        seal = read_seal(one.owner, one.rows, one.seal)
        if seal is None:
            yield f"The list of games and devices was altered: rig {one.owner} did not sign it so."
        elif seal.altered:
            yield f"The list of games and devices of rig {one.owner} was altered before the rig went on with it."
        listed = {subject: text for (kind, subject), text in one.rows.items() if kind == GAME}
        for name, text in listed.items():
            content = read_row(GameStanding, text)
            if content is not None and game in {None, name}:
                yield from _game_differs(store, name, games.get(name), content)
        for name, row in games.items():
            if row.owner == one.owner and name not in listed and game in {None, name}:
                yield f"{name}: its rig has never listed this game. It was added by somebody else."
    if game is None and lists:
        yield from _devices_differ(store, lists)


def _read_lists(store: StoreReader) -> list[_RigList]:
    contents: dict[str, dict[tuple[str, str], str]] = {}
    for row in store.signed_lists():
        contents.setdefault(row.owner, {})[row.kind, row.subject] = row.content
    return [_RigList(owner, rows, rows.pop((SEAL, ""), None)) for owner, rows in contents.items()]


def _game_differs(store: StoreReader, game: str, row: GameRow | None, listed: GameStanding) -> Iterator[str]:
    """Yield how a game differs from where its rig left it."""
    if row is None:
        yield f"{game}: the game is missing, which its rig has listed. It was deleted."
        return
    if row_digest(row) != listed.row:
        yield f"{game}: its title, teams, rulebook, date, table or owner was altered."
    if listed.rewound_to is not None:
        yield f"{game}: entries after {listed.rewound_to} were cut off or sealed again before the rig went on."
    last = store.last_entry(game)
    if last is None or last.seq < listed.seq:
        yield f"{game}: entry {listed.seq} is missing. The end was cut off."
    elif last.seq > listed.seq:
        yield f"{game}: {last.seq - listed.seq} entries were added after the last that its rig has listed."
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
