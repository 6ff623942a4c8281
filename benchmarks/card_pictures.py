"""Accuracy of reading photos of play cards: cards and photos drawn at random by `tests/card_photos.py`.

    PYTHONPATH=tests python benchmarks/card_pictures.py --photos 60

Each card has another font, other colors, places of its windows and results; each photo another angle, light, blur and
noise, one in two turned by a quarter or half a turn. A result counts as right when its text and its dot are.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from card_photos import CardLook, PrintedResult, photograph
from strip import wilson

from downfield.vision.card_photo import SURE, read_card

COLORS = ("black", "red", "blue")
SEED = 77_000


def draw_windows(rng: np.random.Generator) -> list[list[PrintedResult]]:
    """Return the results of a card's five windows; one card in five has its inks in another order."""
    order = list(COLORS if rng.random() < 0.8 else rng.permutation(COLORS))
    return [[_result(str(color), rng) for color in order] for _ in range(5)]


def _result(color: str, rng: np.random.Generator) -> PrintedResult:
    kind, yards = rng.random(), int(rng.integers(1, 60))
    if kind < 0.3:
        return PrintedResult(color, "inc" if kind < 0.15 else f"{yards}i")
    shown = f"{yards}F" if kind < 0.4 else f"-{int(rng.integers(1, 12))}" if kind < 0.55 else str(yards)
    return PrintedResult(color, shown, COLORS[int(rng.integers(3))])


def read_photo(number: int, counts: Counter[str]) -> None:
    """Draw and read one photo."""
    rng = np.random.default_rng([SEED, number])
    windows = draw_windows(rng)
    turn = float(rng.choice([0, 0, 0, 90, 180, 270]))
    size = (1200, 1600) if rng.random() < 0.6 else (900, 1200)
    reading = read_card(photograph(windows, CardLook(SEED + number, turn, size, float(rng.uniform(0.5, 2.0)))))
    if not reading.windows:
        counts["photos without windows"] += 1
        return
    for read, printed in zip(reading.windows, windows, strict=True):
        for result in printed:
            text = next(text for color, text in read.items() if color == result.color)
            right = (text.shown, text.dot) == (result.shown, result.dot)
            counts["unsure" if text.confidence < SURE else "right" if right else "wrong"] += 1


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for number in range(given.first, given.first + given.photos):
        read_photo(number, counts)
    read = counts["right"] + counts["wrong"] + counts["unsure"]
    low, high = wilson(counts["right"], read)
    print(f"{given.photos} photos: {counts['right']} of {read} results right ({low:.1%} to {high:.1%})", end="")
    print(", ".join(["", *(f"{counts[kind]} {kind}" for kind in ("unsure", "wrong", "photos without windows"))]))


if __name__ == "__main__":
    main()
