"""Challenges: limits and costs of the league, under review on air, decided once, and kept through a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bundled import bundled_rulebooks
from hypothesis import given
from hypothesis import strategies as st
from played_table import Table

from downfield.core.errors import NotFoundError, RefusedError, RulebookError
from downfield.game.disputes import Decision, Disputes
from downfield.game.records.challenges import (
    ChallengeAppealed,
    ChallengeBook,
    ChallengeDecision,
    ChallengeOpinion,
    ChallengeRaised,
    ChallengeRuled,
    ChallengeRules,
    ChallengesView,
)
from downfield.officiating.declarations import Side
from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    opened = Table(tmp_path / "games.db")
    opened.begin()
    opened.play()
    yield opened
    opened.close()


def on_air(table: Table) -> ChallengesView:
    value = table.hub.value("challenges")
    assert isinstance(value, ChallengesView)
    return value


def test_a_challenge_is_on_air_until_it_is_decided_and_an_overturned_call_is_gone(table: Table) -> None:
    disputes, tackle = Disputes(table.game_service), table.call("tackle")
    assert on_air(table).challenges == ()
    disputes.raise_challenge("home", tackle, "never touched", "Ann")
    assert [(one.call, one.decision) for one in on_air(table).challenges] == [(tackle, None)]
    decided = disputes.rule("challenge-1", Decision("overturned", "no contact on film", "Referee"))
    assert decided.receipt is not None
    assert tackle in decided.receipt.withdrawn
    (shown,) = on_air(table).challenges
    assert (shown.decision, shown.ruling_reason, shown.ruled_by) == ("overturned", "no contact on film", "Referee")


@pytest.mark.parametrize("decision", ["upheld", "too_close"])
def test_a_call_that_stands_stays_as_it_was(table: Table, decision: ChallengeDecision) -> None:
    disputes, tackle, text = Disputes(table.game_service), table.call("tackle"), table.game().text
    disputes.raise_challenge("away", tackle, "why", "Ann")
    disputes.rule("challenge-1", Decision(decision, "seen", "Referee"))
    assert table.call("tackle") == tackle
    assert table.game().text == text
    ruled = next(call for call in table.game_service.calls() if call.id == tackle).ruling
    assert (ruled is not None) == (decision == "upheld")


def test_what_is_sent_twice_counts_once_and_what_is_decided_stays_so(table: Table) -> None:
    disputes, tackle = Disputes(table.game_service), table.call("tackle")
    first = disputes.raise_challenge("home", tackle, "never touched", "Ann")
    assert disputes.raise_challenge("home", tackle, "never touched", "Ann") == first
    with pytest.raises(RefusedError, match="under review already"):
        disputes.raise_challenge("away", tackle, "me too", "Bob")
    with pytest.raises(NotFoundError):
        disputes.raise_challenge("home", "tackle:1:nobody", "what", "Ann")
    with pytest.raises(NotFoundError):
        disputes.rule("challenge-9", Decision("upheld", "seen", "Referee"))
    decided = Decision("too_close", "nobody can tell", "Referee")
    disputes.rule("challenge-1", decided)
    assert disputes.rule("challenge-1", decided).receipt is None
    with pytest.raises(RefusedError, match="decided by Referee"):
        disputes.rule("challenge-1", Decision("overturned", "after all", "Referee"))


def test_opinions_stand_side_by_side_until_it_is_decided_and_each_official_has_one(table: Table) -> None:
    disputes, tackle = Disputes(table.game_service), table.call("tackle")
    with pytest.raises(NotFoundError):
        disputes.note(ChallengeOpinion("challenge-1", "upheld", "seen", "Bob"))
    disputes.raise_challenge("home", tackle, "never touched", "Ann")
    given = ChallengeOpinion("challenge-1", "upheld", "I saw it", "Bob")
    assert disputes.note(given) == disputes.note(given), "sent twice, it counts once"
    with pytest.raises(RefusedError, match="Bob has given an opinion"):
        disputes.note(ChallengeOpinion("challenge-1", "overturned", "on second thought", "Bob"))
    disputes.note(ChallengeOpinion("challenge-1", "too_close", "can't tell", "Eve"))
    (shown,) = on_air(table).challenges
    assert [(one.by, one.decision) for one in shown.opinions] == [("Bob", "upheld"), ("Eve", "too_close")]
    disputes.rule("challenge-1", Decision("upheld", "seen", "Referee"))
    with pytest.raises(RefusedError, match="is decided"):
        disputes.note(ChallengeOpinion("challenge-1", "upheld", "late", "Max"))


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [("overturned", "upheld", True), ("upheld", "overturned", False), ("overturned", "overturned", False)],
)
def test_an_appeal_is_decided_once_more_by_somebody_else_and_the_call_follows(
    table: Table, first: ChallengeDecision, second: ChallengeDecision, *, stands: bool
) -> None:
    disputes, tackle = Disputes(table.game_service), table.call("tackle")
    disputes.raise_challenge("home", tackle, "never touched", "Ann")
    appeal = ChallengeAppealed("challenge-1", "look at frame 552", "Bob")
    with pytest.raises(RefusedError, match="under review"):
        disputes.note(appeal)
    disputes.rule("challenge-1", Decision(first, "seen", "Referee"))
    disputes.note(appeal)
    (shown,) = on_air(table).challenges
    assert shown.decision is None, "it is under review again"
    assert shown.appealed is not None
    assert (shown.appealed.by, shown.appealed.decision, shown.appeal) == ("Referee", first, "look at frame 552")
    with pytest.raises(RefusedError, match="somebody else than Referee"):
        disputes.rule("challenge-1", Decision(second, "still", "Referee"))
    disputes.rule("challenge-1", Decision(second, "both angles", "Director"))
    assert on_air(table).challenges[0].decision == second
    assert (tackle in {call.id for call in table.game_service.calls() if call.standing != "struck"}) == stands
    with pytest.raises(RefusedError, match="the second decision is final"):
        disputes.note(ChallengeAppealed("challenge-1", "again", "Bob"))
    before = on_air(table)
    table.game_service.close()
    assert table.game_service.resume() is not None
    assert on_air(table) == before


def test_an_open_challenge_survives_a_restart(table: Table) -> None:
    Disputes(table.game_service).raise_challenge("home", table.call("tackle"), "never touched", "Ann")
    before = on_air(table)
    table.game_service.close()
    assert table.game_service.resume() is not None
    assert on_air(table) == before
    Disputes(table.game_service).rule("challenge-1", Decision("upheld", "seen", "Referee"))
    assert on_air(table).counts.upheld == 1


RULES = ChallengeRules("half", 2, won_is_free=True, lost_costs="time_out")


def raised(number: int, side: Side = "home", half: int = 1) -> ChallengeRaised:
    return ChallengeRaised(f"challenge-{number}", side, f"tackle:{number}", "tackled", "why", "Ann", half)


def test_a_coach_has_so_many_in_each_half_and_one_that_was_right_is_free() -> None:
    book = ChallengeBook()
    for number in (1, 2):
        assert book.refusal("home", f"tackle:{number}", 1, RULES) == ""
        book.add(raised(number))
    assert "no challenge left" in book.refusal("home", "tackle:3", 1, RULES)
    assert book.refusal("home", "tackle:3", 2, RULES) == ""
    assert book.refusal("away", "tackle:3", 1, RULES) == ""
    book.add(ChallengeRuled("challenge-1", "overturned", "right", "Referee"))
    assert book.left("home", 1, RULES) == 1
    assert book.left("home", 1, ChallengeRules("half", 2, won_is_free=False)) == 0
    assert book.left("home", 2, ChallengeRules("game", 2, won_is_free=False)) == 0
    assert book.left("home", 1, ChallengeRules()) is None


@given(st.lists(st.tuples(st.sampled_from(["home", "away"]), st.sampled_from([1, 2])), max_size=12))
def test_nobody_ever_has_more_open_challenges_than_the_limit(tries: list[tuple[Side, int]]) -> None:
    book = ChallengeBook()
    for number, (side, half) in enumerate(tries):
        if not book.refusal(side, f"tackle:{number}", half, RULES):
            book.add(raised(number, side, half))
    used = [(challenge.side, challenge.half) for challenge in book.raised]
    assert all(used.count(pair) <= RULES.count for pair in set(used))
    assert all(0 <= (book.left(side, half, RULES) or 0) <= RULES.count for side, half in set(used))


@pytest.mark.parametrize(("period", "half"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2)])
def test_overtime_belongs_to_the_second_half(period: int, half: int) -> None:
    assert RULES.half(period) == half


@pytest.mark.parametrize("system", bundled_rulebooks())
def test_every_rulebook_takes_a_league_s_limits_and_none_has_any_by_itself(system: str) -> None:
    assert ChallengeRules.of(load_rulebook(system).params).limit == "none"
    values = {"challenge.limit": "half", "challenge.count": 1, "challenge.lost_costs": "time_out"}
    rules = ChallengeRules.of(Rulebook("league", "League", load_system(system), values).params)
    assert rules.text == "1 for each coach in a half, those that were right not counted; a lost one costs a time-out."
    with pytest.raises(RulebookError):
        Rulebook("league", "League", load_system(system), {"challenge.count": -1})


def test_a_lost_challenge_that_can_t_be_paid_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rulebook has no time-outs: the league's cost can't be taken, and nobody is told that it was."""
    monkeypatch.setattr(ChallengeRules, "of", staticmethod(lambda _: RULES))
    table = Table(tmp_path / "games.db")
    table.begin()
    table.play()
    disputes = Disputes(table.game_service)
    disputes.raise_challenge("home", table.call("tackle"), "why", "Ann")
    disputes.rule("challenge-1", Decision("upheld", "seen", "Referee"))
    assert on_air(table).challenges[0].cost.startswith("No time-out could be taken:")
    table.close()
