"""Measures what officiating says between its cases: where frames fall, chains of possession, spots that are off.

Run: python benchmarks/between_the_lines.py [phases] [readers] [errors]

`phases` films every situation at 20, 30, 60 and 120 frames/s from twelve parts of a frame on, and prints its answers:
one, or "too close". `readers` compares the engine with a second reader of the books over chains of possession. `errors`
draws spots by their stated error and prints how much of what is called is wrong; at most 5 % may be. Without a word it
runs all three.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import drawn_spots
import phase_situations
import read_kicks
import second_reader

DRAWS = 40


def phases() -> None:
    """Print the answers of every situation."""
    for name, situation in phase_situations.SITUATIONS.items():
        given = phase_situations.answers(situation)
        certain = [answer for answer in given if answer != "too close"]
        print(f"{'ok ' if len(certain) <= 1 else 'BAD'} {name}: {given}", flush=True)


def readers() -> None:
    """Print the chains of which engine and second reader do not say the same."""
    count, found = 0, 0
    for book in ("tap", "lions-den", "efl"):
        for links in range(3):
            count += sum(1 for _ in second_reader.chains(book, links))
            for teller in second_reader.TELLERS:
                for chain, told, made in second_reader.differences(book, links, teller):
                    found += 1
                    print(f"{book} {chain}, by {teller}: told {told}, made {made}")
    count += sum(1 for _ in second_reader.card_chains())
    for card, told, made in second_reader.card_differences():
        found += 1
        print(f"nfl-strategy {card}: told {told}, made {made}")
    for kick, made in read_kicks.kick_differences():
        found += 1
        print(f"{kick}: made {made}")
    count += len(read_kicks.kick_cases())
    print(f"{count} chains, kicks and cards, {found} differences")


def errors() -> None:
    """Print how much of what is called of drawn spots is wrong."""
    for book in ("tap", "efl", "lions-den"):
        for name, draw in (
            ("first downs and turnovers", drawn_spots.first_downs),
            ("safeties", drawn_spots.safeties),
            ("touchdowns", drawn_spots.touchdowns),
        ):
            tally = draw(book, DRAWS)
            print(
                f"{book}, {name}: {tally.called} called, {100 * tally.wrong_share:.1f} % wrong, "
                f"{tally.too_close} too close",
                flush=True,
            )


def main() -> None:
    """Measure and print."""
    parts = {"phases": phases, "readers": readers, "errors": errors}
    for name in sys.argv[1:] or parts:
        begun = time.perf_counter()
        parts[name]()
        print(f"{name}: {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
