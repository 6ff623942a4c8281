"""From findings to calls: findings that wait for evidence, confidence and policy, ids, and people's rulings.

A contact is a tackle only if the tackler is still standing half a second later, so it waits. Whatever happens after it
(a goal line crossed, a board switched off) waits behind it, since it counts only if the tackle does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from downfield.core.records import made_of, replace
from downfield.officiating.belief import Belief, believe
from downfield.officiating.calls import POWER, Call, CallReading, Finding, Policy, Verdict
from downfield.officiating.conditions import joint_probability
from downfield.officiating.events import Ruling
from downfield.officiating.state.play_state import PlayState, finding_key, too_close_key

_VAGUE_RATIO: Final = 3.0  # a margin with more than this many times the error of the last does not replace it

LINE_UPS: Final = frozenset({"formation", "pivot", "timing"})
"""Kinds of calls about how figures were lined up and turned before the board came on. Those of a line-up that a ruling
came after are not made: it was made for the spot and the down that stood then."""

TOO_CLOSE_TEXT: Final = "too close to call: "  # stands before the text of a call until a person confirms it


def merge_findings(
    play: PlayState, found: Iterable[Finding], precedence: Mapping[str, int], confidence: float
) -> PlayState:
    """Return a play with new findings added to the pending ones, earliest first, at one instant by precedence.

    A finding made again (same rule and key) stays one finding: the more probable reading of it stands, dated to the
    first time its margin was on the side of the call. It is not settled as too close to call while its probability
    grows. A settled finding is not taken up again, unless it was too close to call and has become sure.
    """
    pending = {finding_key(finding): finding for finding in play.pending}
    rest_ns = next((_queue_ns(finding) for finding in play.pending if finding.rule == POWER), 0)
    changed = False  # most frames change nothing, and the same play is then passed on
    for finding in found:
        key = finding_key(finding)
        off = [name for name, one in pending.items() if one.rule == POWER and finding.t_ns < (one.settle_ns or 0)]
        if finding.rule == POWER and finding.detail == "on" and off:  # it flickered: nobody is so quick
            pending, changed = {name: one for name, one in pending.items() if name not in off}, True
            continue
        # Too close once may become sure; sure once is called once.
        if key in play.settled or (finding.probability < confidence and too_close_key(key) in play.settled):
            continue
        known = pending.get(key)
        merged = finding if known is None else _more_probable(known, finding, rest_ns)
        if merged is not known:
            pending[key] = merged
            changed = True
    if not changed:
        return play
    queue = sorted(pending.values(), key=lambda finding: (_queue_ns(finding), precedence.get(finding.rule, -1)))
    return replace(play, pending=tuple(queue))


def is_ready(finding: Finding, now_ns: int, confidence: float) -> bool:
    """Return whether a finding that waits for evidence may be settled: all of it is in, or it is sure without."""
    if finding.settle_ns is None or now_ns >= finding.settle_ns:
        return True
    is_early = finding.settle_early and now_ns >= (finding.settle_from_ns or 0)
    return is_early and finding.probability >= confidence


def _queue_ns(finding: Finding) -> int:
    """Return the instant a finding is queued by: a switch turned off waits until the board has come to rest."""
    return finding.settle_ns or finding.t_ns if finding.rule == POWER else finding.t_ns


def _more_probable(known: Finding, again: Finding, rest_ns: int) -> Finding:
    if again.probability <= known.probability:
        # Both may be held at even odds by what nobody measured; what was measured is then told by the surer of them.
        surer = again.probability == known.probability and _sure_but_for_caps(again) > _sure_but_for_caps(known)
        return replace(known, conditions=again.conditions) if surer else known
    again = _with_better_measurement(known, again)
    settle_ns = max(known.settle_ns or 0, again.settle_ns or 0) or None
    # By the earlier margin it had not happened yet, so the instant is that of the later one; but nothing happens once
    # the board has come to rest: what seems to is noise, and the play's end would overtake it.
    if (known.margin or 0.0) < 0 and not known.t_ns < rest_ns <= again.t_ns:
        return replace(again, settle_ns=settle_ns)
    if not again.settle_early:
        settle_ns = known.settle_ns
    numbers = known.numbers or again.numbers
    return replace(again, t_ns=known.t_ns, spot_yd=known.spot_yd, settle_ns=settle_ns, numbers=numbers)


def _sure_but_for_caps(finding: Finding) -> float:
    """Return how sure a finding would be, if nothing that is not measured held it at even odds; 0 for none told."""
    measured = [condition for condition in finding.conditions if not condition.caps]
    return joint_probability(measured, finding.together) if measured else 0.0


def _with_better_measurement(known: Finding, again: Finding) -> Finding:
    """Return a finding made again, with the earlier margin where it can hardly be measured any more (in a fall)."""
    if known.sigma is None or again.sigma is None or again.sigma <= _VAGUE_RATIO * known.sigma:
        return again
    conditions = tuple(
        replace(one, margin=known.margin, sigma=known.sigma) if (one.margin, one.sigma) == measured else one
        for measured in [(again.margin, again.sigma)]
        for one in again.conditions
    )
    return replace(again, margin=known.margin, sigma=known.sigma, conditions=conditions)


def make_call(finding: Finding, *, rulebook: str, policy: Policy, confidence: float) -> Call:
    """Return the call that a finding makes.

    Below the rulebook's confidence it is too close to call and carries both readings. The id is made of what the call
    is about, so that it is the same whatever was called before it.
    """
    verdict: Verdict = "called"
    if finding.reported or policy == "log":
        verdict = "reported"
    elif finding.probability < confidence:
        verdict = "too_close"
    elif finding.proposed or policy == "propose":
        verdict = "proposed"
    belief = believe(finding.margin, finding.sigma, finding.unit, finding.probability, finding.front)
    if finding.conditions:
        belief = Belief("joint", None, None, finding.unit, finding.probability, finding.margin, finding.sigma)
    readings = (
        CallReading(finding.kind, finding.probability, finding.text),
        CallReading(finding.against_kind, 1.0 - finding.probability, finding.against or "no call"),
    )
    return made_of(
        Call,
        finding,
        id=_call_id(finding, verdict),
        rulebook=rulebook,
        verdict=verdict,
        text=finding.text if verdict != "too_close" else f"{TOO_CLOSE_TEXT}{finding.text}",
        margin=belief.margin,
        sigma=belief.sigma,
        readings=readings if verdict == "too_close" else (),
        frame_margin=belief.frame_margin,
        frame_sigma=belief.frame_sigma,
    )


def apply_ruling(call: Call, ruling: Ruling) -> Call | None:
    """Return the call that stands after a person's ruling, None when none does.

    A replacement keeps the id of the call it replaces, so that later rulings about it still find it. What was too close
    is called once it is confirmed; what was measured of it stays as it is.
    """
    if ruling.decision == "confirm":
        return replace(call, verdict="called", text=call.text.removeprefix(TOO_CLOSE_TEXT), readings=())
    if ruling.decision == "overturn" and ruling.replacement is not None:
        return replace(ruling.replacement, id=call.id, verdict="called", readings=())
    return None


def _call_id(finding: Finding, verdict: Verdict) -> str:
    parts = [finding.kind, str(finding.t_ns), *finding.players[:1]]
    if finding.detail:  # of two fouls by one figure at one instant, all that differs
        parts.append(finding.detail)
    if verdict == "too_close":  # it may become sure later, as another call: rulings must not mistake one for the other
        parts.append("close")
    return ":".join(parts)
