"""A hall of many tables on one desk, by HTTP, with cuts and kills: what is lost, or decided wrongly.

``PYTHONPATH=tests python benchmarks/hall.py --tables 50 [--minutes 10] [--kills 10] [--seed 0]``; exits with 1 if so.

The desk is `downfield desk` in a process of its own, with its SQLite file, killed (SIGKILL) and started again. Tables
are simulated in this process: each has its key and journals, gets its games by the director's calls, and sends signed
batches. Requests and answers are lost, batches come again, in parts, and late from tables that were cut off; results
are corrected at tables, and entered by hand beside a cut table. Twice as many teams play Swiss rounds, then the best
eight play on.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from ports import reserve_port
from simulated_event import event_faults, started
from tournament_rig import game_of
from waiting import wait_until

from downfield.core.records import from_json, to_json
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.replication.desk_tournament import GAMES_FILE
from downfield.game.records.entries import GameEnded, GameReopened
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.rig.tournament.journal_sender import APPEND_SUBJECT, POSITIONS_SUBJECT
from downfield.rig.tournament.push_payloads import (
    PUSH_SUBJECT,
    PushedGame,
    PushList,
    PushReport,
    PushState,
    signed_report,
)
from downfield.rig.tournament.table_feed import SIGNATURE_HEADER, TableMessage, sealed_message, subject_of
from downfield.store.database.opening import open_for_reading
from downfield.store.sealing.hash_chain import GENESIS, canonical_json, digest_of, verify_journal
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import BatchReply, JournalBatch, PositionsQuestion, PositionsReply, make_batch

ROUNDS, ADVANCE, LOST = 3, 8, 0.06
KINDS = {"GameStarted": "game_started", "ScoreSigned": "score_signed", "GameEnded": "game_ended"}
ANSWER_S = 20.0


class CutError(Exception):
    """A request or its answer was lost."""


@dataclass(slots=True)
class Game:
    """A game at a table: its journal, and how much of it the desk has answered for."""

    row: GameRow
    entries: list[EntryRow] = field(default_factory=list)
    stored: int = 0
    over: bool = False

    def append(self, content: object) -> None:
        """Write an entry."""
        seq, last = len(self.entries) + 1, self.entries[-1].digest if self.entries else GENESIS
        kind = KINDS.get(type(content).__name__, "game_reopened")
        text = canonical_json(json.loads(to_json(type(content), content)))
        digest = digest_of(last, self.row.id, seq, kind, seq, None, text, None)
        self.entries.append(EntryRow(self.row.id, seq, kind, seq, text, digest))


@dataclass(slots=True)
class Table:
    """A simulated rig.

    Attributes:
        cut_until: step of the hall until which nothing of it arrives.
    """

    name: str
    key: RigKey = field(default_factory=RigKey.generate)
    games: list[Game] = field(default_factory=list)
    states: dict[str, PushState] = field(default_factory=dict)
    cut_until: int = 0

    @property
    def rig(self) -> str:
        """Its id."""
        return rig_id(self.key.public_text)


class Hall:
    """Tables, a desk that is killed, and a director."""

    def __init__(self, folder: Path, tables: int, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.tables = [Table(f"Table {number}") for number in range(1, tables + 1)]
        self.port, self.steps, self.counts = reserve_port(), 0, Counter[str]()
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=ANSWER_S)
        self.desk = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "downfield", "desk", "--port", str(self.port), "--data", str(self.folder)]
        desk = subprocess.Popen(command, cwd=self.folder.parent, stdout=subprocess.DEVNULL)

        def answers() -> bool:
            with suppress(httpx.HTTPError):
                return self.client.get("/api/event").status_code == 200
            return False

        wait_until(answers, "the desk answers")
        return desk

    def kill(self) -> None:
        """Kill the desk, and start it again."""
        self.desk.kill()
        self.desk.wait()
        self.counts["kills"] += 1
        self.desk = self._start()

    def direct(self, method: str, path: str, body: object = None) -> Any:
        """Do what the director does; None where it is refused."""
        answer = self.client.request(method, f"/api{path}", json=body)
        if answer.status_code >= 500:
            raise RuntimeError(f"{path}: {answer.text}")
        return answer.json() if answer.status_code < 400 else None

    def begin(self) -> None:
        """Draw the event."""
        coaches = "\n".join(["coach", *(f"Coach {number}" for number in range(1, 2 * len(self.tables) + 1))])
        self.client.post("/api/event/entrants.csv", content=coaches, headers={"Content-Type": "text/csv"})
        rules = {"swiss": ROUNDS, "advance": ADVANCE, "elimination": "single"}
        for method, path, body in (
            ("PUT", "/event/rules", rules),
            ("PUT", "/event/clock", {"clock": {}, "tables": [table.name for table in self.tables]}),
            ("POST", "/event/draw", None),
            ("POST", "/event/schedule", None),
        ):
            if self.direct(method, path, body) is None:
                raise RuntimeError(f"{path} was refused")
        self.announce()

    def announce(self) -> None:
        """Have every table be heard of, as each is within a second of the desk's start."""
        for table in self.tables:
            about = TableMessage(table.key.public_text, table.name, "health", {"level": "ok"})
            content, headers = sealed_message(table.key, about)
            self.send(table, subject_of(table.rig, "health"), content, headers, sure=True)

    def send(
        self, table: Table, subject: str, content: bytes, headers: dict[str, str] | None = None, *, sure: bool = False
    ) -> bytes:
        """Send what a rig sends, which may be lost; return the answer, which may be lost as well."""
        if not sure and (table.cut_until > self.steps or self.chance.random() < LOST):
            raise CutError
        sent = {"Content-Type": "application/octet-stream", **(headers or {})}
        sent = {("Downfield-Signature" if name == SIGNATURE_HEADER else name): value for name, value in sent.items()}
        answer = self.client.post(f"/api/tournament/{subject}", content=content, headers=sent)
        self.counts["requests"] += 1
        answer.raise_for_status()
        if not sure and self.chance.random() < LOST:
            self.counts["answers lost"] += 1
            raise CutError
        return answer.content

    def step(self) -> None:
        """Have something happen at some table."""
        self.steps += 1
        table = self.chance.choice(self.tables)
        if self.chance.random() < 0.004:
            table.cut_until = self.steps + self.chance.randrange(len(self.tables) * 20)
            self.counts["cuts"] += 1
        with suppress(CutError):
            playing = next((game for game in table.games if not game.over), None)
            if playing is None:
                self._fetch(table)
            elif self.chance.random() < 0.5:
                self._play(playing)
            self._deliver(table)

    def _fetch(self, table: Table) -> None:
        """Get what the director has sent, and start the game that is to be played."""
        report = signed_report(table.key, table.name, table.states)
        answer = self.send(table, PUSH_SUBJECT, to_json(PushReport, report).encode())
        found = from_json(PushList, answer, path=PUSH_SUBJECT)
        played = {game.row.title for game in table.games}
        for push in found.pushes:
            if not isinstance(push.payload, PushedGame) or push.id in table.states:
                continue
            new = push.payload.game
            table.states[push.id] = PushState("applied", "started")
            if new.match is None or new.match.signature in played:
                continue
            row = replace(
                game_of(table.key, f"{len(table.games)}", table.name),
                home=new.home.name,
                away=new.away.name,
                title=new.match.signature,
            )
            table.games.append(Game(row))
            table.games[-1].append(started(new.match))
            self.counts["games"] += 1
            return

    def _play(self, game: Game) -> None:
        score = self.chance.choice([0, 7, 14, 21]), self.chance.choice([3, 10, 17, 24])
        game.append(ScoreSigned("home", "Ann", score, "", "a phone"))
        game.append(ScoreSigned("away", "Bo", score, "", "a phone"))
        game.append(GameEnded("over", score, "both coaches"))
        game.over = True
        if self.chance.random() < 0.04:  # and a referee corrects it
            game.append(GameReopened("a referee", "a spot"))
            game.append(GameEnded("over", (score[0] + 7, score[1]), "a referee"))
            self.counts["corrections"] += 1

    def _deliver(self, table: Table) -> None:
        """Send what the desk has not answered for, of one game, in parts; sometimes all of it again."""
        behind = [game for game in table.games if game.stored < len(game.entries)]
        if not behind:
            return
        game = self.chance.choice(behind)
        if self.chance.random() < 0.1:  # the rig was started again, and asks where the desk stands
            question = PositionsQuestion((game.row.id,))
            answer = self.send(table, POSITIONS_SUBJECT, to_json(PositionsQuestion, question).encode())
            position = from_json(PositionsReply, answer, path=POSITIONS_SUBJECT).positions.get(game.row.id)
            game.stored = 0 if position is None else position.seq
        begin = 0 if self.chance.random() < 0.05 else game.stored
        end = self.chance.randint(min(begin + 1, len(game.entries)), len(game.entries))
        batch = make_batch(table.key, game.row, game.entries[begin:end])
        answer = self.send(table, APPEND_SUBJECT, to_json(JournalBatch, batch).encode())
        reply = from_json(BatchReply, answer, path=APPEND_SUBJECT)
        if reply.status == "refused":
            raise RuntimeError(f"{table.name}: {reply.text}")
        game.stored = reply.seq

    def manage(self) -> bool:
        """Do what the director does now and then; return whether the event is played."""
        for one in self.direct("GET", "/event/waiting") or ():
            choice = self.chance.choice(one["choices"]) if one["choices"] else None
            if choice is None:
                continue
            self.counts["decided by the director"] += 1
            if choice["result"] is None:
                body = {"match": choice["match"], "turned": choice["turned"]}
                self.direct("PUT", f"/event/games/{one['game']}/match?confirmed=true", body)
            else:
                self._enter(choice["match"], choice["result"])
        event = self.direct("GET", "/event")
        cut = {table.name for table in self.tables if table.cut_until > self.steps}
        for match in event["matches"]:
            ready = match["state"] in {"ready", "in_play"} and match["table"] in cut
            if ready and self.chance.random() < 0.2:
                self.counts["entered by hand"] += 1
                self._enter(match["id"], {"home": self.chance.choice([0, 14, 28]), "away": 3})
        self.direct("POST", "/pushes/round")
        decided = all(match["state"] in {"played", "not_needed"} for match in event["matches"])
        if event["next_round"] and decided:
            self.direct("POST", "/event/rounds")
            self.counts["rounds paired"] += 1
        if decided and not event["next_round"] and any(pool["complete"] for pool in event["pools"]):
            return True
        if not event["lots"] and any(" lots to be drawn" in match["home"]["name"] for match in event["matches"]):
            self.direct("PUT", "/event/lots", [entrant["id"] for entrant in event["entrants"]])
        return False

    def _enter(self, match: str, result: dict[str, Any]) -> None:
        known = ("home", "away", "overtime", "forfeited_by", "signed_by", "note", "game")
        body = {name: value for name, value in result.items() if name in known}
        self.direct("PUT", f"/event/matches/{match}/result?confirmed=true", body)

    def deliver_all(self) -> None:
        """Have everything arrive, and the desk look at it."""
        for table in self.tables:
            table.cut_until = 0
            while any(game.stored < len(game.entries) for game in table.games):
                with suppress(CutError):
                    self._deliver(table)

    def faults(self) -> list[str]:
        """Return what is wrong in the desk's files, after it has ended."""
        keeper, found = EventKeeper(self.folder / "event.json"), []
        found += event_faults(keeper.event, keeper.outcomes.waiting)
        with open_for_reading(f"sqlite:///{self.folder / GAMES_FILE}") as opened:
            for game in (game for table in self.tables for game in table.games):
                kept = list(opened.store.entries(game.row.id))
                if [row.digest for row in kept] != [row.digest for row in game.entries]:
                    found.append(f"{game.row.id}: {len(kept)} of {len(game.entries)} entries, or others")
                if problem := verify_journal(game.row.id, kept).problem:
                    found.append(f"{game.row.id}: {problem}")
                known = keeper.event.games.get(game.row.id)
                if known is None or known.seq != len(game.entries):
                    found.append(f"{game.row.id}: the event knows {known and known.seq} of {len(game.entries)}")
        return found


def main() -> int:
    """Play the event, and print what is wrong; return 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10, help="after so many no more games are played")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began_s, done, killed = time.monotonic(), False, 0
    with tempfile.TemporaryDirectory() as folder:
        hall = Hall(Path(folder) / "desk", given.tables, given.seed)
        with closing(hall.client):
            try:
                hall.begin()
                until_s = began_s + 60 * given.minutes
                while not done and time.monotonic() < until_s:
                    for _ in range(6 * given.tables):
                        hall.step()
                    if killed < given.kills and hall.chance.random() < 0.5:
                        killed += 1
                        hall.kill()
                        hall.announce()
                    done = hall.manage()
                hall.deliver_all()
                wanted = {game.row.id: len(game.entries) for table in hall.tables for game in table.games}

                def all_known() -> bool:
                    known = EventKeeper(hall.folder / "event.json").event.games
                    return all(one in known and known[one].seq == seq for one, seq in wanted.items())

                wait_until(all_known, "the event knows every game")
            finally:
                hall.desk.terminate()
                hall.desk.wait()
        found = hall.faults()
        for text in found:
            sys.stdout.write(f"{text}\n")
        matches = EventKeeper(hall.folder / "event.json").event.matches
    counts = ", ".join(f"{number} {name}" for name, number in sorted(hall.counts.items()))
    decided = sum(match.result is not None for match in matches)
    sys.stdout.write(
        f"{given.tables} tables, {time.monotonic() - began_s:.0f} s: {counts}; {decided} of {len(matches)} matches"
        f" decided, the event is {'' if done else 'not '}played to its end; {len(found)} faults\n"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
