"""The store: games and their journals, teams and paired devices, in SQLite or PostgreSQL through SQLAlchemy.

Entries are on disk when `append` returns: SQLite runs in WAL mode with ``synchronous=FULL``, and PostgreSQL commits
synchronously by itself. Callable from any thread.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, delete, insert
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import GameOwner
from downfield.store.database.engines import cause_of, create_writing_engine, is_unavailable, parse_address, transaction
from downfield.store.database.reader import GAME_ROWS, DeviceRow, StoreReader, values_of
from downfield.store.database.schema import DEVICES, ENTRIES, GAMES, NEXT_NUMBER, TEAMS, create_tables
from downfield.store.database.sqlite_file import StoreFile, WalMark
from downfield.store.sealing.heads import HeadsFile
from downfield.store.sealing.signed_list import SignedList
from downfield.store.writing.lease import FileLease, LeasedThing, ServerLease
from downfield.store.writing.spool import Spool

_log = logging.getLogger(__name__)


class ForeignEntriesError(OutputError):
    """A game can't be written because another process writes it; others can."""


class Store(StoreReader):
    """A store, opened; its tables are made where there are none.

    Args:
        url: of a database, such as ``sqlite:////home/me/downfield.db`` or ``postgresql://me@host/downfield``.
        may_be_down: whether a server that can't be reached, or a full disk, is no error: the store is then opened when
            an entry is written.

    Attributes:
        spool: keeps on the rig's disk the entries that the store does not accept; None where they are in memory only.
        signed_list: keeps where games and devices stand; None for no list.

    Raises:
        InputError: it can't be opened, or another version of the program made it.
        MissingExtraError: its driver is not installed.
    """

    def __init__(self, url: str | URL, *, may_be_down: bool = False) -> None:
        address = parse_address(url) if isinstance(url, str) else url
        engine = create_writing_engine(address, creates=False)
        super().__init__(engine, address.render_as_string(hide_password=True))
        self._file = Path(str(address.database)) if address.drivername == "sqlite" else None
        self._held: StoreFile | None = None  # once it is open
        self._turn = threading.RLock()
        self._written_again: Callable[[], None] = lambda: None
        self._wal = None if self._file is None else WalMark(self._engine)
        self._lease: FileLease | ServerLease | None = None
        self._heads: HeadsFile | None = None
        self.signed_list: SignedList | None = None
        self._rows: dict[str, GameRow] = {}
        self._is_open = False
        self._has_noted_devices = True
        self._appended: Callable[[EntryRow], None] | None = None
        self.spool: Spool | None = None
        if self._file is not None:
            with suppress(OSError):  # opening the database says what is wrong
                os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
        try:
            self._open()
        except SQLAlchemyError as error:
            if may_be_down and is_unavailable(error):
                _log.warning("%s: the store can't be opened yet: %s", self.where, cause_of(error))
                return
            self._engine.dispose()
            raise InputError(f"{self.where}: the store can't be opened: {cause_of(error)}") from None

    @classmethod
    def at(cls, path: Path, *, may_be_down: bool = False) -> Store:
        """Open the store in a file, made with its folder for their owner only where they are missing."""
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise InputError(f"{path.parent}: the folder can't be made: {error.strerror}") from None
        url = URL.create("sqlite", database=str(path.absolute()))  # a name may have a ? in it
        return cls(url, may_be_down=may_be_down)

    @property
    def is_on_server(self) -> bool:
        """Whether it is a database on a server, which may be away while the rig runs."""
        return self._file is None

    def lease(self, owner: GameOwner) -> None:
        """Become the only program that goes on with an owner's games in this store, until it is closed.

        While a server can't be asked, nothing is written to it; it is asked again with each entry.

        Raises:
            InputError: another program does so; it is named.
        """
        remedy = "give this one a data folder of its own with --set data=FOLDER: it is another rig then."
        thing = LeasedThing(f"The store {self.where} of this rig ({owner.rig})", remedy)
        if self._file is None:
            self._lease = ServerLease(self._engine, owner.rig, thing, owner.table)
            with suppress(OutputError):
                self._lease.acquire()
        else:
            beside = self._file.with_name(f".{self._file.name}.{owner.rig}.lock")
            self._lease = FileLease(beside, thing, owner.table)

    def keep_heads(self, heads: HeadsFile) -> None:
        """Keep where journals and devices stand in a second place from now on, until the store is closed."""
        self._heads = heads
        self._note_devices()

    def follow(self, appended: Callable[[EntryRow], None]) -> None:
        """Call a function with the last entry that is on disk after each append; it must neither wait nor fail."""
        self._appended = appended

    def when_written_again(self, call: Callable[[], None]) -> None:
        """Call a function after the file, deleted with all that lay beside it, was written again; it must not fail."""
        self._written_again = call

    def devices(self) -> list[DeviceRow]:
        """Return every paired device, in the order they were paired; as last read while a server is away."""
        try:
            devices = super().devices()
        except OutputError:
            if self.spool is None:
                raise
            return self.spool.devices()
        if self.spool is not None:
            self.spool.keep_devices(devices)
        return devices

    def close(self) -> None:
        """Close its connections, and let another program go on with the games."""
        if self._heads is not None:
            self._heads.close()
        try:
            with self._turn:
                self._check_file()
        except OutputError as error:
            _log.error("%s", error)
        if self._wal is not None:
            self._wal.clear()
        if self._held is not None:
            self._held.close()
        if self._lease is not None:
            self._lease.close()
        super().close()

    def append(self, entries: Sequence[EntryRow], game: GameRow | None = None) -> None:
        """Append entries, all or none; they are on disk when this returns.

        Args:
            entries: of one game, numbered and sealed.
            game: the game itself, with its first entry.

        Raises:
            ForeignEntriesError: another process writes the same game.
            OutputError: the disk or server does not accept them.
        """
        try:
            if self._lease is not None:
                self._lease.renew()
            with self._transaction(len(entries)) as connection:
                if game is not None:
                    connection.execute(insert(GAMES).values(number=NEXT_NUMBER, **values_of(game)))
                connection.execute(insert(ENTRIES), [values_of(entry) for entry in entries])
                if self.signed_list is not None:
                    row = self._row_of(connection, entries[0].game) if game is None else game
                    self.signed_list.note_entries(connection, row, entries)
        except IntegrityError:
            raise ForeignEntriesError(f"{self.where}: another process writes game {entries[0].game}") from None
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the store can't be written: {cause_of(error)}") from None
        self._note_entry(entries[-1], game)
        if self._appended is not None:
            self._appended(entries[-1])

    def drop_game(self, game: str) -> None:
        """Delete a game, such as an earlier showing of a recording that plays over and over."""
        with self._writing() as connection:
            connection.execute(delete(ENTRIES).where(ENTRIES.c.game == game))
            connection.execute(delete(GAMES).where(GAMES.c.id == game))
            if self.signed_list is not None:
                self.signed_list.note_dropped(connection, game)

    def keep_team(self, team: str, content: str, at_ns: int) -> None:
        """Save a team, in place of one of the same id."""
        with self._writing() as connection:
            connection.execute(delete(TEAMS).where(TEAMS.c.id == team))
            connection.execute(insert(TEAMS).values(id=team, content=content, at_ns=at_ns))

    def drop_team(self, team: str) -> bool:
        """Delete a team; return whether there was one."""
        with self._writing() as connection:
            return connection.execute(delete(TEAMS).where(TEAMS.c.id == team)).rowcount > 0

    def keep_device(self, device: DeviceRow) -> None:
        """Save a newly paired device."""
        with self._writing() as connection:
            connection.execute(insert(DEVICES), values_of(device))
            if self.signed_list is not None:
                self.signed_list.note_device(connection, device.id, device)
        self._note_devices()

    def drop_device(self, device: str) -> bool:
        """Delete a device, so that its token is no longer valid; return whether there was one."""
        with self._writing() as connection:
            is_dropped = connection.execute(delete(DEVICES).where(DEVICES.c.id == device)).rowcount > 0
            if self.signed_list is not None and is_dropped:
                self.signed_list.note_device(connection, device, None)
        self._note_devices()
        return is_dropped

    def _note_entry(self, last: EntryRow, game: GameRow | None) -> None:
        if self._heads is None:
            return
        if not self._has_noted_devices:
            self._note_devices()
        if game is not None:
            self._rows[game.id] = game
        with suppress(OutputError):  # a server that went away at this moment: the next entry is noted
            row = self._rows.get(last.game) or self.game(last.game)
            if row is not None:
                self._rows[row.id] = row
                self._heads.note_entry(row, last)

    def _row_of(self, connection: Connection, game: str) -> GameRow:
        if game not in self._rows:
            self._rows[game] = GameRow(*connection.execute(GAME_ROWS.where(GAMES.c.id == game)).one())
        return self._rows[game]

    def _note_devices(self) -> None:
        """Note the devices, or leave it to the next entry while a server is away."""
        self._has_noted_devices = False
        with suppress(OutputError):
            devices = super().devices()
            if self.spool is not None:
                self.spool.keep_devices(devices)
            if self._heads is not None:
                self._heads.note_devices(devices)
            self._has_noted_devices = True

    def _open(self) -> None:
        """Make the tables of a store that has none, and watch over its file."""
        with transaction(self._engine) as connection:
            create_tables(connection, self.where)
        if self._file is not None:
            try:
                self._held = StoreFile(self._file)
            except (sqlite3.Error, OSError) as error:
                raise InputError(f"{self.where}: the store can't be opened: {error}") from None
        self._is_open = True

    def _check_file(self) -> None:
        """Make sure that what is written is in the file of the store's name. Raises OutputError: it can't be."""
        if self._held is not None and self._held.check():
            _log.error("%s: the store was deleted while it was in use. It is written again, whole.", self.where)
            self._engine.dispose()  # its connections are to the deleted file
            self._written_again()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._transaction() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the store can't be written: {cause_of(error)}") from None

    @contextmanager
    def _transaction(self, entries: int = 1) -> Iterator[Connection]:
        if not self._is_open:
            try:
                self._open()
            except InputError as error:
                raise OutputError(str(error)) from None
        # One at a time, as SQLite wants it anyway: none is on its way to a file that is about to be written again.
        with self._turn if self._file is not None else nullcontext():
            self._check_file()
            try:
                with transaction(self._engine) as connection:
                    if self._wal is not None:
                        self._wal.set(connection)
                    yield connection
            except BaseException:
                if self.signed_list is not None:
                    self.signed_list.forget()
                raise
            if self._wal is not None:
                self._wal.add(entries)
