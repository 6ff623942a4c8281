"""An event of six teams in three browsers at once, with one of each misfortune, in pictures; says what was not held.

Two directors, at a desktop and with a phone, and the hall's screen. ``PYTHONPATH=tests python benchmarks/event_walk.py
--out build/event-walk``; exits with 1 if a game in play was moved, a result overwritten, or a refusal not seen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
from browsers import browser, page_in
from desk_server import DeskServer
from playwright.sync_api import Dialog, Locator, Page, expect

from downfield.core.errors import RefusedError
from downfield.desk.event.placing import find_match, swap
from downfield.desk.event.progress import Progress
from downfield.desk.event.records import Match
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import Change, GameState, TableGame
from downfield.desk.event.tickets import ticket_for
from downfield.desk.replication.desk_tournament import DeskTournament
from downfield.desk.tables.broker_tables import BrokerTables
from downfield.desk.tables.push_keeper import PushKeeper
from downfield.rig.tournament.table_feed import TableMessage
from downfield.store.sealing.signing import RigKey

COACHES = (
    "coach,team,club,seed\nAna,Lions,River,1\nBo,Owls,River,2\nCy,Bears,,3\nDi,Wolves,,4\nEd,Bulls,,5\nFlo,Hawks,,6\n"
)
CLOCK = {"game_min": 50, "change_min": 10, "sessions": [{"begins": "2026-09-05T09:00", "ends": "2026-09-05T18:00"}]}
DESK_KEY = RigKey.generate()
LATE = "Rams"
RIGS = ("Table 1", "Table 2")


@dataclass
class Walk:
    """An event that is walked through.

    Attributes:
        asked: what the pages asked, the latest last.
        denied: what is answered by no; everything else by yes. Empty for nothing.
        saved: results as they were entered, by match.
    """

    server: DeskServer
    desktop: Page
    phone: Page
    hall: Page
    out: Path
    asked: list[str] = field(default_factory=list)
    denied: str = ""
    saved: dict[str, tuple[int, int]] = field(default_factory=dict)
    pictures: int = 0

    def picture(self, name: str) -> None:
        """Take what all three show."""
        self.pictures += 1
        for role in ("desktop", "phone", "hall"):
            page: Page = getattr(self, role)
            page.screenshot(path=self.out / f"{self.pictures:02d}-{name}-{role}.png")

    def decide(self, dialog: Dialog) -> None:
        """Answer what a page asks."""
        self.asked.append(dialog.message)
        if self.denied and self.denied in dialog.message:
            dialog.dismiss()
        else:
            dialog.accept()

    def tab(self, page: Page, name: str) -> None:
        """Open a part of the event's page."""
        page.get_by_role("tab", name=name).click()

    def setup(self, text: str) -> None:
        """Press a button under Set-up."""
        self.tab(self.desktop, "Set-up")
        self.desktop.get_by_role("button", name=text, exact=True).click()

    def open_game(self, page: Page, match: str) -> None:
        """Open the dialog of a game."""
        self.tab(page, "Games")
        page.locator(f'#games button.game[aria-label^="{match}:"]').click()

    def enter(self, page: Page, match: str, home: int, away: int) -> None:
        """Type a result and save it."""
        self.open_game(page, match)
        self.fill(page, home, away)
        expect(page.locator("dialog")).to_be_hidden()
        self.saved[match] = home, away

    def open_move(self, page: Page, match: str) -> Locator:
        """Open the dialog that moves a game, and return it."""
        self.open_game(page, match)
        page.locator("dialog").get_by_role("button", name="Move", exact=True).click()
        return page.locator("dialog")

    def open_coach(self, page: Page, name: str) -> Locator:
        """Open the dialog of a coach, and return it."""
        self.tab(page, "Coaches")
        page.locator(".coach", has_text=name).get_by_role("button", name="Edit").click()
        return page.locator("dialog")

    def fill(self, page: Page, home: int, away: int) -> None:
        """Type a result in the open dialog, and press save."""
        dialog = page.locator("dialog")
        boxes = [dialog.locator(f'[name="{side}"]') for side in ("home", "away")]
        tops = [(box.bounding_box() or {"y": 0.0})["y"] for box in boxes]
        check(tops[0] < tops[1], "the score boxes stand as the card has the teams")
        boxes[0].fill(str(home))
        boxes[1].fill(str(away))
        dialog.get_by_role("button", name="Save").click()

    def refusal(self, page: Page, text: str) -> None:
        """Expect a refusal in an open dialog, where it is seen."""
        shown = page.locator("dialog .refusal").last
        expect(shown).to_contain_text(text)
        box, size = shown.bounding_box(), page.viewport_size
        seen = box is not None and size is not None and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]
        check(seen, f"the refusal '{text}' is in view")

    def report(self, match: str, state: GameState, score: tuple[int, int] = (0, 0), seq: int = 1) -> None:
        """Have a table say something of a game that was started for a match."""
        event = self.server.parts.keeper.event
        found = find_match(event, match)
        names = (Progress(event).text(found.home), Progress(event).text(found.away))
        ticket = ticket_for(event, found, "rig", names, DESK_KEY)
        signed, closed = score if state == "signed" else None, state in {"signed", "ended"}
        by = ("Coach 1", "Coach 2") if signed else ()
        game = TableGame(f"g-{match}", seq, state, found.table, *names, score, signed, by, ticket=ticket)
        self.server.parts.keeper.report([game])
        if closed:
            self.saved[match] = score

    def open_games(self, pool: str) -> list[Match]:
        """Return the games of a pool that have no result, by their times."""
        found = [one for one in self.server.parts.keeper.event.matches if one.pool == pool and one.result is None]
        return sorted(found, key=lambda match: match.slot or 0)

    def score(self, match: Match) -> tuple[int, int]:
        """Return how a game of the first pool ends: who came late loses all, so that somebody wins it."""
        event = self.server.parts.keeper.event
        home, away = (Progress(event).text(side) for side in (match.home, match.away))
        return (28 * (home != LATE), 28 * (away != LATE)) if LATE in {home, away} else (21, 0)

    def places(self, matches: tuple[str, ...]) -> list[tuple[str, int | None]]:
        """Return tables and slots of games."""
        found = (find_match(self.server.parts.keeper.event, match) for match in matches)
        return [(match.table, match.slot) for match in found]


FAULTS: list[str] = []
CHECKED: set[str] = set()


def check(held: bool, text: str) -> None:
    """Say whether something was held, once while it is, and note what was not."""
    if not held:
        FAULTS.append(text)
    if not held or text not in CHECKED:
        sys.stdout.write(f"{'held' if held else 'NOT HELD'}: {text}\n")
    CHECKED.add(text)


def begin(walk: Walk) -> None:
    """Six teams, two pools, three tables, of which one has no rig."""
    url = walk.server.url
    walk.desktop.goto(f"{url}/event#coaches")
    (walk.out / "coaches.csv").write_text(COACHES)
    walk.desktop.get_by_text("Coaches from CSV").locator("input").set_input_files(str(walk.out / "coaches.csv"))
    expect(walk.desktop.locator(".coach")).to_have_count(6)
    rules = httpx.get(f"{url}/api/event").json()["rules"]
    httpx.put(f"{url}/api/event/rules", json={**rules, "pools": 2}).raise_for_status()
    tables = ["Table 1", "Table 2", "Table 3"]
    httpx.put(f"{url}/api/event/clock", json={"clock": CLOCK, "tables": tables}).raise_for_status()
    walk.phone.goto(f"{url}/event")
    walk.hall.goto(f"{url}/hall")
    walk.setup("Make the draw")
    walk.setup("Make the schedule")
    expect(walk.desktop.locator("#notice")).to_contain_text("No rig is called Table 3")
    expect(walk.hall.locator("#now .game")).not_to_have_count(0)
    walk.picture("scheduled")


def keep_what_is_in_play(walk: Walk) -> None:
    """Two games are in play: a schedule, a late coach and a delay leave them where they are."""
    playing = ("A1", "B1")
    for match in playing:
        walk.report(match, "in_play")
    before = walk.places(playing)
    expect(walk.hall.locator(".game.in_play")).to_have_count(2)
    walk.setup("Make the schedule")
    expect(walk.desktop.locator("#notice")).to_contain_text("Done.")
    walk.desktop.get_by_role("button", name="Delay", exact=True).click()
    expect(walk.desktop.locator("#undo")).to_contain_text("min later")
    check("games begin at another time" in walk.asked[-1], "a delay says first what it moves")
    walk.setup("Undo the draw")
    expect(walk.desktop.locator("#undo")).to_contain_text("undid the draw")
    check(any("A1 is in play" in text for text in walk.asked), "undoing the draw asks while games are in play")
    walk.desktop.locator("#undo button").click()
    expect(walk.phone.locator(".game.in_play")).to_have_count(2)
    check(walk.places(playing) == before, "games in play stay where they are")
    walk.picture("in-play")


def late_entrant(walk: Walk) -> None:
    """A coach comes while two games are in play: those stay, and the new games find places that are free."""
    playing = ("A1", "B1")
    before = walk.places(playing)
    walk.tab(walk.phone, "Coaches")
    walk.phone.get_by_role("button", name="Register a coach").click()
    dialog = walk.phone.locator("dialog")
    dialog.locator('[name="coach"]').fill("Gus")
    dialog.locator('[name="team"]').fill(LATE)
    walk.picture("late-entrant-typed")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    walk.tab(walk.desktop, "Standings")
    expect(walk.desktop.locator("#standings .pool").first).to_contain_text(LATE)
    expect(walk.hall.locator(".game.in_play")).to_have_count(2)
    event = walk.server.parts.keeper.event
    check(walk.places(playing) == before, "games in play stay where they are when a coach comes late")
    placed = [(match.table, match.slot) for match in event.matches]
    check(len(set(placed)) == len(placed) and ("", None) not in placed, "every game has a place of its own then")
    progress = Progress(event)
    at_once = [(match.slot, side) for match in event.matches for side in progress.sides(match) if side is not None]
    check(len(set(at_once)) == len(at_once), "nobody plays twice at a time")
    check(len(walk.open_games("A")) == 6, "who comes late plays everybody of the pool")
    walk.picture("late-entrant")


def swap_two_games(walk: Walk) -> None:
    """One director swaps two games while another postpones one of them; a swap that can't be is refused in view."""
    games = [match.id for match in walk.open_games("A") + walk.open_games("B") if match.id not in {"A1", "A2", "B1"}]
    one, other = next(pair for pair in combinations(games, 2) if _fits(walk, *pair))
    before, playing = walk.places((one, other)), walk.places(("A1", "B1"))
    moving = walk.open_move(walk.phone, one)
    offered = moving.locator('[name="swap"] option').all_inner_texts()
    check(not any(text.startswith(("A1:", "B1:")) for text in offered), "a game in play is no game to swap with")
    swapping = walk.open_move(walk.desktop, one)
    swapping.locator('[name="swap"]').select_option(other)
    walk.picture("swap")
    swapping.get_by_role("button", name="Save").click()
    expect(swapping).to_be_hidden()
    expect(walk.desktop.locator("#undo")).to_contain_text(f"swapped {one} and {other}")
    check(walk.places((one, other)) == before[::-1], "two games have exchanged tables and times")
    moving.get_by_role("button", name="Postpone it").click()
    walk.refusal(walk.phone, f"has changed where {one} is played meanwhile")
    walk.picture("moved-meanwhile")
    moving.locator('[name="swap"]').select_option("W1-1")
    moving.get_by_role("button", name="Save").click()
    walk.refusal(walk.phone, "decides who plays W1-1")
    moving.get_by_role("button", name="Cancel").click()
    walk.open_game(walk.desktop, "A1")
    check(walk.desktop.locator("dialog button", has_text="Move").count() == 0, "a game in play offers no other place")
    walk.desktop.locator("dialog").get_by_role("button", name="Cancel").click()
    refused = httpx.post(f"{walk.server.url}/api/event/swap", json={"matches": [one, "A1"]})
    check("A1 is in play at Table" in refused.text, "a game in play is not swapped")
    check(walk.places((one, other)) == before[::-1], "what was swapped is not moved back")
    check(walk.places(("A1", "B1")) == playing, "games in play stay where they are when others are swapped")


def _fits(walk: Walk, one: str, other: str) -> bool:
    """Return whether two games of other times can exchange their places."""
    event = walk.server.parts.keeper.event
    try:
        swapped = swap(event, one, other, Change("", "", ""))
    except RefusedError:
        return False
    return find_match(swapped, one).slot != find_match(event, one).slot


def forgotten_result(walk: Walk) -> None:
    """Nobody entered a game of the first round: the hall goes on, the director is told, and guests are."""
    late = walk.open_games("A")[0]
    playing = next(one for one in walk.open_games("A") if (one.slot or 0) > (late.slot or 0) and one.table in RIGS)
    walk.report(playing.id, "in_play")
    expect(walk.hall.locator("#now .game.in_play")).to_have_count(1)
    expect(walk.hall.locator("#now .slot").first).to_contain_text(f"{playing.id} · {playing.table}")
    expect(walk.hall.locator("#now")).not_to_contain_text(f"{late.id} ·")
    walk.tab(walk.desktop, "Games")
    missing = walk.desktop.locator("#game-lists > div").first
    expect(missing.locator("h2")).to_have_text("Result missing")
    expect(missing).to_contain_text(f"{late.id} ·")
    check(missing.is_visible(), "a result that nobody entered is listed on top for the director")
    check(walk.hall.locator("#now", has_text=f"{late.id} ·").count() == 0, "the hall's now goes on without it")
    guests = httpx.get(f"{walk.server.url}/api/event/guests").json()["code"]
    walk.phone.goto(f"{walk.server.url}/guest/{guests}")
    expect(walk.phone.locator("tr", has_text="no result yet").filter(has_text=late.id)).to_be_visible()
    check(f">{playing.id}<" in walk.phone.locator("tr.now").inner_html(), "guests see what is in play first")
    walk.picture("forgotten-result")
    walk.phone.goto(f"{walk.server.url}/event")
    walk.enter(walk.phone, late.id, *walk.score(late))
    missing = walk.desktop.locator("#game-lists > div", has_text="Result missing")
    expect(missing.locator("button", has_text=f"{late.id} ·")).to_have_count(0)
    walk.report(playing.id, "ended", walk.score(playing), 2)
    walk.desktop.goto(f"{walk.server.url}/")
    walk.desktop.get_by_role("button", name="Call the round").click()
    called = walk.desktop.locator("#round li", has_text=f"{playing.table}: late")
    expect(called).to_contain_text(f"{playing.id} was played, and its result is missing")
    sent = httpx.get(f"{walk.server.url}/api/pushes").text
    check(f"{playing.id}:" not in sent, "a called round starts no game again whose result is missing")
    walk.picture("result-missing-at-a-called-round")
    walk.desktop.goto(f"{walk.server.url}/event")
    waiting = walk.desktop.locator("#waiting li", has_text="both coaches did not sign it")
    waiting.get_by_role("button", name="Enter it").click()
    expect(walk.desktop.locator("#waiting")).to_be_hidden()
    check(not walk.server.parts.keeper.outcomes.waiting, "a result that was missing is entered where it is asked for")


def two_directors(walk: Walk) -> None:
    """Both have the same game open; a form is typed in while the event changes; a taken game is said."""
    walk.open_game(walk.phone, "A2")
    walk.enter(walk.desktop, "A2", 14, 7)
    expect(walk.hall.locator("#now")).to_contain_text("14")
    check(walk.hall.locator("#now .game.in_play").count() == 2, "what is in play stays on the big screen")
    walk.fill(walk.phone, 7, 14)
    walk.refusal(walk.phone, "has changed A2 meanwhile: it is 14 to 7 now")
    walk.picture("two-directors")
    walk.phone.locator("dialog").get_by_role("button", name="Cancel").click()
    walk.tab(walk.desktop, "Set-up")
    walk.desktop.locator('[name="name"]').fill("River Cup")
    walk.report("A1", "signed", (7, 14), 2)
    walk.report("B1", "signed", (7, 0), 2)
    expect(walk.phone.locator(".game.in_play")).to_have_count(0)
    expect(walk.desktop.locator('[name="name"]')).to_have_value("River Cup")
    walk.desktop.locator("form", has_text="Event").first.get_by_role("button", name="Save").click()
    expect(walk.hall.locator("#event-name")).to_have_text("River Cup")


def tie_of_three(walk: Walk) -> None:
    """Three teams are level in a pool: the bracket waits for lots."""
    winner_side = {}
    event = walk.server.parts.keeper.event
    for match in ("B2", "B3"):
        winner_side[match] = Progress(event).sides(find_match(event, match))
    first = Progress(event).sides(find_match(event, "B1"))
    beaten = first[1]
    for match, (home, _away) in winner_side.items():  # everybody wins once, by as much
        wins_home = (home == beaten) if beaten in winner_side[match] else home not in first
        walk.enter(walk.phone if match == "B2" else walk.desktop, match, 7 * wins_home, 7 * (not wins_home))
    for found in walk.open_games("A"):
        walk.enter(walk.desktop, found.id, *walk.score(found))
    walk.tab(walk.desktop, "Standings")
    expect(walk.desktop.locator("#standings")).to_contain_text("lots are to be drawn")
    expect(walk.desktop.locator(".bracket").first).to_contain_text("lots to be drawn")
    walk.picture("tie-of-three")
    walk.setup("Draw lots for ties")
    expect(walk.desktop.locator("#notice")).to_contain_text("Lots are drawn.")
    event = walk.server.parts.keeper.event
    semifinals = [find_match(event, match) for match in ("W1-1", "W1-2")]
    check(all(Progress(event).is_ready(match) for match in semifinals), "lots fill the bracket")


def pool_winner_withdraws(walk: Walk) -> None:
    """Who won a pool leaves before the semifinal: the next one has the place, and nobody wins without playing."""
    before = walk.server.parts.keeper.event
    first, second, third = (line.entrant for line in pool_standings(before, "A")[:3])
    name = next(entrant.name for entrant in before.entrants if entrant.id == first)
    semifinals = ("W1-1", "W1-2")

    def players() -> set[str | None]:
        progress = Progress(walk.server.parts.keeper.event)
        sides = (progress.sides(find_match(walk.server.parts.keeper.event, match)) for match in semifinals)
        return {side for pair in sides for side in pair}

    playing = players()
    expect(walk.hall.locator("#now")).to_contain_text(name)
    for page in (walk.desktop, walk.phone):
        dialog = walk.open_coach(page, name)
        dialog.get_by_role("button", name="Withdraw").click()
        expect(dialog).to_be_hidden()
        check(f"Withdraw {name}?" in walk.asked[-1], "a withdrawal asks first")
        expect(walk.hall.locator("#now")).not_to_contain_text(name)
        check(players() == playing - {first} | {third}, "who comes next in the pool plays the semifinal")
        event = walk.server.parts.keeper.event
        check(all(find_match(event, match).result is None for match in semifinals), "nobody forfeits a semifinal")
        check(pool_standings(event, "A")[0].entrant == second, "the second of the pool is its first then")
        walk.tab(walk.desktop, "Standings")
        expect(walk.desktop.locator("#standings .pool").first).to_contain_text("withdrew")
        walk.picture("pool-winner-withdrew")
        if page is walk.desktop:
            walk.desktop.locator("#undo button").click()
            expect(walk.hall.locator("#now")).to_contain_text(name)
            check(players() == playing, "an undone withdrawal gives the place back")


def to_the_final(walk: Walk) -> None:
    """A tie in a bracket is refused on the phone; a corrected semifinal does not turn round a final in play unasked."""
    walk.open_game(walk.phone, "W1-1")
    walk.fill(walk.phone, 7, 7)
    walk.refusal(walk.phone, "can't be a tie")
    walk.picture("refused-on-the-phone")
    walk.phone.locator("dialog").get_by_role("button", name="Cancel").click()
    walk.enter(walk.phone, "W1-1", 14, 7)
    walk.enter(walk.desktop, "W1-2", 21, 0)
    walk.report("FINAL", "in_play")
    expect(walk.hall.locator(".game.in_play").first).to_be_visible()
    walk.denied = "FINAL is in play"
    walk.open_game(walk.desktop, "W1-1")
    walk.fill(walk.desktop, 7, 14)
    walk.refusal(walk.desktop, "Nothing was changed")
    check("FINAL is in play" in walk.asked[-1], "a correction asks where it would turn round a game in play")
    walk.desktop.locator("dialog").get_by_role("button", name="Cancel").click()
    walk.denied = ""
    walk.phone.goto(f"{walk.server.url}/")
    walk.phone.locator("#send-text").fill("Prizes at 17:00")
    walk.phone.get_by_role("button", name="Send", exact=True).click()
    expect(walk.hall.locator("#announcements")).to_contain_text("Prizes at 17:00")
    walk.picture("final-in-play")
    walk.report("FINAL", "signed", (13, 6), 2)
    expect(walk.hall.locator(".podium li").first).to_be_visible()
    walk.picture("champion")


def bracket_of_five(walk: Walk) -> None:
    """A double elimination of five on the big screen, with byes and what is played only if needed."""
    url = walk.server.url
    httpx.post(f"{url}/api/event", json={"name": "Five"}, params={"confirmed": True}).raise_for_status()
    lines = "\n".join(COACHES.splitlines()[:6])
    httpx.post(f"{url}/api/event/entrants.csv", content=lines, headers={"Content-Type": "text/csv"}).raise_for_status()
    rules = httpx.get(f"{url}/api/event").json()["rules"]
    httpx.put(f"{url}/api/event/rules", json={**rules, "elimination": "double"}).raise_for_status()
    httpx.post(f"{url}/api/event/draw").raise_for_status()
    walk.desktop.goto(f"{url}/event#standings")
    walk.phone.goto(f"{url}/event#standings")
    expect(walk.desktop.locator(".game.bye")).not_to_have_count(0)
    expect(walk.desktop.locator("#standings")).to_contain_text("If needed")
    walk.hall.reload()
    expect(walk.hall.locator("#turning")).to_contain_text("Losers' bracket")
    expect(walk.hall.locator(".game.bye").first).to_be_visible()
    for part in walk.hall.locator("#turning .game").all():
        box = part.bounding_box()
        check(box is not None and box["x"] + box["width"] <= 1920, "a bracket of five fits on the big screen")
    walk.picture("five")


STEPS: tuple[Callable[[Walk], None], ...] = (
    begin,
    keep_what_is_in_play,
    late_entrant,
    swap_two_games,
    two_directors,
    forgotten_result,
    tie_of_three,
    pool_winner_withdraws,
    to_the_final,
)


def main() -> int:
    """Walk through the event and print what was not held; return 1 if anything was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/event-walk"))
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    tables, began_s = BrokerTables(), time.monotonic()
    for name in RIGS:
        tables.note(TableMessage(RigKey.generate().public_text, name, "health", {"level": "ok"}))
    tournament = SimpleNamespace(statuses=tables.statuses, tables=tables, pushes=PushKeeper())
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        server = DeskServer(Path(folder), tournament=cast("DeskTournament", tournament))
        with page_in(chrome) as desktop, page_in(chrome, phone=True) as phone, page_in(chrome) as hall:
            walk = Walk(server, desktop, phone, hall, out)
            for page in (desktop, phone):
                page.on("dialog", walk.decide)
            for step in STEPS:
                step(walk)
            event = server.parts.keeper.event
            for match, score in walk.saved.items():
                result = find_match(event, match).result
                held = result is not None and (result.home, result.away) == score
                check(
                    held, f"{match} is {score[0]} to {score[1]} as it was saved" + ("" if held else f", not {result}")
                )
            bracket_of_five(walk)
        server.close()
    passed_s = time.monotonic() - began_s
    sys.stdout.write(f"{len(walk.saved)} results, {walk.pictures} times 3 pictures in {out}, {passed_s:.0f} s; ")
    sys.stdout.write(f"{len(FAULTS)} not held of {len(CHECKED)} checks\n")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
