"""The director's desk in a thread, for tests of its API and pages."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import cast

import uvicorn
from waiting import WAIT_S

from downfield.api.context.access_control import access_control_of
from downfield.api.security.access import AccessPolicy
from downfield.api.security.forwarding import KnownClients
from downfield.api.security.secret_file import SecretFile
from downfield.api.security.tokens import TokenStore
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import DeskTournament, open_desk_tournament
from downfield.desk.service.app import create_desk_app
from downfield.desk.service.parts import DeskParts
from downfield.desk.tables.address_book import AddressBook
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.rig_client import TableWatcher
from downfield.rig.configuration.settings import RigSettings
from downfield.store.writing.store import Store


class DeskServer:
    """A desk over a folder.

    Attributes:
        url: its address.
        parts: of the desk.
        token_store: pairs devices.
    """

    def __init__(
        self,
        folder: Path,
        access: AccessPolicy | None = None,
        tournament: DeskTournament | None = None,
        grants: GrantKeeper | None = None,
        keeper: EventKeeper | None = None,
    ) -> None:
        keeper, book = keeper or EventKeeper(folder / "event.json"), AddressBook(folder / "tables.json")
        grants = grants or GrantKeeper(folder)
        self._own = None if tournament else open_desk_tournament(RigSettings(), keeper, folder, grants)
        self.parts = DeskParts(keeper, book, TableWatcher(), tournament or cast("DeskTournament", self._own), grants)
        self._store = Store.at(folder / "devices.db")
        app = create_desk_app(self.parts, self._store, SecretFile(), access or AccessPolicy(), KnownClients(()))
        self.token_store: TokenStore = access_control_of(app).token_store
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        for table in self.parts.book.tables:
            self.parts.watcher.watch(table)

    def token(self, role: str) -> str:
        """Return the token of a new device of a role."""
        code = self.token_store.make_code(role)  # type: ignore[arg-type]
        redeemed = self.token_store.redeem(code.code, f"a test {role}")
        assert redeemed is not None
        return redeemed[0]

    def close(self) -> None:
        """Stop it."""
        self.parts.watcher.close()
        self._server.should_exit = True
        self._thread.join(WAIT_S)
        self._store.close()
        if self._own is not None:
            self._own.close()
