"""Parameters of rulebooks: named, with unit, default and reason; what a league may change and to what."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from downfield.core.errors import RulebookError

Row = tuple[float, ...]
Value = bool | int | float | str | tuple[str, ...] | tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a rulebook.

    Attributes:
        name: ``group.name``, such as ``"tackle.fall_window_s"``; the group is the table of the league file.
        default: its value unless a rulebook sets another; its type is the parameter's type.
        unit: ``"s"``, ``"mm"``, ``"yd"``, ``"deg"``, ``"count"`` or empty.
        reason: why this default.
        low, high: the least and greatest a number may be.
        choices: the words allowed, for words and sets of words.
        columns: of a table's rows; 0 where the value is no table.

    """

    name: str
    default: Value
    unit: str
    reason: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    columns: int = 0

    def accept(self, value: object) -> Value:
        """A league's value for this parameter, checked.

        Raises:
            RulebookError: wrong type, out of range, or not among the choices; names the parameter.

        """
        if isinstance(self.default, bool):
            return self._flag(value)
        if isinstance(self.default, int | float):
            return self._number(value)
        if isinstance(self.default, str):
            return self._word(value)
        if not isinstance(value, list | tuple):
            raise self._wrong("a list", value)
        if self.columns:
            return tuple(self._row(row) for row in value)
        return tuple(self._word(word) for word in value)

    def _flag(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._wrong("true or false", value)
        return value

    def _number(self, value: object) -> int | float:
        whole = isinstance(self.default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise self._wrong("a whole number" if whole else "a number", value)
        number = cast("int | float", value)
        if not ((self.low is None or number >= self.low) and (self.high is None or number <= self.high)):
            low = "" if self.low is None else f"{self.low:g}"
            high = "" if self.high is None else f"{self.high:g}"
            raise RulebookError(f"{self.name}: {number:g} {self.unit}".rstrip() + f" is outside {low}..{high}")
        return number if whole else float(number)

    def _word(self, value: object) -> str:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise self._wrong("one of " + ", ".join(self.choices), value)
        return value

    def _row(self, value: object) -> Row:
        if not isinstance(value, list | tuple) or len(value) != self.columns:
            raise self._wrong(f"rows of {self.columns} numbers", value)
        for number in value:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise self._wrong(f"rows of {self.columns} numbers", value)
        return tuple(float(number) for number in value)

    def _wrong(self, wanted: str, value: object) -> RulebookError:
        return RulebookError(f"{self.name} must be {wanted}, not {value!r}")


class Params:
    """The parameters in force, read by name and type. Asking for one that was never declared is a KeyError.

    Args:
        declared: every parameter there is.
        values: those a rulebook or league sets.

    Raises:
        RulebookError: an unknown name or an impossible value.

    """

    def __init__(self, declared: Iterable[Param], values: Mapping[str, object] | None = None) -> None:
        self.definitions: dict[str, Param] = {}
        for param in declared:
            if self.definitions.setdefault(param.name, param) != param:
                raise RulebookError(f"{param.name} is declared twice, differently")
        self._values: dict[str, Value] = {name: param.default for name, param in self.definitions.items()}
        for name, value in (values or {}).items():
            if name not in self.definitions:
                raise RulebookError(f"no parameter is called {name!r}{_nearest(name, self.definitions)}")
            self._values[name] = self.definitions[name].accept(value)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def real(self, name: str) -> float:
        """A number."""
        return cast("float", self._values[name])

    def count(self, name: str) -> int:
        """A whole number."""
        return cast("int", self._values[name])

    def flag(self, name: str) -> bool:
        """Yes or no."""
        return cast("bool", self._values[name])

    def choice(self, name: str) -> str:
        """One word of several."""
        return cast("str", self._values[name])

    def choices(self, name: str) -> tuple[str, ...]:
        """A set of words."""
        return cast("tuple[str, ...]", self._values[name])

    def table(self, name: str) -> tuple[Row, ...]:
        """Rows of numbers."""
        return cast("tuple[Row, ...]", self._values[name])

    def ns(self, name: str) -> int:
        """A number of seconds as nanoseconds."""
        return round(self.real(name) * 1e9)


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
