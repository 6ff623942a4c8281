"""A rig of a tournament without a camera, in a process of its own, for tests and benchmarks that kill it.

Run as ``python tests/tournament_rig.py FOLDER PORT CREDENTIALS ENTRIES RATE``: writes entries to its journal until the
game has so many, then sends until it is stopped. It goes on with its game after a kill, as a rig does.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from waiting import let_run

from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.rig.tournament.broker import broker_access
from downfield.rig.tournament.link import TournamentLink
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store


def game_of(key: RigKey, name: str = "g", table: str = "Table 1") -> GameRow:
    """Return the row of a game of a rig."""
    owner = rig_id(key.public_text)
    return GameRow(f"{owner}-{name}", 5, "final", "Home", "Away", "tap", owner, table)


def entries_after(
    game: str,
    last: EntryRow | None,
    count: int,
    *,
    attachment: bytes | None = None,
    word: str = "said",
    off_ns: int = 0,
) -> list[EntryRow]:
    """Return entries that go on with a journal, by a wall clock that may be off."""
    rows: list[EntryRow] = []
    seq, digest = (0, GENESIS) if last is None else (last.seq, last.digest)
    for _ in range(count):
        seq += 1
        content = json.dumps({word: seq, 'é\u2028"': "\\"}, ensure_ascii=False)
        at_ns = time.time_ns() + off_ns
        digest = digest_of(digest, game, seq, "event_recorded", at_ns, f"key {seq}", content, attachment)
        rows.append(EntryRow(game, seq, "event_recorded", at_ns, content, digest, f"key {seq}", attachment))
    return rows


def clock_offset_ns(table: str) -> int:
    """Return how far off a table's clock is: up to twelve hours."""
    return random.Random(table).randrange(-12, 13) * 3_600_000_000_000


def append(store: Store, game: GameRow, count: int, *, attachment: bytes | None = None, word: str = "said") -> int:
    """Append entries to a journal, which is begun where it is missing; return the number of the last one.

    Each table's clock is hours off.
    """
    found = store.latest(game.id)
    last = found[0] if found else None
    off_ns = clock_offset_ns(game.table)
    rows = entries_after(game.id, last, count, attachment=attachment, word=word, off_ns=off_ns)
    store.append(rows, None if last else game)
    return rows[-1].seq


def main(arguments: Sequence[str]) -> None:
    folder, port, credentials = Path(arguments[0]), int(arguments[1]), arguments[2]
    wanted, rate = int(arguments[3]), float(arguments[4])
    key = RigKey.load_or_create(folder / "rig.key")
    store, game = Store.at(folder / "games.db"), game_of(key, table=folder.name)
    access = broker_access((f"nats://127.0.0.1:{port}",), credentials, folder.name)
    link = TournamentLink(access, store, rig_id(key.public_text), key)
    randomness = random.Random(folder.name)
    while (last := store.last_entry(game.id)) is None or last.seq < wanted:
        append(store, game, 1, attachment=randomness.randbytes(randomness.choice((0, 500, 20_000))) or None)
        let_run(randomness.expovariate(rate))  # what a game writes comes now and then
    sys.stdout.write("written\n")
    sys.stdout.flush()
    sys.stdin.read()
    link.close()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1:])
