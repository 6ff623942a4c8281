"""The named plays, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from downfield.core.errors import ScriptError
from downfield.twin.plays.formations import RG
from downfield.twin.plays.playbook import efl, falls, kicks, lions_den, passes, runs, stops, tackles
from downfield.twin.plays.recording import ExpectedPlay

PLAYS: Final[Mapping[str, Callable[[], ExpectedPlay]]] = {
    "clean-tackle": tackles.clean_tackle,
    "clean-tackle-physics": partial(tackles.clean_tackle, "physics"),
    "side-hit": tackles.side_hit,
    "into-side": tackles.into_side,
    "from-behind": tackles.from_behind,
    "into-back": tackles.into_back,
    "side-rub": tackles.side_rub,
    "corner-hit": tackles.corner_hit,
    "nearly-square-hit": partial(tackles.corner_hit, 5.0),
    "near-miss-0.1": partial(tackles.near_miss, 0.1),
    "near-miss-0.2": partial(tackles.near_miss, 0.2),
    "near-miss-0.5": partial(tackles.near_miss, 0.5),
    "near-miss-1": partial(tackles.near_miss, 1.0),
    "stopped-short-0.1": partial(tackles.stopped_short, 0.1),
    "stopped-short-0.5": partial(tackles.stopped_short, 0.5),
    "broken-tackle": falls.broken_tackle,
    "broken-tackle-physics": partial(falls.broken_tackle, "physics"),
    "second-tackler": falls.second_tackler,
    "both-fall": falls.both_fall,
    "both-fall-physics": partial(falls.both_fall, "physics"),
    "falls-alone": falls.falls_alone,
    "falls-alone-physics": partial(falls.falls_alone, "physics"),
    "fumble": falls.fumble,
    "fumble-tails": partial(falls.fumble, heads=False),
    "fumble-physics": partial(falls.fumble, motion="physics"),
    "ball-lost": falls.ball_lost,
    "fallen-defender": falls.fallen_defender,
    "sideline-inside": partial(runs.sideline_graze, -0.3),
    "sideline-graze": partial(runs.sideline_graze, 0.3),
    "out-of-bounds": runs.out_of_bounds,
    "out-of-bounds-physics": partial(runs.out_of_bounds, "physics"),
    "touchdown": runs.touchdown,
    "touchdown-physics": partial(runs.touchdown, "physics"),
    "goal-line-stop": runs.goal_line_stop,
    "safety": runs.safety,
    "reception": passes.reception,
    "reception-physics": partial(passes.reception, "physics"),
    "interception": passes.interception,
    "interception-physics": partial(passes.interception, "physics"),
    "simultaneous": passes.simultaneous,
    "overrun": passes.overrun,
    "pitch": passes.pitch,
    "illegal-pitch": partial(passes.pitch, legal=False),
    "pivots": stops.pivots,
    "pivots-too-many": partial(stops.pivots, 1, 3),
    "pivots-none-for-none": partial(stops.pivots, 0, 1),
    "engaged-pivot": stops.engaged_pivot,
    "moved-pivot": stops.moved_pivot,
    "three-stops": partial(stops.stoppages, 3),
    "four-stops": partial(stops.stoppages, 4),
    "legal-line-up": stops.legal_line_up,
    "head-up-line-up": stops.head_up_line_up,
    **{fault: partial(stops.wrong_line_up, fault) for fault in stops.FAULTS},
    "twelve-men": stops.twelve_men,
    "twelve-men-unclaimed": partial(stops.twelve_men, claimed=False),
    "line-reached": runs.line_reached,
    "turned-back": partial(runs.turned_back, 1),
    "turned-back-twice": partial(runs.turned_back, 2),
    "pushed-back": runs.pushed_back,
    "kickoff-return": kicks.kickoff_return,
    "punt": kicks.punt,
    "efl-pass": efl.completed,
    "efl-interception": efl.intercepted,
    "efl-one-miss": partial(efl.missed, 1),
    "efl-three-misses": efl.missed,
    "efl-passer-touched": efl.passer_touched,
    "efl-handle": efl.handle_touched,
    "efl-fair-catch": efl.kickoff,
    "efl-live-kick": partial(efl.kickoff, RG, 50.0),
    "lions-den-pass": lions_den.caught,
    "lions-den-interception": lions_den.intercepted,
    "lions-den-kept": partial(lions_den.intercepted, 9),
    "lions-den-interference": lions_den.interfered,
    "lions-den-ineligible": lions_den.ineligible,
    "lions-den-too-deep": lions_den.too_deep,
    "lions-den-kickoff": lions_den.kickoff,
    "lions-den-kickoff-out": partial(lions_den.kickoff, 9),
    "lions-den-blocked-punt": lions_den.blocked_punt,
    "interference": passes.pass_interference,
    "touch-without-turn": partial(passes.pass_interference, turned=False),
    "turn-without-touch": partial(passes.pass_interference, touched=False),
    "gunner-interference": passes.gunner_interference,
}
"""Every named play. The functions of the imported modules make variants with other parameters."""


def named(name: str) -> ExpectedPlay:
    """Return a named play. Raises ScriptError: no play has this name."""
    if name not in PLAYS:
        raise ScriptError(f"no play is named '{name}'; there are: {', '.join(sorted(PLAYS))}")
    return PLAYS[name]()
