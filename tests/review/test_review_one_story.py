"""Whatever call meets whatever picture: number, percentage, words, drawing, caption and stamp tell one story."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from painted_scenes import CARRIER, HITTER, PLAYERS, scene
from scripted_plays import FIELD

from downfield.broadcast.replay.replay_painting import is_shown_touching, stamp_text
from downfield.capture.footage import CallMarks, FootageFrame
from downfield.core.field.model import load_field
from downfield.core.scene import LOST_MM, Scene
from downfield.game.published.game_topics import CallView, ConditionView, RulingView
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating.belief import Measure, percent_text
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Finding, Verdict
from downfield.officiating.conditions import Condition, Together
from downfield.officiating.engine.calling import apply_ruling, make_call
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.pictures.drawings import draw_frame, draw_lines
from downfield.review.pictures.painting import call_caption
from downfield.review.pictures.projection import Projection

STARTED = GameStarted(record_of(load_rulebook("tap")), load_field("ultimate"))
STILL = FootageFrame(7, 10**9, Path("a.mp4"), 0)
BARE = Projection(None, PLAYERS)

LIMITS_OF_ANGLES = ((), ((-15.0, 0.0), (-15.0, 0.1), (0.0, 0.5), (5.0, 0.9), (5.0, 1.0)), ((-1.0, 0.0), (1.0, 1.0)))

conditions = st.builds(
    Condition,
    measure=st.sampled_from(get_args(Measure)),
    probability=st.sampled_from([0.0, 0.5, 0.985, 1.0]) | st.floats(0, 1),
    margin=st.none() | st.floats(-300, 300),
    sigma=st.none() | st.just(0.0) | st.floats(1e-6, 50),
    unit=st.sampled_from(["", "mm", "yd", "deg", "s"]),
    limit=st.sampled_from(LIMITS_OF_ANGLES),
    text=st.sampled_from(["", "11.0° off square"]),
)

calls = st.builds(
    Call,
    id=st.just("c"),
    kind=st.sampled_from(get_args(CallKind)),
    t_ns=st.integers(0, 2 * 10**18),
    rulebook=st.just("tap"),
    clauses=st.just(()),
    verdict=st.sampled_from(get_args(Verdict)),
    text=st.sampled_from([f"{CARRIER} tackled by {HITTER}", f"too close to call: {CARRIER} tackled by {HITTER}"]),
    players=st.sampled_from([(), (CARRIER,), (CARRIER, HITTER), (HITTER, CARRIER), (CARRIER, "dark-7", HITTER)]),
    spot_yd=st.none() | st.tuples(st.floats(-12, 112), st.floats(-2, 55)),
    margin=st.none() | st.floats(-300, 300),
    sigma=st.none() | st.just(0.0) | st.floats(1e-6, 50),
    unit=st.sampled_from(["", "mm", "yd", "deg", "s", "count"]),
    probability=st.sampled_from([0.0, 0.125, 0.5, 0.985, 0.99, 1.0]) | st.floats(0, 1),
    frame_margin=st.none() | st.floats(-300, 300),
    frame_sigma=st.none() | st.just(0.0) | st.floats(1e-6, 50),
    front=st.just(1.0) | st.floats(0, 1),
    measure=st.sampled_from(get_args(Measure)),
    conditions=st.just(()) | st.lists(conditions, max_size=4).map(tuple),
    together=st.sampled_from(get_args(Together)),
)
"""Calls as any file could hold them: of other versions, of other programs, made by hand."""

scenes = st.builds(
    lambda gap_mm, judged_mm, sigma_mm, touching, judged, lost: with_contact(
        gap_mm, judged_mm, sigma_mm, touching, judged=judged, lost=lost
    ),
    st.floats(-4, 30),
    st.floats(-0.01, 0.01),
    st.just(0.0) | st.floats(0.001, 3),
    st.floats(0, 1),
    st.booleans(),
    st.booleans(),
)

rulings = st.none() | st.builds(
    RulingView,
    decision=st.sampled_from(["confirm", "overturn", "strike", "manual"]),
    by=st.just("Ann"),
    note=st.sampled_from(["", "seen from above"]),
    event=st.just("e"),
    replaced=st.booleans(),
)


def with_contact(gap_mm: float, off_mm: float, sigma_mm: float, touching: float, *, judged: bool, lost: bool) -> Scene:
    made = scene(gap_mm)
    contact = replace(made.contacts[0], gap_mm=gap_mm + off_mm, sigma_mm=sigma_mm, probability=touching)
    figures = tuple(
        replace(one, sigma_mm=(LOST_MM + 1, 1.0)) if lost and one.id == HITTER else one for one in made.figures
    )
    return replace(made, figures=figures, contacts=(contact,) if judged else ())


def shown(call: Call, ruling: RulingView | None = None) -> CallView:
    waits = frozenset({call.id} if call.verdict in {"too_close", "proposed"} else ())
    return call_view(call, CallContext(STARTED, lambda _: "", waits, {} if ruling is None else {call.id: ruling}))


def percentages(text: str) -> list[str]:
    """Return every percentage of a text but that of a front, which is about something else."""
    return re.findall(r"(?:more than |less than )?\d+ %", re.sub(r"front \([^)]*\)", "", text))


def assert_one_story(view: CallView) -> None:
    """Fail where the number, the bell that is drawn of it, the percentage or the words of a call disagree."""
    if view.conditions:
        assert_stories_of_several(view)
        return
    if view.margin is not None and view.unit != "count":
        share = 1 - NormalDist(view.margin, view.sigma).cdf(0) if view.sigma else float(view.margin >= -1e-6)
        assert share == pytest.approx(view.probability, abs=0.0052)
        assert view.measured.startswith("+" if round(view.margin, 2) >= 0 else "-")
    assert set(percentages(view.words)) <= {percent_text(view.probability)}
    said: tuple[str, ...] = ("inside the", "over the", "beyond the")
    denied: tuple[str, ...] = ("short of",)
    if view.measure == "short":
        said, denied = ("mm short of", "yd short of"), ("over the",)
    if any(side in view.words for side in said):
        assert view.probability >= 0.4948
    if any(side in view.words for side in denied):
        assert view.probability <= 0.5052
    likely = ("touched: gap closed", "touched the handle", "reached the line", "stayed short of")
    if view.words.startswith(likely):
        assert view.probability > 0.5
        assert view.verdict != "too_close"
    if "the line" in view.words:
        assert view.measure in {"line", "sideline", "end_line", "short"}
    if "gap" in view.words:
        assert view.measure == "touch"


def assert_stories_of_several(view: CallView) -> None:
    """Fail where one of several things measured disagrees with itself, or all of them with the call's percentage."""
    assert (view.margin, view.measured, view.basis) == (None, "", "joint")
    for one in view.conditions:
        others = ("identity", "judgment")
        assert set(percentages(one.words)) <= {percent_text(one.probability)} - (
            {"50 %"} if one.measure in others else set()
        )
        assert one.words in view.words
        if one.margin is not None:
            assert drawn_share(one) == pytest.approx(one.probability, abs=0.006)
        if any(f"{side} the" in one.words for side in ("inside", "over", "beyond")):
            assert one.probability >= 0.4948
        if "short of" in one.words:
            assert one.probability <= 0.5052
    assert set(percentages(view.joint_words)) <= {percent_text(view.probability)}
    shares = [one.probability for one in view.conditions if one.measure not in ("identity", "judgment")]
    fronts = [one.probability for one in view.conditions if one.measure == "front"]
    if view.together == "any":
        lowest = highest = 1 - math.prod(1 - share for share in shares)
    else:
        lowest = math.prod(shares)
        highest = lowest + (1 - math.prod(fronts) if fronts else 0)
    if len(shares) < len(view.conditions):  # something leaves it open
        assert view.probability <= 0.505
        lowest = min(lowest, 0.5)
    assert lowest - 0.0051 <= view.probability
    if view.together == "all":
        assert view.probability <= highest + 0.0051


def drawn_share(one: ConditionView) -> float:
    """Return how much of the bell is colored, as the page draws it."""
    assert one.margin is not None
    at = [x for x, _ in one.limit] or [0.0]
    shares = [share for _, share in one.limit] or [1.0]
    if not one.sigma:
        return max(np.interp(one.margin + off, at, shares, *([] if one.limit else [0.0])) for off in (-1e-6, 1e-6))
    margins = one.margin + one.sigma * np.linspace(-8, 8, 20001)
    accepted = np.interp(margins, at, shares) if one.limit else (margins >= 0).astype(float)
    density = np.exp(-(((margins - one.margin) / one.sigma) ** 2) / 2)
    return float((density * accepted).sum() / density.sum())


@given(calls, rulings)
def test_a_call_of_any_file_tells_one_story(call: Call, ruling: RulingView | None) -> None:
    view = shown(call, ruling)
    assert_one_story(view)
    headline, detail = stamp_text(view)
    if not detail.startswith("now:"):
        known = {percent_text(share) for share in (view.probability, *(one.probability for one in view.conditions))}
        assert set(percentages(detail)) <= known
        assert not percentages(detail) or percent_text(view.probability) in detail
    if ruling is not None and ruling.decision == "confirm":
        assert "TOO CLOSE" not in headline
    if ruling is not None and ruling.replaced and ruling.decision == "overturn":
        assert (headline, detail) == ("CALL OVERTURNED", f"now: {view.text.replace('-', ' ')}")


@given(calls, rulings, scenes)
def test_the_picture_of_a_call_its_label_and_its_caption_tell_one_story(
    call: Call, ruling: RulingView | None, seen: Scene
) -> None:
    view = shown(call, ruling)
    marks = CallMarks(view, seen, PLAYERS)
    drawing = draw_frame(7, marks, BARE)
    caption = call_caption(view, marks, STILL)
    assert (drawing.gap is None) == (marks.gap_text == "")
    if ruling is not None:
        assert "by Ann" in caption[0]
    assert view.words.replace("-", " ") in caption[0].replace("-", " ")
    if drawing.gap is None:
        assert " apart" not in caption[1]
        assert "into each other" not in caption[1]
        return
    gap = drawing.gap
    assert {CARRIER, HITTER, "dark-7"} >= {figure.id for figure in drawing.figures if figure.part != "other"}
    assert marks.gap_text.count(gap.label) == caption[1].count(gap.label) == 1
    length = float(re.findall(r"(\d+\.\d\d)", gap.label)[0]) if "meet" not in gap.label else 0.0
    assert length == pytest.approx(abs(gap.gap_mm), abs=0.0061)
    assert ("±" in gap.label) == (marks.pair is not None and marks.pair.sigma_mm > 0)
    assert not gap.label.endswith("apart") or gap.gap_mm > 0
    assert not gap.label.endswith("other") or gap.gap_mm < 0
    # The line that is drawn is as long as the number beside it says.
    (ax, ay), (bx, by) = (end.mm for end in gap.ends)
    if gap.gap_mm > 0.02:
        assert ((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5 == pytest.approx(gap.gap_mm, abs=0.0151)
    if gap.touching is not None:
        assert percent_text(gap.touching) in marks.gap_text
        assert is_shown_touching(gap) == (gap.touching > 0.5)


@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, True),
        ({"measure": "handle", "kind": "sack"}, False),  # the gap to the passer's handle is not that of the bases
        ({"kind": "info", "unit": "", "measure": ""}, False),  # a pass from one to the other
        ({"kind": "info", "measure": "touch"}, True),  # the passer is touched
        ({"kind": "down_by_fall", "measure": "touch"}, True),  # both fall
    ],
)
def test_the_gap_of_two_bases_is_drawn_where_the_call_is_about_it(changes: dict[str, object], drawn: bool) -> None:
    view = shown(Call("c", "tackle", 10**9, "tap", (), "called", "", (CARRIER, HITTER), unit="mm"))
    marks = CallMarks(view.model_copy(update=changes), scene(), PLAYERS)
    assert (draw_frame(7, marks, BARE).gap is not None) == drawn
    assert (marks.gap_text != "") == drawn


@pytest.mark.parametrize(
    ("measure", "spot_yd", "ends"),
    [
        ("sideline", (-4.0, -0.2), ((-FIELD.end_zone_mm, 0.0), (FIELD.length_mm + FIELD.end_zone_mm, 0.0))),
        ("end_line", (-10.1, 20.0), ((-FIELD.end_zone_mm, 0.0), (-FIELD.end_zone_mm, FIELD.width_mm))),
        (
            "end_line",
            (109.0, 1.0),
            ((FIELD.length_mm + FIELD.end_zone_mm, 0.0), (FIELD.length_mm + FIELD.end_zone_mm, FIELD.width_mm)),
        ),
    ],
)
def test_the_line_that_is_drawn_is_the_one_that_was_crossed(
    measure: Measure, spot_yd: tuple[float, float], ends: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    call = Call("c", "out_of_bounds", 10**9, "tap", (), "called", "", (CARRIER,), spot_yd, unit="mm", measure=measure)
    lines = draw_lines(CallMarks(shown(call), scene(), PLAYERS), Projection(None, PLAYERS, field=FIELD))
    (line,) = (line.mm for line in lines if line.kind == "call")
    assert np.allclose(line, ends)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "touched: gap closed at 1.00 s; 0.3 mm past first touch, sure to 98 %"),
        ({"kind": "down_by_fall", "measure": "touch"}, "touched: gap closed at 1.00 s; 0.3 mm past first touch"),
        ({"kind": "sack", "measure": "excess"}, "0.3 mm beyond the limit, sure to 98 %"),
        ({"kind": "sack", "measure": "handle"}, "touched the handle at 1.00 s; 0.3 mm past first touch, sure to 98 %"),
        ({"kind": "touchdown"}, "reached the line at 1.00 s; 0.3 mm over the line, sure to 98 %"),
        ({"kind": "out_of_bounds", "measure": "end_line"}, "reached the line at 1.00 s; 0.3 mm over the line"),
        ({"kind": "turned_back", "unit": "deg", "measure": "excess"}, "0.3° beyond the limit, sure to 98 %"),
        ({"kind": "info"}, "0.3 mm inside the limit, sure to 98 %"),
        (
            {"margin": -1e-14, "sigma": 0.0, "probability": 1.0},  # exact: what is left of it is rounding
            "touched: gap closed at 1.00 s; at first touch",
        ),
    ],
)
def test_the_words_name_the_limit_that_was_met(changes: dict[str, object], words: str) -> None:
    found = Finding(
        "rule", "tackle", 10**9, "", (), players=(CARRIER, HITTER), margin=0.3, sigma=0.146, unit="mm", probability=0.98
    )
    call = make_call(replace(found, **changes), rulebook="tap", policy="auto", confidence=0.95)  # type: ignore[arg-type]
    assert shown(call).words.startswith(words)


def test_each_of_several_things_measured_has_its_own_number_and_percentage_and_the_call_their_joint_one() -> None:
    touch = Condition("touch", 0.98, -0.4, 0.15, "mm")  # by its history; this frame alone misses
    square = Condition("square", 0.82, 4.0, 0.0, "deg", ((-15.0, 0.1), (0.0, 0.5), (5.0, 0.9)), "11.0° off square")
    found = Finding(
        "tackle", "tackle", 10**9, "", (), players=(CARRIER, HITTER), margin=-0.4, sigma=0.15, unit="mm",
        probability=0.98 * 0.82, conditions=(touch, square),
    )  # fmt: skip
    view = shown(make_call(found, rulebook="efl", policy="auto", confidence=0.75))
    assert view.words == (
        "touched: gap closed at 1.00 s (0.3 mm past first touch, sure to 98 %); "
        "met squarely (11.0° off square, sure to 82 %); both together: sure to 80 %"
    )
    assert [(one.measured, one.frame_measured) for one in view.conditions] == [
        ("+0.31 ± 0.15 mm", "-0.40 ± 0.15 mm"),
        ("+4.00°", ""),
    ]
    assert (view.margin, view.measured, view.frame_measured) == (None, "", "")
    assert stamp_text(view) == ("TACKLE", "touch 98 %, square 82 %, both together 80 %")


def test_what_was_too_close_is_not_told_as_such_once_it_is_confirmed() -> None:
    found = Finding(
        "rule", "tackle", 10**9, "a tackle", (), margin=0.1, sigma=0.146, unit="mm", probability=0.75
    )  # fmt: skip
    close = make_call(found, rulebook="tap", policy="auto", confidence=0.95)
    assert close.text == "too close to call: a tackle"
    confirmed = apply_ruling(close, Ruling(close.id, "confirm"))
    assert confirmed is not None
    assert (confirmed.text, confirmed.readings) == ("a tackle", ())
    assert (confirmed.measured, confirmed.probability) == (close.measured, 0.75)
    assert close.words.startswith("gap may have closed at 1.00 s")
    assert confirmed.words.startswith("touched: gap closed at 1.00 s")
