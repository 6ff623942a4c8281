"""What a check makes of a measurement: kept, broken, too close, unknown; and of counts in doubt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.officiating.checks.check import Measurement, at_most, check, count_distribution
from downfield.officiating.params import Param, Params
from downfield.officiating.rulebooks.rulebook import load_rulebook


@check("TAP-001", "EFL-001")
def limit(subject: Measurement, _params: Params) -> Iterator[Measurement]:
    """Hands the measurement through."""
    yield subject


@pytest.mark.parametrize(
    ("margin", "sigma", "strict", "outcome"),
    [
        (0.1, 0.0, False, "kept"),
        (0.0, 0.0, False, "kept"),
        (-0.1, 0.0, False, "broken"),
        (0.0, 0.0, True, "broken"),
        (0.1, 0.0, True, "kept"),
        (-1e-12, 0.0, False, "kept"),
        (0.1, 0.5, False, "too_close"),
        (-0.1, 0.5, False, "too_close"),
        (1.0, 0.5, False, "kept"),
        (-1.0, 0.5, False, "broken"),
    ],
)
def test_outcome_follows_margin_and_error(margin: float, sigma: float, strict: bool, outcome: str) -> None:
    (found,) = limit(Measurement("", (), margin, sigma, "mm", strict=strict))
    assert found.outcome == outcome
    assert found.clauses == ("TAP-001", "EFL-001")


def test_unmeasured_is_unknown_and_a_rulebook_reports_only_its_own_clauses() -> None:
    (found,) = limit(Measurement("not measured"), book="EFL-")
    assert (found.outcome, found.clauses, found.probability) == ("unknown", ("EFL-001",), 0.5)


def test_a_higher_required_confidence_makes_more_results_too_close() -> None:
    measured = Measurement("", (), -0.9, 0.5, "mm")
    assert limit(measured)[0].outcome == "broken"
    surer = Params([Param("calls.confidence", 0.99, "", "as a league asks for")])
    assert limit(measured, surer)[0].outcome == "too_close"
    assert limit(measured, load_rulebook("tap").params)[0].outcome == "broken"


@given(st.lists(st.floats(0, 1), max_size=8))
def test_the_probabilities_of_all_counts_sum_to_one(chances: list[float]) -> None:
    likely = count_distribution(chances)
    assert sum(likely) == pytest.approx(1)
    assert sum(n * p for n, p in enumerate(likely)) == pytest.approx(sum(chances))


def test_a_count_at_its_limit_with_one_uncertain_is_too_close() -> None:
    assert limit(at_most(2, [1.0, 1.0], ""))[0].outcome == "kept"
    assert limit(at_most(2, [1.0, 1.0, 0.5], ""))[0].outcome == "too_close"
    assert limit(at_most(2, [1.0, 1.0, 1.0], ""))[0].outcome == "broken"
    assert limit(at_most(2, [1.0, 1.0, 1.0], ""))[0].margin == -1
