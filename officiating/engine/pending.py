"""Findings that wait: merged frame by frame, settled in order of the instants they are about.

A contact is a tackle only if the tackler is still standing half a second later, so it waits; and whatever happens
after it, a goal line crossed, a board switched off, waits behind it, since it counts only if the tackle does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from downfield.officiating.engine.findings import POWER, Finding
from downfield.officiating.engine.state import Play

_VAGUE: Final = 3.0  # times as uncertain a measurement says nothing beside the one before


def merge(play: Play, found: Iterable[Finding], order: dict[str, int], sure: float) -> Play:
    """A play with findings added to those pending, earliest first; at one instant by the order of the rules.

    A finding seen again (same rule and key) is one finding: the surer reading of it stands. Its instant is that of the
    first time its margin was on the side of the call. While it grows surer it is not settled as too close to call. What
    was judged already is not taken up again, unless it was too close to call and has become sure.

    Args:
        play: the play.
        found: what the rules have found now.
        order: precedence of the rules at one instant.
        sure: the probability from which a call is made.

    """
    pending = {judged_as(finding): finding for finding in play.pending}
    changed = False
    for finding in found:
        name = judged_as(finding)
        if name in play.judged or (finding.probability < sure and close(name) in play.judged):
            continue
        known = pending.get(name)
        new = finding if known is None else _surer(known, finding)
        if new is not known:
            pending[name] = new
            changed = True
    if not changed:
        return play
    queue = sorted(pending.values(), key=lambda finding: (_place_ns(finding), order.get(finding.rule, -1)))
    return replace(play, pending=tuple(queue))


def close(name: str) -> str:
    """The name under which a finding is remembered that was too close to call."""
    return f"{name}:close"


def left_open(play: Play, rule: str, run_ns: int) -> bool:
    """Whether something that a rule found since the board last came on was too close to call."""
    return any(name.startswith(f"{rule}:") and name.endswith(close(f"@{run_ns}")) for name in play.judged)


def judged_as(finding: Finding) -> str:
    """The name a finding is remembered by once settled."""
    return f"{finding.rule}:{finding.key}"


def _place_ns(finding: Finding) -> int:
    """The instant a finding is queued by: a switch thrown waits for the frames in which the board comes to rest."""
    return finding.ripe_ns or finding.t_ns if finding.rule == POWER else finding.t_ns


def _as_well_measured(known: Finding, again: Finding) -> Finding:
    """What was found again, by how much as measured before where that hardly could be any more: somebody falls."""
    if known.sigma is None or again.sigma is None or again.sigma <= _VAGUE * known.sigma:
        return again
    return replace(again, margin=known.margin, sigma=known.sigma)


def _surer(known: Finding, again: Finding) -> Finding:
    if again.probability <= known.probability:
        return known
    again = _as_well_measured(known, again)
    ripe_ns = max(known.ripe_ns or 0, again.ripe_ns or 0) or None
    if (known.margin or 0.0) < 0:
        return replace(again, ripe_ns=ripe_ns)
    return replace(again, t_ns=known.t_ns, spot_yd=known.spot_yd, ripe_ns=ripe_ns if again.early else known.ripe_ns)
