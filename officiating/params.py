"""Parameters of rulebooks: what a league may change, with unit, default, range and reason."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise
from typing import Any, cast

from downfield.core.errors import RulebookError
from downfield.core.files.input_files import parse_toml

Row = tuple[float, ...]
Value = bool | int | float | str | tuple[str, ...] | tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a rulebook."""

    name: str  # `group.name`, such as `"tackle.fall_window_s"`; the group is the table of the league file
    default: Value  # its value unless a rulebook sets another; its type is the parameter's type
    unit: str  # `"s"`, `"mm"`, `"yd"`, `"deg"`, `"count"` or empty
    reason: str  # why this default
    low: float | None = None  # low, high: the least and greatest a number may be
    high: float | None = None
    choices: tuple[str, ...] = ()  # the allowed words, for a parameter that is a word or a list of words
    columns: int = 0  # number of columns of a table; 0 where the value is not a table
    limits: tuple[tuple[float, float], ...] = ()  # least and greatest number by column of a table; or one pair
    whole: tuple[int, ...] = ()  # columns of whole numbers, such as sums of dice
    # whether a table's first column rises from row to row and the second never: what is farther away is no easier
    harder: bool = False
    most_rows: int = 0  # of a table; 0 for any number
    may_be_empty: bool = False  # whether a list or table may have nothing in it
    at_most: str = ""  # name of a parameter that this one may not exceed

    def accept(self, value: object) -> Value:
        """Return a league's value, checked. Raises RulebookError: wrong type, out of range, or no choice."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise self._type_error("true or false", value)
            return value
        if isinstance(self.default, int | float):
            return self._checked_number(value)
        if isinstance(self.default, str):
            return self._checked_choice(value)
        if not isinstance(value, list | tuple):
            raise self._type_error("a list", value)
        if not value and self.default and not self.may_be_empty:
            raise RulebookError(f"{self.name} must not be empty.")
        if self.columns:
            single = self.columns == 1  # plain numbers will do
            rows = ([row] if single and not isinstance(row, list | tuple) else row for row in value)
            return self._checked_table(tuple(self._checked_row(row) for row in rows))
        words = tuple(self._checked_choice(word) for word in value)
        twice = next((word for word in words if words.count(word) > 1), None)
        if twice is not None:
            raise RulebookError(f"{self.name} has {twice!r} twice.")
        return words

    def _checked_table(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if self.most_rows and len(rows) > self.most_rows:
            raise RulebookError(f"{self.name} has {self.most_rows} row{'s' if self.most_rows > 1 else ''} at most.")
        for before, row in pairwise(rows) if self.harder else ():
            if row[0] <= before[0]:
                raise RulebookError(f"{self.name}: {row[0]:g} comes after {before[0]:g}; each row must be farther.")
            if row[1] > before[1]:
                what = f"{row[1]:g} from {row[0]:g} is easier than {before[1]:g} from {before[0]:g}"
                raise RulebookError(f"{self.name}: {what}; what is farther can't be easier.")
        return rows

    def _checked_number(self, value: object) -> int | float:
        whole = isinstance(self.default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise self._type_error("a whole number" if whole else "a number", value)
        number = cast("int | float", value)
        if not ((self.low is None or number >= self.low) and (self.high is None or number <= self.high)):
            low = "" if self.low is None else f"{self.low:g}"
            high = "" if self.high is None else f"{self.high:g}"
            raise RulebookError(f"{self.name}: {number:g} {self.unit}".rstrip() + f" is outside {low}..{high}.")
        return number if whole else float(number)

    def _checked_choice(self, value: object) -> str:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise self._type_error("one of " + ", ".join(self.choices), value)
        return value

    def _checked_row(self, value: object) -> Row:
        if not isinstance(value, list | tuple) or len(value) != self.columns:
            raise self._type_error(f"rows of {self.columns} numbers", value)
        for number in value:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise self._type_error(f"rows of {self.columns} numbers", value)
        for column, number in enumerate(value):
            low, high = self.limits[column % len(self.limits)] if self.limits else (-math.inf, math.inf)
            if not low <= number <= high or (column in self.whole and number != int(number)):
                kind = "a whole number, " if column in self.whole else ""
                raise RulebookError(f"{self.name}: {number:g} in {list(value)} must be {kind}{low:g}..{high:g}.")
        return tuple(float(number) for number in value)

    def _type_error(self, expected: str, value: object) -> RulebookError:
        return RulebookError(f"{self.name} must be {expected}, not {value!r}.")


def read_params(package: str, section: str = "") -> tuple[Param, ...]:
    """Return the parameters in a package's ``params.toml``, which has, in a section if it has any, a table a group."""
    file = files(package) / "params.toml"
    groups = parse_toml(file.read_text(encoding="utf-8"), str(file))
    return tuple(
        Param(f"{group}.{name}", **{"unit": "", **{key: _frozen(value) for key, value in data.items()}})
        for group, params in (groups[section] if section else groups).items()
        for name, data in params.items()
    )


def with_defaults(params: Iterable[Param], changed: Mapping[str, tuple[Value, str]]) -> tuple[Param, ...]:
    """Return parameters, those named with another default and its reason."""
    return tuple(
        replace(param, default=changed[param.name][0], reason=changed[param.name][1])
        if param.name in changed
        else param
        for param in params
    )


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Mistakes:
    """Collects what is wrong with a rulebook, so that all of it is told at once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Note the error that the block raises, if any."""
        try:
            yield
        except RulebookError as error:
            self._found.append(str(error))

    def raise_any(self) -> None:
        """Raise what was found. Raises RulebookError: there was something."""
        if len(self._found) == 1:
            raise RulebookError(self._found[0])
        if self._found:
            listed = " ".join(f"({number}) {text}" for number, text in enumerate(self._found, start=1))
            raise RulebookError(f"{len(self._found)} mistakes. {listed}")


class Params:
    """The parameters in force, read by name and type; reading an undefined one is a KeyError.

    Raises:
        RulebookError: unknown names or impossible values, all of them.
    """

    def __init__(self, definitions: Iterable[Param], values: Mapping[str, object] | None = None) -> None:
        self.definitions: dict[str, Param] = {}
        for param in definitions:
            if self.definitions.setdefault(param.name, param) != param:
                raise RulebookError(f"{param.name} is defined twice, differently.")
        self._values: dict[str, Value] = {name: param.default for name, param in self.definitions.items()}
        mistakes = Mistakes()
        for name, value in (values or {}).items():
            with mistakes.collecting():
                if name not in self.definitions:
                    raise RulebookError(f"No parameter is named {name!r}.{_suggestion(name, self.definitions)}")
                self._values[name] = self.definitions[name].accept(value)
        for name, param in self.definitions.items():
            with mistakes.collecting():
                if param.at_most and self.real(name) > self.real(param.at_most):
                    more = f"{name} ({self.real(name):g}) is more than {param.at_most} ({self.real(param.at_most):g})"
                    raise RulebookError(f"{more}.")
        mistakes.raise_any()

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def real(self, name: str) -> float:
        """Return a number."""
        return cast("float", self._values[name])

    def count(self, name: str) -> int:
        """Return a whole number."""
        return cast("int", self._values[name])

    def flag(self, name: str) -> bool:
        """Return true or false."""
        return cast("bool", self._values[name])

    def choice(self, name: str) -> str:
        """Return one word of several."""
        return cast("str", self._values[name])

    def choices(self, name: str) -> tuple[str, ...]:
        """Return a list of words."""
        return cast("tuple[str, ...]", self._values[name])

    def table(self, name: str) -> tuple[Row, ...]:
        """Return rows of numbers."""
        return cast("tuple[Row, ...]", self._values[name])

    def ns(self, name: str) -> int:
        """Return a number of seconds as nanoseconds."""
        return round(self.real(name) * 1e9)


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
