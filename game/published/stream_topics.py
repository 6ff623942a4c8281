"""Topics about the stream, as pydantic models: replay, card, sponsors, what is on air, and a card game's strip.

Topic `strip` is what the strip of a card game says, and the question when the game says something else.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field

from downfield.core.strip import Third
from downfield.game.published.game_topics import TeamView
from downfield.game.records.commands import Logo
from downfield.game.records.models import RequestModel, TopicModel
from downfield.officiating.declarations import Side


class ReplayView(TopicModel):
    """Topic `replay`: the replay that the overlay shows, or has shown last."""

    take: int = Field(default=0, description="Counts the replays of this run: a new number is a new replay.")
    state: Literal["none", "making", "ready", "failed"] = Field(
        default="none", description="none: off the overlay; ready: the clip can be loaded and is to be shown."
    )
    game: str = Field(default="", description="The game's id.")
    call: str = Field(default="", description="The call's id.")
    text: str = Field(default="", description="The call in words; why it failed, if it did.")
    clip: str = Field(default="", description="Path of the clip, relative to the start page.")
    seconds: float = Field(default=0.0, description="How long it plays.")
    automatic: bool = Field(default=False, description="Whether it was made by itself, not at a person's request.")
    speed: float = Field(default=1.0, description="How fast the clip is played; it is slow motion by itself.")
    frozen: bool = Field(default=False, description="Whether its picture is held.")


class GraphicRow(TopicModel):
    """A row of a graphic."""

    label: str
    values: tuple[str, ...] = Field(description="One, or away and home.")


CardKind = Literal[
    "drive", "player", "line_up", "teams", "standings", "review", "message",
    "lower_third", "starting_soon", "halftime", "final",
]  # fmt: skip


class GraphicView(TopicModel):
    """Topic `graphic`: the card that the overlay `graphics` shows."""

    take: int = Field(default=0, description="Counts the cards of this run.")
    kind: Literal["none"] | CardKind = "none"
    title: str = ""
    subtitle: str = ""
    side: Literal["home", "away"] | None = Field(default=None, description="Whose colors it has.")
    rows: tuple[GraphicRow, ...] = ()
    picture: str = Field(default="", description="Path of a picture, relative to the start page; empty for none.")
    logo: str | None = Field(default=None, description="Of a message, as `POST /api/logos` named it; null for none.")
    teams: tuple[TeamView, ...] = Field(
        default=(), description="Of a card over the whole picture: away and home, with their points as it was made."
    )
    until_ms: int | None = Field(
        default=None, description="When the countdown ends, ms since 1970 by the feed's clock; null without one."
    )
    seconds: float = Field(default=8.0, description="How long it stays; 0 until it is taken off.")


_LINE: Final = r"^[^\x00-\x1f\x7f]*$"
Line = Annotated[str, Field(max_length=80, pattern=_LINE)]


class GraphicRequest(RequestModel):
    """Which card to show."""

    kind: CardKind
    player: str = Field(default="", max_length=60, description="Roster id, for a player's card or lower third.")
    side: Side = Field(default="home", description="Whose line-up.")
    title: Line = Field(
        default="", description="Of a message; the name of a lower third; in place of that of a card over all."
    )
    subtitle: str = Field(
        default="", max_length=160, pattern=_LINE, description="The second line, such as a coach's role."
    )
    logo: Logo | None = Field(
        default=None, description="Of a message, or the picture of a lower third, as `POST /api/logos` named it."
    )
    countdown_s: float | None = Field(
        default=None, gt=0, le=86_400, description="Of `starting_soon` and `halftime`: time from now on; null for none."
    )
    seconds: float = Field(default=8.0, ge=0, le=600, description="How long it stays; 0 until it is taken off.")


class SponsorsView(TopicModel):
    """Topic `sponsors`: the logos that the overlay `sponsors` shows in turn. Published once some were chosen."""

    shown: bool = Field(default=True, description="Whether they are on the stream.")
    logos: tuple[Logo, ...] = Field(
        default=(), max_length=24, description="In the order shown, as `POST /api/logos` named them."
    )
    seconds: float = Field(default=10.0, ge=2, le=600, description="How long each stays.")


ProgramElement = Literal["red_zone", "drive", "scrimmage", "to_gain", "trails", "carrier"]
"""What is painted on the board, what lies lowest first."""

ProgramTheme = Literal["broadcast", "chalk", "contrast"]


class ProgramOptions(RequestModel):
    """How the program feed looks."""

    view: Literal["camera", "field"] = Field(
        default="camera", description="The camera's picture as it is, or the field as seen from straight above."
    )
    elements: tuple[ProgramElement, ...] = Field(
        default=("red_zone", "scrimmage", "to_gain", "trails", "carrier"),
        max_length=12,
        description="What is painted on the board, under the figures.",
    )
    tags: Literal["off", "carrier", "all"] = Field(
        default="carrier", description="Whose name tag floats above the board; it never covers a figure."
    )
    theme: ProgramTheme = Field(default="broadcast", description="Colors of the paint.")


OnAirElement = Literal["bug", "banner", "splash", "replay", "cards", "sponsors", "map", "lines", "tags", "names"]
"""What can be on air: an overlay each down to the map of the field; then the lines of scrimmage and to gain, the
program's name tags, and the players' names in them."""

OnAirElements = Annotated[tuple[OnAirElement, ...], Field(max_length=len(get_args(OnAirElement)))]
HexColor = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$", examples=["#10151c"])]


class OnAirStyle(RequestModel):
    """How all overlays look; null leaves what an overlay's address says, or its default."""

    theme: Literal["dark", "light"] | None = None
    font: Literal["archivo", "system", "serif", "rounded", "mono"] | None = None
    plate: HexColor | None = Field(default=None, description="Of the plates that text stands on.")
    accent: HexColor | None = Field(default=None, description="Of calls and headings.")
    corners: Literal["round", "square"] | None = None
    scale: float | None = Field(default=None, ge=0.3, le=3)


class OnAirPerson(RequestModel):
    """A person for lower thirds and name tags: a player by team and number, or a coach, a commentator without."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=_LINE)]
    role: Line = ""
    team: Line = Field(default="", description="The team's name as the game has it, however it is capitalized.")
    number: str = Field(default="", max_length=4, pattern=_LINE, description="A player's; empty for others.")
    picture: Logo | None = Field(default=None, description="As `POST /api/logos` named it.")

    def is_of(self, team: TeamView) -> bool:
        """Return whether the person belongs to a team."""
        return self.team.casefold() in {team.name.casefold(), team.short.casefold()}

    def plays_as(self, number: str, team: TeamView) -> bool:
        """Return whether the person is the player with a number in a team."""
        return self.number == number != "" and self.is_of(team)


class OnAirPreset(RequestModel):
    """A look under a name."""

    name: Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\x00-\x1f\x7f/?#]*$")]
    elements: OnAirElements
    style: OnAirStyle = OnAirStyle()
    program: ProgramOptions = ProgramOptions()


OnAirPeople = Annotated[tuple[OnAirPerson, ...], Field(max_length=400)]
OnAirPresets = Annotated[tuple[OnAirPreset, ...], Field(max_length=40)]
PreparedCards = Annotated[tuple[GraphicRequest, ...], Field(max_length=100)]


class OnAirView(TopicModel):
    """Topic `on_air`: what the producer puts on air, kept over restarts; card and sponsors have topics of their own."""

    elements: OnAirElements = Field(
        default=("bug", "banner", "splash", "replay", "cards", "map", "lines", "tags", "names"),
        description="What is on; `sponsors` is the sponsors' `shown`.",
    )
    style: OnAirStyle = OnAirStyle()
    program: ProgramOptions = Field(default=ProgramOptions(), description="How the program feed looks.")
    people: OnAirPeople = ()
    presets: OnAirPresets = ()
    prepared: PreparedCards = Field(default=(), description="Cards to be shown later, in their order.")


StripStatus = Literal["moving", "covered", "agrees", "differs", "unread", "other"]


class StripAnswer(TopicModel):
    """One answer to a question about the strip."""

    label: str
    declaration: dict[str, Any] | None = Field(
        description="What to declare, as `POST /api/declarations` takes it; null to keep the game as it is, by the"
        " command `keep_game`."
    )


class StripQuestion(TopicModel):
    """The strip says one thing and the game another."""

    id: str
    text: str = Field(description='Such as "The slide says H 34, the game says H 36: which?".')
    answers: tuple[StripAnswer, ...]


class StripView(TopicModel):
    """Topic `strip`: what was last read while the strip was still and nothing was over it.

    Published only where a camera looks at the strip of a card game.
    """

    status: StripStatus = Field(
        description="moving, covered: not read now; agrees with the game or differs from it; unread: still, but slide"
        " and dials can't be read; other: the game in play has no strip."
    )
    text: str = Field(description="One line for people.")
    slide_yd: int | None = Field(default=None, description="Under the slide's line, along x of the board.")
    third: Third | None = Field(default=None, description="Where the ball is.")
    numbers: dict[str, int] = Field(default={}, description="What the dials say, by what they count.")
    confidence: dict[str, float] = Field(
        default={}, description="0..1, of `slide`, `third` and each number; those below 0.9 are not reported."
    )
    unread: tuple[str, ...] = Field(default=(), description="What can't be read, and why.")
    hidden: tuple[str, ...] = Field(
        default=(), description="For each dial that a lamp's reflection hides: what to do, as a sentence."
    )
    question: StripQuestion | None = None
