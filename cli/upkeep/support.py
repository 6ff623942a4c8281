"""``downfield support``: one file for a bug report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.options import ConfigOption, SetOption, check_outputs
from downfield.cli.console.output import say
from downfield.cli.console.progress import with_progress
from downfield.cli.console.replaced_files import ARCHIVE
from downfield.cli.tables.doctor import run_checks
from downfield.rig.configuration.loading import load, parse_assignments
from downfield.rig.upkeep.support import support_parts, write_support_file


def support(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("downfield-support.zip"),
    checks: Annotated[bool, typer.Option(help="Run the doctor's checks, which open the camera for seconds.")] = True,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Gather what a bug report needs: versions, configuration, the doctor's findings, the log's end.

    Passwords, keys, paths and addresses are taken out, and no picture and no game goes in.
    """
    configuration = load(config, command_line=parse_assignments(settings or ()))
    check_outputs(output, inputs=(configuration.file,), kind=ARCHIVE)
    found = tuple(with_progress(run_checks(configuration.settings), "Checking")) if checks else ()
    parts = support_parts(configuration, found)
    write_support_file(output, parts)
    say(f"{output}: {', '.join(parts)}.")
    say("Nothing was sent. Look into it, then attach it to your report.")
