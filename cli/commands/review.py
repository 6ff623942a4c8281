"""``downfield review``: look at games on any computer, without the rig and without a camera."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from downfield.capture.footage import Footage
from downfield.cli.commands.verify import report_bundle
from downfield.cli.console.options import ConfigOption, SetOption
from downfield.cli.console.output import print_stderr, print_stdout
from downfield.cli.console.process_end import ended_in_order
from downfield.cli.console.progress import progress_bar
from downfield.core.errors import InputError
from downfield.review.bundles import format as names
from downfield.review.bundles.reading import UnpackedBundle
from downfield.review.bundles.verification import verify_bundle
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder
from downfield.rig.service.review import (
    NoCamera,
    ReviewFolder,
    ReviewService,
    find_bundles,
    find_rig_folder,
    load_bundles,
    load_rig_folder,
)
from downfield.store.writing.store import Store

_STORE: Final = "games.db"


def review(
    source: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="A bundle, a folder of them, or a rig's data folder.")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the pages; 0 for any free one.")] = 8317,
    altered: Annotated[
        bool, typer.Option("--altered", help="Open a bundle that was altered as well, as far as it can be read.")
    ] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Serve the games of a bundle, or of a rig's folder, on this computer: all pages, read-only. Stop with Ctrl-C."""
    folder = data_folder(load(config, settings).settings)
    bundles = find_bundles(source)
    found = None if bundles else find_rig_folder(source)
    if bundles:
        bundles = [
            bundle for bundle in bundles if _is_opened(bundle, folder, altered=altered, alone=bundles == [source])
        ]
        if not bundles:
            raise InputError(f"{source}: none of its bundles can be opened.")
    try:
        with ended_in_order(), tempfile.TemporaryDirectory(prefix="downfield-review-") as temporary:
            _review(bundles, found, Path(temporary), port)
    except KeyboardInterrupt:
        print_stdout("stopped")


def _review(bundles: Sequence[Path], found: ReviewFolder | None, temporary: Path, port: int) -> None:
    """Unpack bundles, or open a rig's folder, and serve their games until the user or the system stops it."""
    footage: Footage | None
    store = Store.at(temporary / _STORE)
    try:
        with progress_bar("Opening"):
            if found is None:
                unpacked, footage = load_bundles(bundles, store, temporary)
                rig = NoCamera(unpacked[-1].calibration, _configuration(unpacked[-1]))
            else:
                footage, rig = load_rig_folder(found, store), NoCamera(None, {})
        _serve(ReviewService(store, footage, rig, port, temporary), store)
    finally:
        store.close()


def _is_opened(bundle: Path, folder: Path, *, altered: bool, alone: bool) -> bool:
    """Print what a check of a bundle finds; return whether it is opened. One of several that is not is left out."""
    found = verify_bundle(bundle)
    report_bundle(bundle, found, None, None, folder)
    if found.refused:
        why = f"{bundle}: is not opened, not even with --altered: {found.refused}."
    elif not found.intact and not altered:
        why = f"{bundle}: was altered, so it is not opened. --altered opens what can be read of it."
    else:
        return True
    if alone:
        raise InputError(why)
    print_stderr(f"downfield: {why}")
    return False


def _configuration(bundle: UnpackedBundle) -> dict[str, Any]:
    file = bundle.folder / names.CONFIGURATION
    try:
        values = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (ValueError, RecursionError, OSError):
        return {}
    return values if isinstance(values, dict) else {}


def _serve(service: ReviewService, store: Store) -> None:
    rows = store.games()
    page = f"game?game={rows[0].id}" if len(rows) == 1 else "games"
    with closing(service):
        print_stdout(f"Review at {service.address}{page}", "Nothing can be changed there. Stop with Ctrl-C.")
        threading.Event().wait()
