"""``downfield backup`` and ``downfield restore``: everything of a rig in one file, and back again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.options import ARCHIVE, ConfigOption, SetOption, check_outputs
from downfield.cli.console.output import print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.texts import counted
from downfield.rig.configuration.loading import load
from downfield.rig.upkeep.backup import make_backup, restore_backup


def backup(
    output: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write.")],
    recordings: Annotated[
        bool, typer.Option("--recordings", help="With the recordings, which are most of the space.")
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Save games, teams, paired devices, keys, tables and settings in one file. Keep it private. Games may go on."""
    configuration = load(config, settings)
    check_outputs(output, inputs=(configuration.file,), kind=ARCHIVE)
    with progress_bar("Backing up") as advance:
        manifest = make_backup(
            configuration.settings,
            configuration.file,
            output,
            recordings=recordings,
            progress=lambda name: advance(0, text=name),
        )
    files = len(manifest.files)
    print_stdout(f"{output}: {counted(files, 'file')}, {output.stat().st_size / 1e6:.1f} MB.")
    if manifest.store_left_out:
        print_stdout("The games are in a database server and not in it: back that up with its own tools (pg_dump).")
    if configuration.settings.tournament.database:
        print_stdout("The games of all tables are in the tournament's database: back that up with pg_dump.")
    if not recordings:
        print_stdout("Recordings are not in it; --recordings adds them.")


def restore(
    archive: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A backup.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move what is in the data folder aside, if it is in use already.")
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Restore a backup into the data folder. Stop the rig first; the next `run` goes on with the game."""
    configuration = load(config, settings)
    with progress_bar("Restoring") as advance:
        restored = restore_backup(
            archive, configuration.settings, replace=replace, progress=lambda name: advance(0, text=name)
        )
    print_stdout(f"{restored.folder}: restored, as Downfield {restored.manifest.made_by} left it.")
    if restored.moved_aside is not None:
        print_stdout(f"What was there before is in {restored.moved_aside}.")
    if restored.settings_file is not None:
        print_stdout(
            f"Its configuration is {restored.settings_file}: use it with --config, or copy it to downfield.toml."
        )
    if restored.manifest.store_left_out:
        print_stdout("Its games are in a database server: restore that with its own tools (pg_restore).")
    elif configuration.settings.store.url:
        print_stdout("The restored games are in the data folder; your configuration names another store (store.url).")
