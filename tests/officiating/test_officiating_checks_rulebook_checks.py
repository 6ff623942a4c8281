"""Checks inside the engine: the formation and motion at the snap, pivots and clocks at a restart, kicks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from lineups import FIELD, LENGTH_YD, At, build, front_seven, pro_set

from downfield.core.scene import Ball, Figure, Player, Power, Scene
from downfield.officiating.calls import Call
from downfield.officiating.checks.formation import Formation
from downfield.officiating.declarations import (
    BaseSwap,
    Carrier,
    ChoiceMade,
    Claim,
    Declaration,
    KickDeclared,
    LineUpDeclared,
    OffenseSet,
    PivotsDone,
    Roll,
    Separated,
    SetUp,
    Switch,
)
from downfield.officiating.engine.recording import Judgment, judge_recording
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.system import EFL_CHECKS
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN_CHECKS
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.rulebooks.tap.system import TAP_CHECKS

LINE_YD = 35.0
ROLES = ("TE", "T", "G", "C", "G", "T", "TE", "QB", "RB", "RB", "WR")


def legal(**changed: At) -> Formation:
    """A formation TAP has nothing against, every man with his role; some placed otherwise."""
    offense = [replace(at, role=role) for at, role in zip(pro_set(), ROLES, strict=True)]
    offense[8], offense[9] = At(12.0, 6.0, "RB"), At(12.0, -6.0, "RB")
    defense = [replace(at, depth_yd=at.depth_yd + 5) if at.depth_yd > 2 else at for at in front_seven()]
    for name, at in changed.items():
        men = offense if name[0] == "o" else defense
        men[int(name[1:])] = at
    return build(offense, defense, line_yd=LINE_YD)


def figures(formation: Formation) -> tuple[Figure, ...]:
    return tuple(player.figure for player in formation.players)


def changed(before: Sequence[Figure], **deltas: tuple[float, float, float]) -> tuple[Figure, ...]:
    """Some figures moved along x and y, mm, and turned, degrees."""
    out = []
    for figure in before:
        dx, dy, turn = deltas.get(figure.id, (0.0, 0.0, 0.0))
        out.append(replace(figure, x_mm=figure.x_mm + dx, y_mm=figure.y_mm + dy, heading_deg=figure.heading_deg + turn))
    return tuple(out)


def scenes(*segments: tuple[float, Power, Sequence[Figure]]) -> list[Scene]:
    """Stretches of time: until when, whether the board is on, who stands where; twenty frames a second."""
    out: list[Scene] = []
    for until_s, board, formation in segments:
        while len(out) / 20 < until_s:
            out.append(Scene(len(out), round(len(out) / 20 * 1e9), board, tuple(formation)))
    return out


def events(*declared: tuple[float, Declaration]) -> list[Event]:
    return [Event(f"e{n}", round(t_s * 1e9), "operator", body) for n, (t_s, body) in enumerate(declared)]


def roster(formation: Formation) -> tuple[Player, ...]:
    return tuple(player.entry for player in formation.players)


def line_up_events(formation: Formation) -> tuple[tuple[float, Declaration], ...]:
    return ((0.0, SetUp("home", 1, LINE_YD)), (0.0, LineUpDeclared(roster(formation), "dark")))


def judge_film(film: list[Scene], declared: list[Event], book: str = "tap") -> Judgment:
    return judge_recording(film, declared, load_rulebook(book), FIELD)


def reports(judgment: Judgment, kind: str) -> list[Call]:
    return [call for call in judgment.calls if call.kind == kind]


def clauses(judgment: Judgment, kind: str) -> set[str]:
    return {clause for call in reports(judgment, kind) for clause in call.clauses}


def snapped(formation: Formation, book: str = "tap", carrier: str = "o7") -> Judgment:
    film = scenes((1.0, "off", figures(formation)), (1.5, "on", figures(formation)))
    return judge_film(film, events(*line_up_events(formation), (0.5, OffenseSet()), (0.6, Carrier(carrier))), book)


def test_a_legal_formation_is_not_reported() -> None:
    assert reports(snapped(legal()), "formation") == []


def test_a_fault_is_reported_with_its_margin_on_the_side_of_the_violation() -> None:
    (call,) = reports(snapped(legal(o10=At(3.0, 18.0, "WR"))), "formation")
    assert (call.verdict, call.clauses, call.players, call.unit) == ("reported", ("TAP-069",), ("o10",), "yd")
    assert call.margin == pytest.approx(1.5)
    assert call.probability == 1.0


def test_twelve_players_are_reported_only_when_claimed() -> None:
    offense = [replace(at, role=role) for at, role in zip(pro_set(), ROLES, strict=True)]
    twelve = build([*offense, At(15.0, -15.0, "RB")], line_yd=LINE_YD)
    film = scenes((1.0, "off", figures(twelve)))
    assert judge_film(film, events(*line_up_events(twelve), (0.5, OffenseSet()))).calls == ()
    claimed = judge_film(
        film, events(*line_up_events(twelve), (0.5, OffenseSet()), (0.7, Claim("too_many_men", "away")))
    )
    assert [call.clauses for call in claimed.calls] == [("TAP-042",)]
    assert not any("TAP-042" in call.clauses for call in snapped(twelve).calls)


def test_an_undeclared_figure_is_on_the_field_like_any_other() -> None:
    formation = legal()
    film = scenes((1.0, "off", figures(formation)), (1.5, "on", figures(formation)))
    named = tuple(player for player in roster(formation) if player.id != "o6")
    declared = events(
        (0.0, SetUp("home", 1, LINE_YD)),
        (0.0, LineUpDeclared(named, "dark")),
        (0.5, OffenseSet()),
        (0.6, Carrier("o7")),
    )
    assert reports(judge_film(film, declared), "formation") == []


def test_a_fault_of_a_figure_of_uncertain_identity_is_too_close() -> None:
    formation = legal(o10=At(3.0, 18.0, "WR"))
    unsure = tuple(replace(figure, sure=figure.id != "o10") for figure in figures(formation))
    film = scenes((1.0, "off", unsure), (1.5, "on", unsure))
    (call,) = reports(
        judge_film(film, events(*line_up_events(formation), (0.5, OffenseSet()), (0.6, Carrier("o7")))), "formation"
    )
    assert call.text.startswith("too close to call")
    assert call.probability == 0.5


@pytest.mark.parametrize("step_s", [0.1, 1 / 30])
def test_how_figures_walk_before_a_camera_sees_that_the_board_runs_is_no_fault_of_theirs(step_s: float) -> None:
    formation = legal()
    stood = tuple(replace(figure, sigma_mm=(0.3, 0.3), sigma_deg=0.3) for figure in figures(formation))
    on_s, seen_s = 2.0, 2.0 + max(0.15, 2.5 * step_s)

    def film(handled: Sequence[Figure]) -> list[Scene]:
        out = list[Scene]()
        for number in range(round((seen_s + 0.5) / step_s)):
            t_s = number * step_s
            ran_s = max(t_s - on_s, 0.0)
            figures = changed(
                handled if t_s >= 1.5 else stood, d8=(30 * ran_s, 0.0, 40 * ran_s), o10=(0.0, 50 * ran_s, 40 * ran_s)
            )
            out.append(Scene(number, round(t_s * 1e9), "on" if t_s >= seen_s else "off", figures))
        return out

    declared = events(*line_up_events(formation), (0.6, OffenseSet()), (0.8, PivotsDone("away")), (1.9, Carrier("o7")))
    assert reports(judge_film(film(stood), declared), "formation") == []
    handled = changed(stood, o3=(0.0, 0.0, 20.0))
    assert "TAP-079" in clauses(judge_film(film(handled), declared), "formation"), "the center was turned by a hand"


def test_motion_is_measured_from_set_to_the_snap() -> None:
    formation = legal()
    before = figures(formation)

    def after(**deltas: tuple[float, float, float]) -> Judgment:
        now = changed(before, **deltas)
        film = scenes((1.0, "off", before), (2.0, "off", now), (2.5, "on", now))
        declared = events(
            *line_up_events(formation), (0.6, OffenseSet()), (0.8, PivotsDone("away")), (1.9, Carrier("o7"))
        )
        return judge_film(film, declared)

    assert not {"TAP-079", "TAP-081"} & clauses(after(o10=(0.0, -20.0, 0.0)), "formation")
    assert "TAP-079" in clauses(after(o10=(0.0, -20.0, 0.0), o0=(0.0, -20.0, 0.0)), "formation")
    assert "TAP-079" in clauses(after(o3=(0.0, 0.0, 20.0)), "formation"), "the center is not eligible"
    assert "TAP-081" in clauses(after(d8=(0.0, 20.0, 0.0)), "formation"), "there was nothing to match"
    assert "TAP-081" not in clauses(after(o10=(0.0, -20.0, 0.0), d8=(0.0, 20.0, 0.0)), "formation")


def test_a_defense_that_has_not_declared_it_is_done_is_still_lining_up() -> None:
    formation = legal()
    now = changed(figures(formation), d8=(0.0, 20.0, 0.0))
    film = scenes((1.0, "off", figures(formation)), (2.0, "off", now), (2.5, "on", now))
    judgment = judge_film(film, events(*line_up_events(formation), (0.6, OffenseSet()), (1.9, Carrier("o7"))))
    assert "TAP-081" not in clauses(judgment, "formation")


def test_lions_den_counts_the_defenders_moved_once_the_offense_is_set() -> None:
    formation = build(pro_set(), [At(5.0, -20.0 + 4.0 * i) for i in range(11)], line_yd=LINE_YD)

    def after(count: int) -> set[str]:
        now = changed(figures(formation), **{f"d{i}": (10.0, 0.0, 0.0) for i in range(count)})
        film = scenes((1.0, "off", figures(formation)), (2.0, "off", now), (2.5, "on", now))
        return clauses(
            judge_film(
                film, events(*line_up_events(formation), (0.6, OffenseSet()), (1.9, Carrier("o7"))), "lions-den"
            ),
            "formation",
        )

    assert "LD-038" not in after(4)
    assert "LD-038" in after(5)


def stop_board(
    *declared: tuple[float, Declaration], seconds: float = 6.0, **deltas: tuple[float, float, float]
) -> Judgment:
    """A stop from 2 s on, in which some figures are handled."""
    formation = legal()
    before = figures(formation)
    now = changed(before, **deltas)
    on = 2.0 + seconds
    film = scenes(
        (1.0, "off", before), (2.0, "on", before), (2.5, "off", before), (on, "off", now), (on + 0.5, "on", now)
    )
    return judge_film(film, events(*line_up_events(formation), (0.5, OffenseSet()), (0.6, Carrier("o7")), *declared))


def test_pivots_of_a_stop_are_reported_when_the_board_comes_on() -> None:
    assert reports(stop_board(), "pivot") == []
    assert clauses(stop_board(d8=(0.0, 0.0, 30.0)), "pivot") >= {"TAP-090", "TAP-091"}
    assert reports(stop_board(d8=(0.0, 0.0, 30.0), o8=(0.0, 0.0, 30.0)), "pivot") == []
    assert clauses(stop_board(o8=(4.0, 0.0, 30.0)), "pivot") == {"TAP-024"}


def test_a_base_swap_is_the_offenses_pivot() -> None:
    swap = (3.0, BaseSwap("o7", True))
    assert reports(stop_board(swap, d8=(0.0, 0.0, 30.0), d9=(0.0, 0.0, 30.0)), "pivot") == []
    assert "TAP-025" in clauses(stop_board((3.0, BaseSwap("o8", True))), "pivot")


def test_before_the_snap_only_the_quarterback_may_be_put_on_a_stationary_base() -> None:
    formation = legal()
    film = scenes((1.0, "off", figures(formation)))
    for player, wanted in (("o7", set()), ("o8", {"TAP-025", "TAP-037"})):
        judgment = judge_film(film, events(*line_up_events(formation), (0.7, BaseSwap(player, True))))
        assert judgment.refused == ()
        assert clauses(judgment, "formation") == wanted


def test_clocks_of_a_stop_run_one_after_the_other() -> None:
    slow = ((11.0, PivotsDone("home")), (20.0, PivotsDone("away")))
    assert reports(stop_board(*slow, seconds=22.0), "timing") == []
    late = ((4.0, PivotsDone("home")), (15.0, PivotsDone("away")))
    (call,) = reports(stop_board(*late, seconds=20.0), "timing")
    assert call.clauses == ("TAP-092", "TAP-141")
    assert call.margin == pytest.approx(1.0)
    assert "TAP-092" in clauses(stop_board(seconds=21.0), "timing"), "no coach declared that he was done"


def test_a_kickoff_runs_three_seconds_and_the_returner_goes_to_his_goal_line() -> None:
    kickers = [At(0.0, -22.0 + 4.4 * i) for i in range(11)]
    receivers = [At(20.0, -20.0 + 4.0 * i, "WR") for i in range(10)]

    def lined_up(returner_yd: float) -> Formation:
        men = [*receivers, At(returner_yd, 0.0, "KR")]
        return build(kickers, men, line_yd=70.0, direction=-1, jersey="light")

    def kick(ran_s: float, returner_yd: float = 70.0 - LENGTH_YD / 2) -> Judgment:
        formation = lined_up(returner_yd)
        away = tuple(
            replace(figure, posture="lifted") if figure.id == "d10" else figure for figure in figures(formation)
        )
        off = 1.0 + ran_s
        film = scenes(
            (1.0, "off", away),
            (off, "on", away),
            (off + 2, "off", away),
            (off + 3, "off", figures(formation)),
            (off + 3.5, "on", figures(formation)),
        )
        declared = events(
            (0.0, LineUpDeclared(roster(formation), "dark")),
            (0.1, KickDeclared("kickoff", returner="d10")),
            (off + 1.0, ChoiceMade("return", "home")),
        )
        judgment = judge_film(film, declared)
        assert judgment.refused == ()
        return judgment

    right = kick(3.0)
    assert reports(right, "timing") == reports(right, "formation") == []
    assert clauses(kick(4.0), "timing") == {"TAP-051", "TAP-050"}
    assert clauses(kick(3.0, returner_yd=60.0), "formation") == {"TAP-053"}


def test_at_an_onside_kick_each_team_pivots_three_toward_the_ball() -> None:
    kickers = [At(0.0, -22.0 + 4.4 * i) for i in range(11)]
    receivers = [At(20.0, -22.0 + 4.4 * i) for i in range(11)]
    formation = build(kickers, receivers, line_yd=30.0, jersey="light")
    ball = Ball("magnetic", 41 * FIELD.mm_per_yd_x, FIELD.width_mm / 2)

    def kick(**deltas: tuple[float, float, float]) -> Judgment:
        now = changed(figures(formation), **deltas)
        film = [
            replace(scene, ball=ball)
            for scene in scenes((1.0, "off", figures(formation)), (2.0, "off", now), (2.5, "on", now))
        ]
        declared = events(
            (0.05, SetUp("home", 1, 80.0, score=(0, 14))),
            (0.1, LineUpDeclared(roster(formation))),
            (0.15, KickDeclared("field_goal")),
            (0.2, Roll((1, 1))),
            (0.3, KickDeclared("onside")),
            (0.4, Roll((5, 6))),
            (0.5, Roll((1, 1))),
            (0.8, OffenseSet()),
        )
        judgment = judge_film(film, declared)
        assert judgment.refused == ()
        return judgment

    three = {"o2": (0.0, 0.0, 20.0), "o3": (0.0, 0.0, 20.0), "o4": (0.0, 0.0, 10.0)}
    assert reports(kick(**three), "formation") == reports(kick(**three), "pivot") == []
    (away,) = reports(kick(o7=(0.0, 0.0, 20.0)), "pivot")
    assert away.clauses == ("TAP-064",)
    four = clauses(kick(**three, o1=(0.0, 0.0, 20.0)), "pivot")
    assert four == {"TAP-064"}
    assert clauses(kick(o0=(8.0, 0.0, 0.0)), "formation") == {"TAP-047"}


def test_delay_by_a_kicker_is_the_opponents_to_claim() -> None:
    lead = ((0.05, Separated()), (0.1, SetUp("home", 1, 80.0, 4, 5)), (0.15, KickDeclared("field_goal")))

    def field_goal(claimed_s: float) -> Judgment:
        return judge_film([], events(*lead, (claimed_s, Claim("delay_of_game", "away"))))

    def kickoff(claimed_s: float) -> Judgment:
        good = (*lead, (0.2, Roll((1, 1))), (0.3, KickDeclared("kickoff")))
        return judge_film([], events(*good, (claimed_s, Claim("delay_of_game", "away"))))

    for late, early in ((field_goal(41.0), field_goal(39.0)), (kickoff(61.0), kickoff(59.0))):
        assert clauses(late, "penalty") == {"TAP-043"}
        assert reports(early, "penalty") == []
        assert "allowed" in early.refused[0].reason


def test_a_formation_is_checked_without_a_game() -> None:
    found = TAP_CHECKS.check_formation(legal(o10=At(3.0, 18.0, "WR")))
    assert [result.clauses for result in found if result.outcome == "broken"] == [("TAP-069",)]
    assert any(result.outcome == "kept" for result in found)
    assert {clause[:4] for result in EFL_CHECKS.check_formation(legal()) for clause in result.clauses} == {"EFL-"}
    assert {result.check for result in LIONS_DEN_CHECKS.check_formation(legal(), "punt")} >= {
        "punt_spot",
        "defense_off",
    }


def test_a_switch_declared_before_any_scene_checks_nothing() -> None:
    formation = legal()
    judgment = judge_film(
        [], events(*line_up_events(formation), (0.5, OffenseSet()), (0.6, Carrier("o7")), (1.0, Switch(True, "home")))
    )
    assert reports(judgment, "formation") == []
