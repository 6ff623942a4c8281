"""Measures the speed of officiating: a 60-minute game at 60 frames/s, parsing included, and single live steps.

Run it with ``python benchmarks/officiating.py [MINUTES [RULEBOOK]]``. The game repeats one scripted play of 12
seconds: the board is on for ten of them, 22 figures drift, linemen are in contact, and the carrier is tackled at the
end.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator

from downfield.core.field.model import preset
from downfield.core.records import from_json, to_json
from downfield.core.scene import Contact, Figure, Jersey, Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, LineUpDeclared, SetUp
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

FPS = 60
PLAY_S = 12
FIELD = preset("ultimate")
SIDES: tuple[Jersey, ...] = ("dark", "light")
PLAYERS = tuple(Player(f"{jersey}-{n}", jersey) for jersey in SIDES for n in range(11))


def play_scenes() -> list[Scene]:
    """Return one play: the carrier ``dark-0`` runs through open field until ``light-0`` tackles him."""
    line_mm = 40 * FIELD.mm_per_yd_x
    scenes = []
    for k in range(PLAY_S * FPS):
        t_s = k / FPS
        on = 1.0 <= t_s < 11.0
        run = min(max(t_s - 1.0, 0.0), 9.0) * 20.0
        figures = [figure(0, "dark", line_mm - 60 + run, 120.0, 0.0)]
        figures.append(figure(0, "light", line_mm - 60 + 9.0 * 20.0 + 30.0, 120.0, 180.0))
        for n in range(1, 11):
            sway = 2.0 * math.sin(t_s + n)
            figures.append(figure(n, "dark", line_mm - 20 + sway, 150.0 + 25.0 * n, 3.0 * sway))
            figures.append(figure(n, "light", line_mm + 10 + sway, 150.0 + 25.0 * n, 180.0 + 3.0 * sway))
        contacts = [
            Contact(f"dark-{n}", f"light-{n}", 0.1, 0.2, 0.7, "front", "front", 1.0, 17.0, 0) for n in range(1, 11)
        ]
        if t_s >= 10.0:
            contacts.append(Contact("dark-0", "light-0", 0.0, 0.1, 0.99, "front", "front", 0.0, 18.0, 10_000_000_000))
        scenes.append(Scene(k, round(t_s * 1e9), "on" if on else "off", tuple(figures), tuple(contacts)))
    return scenes


def figure(n: int, jersey: Jersey, x_mm: float, y_mm: float, heading_deg: float) -> Figure:
    """Return a figure as vision would report it."""
    return Figure(
        f"{jersey}-{n}",
        jersey,
        x_mm,
        y_mm,
        heading_deg,
        30.0,
        18.0,
        1.0,
        "upright",
        (0.2, 0.2),
        0.5,
        0.95,
        (x_mm + 1.2, y_mm + 0.4),
    )


def lines(minutes: float) -> Iterator[str]:
    """Yield the track file's lines, without the header."""
    tails = [to_json(Scene, scene).split(",", 2)[2] for scene in play_scenes()]
    for k in range(round(minutes * 60 * FPS)):
        t_ns = round(k / FPS * 1e9)
        since = k // len(tails) * PLAY_S
        tail = tails[k % len(tails)]
        if since:
            tail = tail.replace('"since_ns":10000000000', f'"since_ns":{10_000_000_000 + since * 1_000_000_000}')
        yield f'{{"frame":{k},"t_ns":{t_ns},{tail}'


def declared(minutes: float) -> list[Event]:
    """Return the set-up and the carrier of each play."""
    events = []
    for n in range(math.ceil(minutes * 60 / PLAY_S)):
        t_ns = n * PLAY_S * 1_000_000_000
        events.append(Event(f"s{n}", t_ns, "operator", SetUp("home", 1, 40.0)))
        events.append(Event(f"c{n}", t_ns, "operator", Carrier("dark-0")))
    return events


def judged(minutes: float, rulebook: str) -> list[str]:
    """Return the calls of the game, each as one line of JSON."""
    scenes = (from_json(Scene, line, path="benchmark") for line in lines(minutes))
    made = judge_recording(scenes, declared(minutes), load_rulebook(rulebook), FIELD, players=PLAYERS)
    return [to_json(Call, call) for call in made.calls]


def main() -> None:
    """Measure and print both times."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rulebook = load_rulebook(*sys.argv[2:3])
    scenes = (from_json(Scene, line, path="benchmark") for line in lines(minutes))
    start = time.process_time()
    made = judge_recording(scenes, declared(minutes), rulebook, FIELD, players=PLAYERS)
    cpu_s = time.process_time() - start
    print(f"{minutes:g} minutes at {FPS} Hz: {cpu_s:.1f} s of CPU time, {len(made.calls)} calls, parsing included")
    steps = sorted(live_steps(rulebook))
    p50, p99 = steps[len(steps) // 2], steps[int(len(steps) * 0.99)]
    print(f"live step: median {p50 / 1e3:.0f} us, p99 {p99 / 1e3:.0f} us, worst {steps[-1] / 1e3:.0f} us")


def live_steps(rulebook: Rulebook) -> Iterator[int]:
    """Yield the nanoseconds of every step over a minute of play."""
    engine = RulesEngine(rulebook, FIELD)
    for _ in range(5):
        state = engine.begin()
        for body in (LineUpDeclared(PLAYERS), SetUp("home", 1, 40.0), Carrier("dark-0")):
            state, _calls = engine.step(state, Event(body.type, 0, "operator", body))
        for scene in play_scenes():
            start = time.perf_counter_ns()
            state, _calls = engine.step(state, scene)
            yield time.perf_counter_ns() - start


if __name__ == "__main__":
    main()
