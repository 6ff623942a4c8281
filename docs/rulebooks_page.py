"""Write the page of how the rulebooks are read: ``python docs/rulebooks_page.py docs/rulebooks.md``.

The readings come from the catalog and the values from the rulebooks' parameters, so the page can't drift from either. A
test compares the committed page with what this module writes, and runs its example.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bundled import bundled_rulebooks

from downfield.cli.commands.rules import format_value
from downfield.core.errors import InputError
from downfield.core.records import write_text
from downfield.officiating.clauses import DISPOSITIONS, Clause, clauses_dealt_with
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

INTRODUCTION = """# How Downfield reads the rulebooks

Downfield comes with four rulebooks. Every clause is dealt with in one of four ways, and `downfield rules BOOK` prints
them all. This page lists the clauses that had to be interpreted: those that leave something open, contradict another
clause or are lost in the source, with the parameter that changes the reading where there is one.

Downfield invents no penalties. A formation, pivot or time limit that breaks a clause without a stated penalty is
reported with its margin, and the coaches decide. Violations that a coach must claim (too many men, delay of game) are
not shown until he claims them.

## Changing a reading

A league's file names the rulebook it builds on and sets the parameters that differ; a parameter's group, before the
dot in its name, is its TOML table:

```toml
name = "River City"
base = "tap"

[formation]
line_gap_exact = true      # linemen exactly one yard apart, instead of at least one

[stop]
none_for_none = false      # the defense may pivot one even when the offense pivots none

[clauses.RC-1]             # the house rule in words, under an id of the league's own
how = "checked"            # or measured, declared, outside
text = "Linemen stand exactly one yard apart."
amends = ["TAP-068"]       # a call that cites one of these cites RC-1 before it
params = ["formation.line_gap_exact"]
```

`downfield rules --house river-city.toml` prints the values and clauses in force. Unknown names and values out of range
are rejected with an error that names them. [Another rulebook altogether](extend.md#add-a-rulebook) is a package of its
own.

## What leagues play beside the books

All of these are off unless a league sets them, by camera and by hand alike:

| parameter | books | what it does |
|---|---|---|
| `fouls.longest_yd` | TAP, EFL, Lion's Den | a foul that the book does not have is declared with its yards, up to so many, and walked off from where the ball lies: half the distance at most, an automatic first down or the loss of the down if said |
| `downs.forward_progress` | TAP, EFL, Lion's Den | a carrier who is driven back is down where the camera saw him farthest, and the call says so |
| `overtime.series_from_yd` | TAP, EFL, Lion's Den | overtime as colleges play it: a series for each side from so many yards out, until a round decides; over as soon as who has the last one leads |
| `field_goal.kicked` | TAP | field goals and extra points are kicked: good, no good or blocked is declared instead of dice |
| `kickoff.kicked`, `kickoff.out_yd`, `punt.kicked` | TAP | kickoffs, onside kicks and punts are kicked: who touched the ball and where is declared, or that it went out or was blocked; the receivers return it from there, in the end zone they may take a touchback |
| `tackle.side_bonus_yd`, `tackle.rear_bonus_yd` | TAP, EFL, Lion's Den | a carrier who is hit from the side or from behind gets so many yards; they score nothing. By hand the tackle is told with its side (`hit`) |
| `tackle.hard_hit_mm_s` | TAP, EFL, Lion's Den | a hit at which the two bases close at this speed or more is a fumble; by hand the fumble is told |
| `tackle.fumble_sums` | TAP, EFL, Lion's Den | two dice after every tackle, or after every hard hit where the league has those: on these sums it is a fumble |
| `pass.rush_s` | TAP, EFL, Lion's Den | once the board has run so long in a play, a passer who still has the ball behind the line is sacked; a pass declared later is refused |
| `try.free_choice`, `onside.free_choice` | EFL | the coach chooses his try, and when he kicks onside |
| `clock.periods`, `time_out.allowed`, `time_out.per_half` | TAP | halves or quarters, a second kickoff, and so many time-outs |
| `tackle.fumble_by_fall`, `tackle.faces` | TAP | whether a fall in a tackle is a fumble, and which sides of a base tackle |

## Checking a formation by hand

A check needs no game and no tracks, only a scene, the roster, and the direction of the offense:

```python
from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.core.scene import Figure, Player, Scene
from downfield.officiating.checks.formation import build_formation
from downfield.officiating.rulebooks.tap.system import TAP_CHECKS

field, base = preset("tudor-620"), BaseSize(length_mm=28.0, width_mm=16.0)
line_mm, middle_mm = 40.0 * field.mm_per_yd_x, field.width_mm / 2
players, figures = [], []
for i in range(7):  # seven men on the 40, a yard apart
    y_mm = middle_mm + (i - 3) * (base.width_mm + field.mm_per_yd_y)
    players.append(Player(f"dark-{60 + i}", "dark", number=str(60 + i), base=base))
    figures.append(Figure(f"dark-{60 + i}", "dark", line_mm - 14.0, y_mm, 0.0, 28.0, 16.0, sigma_mm=(0.3, 0.3)))

scene = Scene(0, 0, "off", tuple(figures))
formation = build_formation(scene, players, field, offense="dark", direction=1, line_yd=40.0)
for result in TAP_CHECKS.check_formation(formation):
    print(result.outcome, result.clauses, result.text)
```

A result is `kept`, `broken`, `too_close` (the measurement can't tell at the required confidence) or `unknown` (what the
clause needs was neither seen nor declared), with margin, error and probability. `check_stoppage` does the same for a
stoppage, from the poses before and after it. Roles that are not declared are inferred from where players line up;
`officiating/checks/formation.py` says how.
"""  # noqa: E501 - a row of a table is one line


def page() -> str:
    """Return the whole page."""
    books = [load_rulebook(name) for name in bundled_rulebooks()]
    return INTRODUCTION + "".join(line + "\n" for book in books for line in _book(book))


def _book(rulebook: Rulebook) -> Iterator[str]:
    clauses = rulebook.clauses
    yield f"\n## {rulebook.title} (`{rulebook.name}`)\n"
    yield f"{len(clauses)} clauses:\n"
    for how, description in DISPOSITIONS.items():
        yield f"- {len(clauses_dealt_with(clauses, how))} {description}"
    yield "\n| Clause | Text | Reading | Parameters |"
    yield "|---|---|---|---|"
    for name, clause in clauses.items():
        if clause.reading:
            yield f"| {name} | {_cell(clause.text)} | {_cell(clause.reading)} | {_params(rulebook, clause)} |"
    outside = clauses_dealt_with(clauses, "outside")
    yield f"\nNot refereed: {', '.join(outside)}."
    yield from _changed_numbers(rulebook, clauses)


def _changed_numbers(rulebook: Rulebook, clauses: Mapping[str, Clause]) -> Iterator[str]:
    plain = [(name, clause) for name, clause in clauses.items() if clause.params and not clause.reading]
    if plain:
        yield "\nClear clauses whose numbers a league may change:\n"
        for name, clause in plain:
            yield f"- {name}: {_params(rulebook, clause)}"


def _params(rulebook: Rulebook, clause: Clause) -> str:
    values = (format_value(rulebook.params.definitions[name], rulebook.params[name]) for name in clause.params)
    return "; ".join(f"`{name}` = {value}" for name, value in zip(clause.params, values, strict=True))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise InputError("Usage: python docs/rulebooks_page.py PATH")
    write_text(Path(sys.argv[1]), [page()])
