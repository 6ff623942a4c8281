"""Watches a whole game of four minutes on air as viewers do: no action hidden, no text cut, nothing that only flashes.

python benchmarks/on_air_film.py [--minutes 4] [--pictures FOLDER]

Twelve plays, all over the board, with everyday calls, tackles, splashes for a touchdown, first downs and turnovers, a
close call, a challenge that is decided, a flag, the last play in words, cards, lower thirds, a message that stays,
halftime over all, sponsors, hands at the board and a camera that is lost for five seconds, run through the service and
the scene overlay in a real browser: at 1920 x 1080, 1280 x 720 and 800 x 600, with team names of 4 and of 45 letters.
The pages' clocks are the film's. They are looked at ten times a second of it.

Printed by size and names: how many pixels of carrier, ball and contact lay under a graphic within half a second of a
call; texts that were cut; graphics that were seen for less than two seconds. How many pixels of the carrier's and the
tackler's bases the program itself paints over comes last. Needs Chromium: named by CHROMIUM, or found in PATH.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browsers import PageServer, browser
from overlay_pages import a_call
from playwright.sync_api import Browser, Page
from waiting import wait_until

from downfield.broadcast.program.program_painter import ProgramMoment, ProgramPainter
from downfield.calibration.calibration import Calibration
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.scene import Contact, Figure, Player, Scene
from downfield.game.published import hub
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.game.published.game_topics import CallsUpdate, ReadingView
from downfield.game.published.stream_topics import GraphicRow, GraphicView, ProgramOptions, SponsorsView
from downfield.game.receipts import Submission
from downfield.game.records.challenges import ChallengesView, ChallengeView
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.officiating.declarations import Carrier, SetUp
from downfield.review.pictures.projection import picture_view

PLAY_S: Final = 20.0
RUNS: Final = (30.0, 290.0, 555.0, 150.0, 440.0, 20.0)
"""Where carriers run, mm across the board: also along both sidelines, under whatever stands at the edges."""
SPOTS: Final = (20.0, 45.0, 70.0, 8.0)
SIZES: Final = ((1920, 1080), (1280, 720), (800, 600))
NAMES: Final = (
    ("Oaks", "Rams"),
    ("Sportgemeinschaft Donaudampfschifffahrts 1897", "The Gentlemen of Upper Oakdale-on-the-Waters"),
)
NEAR_CALL_S: Final = 0.5
FLASH_S: Final = 2.0
OPAQUE: Final = 0.3
"""What is fainter lets the action be seen through it."""
FIGURE_MM: Final = 22.0
"""Around a base's middle: base and body, as the camera sees them."""
CONTACT_MM: Final = 10.0

_SAMPLER: Final = """
const Native = WebSocket;
window.WebSocket = class extends Native {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") return;
      const { topic, data: value } = JSON.parse(data);
      const game = topic === "snapshot" ? value.game : topic === "game" ? value : undefined;
      if (game) window.marker = game.t_ns;
    });
  }
};
window.samples = [];
const shown = (element) => {
  const box = element.getBoundingClientRect();
  let opacity = 1;
  for (let at = element; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (style.visibility === "hidden" || style.display === "none") return null;
    opacity *= Number(style.opacity);
  }
  return opacity > 0.05 && box.width > 1 && box.height > 1 ? [box.left, box.top, box.right, box.bottom, opacity] : null;
};
const cut = (element) => {
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const texts = [...element.querySelectorAll("*")].filter(hasText);
  return texts.filter((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    if (right <= left || !shown(one)) return false;
    const outside = left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1;
    for (let at = one; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      if (left < box.left - 1.5 || right > box.right + 1.5 || top < box.top - 3 || bottom > box.bottom + 3) return true;
    }
    return outside;
  }).map((one) => one.textContent);
};
const GRAPHICS = ".bar, .status, .flag, .banner, .card, .full, .replay, .sponsors .on, .map, .url-errors";
const keyOf = ({ classList, className, dataset, textContent }) => {
  if (classList.contains("status")) return `status: ${textContent}`;
  const name = classList.contains("splash") ? "splash" : "banner";
  return dataset.call ? `${name} ${dataset.call}` : className.replace(" aside", "");
};
const sample = () => {
  for (const animation of document.getAnimations()) animation.finish();
  const graphics = [...document.querySelectorAll(GRAPHICS)].flatMap((element) => {
    const box = shown(element);
    return box === null ? [] : [{ key: keyOf(element), box, cut: cut(element) }];
  });
  if (document.querySelector("iframe")) return;
  samples.push({ at_ms: performance.now(), width: innerWidth, graphics });
};
addEventListener("DOMContentLoaded", () => setInterval(sample, 100));
"""

_HEARD: Final = "(marker) => Array.from(frames).every((frame) => [undefined, marker].includes(frame.marker))"

Box = tuple[float, float, float, float]


@dataclass
class Watched:
    """What viewers of one source saw.

    Attributes:
        hidden: pixels of the action that lay under each kind of graphic.
        cut: texts that were cut.
        runs_s: for how long each graphic was seen, every time it was.
    """

    page: Page
    size: tuple[int, int]
    names: tuple[str, str]
    hidden: Counter[str] = field(default_factory=Counter)
    cut: set[str] = field(default_factory=set)
    runs_s: list[tuple[str, float]] = field(default_factory=list)
    since_s: dict[tuple[int, str], float] = field(default_factory=dict)
    boxes: list[tuple[float, str, Box]] = field(default_factory=list)

    def take(self, began_ms: float) -> None:
        """Take what was seen since the last time."""
        for place, frame in enumerate(self.page.frames):
            for one in frame.evaluate("() => (window.samples ?? []).splice(0)"):
                at_s = (one["at_ms"] - began_ms) / 1000
                now = {graphic["key"]: graphic for graphic in one["graphics"]}
                for key, graphic in now.items():
                    self.since_s.setdefault((place, key), at_s)
                    scale = self.size[0] / one["width"]  # a part of the scene is laid out for 1920 pixels
                    left, top, right, bottom = (scale * value for value in graphic["box"][:4])
                    if graphic["box"][4] > OPAQUE:
                        self.boxes.append((at_s, key, (left, top, right, bottom)))
                    self.cut.update(f"{key}: {text}" for text in graphic["cut"])
                for gone in [known for known in self.since_s if known[0] == place and known[1] not in now]:
                    self.runs_s.append((gone[1], at_s - self.since_s.pop(gone)))

    def measure(self, called_s: list[float], action: Callable[[float], list[Box]], picture: tuple[int, int]) -> None:
        """Count the pixels of the action under graphics within half a second of the calls."""
        width, height = self.size
        fit = min(width / picture[0], height / picture[1])
        left, top = (width - fit * picture[0]) / 2, (height - fit * picture[1]) / 2
        for at_s, key, box in self.boxes:
            if not any(abs(at_s - called) <= NEAR_CALL_S for called in called_s):
                continue
            for part in action(at_s):
                x0, y0, x1, y1 = (
                    share * fit * picture[place % 2] + (left, top)[place % 2] for place, share in enumerate(part)
                )
                wide, high = min(x1, box[2]) - max(x0, box[0]), min(y1, box[3]) - max(y0, box[1])
                if wide > 0 and high > 0:
                    self.hidden[key.split(" ")[0]] += round(wide * high)

    def flashes(self) -> list[str]:
        """Return what was seen for less than two seconds, with how long."""
        return [f"{key} {seconds:.1f} s" for key, seconds in self.runs_s if seconds < FLASH_S]


class Film:
    """The plays: where everybody is at any time.

    Args:
        roster: of both teams, as the recording that comes with Downfield has it.
    """

    def __init__(self, roster: tuple[Player, ...], calibration: Calibration) -> None:
        self.calibration, self._field = calibration, calibration.field
        dark = [one.id for one in roster if one.jersey == "dark"]
        light = [one.id for one in roster if one.jersey == "light"]
        self.carrier, self.tackler = "dark-28", "light-24"
        self._dark = [name for name in dark if name != self.carrier]
        self._light = [name for name in light if name != self.tackler]

    def play(self, at_s: float) -> tuple[int, float]:
        """Return the number of the play, from 0, and the seconds since it was set up."""
        return int(at_s // PLAY_S), at_s % PLAY_S

    def spot_yd(self, number: int) -> float:
        """Return where a play begins."""
        return SPOTS[number % len(SPOTS)]

    def places_mm(self, at_s: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return where carrier and tackler are."""
        number, t_s = self.play(at_s)
        line, y = self.spot_yd(number) * self._field.mm_per_yd_x, RUNS[number % len(RUNS)]
        run = min(max(t_s - 1.0, 0.0), 7.0) * 24.0
        end = line - 60 + 7.0 * 24.0 + 30.0
        return (line - 60 + run, y), (end + 40.0 - min(max(t_s - 1.0, 0.0), 7.0) * 40.0 / 7.0, y)

    def scene(self, at_s: float, frame: int) -> Scene:
        """Return what the camera sees."""
        number, t_s = self.play(at_s)
        carrier, tackler = self.places_mm(at_s)
        line, t_ns = self.spot_yd(number) * self._field.mm_per_yd_x, round(at_s * 1e9)
        figures = [_figure(self.carrier, *carrier, 0.0), _figure(self.tackler, *tackler, 180.0)]
        contacts = []
        for place, (dark, light) in enumerate(zip(self._dark, self._light, strict=True)):
            sway, y = 2.0 * math.sin(at_s + place), 45.0 + 54.0 * place
            figures += [_figure(dark, line - 18 + sway, y, 0.0), _figure(light, line + 14 + sway, y, 180.0)]
            contacts.append(Contact(dark, light, 0.1, 0.2, 0.7, "front", "front", 1.0, 17.0, 0))
        if t_s >= 8.0:
            touched_ns = round((number * PLAY_S + 8.0) * 1e9)
            contacts.append(
                Contact(self.carrier, self.tackler, 0.0, 0.1, 0.99, "front", "front", 0.0, 18.0, touched_ns)
            )
        return Scene(frame, t_ns, "on" if 1.0 <= t_s < 9.0 else "off", tuple(figures), tuple(contacts))

    def action(self, at_s: float) -> list[Box]:
        """Return the parts of the picture, 0..1, where carrier and ball are, and from the touch on the contact."""
        carrier, tackler = self.places_mm(at_s)
        parts = [self._part(carrier, FIGURE_MM)]
        if self.play(at_s)[1] >= 8.0 - NEAR_CALL_S:
            middle = ((carrier[0] + tackler[0]) / 2, carrier[1])
            parts += [self._part(tackler, FIGURE_MM), self._part(middle, CONTACT_MM)]
        return parts

    def _part(self, middle: tuple[float, float], around_mm: float) -> Box:
        corners = [(middle[0] + x, middle[1] + y) for x in (-around_mm, around_mm) for y in (-around_mm, around_mm)]
        px = self.calibration.camera.to_pixels(np.array(corners)) / self.calibration.camera.lens.size_px
        (x0, y0), (x1, y1) = px.min(axis=0).tolist(), px.max(axis=0).tolist()
        return x0, y0, x1, y1


def _figure(name: str, x_mm: float, y_mm: float, heading_deg: float) -> Figure:
    jersey: Any = name.split("-")[0]
    place = (x_mm, y_mm, heading_deg, 30.0, 18.0, 1.0)
    return Figure(name, jersey, *place, "upright", (0.2, 0.2), 0.5, 0.95, (x_mm + 1.2, y_mm + 0.4))


class FilmClock:
    """Dates the messages by the film while it runs: the pages' clocks are it, and what is five seconds old is late."""

    def __init__(self) -> None:
        self.ms: int | None = None

    def now_ms(self) -> int:
        """Return the time, ms; that of the film while it runs."""
        return RUN_CLOCK.now_ms() if self.ms is None else self.ms


class Showing:
    """Runs the film through the service, and what a producer does beside it."""

    def __init__(self, service: PageServer, film: Film) -> None:
        self._service, self._film, self._frame = service, film, 0
        self._number = -1
        self.called_s: list[float] = []
        self._calls: set[str] = set()

    def until(self, from_s: float, to_s: float) -> None:
        """Show what happens in a span."""
        game_service, hub = self._service.game_service, self._service.hub
        for at_s in (tenth / 10 for tenth in range(round(10 * from_s), round(10 * to_s))):
            number, t_s = self._film.play(at_s)
            if number != self._number:
                self._number = number
                for body in (SetUp("home", 1, self._film.spot_yd(number)), Carrier(self._film.carrier)):
                    game_service.declare(body, Submission("operator"))
            game_service.take(self._film.scene(at_s, self._frame))
            self._frame += 1
            for text, at in self._beside(number):
                if at <= t_s < at + 0.099:
                    text()
        for call in (hub.value("calls") or CallsUpdate(calls=())).calls:
            if call.id not in self._calls:
                self._calls.add(call.id)
                self.called_s.append(call.t_ns / 1e9)

    def _beside(self, number: int) -> Iterator[tuple[Callable[[], None], float]]:
        """Yield what is done beside a play, with the second of the play."""
        publish, game = self._service.publish, self._service.hub.value("game").game
        hands = HealthStatus(calls="suspended", setting_up=True)
        for at in np.arange(11.0, 17.0, 1.0).tolist():  # hands come and go
            yield lambda: publish("health", hands), at
            yield lambda: publish("health", HealthStatus()), at + 0.5
        if number % 4 == 1:
            rows = (GraphicRow(label="Plays", values=("4",)), GraphicRow(label="Yards", values=("31",)))
            card = GraphicView(
                take=number,
                kind="drive",
                title=self._service.hub.value("game").home.name,
                side="home",
                rows=rows,
                seconds=5,
            )
            yield lambda: publish("graphic", card), 11.0
        if number == 3:
            readings = (
                ReadingView(kind="tackle", probability=0.6, text="tackled"),
                ReadingView(kind="info", probability=0.4, text="no contact"),
            )
            close = a_call(
                id="close",
                verdict="too_close",
                standing="open",
                t_ns=round((number * PLAY_S + 8.5) * 1e9),
                readings=readings,
            )
            yield lambda: publish("calls", CallsUpdate(game=game, calls=(close,))), 9.0
        great = {2: "first_down", 4: "interception", 7: "turnover_on_downs", 9: "penalty", 11: "first_down"}.get(number)
        if great is not None:
            told = a_call(
                id=f"{great}:{number}",
                kind=great,
                text=great.replace("_", " "),
                side="home",
                t_ns=round((number * PLAY_S + 8.2) * 1e9),
            )
            yield lambda: publish("calls", CallsUpdate(game=game, calls=(told,))), 8.5
        if number in {7, 10}:
            name = "Bartholomew Featherstonehaugh-Cholmondeley III" if number == 7 else "Ann Lee"
            third = GraphicView(
                take=number, kind="lower_third", title=name, subtitle="Commentator", side="away", seconds=5
            )
            yield lambda: publish("graphic", third), 8.6
        if number == 10:
            teams = (self._service.hub.value("game").away, self._service.hub.value("game").home)
            half = GraphicView(take=99, kind="halftime", title="Halftime", teams=teams, until_ms=1, seconds=4)
            yield lambda: publish("graphic", half), 14.0
        if number == 11:
            message = GraphicView(take=100, kind="message", title="Welcome to the finals", seconds=0)
            yield lambda: publish("graphic", message), 0.5
            yield lambda: publish("graphic", GraphicView(take=101)), 18.0
        if number == 5:
            scored = a_call(
                id="touchdown",
                kind="touchdown",
                text="dark-28 scores: touchdown",
                side="home",
                t_ns=round((number * PLAY_S + 8.2) * 1e9),
            )
            yield lambda: publish("calls", CallsUpdate(game=game, calls=(scored,))), 8.5
        if number == 6:
            raised = ChallengeView(
                id="challenge-1",
                side="away",
                call="tackle:x",
                text="dark-28 tackled by light-24",
                reason="there was daylight",
                by="Ann",
            )
            decided = raised.model_copy(update={"decision": "overturned", "ruling_reason": "daylight on the film"})
            yield lambda: publish("challenges", ChallengesView(game=game, challenges=(raised,))), 11.0
            yield lambda: publish("challenges", ChallengesView(game=game, challenges=(decided,))), 16.0
        if number == 8:
            lost = HealthStatus(
                level="alarm",
                calls="suspended",
                reasons=(HealthReason(code="camera_lost", level="alarm", text="The camera is lost"),),
            )
            yield lambda: publish("health", lost), 4.0
            yield lambda: publish("health", HealthStatus()), 9.0


CLOCK: Final = FilmClock()


def watch(
    running: Browser,
    service: PageServer,
    film: Film,
    names: tuple[str, str],
    seconds: float,
    pictures: Path | None = None,
    from_s: float = 0.0,
) -> list[Watched]:
    """Show the film with two team names to a source of every size; return what was seen of it."""
    home, away = (
        TeamSheet(name=name, short="".join(word[0] for word in name.split())[:4].upper() if len(name) > 4 else name)
        for name in names
    )
    players = open_clip(bundled_demo()).tracks.header.players
    service.game_service.start_game(NewGame(home=home, away=away), players)
    service.hub.publish("picture", picture_view(film.calibration.camera, film.calibration.field))
    seen = []
    for size in SIZES:
        page = running.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
        page.add_init_script(_SAMPLER)
        page.clock.install()
        page.goto(f"{service.url}/overlay/scene")
        wait_until(partial(_is_live, page))
        seen.append(Watched(page, size, names))
    for one in seen:
        one.page.clock.pause_at(one.page.evaluate("Date.now()") / 1000 + 1)
        one.take(0.0)
        for before in (one.boxes, one.since_s, one.runs_s, one.cut):
            before.clear()
    began = [one.page.evaluate("performance.now()") - 1000 * from_s for one in seen]
    showing, at_s = Showing(service, film), from_s
    began_film_ms = CLOCK.now_ms()
    while at_s < seconds:
        step = 0.2 if 6.0 <= film.play(at_s)[1] < 13.0 else 1.0
        CLOCK.ms = began_film_ms + round(1000 * (at_s - from_s))
        showing.until(at_s, at_s + step)
        service.publish("game", t_ns=round(at_s * 1e9) + 1)
        for one, began_ms in zip(seen, began, strict=True):
            wait_until(partial(one.page.evaluate, _HEARD, round(at_s * 1e9) + 1))
            one.page.clock.run_for(round(step * 1000))
            one.take(began_ms)
            if pictures is not None and film.play(at_s)[1] == 8.4:
                one.page.screenshot(path=pictures / f"{one.size[0]}-{len(names[0])}-{at_s:03.0f}.png")
        at_s = round(at_s + step, 1)
    CLOCK.ms = None
    for one in seen:
        one.measure(showing.called_s, film.action, film.calibration.camera.lens.size_px)
        one.page.context.close()
    return seen


def _is_live(page: Page) -> bool:
    parts = page.frames[1:]
    return len(parts) == 5 and all(part.locator("html").get_attribute("data-link") == "live" for part in parts)


def painted_over(film: Film, seconds: float) -> int:
    """Return how many pixels of the carrier's and the tackler's base tops the program painted, at every tackle."""
    camera, painter = film.calibration.camera, ProgramPainter()
    painter.calibrate(film.calibration)
    width, height = camera.lens.size_px
    plain = np.full((height, width, 3), 90, np.uint8)
    changed = 0
    for number in range(int(seconds // PLAY_S)):
        scene = film.scene(number * PLAY_S + 8.2, number)
        painted = painter.draw(plain, scene, camera, ProgramMoment(None, film.carrier, ()), ProgramOptions())
        mask = np.zeros((height, width), np.uint8)
        for figure in scene.figures[:2]:
            corners = np.concatenate([figure.footprint.corners_mm(), np.full((4, 1), 5.5)], axis=1)
            cv2.fillPoly(mask, [np.round(camera.to_pixels(corners)).astype(np.int32)], 1)
        inside = cv2.erode(mask, np.ones((3, 3), np.uint8)) > 0
        changed += int(((painted != plain).any(axis=2) & inside).sum())
    return changed


def main() -> None:
    """Read the command line, watch, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of every tackle")
    given = parser.parse_args()
    seconds = 60 * given.minutes
    clip = open_clip(bundled_demo())
    film = Film(clip.tracks.header.players, clip.calibration)
    if given.pictures is not None:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with browser() as running, mock.patch.object(hub, "RUN_CLOCK", CLOCK):
        for names in NAMES:
            with tempfile.TemporaryDirectory() as folder:
                service = PageServer(Path(folder))
                service.start()
                service.hub.publish("sponsors", SponsorsView(shown=True, logos=("0" * 32,), seconds=6))
                seen = watch(running, service, film, names, seconds, given.pictures)
                service.stop()
            for one in seen:
                hidden = "".join(f", {key} {pixels}" for key, pixels in one.hidden.items())
                print(
                    f"{one.size[0]} x {one.size[1]}, names of {len(one.names[0])} letters:"
                    f" {sum(one.hidden.values())} pixels of the action hidden{hidden}, {len(one.cut)} texts cut,"
                    f" {len(one.flashes())} flashes, {len(one.boxes)} graphics looked at"
                )
                for line in [*sorted(one.cut)[:6], *one.flashes()[:6]]:
                    print(f"  {line}")
    print(f"pixels of carrier and tackler that the program painted over: {painted_over(film, seconds)}")


if __name__ == "__main__":
    main()
