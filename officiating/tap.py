"""TAP: Tudor Advanced Play, as played at Tudor-Con."""

from __future__ import annotations

from typing import Final

from downfield.officiating import downs
from downfield.officiating.board import stoppage_params
from downfield.officiating.declare import LINE_UP_PARAMS, SHARED
from downfield.officiating.rule import System
from downfield.officiating.tackles import Tackle, tackle_params

WINDOW_REASON = "TAP gives no time for 'while making contact'; a figure knocked over is down within half a second"

TAP: Final = System(
    name="tap",
    title="Tudor Advanced Play (Tudor-Con)",
    rules=(
        Tackle(
            clauses=("TAP-022",),
            broken=("TAP-023", "TAP-028"),
            fumble=("TAP-027", "TAP-034"),
            both=("TAP-036", "TAP-026"),
            spot=("TAP-033",),
            params=tackle_params(0.5, False, WINDOW_REASON),
        ),
    ),
    handlers=dict(SHARED),
    consequences={
        "tackle": downs.dead_ball,
        "down_by_fall": downs.dead_ball,
        "sack": downs.dead_ball,
        "out_of_bounds": downs.dead_ball,
        "first_down": downs.first_down,
        "turnover_on_downs": downs.turnover_on_downs,
        "touchdown": downs.touchdown,
        "two_point": downs.two_point,
        "extra_point": downs.extra_point,
        "safety": downs.safety,
    },
    clauses={
        "stoppage": ("TAP-086", "TAP-088"),
        "first_down": ("TAP-G4",),
        "downs": ("TAP-G4",),
        "safety": ("TAP-G2",),
    },
    params=(*downs.DOWNS_PARAMS, *LINE_UP_PARAMS, *stoppage_params(3, "TAP-086", after_line=False)),
)
