"""Finds the line-up: the figures standing still before a play, with their poses, teams and identities."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.mathematics import wrap_half_turn_rad
from downfield.core.scene import SURE_IDENTITY, Asked, Player
from downfield.core.track_files import Roster, RosterSpot
from downfield.vision.measuring.measurement import POSE, SIZE, Measurements
from downfield.vision.tracking.assignment import suppress_duplicates
from downfield.vision.tracking.front import facing_odds
from downfield.vision.tracking.identification import IDENTIFICATION_LIMITS, Identities, identify, number_figures
from downfield.vision.tracking.kalman import KALMAN_LIMITS
from downfield.vision.tracking.team_evidence import TEAM_EVIDENCE_LIMITS, KnownTeams, TeamReading, read_teams
from downfield.vision.tracking.teams import TeamColors, learn_teams


@dataclass(frozen=True, slots=True)
class LineUpLimits:
    """Thresholds of finding the line-up."""

    still_ns: int = 250_000_000  # A figure that stood still for this long is part of the line-up
    same_place_mm: float = 4.0  # A figure that moves less than this between frames stands still
    # A figure not detected for longer than this was taken away, if enough runs of the detector missed it
    gone_ns: int = 200_000_000
    gone_detections: int = 2  # Number of runs of the detector that must miss a figure that was taken away
    min_detected_share: float = 0.5  # Share of the frames since its first detection in which a figure must be detected
    max_wait_ns: int = 2_000_000_000  # An incomplete line-up is accepted after this time
    max_moving_share: float = 0.2  # An incomplete line-up is accepted only if at most this share of the figures moves
    min_standing_share: float = 0.5  # and of a roster's this share stands: a few that stand in a play are no line-up
    # An incomplete line-up is accepted as figures begin to walk if this share of the roster stood still before
    min_found_share: float = 0.8
    left_share: float = 0.25  # Figures begin to walk when this share of those that stood still is detected elsewhere
    stood_ns: int = 400_000_000  # The line-up before they began to walk is at most this old
    roster_size_sigma_mm: float = 0.3  # Error of a roster's base sizes
    roster_height_sigma_mm: float = 0.2  # Error of a roster's base heights
    guessed_height_sigma_mm: float = 0.8  # Error of base heights without a roster
    unfound_sigma_mm: float = 500.0  # Deviation of the place of a figure that was not found
    expected_sigma_mm: float = 20.0  # The same of one that has a place in the roster
    # Factor on variances of values that the tracker will measure again in the same image
    first_guess_factor: float = 50.0
    color_samples: int = 4  # Frames in which a figure's colors are sampled
    # Number of independent frames that all frames together are worth, since errors recur from frame to frame
    front_frames: float = 2.0
    max_front_score: float = 0.99  # Limit of one frame's front score
    unnamed: int = 3  # So many figures whose names are no better than even are asked about together; fewer are reported


LINE_UP_LIMITS: Final = LineUpLimits()
_LIMITS: Final = LINE_UP_LIMITS


@dataclass(frozen=True, slots=True)
class LineUpPoses:
    """The figures of a line-up."""

    players: tuple[Player, ...]  # the roster; rows of the arrays
    pose: Array  # x mm, y mm, heading rad, length mm, width mm, shape (n, 5)
    cov: Array  # covariance of x, y and heading, shape (n, 3, 3)
    size_sigma_mm: Array  # errors of length and width, shape (n, 2)
    front: Array  # log-odds by the network that the headings point ahead, shape (n,)
    facing: Array  # the same by the line-up, see `facing_odds`, shape (n,)
    height_sigma_mm: float  # error of the heights of the bases
    colors: TeamColors | None  # the teams' colors; None if the teams can't be distinguished
    identity: Array  # probability that each is who it is said to be, given the teams, shape (n,)
    teams: float  # probability that the teams are not exchanged
    asks: Asked  # what a person is to answer before calls rest on who is who; empty for nothing
    found: Bools  # whether each was found on the board, shape (n,)
    stood_ns: int  # when all stood there last
    since: tuple[tuple[Measurements, int], ...]  # the frames since then, and their times: some may walk in them


@dataclass(slots=True)
class _Stand:
    """A place where a figure stands."""

    pose: Array  # mean of the measurements, shape (5,)
    cov: Array  # of one measurement, shape (5, 5)
    since_ns: int
    last_ns: int
    light: float  # log-odds, all detections together, as the next two
    front: float
    fallen: float
    colors: list[Array]
    detections: int = 1
    frames: int = 1  # since the first detection
    missed: int = 0  # frames since the last detection

    @property
    def lasts(self) -> bool:
        """Whether detections were frequent enough for a figure."""
        return self.detections >= _LIMITS.min_detected_share * self.frames


class LineUpSearch:
    """Searches for the line-up, frame by frame.

    Args:
        roster: the players to find; None to number every figure found.
        formations: the players' places at earlier line-ups.
        known: what is known of their teams.
    """

    def __init__(
        self,
        field: FieldModel,
        roster: Roster | None = None,
        formations: Sequence[Sequence[RosterSpot]] = (),
        known: KnownTeams | None = None,
    ) -> None:
        self._field, self._roster, self._known = field, roster, known or KnownTeams()
        self._formations = tuple(formations)
        self._stands: list[_Stand] = []
        self._began_ns: int | None = None
        # If the roster's places are those of tracked figures, the probability of each one's identity.
        self._tracked: Mapping[str, float] | None = None
        self._stood: list[_Stand] = []  # figures that stood still at the latest time when most of the roster did
        self._stood_ns = 0
        self._frames: deque[tuple[Measurements, int]] = deque(maxlen=64)  # a second at 60 a second

    @property
    def height_mm(self) -> float:
        """The height at which base tops are to be measured."""
        if self._roster is None:
            return BaseSize().height_mm
        return float(np.mean([player.base.height_mm for player in self._roster.players]))

    def update(
        self,
        measurements: Measurements,
        t_ns: int,
        *,
        tracked: Sequence[RosterSpot] | None = None,
        identity: Mapping[str, float] | None = None,
        hidden: bool = False,
    ) -> LineUpPoses | None:
        """Add a frame; return the line-up once every figure stands still.

        If the roster is unknown and figures keep moving for long, one frame's figures become the line-up. A detector
        may never find some figures of a roster: if most of them stood still and begin to walk, it is where they stood.

        Args:
            measurements: measurements of the frame, at `height_mm`.
            tracked: places of the roster's figures if they are tracked meanwhile; None for the places in the roster.
            identity: the probability of each tracked one's identity, by id; those not given are certain.
            hidden: whether a hand may hide a figure, for which the search then waits.
        """
        self._began_ns = t_ns if self._began_ns is None or hidden else self._began_ns
        if self._roster is not None and tracked is not None:
            self._roster = replace(self._roster, spots=tuple(tracked))
            self._tracked = {spot.id: (identity or {}).get(spot.id, 1.0) for spot in tracked}
        self._stands = [
            stand
            for stand in self._stands
            if t_ns - stand.last_ns <= _LIMITS.gone_ns or stand.missed < _LIMITS.gone_detections
        ]
        measurements = suppress_duplicates(measurements)
        self._frames.append((measurements, t_ns))
        for stand in self._stands:
            stand.frames += 1
            stand.missed += 1
        for row in range(len(measurements)):
            self._add(measurements, row, t_ns)
        lasting = [stand for stand in self._stands if stand.lasts]
        settled = [stand for stand in lasting if stand.last_ns - stand.since_ns >= _LIMITS.still_ns]
        lasting = [stand for stand in lasting if stand.frames > 2]
        waited = t_ns - self._began_ns >= _LIMITS.max_wait_ns
        wanted = 2 if self._roster is None else len(self._roster.players)
        known = self._roster is not None
        if len(settled) >= wanted and (len(settled) >= len(lasting) or (waited and known)):
            return self._line_up(settled)
        if known and not hidden:
            if self._begin_to_walk(measurements, t_ns):
                return self._line_up(self._stood)
            if len(settled) >= _LIMITS.min_found_share * wanted and self._are_there(settled, t_ns):
                self._stood, self._stood_ns = settled, t_ns
        if not waited:
            return None
        moving = len(measurements) - sum(stand.last_ns == t_ns for stand in settled)
        enough = len(settled) >= (_LIMITS.min_standing_share * wanted if known else 1)
        if enough and moving <= _LIMITS.max_moving_share * len(measurements):
            return self._line_up(settled)
        # A roster's places are those at which the players were named: figures that have moved can't be identified.
        return None if known else self.from_single_frame(measurements, t_ns)

    def from_single_frame(self, measurements: Measurements, t_ns: int) -> LineUpPoses | None:
        """Return the line-up of one image alone, as a first guess for a tracker of that same image."""
        measurements = suppress_duplicates(measurements)
        self._stands = []
        for row in range(len(measurements)):
            self._add(measurements, row, t_ns)
        if not self._stands:
            return None
        found = self._line_up(self._stands)
        factor = _LIMITS.first_guess_factor
        return replace(found, cov=found.cov * factor, size_sigma_mm=found.size_sigma_mm * math.sqrt(factor))

    def _begin_to_walk(self, measurements: Measurements, t_ns: int) -> bool:
        """Return whether most figures that stood still a moment ago are detected elsewhere now."""
        recent = bool(self._stood) and t_ns - self._stood_ns <= _LIMITS.stood_ns
        in_view = len(measurements) >= _LIMITS.min_found_share * len(self._stood)
        return recent and in_view and not self._are_there(self._stood, t_ns)

    @staticmethod
    def _are_there(stands: list[_Stand], t_ns: int) -> bool:
        return sum(stand.last_ns < t_ns for stand in stands) < _LIMITS.left_share * len(stands)

    def _add(self, measurements: Measurements, row: int, t_ns: int) -> None:
        pose, cov = measurements.pose[row], measurements.covariance[row]
        light, fallen = float(measurements.light[row]), float(measurements.fallen[row])
        front = 2 * math.atanh(min(float(measurements.front[row]), _LIMITS.max_front_score))
        colors = measurements.colors[row]
        near = min(self._stands, key=lambda stand: float(np.hypot(*(stand.pose[:2] - pose[:2]))), default=None)
        if near is None or np.hypot(*(near.pose[:2] - pose[:2])) > _LIMITS.same_place_mm or near.last_ns == t_ns:
            self._stands.append(_Stand(pose.copy(), cov, t_ns, t_ns, light, front, fallen, [colors]))
            return
        off = pose - near.pose
        flipped = bool(np.cos(off[2]) < 0)
        off[2] = wrap_half_turn_rad(off[2])
        near.detections, near.last_ns, near.missed = near.detections + 1, t_ns, 0
        near.pose = near.pose + off / near.detections
        near.cov = near.cov + (cov - near.cov) / near.detections
        near.light += light
        near.fallen += fallen
        if len(near.colors) < _LIMITS.color_samples:
            near.colors.append(colors)
        near.front += -front if flipped else front

    def _line_up(self, stands: list[_Stand]) -> LineUpPoses:
        leftward = np.array([-np.cos(stand.pose[2]) * np.sign(stand.front or 1.0) for stand in stands])
        samples = min(len(stand.colors) for stand in stands)
        colors = np.array([np.concatenate(stand.colors[:samples]) for stand in stands])
        detected = np.array([stand.light for stand in stands])
        x_mm = np.array([stand.pose[0] for stand in stands])
        reading = read_teams(colors, x_mm, leftward, self._known, self._tracked_teams(stands))
        teams_known = reading.by_color or bool(detected.any())
        light = reading.light + detected if reading.by_color else detected if teams_known else leftward
        sizes = _base_sizes(stands)
        players, named = self._identify(stands, sizes, light, teams_known=teams_known)
        rows = named.rows
        jersey = np.array([player.jersey == "light" for player in players])
        placed = np.array([row for row in rows if row is not None], dtype=np.intp)
        found = np.array([row is not None for row in rows])
        teams = learn_teams(colors[placed], jersey[found])
        asks, sure_teams = self._asks(reading, players, named)
        count = len(players)
        pose, front = np.zeros((count, 5)), np.zeros(count)
        cov = np.tile(np.diag([_LIMITS.unfound_sigma_mm**2, _LIMITS.unfound_sigma_mm**2, np.pi**2]), (count, 1, 1))
        sigma = np.full((count, 2), _LIMITS.roster_size_sigma_mm)
        pose[:, :2] = np.array(self._field.board_mm).reshape(2, 2).mean(axis=0)
        spots = () if self._roster is None else self._roster.spots
        expected = {spot.id: self._field.to_mm(np.array([spot.x_yd, spot.y_yd])) for spot in spots}
        for i, (player, row) in enumerate(zip(players, rows, strict=True)):
            pose[i, SIZE] = player.base.length_mm, player.base.width_mm
            if row is None:
                if player.id in expected:
                    pose[i, :2] = expected[player.id]
                    cov[i, [0, 1], [0, 1]] = _LIMITS.expected_sigma_mm**2
                continue
            stand = stands[row]
            # The persistent part of the error is not averaged away.
            share = KALMAN_LIMITS.persistent_share + (1 - KALMAN_LIMITS.persistent_share) / stand.detections
            pose[i, POSE] = stand.pose[POSE]
            cov[i] = share * stand.cov[POSE, POSE]
            if self._roster is None:
                pose[i, SIZE] = sizes[row]
                if stand.fallen <= 0:
                    sigma[i] = np.sqrt(share * np.diagonal(stand.cov)[SIZE])
            front[i] = _LIMITS.front_frames * stand.front / stand.detections
        facing = facing_odds(pose, front, jersey, found)
        height_sigma_mm = _LIMITS.guessed_height_sigma_mm if self._roster is None else _LIMITS.roster_height_sigma_mm
        measured = (pose, cov, sigma, front, facing, height_sigma_mm)
        stood_ns = min(stand.last_ns for stand in stands)
        since = tuple(one for one in self._frames if one[1] > stood_ns)
        read = (teams, named.probability, sure_teams, asks, found)
        return LineUpPoses(tuple(players), *measured, *read, stood_ns, since)

    def _tracked_teams(self, stands: list[_Stand]) -> Array:
        """Return the teams of figures that were surely tracked to where they stand, see `read_teams`."""
        out, places_mm = np.zeros(len(stands)), np.array([stand.pose[:2] for stand in stands])
        if self._tracked is None or self._roster is None:
            return out
        jersey = {player.id: player.jersey for player in self._roster.players}
        for spot in self._roster.spots:
            if self._tracked[spot.id] >= SURE_IDENTITY:
                off_mm = np.linalg.norm(places_mm - self._field.to_mm(np.array([spot.x_yd, spot.y_yd])), axis=1)
                if off_mm.min() < TEAM_EVIDENCE_LIMITS.tracked_mm:
                    out[int(off_mm.argmin())] = 1.0 if jersey[spot.id] == "light" else -1.0
        return out

    def _asks(self, reading: TeamReading, players: Sequence[Player], named: Identities) -> tuple[Asked, float]:
        """Return what a person is to answer, and how probable it is that the teams are not exchanged."""
        if self._roster is None:
            return "", 1.0  # the names were made up here
        placed = self._tracked is None and len(self._roster.spots) >= len(players) - _LIMITS.unnamed
        found = np.array([row is not None for row in named.rows])
        unnamed = int((found & (named.probability <= IDENTIFICATION_LIMITS.even)).sum())
        if reading.asks and not placed:
            return "sides", reading.probability
        return ("names" if unnamed >= _LIMITS.unnamed else ""), 1.0 if placed else reading.probability

    def _identify(
        self, stands: list[_Stand], sizes: Array, light: Array, *, teams_known: bool
    ) -> tuple[Sequence[Player], Identities]:
        """Return the players and who each is; teams are known by colors, otherwise by facing."""
        stands_mm = np.array([stand.pose[:2] for stand in stands])
        if self._roster is None:
            players, rows = number_figures(stands_mm, sizes, light)
            return players, Identities([*rows], np.ones(len(players)))
        known = (self._roster, self._formations, self._field, stands_mm, light)
        return self._roster.players, identify(*known, teams_known=teams_known, tracked=self._tracked)


def _base_sizes(stands: list[_Stand]) -> Array:
    """Return length and width of bases, mm, shape (n, 2).

    Fallen figures show an edge or the underside, and a single view may make a base look flatter than it is: these get
    the usual size of the others.
    """
    seen, usual = np.array([stand.pose[SIZE] for stand in stands]), BaseSize()
    upright = np.array([stand.fallen <= 0 for stand in stands])
    known = upright & (seen.min(axis=1) >= 2 * usual.corner_mm)
    others = np.median(seen[known], axis=0) if known.any() else (usual.length_mm, usual.width_mm)
    return np.where(known[:, None], seen, others)
