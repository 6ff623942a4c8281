"""``downfield run``: referee a table live, or a recording; ``downfield demo``: the bundled recording."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from downfield.capture.sources.file_sources import bundled_demo
from downfield.capture.sources.phone import PHONE_SOURCE
from downfield.capture.sources.phone_link import PHONE_LINK, require_receiver
from downfield.capture.sources.source_types import is_recording
from downfield.cli.console.options import (
    BOOK,
    FIELD,
    CameraHeightOption,
    ConfigOption,
    LanOption,
    PortOption,
    SetOption,
    StandingOption,
    TlsOption,
    complete_sources,
    number_between,
)
from downfield.cli.console.output import open_console, styled, version_text
from downfield.cli.console.process_end import ended_in_order
from downfield.cli.console.terminal import TerminalLog, TerminalView, print_access
from downfield.core.addresses import without_password
from downfield.core.errors import DownfieldError, InputError, SourceError
from downfield.core.platform.process_tuning import tune_process
from downfield.core.texts import counted
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import Configuration, load
from downfield.rig.configuration.settings import RigSettings, logs_folder, tables_folder
from downfield.rig.games.kept_games import leased_data_folder
from downfield.rig.rig import Rig
from downfield.rig.tables.aim_check import with_remedy
from downfield.rig.tables.profile import NamedSource, PhoneOfAnyTable, TableFolder
from downfield.rig.upkeep.log_file import LogObserver, log_file
from downfield.rig.upkeep.systemd import Watchdog, status_text

_log = logging.getLogger(__name__)

_PAUSE_S: Final = 3.0  # Pause before a recording is played again, to read the last call

_OPENING_ATTEMPTS: Final = 4


def run(
    source: Annotated[
        str | None,
        typer.Option(
            help="A camera (its number or a part of its name), a stream's address, a video, or a folder of pictures."
            " Default: the bundled recording.",
            autocompletion=complete_sources,
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="The camera's calibration. Default: the camera is calibrated from the printed field."),
    ] = None,
    height_mm: CameraHeightOption = None,
    standing: StandingOption = None,
    field: Annotated[str | None, FIELD] = None,
    rulebook: Annotated[str | None, BOOK] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    port: PortOption = None,
    fps: Annotated[
        float | None,
        typer.Option(
            parser=number_between(0.1, 1000), metavar="RATE", help="Frames per second of a camera or a folder."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Play a recording once instead of repeating it.")] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Play a recording as fast as this computer can, not at its own pace.")
    ] = False,
    keep: Annotated[
        bool | None,
        typer.Option("--keep", help="Keep a recording's game among those of the table, for export, review and verify."),
    ] = None,
    shadow: Annotated[
        bool | None,
        typer.Option("--shadow", help="People referee by declarations alone; calls are kept, and never shown."),
    ] = None,
    lan: LanOption = None,
    tls: TlsOption = None,
    phone: Annotated[
        bool, typer.Option("--phone", help="A phone is the camera: shows the code that it scans, and waits for it.")
    ] = False,
    page: Annotated[bool | None, typer.Option(help="Serve the web pages and the API.")] = None,
) -> None:
    """Referee a table live, or a recording. Calls appear here, on the operator's phone and on the stream."""
    if phone:
        require_receiver()
        if source not in {None, PHONE_SOURCE}:
            raise InputError("--phone is a source itself. Leave out --source, or --phone.")
    options = {
        "source.name": PHONE_SOURCE if phone else source,
        "source.fps": fps,
        "store.recordings": keep,
        "calibration.file": None if calibration is None else str(calibration),
        "calibration.field": field,
        "calibration.camera_height_mm": height_mm,
        "calibration.standing": standing,
        "game.rulebook": rulebook,
        "game.shadow": shadow,
        "service.port": port,
        "service.on": page,
        "service.lan": True if phone else lan,  # a browser gives the camera to a secure page of the network
        "service.tls": True if phone else tls,
    }

    def configured(changes: dict[str, object]) -> Configuration:
        return load(config, settings, command_line={**options, **changes})

    given = configured({}).settings
    load_rulebook(given.game.rulebook)  # a name that is misspelled is told before the networks are loaded
    table: NamedSource | None = None if given.source.name else TableFolder(tables_folder(given)).in_use()
    if given.source.name == PHONE_SOURCE:
        table = PhoneOfAnyTable()
    changes = {} if table is None else _opening(table, port)
    before, away = _DEMO, None
    console = open_console(required=False)
    console.print("Starting. The networks are loaded first, which takes some seconds.")
    tune_process()
    with ended_in_order():
        try:
            with tempfile.TemporaryDirectory(prefix="downfield-") as temporary:
                while True:
                    played = configured(changes)
                    ended = _run(played, table, away, console, Path(temporary), once=once, paced=not fast)
                    if ended is None:
                        break
                    if isinstance(ended, _CameraAway):  # its table is waited for, while what was played before goes on
                        console.print(ended.problem)
                        changes = {**(before if away is None else _DEMO), "service.port": ended.port}
                        table, away = None, ended
                    else:
                        console.print(f"Opening {_called(ended.profile)}.")
                        table, away, before, changes = ended.profile, None, changes, _opening(ended.profile, ended.port)
        except KeyboardInterrupt:  # everything is closed, so nothing is printed after this
            console.print("stopped")


_DEMO: Final[dict[str, object]] = {"source.name": str(bundled_demo()), "calibration.file": ""}
"""What is played where there is nothing else, so that the pages can be used."""


def _opening(table: NamedSource, port: int | None) -> dict[str, object]:
    """Return the settings that open a table's camera, and keep the port of the pages."""
    return {"source.name": table.source, "calibration.file": "", "service.port": port}


@dataclass(frozen=True, slots=True)
class _NextTable:
    """A table that was set up while another source was played, and the port that its pages keep."""

    profile: NamedSource
    port: int | None


@dataclass(frozen=True, slots=True)
class _CameraAway(_NextTable):
    """A table whose camera can't be opened now, and why."""

    problem: str


def _run(
    configuration: Configuration,
    table: NamedSource | None,
    away: _CameraAway | None,
    console: Console,
    temporary: Path,
    *,
    once: bool,
    paced: bool,
) -> _NextTable | None:
    """Play until the end; return the table that was set up meanwhile, or one whose camera does not answer.

    Args:
        table: whose camera it is; None for a source that was named, and for what is played while a camera is away.
        away: a table that is played on as soon as its camera answers; None for none.
    """
    settings = configuration.settings
    name = settings.source.name
    if name not in {"", str(bundled_demo())} and not name.startswith("scenes") and not settings.calibration.file:
        console.print(
            f"Opening {without_password(name)}. If it is not calibrated yet, its printed field is"
            " looked for, which takes up to a minute."
        )
    # A recording shown again writes nothing into the data folder.
    with nullcontext() if is_recording(name) else leased_data_folder(settings), _logged(settings):
        try:
            rig = _open_rig(configuration, temporary, paced=paced)
        except SourceError as error:
            if table is not None:
                problem = f"{_called(table)[0].upper()}{_called(table)[1:]} can't be opened yet: {with_remedy(error)}"
                return _CameraAway(table, settings.service.port, problem)
            if away is not None and settings.source.name != _DEMO["source.name"]:
                return away  # what was played before is away as well
            raise
        if away is not None:
            rig.wait_for(away.profile, f"{away.problem} It is tried again every few seconds.")
        waits_for_phone = away is not None and away.profile.source == PHONE_SOURCE
        return _referee(rig, console, once=once, waits_for_phone=waits_for_phone)


def _referee(rig: Rig, console: Console, *, once: bool, waits_for_phone: bool) -> _NextTable | None:
    """Play and show what happens; return the table that was set up meanwhile, to be opened next."""
    watchdog = Watchdog(lambda: status_text(rig.situation(), rig.health()))
    title = f"{rig.source_text} under {rig.topic('game').rulebook_title}"
    try:
        if rig.service is not None:
            print_access(console, rig.service, waits_for_phone=waits_for_phone)
        if rig.settings.game.shadow:
            console.print("Shadow: no call is shown. Declare how plays end; compare afterwards by 'downfield shadow'.")
        rig.add_observer(LogObserver())
        rig.add_observer(watchdog)
        watchdog.start()
        if console.is_terminal:
            with TerminalView(console, rig.topic, title, rig.address) as view:
                rig.add_observer(view)
                _play(rig, console, once=once)
        else:
            console.print(Text.assemble(styled("Downfield", "bold"), styled(f"  {title}")))
            console.print("Stop with Ctrl-C.")
            rig.add_observer(TerminalLog(console, rig.situation, live=rig.live, address=rig.address))
            _play(rig, console, once=once)
    finally:
        watchdog.close()
        rig.close()
    table = rig.next_table()
    return None if table is None else _NextTable(table, None if rig.service is None else rig.service.port)


def _called(table: NamedSource) -> str:
    return table.name if isinstance(table, PhoneOfAnyTable) else f"the table '{table.name}'"


@contextmanager
def _logged(settings: RigSettings) -> Iterator[None]:
    """Log how the refereeing of a table goes and how it ends; a recording shown again leaves no log."""
    if not settings.log.on or is_recording(settings.source.name):
        yield
        return
    with log_file(logs_folder(settings), settings.log.level, settings.log.keep_mb):
        _log.info("%s starts with %s.", version_text(), without_password(settings.source.name))
        try:
            yield
        except DownfieldError as error:
            _log.error("It ends: %s", error)
            raise
        except Exception:
            _log.exception("It ends by a fault of the program")
            raise
        finally:
            _log.info("It has ended.")


def _open_rig(configuration: Configuration, temporary: Path, *, paced: bool) -> Rig:
    """Open the rig; a camera that was just released may need a moment before it can be opened again."""
    awaits_phone = configuration.settings.source.name == PHONE_SOURCE and PHONE_LINK.session is None
    for _ in range(0 if awaits_phone else _OPENING_ATTEMPTS - 1):
        try:
            return Rig(configuration, temporary, paced=paced)
        except SourceError:
            threading.Event().wait(1.0)
    return Rig(configuration, temporary, paced=paced)


def _play(rig: Rig, console: Console, *, once: bool) -> None:
    pause = threading.Event()
    while True:
        rig.play()
        console.print(
            Text.assemble(styled(rig.situation(), "bold"), f"  {counted(len(rig.game_service.calls()), 'call')}")
        )
        if once or rig.live or rig.next_table() is not None:
            return
        pause.wait(_PAUSE_S)
        if rig.next_table() is not None:
            return
        rig.rewind()


_WHATEVER_IS_CONFIGURED: Final = (
    "source.tracks=false",
    "calibration.file=''",
    "game.rulebook=tap",
    "game.roster=''",
    "store.url=''",
)
"""The demo is the same for everybody, and leaves the table in use, its game and its store alone."""


def demo(
    port: PortOption = None,
    once: Annotated[bool, typer.Option("--once", help="Play it once instead of repeating it.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Play it as fast as this computer can.")] = False,
    page: Annotated[bool | None, typer.Option(help="Serve the web pages.")] = None,
) -> None:
    """Watch a recorded play being refereed: nothing needs to be connected, and nothing is kept."""
    run(source=str(bundled_demo()), settings=list(_WHATEVER_IS_CONFIGURED), port=port, once=once, fast=fast, page=page)
