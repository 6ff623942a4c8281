"""``downfield doctor``, ``config``, ``support``, ``backup``, ``restore``: what works, what is set, all of it in a file.

The checks import all that a rig is made of, which takes three seconds: they are loaded where they are used.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from downfield.cli.console.options import ARCHIVE, ConfigOption, JsonOption, SetOption, check_outputs, complete_sources
from downfield.cli.console.output import json_text, open_console, print_result, print_stdout, styled
from downfield.cli.console.progress import progress_bar, with_progress
from downfield.core.records import adapter
from downfield.core.texts import counted
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import load

if TYPE_CHECKING:
    from downfield.rig.upkeep.computer_checks import CheckResult, CheckState


def config(file: ConfigOption = None, settings: SetOption = None, as_json: JsonOption = False) -> None:
    """Print the configuration in effect, and where each value comes from."""
    configuration = load(file, settings)
    load_rulebook(configuration.settings.game.rulebook)  # a name that is misspelled is an invalid value as well
    if as_json:
        print_stdout(json_text(tomllib.loads("\n".join(as_toml(configuration)))))
        return
    print_stdout(f"# {configuration.file}" if configuration.file else "# no file: defaults")
    print_stdout(*"\n".join(as_toml(configuration)).split("\n"))


_STATE_STYLES: Final[dict[CheckState, str]] = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def doctor(
    source: Annotated[
        str | None, typer.Option(help="The source, as for 'run'.", autocompletion=complete_sources)
    ] = None,
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
    output: Annotated[Path, typer.Option("--out", "--output", "-o", help="The file to write.")] = Path(
        "downfield-support.zip"
    ),
    checks: Annotated[bool, typer.Option(help="Run the doctor's checks, which open the camera for seconds.")] = True,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Gather what a bug report needs: versions, configuration, the doctor's findings, the log's end.

    Passwords, keys, paths and addresses are taken out, and no picture and no game goes in.
    """
    from downfield.rig.upkeep.checks import run_checks, support_parts, write_support_file

    configuration = load(config, settings)
    check_outputs(output, inputs=(configuration.file,), kind=ARCHIVE, in_place=True)
    found = tuple(with_progress(run_checks(configuration.settings), "Checking")) if checks else ()
    parts = support_parts(configuration, found)
    write_support_file(output, parts)
    sent = "Nothing was sent. Look into it, then attach it to your report."
    print_result(as_json, [f"{output}: {', '.join(parts)}.", sent], file=output, parts=list(parts))


def backup(
    output: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write.")],
    recordings: Annotated[
        bool, typer.Option("--recordings", help="With the recordings, which are most of the space.")
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Save games, teams, paired devices, keys, tables and settings in one file. Keep it private. Games may go on."""
    from downfield.rig.upkeep.backup import make_backup

    configuration = load(config, settings)
    check_outputs(output, inputs=(configuration.file,), kind=ARCHIVE, in_place=True)
    with progress_bar("Backing up") as advance:
        manifest = make_backup(
            configuration.settings,
            configuration.file,
            output,
            recordings=recordings,
            progress=lambda name: advance(0, text=name),
        )
    files = len(manifest.files)
    lines = [f"{output}: {counted(files, 'file')}, {output.stat().st_size / 1e6:.1f} MB."]
    if manifest.store_left_out:
        lines.append("The games are in a database server and not in it: back that up with its own tools (pg_dump).")
    if configuration.settings.tournament.database:
        lines.append("The games of all tables are in the tournament's database: back that up with pg_dump.")
    if not recordings:
        lines.append("Recordings are not in it; --recordings adds them.")
    print_result(as_json, lines, file=output, files=files)


def restore(
    archive: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A backup.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move what is in the data folder aside, if it is in use already.")
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into the data folder. Stop the rig first; the next `run` goes on with the game."""
    from downfield.rig.upkeep.backup import restore_backup

    configuration = load(config, settings)
    with progress_bar("Restoring") as advance:
        restored = restore_backup(
            archive, configuration.settings, replace=replace, progress=lambda name: advance(0, text=name)
        )
    lines = [f"{restored.folder}: restored, as Downfield {restored.manifest.made_by} left it."]
    if restored.moved_aside is not None:
        lines.append(f"What was there before is in {restored.moved_aside}.")
    if restored.settings_file is not None:
        lines.append(
            f"Its configuration is {restored.settings_file}: use it with --config, or copy it to downfield.toml."
        )
    if restored.manifest.store_left_out:
        lines.append("Its games are in a database server: restore that with its own tools (pg_restore).")
    elif configuration.settings.store.url:
        lines.append("The restored games are in the data folder; your configuration names another store (store.url).")
    print_result(as_json, lines, folder=restored.folder, moved_aside=restored.moved_aside)
