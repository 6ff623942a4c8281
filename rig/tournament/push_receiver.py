"""Receives what the tournament's desk sends to this table, and applies it when the game allows.

Nothing is done to a game that is under way: a rulebook is for games that are started afterwards, the next game is
started and a calibration used once the one before is over. What was done is kept on the rig's disk, so a restart
repeats nothing. Teams, the schedule, calibrations and grants are put in their places (`Material`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from downfield.api.http.requests import TeamRequest
from downfield.api.security.grants import GrantedAccess
from downfield.calibration.calibration import Calibration
from downfield.core.errors import DownfieldError, FormatError, RefusedError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import from_json, made_of, read_record, record, to_json
from downfield.core.scene import Jersey, Player
from downfield.game.published.board_topics import ScheduledGameView, ScheduleView
from downfield.game.published.game_topics import Notice
from downfield.game.published.hub import Hub
from downfield.game.receipts import Refused, Submission
from downfield.game.records.commands import NewGame, UseCalibration
from downfield.game.records.entries import CommandCarriedOut
from downfield.game.records.owner import rig_id
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import parse_rulebook
from downfield.rig.tournament.broker import DESK_SUBJECT, BrokerConnection
from downfield.rig.tournament.push_payloads import (
    PUSH_SUBJECT,
    Announcement,
    PushedAccess,
    PushedCalibration,
    PushedGame,
    PushedRulebook,
    PushedSchedule,
    PushedTeam,
    PushedTeams,
    PushList,
    PushReport,
    PushState,
    TablePush,
    signed_report,
)
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store

TEAM_PREFIX: Final = "event-"
"""Begins the ids of saved teams that a desk has sent; the next ones it sends are in their place."""

_LIGHT_FROM: Final = 140.0  # Brightness of a team's color, 0..255, from which its figures are taken for light ones

_SAID_SHOWN: Final = 3  # Announcements that stay on the panel

SaveProfile = Callable[[Calibration], None]  # Saves a calibration as the table in use, so that a restart finds it


class PushedMaterial:
    """Keeps what was sent where the rig and its panel find it.

    Args:
        store: of the rig, with the saved teams.
        grants: decides about the desk's grants.
        save_profile: saves a calibration; None where no camera is configured.
    """

    def __init__(
        self, store: Store, hub: Hub, table: str, grants: GrantedAccess, save_profile: SaveProfile | None = None
    ) -> None:
        self._store, self._hub, self._table, self._save_profile = store, hub, table, save_profile
        self.grants = grants
        self._shown = ScheduleView()

    def say(self, text: str) -> None:
        """Keep on the panel what was announced, with the time."""
        said = (f"{datetime.now().astimezone():%H:%M} {text}", *self._shown.said)
        self._show(said=said[:_SAID_SHOWN])

    def _show(self, **values: object) -> None:
        self._shown = self._shown.model_copy(update=values)
        self._hub.publish("schedule", self._shown)

    def keep_teams(self, sent: PushedTeams) -> str:
        """Save teams in place of those that were sent before, and return what was done."""
        wanted = {f"{TEAM_PREFIX}{team.id}"[:40]: team for team in sent.teams}
        for known in self._store.teams():
            if known.startswith(TEAM_PREFIX) and known not in wanted:
                self._store.drop_team(known)
        for identity, team in wanted.items():
            self._store.keep_team(identity, _request(team).model_dump_json(), time.time_ns())
        refused = [
            f"{figure.number} of {team.sheet.name}" + (f" ({figure.note})" if figure.note else "")
            for team in sent.teams
            for figure in team.figures
            if figure.refused
        ]
        figures = sum(len(team.figures) for team in sent.teams) - len(refused)
        text = f"{len(sent.teams)} teams of {sent.event} with {figures} figures are saved."
        return f"{text} Refused at the weigh-in: {', '.join(refused)}." if refused else text

    def publish(self, sent: PushedSchedule) -> str:
        """Publish the games of this table, and return what was done."""
        own = [game for game in sent.games if game.table.strip().casefold() == self._table.strip().casefold()]
        self._show(event=sent.event, games=tuple(made_of(ScheduledGameView, game) for game in own))
        return f"{len(own)} of the {len(sent.games)} games to be played are at this table."

    def save_calibration(self, calibration: Calibration) -> str:
        """Save a calibration that is in use now, and return what became of it."""
        if self._save_profile is None:
            return "The calibration is in use until the rig is started again."
        try:
            self._save_profile(calibration)
        except DownfieldError as error:
            return f"The calibration is in use until the rig is started again; it can't be saved: {error}"
        return "The calibration is in use and saved."


def _request(team: PushedTeam) -> TeamRequest:
    jersey = _jersey(team.sheet.color)
    players = tuple(
        Player(f"{jersey}-{figure.number}", jersey, figure.number, figure.position)
        for figure in team.figures
        if not figure.refused
    )
    return TeamRequest(**team.sheet.model_dump(), players=players)


def _jersey(color: str) -> Jersey:
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return "light" if 0.299 * red + 0.587 * green + 0.114 * blue >= _LIGHT_FROM else "dark"


LOOK_S: Final = 1.0  # Between two looks whether a game is over, for what waits for that

REPORT_S: Final = 30.0  # A rig reports this often though nothing has changed: the desk may have missed it

AGAIN_S: Final = 2.0  # A rig asks again this long after the desk did not answer

_KEPT: Final = 100
_log = logging.getLogger(__name__)


@record
class PushFile:
    """What this rig knows of what was sent to it."""

    states: dict[str, PushState]  # by id of the push, the latest last
    rulebook: str = ""  # the text of the rulebook in force; empty for the configured one
    schedule: PushedSchedule | None = None  # the games of the event, as they were sent last; None before
    # signatures of the tickets of games that were started, so that one sent again starts no second game
    played: tuple[str, ...] = ()
    format: Literal["downfield.pushes"] = "downfield.pushes"
    version: Literal[1] = 1


class PushReceiver:
    """Applies what the desk sends, for as long as it is connected.

    Args:
        path: file in which it keeps what was done.
        material: keeps teams, the schedule and calibrations.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
    """

    def __init__(self, path: Path, hub: Hub, key: RigKey, table: str, material: PushedMaterial) -> None:
        self._path, self._hub, self._key, self._table, self._material = path, hub, key, table, material
        self._known = read_record(PushFile, path) if path.exists() else PushFile({})
        self._game: GameService | None = None
        self._waiting: tuple[TablePush, ...] = ()

    def attach(self, game: GameService) -> None:
        """Apply what comes to a game service; a rulebook and a schedule that came before are in force at once."""
        if self._known.rulebook:
            game.rulebook = parse_rulebook(self._known.rulebook, "the tournament's rulebook")
        if self._known.schedule is not None:
            self._material.publish(self._known.schedule)
        self._game = game

    async def run(self, connection: BrokerConnection) -> None:
        """Receive for as long as a connection lasts."""
        changed = await connection.follow(DESK_SUBJECT)
        reported: dict[str, PushState] | None = None
        quiet_s = 0.0
        while True:
            if changed.is_set() or reported != self._known.states or quiet_s >= REPORT_S:
                changed.clear()
                sent = dict(self._known.states)
                try:
                    await self._exchange(connection, sent)
                    quiet_s = 0.0
                except DownfieldError:  # no desk is there now, or it is busy
                    quiet_s = REPORT_S - AGAIN_S
                reported = sent
            await asyncio.to_thread(self._apply_waiting)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):  # `wait_for` of Python 3.11 may swallow the end of the connection
                    await changed.wait()
            quiet_s += LOOK_S

    async def _exchange(self, connection: BrokerConnection, states: dict[str, PushState]) -> None:
        report = signed_report(self._key, self._table, states)
        answer = await connection.request(PUSH_SUBJECT, to_json(PushReport, report).encode())
        found = from_json(PushList, answer, path=PUSH_SUBJECT)
        fault = found.fault(rig_id(self._key.public_text), report.nonce)
        if fault:
            raise FormatError(PUSH_SUBJECT, fault)
        if found.at_ns:
            self._material.grants.set_clock(found.key, found.at_ns)
        self._waiting = found.pushes

    def _apply_waiting(self) -> None:
        if self._game is None:
            return
        latest = newest(self._waiting)
        for push in self._waiting:
            if push in latest:
                self.apply(push)
            elif not self._is_settled(push):
                self._keep(push, PushState("replaced", "a later one was sent before it could be applied"))

    def _is_settled(self, push: TablePush) -> bool:
        known = self._known.states.get(push.id)
        return known is not None and known.status != "waiting"

    def apply(self, push: TablePush) -> PushState:
        """Apply a push if that can be done now and was not done before; return what became of it."""
        known = self._known.states.get(push.id)
        if known is not None and self._is_settled(push):
            return known
        state = known or PushState("waiting", "until a game can be played")
        if self._game is not None:
            state = self._applied(push, self._game)
        if state != known:
            self._keep(push, state)
        return state

    def _applied(self, push: TablePush, game: GameService) -> PushState:
        payload, by = push.payload, f"{push.by} (desk)"
        if isinstance(payload, PushedGame):
            ticket = payload.game.match
            if ticket is not None and ticket.signature in self._known.played:
                return PushState("applied", f"{ticket.match} was started at this table before.")
            started = f"{payload.game.home.name} against {payload.game.away.name} has started."
            return _hindrance(payload.game, push.id, by, game) or PushState("applied", started)
        if isinstance(payload, PushedCalibration):
            hindrance = _hindrance(UseCalibration(calibration=payload.calibration), push.id, by, game)
            return hindrance or PushState("applied", self._material.save_calibration(payload.calibration))
        try:
            text = self._put_in_place(payload, push.by, game)
        except DownfieldError as error:
            return PushState("refused", str(error))
        game.note(CommandCarriedOut(f"desk_{payload.type}", text, by, "admin"))
        return PushState("applied", text)

    def _put_in_place(
        self,
        payload: Announcement | PushedRulebook | PushedTeams | PushedSchedule | PushedAccess,
        by: str,
        game: GameService,
    ) -> str:
        """Put in place what waits for no game, and return what was done."""
        if isinstance(payload, Announcement):
            self._hub.publish("notice", Notice(level="warning", text=f"{by}: {payload.text}"))
            self._material.say(f"{by}: {payload.text}")
            return payload.text
        if isinstance(payload, PushedAccess):
            return self._material.grants.take(payload.key, payload.revoked)
        if isinstance(payload, PushedTeams):
            return self._material.keep_teams(payload)
        if isinstance(payload, PushedSchedule):
            return self._material.publish(payload)
        game.rulebook = parse_rulebook(payload.toml, "the tournament's rulebook")
        return f"{game.rulebook.title} is for the games that start from now on."

    def _keep(self, push: TablePush, state: PushState) -> None:
        states = {**self._known.states, push.id: state}
        changed = replace(self._known, states=dict(list(states.items())[-_KEPT:]))
        if isinstance(push.payload, PushedRulebook) and state.status == "applied":
            changed = replace(changed, rulebook=push.payload.toml)
        if isinstance(push.payload, PushedSchedule) and state.status == "applied":
            changed = replace(changed, schedule=push.payload)
        if isinstance(push.payload, PushedGame) and push.payload.game.match and state.status == "applied":
            changed = replace(changed, played=(*changed.played, push.payload.game.match.signature)[-_KEPT:])
        self._known = changed
        try:
            replace_private_file(self._path, to_json(PushFile, changed).encode())
        except OSError as error:  # it counts all the same; after a restart the desk sends it again
            _log.warning("%s: can't be written: %s", self._path, error.strerror)


def _hindrance(command: NewGame | UseCalibration, push: str, by: str, game: GameService) -> PushState | None:
    """Carry out a command between games; return why that is not done, None where it is."""
    if not is_between_games(game):
        return PushState("waiting", "until the game at the table is signed, or a new one is started there")
    receipt = game.command(command, Submission(by, f"desk {push}", role="admin"))
    return PushState("refused", receipt.reason) if isinstance(receipt, Refused) else None


def newest(pushes: Sequence[TablePush]) -> list[TablePush]:
    """Return pushes without those that a later one of their kind replaces, in order; announcements are all kept."""
    last = {push.payload.type: push.id for push in pushes}
    return [push for push in pushes if push.id == last[push.payload.type] or isinstance(push.payload, Announcement)]


def is_between_games(game: GameService) -> bool:
    """Return whether no game is under way: none is in play, or nothing has happened in it yet.

    One that is over but not signed yet is under way still: its coaches are.
    """
    try:
        with game.in_play() as session:
            declared = {declaration.type for declaration in session.declarations()}
            return declared <= {"line_up"} and not session.calls()
    except RefusedError:
        return True
