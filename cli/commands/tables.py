"""``downfield tables``: the tables that were set up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.calibration.calibration import write_calibration
from downfield.cli.console.options import ConfigOption, JsonOption, check_outputs
from downfield.cli.console.output import print_result, print_stdout
from downfield.core.addresses import without_password
from downfield.core.records import write_text
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.tables.profile import TableFolder

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The tables that were set up.")

NONE: Final = "none"

Name = Annotated[str, typer.Argument(help="The table's name.")]


@app.command("list")
def list_tables(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """List the saved tables; the one that 'downfield run' opens is marked."""
    folder = _folder(config)
    in_use = folder.in_use()
    profiles = folder.profiles()
    used = "" if in_use is None else in_use.id
    lines = [
        f"{'*' if one.id == used else ' '} {one.name}: {one.calibration.field.title}, camera {one.camera}"
        for one in profiles
    ]
    none = ["No table is saved yet. Set one up with 'downfield calibrate table' or on the camera page."]
    facts = [{"name": one.name, "camera": one.camera, "in_use": one.id == used} for one in profiles]
    print_result(as_json, lines or none, tables=facts)


@app.command()
def show(
    name: Name,
    calibration_out: Annotated[
        Path | None, typer.Option("--calibration", help="Write its calibration to this file.")
    ] = None,
    field_out: Annotated[
        Path | None, typer.Option("--field", help="Write its printed field to this .toml file.")
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a table, or write its calibration and field to files."""
    check_outputs(calibration_out, field_out, inputs=(config,), kind="downfield.calibration")
    profile = _folder(config).get(name)
    calibration, quality = profile.calibration, profile.calibration.quality
    lines = [
        f"{profile.name}: {calibration.field.title}",
        f"camera {profile.camera}, opened as {without_password(profile.source)}",
        f"calibrated {calibration.made_at} by {calibration.method}",
    ]
    if quality is not None:
        lines.append(f"residual {quality.rms_px:.3f} px = {quality.rms_mm:.3f} mm over {quality.points} points")
    certificate = calibration.certificate
    lines.append(f"certified to {max(certificate.p95_yd):.3f} yd" if certificate else "not certified")
    print_result(as_json, lines, name=profile.name, quality=quality, certificate=certificate)
    if calibration_out is not None:
        write_calibration(calibration_out, calibration)
    if field_out is not None:
        write_text(field_out, [profile.field_toml])


@app.command()
def use(
    name: Annotated[str, typer.Argument(help="The table's name, or 'none' for the bundled recording.")],
    config: ConfigOption = None,
) -> None:
    """Have 'downfield run' open this table's camera."""
    folder = _folder(config)
    folder.use(None if name == NONE else name)
    print_stdout("'downfield run' " + ("plays the bundled recording" if name == NONE else f"opens '{name}'"))


@app.command()
def remove(name: Name, config: ConfigOption = None) -> None:
    """Delete a saved table; games played on it stay."""
    _folder(config).remove(name)
    print_stdout(f"'{name}' is deleted")


def _folder(config: Path | None) -> TableFolder:
    return TableFolder(tables_folder(load(config).settings))
