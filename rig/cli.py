"""The `downfield` command."""

from __future__ import annotations

import sys

import typer

from downfield.calibration.errors import DownfieldError

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, help="The automatic referee for electric football."
)


@app.callback()
def _root() -> None:
    """The automatic referee for tabletop electric football."""


def main() -> None:
    """Run the command; an error a user can mend is one line and exit status 2."""
    try:
        app()
    except DownfieldError as error:
        sys.stderr.write(f"downfield: {error}\n")
        sys.exit(2)
