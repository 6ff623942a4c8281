"""Rigs as processes on one store and in shared data folders, started, stopped and killed at any moment, lose nothing.

Four programs: two rigs, one more with the first one's data folder, one more with a copy of its identity elsewhere. Each
keeps its own game, or is refused by name in one line.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from postgres_server import postgres_server, skip_without_postgres
from served_games import FakeRig
from waiting import WAIT_S, let_run

from downfield.core.errors import DownfieldError
from downfield.core.field.model import preset
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load
from downfield.rig.games.kept_games import leased_data_folder, open_checkpoints, open_rig_key, open_store
from downfield.store.history import History
from downfield.store.writing.journals import StoredJournals

PROGRAMS = {"attic": ("a", "a"), "hall": ("b", "b"), "attic again": ("a", "a"), "copy of the attic": ("c", "a")}
"""Each program's data folder, and the folder whose identity it has."""

forkserver = multiprocessing.get_context("forkserver")
forkserver.set_forkserver_preload([__name__])


def serve(connection: Connection, folder: str, url: str, table: str) -> None:
    """Be a rig, as `downfield run` opens its games: say its game or why it is refused, then do as it is told."""
    given = {"data": folder, "store.url": url, "rig.table": table}
    configuration = load(None, command_line=given).settings
    try:
        with leased_data_folder(configuration), tempfile.TemporaryDirectory() as temporary:
            key = open_rig_key(Path(folder), must_be_kept=True)
            store, owner = open_store(configuration, Path(temporary), key, live=True)
            service = GameService(
                StoredJournals(store, open_checkpoints(configuration, key)),
                Hub(),
                FakeRig(None),
                preset("ultimate"),
                load_rulebook("tap"),
                lambda: 1_000,
                owner,
            )
            if service.resume() is None:
                service.start_game(NewGame())
            connection.send(("game", service.game_id))
            while (order := connection.recv()) != "stop":
                if order == "new game":
                    connection.send(service.start_game(NewGame()))
                elif order == "declared":
                    row = store.game(service.game_id)
                    events = [] if row is None else History(store, row).events
                    connection.send([each.body.spot_yd for each in events if isinstance(each.body, SetUp)])
                else:
                    receipt = service.declare(SetUp("home", 1, order), Submission())
                    connection.send(isinstance(receipt, Accepted) and receipt.saved)
            service.close()
            store.close()
            connection.send("stopped")
    except DownfieldError as error:
        connection.send(("refused", str(error)))


@dataclass
class Running:
    """A program that runs, and the game it plays."""

    process: BaseProcess
    connection: Connection
    game: str

    def order(self, what: Any) -> Any:
        self.connection.send(what)
        assert self.connection.poll(WAIT_S), f"no answer to {what}"
        return self.connection.recv()


class TwoRigs(RuleBasedStateMachine):
    """Any interleaving of what people do to rigs."""

    server: ClassVar[str] = ""
    """Address of a PostgreSQL server; empty for an SQLite file."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.running: dict[str, Running] = {}
        self.kept: dict[str, tuple[str, list[float], list[float]]] = {}
        """By identity: the game, what must be in it, and what may follow: a declaration that a kill met."""
        self.next_yd = 0.0

    @initialize()
    def make(self) -> None:
        for folder in "abc":
            (self.folder / folder).mkdir()
        open_rig_key(self.folder / "a", must_be_kept=True)
        shutil.copy(self.folder / "a" / "rig.key", self.folder / "c" / "rig.key")
        self.url = self.server or f"sqlite:///{self.folder}/games.db"
        if self.server:
            with psycopg.connect(self.server) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")

    def in_the_way(self, name: str) -> list[str]:
        """Return the running programs that have this one's folder or identity."""
        folder, identity = PROGRAMS[name]
        return [each for each in self.running if folder == PROGRAMS[each][0] or identity == PROGRAMS[each][1]]

    def begin(self, name: str) -> tuple[Running, tuple[str, str]]:
        ours, theirs = forkserver.Pipe()
        folder, _ = PROGRAMS[name]
        process = forkserver.Process(
            target=serve, args=(theirs, str(self.folder / folder), self.url, name), daemon=True
        )
        process.start()
        theirs.close()
        assert ours.poll(WAIT_S), f"{name} says nothing"
        said = ours.recv()
        return Running(process, ours, said[1]), said

    @rule(name=st.sampled_from(sorted(PROGRAMS)))
    def start(self, name: str) -> None:
        if name in self.running:
            return
        others = self.in_the_way(name)
        if self.server and name == "copy of the attic" and not others:
            return  # what a killed rig has not yet sent to its server is in its own data folder only
        until = time.monotonic() + WAIT_S
        while True:
            begun, said = self.begin(name)
            if said[0] == "game" or others or time.monotonic() > until:
                break
            end(begun)  # a server needs a moment to see that a killed program's connection is gone
        if others:
            assert said[0] == "refused", f"{name} runs beside {others}"
            assert "is in use by table" in said[1], said
            assert any(f"'{each}'" in said[1] for each in others), said
            assert "\n" not in said[1]
            end(begun)
            return
        assert said[0] == "game", said
        self.running[name] = begun
        identity = PROGRAMS[name][1]
        if identity not in self.kept:
            self.kept[identity] = (begun.game, [], [])
        game, kept, may_follow = self.kept[identity]
        assert begun.game == game, "another game was resumed"
        found = begun.order("declared")
        assert found in (kept, kept + may_follow), (found, kept, may_follow)
        self.kept[identity] = (game, found, [])

    @rule(name=st.sampled_from(sorted(PROGRAMS)))
    def stop(self, name: str) -> None:
        if name in self.running:
            program = self.running.pop(name)
            assert program.order("stop") == "stopped"
            end(program)

    @rule(name=st.sampled_from(sorted(PROGRAMS)))
    def kill(self, name: str) -> None:
        if name in self.running:
            end(self.running.pop(name))

    @rule(name=st.sampled_from(sorted(PROGRAMS)))
    def declare(self, name: str) -> None:
        if name in self.running:
            self.next_yd = self.next_yd % 90 + 1
            assert self.running[name].order(self.next_yd) is True
            self.kept[PROGRAMS[name][1]][1].append(self.next_yd)

    @rule(name=st.sampled_from(sorted(PROGRAMS)), after_s=st.sampled_from([0.0, 0.001, 0.01, 0.05]))
    def declare_and_kill(self, name: str, after_s: float) -> None:
        """Kill a rig while it keeps a declaration: that one is kept or not, and all before it are."""
        if name in self.running:
            program = self.running.pop(name)
            self.next_yd = self.next_yd % 90 + 1
            program.connection.send(self.next_yd)
            let_run(after_s)
            end(program)
            self.kept[PROGRAMS[name][1]][2].append(self.next_yd)

    @rule(name=st.sampled_from(sorted(PROGRAMS)))
    def new_game(self, name: str) -> None:
        if name in self.running:
            self.kept[PROGRAMS[name][1]] = (self.running[name].order("new game"), [], [])

    @invariant()
    def no_program_ended_by_itself(self) -> None:
        for name, program in self.running.items():
            assert program.process.is_alive(), f"{name} ended"

    def teardown(self) -> None:
        for program in self.running.values():
            end(program)
        shutil.rmtree(self.folder)


def end(program: Running) -> None:
    """Kill a program, if it has not ended."""
    with suppress(ProcessLookupError):
        os.kill(program.process.pid or 0, signal.SIGKILL)
    program.process.join()
    program.process.close()
    program.connection.close()


SOME = settings(max_examples=3, stateful_step_count=14, suppress_health_check=list(HealthCheck))


def test_two_rigs_on_a_file() -> None:
    run_state_machine_as_test(TwoRigs, settings=SOME)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    skip_without_postgres()
    with postgres_server() as address:
        yield address


class _OnServer(TwoRigs):
    """The same, on a PostgreSQL server."""


def test_two_rigs_on_a_server(server: str) -> None:
    _OnServer.server = server
    run_state_machine_as_test(_OnServer, settings=SOME)
