"""Options that several sub-commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from downfield.core.errors import InputError

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The configuration file. Default: downfield.toml in the current folder.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="A setting that overrides the file; may be repeated."),
]


def check_outputs(*outputs: Path | None, inputs: Iterable[Path | None]) -> None:
    """Check, before long work begins, that no file to write is a folder or would overwrite a file that is read.

    Raises:
        InputError: one is or would.

    """
    read = {path.resolve() for path in inputs if path is not None}
    for output in outputs:
        if output is None:
            continue
        if output.is_dir():
            raise InputError(f"{output}: is a folder. Give the name of the file to write.")
        if output.resolve() in read:
            raise InputError(f"{output}: this file is read, so it can't be written too. Choose another name.")
