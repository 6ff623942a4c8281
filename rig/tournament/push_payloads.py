"""What a desk can send to a table, such as teams, the schedule or the next game, and what the table answers."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from downfield.calibration.calibration import Calibration
from downfield.core.errors import InputError
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.records import check, record, to_json
from downfield.game.records.commands import MatchTicket, NewGame, TeamSheet
from downfield.store.sealing.signing import RigKey, is_public_key, is_signed_text

MAX_TEXT: Final = 400
MAX_TOML: Final = 32_000
MAX_TEAMS: Final = 256
MAX_FIGURES: Final = 120  # Of one team
MAX_SCHEDULED: Final = 2000
MAX_REVOKED: Final = 5000


@record
class Announcement:
    """A line for the people at a table."""

    text: str
    team: str = ""  # whose name it begins with, for one that is for a team; the hall's screen shows it as well
    type: Literal["announcement"] = "announcement"

    def __post_init__(self) -> None:
        check(0 < len(self.text.strip()) <= MAX_TEXT, InputError, "an announcement has 1 to 400 letters")


@record
class PushedRulebook:
    """A rulebook for the games that are started from now on, as the text of its file."""

    toml: str
    type: Literal["rulebook"] = "rulebook"

    def __post_init__(self) -> None:
        check(0 < len(self.toml) <= MAX_TOML, InputError, "a rulebook's file has 1 to 32,000 letters")


@record
class PushedFigure:
    """A figure of a team, as it was weighed in."""

    number: str  # on the figure
    position: str = ""  # such as ``"QB"``; empty when not known
    note: str = ""  # what was found; empty for nothing
    refused: bool = False  # whether the officials refused it


@record
class PushedTeam:
    """A team of the event."""

    id: str  # unique among those that are sent together
    sheet: TeamSheet  # its names and colors
    figures: tuple[PushedFigure, ...] = ()

    def __post_init__(self) -> None:
        check(len(self.figures) <= MAX_FIGURES, InputError, f"{self.sheet.name} has more than {MAX_FIGURES} figures")


@record
class PushedTeams:
    """The teams of an event with their rosters, in place of those that were sent before."""

    event: str
    teams: tuple[PushedTeam, ...]
    type: Literal["teams"] = "teams"

    def __post_init__(self) -> None:
        check(0 < len(self.teams) <= MAX_TEAMS, InputError, f"1 to {MAX_TEAMS} teams can be sent")


@record
class ScheduledGame:
    """A game of an event that is not played yet."""

    id: str  # of the game in the event
    table: str  # where it is played
    begins: str  # local time, ISO 8601; empty while it is open
    # home, away: the teams, or where they come from
    home: str
    away: str
    ticket: MatchTicket | None = None  # with which it can be started at its table; None while that is open


@record
class PushedSchedule:
    """The games of an event that are to be played, in order; each table shows its own."""

    event: str
    games: tuple[ScheduledGame, ...]
    type: Literal["schedule"] = "schedule"

    def __post_init__(self) -> None:
        check(0 < len(self.games) <= MAX_SCHEDULED, InputError, f"1 to {MAX_SCHEDULED} games can be sent")


@record
class PushedCalibration:
    """A camera's calibration that was made elsewhere."""

    calibration: Calibration
    type: Literal["calibration"] = "calibration"


@record
class PushedAccess:
    """Whose grants a table takes, and which of them not."""

    key: str  # the desk's public key
    revoked: tuple[str, ...] = ()  # ids of the grants that it has revoked
    type: Literal["access"] = "access"

    def __post_init__(self) -> None:
        check(is_public_key(self.key), InputError, "the desk's key is no public key")
        check(len(self.revoked) <= MAX_REVOKED, InputError, f"at most {MAX_REVOKED} grants are revoked")


@record
class PushedGame:
    """The game that a table plays next: teams with their colors, and its title."""

    game: NewGame
    type: Literal["game"] = "game"


Payload = Annotated[
    Announcement | PushedRulebook | PushedTeams | PushedSchedule | PushedCalibration | PushedAccess | PushedGame,
    Field(discriminator="type"),
]


PUSH_SUBJECT: Final = "downfield.push.get"  # A rig sends here what it has done, and gets what the desk has for it

_SIGNED_AS: Final = b"downfield.push\n"
_LIST_SIGNED_AS: Final = b"downfield.push-list\n"

PushStatus = Literal["waiting", "applied", "refused", "replaced"]


@record
class TablePush:
    """Something that a desk sends to tables."""

    id: str  # unique
    at_ns: int  # wall clock, ns since 1970; a label
    by: str  # who sent it
    title: str  # for people
    payload: Payload
    rigs: tuple[str, ...] = ()  # ids of the rigs it is for; empty for all


@record
class PushState:
    """What became of a push at a table."""

    # ``"waiting"`` for the end of a game, ``"applied"``, ``"refused"`` for good, or ``"replaced"``: a later one of its
    # kind came before this one could be applied
    status: PushStatus
    text: str  # what was done, or why not


@record
class PushReport:
    """A rig's report of what it has done, with which it gets what is new."""

    key: str
    table: str
    states: dict[str, PushState]  # by id of the push
    nonce: str = ""  # random; the answer names it
    signature: str = ""  # Ed25519, base64
    format: Literal["downfield.push-report"] = "downfield.push-report"
    version: Literal[1] = 1

    @property
    def is_signed(self) -> bool:
        """Whether the rig of the key has made it."""
        return is_signed_text(self.key, _signed(self.table, self.states, self.nonce), self.signature)


@record
class PushList:
    """What a desk has for a rig, the earliest first."""

    pushes: tuple[TablePush, ...]
    rig: str  # id of the rig it is for
    nonce: str  # of the report that it answers
    key: str  # the desk's public key
    at_ns: int = 0  # its clock when it answered, ns since 1970
    signature: str = ""  # Ed25519, base64
    format: Literal["downfield.push-list"] = "downfield.push-list"
    version: Literal[1] = 1

    def fault(self, rig: str, nonce: str) -> str:
        """Return why a rig does not take this for the answer to its report; empty where it does."""
        if self.rig != rig or self.nonce != nonce:
            return "the desk's answer is for another table, or for an earlier question"
        is_signed = is_signed_text(self.key, _signed_list(self), self.signature)
        return "" if is_signed else "the desk has not signed this answer"


def signed_report(key: RigKey, table: str, states: dict[str, PushState]) -> PushReport:
    """Return a rig's report."""
    nonce = secrets.token_hex(16)
    signature = key.sign_text(_signed(table, states, nonce))
    return PushReport(key.public_text, table, states, nonce, signature)


def signed_list(key: RigKey, rig: str, nonce: str, pushes: tuple[TablePush, ...]) -> PushList:
    """Return a desk's answer to a report."""
    made = PushList(pushes, rig, nonce, key.public_text, RUN_CLOCK.now_ns())
    return replace(made, signature=key.sign_text(_signed_list(made)))


def _signed(table: str, states: dict[str, PushState], nonce: str) -> bytes:
    rows = [[push, state.status, state.text] for push, state in sorted(states.items())]
    return _SIGNED_AS + json.dumps([table, rows, nonce]).encode()


def _signed_list(answer: PushList) -> bytes:
    return _LIST_SIGNED_AS + to_json(PushList, replace(answer, signature="")).encode()
