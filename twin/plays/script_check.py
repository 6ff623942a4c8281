"""Scripts are checked before they are played, and read from TOML files."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel, load_field
from downfield.core.files.input_files import read_toml
from downfield.core.footprint import signed_gaps
from downfield.core.records import from_data
from downfield.twin.plays.ground import Ground
from downfield.twin.plays.script import CutTo, Script, Stance

_FASTEST_FPS = 240.0
_NAMES_FIGURES = ("player", "a", "b", "start", "away_from", "toward", "receiver", "to", "gunners", "returner")


def load_script(path: Path) -> Script:
    """Load a script from a TOML file.

    Raises:
        InputError: the file can't be read.
        FormatError: broken TOML, or a key that is unknown, missing or impossible; names it.
        ScriptError: the script can't be played.
    """
    script = from_data(Script, read_toml(path), path=str(path))
    try:
        check_script(script)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from None
    return script


def check_script(script: Script) -> FieldModel:
    """Check that a script can be played, and return its printed field.

    Raises:
        InputError: no such field.
        ScriptError: a figure that is not on the roster or is there twice, bases that overlap or stand off the board,
            a frame rate or a line of scrimmage that can't be.
    """
    field = load_field(script.board)
    ids = [player.id for player in script.players]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise ScriptError(f"two players are named '{id_}'")
    if not 1.0 <= script.fps <= _FASTEST_FPS:
        raise ScriptError(f"fps must be 1..{_FASTEST_FPS:g}, not {script.fps:g}")
    _check_known(script.traits, ids, "traits")
    _check_line(script, field, script.line_yd, script.formation, "formation")
    for number, step in enumerate(script.steps, start=1):
        where = f"step {number} ({step.type})"
        if isinstance(step, CutTo):
            _check_line(script, field, script.line_yd if step.line_yd is None else step.line_yd, step.formation, where)
        _check_known(_named(step), ids, where)
    return field


def _check_line(script: Script, field: FieldModel, line_yd: float, formation: tuple[Stance, ...], where: str) -> None:
    if not 0.0 <= line_yd <= field.length_yd:
        raise ScriptError(f"{where}: line_yd must be 0..{field.length_yd:g} on this field, not {line_yd:g}")
    players = {player.id: player for player in script.players}
    _check_known([stance.player for stance in formation], players, where)
    ground = Ground(field, line_yd, script.direction)
    try:
        bases = [(stance.player, ground.stand(players[stance.player], stance)) for stance in formation]
    except ScriptError as error:
        raise ScriptError(f"{where}: {error}") from None
    pairs = list(itertools.combinations(bases, 2))
    gaps = signed_gaps([a for (_, a), _ in pairs], [b for _, (_, b) in pairs])
    for ((a, _), (b, _)), gap in zip(pairs, gaps, strict=True):
        if a == b:
            raise ScriptError(f"{where}: {a} is placed twice")
        if gap.gap_mm < 0:
            raise ScriptError(f"{where}: the bases of {a} and {b} overlap by {-gap.gap_mm:.1f} mm")


def _check_known(named: Iterable[str], ids: Container[str], where: str) -> None:
    for id_ in named:
        if id_ not in ids:
            raise ScriptError(f"{where}: no player is named '{id_}'")


def _named(item: object) -> Iterator[str]:
    """Yield every roster id that a step or a part of it names."""
    for entry in dataclasses.fields(item):  # type: ignore[arg-type]
        value = getattr(item, entry.name)
        parts = value if isinstance(value, tuple) else (value,)
        for part in parts:
            if dataclasses.is_dataclass(part):
                yield from _named(part)
            elif isinstance(part, str) and entry.name in _NAMES_FIGURES:
                yield part
