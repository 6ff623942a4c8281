"""One story of a measurement: number, error, percentage, drawing and words of a call never disagree."""

from __future__ import annotations

import re
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.field.model import load_field
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating.belief import Unit, believe, percent_text
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Finding
from downfield.officiating.engine.calling import make_call
from downfield.officiating.rulebooks.rulebook import load_rulebook

CONTEXT = CallContext(GameStarted(record_of(load_rulebook("tap")), load_field("ultimate")), lambda _: "")
SHOWN = 0.005  # percentages are shown to one percent

findings = st.builds(
    Finding,
    rule=st.just("rule"),
    kind=st.sampled_from(["tackle", "fumble", "touchdown", "out_of_bounds", "penalty", "formation", "slipped_tackle"]),
    t_ns=st.integers(0, 2 * 10**18),
    text=st.just("a call"),
    clauses=st.just(()),
    players=st.sampled_from([(), ("dark-1",), ("dark-1", "light-2")]),
    margin=st.none() | st.floats(-300, 300),
    sigma=st.none() | st.just(0.0) | st.floats(1e-6, 50),
    unit=st.sampled_from(["mm", "yd", "deg", "s", "count"]),
    probability=st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1),
)


def called(finding: Finding) -> Call:
    return make_call(finding, rulebook="tap", policy="auto", confidence=0.95)


@given(findings)
def test_no_call_is_shown_whose_drawing_number_and_percentage_disagree(finding: Finding) -> None:
    view = call_view(called(finding), CONTEXT)
    if view.margin is not None and view.unit != "count":
        if view.sigma:  # what is drawn: the share of the bell on the side of the call
            share = NormalDist(view.margin, view.sigma).cdf(0.0)
            assert 1 - share == pytest.approx(view.probability, abs=SHOWN + 1e-4)
        else:
            assert view.probability == pytest.approx(1.0 if view.margin >= -1e-6 else 0.0, abs=SHOWN)
        assert view.measured
    percentages = re.findall(r"(\d+) %", view.words)
    for percentage in percentages:
        assert abs(int(percentage) / 100 - view.probability) <= 0.011
    if "inside the limit" in view.words or "beyond the limit" in view.words:
        assert view.probability >= 0.5 - SHOWN
    if "short of the limit" in view.words:
        assert view.probability <= 0.5 + SHOWN
    if "touched" in view.words:
        assert view.probability > 0.5


@given(findings)
def test_what_a_frame_showed_is_never_lost(finding: Finding) -> None:
    call = called(finding)
    assert finding.margin in (call.margin, call.frame_margin)
    assert (call.margin is not None or call.frame_margin is not None) == (finding.margin is not None)


@given(findings)
def test_a_call_of_an_older_version_tells_the_same_story(finding: Finding) -> None:
    call = called(finding)
    older = Call(
        call.id,
        call.kind,
        call.t_ns,
        "tap",
        (),
        call.verdict,
        call.text,
        call.players,
        margin=finding.margin,
        sigma=finding.sigma,
        unit=finding.unit,
        probability=finding.probability,
    )
    assert older.belief == call.belief
    assert older.words == call.words


def test_a_fumble_called_from_a_history_does_not_show_the_frame_that_misses() -> None:
    fumble = called(
        Finding(
            "tackle",
            "fumble",
            9_210_000_000,
            "fumble",
            (),
            players=("dark-1", "light-2"),
            margin=-0.81,
            sigma=0.45,
            unit="mm",
            probability=0.98,
        )
    )
    assert fumble.words == "touched: gap closed at 9.21 s; 0.9 mm past first touch, sure to 98 %"
    assert fumble.measured == "+0.92 ± 0.45 mm"
    assert fumble.belief.frame_measured == "-0.81 ± 0.45 mm"


@pytest.mark.parametrize("kind", ["penalty", "formation", "info", "overrun"])
def test_a_distance_between_two_figures_that_is_no_gap_is_not_told_as_a_touch(kind: CallKind) -> None:
    stacked = Finding(
        "rule", kind, 9_210_000_000, "", (), players=("light-56", "light-99"), margin=0.5, sigma=0.2, unit="mm",
        probability=0.99,
    )  # fmt: skip
    side = "beyond" if kind in {"penalty", "formation"} else "inside"
    assert called(stacked).words == f"0.5 mm {side} the limit, sure to 99 %"


@pytest.mark.parametrize(
    ("margin", "sigma", "unit", "probability", "words"),
    [
        (2.0, 0.1, "mm", 0.5, "not sure which figure this is, sure to 50 %"),
        (0.30, 0.146, "mm", 0.98, "0.3 mm inside the limit, sure to 98 %"),
        (-1.2, 1.0, "mm", 0.115, "1.2 mm short of the limit, 12 % likely"),
        (0.0, 1.0, "mm", 0.5, "at the limit, sure to 50 %"),
        (4.0, 0.5, "deg", 0.7, "sure to 70 %"),
        (3.0, 0.0, "mm", 1.0, "3.0 mm inside the limit"),
        (-0.04, None, "mm", 1.0, ""),
        (-2.0, None, "count", 1.0, ""),
        (None, None, "", 1.0, ""),
    ],
)
def test_the_words_of_a_belief(
    margin: float | None, sigma: float | None, unit: Unit, probability: float, words: str
) -> None:
    assert believe(margin, sigma, unit, probability).words() == words


def test_nothing_measured_is_shown_as_certain() -> None:
    assert [percent_text(share) for share in (0.0, 0.004, 0.5, 0.994, 0.99999, 1.0)] == [
        "less than 1 %",
        "less than 1 %",
        "50 %",
        "more than 99 %",
        "more than 99 %",
        "more than 99 %",
    ]
