"""Identifies the figures of a line-up: by place, by past formations, or in order across the field.

A roster may say where each player stands. A coach uses few formations, over and over, with each figure in its own
place: if the figures stand as at an earlier line-up, even further up the field, nearer to a sideline, or turned around
after the teams changed ends, each gets the identity of the figure that had its place then. Otherwise they are
put in order across the field, from the lower sideline up, within their team; without a roster they are named
``dark-1``, ``dark-2`` and so on.

Each identity is given with the probability that it is right. Order across the field is no evidence of a name that a
person gave: of eleven figures so named each has it by one in eleven.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.mathematics import least_cost_pairs
from downfield.core.scene import Jersey, Player
from downfield.core.track_files import Roster, RosterSpot


@dataclass(frozen=True, slots=True)
class IdentificationLimits:
    """Thresholds of identifying figures."""

    even: float = 0.5  # A name of at most this probability is a guess
    # Distance from a place in a formation beyond which the figure does not match: neighbors stand nearer
    elsewhere_mm: float = 60.0
    in_place_mm: float = 20.0  # A figure this near to its place helps to locate the formation
    other_figure_mm: float = 150.0  # A figure this far from the place in a roster is a different figure
    # The same where the others stand exactly in their places: less than a base is wide
    nearest_other_figure_mm: float = 12.0
    # A figure this many times as far from its place as the others are is a different figure
    misplaced_ratio: float = 6.0
    # Weight of a distance from a guessed place: of two candidates, the figure tracked there is preferred
    guessed_place_weight: float = 0.1
    # A formation must fit this much better than the tracked places: formations recur, but not always
    formation_misfit_ratio: float = 0.5
    # With fewer misplaced figures no formation is used, since the tracked places are then more reliable
    lost_figures: int = 3
    unreachable_mm: float = 1e6  # Further than any place on a board
    set_down_mm: float = 6.0  # Least standard deviation with which figures are set down in the places of a formation
    misfit_factor: float = 1.5  # Standard deviation of all as a factor of the median distance from their places
    # Share of figures that stand elsewhere in their formation than before, because the coach exchanged them
    elsewhere_share: float = 0.01
    # Area over which a team stands: a figure in no place of its own may be anywhere there
    team_area_mm2: float = 300.0 * 300.0
    # Where fewer of the figures are tracked, the others are as likely to be mistaken: too much happened unseen
    min_tracked_share: float = 0.6
    min_color_odds: float = 4.0  # Limit of the evidence of one jersey against exchanging two figures of two teams


IDENTIFICATION_LIMITS: Final = IdentificationLimits()


@dataclass(frozen=True, slots=True)
class Identities:
    """Who n players of a roster are among the figures found."""

    rows: list[int | None]  # the row of each player's place; None for a player that was not found
    probability: Array  # that each is who he is said to be, given the teams, shape (n,)


def identify(
    roster: Roster,
    formations: Sequence[Sequence[RosterSpot]],
    field: FieldModel,
    stands_mm: Array,
    light: Array,
    *,
    teams_known: bool,
    tracked: Mapping[str, float] | None,
) -> Identities:
    """Return the place of each player of a roster among the figures found.

    Args:
        roster: the players, and their places as far as known.
        formations: their places at earlier line-ups.
        stands_mm: places of m figures, shape (m, 2).
        light: log-odds that each is of the light team, shape (m,).
        teams_known: whether these come from colors; else the figures' facing decides the teams.
        tracked: if the roster's places are those of tracked figures, the probability of each one's identity, by id.
    """
    jersey = np.array([player.jersey == "light" for player in roster.players])
    other_team = jersey[:, None] != (light > 0)[None]
    unlike = np.where(other_team & teams_known, IDENTIFICATION_LIMITS.other_figure_mm, 0.0)
    known_mm = _spots_mm(roster, roster.spots, field)
    # Where a figure stands that may be any says nothing of how well the tracked places fit.
    guesses = [(tracked or {}).get(player.id, 1.0) <= IDENTIFICATION_LIMITS.even for player in roster.players]
    sure_mm = np.where(np.array(guesses)[:, None], np.nan, known_mm)
    formation = _matching_formation(
        [_spots_mm(roster, spots, field) for spots in formations], sure_mm, stands_mm, unlike
    )
    recalled = formation is not None
    known_mm = known_mm if formation is None else formation
    by_color = recalled or tracked is not None
    guessed = np.isnan(known_mm[:, 0])
    places = np.where(guessed[:, None], _in_order(roster, stands_mm, light), known_mm)
    apart = np.linalg.norm(places[:, None] - stands_mm[None], axis=2)
    apart[guessed] *= IDENTIFICATION_LIMITS.guessed_place_weight
    apart += np.where((guessed | by_color)[:, None], unlike, 0.0)
    rows, columns = least_cost_pairs(np.minimum(apart, IDENTIFICATION_LIMITS.unreachable_mm))
    usual_mm = IDENTIFICATION_LIMITS.misplaced_ratio * float(np.median(apart[rows, columns])) if len(rows) else 0.0
    furthest_mm = min(
        max(usual_mm, IDENTIFICATION_LIMITS.nearest_other_figure_mm), IDENTIFICATION_LIMITS.other_figure_mm
    )
    found: list[int | None] = [None] * len(roster.players)
    for row, column in zip(rows, columns, strict=True):
        if by_color or guessed[row] or apart[row, column] < furthest_mm:
            found[row] = int(column)
    colors = np.where(jersey[:, None], light[None], -light[None]) if teams_known and by_color else None
    probability = _in_place_probability(known_mm, stands_mm, found, colors)
    if tracked is not None and not recalled:
        probability = _tracked_probability(roster, tracked, known_mm, stands_mm, found)
    dealt = guessed & np.array([row is not None for row in found])
    for team in (jersey, ~jersey):
        named = np.array([bool(player.number or player.role) for player in roster.players])
        probability[dealt & team] = np.where(named[dealt & team], 1.0 / max(int((guessed & team).sum()), 1), 1.0)
    return Identities(found, probability)


def _in_place_probability(
    places_mm: Array, stands_mm: Array, found: Sequence[int | None], colors: Array | None
) -> Array:
    """Return the probability of each identity by places, (n,): of who he is found as, against every exchange of two.

    Who was not found may be one of those who were, too, and that one not found.

    Args:
        places_mm: expected place of each player, NaN where unknown, shape (n, 2).
        found: row of the figure that each is.
        colors: log-odds that each figure is of each player's team, shape (n, m); None where they decide nothing.
    """
    limits, out = IDENTIFICATION_LIMITS, np.ones(len(places_mm))
    known = np.isfinite(places_mm[:, 0])
    rows = np.array([row for row, at in enumerate(found) if at is not None and known[row]], int)
    if not len(rows):
        return out
    own = np.array([found[row] for row in rows], int)
    placed = np.concatenate([rows, np.setdiff1d(np.flatnonzero(known), rows)])
    apart = np.linalg.norm(places_mm[placed][:, None] - stands_mm[None], axis=2)
    sigma = max(limits.set_down_mm, limits.misfit_factor * float(np.median(apart[np.arange(len(rows)), own])))
    # Where many stand elsewhere, those who stand in places are more often others, too.
    astray = np.count_nonzero(known) - np.count_nonzero(apart[np.arange(len(rows)), own] < limits.elsewhere_mm)
    elsewhere = max(limits.elsewhere_share, astray / np.count_nonzero(known))
    near = (1 - elsewhere) * np.exp(-0.5 * (apart / sigma) ** 2) / (2 * np.pi * sigma**2)
    fits = np.log(near + elsewhere / limits.team_area_mm2)
    if colors is not None:
        fits = fits + np.clip(colors[placed], -limits.min_color_odds, limits.min_color_odds)
    across, missing = np.split(fits[:, own], [len(rows)])  # of the player of row i in the place of that of row k
    mine = np.diagonal(across)
    dearer = mine[:, None] + mine[None] - across - across.T
    np.fill_diagonal(dearer, np.inf)
    out[rows] = 1.0 / (1.0 + np.exp(-dearer).sum(axis=1) + np.exp(missing - mine).sum(axis=0))
    return out


def _tracked_probability(
    roster: Roster, tracked: Mapping[str, float], places_mm: Array, stands_mm: Array, found: Sequence[int | None]
) -> Array:
    """Return the probability of each identity by the tracks, shape (n,): that of its track, where it still stands."""
    followed = len(tracked) / max(len(roster.players), 1)
    trust = 1.0 if followed >= IDENTIFICATION_LIMITS.min_tracked_share else followed
    out = np.ones(len(roster.players))
    for row, (player, at) in enumerate(zip(roster.players, found, strict=True)):
        if at is None or player.id not in tracked:
            continue
        stays = float(np.linalg.norm(places_mm[row] - stands_mm[at])) < IDENTIFICATION_LIMITS.in_place_mm
        out[row] = trust * tracked[player.id] * (1.0 if stays else 0.5)
    return out


def number_figures(stands_mm: Array, sizes_mm: Array, light: Array) -> tuple[list[Player], list[int]]:
    """Return players for all figures, numbered within their team in order across the field.

    Args:
        stands_mm: their places, shape (m, 2).
        sizes_mm: length and width of their bases, shape (m, 2).
        light: log-odds that each is of the light team, shape (m,).

    Returns:
        The players, and the row of each player's place.
    """
    players: list[Player] = []
    rows: list[int] = []
    teams: Sequence[tuple[Jersey, bool]] = (("dark", False), ("light", True))
    for jersey, is_light in teams:
        own = [row for row in range(len(stands_mm)) if (light[row] > 0) == is_light]
        for number, row in enumerate(sorted(own, key=lambda row: float(stands_mm[row, 1])), start=1):
            length, width = (round(float(side), 2) for side in sizes_mm[row])
            base = replace(BaseSize(), length_mm=length, width_mm=width)
            players.append(Player(f"{jersey}-{number}", jersey, base=base))
            rows.append(row)
    return players, rows


def recall_formation(formations: Sequence[Array], stands_mm: Array, unlike_mm: Array) -> Array | None:
    """Return the past formation most like the present places of figures, moved to fit them.

    Args:
        formations: places of the n players at earlier line-ups, shape (n, 2), board mm, NaN where unknown.
        stands_mm: present places of m figures, shape (m, 2).
        unlike_mm: distance added to each place for each player, such as for a jersey of the other team, shape (n, m).

    Returns:
        The expected place of each player, shape (n, 2), NaN where unknown; None if no formation is known.
    """
    turned = [formation * sign for formation in formations for sign in (1.0, -1.0)]
    laid = [_lay_over(places, stands_mm, unlike_mm) for places in turned if np.isfinite(places).any()]
    return min(laid, key=lambda places: misfit_mm(places, stands_mm, unlike_mm), default=None)


def misfit_mm(places_mm: Array, stands_mm: Array, unlike_mm: Array) -> float:
    """Return the total distance of figures from their places; a player without a place or figure counts as elsewhere.

    Args:
        places_mm: shape (n, 2), NaN where unknown.
        stands_mm: shape (m, 2).
        unlike_mm: as in `recall_formation`.
    """
    apart = _distances(places_mm, stands_mm, unlike_mm)
    rows, columns = least_cost_pairs(apart)
    return float(apart[rows, columns].sum()) + IDENTIFICATION_LIMITS.elsewhere_mm * (len(places_mm) - len(rows))


def _matching_formation(
    formations: Sequence[Array], known_mm: Array, stands_mm: Array, unlike_mm: Array
) -> Array | None:
    """Return the past formation that matches the figures, if it fits much better than their tracked places."""
    known_misfit_mm = misfit_mm(known_mm, stands_mm, unlike_mm)
    if known_misfit_mm < IDENTIFICATION_LIMITS.lost_figures * IDENTIFICATION_LIMITS.elsewhere_mm:
        return None
    recalled = recall_formation(formations, stands_mm, unlike_mm)
    if recalled is None:
        return None
    fits = misfit_mm(recalled, stands_mm, unlike_mm) <= IDENTIFICATION_LIMITS.formation_misfit_ratio * known_misfit_mm
    return recalled if fits else None


def _spots_mm(roster: Roster, spots: Sequence[RosterSpot], field: FieldModel) -> Array:
    """Return the places of the roster's players, shape (n, 2), NaN where unknown."""
    at = {spot.id: (spot.x_yd, spot.y_yd) for spot in spots}
    nowhere = (np.nan, np.nan)
    return field.to_mm(np.array([at.get(player.id, nowhere) for player in roster.players]).reshape(-1, 2))


def _in_order(roster: Roster, stands_mm: Array, light: Array) -> Array:
    """Return the roster's players' places if they stand in order across the field, mm, shape (n, 2)."""
    out = np.full((len(roster.players), 2), IDENTIFICATION_LIMITS.unreachable_mm)
    for is_light in (False, True):
        own = [row for row, player in enumerate(roster.players) if (player.jersey == "light") == is_light]
        team: Bools = (light > 0) == is_light
        for row, place in zip(own, sorted(stands_mm[team].tolist(), key=lambda place: place[1]), strict=False):
            out[row] = place
    return out


def _lay_over(places: Array, stands: Array, unlike: Array) -> Array:
    """Move a formation to where it fits best: first with one figure in its place, and then all on average."""
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    players, at = np.nonzero(unlike[known] == 0.0)
    moves = stands[at] - places[known[players]]
    if not len(moves):
        return places
    off = [_distances(places[known] + move, stands, unlike[known]).min(axis=1).sum() for move in moves]
    laid: Array = places + moves[int(np.argmin(off))]
    apart = _distances(laid, stands, unlike)
    rows, columns = least_cost_pairs(apart)
    near = apart[rows, columns] < IDENTIFICATION_LIMITS.in_place_mm
    if near.any():
        laid = laid + np.median(stands[columns[near]] - laid[rows[near]], axis=0)
    return laid


def _distances(places: Array, stands: Array, unlike: Array) -> Array:
    """Return the distance of every figure from every place, at most `elsewhere_mm`, shape (n, m)."""
    apart = np.linalg.norm(places[:, None] - stands[None], axis=2) + unlike
    limited: Array = np.fmin(apart, IDENTIFICATION_LIMITS.elsewhere_mm)  # also where a place is NaN
    return limited
