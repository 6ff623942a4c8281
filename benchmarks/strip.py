"""Accuracy of reading NFL Strategy's strip: whole filmed games of the twin.

    python benchmarks/strip.py --moves 60 --looks 1        # --renderer traced: photoreal, and slow

A game is filmed play by play: hands reach in and set the slide, the ball and the dials, some dials stop half way, lamps
glare in the plastic. A reading is taken when the reader says that the strip is settled; it is right, wrong, or unsure
(confidence below 0.9). A dial of which a lamp's mirror image leaves too little in the picture (`strip_visibility`) has
no settled reading: it is counted by itself, and must not be read wrong. Intervals are Wilson's at 95 %.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from strip_visibility import SHARE, visible_shares

from downfield.core.errors import CalibrationError
from downfield.core.strip import StripSet, load_strip
from downfield.twin.render.renderers import RENDERERS, RendererName
from downfield.twin.strip.clip import StripFilm, StripFrame, StripMoment
from downfield.twin.strip.game import StripMove, play_moves
from downfield.twin.strip.look import StripState, draw_look, turned
from downfield.twin.table.snapshot import HandPose
from downfield.vision.strip.strip_calibration import calibrate_strip
from downfield.vision.strip.strip_reader import StripReader, StripReading

STEP_NS = 200_000_000
SURE, TOO_SURE = 0.9, 0.95


class Tally:
    """Counts readings of each kind by their outcome."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, kind: str, read: object, confidence: float, truth: object) -> None:
        """Count one reading; a truth of None is a state that no reading may claim to know."""
        row = self.counts[kind]
        known = read is not None and confidence >= SURE
        if truth is None:
            row["half-set, read" if known else "half-set, unsure"] += 1
        else:
            row["unsure" if not known else "right" if read == truth else "wrong"] += 1
            row["best guess right"] += read == truth
        row["wrong, confidence > 0.95"] += read is not None and read != truth and confidence > TOO_SURE

    def text(self) -> str:
        """Return the counts as lines."""
        lines = []
        for kind, row in self.counts.items():
            settled = row["right"] + row["wrong"] + row["unsure"]
            low, high = wilson(row["best guess right"], settled)
            parts = f"{row['best guess right']}/{settled} right ({low:.2%} to {high:.2%})"
            sure = f"of those said {row['right']}, wrong {row['wrong']}, unsure {row['unsure']}"
            half = f"half-set: unsure {row['half-set, unsure']}, read {row['half-set, read']}"
            lines.append(f"{kind:9} {parts}; {sure}; {half}; wrong above 0.95: {row['wrong, confidence > 0.95']}")
        return "\n".join(lines)


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    if not total:
        return 0.0, 1.0
    share, spread = right / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def count_reading(
    tally: Tally, strip: StripSet, reading: StripReading, state: StripState, shares: tuple[float, ...] = ()
) -> None:
    """Count everything that a settled reading says; dials of which too small a share is visible by themselves."""
    slide = reading.slide
    tally.add("slide", slide.yard, slide.yard_confidence, round(state.slide_yd))
    tally.add("third", slide.third, slide.third_confidence, state.third)
    visible = shares or (1.0,) * len(strip.dials)
    for dial, face, share in zip(reading.dials, state.faces(strip), visible, strict=True):
        tally.add("dials" if share >= SHARE else "hidden", dial.face, dial.confidence, face)


def moments(moves: list[StripMove], strip: StripSet, rng: np.random.Generator) -> Iterator[StripMoment]:
    """Yield the moments of a game: a hand sets the strip, some dials stop half way, then it stands."""
    t_ns = STEP_NS
    before = moves[0].strip
    for number, move in enumerate(moves):
        hand = _hand(strip, move.strip, rng)
        mixed = dataclasses.replace(before, slide_yd=(before.slide_yd + move.strip.slide_yd) / 2 + 0.37)
        yield StripMoment((t_ns,), mixed, ((hand,),))
        state, t_ns = move.strip, t_ns + STEP_NS
        if number % 6 == 5:  # a dial that was not turned all the way, noticed and mended
            index = int(rng.integers(len(strip.dials)))
            half = turned(state, index, state.dials[index] + float(rng.uniform(0.3, 0.7)))
            times = tuple(t_ns + k * STEP_NS for k in range(4))
            yield StripMoment(times, half)
            t_ns += 4 * STEP_NS
            yield StripMoment((t_ns,), half, ((hand,),))
            t_ns += STEP_NS
        yield StripMoment(tuple(t_ns + k * STEP_NS for k in range(4)), state)
        t_ns += 4 * STEP_NS
        before = state


def _hand(strip: StripSet, state: StripState, rng: np.random.Generator) -> HandPose:
    """Return a hand at the slide or at a dial."""
    if rng.random() < 0.5:
        tip = (state.slide_yd * strip.field.mm_per_yd_x + rng.uniform(-8, 8), rng.uniform(5, 60), 4.0)
    else:
        dial = strip.dials[int(rng.integers(len(strip.dials)))]
        tip = (sum(dial.x_mm) / 2, dial.y_mm[0], 4.0)
    elbow = (tip[0] + rng.uniform(-150, 150), -330.0, 90.0)
    return HandPose(tuple(float(v) for v in tip), tuple(float(v) for v in elbow))  # type: ignore[arg-type]


def games(renderer: RendererName, looks: int, moves: int, first: int, size: tuple[int, int]) -> None:
    """Film games and print the tallies."""
    strip = load_strip()
    total = Tally()
    for seed in range(first, first + looks):
        tally, start = Tally(), time.monotonic()
        hands = one_game(tally, total, strip, renderer, seed, moves, size)
        seconds = time.monotonic() - start
        print(f"{renderer}, look {seed}: {hands} ({seconds:.0f} s)\n{tally.text()}", flush=True)
    print(f"all\n{total.text()}")


def one_game(
    tally: Tally, total: Tally, strip: StripSet, renderer: RendererName, seed: int, moves: int, size: tuple[int, int]
) -> str:
    """Film and read one game; return how its hands were noticed."""
    look = draw_look(strip, seed, split="test", size=size)
    film = StripFilm(look, renderer, seed=seed)
    played = list(play_moves(look.strip, seed, moves))
    frames = film.film([StripMoment((0,), played[0].strip), *moments(played, look.strip, np.random.default_rng(seed))])
    first = next(frames)
    try:
        printed = calibrate_strip([first.image], strip)
    except CalibrationError as error:
        return f"not calibrated: {error}"
    reader = StripReader(printed.strip, printed.camera, first.image)
    shares = visible_shares(look, renderer, played[0].strip)
    hands: Counter[str] = Counter()
    last: StripFrame | None = None
    settled: StripReading | None = None
    for frame in frames:
        reading = reader.read(frame.image, frame.t_ns)
        if last is not None and settled is not None and frame.state is not last.state:
            for each in (tally, total):
                count_reading(each, look.strip, settled, last.state, shares)
        if last is not None and frame.state is not last.state:
            hands["states read" if settled else "states never settled"] += not last.hands
            settled = None
        if frame.hands:
            hands["hands seen" if not reading.settled else "HANDS READ THROUGH"] += 1
        elif reading.settled:
            settled = reading
        last = frame
    seen = " ".join(f"{share:.0%}" for share in shares)
    return ", ".join(f"{name} {count}" for name, count in hands.items() if count) + f"; dials visible: {seen}"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", choices=RENDERERS, default="compositor")
    parser.add_argument("--looks", type=int, default=1)
    parser.add_argument("--first", type=int, default=2)
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--size", default="1920x1080")
    given = parser.parse_args()
    width, height = (int(side) for side in given.size.split("x"))
    games(given.renderer, given.looks, given.moves, given.first, (width, height))


if __name__ == "__main__":
    main()
