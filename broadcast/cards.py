"""The cards of the stream: a drive, a player, a line-up, both teams, a call under review, the standings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from downfield.core.errors import InputError, NotFoundError
from downfield.core.scene import Player
from downfield.core.texts import counted
from downfield.game.published.game_topics import CallView, GameView, TeamView
from downfield.game.published.plays import Play
from downfield.game.published.stream_topics import GraphicRequest, GraphicRow, GraphicView, OnAirPerson
from downfield.officiating.declarations import Side
from downfield.review.pictures.painting import spoken_name
from downfield.review.reports.statistics import drives_of, team_lines
from downfield.store.history import History


def drive_card(game: GameView, history: History) -> GraphicView:
    """Return the last drive in numbers. Raises NotFoundError: there was none yet."""
    drives = drives_of(history.plays())
    if not drives:
        raise NotFoundError("There was no drive in this game yet.")
    drive = drives[-1]
    under_way = drive.side == game.offense and game.phase != "over"
    rows = [
        GraphicRow(label="Plays", values=(str(drive.plays),)),
        GraphicRow(label="Yards", values=(_yards(drive.yards),)),
        GraphicRow(label="Began", values=(drive.start,)),
    ]
    if drive.result and not under_way:
        rows.append(GraphicRow(label="Result", values=(spoken_name(drive.result),)))
    return GraphicView(
        kind="drive", title=_team(game, drive.side).name, subtitle="Drive", side=drive.side, rows=tuple(rows)
    )


def player_card(game: GameView, history: History, players: Sequence[Player], wanted: str) -> GraphicView:
    """Return a player with what it has done in this game. Raises NotFoundError: it is not on the board."""
    player, side = _player(game, players, wanted)
    role = f", {player.role}" if player.role else ""
    return GraphicView(
        kind="player",
        title=f"{_team(game, side).name} {_number(player)}{role}",
        subtitle="In this game",
        side=side,
        rows=tuple(_statistics(history.plays(), player.id)),
    )


def line_up_card(game: GameView, players: Sequence[Player], side: Side) -> GraphicView:
    """Return the figures of a team that are on the board. Raises NotFoundError: the line-up is not known yet."""
    team = _team(game, side)
    own = [player for player in players if player.jersey == team.jersey]
    if not own:
        raise NotFoundError(f"The line-up of {team.name} is not known yet.")
    rows = tuple(GraphicRow(label=one.role or "", values=(_number(one),)) for one in own)
    return GraphicView(kind="line_up", title=team.name, subtitle="Starting line-up", side=side, rows=rows)


def teams_card(game: GameView, history: History) -> GraphicView:
    """Return the numbers of both teams side by side. Raises NotFoundError: nothing was counted yet."""
    rows = _figures(history)
    if not rows:
        raise NotFoundError("There was no play in this game yet.")
    return GraphicView(
        kind="teams", title=f"{game.away.short} at {game.home.short}", subtitle="Game statistics", rows=rows
    )


def full_card(game: GameView, history: History, wanted: GraphicRequest, now_ms: int) -> GraphicView:
    """Return a card over the whole picture, as of the feed's time, ms since 1970: starting soon, halftime, final.

    Raises InputError: the score is final and the game is not over.
    """
    if wanted.kind == "final" and game.phase != "over":
        raise InputError("The game is not over, so there is no final score. End it first.")
    titles = {"starting_soon": "Starting soon", "halftime": "Halftime", "final": "Final"}
    return GraphicView(
        kind=wanted.kind,
        title=wanted.title or titles[wanted.kind],
        subtitle=wanted.subtitle,
        logo=wanted.logo,
        teams=(game.away, game.home),
        rows=() if wanted.kind == "starting_soon" else _figures(history),
        until_ms=None if wanted.countdown_s is None else now_ms + round(1000 * wanted.countdown_s),
    )


def lower_third(
    game: GameView | None, players: Sequence[Player], people: Sequence[OnAirPerson], wanted: GraphicRequest
) -> GraphicView:
    """Return two lines about a person: a player of the line-up, one of the known people by name, or whoever is told.

    Raises InputError: nobody is named; NotFoundError: the player is not on the board.
    """
    side: Side | None = None
    title, known = wanted.title, None
    if wanted.player and game is not None:
        player, side = _player(game, players, wanted.player)
        number = _number(player)
        known = next((one for one in people if one.plays_as(number, _team(game, side))), None)
        title = title or (f"{number} {known.name}" if known else f"{_team(game, side).name} {number}")
        role = (known and known.role) or player.role
        subtitle = ", ".join(part for part in (role, _team(game, side).name if known else "") if part)
    elif title:
        known = next((one for one in people if one.name.casefold() == title.casefold()), None)
        if known is not None and game is not None:
            side = next((one for one in ("home", "away") if known.is_of(_team(game, one))), None)
        subtitle = known.role if known else ""
    else:
        raise InputError("A lower third needs a name, or a player of the line-up.")
    return GraphicView(
        kind="lower_third",
        title=title,
        subtitle=wanted.subtitle or subtitle,
        side=side,
        logo=wanted.logo or (known.picture if known else None),
    )


def _number(player: Player) -> str:
    return player.number or player.id.rpartition("-")[2]


def _figures(history: History) -> tuple[GraphicRow, ...]:
    """Return what was counted for both teams, away and home; nothing before the first play."""
    plays = history.plays()
    if not any(play.is_run for play in plays):
        return ()
    home, away = team_lines(plays, history.rulebook.system.consequences)
    rows = []
    if any(play.is_run and play.gain_yd is not None for play in plays):
        rows.append(GraphicRow(label="Yards", values=(_yards(away.yards), _yards(home.yards))))
    for label, name in (
        ("Plays", "plays"),
        ("First downs", "first_downs"),
        ("Turnovers", "turnovers"),
        ("Sacks", "sacks"),
    ):
        counted = getattr(away, name), getattr(home, name)
        if None not in counted:
            rows.append(GraphicRow(label=label, values=tuple(map(str, counted))))
    return tuple(rows)


def review_card(game: GameView, calls: Sequence[CallView]) -> GraphicView:
    """Return the call that waits for a ruling, or the last one, with its picture. Raises NotFoundError: for none."""
    with_picture = [call for call in calls if call.frame is not None]
    waiting = [call for call in with_picture if call.standing == "open"] or with_picture
    if not waiting:
        raise NotFoundError("No call with a picture was made yet.")
    call = waiting[-1]
    address = f"api/games/{quote(game.game, safe='')}/calls/{quote(call.id, safe='')}"
    return GraphicView(
        kind="review",
        title="Under review" if call.standing == "open" else "The call",
        subtitle=spoken_name(call.text),
        picture=f"{address}/frames/{call.frame}/close-up.jpg",
        rows=tuple(GraphicRow(label=one.id, values=(one.text,)) for one in call.clauses[:1]),
    )


def _player(game: GameView, players: Sequence[Player], wanted: str) -> tuple[Player, Side]:
    player = next((one for one in players if one.id == wanted), None)
    if player is None:
        raise NotFoundError(f"{spoken_name(wanted)} is not on the board.")
    return player, "home" if game.home.jersey == player.jersey else "away"


def _team(game: GameView, side: Side) -> TeamView:
    return game.home if side == "home" else game.away


def _yards(yards: float) -> str:
    return f"{round(yards, 1):.5g}".replace("-", "\u2212")


def _statistics(plays: Sequence[Play], name: str) -> list[GraphicRow]:
    """Return what a figure has done; what it never did is left out, but a carrier's yards."""
    carried = [play for play in plays if play.carrier == name and play.is_run]
    calls = [call for play in plays for call in play.in_force]
    tackles = sum(call.kind in {"tackle", "sack"} and name in call.players[1:] for call in calls)
    catches = sum(call.kind == "reception" and name in call.players for call in calls)
    scores = sum(call.kind == "touchdown" and call.players[:1] == (name,) for call in calls)
    broken = sum(call.kind == "broken_tackle" and call.players[:1] == (name,) for call in calls)
    rows = []
    if carried:
        rows.append(("Carries", str(len(carried))))
        rows.append(("Yards", _yards(sum(play.gain_yd or 0.0 for play in carried))))
    counted = (("Touchdowns", scores), ("Catches", catches), ("Tackles", tackles), ("Broken tackles", broken))
    rows += [(label, str(count)) for label, count in counted if count]
    return [GraphicRow(label=label, values=(value,)) for label, value in rows or [("Plays", "0")]]


MOST_TEAMS: Final = 12  # Lines of a card that can be read from a sofa


@dataclass(frozen=True, slots=True)
class FinalScore:
    """A finished game."""

    home: str
    away: str
    points: tuple[int, int]  # home, away


@dataclass(slots=True)
class _Line:
    name: str
    won: int = 0
    lost: int = 0
    tied: int = 0
    scored: int = 0
    allowed: int = 0

    def add(self, own: int, other: int) -> None:
        self.won += own > other
        self.lost += own < other
        self.tied += own == other
        self.scored += own
        self.allowed += other

    @property
    def order(self) -> tuple[float, int, int, str]:
        """Best first: share of games won, a tie as half a win; difference of points; points; name."""
        share = (self.won + self.tied / 2) / (self.won + self.lost + self.tied)
        return -share, self.allowed - self.scored, -self.scored, self.name.casefold()

    @property
    def text(self) -> str:
        record = "\u2013".join(map(str, (self.won, self.lost, *([self.tied] if self.tied else []))))
        return f"{record}   {self.scored}:{self.allowed}"


def standings_card(games: Iterable[FinalScore]) -> GraphicView:
    """Return the standings over some games: games won, lost and tied, points scored and allowed.

    Teams are told apart by their names, however they are capitalized. Raises NotFoundError: no game is finished.
    """
    lines: dict[str, _Line] = {}
    played = 0
    for game in games:
        played += 1
        home, away = game.points
        for name, own, other in ((game.home, home, away), (game.away, away, home)):
            lines.setdefault(name.casefold().strip(), _Line(name.strip())).add(own, other)
    if not played:
        raise NotFoundError("No game was finished on this rig yet, so there are no standings.")
    best = sorted(lines.values(), key=lambda line: line.order)[:MOST_TEAMS]
    return GraphicView(
        kind="standings",
        title="Standings",
        subtitle=f"After {counted(played, 'game')}",
        rows=tuple(GraphicRow(label=line.name, values=(line.text,)) for line in best),
    )
