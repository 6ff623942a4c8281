"""Commands: requests that are not events of a game, each a small model with a literal `command`; who carries them out.

Line-ups, corrections of the state (``set_up``) and the clock are declarations, not commands.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from downfield.calibration.calibration import Calibration
from downfield.game.records.models import RequestModel
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK

Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", examples=["#0b3d91"])]
Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]
Logo = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", examples=["9f86d081884c7d659a2feaa0c55ad015"])]
RulebookName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$", examples=[DEFAULT_RULEBOOK])]


class TeamSheet(RequestModel):
    """A team's names, colors and logo in one game."""

    name: Name = Field(examples=["River City"])
    short: Annotated[str, Field(min_length=1, max_length=4, pattern=r"^[^\x00-\x1f\x7f]+$")] = Field(examples=["RIV"])
    color: Color = "#1d3f72"
    ink: Color = "#ffffff"
    logo: Logo | None = Field(default=None, description="As `POST /api/logos` named it.")


HOME_SHEET: Final = TeamSheet(name="Home", short="H", color="#1d3f72", ink="#ffffff")
AWAY_SHEET: Final = TeamSheet(name="Away", short="A", color="#d9dee4", ink="#10151b")


class MatchTicket(RequestModel):
    """The match of an event that a game is played for, as the director's desk assigned it to one rig."""

    draw: Annotated[str, Field(pattern=r"^[0-9a-f]{1,32}$")] = Field(description="Id of the event's draw.")
    match: Annotated[str, Field(min_length=1, max_length=20)] = Field(description="Id of the match in that draw.")
    sides: tuple[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=40)]] = Field(
        description="Ids of the entrants, home and away."
    )
    names: tuple[Name, Name] = Field(description="The teams, home and away.")
    rig: Annotated[str, Field(max_length=40)] = Field(description="Id of the rig it is assigned to.")
    number: int = Field(default=1, ge=1, description="2 or more for a match that is played again.")
    signature: Annotated[str, Field(max_length=120)] = Field(default="", description="Ed25519 of the desk, base64.")


class NewGame(RequestModel):
    """End the game in play and start another."""

    command: Literal["new_game"] = "new_game"
    rulebook: RulebookName | None = Field(default=None, description="Null to keep the one in force.")
    home: TeamSheet = HOME_SHEET
    away: TeamSheet = AWAY_SHEET
    title: Annotated[str, Field(max_length=120, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    match: MatchTicket | None = Field(default=None, description="The match of an event that it is played for.")


class SetRulebook(RequestModel):
    """Continue the game under another rulebook; only possible between two plays."""

    command: Literal["set_rulebook"] = "set_rulebook"
    rulebook: RulebookName


class Recalibrate(RequestModel):
    """Calibrate the camera's lens and pose again from the printed field."""

    command: Literal["recalibrate"] = "recalibrate"


class UseCalibration(RequestModel):
    """Use a calibration that was made elsewhere."""

    command: Literal["use_calibration"] = "use_calibration"
    calibration: Calibration


class Record(RequestModel):
    """Start or stop the recording."""

    command: Literal["record"] = "record"
    on: bool


class Suspend(RequestModel):
    """Stop or resume making calls from the camera; declarations are accepted either way."""

    command: Literal["suspend"] = "suspend"
    on: bool


class FindFigures(RequestModel):
    """Discard the identities of the figures and match those on the board with the line-up again."""

    command: Literal["find_figures"] = "find_figures"


class KeepGame(RequestModel):
    """Keep the game as it is, against what the strip of a card game says."""

    command: Literal["keep_game"] = "keep_game"
    question: Annotated[str, Field(min_length=1, max_length=40)] = Field(description="Id of the strip's question.")


RigCommand = Recalibrate | UseCalibration | Record | Suspend | FindFigures | KeepGame
"""Commands that the rig carries out."""

Command = Annotated[
    NewGame | SetRulebook | Recalibrate | UseCalibration | Record | Suspend | FindFigures | KeepGame,
    Field(discriminator="command"),
]


class Settings(BaseModel):
    """The configuration in force, for people to read; secrets are left out."""

    model_config = ConfigDict(frozen=True)

    version: str
    values: dict[str, Any] = Field(description="By table and key, as in the configuration file.")
    origins: dict[str, str] = Field(
        {}, description="Where values that are not defaults come from: file, environment, command line."
    )


class RigControl(Protocol):
    """Commands that only the rig can carry out; the game service passes them on."""

    def do(self, command: RigCommand) -> str:
        """Carry out a command, or start to.

        Returns:
            What was done, in words.

        Raises:
            RefusedError: it can't be done now.
            DownfieldError: it failed.
        """

    def calibration(self) -> Calibration | None:
        """Return the calibration in use."""

    def settings(self) -> Settings:
        """Return the configuration in force, without secrets."""
