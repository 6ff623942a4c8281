"""A tackle as tracked, frame by frame, to be painted and described."""

from __future__ import annotations

from scripted_plays import BASE

from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.game.published.game_topics import CallView
from downfield.game.published.plays import Play
from downfield.officiating.call_kinds import CallKind

CARRIER, HITTER = "dark-28", "light-24"
PLAYERS = (Player(CARRIER, "dark"), Player(HITTER, "light"))


def scene(gap_mm: float = 0.4, *, judged: bool = True) -> Scene:
    """Return a frame with a carrier, a hitter before him, one who is seen and one who is not."""
    apart = BASE.length_mm + gap_mm
    figures = (
        Figure(CARRIER, "dark", 400, 300, 0, BASE.length_mm, BASE.width_mm, sigma_mm=(0.3, 0.1)),
        Figure(HITTER, "light", 400 + apart, 300, 180, BASE.length_mm, BASE.width_mm, sigma_mm=(0.4, 0.1)),
        Figure("dark-7", "dark", 700, 100, 0, BASE.length_mm, BASE.width_mm),
        Figure("dark-8", "dark", 600, 100, 0, BASE.length_mm, BASE.width_mm, posture="unseen"),
    )
    near = Contact(CARRIER, HITTER, gap_mm, 0.12, 0.03, "front", "front", 0.0, 18.0)
    return Scene(7, 10**9, "on", figures, (near,) if judged else ())


def tackle(kind: CallKind = "tackle", spot_yd: tuple[float, float] | None = (41.9, 27.5)) -> CallView:
    """Return a call on the two, a tackle by default."""
    return CallView(
        id="t",
        kind=kind,
        verdict="called",
        standing="stands",
        text=f"{CARRIER} tackled by {HITTER}",
        t_ns=10**9,
        clauses=(),
        players=(CARRIER, HITTER),
        spot_yd=spot_yd,
        margin=-0.4,
        sigma=0.12,
        unit="mm",
        measured="-0.40 ± 0.12 mm",
        probability=0.97,
    )


def play(number: int, *calls: CallView) -> Play:
    """Return a play with calls."""
    return Play(
        number=number,
        kind="scrimmage",
        t_ns=number * 10**9,
        period=1,
        offense="home",
        situation="1st & 10",
        down=1,
        distance_yd=10,
        spot_yd=30.0,
        carrier=None,
        calls=calls,
        state="over",
    )
