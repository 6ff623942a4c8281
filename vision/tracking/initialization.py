"""The line-up: who stands where before a play, found where figures stand still, and named.

Figures are named by place where a roster says places, or where they stand in a formation they have stood in before;
else in order across the field, from the lower sideline up, within their team; without a roster they are ``dark-1``,
``dark-2`` ..., as many as there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from downfield.core.angles import wrap_half_turn_rad, wrap_rad
from downfield.core.arrays import Array
from downfield.core.field import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.roster import Roster, RosterSpot
from downfield.core.scene import Jersey, Player
from downfield.vision.tracking.assignment import without_doubles
from downfield.vision.tracking.formations import ELSEWHERE_MM, misfit_mm, recall
from downfield.vision.tracking.kalman import LASTING
from downfield.vision.tracking.measurement import POSE, SIZE, Measurements
from downfield.vision.tracking.teams import TeamColors, cluster_teams

_STILL_NS: Final = 250_000_000  # a figure that stood for so long is part of the line-up
_SAME_MM: Final = 4.0  # between frames: it stands
_GONE_NS: Final = 200_000_000  # without a sighting, somebody took it away,
_GONE_LOOKS: Final = 2  # however rare looks are
_SEEN_SHARE: Final = 0.5  # of the frames since it was first seen
_PATIENCE_NS: Final = 2_000_000_000  # after which a line-up that is not whole is taken as it is,
_MOVING_SHARE: Final = 0.2  # unless more of those there than this do not stand
_KNOWN_SIZE_MM: Final = 0.3  # how far bases are off what a roster says
_KNOWN_HEIGHT_MM, _GUESSED_HEIGHT_MM = 0.2, 0.8
_NOWHERE_MM: Final = 500.0  # how far off a figure may be that is not found
_FAR_MM: Final = 150.0  # from the place that a roster gives: it is somebody else
_FIRST_GUESS: Final = 50.0  # variances of what is going to be measured again in the same picture are so much larger
_LOOKS: Final = 4  # at a figure's colors
_FRONT_SURE: Final = 8.0
_FRONT_WORDS: Final = 2.0  # one frame's log-odds that all frames' together are worth: what errs once errs again
_SUREST: Final = 0.99
_TEAM_FACES: Final = 4.0  # log-odds that a man faces the way his team does
_GUESS: Final = 0.1  # what a distance from a guessed place weighs
_MORE_LIKE: Final = 0.5  # of the distances from where men are believed to be: formations are repeated, but not always
_LOST_MM: Final = 3 * ELSEWHERE_MM  # of three men: who followed nearly all of them knows better than any formation
_ELSEWHERE: Final = 1e6  # mm: dearer than any place on a board


@dataclass(frozen=True, slots=True)
class LineUpPoses:
    """Figures found standing.

    Attributes:
        players: the roster; rows of the arrays.
        pose: x mm, y mm, heading rad, length mm, width mm, shape (n, 5).
        cov: of x, y and heading, shape (n, 3, 3).
        size_sigma_mm: of length and width, shape (n, 2).
        front: log-odds that the headings point ahead, shape (n,).
        height_sigma_mm: how well the heights of the bases are known.
        colors: how the teams differ; None where that can't be told.
        found: whether each was found, and is not just on the roster, shape (n,).

    """

    players: tuple[Player, ...]
    pose: Array
    cov: Array
    size_sigma_mm: Array
    front: Array
    height_sigma_mm: float
    colors: TeamColors | None
    found: NDArray[np.bool_]


@dataclass(slots=True)
class _Stand:
    """A place where a figure stands."""

    pose: Array  # mean of what was measured, shape (5,)
    cov: Array  # of one measurement, shape (5, 5)
    since_ns: int
    last_ns: int
    seen: int
    frames: int
    light: float
    front: float
    lying: float  # log-odds, all sightings together
    colors: list[Array]
    missed: int = 0  # looks since it was seen


class LineUpSearch:
    """Looks for the line-up, frame by frame.

    Args:
        field: the printed field.
        roster: who is to be found; None takes and numbers whoever is there.
        formations: where they stood at earlier line-ups.

    """

    def __init__(
        self, field: FieldModel, roster: Roster | None = None, formations: Sequence[Sequence[RosterSpot]] = ()
    ) -> None:
        self._field, self._roster = field, roster
        self._formations = tuple(formations)
        self._stands: list[_Stand] = []
        self._began_ns: int | None = None
        self._believed = False  # whether the roster's places are those of men who are followed meanwhile

    @property
    def height_mm(self) -> float:
        """The height at which base tops are to be measured."""
        if self._roster is None:
            return BaseSize().height_mm
        return float(np.mean([player.base.height_mm for player in self._roster.players]))

    def see(
        self, sightings: Measurements, t_ns: int, *, believed: Sequence[RosterSpot] | None = None, hidden: bool = False
    ) -> LineUpPoses | None:
        """Take in a frame; the line-up, once everybody stands still.

        Where the roster is not known and figures walk for long, everybody is taken as he is in one frame.

        Args:
            sightings: measured at `height_mm`.
            t_ns: of the frame.
            believed: where those of the roster are who are followed meanwhile; None for where it says.
            hidden: whether a hand may hide somebody, who is waited for.

        """
        self._began_ns = t_ns if self._began_ns is None or hidden else self._began_ns
        if self._roster is not None and believed is not None:
            self._roster, self._believed = replace(self._roster, spots=tuple(believed)), True
        self._stands = [one for one in self._stands if t_ns - one.last_ns <= _GONE_NS or one.missed < _GONE_LOOKS]
        seen = without_doubles(sightings)
        for stand in self._stands:
            stand.frames += 1
            stand.missed += 1
        for row in range(len(seen)):
            self._place(seen, row, t_ns)
        settled = [
            one
            for one in self._stands
            if one.last_ns - one.since_ns >= _STILL_NS and one.seen >= _SEEN_SHARE * one.frames
        ]
        waited = t_ns - self._began_ns >= _PATIENCE_NS
        wanted = 2 if self._roster is None else len(self._roster.players)
        lasting = [one for one in self._stands if one.seen >= _SEEN_SHARE * one.frames and one.frames > 2]
        known = self._roster is not None
        if len(settled) >= wanted and (len(settled) >= len(lasting) or (waited and known)):
            return self._line_up(settled)
        if not waited:
            return None
        walking = len(seen) - sum(one.last_ns == t_ns for one in settled)
        if settled and walking <= _MOVING_SHARE * len(seen):
            return self._line_up(settled)
        # Names go by the places that figures had when somebody said who they are: those who have left them have none.
        return None if known else self.at_once(sightings, t_ns)

    def at_once(self, sightings: Measurements, t_ns: int) -> LineUpPoses | None:
        """The line-up of one picture by itself, as a first guess for a tracker of that same picture."""
        seen = without_doubles(sightings)
        self._stands = []
        for row in range(len(seen)):
            self._place(seen, row, t_ns)
        if not self._stands:
            return None
        found = self._line_up(self._stands)
        return replace(found, cov=found.cov * _FIRST_GUESS, size_sigma_mm=found.size_sigma_mm * math.sqrt(_FIRST_GUESS))

    def _place(self, seen: Measurements, row: int, t_ns: int) -> None:
        pose, cov = seen.pose[row], seen.covariance[row]
        word = 2 * math.atanh(min(float(seen.front[row]), _SUREST))
        near = min(self._stands, key=lambda one: float(np.hypot(*(one.pose[:2] - pose[:2]))), default=None)
        if near is None or np.hypot(*(near.pose[:2] - pose[:2])) > _SAME_MM or near.last_ns == t_ns:
            light, lying = float(seen.light[row]), float(seen.fallen[row])
            self._stands.append(_Stand(pose.copy(), cov, t_ns, t_ns, 1, 1, light, word, lying, [seen.colors[row]]))
            return
        off = pose - near.pose
        flipped = bool(np.cos(off[2]) < 0)
        off[2] = wrap_half_turn_rad(off[2])
        near.seen, near.last_ns, near.missed = near.seen + 1, t_ns, 0
        near.pose = near.pose + off / near.seen
        near.cov = near.cov + (cov - near.cov) / near.seen
        near.light += float(seen.light[row])
        near.lying += float(seen.fallen[row])
        if len(near.colors) < _LOOKS:
            near.colors.append(seen.colors[row])
        near.front += -word if flipped else word

    def _line_up(self, stands: list[_Stand]) -> LineUpPoses:
        facing = np.array([-np.cos(one.pose[2]) * np.sign(one.front or 1.0) for one in stands])
        fewest = min(len(one.colors) for one in stands)
        colors = np.array([np.concatenate(one.colors[:fewest]) for one in stands])
        teams = cluster_teams(colors, facing > 0)
        light = np.array([one.light for one in stands])
        if teams is not None:
            light = light + teams.light_odds(colors)
        told = bool(light.any())
        sizes = _standing_sizes(stands)
        players, rows = self._named(stands, sizes, light if told else facing, told=told)
        if teams is not None and _misnamed(players, rows, light):
            teams = teams.exchanged()
        count = len(players)
        pose, front = np.zeros((count, 5)), np.zeros(count)
        cov = np.tile(np.diag([_NOWHERE_MM**2, _NOWHERE_MM**2, np.pi**2]), (count, 1, 1))
        sigma = np.full((count, 2), _KNOWN_SIZE_MM)
        pose[:, :2] = np.array(self._field.board_mm).reshape(2, 2).mean(axis=0)
        for i, (player, row) in enumerate(zip(players, rows, strict=True)):
            pose[i, SIZE] = player.base.length_mm, player.base.width_mm
            if row is None:
                continue
            stand = stands[row]
            # What lasts of the error is not averaged away.
            share = LASTING + (1 - LASTING) / stand.seen
            pose[i, POSE] = stand.pose[POSE]
            cov[i] = share * stand.cov[POSE, POSE]
            if self._roster is None:
                pose[i, SIZE] = sizes[row]
                if stand.lying <= 0:
                    sigma[i] = np.sqrt(share * np.diagonal(stand.cov)[SIZE])
            if stand.front < 0:
                pose[i, 2] += np.pi
            front[i] = min(_FRONT_WORDS * abs(stand.front) / stand.seen, _FRONT_SURE)
        _face_alike(pose, front, np.array([player.jersey == "light" for player in players]))
        height_sigma = _GUESSED_HEIGHT_MM if self._roster is None else _KNOWN_HEIGHT_MM
        found = np.array([row is not None for row in rows])
        return LineUpPoses(tuple(players), pose, cov, sigma, front, height_sigma, teams, found)

    def _named(
        self, stands: list[_Stand], sizes: Array, light: Array, *, told: bool
    ) -> tuple[list[Player], list[int | None]]:
        """The roster, and for each of it the stand that is his; teams are `told` by colors or by where they face."""
        if self._roster is None:
            return _numbered(stands, sizes, light)
        players = list(self._roster.players)
        known = np.array([one.pose[:2] for one in stands])
        jersey = np.array([player.jersey == "light" for player in players])
        another = jersey[:, None] != (light > 0)[None]
        unlike = np.where(another & told, _FAR_MM, 0.0)
        said, believed = self._spots_mm(self._roster.spots), self._believed
        recalled = self._recalled(known, unlike, than_mm=misfit_mm(said, known, unlike))
        if recalled is not None:
            said, believed = recalled, True
        free = np.isnan(said[:, 0])
        places = np.where(free[:, None], self._in_order(stands, light), said)
        apart = np.linalg.norm(places[:, None] - known[None], axis=2)
        apart[free] *= _GUESS  # of two who may stand here, he does who was believed to
        apart += np.where((free | believed)[:, None], unlike, 0.0)
        who, where = linear_sum_assignment(np.minimum(apart, _ELSEWHERE))
        found: list[int | None] = [None] * len(players)
        for i, row in zip(who, where, strict=True):
            if believed or free[i] or apart[i, row] < _FAR_MM:
                found[i] = int(row)
        return players, found

    def _recalled(self, stands_mm: Array, unlike_mm: Array, *, than_mm: float) -> Array | None:
        """The formation they have stood in before, if they stand in one much more than where they are said to be."""
        if than_mm < _LOST_MM:
            return None
        recalled = recall([self._spots_mm(spots) for spots in self._formations], stands_mm, unlike_mm)
        if recalled is None or misfit_mm(recalled, stands_mm, unlike_mm) > _MORE_LIKE * than_mm:
            return None
        return recalled

    def _spots_mm(self, spots: Sequence[RosterSpot]) -> Array:
        """Places of the roster's players, shape (n, 2), NaN where none is told."""
        at = {spot.id: (spot.x_yd, spot.y_yd) for spot in spots}
        players = () if self._roster is None else self._roster.players
        nowhere = (np.nan, np.nan)
        return self._field.to_mm(np.array([at.get(player.id, nowhere) for player in players]).reshape(-1, 2))

    def _in_order(self, stands: list[_Stand], light: Array) -> Array:
        """Where each of the roster stands if they do in order across the field, mm, shape (n, 2)."""
        players = () if self._roster is None else self._roster.players
        out = np.full((len(players), 2), _ELSEWHERE)
        for bright in (False, True):
            own = [i for i, player in enumerate(players) if (player.jersey == "light") == bright]
            there = sorted(
                (tuple(one.pose[:2]) for one, odds in zip(stands, light, strict=True) if (odds > 0) == bright),
                key=lambda at: at[1],
            )
            for i, at in zip(own, there, strict=False):
                out[i] = at
        return out


def _standing_sizes(stands: list[_Stand]) -> Array:
    """Length and width of bases as they stand, mm, shape (n, 2).

    Those that lie show an edge or the underside, and a glance may see one as flat as no base is: for these the usual
    size of the others is taken.
    """
    seen, usual = np.array([one.pose[SIZE] for one in stands]), BaseSize()
    told = np.array([one.lying <= 0 for one in stands]) & (seen.min(axis=1) >= 2 * usual.corner_mm)
    others = np.median(seen[told], axis=0) if told.any() else (usual.length_mm, usual.width_mm)
    return np.where(told[:, None], seen, others)


def _numbered(stands: list[_Stand], sizes: Array, light: Array) -> tuple[list[Player], list[int | None]]:
    """Everybody there, numbered within their team in order across the field."""
    players: list[Player] = []
    rows: list[int | None] = []
    teams: Sequence[tuple[Jersey, bool]] = (("dark", False), ("light", True))
    for jersey, bright in teams:
        own = [i for i in range(len(stands)) if (light[i] > 0) == bright]
        for number, i in enumerate(sorted(own, key=lambda i: float(stands[i].pose[1])), start=1):
            length, width = (round(float(side), 2) for side in sizes[i])
            base = replace(BaseSize(), length_mm=length, width_mm=width)
            players.append(Player(f"{jersey}-{number}", jersey, base=base))
            rows.append(i)
    return players, rows


def _misnamed(players: list[Player], rows: list[int | None], light: Array) -> bool:
    """Whether the team that a roster calls light is not the one with the lighter jersey, as with two dark teams."""
    told = [
        (player.jersey == "light") == (light[row] > 0)
        for player, row in zip(players, rows, strict=True)
        if row is not None
    ]
    return 2 * sum(bool(one) for one in told) < len(told)


def _face_alike(pose: Array, front: Array, light: NDArray[np.bool_]) -> None:
    """Men of a team mostly face one way at a line-up: a word on those whose front the picture left open."""
    for team in (light, ~light):
        facing = np.array([np.cos(pose[:, 2]), np.sin(pose[:, 2])])
        common = (facing[:, team] * front[team]).sum(axis=1)
        common /= max(float(np.linalg.norm(common)), 1e-9)
        front[team] += _TEAM_FACES * (common @ facing[:, team])
    wrong = front < 0
    pose[wrong, 2] = wrap_rad(pose[wrong, 2] + np.pi)
    front[wrong] *= -1
