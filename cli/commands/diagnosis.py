"""``downfield doctor``, ``config`` and ``support``: what works, what is set, and both for a bug report.

The checks import all that a rig is made of, which takes three seconds: they are loaded where they are used.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from downfield.cli.console.options import ARCHIVE, ConfigOption, JsonOption, SetOption, check_outputs
from downfield.cli.console.output import json_text, open_console, print_stdout, styled
from downfield.cli.console.progress import with_progress
from downfield.core.records import adapter
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import load

if TYPE_CHECKING:
    from downfield.rig.upkeep.computer_checks import CheckResult, CheckState


def config(file: ConfigOption = None, settings: SetOption = None, as_json: JsonOption = False) -> None:
    """Print the configuration in effect, and where each value comes from."""
    configuration = load(file, settings)
    if as_json:
        print_stdout(json_text(tomllib.loads("\n".join(as_toml(configuration)))))
        return
    print_stdout(f"# {configuration.file}" if configuration.file else "# no file: defaults")
    print_stdout(*"\n".join(as_toml(configuration)).split("\n"))


_STATE_STYLES: Final[dict[CheckState, str]] = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def doctor(
    source: Annotated[str | None, typer.Option(help="The source, as for 'run'.")] = None,
    calibration: Annotated[Path | None, typer.Option(help="The camera's calibration.")] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check everything a game needs, and say how to fix what is wrong. Exits with status 1 if there is a fault."""
    from downfield.rig.upkeep.checks import run_checks
    from downfield.rig.upkeep.computer_checks import CheckResult

    options = {"source.name": source, "calibration.file": None if calibration is None else str(calibration)}
    results = []
    console = open_console()
    for result in run_checks(load(config, settings, command_line=options).settings):
        results.append(result)
        if not as_json:
            _print(console, result)
    if as_json:
        print_stdout(*adapter(tuple[CheckResult, ...]).dump_json(tuple(results), indent=2).decode().splitlines())
    else:
        console.print(styled(_summary(results), "bold"))
    raise typer.Exit(1 if any(result.state == "fault" for result in results) else 0)


def _print(console: Console, result: CheckResult) -> None:
    state = styled(result.state, _STATE_STYLES[result.state])
    console.print(Text.assemble(state, styled(f"  {result.subject}: {result.text}")))
    if result.remedy:
        console.print(f"    {result.remedy}.")


def _summary(results: list[CheckResult]) -> str:
    counts = {state: sum(result.state == state for result in results) for state in ("fault", "warning")}
    parts = [f"{count} {state}{'s' if count > 1 else ''}" for state, count in counts.items() if count]
    return " and ".join(parts) + "." if parts else "Everything is ready."


def support(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("downfield-support.zip"),
    checks: Annotated[bool, typer.Option(help="Run the doctor's checks, which open the camera for seconds.")] = True,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Gather what a bug report needs: versions, configuration, the doctor's findings, the log's end.

    Passwords, keys, paths and addresses are taken out, and no picture and no game goes in.
    """
    from downfield.rig.upkeep.checks import run_checks, support_parts, write_support_file

    configuration = load(config, settings)
    check_outputs(output, inputs=(configuration.file,), kind=ARCHIVE)
    found = tuple(with_progress(run_checks(configuration.settings), "Checking")) if checks else ()
    parts = support_parts(configuration, found)
    write_support_file(output, parts)
    print_stdout(f"{output}: {', '.join(parts)}.")
    print_stdout("Nothing was sent. Look into it, then attach it to your report.")
