"""Checks of jerseys and numbers, by what the coach named: a number nobody read or typed in is unknown, not wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from downfield.officiating.checks.check import Measured, check
from downfield.officiating.checks.formation import Formation
from downfield.officiating.checks.roles import LINEMEN
from downfield.officiating.rulebooks.params import Params

LINEMAN_NUMBERS = range(50, 80)
BACK_NUMBERS = (range(50), range(80, 90))
CENTER_TOO = "00"


@check("TAP-010")
def jerseys(formation: Formation, _params: Params) -> Iterator[Measured]:
    """The offense wears dark. The punting team is the offense; nothing else is said of punts."""
    yield _jersey(formation, "dark", "offense")


@check("TAP-010")
def kick_jerseys(formation: Formation, _params: Params) -> Iterator[Measured]:
    """The team that covers a kickoff wears white, the receivers wear dark."""
    yield _jersey(formation, "light", "kicking team")


@check("TAP-011", "TAP-012", "TAP-013")
def numbers_by_role(formation: Formation, _params: Params) -> Iterator[Measured]:
    """Linemen wear 50 to 79, a center may wear 00; backs and ends 0 to 49 or 80 to 89; the defense what it likes."""
    for man in formation.offense:
        number, lineman = man.player.number.strip(), man.role in LINEMEN
        if not number:
            continue
        clauses = ("TAP-011",) if lineman else ("TAP-012",)
        fits = number.isdigit() and _fits(int(number), lineman=lineman)
        if number == CENTER_TOO:
            fits = man.role == "C"
        how = "inferred" if man.inferred else "named"
        wanted = "50 to 79" if lineman else "0 to 49 or 80 to 89"
        text = f"{man.id} wears {number}; as {man.role} ({how}) {wanted} is allowed"
        yield Measured(text, (man.id,), 0 if fits else -1, unit="count", clauses=clauses)


@check("TAP-014")
def numbers_worn(formation: Formation, _params: Params) -> Iterator[Measured]:
    """Every jersey has a number on its back; where none is known the clause stays open."""
    for man in formation.men:
        if not man.player.number.strip():
            yield Measured(f"no number is known for {man.id}", (man.id,))


@check("TAP-015")
def numbers_distinct(formation: Formation, _params: Params) -> Iterator[Measured]:
    """No number twice within a team: both teams may choose freely and colors tell them apart."""
    worn: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for man in formation.men:
        number = man.player.number.strip()
        if number:
            worn[man.offense, number].append(man.id)
    for (_, number), men in worn.items():
        if len(men) > 1:
            yield Measured(f"{' and '.join(men)} both wear {number}", tuple(men), 1 - len(men), unit="count")


def _jersey(formation: Formation, wanted: str, who: str) -> Measured:
    text = f"the {who} wears {formation.jersey}; {wanted} wanted"
    return Measured(text, (), 0 if formation.jersey == wanted else -1, unit="count")


def _fits(number: int, *, lineman: bool) -> bool:
    if lineman:
        return number in LINEMAN_NUMBERS
    return any(number in numbers for numbers in BACK_NUMBERS)
