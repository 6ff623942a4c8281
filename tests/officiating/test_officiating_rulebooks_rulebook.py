from __future__ import annotations

from pathlib import Path

import pytest
from bundled import bundled_rulebooks
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import InputError, RulebookError
from downfield.core.records import from_json, to_json
from downfield.game.published.views import CallContext, call_view
from downfield.game.records.entries import GameStarted, RulebookRecord, record_of, rulebook_of
from downfield.officiating.declarations import Carrier, LineUpDeclared, SetUp
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Body, Event
from downfield.officiating.params import Param, Params
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook, parse_rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.scenes import FIELD, ScriptedFigure, film, runs, stands


def house(tmp_path: Path, text: str) -> Rulebook:
    path = tmp_path / "river-city.toml"
    path.write_text(text)
    return load_rulebook(str(path))


@pytest.mark.parametrize("name", bundled_rulebooks())
def test_every_rule_names_its_clauses_and_every_parameter_its_unit_and_reason(name: str) -> None:
    book = load_rulebook(name)
    for rule in book.system.rules:
        assert rule.clauses
        assert rule.phases
    for param in book.params.definitions.values():
        assert param.reason
        assert "." in param.name
        assert param.accept(list(param.default) if isinstance(param.default, tuple) else param.default) == param.default


def test_a_league_changes_parameters_and_policies_and_keeps_the_rest(tmp_path: Path) -> None:
    book = house(
        tmp_path,
        """
        name = "River City"
        base = "tap"

        [tackle]
        fall_window_s = 0.75
        faces = ["front", "corner"]

        [field_goal]
        table = [[20, 11], [50, 6]]

        [policy]
        fumble = "propose"
        """,
    )
    assert book.name == "River City"
    assert book.params.real("tackle.fall_window_s") == 0.75
    assert book.params.choices("tackle.faces") == ("front", "corner")
    assert book.params.table("field_goal.table") == ((20.0, 11.0), (50.0, 6.0))
    assert book.params.count("stoppage.allowed") == load_rulebook("tap").params.count("stoppage.allowed")
    assert (book.policy("fumble"), book.policy("tackle")) == ("propose", "auto")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('base = "tap"\n[tackle]\nfall_windw_s = 1', "Did you mean 'tackle.fall_window_s'"),
        ('base = "tap"\n[tackle]\nfall_window_s = -1', "tackle.fall_window_s: -1 s is outside 0..5"),
        ('base = "tap"\n[tackle]\nfall_window_s = "long"', "tackle.fall_window_s must be a number"),
        ('base = "tap"\n[tackle]\nfall_window_s = true', "tackle.fall_window_s must be a number"),
        ('base = "tap"\n[tackle]\nfallen_tackles = 1', "tackle.fallen_tackles must be true or false"),
        ('base = "tap"\n[tackle]\nfaces = ["belly"]', "tackle.faces must be one of"),
        ('base = "tap"\n[tackle]\nfaces = "front"', "tackle.faces must be a list"),
        ('base = "tap"\n[tackle]\nspot = "foot"', "tackle.spot must be one of base, hand, ball"),
        ('base = "tap"\n[stoppage]\nallowed = 2.5', "stoppage.allowed must be a whole number"),
        ('base = "tap"\n[stoppage]\nallowed = -7', "stoppage.allowed"),
        ('base = "tap"\n[field_goal]\ntable = [[1]]', "field_goal.table must be rows of 2 numbers"),
        ('base = "tap"\n[field_goal]\ntable = [[1, "x"]]', "field_goal.table must be rows of 2 numbers"),
        ('base = "tap"\n[policy]\ntackel = "auto"', "policy.tackel"),
        ('base = "tap"\n[policy]\ntackle = "maybe"', "policy.tackle must be one of auto, propose, log"),
        ('base = "tapp"', "No rulebook is named 'tapp'"),
        ('name = "x"', "names no base rulebook"),
        ('base = "tap"\nfall_window_s = 1', "fall_window_s: unknown key"),
        ('base = "tap"\npolicy = 1', "policy must be a table"),
        ("base = 3", "base must be text"),
        ('base = "tap"\nsystem = "tap"', "system: unknown key"),
        ('base = "tap"\nclauses = 1', "clauses must be a table"),
        ('base = "tap"\n[clauses.TAP-022]\nhow = "measured"\ntext = "x"', "clauses.TAP-022: that is a clause of tap"),
        ('base = "tap"\n[clauses.R-1]\nhow = "measured"\ntext = "x"\namends = ["EFL-1"]', "no clause 'EFL-1'"),
        ('base = "tap"\n[clauses.R-1]\nhow = "measured"\ntext = "x"\nparams = ["a.b"]', "no parameter is named 'a.b'"),
        ("base = ", "broken TOML"),
    ],
)
def test_unknown_or_impossible_values_are_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(RulebookError, match=r"river-city\.toml: ") as raised:
        house(tmp_path, text)
    assert named in str(raised.value)


def test_a_house_rule_is_cited_before_each_clause_that_it_amends(tmp_path: Path) -> None:
    book = house(
        tmp_path,
        """
        base = "tap"
        [clauses.RC-1]
        how = "measured"
        text = "A runner knocked over within three quarters of a second is down."
        amends = ["TAP-022", "TAP-026"]
        [clauses.RC-2]
        how = "outside"
        text = "The host brings pizza."
        """,
    )
    assert list(book.clauses)[-2:] == ["RC-1", "RC-2"]
    assert book.clauses["RC-1"].topic == "house rules"
    assert book.cite(("TAP-G1", "TAP-022", "TAP-026")) == ("TAP-G1", "RC-1", "TAP-022", "TAP-026")
    assert book.cite(("TAP-G1",)) == ("TAP-G1",)


def test_a_call_under_house_rules_is_shown_with_their_words_also_from_the_record(tmp_path: Path) -> None:
    text = "A touch is a tackle, and the host is always right."
    book = house(tmp_path, f'base = "tap"\n[clauses.RC-1]\nhow = "measured"\ntext = "{text}"\namends = ["TAP-022"]\n')
    kept = from_json(RulebookRecord, to_json(RulebookRecord, record_of(book)), path="record")
    runner, tackler = ScriptedFigure("dark-22", runs(41)), ScriptedFigure("light-50", stands(50))
    case = film([runner, tackler], 3.0)
    declared: tuple[Body, ...] = (SetUp("home", 1, 40.0), LineUpDeclared(case.players, "dark"), Carrier("dark-22"))
    events = [Event(f"e{n}", 0, "operator", body) for n, body in enumerate(declared)]
    calls = judge_recording(case.scenes, events, rulebook_of(kept), FIELD).calls
    tackle = next(call for call in calls if call.kind == "tackle")
    assert tackle.clauses[:2] == ("RC-1", "TAP-022")
    view = call_view(tackle, CallContext(GameStarted(kept, FIELD), lambda _: ""))
    assert [clause.text for clause in view.clauses[:1]] == [text]
    assert all(clause.text for clause in view.clauses)


def test_a_missing_file_and_an_unknown_name_are_refused() -> None:
    with pytest.raises(InputError, match="no such file"):
        load_rulebook("nowhere/league.toml")
    with pytest.raises(RulebookError, match="Installed rulebooks: efl, lions-den, nfl-strategy, tap"):
        load_rulebook("rugby")


def test_a_parameter_defined_twice_must_be_the_same_twice() -> None:
    param = Param("a.b", 1, "s", "because", low=0, high=2)
    assert Params([param, param]).count("a.b") == 1
    with pytest.raises(RulebookError, match="defined twice"):
        Params([param, Param("a.b", 2, "s", "because", low=0, high=2)])


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_accepted_exactly_when_it_is_in_range(value: float) -> None:
    param = Param("a.b", 1.0, "s", "because", low=0.0, high=2.0)
    if 0.0 <= value <= 2.0:
        assert param.accept(value) == value
    else:
        with pytest.raises(RulebookError):
            param.accept(value)


def test_reading_an_undefined_parameter_is_a_programming_error() -> None:
    with pytest.raises(KeyError):
        Rulebook("x", "", TAP).params.real("tackle.nothing")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('base = "tap"\n[field_goal]\ntable = [[20, 8], [30, 9]]', "what is farther can't be easier"),
        ('base = "tap"\n[field_goal]\ntable = [[30, 9], [20, 8]]', "20 comes after 30"),
        ('base = "tap"\n[field_goal]\ntable = [[20, 8], [20, 7]]', "20 comes after 20"),
        ('base = "tap"\n[field_goal]\ntable = [[20, 13]]', "13 in [20, 13] must be a whole number, 2..12"),
        ('base = "tap"\n[field_goal]\ntable = [[20, 1]]', "must be a whole number, 2..12"),
        ('base = "tap"\n[field_goal]\ntable = [[20, 8.5]]', "must be a whole number, 2..12"),
        ('base = "tap"\n[field_goal]\ntable = [[-5, 8]]', "-5 in [-5, 8] must be 1..110"),
        ('base = "tap"\n[field_goal]\ntable = []', "field_goal.table must not be empty"),
        ('base = "tap"\n[tackle]\nfaces = []', "tackle.faces must not be empty"),
        ('base = "lions-den"\n[tackle]\nfaces = []', "tackle.faces must not be empty"),
        ('base = "efl"\n[tackle]\npairs = []', "tackle.pairs must not be empty"),
        ('base = "tap"\n[tackle]\nfaces = ["front", "front"]', "tackle.faces has 'front' twice"),
        ('base = "efl"\n[tackle]\nunsure_from_deg = 40', "unsure_from_deg (40) is more than tackle.unsure_to_deg (30)"),
        ('base = "nfl-strategy"\n[clock]\nlines = 10', "clock.warning_lines (12) is more than clock.lines (10)"),
        ('base = "lions-den"\n[penalty]\nfirst_row = [[5, 5], [10, 10]]', "penalty.first_row has 1 row at most"),
        ('base = "tap"\n[kickoff]\nonside_places_yd = [[1,2,3,4,5,6,7,8,9,10,500]]', "500 in"),
    ],
)
def test_what_contradicts_itself_or_no_dice_can_show_is_refused(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(RulebookError, match=r"river-city\.toml: ") as raised:
        house(tmp_path, text)
    assert named in str(raised.value)


def test_nobody_has_to_review_a_tackle() -> None:
    assert parse_rulebook('base = "efl"\n[tackle]\nreview_pairs = []', "x").params.choices("tackle.review_pairs") == ()


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = """
    base = "tap"
    loose = 1
    [tackle]
    faces = []
    fall_windw_s = 1
    spot = "foot"
    [policy]
    tackel = "auto"
    fumble = "maybe"
    [clauses.R-1]
    how = "measured"
    text = "x"
    amends = ["EFL-1"]
    """
    with pytest.raises(RulebookError) as raised:
        house(tmp_path, text)
    told = str(raised.value)
    for named in ("loose: unknown key", "faces must not", "fall_windw_s", "tackle.spot", "tackel", "fumble", "EFL-1"):
        assert named in told, named


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "9" * 5000, "1e400", "inf", "[1, " + "9" * 400 + "]"])
@pytest.mark.parametrize("key", ["tackle.min_overlap", "clock.periods", "version", "policy.tackle", "clauses.X-1.text"])
def test_a_number_beyond_all_is_refused_in_one_short_sentence(key: str, number: str) -> None:
    with pytest.raises(RulebookError) as refused:
        parse_rulebook(f'base = "tap"\n{key} = {number}\n', "house.toml")
    assert len(str(refused.value)) < 500


def test_what_is_quoted_of_a_rulebook_is_short() -> None:
    for text in (
        f'base = "{"k" * 70_000}"',
        f'base = "tap"\n{"k" * 70_000} = 1',
        f'base = "tap"\ntackle.{"k" * 70_000} = 1',
    ):
        with pytest.raises(RulebookError) as refused:
            parse_rulebook(text, "house.toml")
        assert len(str(refused.value)) < 1000
        assert "kkk" in str(refused.value)
