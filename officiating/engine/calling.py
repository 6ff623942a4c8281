"""From findings to calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from downfield.officiating.calls import POWER, Call, CallReading, Finding, Policy, Verdict
from downfield.officiating.engine.play_state import PlayState
from downfield.officiating.events import Ruling

_VAGUE: Final = 3.0  # times as uncertain a measurement says nothing beside the one before


def merge_findings(play: PlayState, found: Iterable[Finding], order: dict[str, int], sure: float) -> PlayState:
    """A play with findings added to those pending, earliest first; at one instant by the order of the rules.

    A finding seen again (same rule and key) is one finding: the surer reading of it stands. Its instant is that of the
    first time its margin was on the side of the call. While it grows surer it is not settled as too close to call. What
    was judged already is not taken up again, unless it was too close to call and has become sure.

    Args:
        play: the play.
        found: what the rules have found now.
        order: precedence of the rules at one instant.
        sure: the probability from which a call is made.

    """
    pending = {finding_key(finding): finding for finding in play.pending}
    changed = False
    for finding in found:
        name = finding_key(finding)
        if name in play.judged or (finding.probability < sure and too_close_key(name) in play.judged):
            continue
        known = pending.get(name)
        new = finding if known is None else _surer(known, finding)
        if new is not known:
            pending[name] = new
            changed = True
    if not changed:
        return play
    queue = sorted(pending.values(), key=lambda finding: (_place_ns(finding), order.get(finding.rule, -1)))
    return replace(play, pending=tuple(queue))


def too_close_key(name: str) -> str:
    """The name under which a finding is remembered that was too close to call."""
    return f"{name}:close"


def has_too_close(play: PlayState, rule: str, run_ns: int) -> bool:
    """Whether something that a rule found since the board last came on was too close to call."""
    return any(name.startswith(f"{rule}:") and name.endswith(too_close_key(f"@{run_ns}")) for name in play.judged)


def finding_key(finding: Finding) -> str:
    """The name a finding is remembered by once settled."""
    return f"{finding.rule}:{finding.key}"


def _place_ns(finding: Finding) -> int:
    """The instant a finding is queued by: a switch thrown waits for the frames in which the board comes to rest."""
    return finding.settle_ns or finding.t_ns if finding.rule == POWER else finding.t_ns


def _as_well_measured(known: Finding, again: Finding) -> Finding:
    """What was found again, by how much as measured before where that hardly could be any more: somebody falls."""
    if known.sigma is None or again.sigma is None or again.sigma <= _VAGUE * known.sigma:
        return again
    return replace(again, margin=known.margin, sigma=known.sigma)


def _surer(known: Finding, again: Finding) -> Finding:
    if again.probability <= known.probability:
        return known
    again = _as_well_measured(known, again)
    settle_ns = max(known.settle_ns or 0, again.settle_ns or 0) or None
    if (known.margin or 0.0) < 0:
        return replace(again, settle_ns=settle_ns)
    return replace(
        again, t_ns=known.t_ns, spot_yd=known.spot_yd, settle_ns=settle_ns if again.settle_early else known.settle_ns
    )


def make_call(finding: Finding, *, rulebook: str, policy: Policy, confidence: float) -> Call:
    """Return the call that a finding makes.

    Below the rulebook's confidence it is too close to call and carries both readings. The id is made of what the call
    is about, so that it is the same whatever was called before it.

    Args:
        finding: what a rule detected.
        rulebook: name of the rulebook.
        policy: what may be done with calls of this kind without a person.
        confidence: the probability from which the rulebook calls.

    """
    sure = finding.probability >= confidence
    verdict: Verdict = "called"
    if finding.reported or policy == "log":
        verdict = "reported"
    elif not sure:
        verdict = "too_close"
    elif finding.proposed or policy == "propose":
        verdict = "proposed"
    text = finding.text if verdict != "too_close" else f"too close to call: {finding.text}"
    return Call(
        id=_id(finding, verdict),
        kind=finding.kind,
        t_ns=finding.t_ns,
        rulebook=rulebook,
        clauses=finding.clauses,
        verdict=verdict,
        text=text,
        players=finding.players,
        spot_yd=finding.spot_yd,
        margin=finding.margin,
        sigma=finding.sigma,
        unit=finding.unit,
        probability=finding.probability,
        readings=_readings(finding) if verdict == "too_close" else (),
        because=finding.because,
        side=finding.side,
        detail=finding.detail,
    )


def apply_ruling(call: Call, ruling: Ruling) -> Call | None:
    """What stands of a call after a person's ruling; None when nothing does.

    A replacement keeps the id of the call it replaces, so that later rulings about it still find it.
    """
    if ruling.decision == "confirm":
        return replace(call, verdict="called", readings=())
    if ruling.decision == "overturn" and ruling.replacement is not None:
        return replace(ruling.replacement, id=call.id, verdict="called", readings=())
    return None


def _id(finding: Finding, verdict: Verdict) -> str:
    parts = [finding.kind, str(finding.t_ns), *finding.players[:1]]
    if finding.detail:
        parts.append(finding.detail)
    if verdict == "too_close":
        parts.append("close")
    return ":".join(parts)


def _readings(finding: Finding) -> tuple[CallReading, ...]:
    against = finding.against or "no call"
    return (
        CallReading(finding.kind, finding.probability, finding.text),
        CallReading(finding.against_kind, 1.0 - finding.probability, against),
    )
