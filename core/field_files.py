"""Field models from the bundled presets and from a user's TOML files."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from downfield.core.errors import FormatError, InputError
from downfield.core.field import FieldModel
from downfield.core.records import from_data, read_text

_PRESETS = files("downfield.core") / "fields"


def preset_names() -> tuple[str, ...]:
    """The names of the bundled field models, sorted."""
    return tuple(
        sorted(entry.name.removesuffix(".toml") for entry in _PRESETS.iterdir() if entry.name.endswith(".toml"))
    )


@cache
def preset(name: str) -> FieldModel:
    """A bundled field model.

    Raises:
        InputError: no preset has this name.

    """
    if name not in preset_names():
        raise InputError(
            f"no field preset is named '{name}'; there are: {', '.join(preset_names())}; or give a .toml file"
        )
    return _parse((_PRESETS / f"{name}.toml").read_text(encoding="utf-8"), f"preset {name}")


def load_field(name_or_path: str) -> FieldModel:
    """A field model by the name of a preset or the path of a TOML file (anything that ends in ``.toml``).

    Raises:
        InputError: no such preset or file.
        FormatError: broken TOML, or a key that is unknown, missing or impossible; names it.

    """
    if not name_or_path.endswith(".toml"):
        return preset(name_or_path)
    return _parse(read_text(Path(name_or_path)), name_or_path)


def _parse(text: str, path: str) -> FieldModel:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(path, f"broken TOML: {error}") from None
    return from_data(FieldModel, data, path=path)
