"""Write the page of every setting: ``python docs/configuration_page.py docs/configuration.md``."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from downfield.core.records import write_text
from downfield.rig.configuration.display import own_keys, sections, toml_value
from downfield.rig.configuration.loading import variable_name
from downfield.rig.configuration.settings import RigSettings

_INTRODUCTION = """# Configuration

The configuration is one file: `downfield.toml` in the current folder, or the one named by `--config`. Every setting has
a default, so an empty file is valid. Environment variables (`DOWNFIELD_` and the setting's name) override the file, and
the command line overrides both: the options of `downfield run`, and `--set section.key=value` for everything else. An
unknown setting or an invalid value is refused by name. `downfield config` prints the configuration in effect and where
each value comes from.

This page is generated from `rig/configuration/settings.py` by `make docs`; a test keeps it up to date."""


def page() -> Iterator[str]:
    """Yield the lines of ``docs/configuration.md``."""
    yield _INTRODUCTION
    for section, model in sections(RigSettings()):
        yield ""
        yield f"## `[{section}]`: {_heading(type(model).__doc__ or '')}" if section else "## Outside any section"
        yield ""
        yield "| key | default | environment | meaning |"
        yield "|---|---|---|---|"
        meanings = _meanings(type(model))
        for key in own_keys(type(model)):
            variable = variable_name(f"{section}.{key}" if section else key)
            yield f"| `{key}` | `{toml_value(getattr(model, key))}` | `{variable}` | {meanings[key]} |"


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return what the settings of a section mean, by name: the text that follows each in its class."""
    body = ast.parse(inspect.getsource(model)).body[0].body  # type: ignore[attr-defined]
    return {
        ast.unparse(setting.target): " ".join(ast.literal_eval(meaning.value).split())
        for setting, meaning in itertools.pairwise(body)
        if isinstance(setting, ast.AnnAssign) and isinstance(meaning, ast.Expr)
    }


def _heading(text: str) -> str:
    first = text.split(" ", 1)[0]
    return (text if first.isupper() and len(first) > 1 else text[:1].lower() + text[1:]).rstrip(".")


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), (line + "\n" for line in page()))
