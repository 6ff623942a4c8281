"""Puts what the desk sends for more than one game in its place at a rig: teams, the schedule, a calibration, grants."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from downfield.api.http.requests import TeamRequest
from downfield.api.security.grants import GrantedAccess
from downfield.calibration.calibration import Calibration
from downfield.core.errors import DownfieldError, RefusedError
from downfield.core.scene import Jersey, Player
from downfield.game.published.hub import Hub
from downfield.game.published.schedule_topic import ScheduledGameView, ScheduleView
from downfield.rig.tournament.push_payloads import PushedAccess, PushedSchedule, PushedTeam, PushedTeams
from downfield.store.writing.store import Store

TEAM_PREFIX: Final = "event-"
"""Begins the ids of saved teams that a desk has sent; the next ones it sends are in their place."""

_LIGHT_FROM: Final = 140.0
"""Brightness of a team's color, 0..255, from which its figures are taken for light ones."""

SaveProfile = Callable[[Calibration], None]
"""Saves a calibration as the table in use, so that a restart finds it."""


class PushedMaterial:
    """Keeps what was sent where the rig and its panel find it.

    Args:
        store: of the rig, with the saved teams.
        hub: publishes the schedule.
        table: the table's name.
        save_profile: saves a calibration; None where no camera is configured.
        grants: decides about the desk's grants; None where none are taken.

    """

    def __init__(
        self,
        store: Store,
        hub: Hub,
        table: str,
        save_profile: SaveProfile | None = None,
        grants: GrantedAccess | None = None,
    ) -> None:
        self._store, self._hub, self._table, self._save_profile = store, hub, table, save_profile
        self._grants = grants

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
        games = tuple(ScheduledGameView(id=game.id, begins=game.begins, home=game.home, away=game.away) for game in own)
        self._hub.publish("schedule", ScheduleView(event=sent.event, games=games))
        return f"{len(own)} of the {len(sent.games)} games to be played are at this table."

    def know_desk(self, sent: PushedAccess) -> str:
        """Take the grants of a desk, but those it has revoked, and return what was done.

        Raises:
            RefusedError: this table takes none.

        """
        if self._grants is None:
            raise RefusedError("this table takes no grants")
        return self._grants.take(sent.key, sent.revoked)

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
