"""``downfield doctor``: every fault of a rig with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape

from downfield.core.records import adapter
from downfield.rig.configuration.loading import assignments, load
from downfield.rig.configuration.paths import recordings_folder
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.doctor.camera import look_at_camera
from downfield.rig.doctor.computer import look_at_disk, look_at_network, look_at_port, look_at_time
from downfield.rig.doctor.picture import look_at_calibration, look_at_focus, look_at_light
from downfield.rig.doctor.report import CheckResult, State
from downfield.rig.table import source_choice

_MARKS: Final[dict[State, str]] = {"ok": "[green]ok[/]", "warning": "[yellow]warning[/]", "fault": "[bold red]fault[/]"}


def doctor(
    source: Annotated[str | None, typer.Option(help="As for 'run'.")] = None,
    calibration: Annotated[Path | None, typer.Option(help="Of the camera.")] = None,
    config: Annotated[Path | None, typer.Option(help="The configuration; downfield.toml here by default.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="table.key=value, over the file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Look at everything a game needs, and say what is wrong and what mends it; status 1 when something is."""
    given: dict[str, object] = assignments(settings or ())
    given |= {"source.name": source, "calibration.file": None if calibration is None else str(calibration)}
    findings = []
    console = Console(highlight=False, soft_wrap=True)
    for finding in examine(load(config, command_line=given).settings):
        findings.append(finding)
        if not as_json:
            _show(console, finding)
    if as_json:
        typer.echo(adapter(tuple[CheckResult, ...]).dump_json(tuple(findings), indent=2).decode())
    faults = sum(finding.state == "fault" for finding in findings)
    if not as_json:
        console.print(f"[bold]{_summary(findings, faults)}[/bold]")
    raise typer.Exit(1 if faults else 0)


def examine(settings: RigSettings) -> Iterator[CheckResult]:
    """Look at everything, one thing after the other."""
    choice = source_choice(settings, paced=False)
    looked = look_at_camera(choice)
    yield from looked.findings
    if looked.images:
        image = looked.images[-1]
        yield look_at_light(image)
        yield look_at_focus(image)
        yield from look_at_calibration(
            settings.calibration, looked.images, Path(choice.text).with_suffix(".calibration.json")
        )
        yield look_at_network(settings.network, image)
    yield look_at_disk(recordings_folder(settings), settings.recording)
    yield look_at_port(settings.service)
    yield look_at_time()


def _show(console: Console, finding: CheckResult) -> None:
    console.print(f"{_MARKS[finding.state]}  {finding.subject}: {escape(finding.text)}")
    if finding.remedy:
        console.print(f"    {escape(finding.remedy)}.")


def _summary(findings: list[CheckResult], faults: int) -> str:
    warnings = sum(finding.state == "warning" for finding in findings)
    if not faults and not warnings:
        return "All is well."
    parts = [
        f"{count} {word}{'s' if count > 1 else ''}"
        for count, word in ((faults, "fault"), (warnings, "warning"))
        if count
    ]
    return " and ".join(parts) + "."
