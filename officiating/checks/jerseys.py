"""Checks of jerseys and numbers, as entered in the roster; a number that was never entered is unknown, not wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from downfield.officiating.checks.check import Measurement, check
from downfield.officiating.checks.formation import Formation
from downfield.officiating.params import Params
from downfield.officiating.sides import LINEMEN

LINEMAN_NUMBERS: Final = range(50, 80)
BACK_NUMBERS: Final = (range(50), range(80, 90))
CENTER_NUMBER: Final = "00"  # a center may also wear this


@check("TAP-010")
def jerseys(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """The offense wears dark. The punting team counts as the offense; the rulebook has no separate clause for punts."""
    yield _measure_jersey(formation, "dark", "offense")


@check("TAP-010")
def kick_jerseys(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """The team covering a kickoff wears white, the receiving team dark."""
    yield _measure_jersey(formation, "light", "kicking team")


@check("TAP-011", "TAP-012", "TAP-013")
def numbers_by_role(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """Linemen wear 50 to 79 and a center also 00; backs and ends 0 to 49 or 80 to 89; the defense any number."""
    for player in formation.offense:
        number, lineman = player.entry.number.strip(), player.role in LINEMEN
        if not number:
            continue
        clauses = ("TAP-011",) if lineman else ("TAP-012",)
        ranges = (LINEMAN_NUMBERS,) if lineman else BACK_NUMBERS
        fits = number.isdecimal() and any(int(number) in numbers for numbers in ranges)
        if number == CENTER_NUMBER:
            fits = player.role == "C"
        source = "inferred" if player.inferred else "named"
        allowed = "50 to 79" if lineman else "0 to 49 or 80 to 89"
        text = f"{player.id} wears {number}; as {player.role} ({source}) {allowed} is allowed"
        yield Measurement(text, (player.id,), 0 if fits else -1, unit="count", clauses=clauses)


@check("TAP-014")
def numbers_worn(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """Every jersey has a number on its back; the result is unknown for a player entered without one."""
    for player in formation.players:
        if not player.entry.number.strip():
            yield Measurement(f"no number is known for {player.id}", (player.id,))


@check("TAP-015")
def numbers_distinct(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """No number is worn twice in a team; both teams may use the same number, since their colors differ."""
    worn: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for player in formation.players:
        number = player.entry.number.strip()
        if number:
            worn[player.offense, number].append(player.id)
    for (_, number), ids in worn.items():
        if len(ids) > 1:
            yield Measurement(f"{' and '.join(ids)} both wear {number}", tuple(ids), 1 - len(ids), unit="count")


def _measure_jersey(formation: Formation, required: str, team: str) -> Measurement:
    text = f"the {team} wears {formation.jersey}; {required} required"
    return Measurement(text, (), 0 if formation.jersey == required else -1, unit="count")
