"""From finding to call: confidence, policy, an id that is the same in every replay, and a person's ruling."""

from __future__ import annotations

from dataclasses import replace

from downfield.officiating.calls import Call, Reading, Verdict
from downfield.officiating.engine.findings import Finding
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import Rulebook


def call_of(finding: Finding, rulebook: Rulebook) -> Call:
    """The call a finding makes under a rulebook.

    Below the rulebook's confidence it is too close to call and carries both readings. The id is made of what the call
    is about, so that it is the same whatever was called before it.
    """
    sure = finding.probability >= rulebook.params.real("calls.confidence")
    policy = rulebook.policy(finding.kind)
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
        rulebook=rulebook.name,
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


def ruled(call: Call, ruling: Ruling) -> Call | None:
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


def _readings(finding: Finding) -> tuple[Reading, ...]:
    against = finding.against or "no call"
    return (
        Reading(finding.kind, finding.probability, finding.text),
        Reading(finding.against_kind, 1.0 - finding.probability, against),
    )
