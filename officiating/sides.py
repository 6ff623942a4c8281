"""The two sides of a game, the hash marks, and the roles: their spelling, and groups that rules and checks speak of."""

from __future__ import annotations

from typing import Final, Literal

Side = Literal["home", "away"]
Hash = Literal["left", "center", "right"]

SIDES: Final[tuple[Side, Side]] = ("home", "away")
"""Both, in the order in which scores name them."""


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
