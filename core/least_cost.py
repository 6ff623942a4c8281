"""Pairs rows with columns so that the sum of the pairs' costs is least: the linear assignment problem.

Most rows of a tracker's costs have a cheapest column of their own, and then that is the answer. The others are added
one by one along a shortest augmenting path over reduced costs (R. Jonker, A. Volgenant, Computing 38, 1987; for more
columns than rows D. Crouse, IEEE Transactions on Aerospace and Electronic Systems 52, 2016). scipy has it as well
(`linear_sum_assignment`, the oracle of the tests), but would add 125 MB to what a rig installs, for this alone.
"""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array, Indices


def least_cost_pairs(cost: Array) -> tuple[Indices, Indices]:
    """Return the rows and columns of the pairs, as many as the shorter side has, rows ascending.

    Args:
        cost: of every pair, shape (n, m), finite; any of equally cheap answers is returned.

    Raises:
        ValueError: a cost is not finite.
    """
    cost = np.asarray(cost, dtype=np.float64)
    if not np.isfinite(cost).all():
        raise ValueError("A cost is not finite.")
    if not cost.size:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if cost.shape[0] <= cost.shape[1]:
        return np.arange(len(cost)), _columns(cost)
    rows = _columns(np.ascontiguousarray(cost.T))
    order = np.argsort(rows)
    return rows[order], order


def _columns(cost: Array) -> Indices:
    """Return the column of each row, of costs with no more rows than columns."""
    cheapest: Indices = cost.argmin(axis=1)
    owners, first = np.unique(cheapest, return_index=True)
    if len(owners) == len(cost):
        return cheapest
    row_price, column_price = cost.min(axis=1), np.zeros(cost.shape[1])
    column_of, row_of = np.full(len(cost), -1), np.full(cost.shape[1], -1)
    column_of[first], row_of[owners] = owners, first
    for row in np.flatnonzero(column_of < 0):
        _add_row(int(row), cost, row_price, column_price, column_of, row_of)
    return column_of


def _add_row(
    start: int, cost: Array, row_price: Array, column_price: Array, column_of: Indices, row_of: Indices
) -> None:
    """Pair one more row by the shortest path to an unpaired column, and keep reduced costs from falling below 0."""
    length, previous = np.full(len(row_of), np.inf), np.zeros(len(row_of), dtype=np.intp)
    reached, passed = np.zeros(len(row_of), dtype=bool), [start]
    row, so_far = start, 0.0
    while True:
        by_row = so_far + cost[row] - row_price[row] - column_price
        shorter = (by_row < length) & ~reached
        length[shorter], previous[shorter] = by_row[shorter], row
        column = int(np.where(reached, np.inf, length).argmin())
        so_far = float(length[column])
        reached[column] = True
        if row_of[column] < 0:
            break
        row = int(row_of[column])
        passed.append(row)
    between = passed[1:]
    row_price[start] += so_far
    row_price[between] += so_far - length[column_of[between]]
    column_price[reached] -= so_far - length[reached]
    while True:
        row = int(previous[column])
        row_of[column], (column_of[row], column) = row, (column, int(column_of[row]))
        if row == start:
            return
