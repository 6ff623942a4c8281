"""Formations built by hand, in the play's own yards: depth behind the line, offset from the middle of the field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from downfield.core.field.model import FieldModel, preset
from downfield.core.footprint import BaseSize
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Contact, Figure, Jersey, Player, Scene
from downfield.officiating.checks.formation import Formation, build_formation

FIELD = preset("tudor-620")
BASE = BaseSize(length_mm=28.0, width_mm=16.0, corner_mm=1.0)
LENGTH_YD = BASE.length_mm / FIELD.mm_per_yd_x
WIDTH_YD = BASE.width_mm / FIELD.mm_per_yd_y


@dataclass(frozen=True)
class At:
    """A figure: depth of its base's near end behind its side's line, offset across from mid-field (left is +)."""

    depth_yd: float
    off_yd: float
    role: str = ""
    turned_deg: float = 0.0
    number: str = ""


def line(gap_yd: float = 1.0, *, count: int = 7) -> list[At]:
    """Figures on the line, a gap apart, the middle one at mid-field."""
    step = WIDTH_YD + gap_yd
    return [At(0.0, (i - count // 2) * step) for i in range(count)]


def pro_set(gap_yd: float = 1.0) -> list[At]:
    """A legal eleven: seven on the line (two tight ends), quarterback, two backs, a flanker five yards off."""
    return [*line(gap_yd), At(6.0, 0.0), At(12.0, 4.0), At(12.0, -4.0), At(5.0, 18.0)]


def front_seven(gap_yd: float = 1.0) -> list[At]:
    """Five linemen head up two yards off the line, three linebackers, three deep defenders; no figure stacked."""
    step = WIDTH_YD + gap_yd
    linemen = [At(2.0, i * step) for i in range(-2, 3)]
    return [*linemen, At(8.0, 5.0), At(8.0, -5.0), At(8.5, 12.0), At(14.0, 0.0), At(13.0, 19.0), At(13.0, -19.0)]


def build(
    offense: Sequence[At],
    defense: Sequence[At] = (),
    *,
    direction: Literal[-1, 1] = 1,
    line_yd: float = 35.0,
    mirror: bool = False,
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
    jersey: Jersey = "dark",
    field: FieldModel = FIELD,
    extra: Sequence[Figure] = (),
    carrier: str | None = None,
    gunners: tuple[str, ...] = (),
    returner: str | None = None,
) -> Formation:
    """The formation of figures placed by hand; the offense's ids are o0, o1, ..., the defense's d0, d1, ..."""
    roster, figures = [], []
    other: Jersey = "light" if jersey == "dark" else "dark"
    for team, letter, color, side in ((offense, "o", jersey, -1), (defense, "d", other, 1)):
        for i, at in enumerate(team):
            figure = _figure(f"{letter}{i}", color, at, side, direction, line_yd, field, mirror=mirror)
            roster.append(Player(figure.id, color, at.number, at.role, BASE))
            figures.append(replace(figure, sigma_mm=(sigma_mm, sigma_mm), sigma_deg=sigma_deg))
    for figure in extra:
        roster.append(Player(figure.id, figure.jersey))
        figures.append(figure)
    return build_formation(
        Scene(0, 0, "off", tuple(figures)),
        roster,
        field,
        offense=jersey,
        direction=direction,
        line_yd=line_yd,
        carrier=carrier,
        gunners=gunners,
        returner=returner,
    )


def _figure(
    name: str, jersey: Jersey, at: At, side: int, direction: int, line_yd: float, field: FieldModel, *, mirror: bool
) -> Figure:
    u_mm = side * (at.depth_yd * field.mm_per_yd_x + BASE.length_mm / 2)
    off_yd, turned = (-at.off_yd, -at.turned_deg) if mirror else (at.off_yd, at.turned_deg)
    heading = turned if side < 0 else 180.0 + turned
    if direction < 0:
        heading += 180.0
    return Figure(
        name,
        jersey,
        line_yd * field.mm_per_yd_x + direction * u_mm,
        field.width_mm / 2 + direction * off_yd * field.mm_per_yd_y,
        wrap_deg(heading),
        BASE.length_mm,
        BASE.width_mm,
        BASE.corner_mm,
    )


def figure(
    name: str, jersey: Jersey, x_mm: float, y_mm: float, heading_deg: float = 0.0, sigma_mm: float = 0.0
) -> Figure:
    """A base on the board."""
    return Figure(
        name,
        jersey,
        x_mm,
        y_mm,
        heading_deg,
        BASE.length_mm,
        BASE.width_mm,
        BASE.corner_mm,
        sigma_mm=(sigma_mm, sigma_mm),
    )


def contact(a: str, b: str, probability: float = 1.0) -> Contact:
    """Two bases that touch."""
    a, b = sorted((a, b))
    return Contact(a, b, 0.0, 0.0, probability, "front", "front", 0.0)
