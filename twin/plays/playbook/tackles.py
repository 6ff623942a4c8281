"""Plays about contacts between two bases: all kinds of hits on a runner, and near misses."""

from __future__ import annotations

from collections.abc import Callable

from downfield.twin.plays.formations import RB, RCB
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    LANE_YD,
    LENGTH_MM,
    WIDTH_MM,
    Motion,
    across,
    ahead,
    efl_tackle,
    expect,
    lions_den_tackle,
    nowhere,
    opening,
    scrimmage,
    seconds_to,
    stopped,
    tap_tackle,
    to_the_line,
)
from downfield.twin.plays.recording import Expectation, ExpectedPlay
from downfield.twin.plays.script import BasesTouch, Passes, Reaches, Route, Stance, Steer, Step, Until

HIT = "contact"
SLIDE_MM = 5e-7  # the gap at which bases slide along each other on exact paths: they touch, and neither stops the other


def met(after: tuple[Step, ...] = (), *, defender: str = RCB) -> tuple[Step, ...]:
    """Return the steps to the touch of runner and defender, the steps that follow, and the switch off."""
    return (Until((BasesTouch(RB, defender),), within_s=6.0, mark=HIT), *after, *stopped("away", 0.25, 0.6))


def tackled(
    efl_clause: str | None, defender: str = RCB, *, missed: bool = True
) -> Callable[[PlayHistory], Expectation]:
    """Return the expectation of a tackle: under TAP and Lion's Den by any touch, under the EFL by a clause.

    Args:
        efl_clause: the EFL's clause; None where none allows this hit.
        missed: whether there is certainly no tackle under the EFL.
    """

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, defender)
        efl = () if efl_clause is None else (efl_tackle(history, RB, defender, t_ns, efl_clause),)
        absent = nowhere("fumble", "broken_tackle", "down_by_fall", "out_of_bounds", "touchdown", "safety")
        if efl_clause is None and missed:
            absent["efl"] = (*absent["efl"], "tackle")
        return expect(
            tap=(tap_tackle(history, RB, defender, t_ns),),
            efl=efl,
            lions_den=(lions_den_tackle(history, RB, defender, t_ns),),
            absent=absent,
        )

    return expectation


def clean_tackle(motion: Motion = "exact") -> ExpectedPlay:
    """Head-on, front to front: a tackle under every rulebook with tackles.

    In the physics the defender is steered at the runner; the angle at which they meet is then not known beforehand.
    """
    chase = (Steer(RCB, toward=RB),) if motion == "physics" else ()
    steps = (*opening(40.0, RB), *to_the_line(), *chase, *met())
    script = scrimmage(
        "clean-tackle",
        "The runner is met head-on and goes down.",
        steps,
        Stance(RCB, 14.0, LANE_YD, at="center"),
        speeds={RCB: 25.0},
        motion=motion,
    )
    return ExpectedPlay(script, tackled("EFL-078" if motion == "exact" else None, missed=motion == "exact"), 1)


def _hit(name: str, about: str, stance: Stance, speed: float, efl_clause: str | None) -> ExpectedPlay:
    """Return the play in which the runner and the cornerback, who starts in a stance at a speed in mm/s, meet."""
    steps = (*opening(40.0, RB), *to_the_line(), *met())
    return ExpectedPlay(scrimmage(name, about, steps, stance, speeds={RCB: speed}), tackled(efl_clause))


def square_at_his_side(meet_yd: float, speed_mm_s: float) -> Stance:
    """Return the cornerback's stance from which his front meets the runner's side at 90 degrees, at a yard line."""
    start = LANE_YD + across((WIDTH_MM + LENGTH_MM) / 2 + speed_mm_s * seconds_to(meet_yd))
    return Stance(RCB, meet_yd, start, -90.0, at="center")


def side_hit() -> ExpectedPlay:
    """The defender's front flush into the runner's side, at 90 degrees."""
    stance = square_at_his_side(7.0, 25.0)
    return _hit("side-hit", "A defender runs square into the runner's side.", stance, 25.0, "EFL-078")


def into_side() -> ExpectedPlay:
    """The runner's front flush into a defender's side, at 90 degrees."""
    speed, meet_yd = 6.0, 9.0
    start = LANE_YD - across(speed * seconds_to(meet_yd - ahead((LENGTH_MM + WIDTH_MM) / 2)))
    stance = Stance(RCB, meet_yd, start, 90.0, at="center")
    return _hit("into-side", "The runner runs square into a defender's side.", stance, speed, "EFL-079")


def from_behind() -> ExpectedPlay:
    """A faster defender catches the runner from behind."""
    steps = (
        *opening(40.0, RB),
        *to_the_line(),
        Until((Passes(RB, 7.0),)),
        Route(RCB, ((3.5, LANE_YD), (45.0, LANE_YD)), speed_mm_s=190.0),
        *met(),
    )
    script = scrimmage(
        "from-behind",
        "The runner is caught from behind.",
        steps,
        Stance(RCB, 1.5, 20.0, 0.0, at="center"),
        speeds={RCB: 0.0},
    )
    return ExpectedPlay(script, tackled("EFL-080"))


def into_back() -> ExpectedPlay:
    """The runner runs into the back of a defender: under the EFL no tackle."""
    stance = Stance(RCB, 8.0, LANE_YD, 0.0, at="center")
    return _hit("into-back", "The runner runs into a slow defender's back.", stance, 12.0, None)


def side_rub() -> ExpectedPlay:
    """Side along side: they pass each other touching."""
    stance = Stance(RCB, 16.0, LANE_YD + across(WIDTH_MM + SLIDE_MM), at="center")
    return _hit("side-rub", "A defender passes the runner, side rubbing along side.", stance, 25.0, None)


def corner_hit(angle_deg: float = 40.0) -> ExpectedPlay:
    """A defender stands turned in the lane and the runner's front meets his corner.

    Args:
        angle_deg: between the meeting faces; 0 would be head-on.
    """
    about = f"The runner's front meets a defender's corner, {angle_deg:g} degrees off head-on."
    stance = Stance(RCB, 9.0, LANE_YD, 180.0 - angle_deg, at="center")
    return _hit("corner-hit", about, stance, 0.0, "EFL-078" if angle_deg <= 8 else None)


def near_miss(miss_mm: float = 0.2) -> ExpectedPlay:
    """A defender passes the runner side by side, tenths of a millimeter clear of him: no call."""
    lane = LANE_YD + across(WIDTH_MM + miss_mm)
    steps = (*opening(40.0, RB), *to_the_line(), Until((Passes(RB, 12.0),), within_s=6.0))
    script = scrimmage(
        "near-miss",
        f"A defender misses the runner by {miss_mm:g} mm.",
        steps,
        Stance(RCB, 16.0, lane, at="center"),
        speeds={RCB: 25.0},
    )
    absent = nowhere("tackle", "broken_tackle", "slipped_tackle", "fumble", "down_by_fall", "sack", "out_of_bounds")
    return ExpectedPlay(script, lambda _: expect(absent=absent))


def stopped_short(short_mm: float = 0.3) -> ExpectedPlay:
    """The board goes off when the runner is head-on before a defender, tenths of a millimeter away: no call."""
    stand_yd = 10.0
    stop_yd = stand_yd - ahead(LENGTH_MM + short_mm)
    steps = (
        *opening(40.0, RB),
        *to_the_line(until_yd=stop_yd),
        Until((Reaches(RB, stop_yd + ahead(LENGTH_MM / 2) - 1e-6),), mark="stop"),
        *stopped("away", 0.2, 0.5),
    )
    script = scrimmage(
        "stopped-short",
        f"The runner comes to a stop {short_mm:g} mm before a defender.",
        steps,
        Stance(RCB, stand_yd, LANE_YD, at="center"),
        speeds={RCB: 0.0},
    )
    return ExpectedPlay(script, lambda _: expect(absent=nowhere("tackle", "broken_tackle", "fumble", "down_by_fall")))
