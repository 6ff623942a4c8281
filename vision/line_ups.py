"""Who is who, kept from line-up to line-up: roster, formations, teams' colors and sides, and what a person said.

A search finds the next line-up with all of it. Where what is known does not settle who is who, the line-up found asks,
and nothing is learned from it before a person has answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.core.field.model import FieldModel
from downfield.core.scene import ASKED, Asked, Jersey, Player
from downfield.core.track_files import Roster, RosterSpot
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.initialization import LineUpPoses, LineUpSearch
from downfield.vision.tracking.team_evidence import KnownTeams, left_team
from downfield.vision.tracking.teams import TeamColors
from downfield.vision.tracking.tracker import Tracker

_MAX_UNSURE_SHARE: Final = 0.5
"""When the identities of a larger share of the roster are uncertain, as after a cut, no call is reliable."""

REMEMBERED_FORMATIONS: Final = 6  # Number of past line-ups kept: those of offense and defense, and a few others


class LineUps:
    """Searches for line-ups, one after the other, and remembers what each has shown.

    Args:
        roster: the players on the board; None to number every figure found.
        colors: of the teams, as learned on this table before; None if they never were.

    Attributes:
        roster: the players, with the places that the search begins with.
        asks: what a person is to answer about the line-up in play; empty for nothing.
        search: for the next line-up; None while none is searched for.
    """

    def __init__(self, field: FieldModel, roster: Roster | None, colors: TeamColors | None = None) -> None:
        self._field, self.roster = field, roster
        self._known = KnownTeams(colors)
        self._formations: deque[tuple[RosterSpot, ...]] = deque(maxlen=REMEMBERED_FORMATIONS)
        self._follows = True  # whether the search is told where figures are tracked meanwhile
        self.asks: Asked = ""
        self.search: LineUpSearch | None = None
        self.search_again()

    @property
    def colors(self) -> TeamColors | None:
        """The teams' colors as known before the line-up in play; None if they never were."""
        return self._known.colors

    def unfit(self, estimates: Sequence[Estimate]) -> tuple[str, ...]:
        """Return why scenes with these figures are unfit, if a person is asked or many figures may be others."""
        unsure = sum(not figure.sure for figure in estimates)
        if self.asks or unsure <= _MAX_UNSURE_SHARE * len(estimates):
            return (ASKED[self.asks],) if self.asks else ()
        return (f"Not sure which figure is which for {unsure} of {len(estimates)}: line them up and tap Set",)

    def warnings(self, estimates: Sequence[Estimate], carrier: str | None = None) -> tuple[str, ...]:
        """Return that the ball carrier is not seen, and which figures may be others, if nothing is asked about all."""
        unseen = [figure.id for figure in estimates if figure.id == carrier and figure.posture == "unseen"]
        advice = "has the ball and is not seen: clear the view of it, or line all up again and tap Set"
        told = [f"{name.replace('-', ' ')} {advice}" for name in unseen]
        unsure = sorted(figure.id for figure in estimates if not figure.sure)
        if unsure and not self.asks:
            names = ", ".join(unsure).replace("-", " ")
            told.append(f"Not sure which figure is which: {names}. Line them up and tap Set")
        return tuple(told)

    def declare(
        self,
        players: tuple[Player, ...],
        left: Jersey | None,
        tracker: Tracker | None,
        estimates: Sequence[Estimate],
        colors: TeamColors | None,
    ) -> None:
        """Take the players that are declared to be on the board; the same as before confirm who every figure is.

        Args:
            left: the team that the rules have on the left, toward smaller x; None where they don't say.
            tracker: of the line-up in play; None before the first.
            estimates: of the figures, in the latest frame.
            colors: as learned until now.
        """
        self._known = replace(self._known, rules_left_now=left, told_left=None)
        if players == ((tracker.players if tracker else ()) if self.roster is None else self.roster.players):
            if tracker is None:
                self.search_again(colors)
                return
            if not self.asks and tracker.confirm_identities():
                self._accept(estimates)
                return
        self.roster = Roster(players, self._spots(estimates, players))
        self.search_again(colors)

    def identify(
        self,
        left: Jersey | None,
        spots: Sequence[RosterSpot],
        tracker: Tracker | None,
        estimates: Sequence[Estimate],
        colors: TeamColors | None,
    ) -> None:
        """Take a person's word for who is who.

        Args:
            left: the team on the left; None if that was not said.
            spots: where players stand, for those that are not who they are drawn as; without these and `left`, all
                figures are who they are drawn as.
            tracker, estimates, colors: as in `declare`.
        """
        if tracker is None or self.roster is None:
            return
        spots = [spot for spot in spots if spot.id in {player.id for player in tracker.players}]
        exchanged = left is not None and left != left_team(*_standing(estimates))
        if exchanged or spots:
            named = {spot.id for spot in spots}
            others = () if exchanged else self._spots(estimates, tracker.players)
            self.roster = replace(self.roster, spots=(*spots, *(spot for spot in others if spot.id not in named)))
            self._known = replace(self._known, told_left=left)
            self.search_again(colors, follows=False)
            return
        self.search = None  # as drawn, so there is nothing left to search for
        if left is None:
            tracker.confirm_identities()
        else:
            tracker.confirm_teams()
        self.asks = "names" if tracker.unnamed else ""
        if not self.asks:
            self._accept(estimates)

    def forget_places(self, colors: TeamColors | None, *, renumber: bool = False) -> None:
        """Search for every figure again, wherever it was; what the teams and formations look like is kept.

        Args:
            renumber: whether the players are those on the board now, unless people have named them.
        """
        if self.roster is not None:
            named = any(player.number or player.role for player in self.roster.players)
            self.roster = None if renumber and not named else replace(self.roster, spots=())
        self.asks = ""
        self.search_again(colors)

    def search_again(self, colors: TeamColors | None = None, *, follows: bool = True) -> None:
        """Search for the line-up from here on.

        Args:
            colors: as learned until now; None to keep those of before.
            follows: whether the players' places are those where they are tracked meanwhile.
        """
        self._follows, self._known = follows, replace(self._known, colors=colors or self._known.colors)
        self.search = LineUpSearch(self._field, self.roster, self._formations, self._known)

    def find(
        self, measurements: Measurements, t_ns: int, estimates: Sequence[Estimate], *, is_tracking: bool, hidden: bool
    ) -> LineUpPoses | None:
        """Search in a frame; return the line-up once it is found.

        Args:
            is_tracking: whether the figures of an earlier line-up are tracked.
            hidden: whether a hand may hide a figure.
        """
        if self.search is None:
            return None
        follows = self._follows and self.roster is not None and is_tracking
        tracked = self._spots(estimates, self.roster.players) if follows and self.roster is not None else None
        identity = {figure.id: figure.identity for figure in estimates}
        return self.search.update(measurements, t_ns, tracked=tracked, identity=identity, hidden=hidden)

    def begin(self, found: LineUpPoses, estimates: Sequence[Estimate]) -> None:
        """Take the line-up that was found as the one in play."""
        self.search, self.asks = None, found.asks
        if not self.asks:
            self._accept(estimates)

    def begin_play(self, players: tuple[Player, ...]) -> None:
        """End the search: the play has begun with the figures as tracked; what a person said last is still sought."""
        if self._follows and self.roster is not None and self.roster.players == players:
            self.search = None

    def _accept(self, estimates: Sequence[Estimate]) -> None:
        """Remember who stands where, for later line-ups: it is known who is who."""
        self._formations.append(self._spots(estimates, None))
        # Where the teams stand mixed, the sides are those of before.
        left = left_team(*_standing(estimates))
        if left is not None:
            self._known = replace(self._known, left=left, rules_left=self._known.rules_left_now, told_left=None)

    def _spots(self, estimates: Sequence[Estimate], players: Sequence[Player] | None) -> tuple[RosterSpot, ...]:
        """Return the places of these players, or of all, for those that are seen."""
        ids = {figure.id for figure in estimates} if players is None else {player.id for player in players}
        scale = self._field.mm_per_yd
        return tuple(
            RosterSpot(figure.id, figure.footprint.x_mm / scale[0], figure.footprint.y_mm / scale[1])
            for figure in estimates
            if figure.id in ids and figure.posture != "unseen"
        )


def _standing(estimates: Sequence[Estimate]) -> tuple[Array, Bools]:
    """Return where the visible figures stand along the field, mm, and which are of the light team."""
    seen = [figure for figure in estimates if figure.posture != "unseen"]
    return np.array([figure.footprint.x_mm for figure in seen]), np.array([one.jersey == "light" for one in seen], bool)
