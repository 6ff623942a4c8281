"""Two rulebooks over the same log: which calls differ, readably."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.officiating.calls import Call

SAME_NS: Final = 250_000_000
"""Two rulebooks may time one and the same event by different points of the figure."""
SAME_YD: Final = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two rulebooks part.

    Attributes:
        t_ns: when.
        first: the call under the first rulebook, None when it makes none.
        second: under the second.

    """

    t_ns: int
    first: Call | None
    second: Call | None

    @property
    def text(self) -> str:
        """It on one line."""
        return f"{self.t_ns / 1e9:.2f} s: {_told(self.first)} | {_told(self.second)}"


def differences(first: Sequence[Call], second: Sequence[Call]) -> tuple[Difference, ...]:
    """Where two rulebooks' calls over one log differ: calls only one makes, and calls with another spot or outcome.

    Calls of one kind about the same figure within a quarter of a second are the same call.
    """
    left = list(second)
    out: list[Difference] = []
    for call in first:
        twin = next((other for other in left if _about_the_same(call, other)), None)
        if twin is None:
            out.append(Difference(call.t_ns, call, None))
            continue
        left.remove(twin)
        if not _alike(call, twin):
            out.append(Difference(call.t_ns, call, twin))
    out += [Difference(call.t_ns, None, call) for call in left]
    return tuple(sorted(_paired(out), key=lambda difference: difference.t_ns))


def _paired(found: list[Difference]) -> list[Difference]:
    """Differences with a call of either side brought together where they are about one moment."""
    alone_second = [one for one in found if one.first is None]
    out = [one for one in found if one.first is not None and one.second is not None]
    for one in (one for one in found if one.second is None):
        partner = next((other for other in alone_second if abs(other.t_ns - one.t_ns) <= SAME_NS), None)
        if partner is None:
            out.append(one)
            continue
        alone_second.remove(partner)
        out.append(Difference(one.t_ns, one.first, partner.second))
    return out + alone_second


def _about_the_same(a: Call, b: Call) -> bool:
    return a.kind == b.kind and a.players[:1] == b.players[:1] and abs(a.t_ns - b.t_ns) <= SAME_NS


def _alike(a: Call, b: Call) -> bool:
    if (a.verdict, a.detail, a.side) != (b.verdict, b.detail, b.side):
        return False
    if a.spot_yd is None or b.spot_yd is None:
        return a.spot_yd == b.spot_yd
    return abs(a.spot_yd[0] - b.spot_yd[0]) <= SAME_YD


def _told(call: Call | None) -> str:
    if call is None:
        return "no call"
    spot = "" if call.spot_yd is None else f" at {call.spot_yd[0]:.1f} yd"
    cited = f" ({', '.join(call.clauses)})" if call.clauses else ""
    return f"{call.text}{spot}{cited}"
