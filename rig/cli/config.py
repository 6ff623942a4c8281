"""``downfield config``: the configuration in force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import assignments, load


def config(
    file: Annotated[Path | None, typer.Option("--config", help="The file; downfield.toml here by default.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="table.key=value, over the file.")] = None,
) -> None:
    """Print the configuration in force, and where it comes from."""
    loaded = load(file, command_line=assignments(settings or ()))
    typer.echo(f"# {loaded.file}" if loaded.file else "# no file: defaults")
    typer.echo("\n".join(as_toml(loaded)))
