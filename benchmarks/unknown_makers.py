"""What makers print on boards of electric football, for `unknown_prints.py`: sizes, lines, bands, numbers, colors.

Sizes and habits are those that collectors give: Tudor's 26 x 15, 36 x 20 and 36 x 21 in boards (chalk lines, speckled
greens, numbers in circles, yellow end zones), Coleco's 38 x 21, Munro's and Eagle's Canadian boards of 110 yards
(36 x 16 and 26 x 14), a 42 x 18 arena of 50 yards, covers of 48 x 24, and steel boards that people paint at home.
The two splits share no maker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Split = Literal["development", "held"]
Color = tuple[int, int, int]  # red green blue
Between = tuple[float, float]

WHITE: Final = (238, 238, 230)
YELLOW: Final = (240, 205, 40)
BLACK: Final = (22, 22, 24)
RED: Final = (190, 35, 40)
BLUE: Final = (35, 60, 150)
GREENS: Final = ((46, 122, 58), (30, 92, 44), (70, 150, 70), (62, 110, 84), (96, 134, 52))
GAMES: Final = {"us": (100.0, 160 / 3, 10.0), "canada": (110.0, 65.0, 20.0), "arena": (50.0, 85 / 3, 8.0)}


@dataclass(frozen=True, slots=True)
class Maker:
    """A maker's way to print boards; ranges are drawn from evenly."""

    game: str
    sizes_in: tuple[tuple[float, float], ...]
    turfs: tuple[Color, ...] = GREENS
    grain: Literal["plain", "stripes", "speckle", "grass"] = "plain"
    paints: tuple[Color, ...] = (WHITE,)
    line_mm: Between = (0.9, 1.8)
    goal_times: Between = (1.0, 1.0)
    goal_colors: tuple[Color, ...] = ()
    goal_zero: tuple[float, ...] = (0.0,)  # where the paint's middle lies, in its own widths outward of the goal
    band_yd: Between = (0.0, 0.0)  # sideline's width, outward of the sideline
    band_colors: tuple[Color, ...] = ()
    bands: Literal["around", "sides", "one side", "none"] = "around"
    inset_yd: float = 0.0  # yard lines stop so far inside of the sidelines
    every_yd: float = 5.0
    thin_fives: float = 1.0
    hash_yd: tuple[float, ...] = ()  # rows from either sideline
    hash_long_yd: Between = (0.6, 1.2)
    ticks: Literal["none", "inside", "apart", "outside"] = "none"
    numbers: Literal["facing", "same way", "none"] = "facing"
    font: tuple[str, ...] = ("block",)
    number_in_yd: Between = (7.0, 12.0)
    number_tall_yd: Between = (2.2, 4.2)
    circled: bool = False
    arrows: bool = False
    zones: tuple[str, ...] = ("plain",)
    zone_colors: tuple[Color, ...] = (YELLOW, RED, BLUE)
    logo: tuple[str, ...] = ("",)
    rim_colors: tuple[Color, ...] = ((120, 120, 118), BLACK, (170, 140, 90))
    rim_in: Between = (0.4, 1.6)
    pennants: bool = False
    coach_line: bool = False
    conversion: bool = False
    rounded: bool = False
    wear: Between = (0.0, 0.25)
    uneven: float = 0.0  # standard deviation of a line's width, of its own
    off_yd: float = 0.0  # standard deviation of a mark's place, for boards painted by hand


MAKERS: Final[dict[Split, tuple[Maker, ...]]] = {
    "development": (
        Maker("us", ((26, 15), (24, 13)), line_mm=(0.8, 1.5), goal_times=(1.6, 2.6), goal_zero=(0.0, -0.5),
              band_yd=(0.35, 0.8), hash_yd=(20.0,), zones=("plain", "stripes"), logo=("", "ball"), wear=(0.1, 0.5)),
        Maker("us", ((36, 21), (36, 20)), grain="grass", line_mm=(1.2, 2.2), goal_times=(1.3, 2.2),
              goal_zero=(0.0, 0.5), bands="sides", band_yd=(0.2, 0.35), hash_yd=(20.0,), hash_long_yd=(0.8, 1.3),
              ticks="apart", font=("sans",), number_tall_yd=(2.8, 4.5), zones=("name", "turf"), wear=(0.1, 0.4)),
        Maker("us", ((38, 21), (40, 22)), grain="stripes", goal_times=(1.0, 2.0), goal_colors=(WHITE, YELLOW),
              band_yd=(0.8, 1.5), inset_yd=0.5, hash_yd=(20.0,), ticks="inside", font=("italic", "sans"), arrows=True,
              zones=("name", "diagonal"), logo=("star", "letters"), pennants=True),
        Maker("arena", ((42, 18),), goal_times=(1.0, 2.0), goal_zero=(0.5, 0.0), band_yd=(0.4, 1.0),
              band_colors=(RED, BLUE, BLACK), hash_yd=(8.5,), font=("sans",), number_in_yd=(4.5, 6.5),
              number_tall_yd=(1.4, 2.2), logo=("letters",), zones=("plain", "name")),
        Maker("canada", ((36, 16), (38, 21)), goal_times=(1.2, 2.2), hash_yd=(24.0,), ticks="inside",
              band_yd=(0.3, 0.7), number_in_yd=(8, 13), zones=("stripes", "plain"), rounded=True, wear=(0.1, 0.4)),
        Maker("us", ((48, 24),), grain="grass", line_mm=(1.2, 2.2), goal_times=(1.0, 1.8), hash_yd=(23.58,),
              band_yd=(1.6, 2.2), inset_yd=0.3, ticks="inside", font=("sans",), arrows=True, number_in_yd=(9, 12),
              zones=("name",), logo=("star", "letters", "shield"), conversion=True),
    ),
    "held": (
        Maker("us", ((36, 20), (36, 21)), grain="speckle", line_mm=(1.0, 2.0), goal_times=(1.4, 2.8),
              goal_colors=(RED, YELLOW, WHITE), goal_zero=(-0.5, 0.0, 0.5), bands="one side", band_yd=(0.4, 0.9),
              font=("sans", "block"), circled=True, zones=("plain", "checks"), wear=(0.0, 0.4)),
        Maker("us", ((36, 21), (38, 21)), turfs=((228, 232, 234), (214, 220, 224)), grain="grass",
              paints=(BLUE, BLACK), goal_times=(1.0, 2.0), band_yd=(0.3, 0.9), hash_yd=(23.58,), ticks="inside",
              font=("serif", "sans"), zones=("name", "plain"),
              zone_colors=(RED, BLUE, (90, 90, 96)), logo=("ball", "")),
        Maker("us", ((48, 24), (42, 22)), grain="stripes", line_mm=(1.3, 2.4), goal_times=(1.0, 2.2),
              goal_zero=(0.0, 0.5), band_yd=(1.8, 2.4), hash_yd=(23.58,), ticks="outside", font=("serif", "italic"),
              arrows=True, number_in_yd=(8, 12), zones=("name", "checks"), logo=("shield", "letters"), coach_line=True,
              conversion=True, rim_colors=(WHITE, (60, 100, 60))),
        Maker("canada", ((36, 16), (26, 14)), line_mm=(0.8, 1.4), goal_times=(1.0, 2.5), goal_colors=(RED, WHITE),
              bands="none", hash_yd=(24.0,), font=("block", "sans"), number_in_yd=(9, 14), zones=("name", "plain"),
              logo=("leaf",), rounded=True, pennants=True, wear=(0.1, 0.5)),
        Maker("arena", ((42, 18), (36, 18)), turfs=((40, 70, 150), (140, 60, 50), (46, 122, 58)), line_mm=(1.0, 2.2),
              goal_times=(1.5, 2.5), band_yd=(0.8, 1.6), band_colors=(YELLOW, WHITE), hash_yd=(9.5,),
              font=("italic", "block"), number_in_yd=(4.5, 6.5), number_tall_yd=(1.3, 2.0), logo=("star", "shield")),
        Maker("us", ((48, 24), (40, 20)), line_mm=(1.4, 2.6), goal_times=(1.0, 1.6), goal_zero=(0.0,), every_yd=5.0,
              bands="sides", band_yd=(0.25, 0.5), hash_yd=(20.0,), hash_long_yd=(0.8, 1.4), numbers="same way",
              font=("block",), zones=("turf", "plain"), thin_fives=0.6, uneven=0.12, off_yd=0.02, wear=(0.0, 0.3)),
        Maker("us", ((26, 15), (30, 16)), turfs=GREENS[:3], paints=(WHITE, YELLOW), line_mm=(0.7, 1.2),
              every_yd=10.0, goal_times=(1.0, 2.0), goal_zero=(0.5, 0.0), band_yd=(0.3, 0.7),
              zones=("diagonal", "plain"), font=("block", "sans"), number_tall_yd=(2.5, 4.5),
              rim_in=(0.4, 0.8), wear=(0.2, 0.6)),
    ),
}  # fmt: skip
