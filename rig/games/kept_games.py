"""Where the games of a rig are kept, which of them are its own, the key that signs them, and the keys it trusts.

A rig that referees a table keeps its games under its own id and is the only program that goes on with them. A recording
shown again has no owner: whatever store it is kept in, no rig goes on with it.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.capture.source import CaptureClock
from downfield.core.errors import DownfieldError, InputError
from downfield.core.files.input_files import read_text
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.system import lasting_temporary_folder
from downfield.game.records.owner import NOBODY, GameOwner, rig_id
from downfield.review.rejudging.standings import KeptJudgings
from downfield.rig.configuration.settings import RigSettings, data_folder, store_file, tables_folder
from downfield.store.sealing.heads import NOT_AS_LEFT, HeadsFile, differs_from_last_heads
from downfield.store.sealing.signed_list import SignedList
from downfield.store.sealing.signing import RigKey, is_public_key
from downfield.store.writing.journals import CheckpointFile
from downfield.store.writing.lease import FileLease, LeasedThing
from downfield.store.writing.spool import Spool
from downfield.store.writing.store import Store

_TEMPORARY_STORE: Final = "games.db"
_CHECKPOINT: Final = "game.checkpoint"
_JUDGINGS: Final = "judged"
DATA_FOLDER_LOCK: Final = ".rig.lock"  # The file that a rig has locked while it uses a data folder


RIG_KEY: Final = "rig.key"  # Name of its file in the data folder


def heads_file(settings: RigSettings) -> Path:
    """Return the file of kept heads."""
    if settings.store.heads:
        return Path(settings.store.heads).expanduser()
    folder = data_folder(settings).absolute()
    return folder.with_name(f"{folder.name}.heads.jsonl")


def open_rig_key(folder: Path, *, must_be_kept: bool) -> RigKey:
    """Return the rig's key in a data folder, made for its owner only when there is none.

    Where it can't be read or created, that is an InputError if it must be kept; else one holds for this run only.
    """
    try:
        return RigKey.load_or_create(folder / RIG_KEY)
    except InputError:
        if must_be_kept:
            raise
        return RigKey.generate()


TRUSTED_KEYS: Final = "trusted_keys"
"""Name of their file in the data folder: a key a line, and after a space what its rig is called."""

OWN: Final = "this rig"


@dataclass(frozen=True, slots=True)
class TrustedKeys:
    """Public keys and what their rigs are called."""

    names: dict[str, str]  # by key

    @classmethod
    def load(cls, folder: Path) -> TrustedKeys:
        """Return the keys in a data folder; none without one. Raises InputError: a file of them can't be read."""
        names = {}
        own = folder / RIG_KEY
        if own.exists():
            names[RigKey.load_or_create(own).public_text] = OWN
        path = folder / TRUSTED_KEYS
        try:
            lines = read_text(path).splitlines() if path.exists() else []
        except InputError as error:
            raise InputError(f"the trusted keys can't be read: {error}") from None
        for number, line in enumerate(lines, start=1):
            key, _, name = line.strip().partition(" ")
            if not is_public_key(key):
                raise InputError(f"{path}, line {number}: no public key. Delete the line, or the file.")
            names.setdefault(key, name)
        return cls(names)

    def add(self, folder: Path, key: str, name: str) -> None:
        """Trust a key under its rig's name from now on. Raises InputError: it can't be kept."""
        self.names.setdefault(key, " ".join(name.split()))
        lines = [f"{known} {called}".rstrip() for known, called in self.names.items() if called != OWN]
        try:
            replace_private_file(folder / TRUSTED_KEYS, "".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            raise InputError(f"{folder}: the trusted keys can't be kept: {error.strerror}") from None


@contextmanager
def leased_data_folder(settings: RigSettings, table: str | None = None) -> Iterator[None]:
    """Be the only rig with a data folder, under a table's name or the usual one. Raises InputError: another has it."""
    folder = data_folder(settings)
    thing = LeasedThing(f"The data folder {folder}", "give this one a folder of its own with --set data=FOLDER.")
    lease = FileLease(folder / DATA_FOLDER_LOCK, thing, table or table_name(settings))
    try:
        yield
    finally:
        lease.close()


def open_store(
    settings: RigSettings, temporary: Path, key: RigKey, *, live: bool, table: str | None = None
) -> tuple[Store, GameOwner]:
    """Open the store of games, and become the only program that goes on with this rig's; return it and their owner.

    Args:
        temporary: a folder for files of this run only, such as the store of a recording shown again.
        table: the name of the table; None to look it up.

    Raises:
        InputError: the store can't be opened, or another program has this rig's games.
    """
    url = settings.store.url
    if not live:
        kept = store_file(settings) if settings.store.recordings else temporary / _TEMPORARY_STORE
        shown = Store(url) if url else Store.at(kept)
        shown.signed_list = SignedList(key)  # without it, its devices would pass for added ones
        return shown, NOBODY
    owner = GameOwner(rig_id(key.public_text), table or table_name(settings))
    store = Store(url, may_be_down=True) if url else Store.at(store_file(settings), may_be_down=True)
    try:
        store.lease(owner)
        store.spool = Spool(_unsaved_places(settings, store, owner), comes_first=store.is_on_server)
        store.signed_list = SignedList(key)
        store.keep_heads(HeadsFile(heads_file(settings), key))
        store.when_written_again(lambda: _keep_key_again(settings, key))
    except DownfieldError:
        store.close()
        raise
    return store, owner


def _keep_key_again(settings: RigSettings, key: RigKey) -> None:
    """Keep the key also where the whole data folder was deleted: without it the games are another rig's."""
    with suppress(OSError):
        key.keep(data_folder(settings) / RIG_KEY)


def open_checkpoints(settings: RigSettings, key: RigKey) -> CheckpointFile:
    """Return the file that keeps how far a rig's game was judged."""
    return CheckpointFile(data_folder(settings) / _CHECKPOINT, key)


def open_judgings(settings: RigSettings, key: RigKey) -> KeptJudgings:
    """Return the folder that keeps what a rig's finished games come to."""
    return KeptJudgings(data_folder(settings) / _JUDGINGS, key)


def _unsaved_places(settings: RigSettings, store: Store, owner: GameOwner) -> list[Path]:
    """Return the folders for entries that a store does not accept; those of another store are never mixed in."""
    name = f"{owner.rig}-{hashlib.sha256(store.where.encode()).hexdigest()[:12]}"
    chosen = settings.store.unsaved
    unsaved = Path(chosen).expanduser() if chosen else data_folder(settings) / "unsaved"
    folders = [unsaved / name, heads_file(settings).parent / ".downfield-unsaved" / name]
    shared = lasting_temporary_folder(f"downfield-unsaved-{name}")
    return folders if shared is None else [*folders, shared]


def table_name(settings: RigSettings) -> str:
    """Return the name of the table: as configured, of the saved table with this camera, or of the computer."""
    if settings.rig.table:
        return settings.rig.table
    from downfield.rig.tables.profile import TableFolder

    saved = TableFolder(tables_folder(settings)).in_use()
    if saved is not None and saved.source == settings.source.name:
        return saved.name
    return socket.gethostname()


_CLOCK_BEHIND: Final = (
    "The computer's clock shows {shown}, which is before what this rig has recorded: times are counted on from that"
    " until the next start. Set the clock, and start the rig again between games."
)
_CLOCKS_DIFFER_NS: Final = 3_600_000_000_000


def doubts(store: Store, settings: RigSettings, clock: CaptureClock) -> Iterator[str]:
    """Yield what is not as this rig has left it, for people: its store, and the computer's clock."""
    if difference := differs_from_last_heads(store, heads_file(settings)):
        yield NOT_AS_LEFT.format(difference=difference)
    shown_ns = time.time_ns()
    if clock.now_ns() - shown_ns > _CLOCKS_DIFFER_NS:
        yield _CLOCK_BEHIND.format(shown=time.strftime("%Y-%m-%d %H:%M", time.gmtime(shown_ns / 1e9)))
