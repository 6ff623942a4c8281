"""The two sides of a game, the hash marks, places as people name them, and the roles: their spelling and groups."""

from __future__ import annotations

import re
from typing import Final, Literal

from downfield.core.errors import RefusedError

Side = Literal["home", "away"]
Hash = Literal["left", "center", "right"]

SIDES: Final[tuple[Side, Side]] = ("home", "away")  # Both, in the order in which scores name them

_PLACE: Final = re.compile(r"(?:(?P<team>.*\S)\s+)?(?P<yards>-?\d+(?:\.\d+)?)")


def place_yd(named: str, shorts: tuple[str, str], home_direction: int, length_yd: float) -> float:
    """Return where along x of the board a place is that a person names: ``"H 44"``, ``"RIV 44"``, ``"50"``, ``"A -3"``.

    Args:
        named: a team and its yard line, below 0 in its end zone; midfield needs no team.
        shorts: the short names of home and away, which go before H and A.
        home_direction: 1 when home goes toward larger x, -1 toward smaller x.

    Raises:
        RefusedError: it names no place of this field.
    """
    found = _PLACE.fullmatch(named.strip())
    team, yards = ("", 0.0) if found is None else ((found["team"] or "").casefold(), float(found["yards"]))
    spoken = {"h": 1, "home": 1, "a": -1, "away": -1, shorts[1].casefold(): -1, shorts[0].casefold(): 1}
    is_midfield = not team and yards == length_yd / 2
    if found is None or not (is_midfield or team in spoken) or not -length_yd / 2 <= yards <= length_yd / 2:
        raise RefusedError(
            f"spot: {named!r} is no place on this field; write a team and its yard line, such as {shorts[0]} 44 or"
            f" {shorts[1]} 44, or {length_yd / 2:.4g} for midfield"
        )
    return yards if spoken.get(team, 1) * home_direction > 0 else length_yd - yards


LINEMEN: Final = ("C", "G", "T")
ELIGIBLE: Final = ("WR", "TE", "RB")
_SYNONYMS: Final = {
    "OT": "T", "OG": "G", "OC": "C", "HB": "RB", "FB": "RB", "TB": "RB", "SB": "RB", "SE": "WR", "FL": "WR",
    "TTQB": "QB", "NG": "NT", "DE": "DL", "DT": "DL", "ILB": "LB", "OLB": "LB", "MLB": "LB", "CB": "DB", "S": "DB",
    "FS": "DB", "SS": "DB", "PK": "K", "PR": "KR",
}  # fmt: skip


def canonical_role(named: str) -> str:
    """Return a role in its standard spelling; a leading L or R for the side is dropped."""
    role = named.strip().upper()
    if len(role) > 1 and role[0] in "LR" and (role[1:] in LINEMEN or role[1:] in _SYNONYMS):
        role = role[1:]
    return _SYNONYMS.get(role, role)
