"""The rigs that a desk watches, kept in a private file with the keys by which they let it watch."""

from __future__ import annotations

import secrets
import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal

from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.records import check, read_record, record, to_json

MAX_TABLES = 200
MAX_NAME = 40


@record
class TableEntry:
    """A table's rig.

    Attributes:
        id: unique at this desk.
        name: the table's, such as ``"Table 3"``.
        address: of the rig's start page.
        token: by which the rig lets the desk watch; empty where it asks for none.
        certificate: SHA-256 of the rig's own certificate, hex; empty without TLS or for one that others vouch for.

    """

    id: str
    name: str
    address: str
    token: str = ""
    certificate: str = ""

    def __post_init__(self) -> None:
        check(0 < len(self.name.strip()) <= MAX_NAME, InputError, "a table has a name of 1 to 40 letters")


@record
class AddressBookFile:
    """The file of the tables."""

    tables: tuple[TableEntry, ...] = ()
    format: Literal["downfield-desk-tables"] = "downfield-desk-tables"
    version: Literal[1] = 1


class AddressBook:
    """The tables of a desk. Callable from any thread.

    Args:
        path: its file.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._tables = read_record(AddressBookFile, path).tables if path.exists() else ()

    @property
    def tables(self) -> tuple[TableEntry, ...]:
        """Every table, in the order they were added."""
        return self._tables

    def add(self, name: str, address: str, token: str, certificate: str) -> TableEntry:
        """Add a table, or give one of that name another rig.

        Raises:
            InputError: the name is impossible, or there are too many tables.
            OutputError: it can't be kept.

        """
        with self._lock:
            known = next((table for table in self._tables if table.name.casefold() == name.strip().casefold()), None)
            if known is None and len(self._tables) >= MAX_TABLES:
                raise InputError(f"A desk watches at most {MAX_TABLES} tables.")
            identity = known.id if known is not None else secrets.token_hex(4)
            entry = TableEntry(identity, name.strip(), address, token, certificate)
            if known is None:
                self._keep((*self._tables, entry))
            else:
                self._keep(tuple(entry if table == known else table for table in self._tables))
            return entry

    def rename(self, identity: str, name: str) -> TableEntry:
        """Give a table another name.

        Raises:
            NotFoundError: there is no such table.
            InputError: the name is impossible or another table's.
            OutputError: it can't be kept.

        """
        with self._lock:
            known = self._find(identity)
            if any(table != known and table.name.casefold() == name.strip().casefold() for table in self._tables):
                raise InputError(f"Another table is called '{name.strip()}'.")
            renamed = replace(known, name=name.strip())
            self._keep(tuple(renamed if table == known else table for table in self._tables))
            return renamed

    def remove(self, identity: str) -> TableEntry:
        """Stop watching a table.

        Raises:
            NotFoundError: there is no such table.
            OutputError: it can't be kept.

        """
        with self._lock:
            known = self._find(identity)
            self._keep(tuple(table for table in self._tables if table != known))
            return known

    def _find(self, identity: str) -> TableEntry:
        found = next((table for table in self._tables if table.id == identity), None)
        if found is None:
            raise NotFoundError("The desk watches no such table.")
        return found

    def _keep(self, tables: tuple[TableEntry, ...]) -> None:
        try:
            make_private_folder(self._path.parent)
            replace_private_file(self._path, to_json(AddressBookFile, AddressBookFile(tables)).encode())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
        self._tables = tables
