"""Findings made again in later frames: which measurement of them stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from downfield.core.errors import RulebookError
from downfield.officiating.calls import POWER, Finding
from downfield.officiating.engine.calling import merge_findings
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.play_state import PlayState

TOUCH = Finding("tackle", "tackle", 1_000, "", (), key="light-1@0", margin=0.1, sigma=0.3, unit="mm", probability=0.6)


def merged(*found: Finding) -> Finding:
    play = PlayState()
    for finding in found:
        play = merge_findings(play, [finding], {}, 0.9)
    (only,) = play.pending
    return only


def test_a_finding_of_a_kind_that_is_none_is_refused_where_it_is_made() -> None:
    with pytest.raises(RulebookError, match="The rule 'retreat' finds 'tackel', which is no kind of call"):
        Finding("retreat", "tackel", 1_000, "", ())  # type: ignore[arg-type]


def test_a_clause_that_two_parts_of_a_rule_name_is_cited_once() -> None:
    book = load_rulebook("tap")
    assert book.cite(("TAP-031", "TAP-030", "TAP-031")) == ("TAP-031", "TAP-030")


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [(0.2, (-0.4, 0.2)), (0.8, (-0.4, 0.8)), (8.65, (0.1, 0.3)), (None, (-0.4, None))],
    ids=["better measured", "hardly worse", "the figure falls and may be anywhere", "not measured"],
)
def test_a_more_probable_finding_keeps_the_better_measurement(
    sigma: float | None, expected: tuple[float, float | None]
) -> None:
    again = replace(TOUCH, t_ns=2_000, margin=-0.4, sigma=sigma, probability=0.8)
    found = merged(TOUCH, again)
    assert (found.margin, found.sigma) == expected
    assert found.probability == 0.8


def test_a_less_probable_finding_changes_nothing() -> None:
    assert merged(TOUCH, replace(TOUCH, margin=5.0, sigma=0.01, probability=0.5)) == TOUCH


@pytest.mark.parametrize(("again_ns", "dated_ns"), [(3_000, 3_000), (4_999, 4_999), (5_000, 1_000), (9_000, 1_000)])
def test_a_touch_that_was_seen_is_not_dated_after_the_board_has_come_to_rest(again_ns: int, dated_ns: int) -> None:
    """Noise of a board at rest would put it behind the end of the play, which overtakes it: no call at all."""
    play = merge_findings(PlayState(), [replace(TOUCH, margin=-0.1)], {}, 0.9)
    play = merge_findings(play, [Finding(POWER, "stopped", 2_000, "", (), settle_ns=5_000)], {}, 0.9)
    play = merge_findings(play, [replace(TOUCH, t_ns=again_ns, probability=0.7)], {}, 0.9)
    (touch,) = (finding for finding in play.pending if finding.rule == "tackle")
    assert (touch.t_ns, touch.probability) == (dated_ns, 0.7)
