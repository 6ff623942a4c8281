"""Files as crashes, editors, other programs and enemies leave them: mutations of an intact file, each by its name."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Final

_VALUES: Final[tuple[str, ...]] = (
    *("null", "true", "-1", "0", "1e999", "-1e308", "9" * 25, "9" * 5000, "NaN", "Infinity", '"x"', '""', '"\\ud800"'),
    *(
        "[]",
        "{}",
        "[[]]",
        '{"x": 1}',
        "2.5",
        "1e17",
        '"\\u0000"',
        "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
        "0.0000000001",
        "-0.5",
        "1.5",
    ),
)
_TOML_VALUES: Final = tuple(
    value.replace("NaN", "nan").replace("Infinity", "inf").replace("null", "1979-05-27") for value in _VALUES
)
_JSON_VALUE: Final = re.compile(r'(?<=[:\[,])\s*(-?[0-9][0-9.eE+-]*|"[^"]*"|true|false|null)')
_TOML_VALUE: Final = re.compile(r"(?<== )[^\n]+")


def _bytes(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def _value(data: bytes, chance: random.Random) -> bytes:
    """Replace one value by another of any type."""
    text = data.decode()
    is_json = text.lstrip().startswith("{")
    found = list((_JSON_VALUE if is_json else _TOML_VALUE).finditer(text))
    if not found:
        return data
    place = chance.choice(found)
    return (text[: place.start()] + chance.choice(_VALUES if is_json else _TOML_VALUES) + text[place.end() :]).encode()


def _key(data: bytes, chance: random.Random) -> bytes:
    """Rename, repeat or drop a key."""
    keys = list(re.finditer(rb'"(\w+)":|^(\w+) =', data, re.MULTILINE))
    if not keys:
        return data
    one, other = chance.choice(keys), chance.choice(keys)
    return data[: one.start()] + other.group() + data[one.end() :]


def _piece(data: bytes, chance: random.Random) -> bytes:
    """Drop a piece, or repeat it."""
    at, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:at] + data[end:] if chance.random() < 0.5 else data[:end] + data[at:]


MUTATIONS: Final[dict[str, Callable[[bytes, random.Random], bytes]]] = {
    "bytes": _bytes,
    "value": _value,
    "key": _key,
    "piece": _piece,
    "cut": lambda data, chance: data[: chance.randrange(len(data))],
    "empty": lambda _, __: b"",
    "blank": lambda _, __: b"\n\n \n",
    "mark": lambda data, _: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data, _: data.decode("utf-8", "replace").encode("utf-16"),
    "nul": lambda data, _: data + b"\0" * 4096,
    "nothing but nul": lambda data, _: b"\0" * len(data),
    "nested": lambda _, __: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nested toml": lambda _, __: b"a = " + b"[" * 100_000,
    "long number": lambda _, __: b"a = " + b"9" * 10_000,
    "carriage returns": lambda data, _: data.replace(b"\n", b"\r\n"),
    "noise": lambda data, chance: chance.randbytes(len(data)),
    "another format": lambda _, __: json.dumps({"format": "downfield.other", "version": 1}).encode(),
    "a newer version": lambda data, _: re.sub(rb'"version": ?\d+', b'"version": 99', data),
    "an older version": lambda data, _: re.sub(rb'"version": ?\d+', b'"version": 1', data),
}
"""Functions of intact content and chance, by name."""


def mutate(data: bytes, name: str, seed: int) -> bytes:
    """Return hostile content."""
    return MUTATIONS[name](data, random.Random(seed))
