"""Selections of games, as words: ids of items or games, ``all``, and conditions such as ``team=River``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from downfield.core.errors import InputError

ALL: Final = "all"

TEXT_KEYS: Final = ("team", "title", "event", "table", "rulebook", "kind", "game")
"""Conditions on a text; of those in `PARTIAL` a part is enough."""

PARTIAL: Final = frozenset({"team", "title", "event"})
DATE_KEYS: Final = ("date", "since", "until")

_KEYS: Final = (*TEXT_KEYS, *DATE_KEYS)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which items are meant. Values of one key are alternatives; all keys must hold.

    Attributes:
        names: beginnings of ids of items, and ids of games; empty for no such condition.
        texts: by key, values in the folded form of `folded`.
        spans_ns: times of beginning, from and before, wall clock ns; one of them for each value of ``date``.
        since_ns, before_ns: the same of ``since`` and ``until``; None for no bound.

    """

    names: tuple[str, ...] = ()
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    spans_ns: tuple[tuple[int, int], ...] = ()
    since_ns: int | None = None
    before_ns: int | None = None


def folded(text: str) -> str:
    """Return a text as it is compared: without the difference of upper and lower case, single spaces."""
    return " ".join(text.casefold().split())


def parse_selection(words: Sequence[str]) -> Selection:
    """Return the selection that words describe.

    Args:
        words: such as ``["team=River", "since=2027-01-01"]``.

    Raises:
        InputError: a word is unknown, with what is known.

    """
    names: list[str] = []
    texts: dict[str, list[str]] = {}
    spans_ns: list[tuple[int, int]] = []
    since_ns = before_ns = None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names += [] if word == ALL else [word]
        elif not value.strip():
            raise InputError(f"'{word}': says no value. Write {key}=VALUE.")
        elif key in TEXT_KEYS:
            texts.setdefault(key, []).append(folded(value))
        elif key == "date":
            spans_ns.append(_span_ns(value))
        elif key == "since":
            since_ns = _span_ns(value)[0]
        elif key == "until":
            before_ns = _span_ns(value)[1]
        else:
            raise InputError(f"'{word}': no condition is named {key!r}. Use {', '.join(_KEYS)}, an id, or all.")
    if "" in names:
        raise InputError("An empty word selects nothing. Write an id, KEY=VALUE, or all.")
    return Selection(
        tuple(names),
        tuple((key, tuple(values)) for key, values in sorted(texts.items())),
        tuple(spans_ns),
        since_ns,
        before_ns,
    )


def _span_ns(text: str) -> tuple[int, int]:
    """Return when a day, month or year begins and when the next does, UTC, ns since 1970."""
    found = _DATE.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError(text)  # noqa: TRY301 - one text for all that is no date
        year, month, day = (None if part is None else int(part) for part in found.groups())
        begins = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        if day is not None:
            ends = begins + timedelta(days=1)
        elif month is not None:
            ends = (begins + timedelta(days=31)).replace(day=1)
        else:
            ends = begins.replace(year=begins.year + 1)
        return _ns(begins), _ns(ends)
    except (ValueError, OverflowError):
        raise InputError(f"'{text}' is no date. Write 2027, 2027-01 or 2027-01-31.") from None


def _ns(moment: datetime) -> int:
    return round(moment.timestamp()) * 1_000_000_000
