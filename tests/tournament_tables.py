"""Tables and a desk over a broker of the tests' own: a rig kept by hand, and a desk without a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from broker_server import BrokerServer
from desk_server import DeskServer

from downfield.api.security.access import AccessPolicy
from downfield.core.field.model import preset
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.grant_keeper import GrantKeeper
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.game.records.commands import NewGame
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament.broker_thread import BrokerThread


@contextmanager
def table(
    folder: Path, brokering: BrokerServer, new_game: NewGame | None = None, **settings: object
) -> Iterator[Scorekeeper]:
    """A table that is called as its folder."""
    given = {
        "data": str(folder),
        "rig.table": folder.name,
        "service.port": 0,
        "tournament.servers": [f"nats://127.0.0.1:{brokering.port}"],
        "tournament.credentials": str(brokering.files.tables[0]),
        **settings,
    }
    keeper = Scorekeeper(load(environment={}, command_line=given), preset("ultimate"), new_game)
    try:
        yield keeper
    finally:
        keeper.close()


@contextmanager
def desk_over(folder: Path, brokering: BrokerServer, access: AccessPolicy | None = None) -> Iterator[DeskServer]:
    """A desk with its pages, which follows and sends, and stores no journals."""
    grants, tables = GrantKeeper(folder), BrokerTables()
    pushes = PushKeeper(folder / "pushes.json", grants.standing)
    thread = BrokerThread(brokering.access("desk"), (tables.run, pushes.run), "desk")
    thread.start()
    tournament = SimpleNamespace(statuses=tables.statuses, tables=tables, pushes=pushes)
    server = DeskServer(folder, access, cast("DeskTournament", tournament), grants)
    try:
        yield server
    finally:
        server.close()
        thread.close()
