"""Reports count what a person counts: a scripted game, and two drives counted by hand."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from asgi_client import AsgiClient
from browsers import browser, page_in
from played_table import DEFENDER, RUNNER, Table
from scripted_plays import FIELD

from downfield.api.app import create_app
from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.core.files.csv_text import csv_text
from downfield.game.receipts import Submission
from downfield.game.records.commands import TeamSheet
from downfield.game.records.entries import Effects, EventRecorded, GameStarted, Snap, record_of
from downfield.game.records.keeping import GameRow
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Verdict
from downfield.officiating.declarations import ChoiceMade, PlayEnded, Roll, SetUp, Side
from downfield.officiating.events import Body, Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.play_state import PlayKind
from downfield.review.reports.game_report import REPORT_TABLES, GameReport, RecentReport
from downfield.review.reports.shadow import call_outcomes
from downfield.review.reports.statistics import drives_of, team_lines
from downfield.store.history import History, RecentHistories
from downfield.store.writing.journal import JournalWriter, SealedJournal
from downfield.store.writing.store import Store

GAME = "20270105-180000-abcd"
S_NS = 1_000_000_000


class HandMadeGame:
    """A game whose journal is written by hand, a play every ten seconds."""

    def __init__(self, path: Path, home: str = "River City", away: str = "Oakdale") -> None:
        self.store = Store.at(path)
        self.row = GameRow(GAME, 1_800_000_000 * S_NS, "", home, away, "tap")
        self._writer = JournalWriter(self.store)
        self._journal = SealedJournal(self._writer, self.row)
        sheets = TeamSheet(name=home, short="H"), TeamSheet(name=away, short="A")
        self._journal.append(GameStarted(record_of(load_rulebook("tap")), FIELD, *sheets))
        self._plays = self._events = 0

    def play(
        self,
        offense: Side,
        spot_yd: float,
        *calls: Call,
        kind: PlayKind = "scrimmage",
        carrier: str | None = None,
        direction: int = 1,
    ) -> None:
        snap = Snap(kind, self._plays * 10 * S_NS, offense, direction, 1, 10.0, spot_yd, 1, f"at {spot_yd:g}", carrier)
        self._plays += 1
        self._append(Tick(), Effects(calls=calls, snap=snap), snap.t_ns)

    def call(self, kind: CallKind, side: Side | None = None, spot: float | None = None, **more: object) -> Call:
        """A call in the play that comes next."""
        t_ns = self._plays * 10 * S_NS + S_NS
        name = f"{kind}:{self._plays}:{more.get('players', '')}"
        where = None if spot is None else (spot, 20.0)
        verdict: Verdict = more.pop("verdict", "called")  # type: ignore[assignment]
        return Call(name, kind, t_ns, "tap", (), verdict, kind, spot_yd=where, side=side, **more)  # type: ignore[arg-type]

    def rule(self, call: Call, ruling: Ruling, *, withdrawn: bool = False) -> None:
        calls = () if ruling.replacement is None else (ruling.replacement,)
        effects = Effects(calls=calls, withdrawn=(call.id,) if withdrawn else ())
        self._append(ruling, effects, self._plays * 10 * S_NS)

    def history(self) -> History:
        self._writer.close()
        return History(self.store, self.row)

    def _append(self, body: Body, effects: Effects, t_ns: int) -> None:
        self._events += 1
        self._journal.append(EventRecorded(Event(f"e{self._events}", t_ns, "operator", body), "Ann", effects))


@pytest.fixture
def game(tmp_path: Path) -> Iterator[HandMadeGame]:
    made = HandMadeGame(tmp_path / "games.db")
    yield made
    made.store.close()


def two_drives(game: HandMadeGame) -> History:
    """Home: +7, sacked for -3, +56 and a touchdown, the try. Away, the other way: +4, an incompletion, intercepted."""
    game.play("away", 35, kind="kickoff")
    game.play("home", 40, game.call("tackle", "away", 47, players=("dark-1", "light-9")), carrier="dark-1")
    game.play("home", 47, game.call("sack", "away", 44, players=("dark-2", "light-9")), carrier="dark-2")
    run = game.call("first_down", "home"), game.call("touchdown", "home")
    game.play("home", 44, *run, carrier="dark-1")
    game.play("home", 98, game.call("extra_point", "home", detail="good"), kind="extra_point")
    game.play("home", 35, kind="kickoff")
    game.play("away", 70, game.call("down_by_fall", "home", 66), direction=-1, carrier="light-3")
    game.play("away", 66, game.call("incomplete"), direction=-1)
    game.play("away", 66, game.call("interception", "home"), direction=-1)
    return game.history()


def test_two_drives_are_counted_as_a_person_counts_them(game: HandMadeGame) -> None:
    plays = two_drives(game).plays()
    assert [play.gain_yd for play in plays] == [None, 7, -3, 56, None, None, 4, 0, None]
    home, away = team_lines(plays)
    assert (home.plays, home.yards, home.first_downs, home.touchdowns, home.turnovers) == (3, 60, 1, 1, 0)
    assert (away.plays, away.yards, away.passes, away.completions, away.turnovers, away.sacks) == (3, 4, 2, 0, 1, 1)
    drives = drives_of(plays)
    assert [(drive.side, drive.first_play, drive.last_play, drive.plays, drive.yards) for drive in drives] == [
        ("home", 2, 5, 3, 60),
        ("away", 7, 9, 3, 4),
    ]
    assert [drive.result for drive in drives] == ["touchdown", "interception"]


def test_a_call_that_was_put_in_the_place_of_another_counts_the_same_for_every_reader(game: HandMadeGame) -> None:
    tackle = game.call("tackle", "away", 48, players=("dark-1", "light-9"))
    game.play("home", 40, tackle, carrier="dark-1")
    out = replace(tackle, kind="out_of_bounds", text="Out of bounds", spot_yd=(44.46, 0.0), players=("dark-1",))
    game.rule(tackle, Ruling(tackle.id, "overturn", out, "line"))
    history = game.history()
    (play,) = history.plays()
    assert (play.result, play.gain_yd) == ("Out of bounds, gain of 4.5 yards", 4.5)
    report = GameReport(game.store, history)
    rows = report.csv("plays")
    listed = dict(zip(rows.head, rows.rows[0], strict=True))
    assert (listed["gain_yd"], listed["result"]) == (4.5, play.result)
    assert ">+4.5<" in report.html()
    assert {name: home for name, _, home in report.csv("box").rows}["Yards gained"] == 4.5
    assert [drive.yards for drive in drives_of([play])] == [4.5]
    assert [call.id for call in history.replaced()] == [tackle.id]
    outcomes = {one.kind: (one.called, one.overturned) for one in call_outcomes([history])}
    assert outcomes == {"tackle": (0, 1)}, "a league is not told that its tackles are overturned"


def test_calls_are_counted_by_what_people_made_of_them(game: HandMadeGame) -> None:
    stood, right, wrong = (game.call("tackle", players=(f"dark-{number}", "light-9")) for number in range(3))
    close = game.call("fumble", verdict="too_close")
    noted = game.call("info", verdict="reported")
    game.play("home", 40, stood, right, wrong, close, noted)
    game.rule(right, Ruling(right.id, "confirm"))
    game.rule(wrong, Ruling(wrong.id, "strike", note="no contact"), withdrawn=True)
    found = {one.kind: one for one in call_outcomes([game.history()])}
    assert set(found) == {"tackle", "fumble"}
    tackle = found["tackle"]
    assert (tackle.called, tackle.confirmed, tackle.overturned, tackle.overturned_share) == (1, 1, 1, 0.5)
    assert (found["fumble"].too_close, found["fumble"].overturned_share) == (1, None)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "games.db")
    made.begin()
    made.play()
    made.game_service.close()
    yield made
    made.store.close()


def test_figures_are_counted_from_the_film(table: Table) -> None:
    """The runner walks 9 yards straight ahead at 10 yards a second; the defender stands and tackles him."""
    report = GameReport(table.store, History(table.store, table.store.games()[0]))
    found = report.csv("figures")
    rows = {str(row[0]): dict(zip(found.head, row, strict=True)) for row in found.rows}
    runner, defender = rows[RUNNER], rows[DEFENDER]
    assert (runner["Snaps"], runner["Carries"], runner["Tackles"]) == (1, 1, 0)
    assert float(runner["Distance (cm)"]) == pytest.approx(9 * FIELD.mm_per_yd_x / 10, abs=1.5)
    assert float(runner["Top speed (mm/s)"]) == pytest.approx(10 * FIELD.mm_per_yd_x, rel=0.02)
    assert runner["Straightness (%)"] == 100
    tackle = next(call for call in report.history.calls() if call.kind == "tackle")
    assert tackle.spot_yd is not None
    assert float(runner["Yards"]) == pytest.approx(tackle.spot_yd[0] - report.plays[0].spot_yd, abs=0.06)
    assert (defender["Tackles"], defender["Distance (cm)"], defender["Straightness (%)"]) == (1, 0, "")


def test_tables_of_a_game_that_was_printed_are_not_worked_out_anew(table: Table) -> None:
    recent, histories = RecentReport(), RecentHistories(table.store)
    row = table.store.games()[0]
    printed = recent.of(table.store, histories.of(row))
    assert recent.of(table.store, histories.of(row)) is printed
    assert recent.of(table.store, History(table.store, row)) is not printed  # read anew, as after it has grown


def test_the_report_is_one_page_of_sound_drawings_that_loads_nothing(table: Table) -> None:
    page = GameReport(table.store, History(table.store, table.store.games()[0])).html("ed25519:x")
    drawings = page.split("<svg")[1:]
    assert len(drawings) == 3
    for drawing in drawings:
        ElementTree.fromstring("<svg" + drawing.split("</svg>")[0] + "</svg>")
    assert not any(loading in page for loading in ("src=", "href=", "url(", "@import", "<script"))


A4_PX = 182 * 96 / 25.4
"""Width of a page of paper between its margins, in the pixels of a browser."""


def test_no_table_is_wider_than_the_paper(tmp_path: Path) -> None:
    game = HandMadeGame(tmp_path / "long.db", "Sportgemeinschaft Donaudampfschifffahrt 1897", "The Oakdale Gentlemen")
    report = GameReport(game.store, two_drives(game))
    with browser() as chrome, page_in(chrome) as page:
        page.set_viewport_size({"width": round(A4_PX), "height": 1000})
        page.emulate_media(media="print")
        page.set_content(report.html())
        widths = page.evaluate("[...document.querySelectorAll('table')].map((one) => one.scrollWidth)")
    game.store.close()
    assert widths
    assert max(widths) <= A4_PX + 1, widths


def test_names_are_text_in_page_and_table(tmp_path: Path) -> None:
    game = HandMadeGame(tmp_path / "games.db", "=cmd()", "<img src=x onerror=alert(1)>")
    game.play("home", 40, game.call("tackle", "away", 47), carrier="<b>")
    report = GameReport(game.store, game.history())
    assert "<img" not in report.html()
    assert "<b>" not in report.html()
    assert "&lt;img src=x" in report.html()
    game.store.close()


def test_the_service_sends_page_and_tables(table: Table) -> None:
    client = AsgiClient(create_app(RigParts(table.game_service, table.hub, LatestPicture(), table.store)))
    game = table.store.games()[0].id
    page = client.get(f"/api/games/{game}/report.html")
    assert page.status == 200
    assert b"signs with the key" not in page.body  # nothing that is served from here is signed
    assert "style-src 'unsafe-inline'" in page.headers["content-security-policy"]
    for name in REPORT_TABLES:
        answer = client.get(f"/api/games/{game}/report/{name}.csv")
        assert answer.status == 200
        assert answer.body.startswith(b"\xef\xbb\xbf"), "Excel would show umlauts as two letters"
        assert len(list(csv.reader(io.StringIO(answer.body.decode("utf-8-sig"))))) > 1, name
    assert client.get(f"/api/games/{game}/report/none.csv").status == 422
    assert "tackle" in {one["kind"] for one in client.get("/api/call-outcomes").json}


def test_every_table_opens_in_a_spreadsheet_with_its_umlauts_and_calculates_nothing(tmp_path: Path) -> None:
    game = HandMadeGame(tmp_path / "games.db", "Grün-Weiß Müggelsee", '=HYPERLINK("http://evil.example")')
    game.play("home", 40, game.call("tackle", "away", 47), carrier="+dark-28")
    report, texts = GameReport(game.store, game.history()), ""
    for name in REPORT_TABLES:
        found = report.csv(name)
        written = csv_text(found.head, found.rows).encode()
        assert written.startswith(b"\xef\xbb\xbf"), name
        assert written.endswith(b"\r\n"), name
        rows = list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline="")))
        assert {len(row) for row in rows} == {len(found.head)}, name
        formulas = [cell for row in rows for cell in row if re.match(r"[=+@]|-(?![\d.]+$)", cell)]
        assert formulas == [], name
        texts += written.decode()
    assert "Grün-Weiß Müggelsee" in texts
    assert "'=HYPERLINK" in texts
    game.store.close()


def test_a_game_without_a_play_has_a_report(tmp_path: Path) -> None:
    game = HandMadeGame(tmp_path / "games.db")
    page = GameReport(game.store, game.history()).html()
    assert "No play was begun" in page
    assert "<h2>Calls</h2>" not in page
    game.store.close()


def test_a_game_kept_without_a_camera_has_its_calls_in_the_report(tmp_path: Path) -> None:
    game = HandMadeGame(tmp_path / "games.db")
    call = game.call("tackle", players=("dark-1", "light-2"))
    game._append(Tick(), Effects(calls=(call,)), 0)
    game.rule(call, Ruling(call.id, "confirm", note="seen by all"))
    page = GameReport(game.store, game.history()).html()
    assert "<h2>Calls</h2>" in page
    assert "confirmed by Ann (seen by all)" in page
    game.store.close()


def test_a_return_after_a_turnover_is_not_charged_to_the_offense(game: HandMadeGame) -> None:
    """The interceptor runs 30 yards back; the run before a lost fumble counts, its return does not."""
    game.play(
        "home",
        40,
        game.call("interception", "away", 60),
        game.call("tackle", "away", 30),
        game.call("first_down", "away", 30),
    )
    game.play(
        "home",
        40,
        game.call("fumble", "away", 52),
        game.call("fumble_recovery", "away", 52),
        game.call("tackle", "home", 20),
        game.call("first_down", "away", 20),
    )
    plays = game.history().plays()
    assert [(play.gain_yd, play.losses) for play in plays] == [(None, ("home",)), (12, ("home",))]
    home, away = team_lines(plays)
    assert (home.yards, home.first_downs, home.turnovers, home.fumbles) == (12, 0, 2, 1)
    assert (away.yards, away.first_downs, away.turnovers) == (0, 0, 0)


def test_a_ball_lost_and_won_back_is_lost_by_both(game: HandMadeGame) -> None:
    game.play(
        "home",
        40,
        game.call("interception", "away", 60),
        game.call("fumble", "home", 50),
        game.call("fumble_recovery", "home", 50),
        game.call("tackle", "away", 55),
        game.call("first_down", "home", 55),
    )
    (play,) = game.history().plays()
    assert (play.losses, play.is_lost, play.gain_yd) == (("home", "away"), False, None)
    home, away = team_lines([play])
    assert (home.turnovers, away.turnovers, home.first_downs) == (1, 1, 0)


def test_a_call_put_in_the_place_of_another_scores_whether_or_not_it_names_a_side(game: HandMadeGame) -> None:
    tackle = game.call("tackle", "away", 48, players=("dark-1", "light-9"))
    game.play("home", 40, tackle)
    game.rule(tackle, Ruling(tackle.id, "overturn", replace(tackle, kind="touchdown", side=None, spot_yd=None), "in"))
    (play,) = game.history().plays()
    assert (play.gain_yd, play.points) == (60, (("home", 6),))
    assert team_lines([play])[0].touchdowns == 1


def test_a_play_that_a_penalty_wiped_out_counts_for_nothing_but_the_penalty(game: HandMadeGame) -> None:
    game.play(
        "home",
        40,
        game.call("touchdown", "home"),
        game.call("penalty", "away", 40, detail="offensive_pass_interference"),
    )
    game.play("home", 40, game.call("tackle", "away", 45), game.call("penalty", "home", detail="delay_of_game"))
    plays = game.history().plays()
    assert [(play.counts, play.gain_yd, play.points) for play in plays] == [(False, None, ()), (True, 5, ())]
    home, away = team_lines(plays)
    assert (home.plays, home.touchdowns, home.penalties, away.penalties) == (1, 0, 1, 1)


def test_what_nobody_counted_is_left_out_of_box_score_and_tables(tmp_path: Path) -> None:
    made = Table(tmp_path / "games.db")
    made.begin()
    made.declare(SetUp("home", 1, due="kickoff"))
    for end in (
        PlayEnded("touchback", by="home"),
        PlayEnded("tackle", (27.4, 20.0)),
        PlayEnded("sack", (24.0, 20.0)),
        PlayEnded("touchdown"),
    ):
        made.now_ns += 10 * S_NS
        made.declare(end)
    made.declare(ChoiceMade("extra_point"))
    made.now_ns += 10 * S_NS
    made.declare(Roll((6, 6)))
    made.game_service.close()
    report = GameReport(made.store, History(made.store, made.store.games()[0]))
    assert [play.kind for play in report.plays] == ["kickoff", "scrimmage", "scrimmage", "scrimmage", "extra_point"]
    box = {str(row[0]): row[1:] for row in report.csv("box").rows}
    assert (box["Touchdowns"], box["Plays from scrimmage"], box["Sacks made"]) == ((0, 1), (0, 3), (1, 0))
    assert "Completions" in box  # the other side threw none, and that is known
    assert box["Passes"] == (0, "")
    rows = [dict(zip(report.csv("plays").head, row, strict=True)) for row in report.csv("plays").rows]
    assert [row["down"] for row in rows] == ["", 1, 2, 3, ""]
    assert [row["gain_yd"] for row in rows] == ["", 7.4, -3.4, 76, ""]
    assert [row["spot_yd"] for row in rows][-1] == ""
    made.store.close()


@pytest.mark.parametrize("decision", ["strike", "undo"])
def test_a_told_play_that_is_taken_back_is_no_play(tmp_path: Path, decision: str) -> None:
    made = Table(tmp_path / "games.db")
    made.begin()
    made.declare(SetUp("home", 1, 25.0))
    made.now_ns += 10 * S_NS
    told = made.declare(PlayEnded("incomplete"))
    if decision == "undo":
        made.game_service.undo(told.event, Submission())
    else:
        made.game_service.rule(Ruling(made.call("incomplete"), "strike"), Submission())
    made.game_service.close()
    plays = History(made.store, made.store.games()[0]).plays()
    assert [play.in_force for play in plays] == ([] if decision == "undo" else [()])
    made.store.close()


def test_what_is_ruled_counts_the_same_on_the_page_and_in_the_box(tmp_path: Path) -> None:
    made = Table(tmp_path / "games.db")
    made.begin()
    made.play()
    tackle = next(call for call in made.game_service.calls() if call.kind == "tackle")
    touchdown = Call(tackle.id, "touchdown", tackle.t_ns, "tap", (), "called", "Touchdown", side="home")
    made.game_service.rule(Ruling(tackle.id, "overturn", touchdown, "over the line"), Submission())
    made.game_service.close()
    report = GameReport(made.store, History(made.store, made.store.games()[0]))
    (play,) = report.plays
    box = {str(row[0]): row[1:] for row in report.csv("box").rows}
    assert (play.result, play.gain_yd, play.points) == ("Touchdown", 60, (("home", 6),))
    assert (box["Points"], box["Touchdowns"], box["Yards gained"]) == ((0, 6), (0, 1), (0, 60))
    made.store.close()
