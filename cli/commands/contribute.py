"""``downfield contribute``: frames of one's own table for the training of the next networks, in a file to send."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import cv2
import typer

from downfield.capture.recording.recorded_footage import RecordedFootage
from downfield.cli.commands.export import find_game
from downfield.cli.console.options import ARCHIVE, ConfigOption, JsonOption, SetOption, check_outputs, complete_games
from downfield.cli.console.output import print_result, print_stderr, print_stdout
from downfield.cli.console.progress import progress_bar
from downfield.core.arrays import Image
from downfield.core.errors import InputError, OutputError
from downfield.core.texts import counted
from downfield.game.records.keeping import GameRow
from downfield.game.shadow import is_shadow
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder, recordings_folder, store_file
from downfield.rig.games.contribution import Collected, collect
from downfield.rig.games.contribution_file import (
    MOST_FRAMES,
    ContributedFrame,
    Contribution,
    contact_sheet,
    write_contribution,
)
from downfield.store.database.opening import open_for_reading
from downfield.store.database.reader import StoreReader

LATEST_GAMES: Final = 5  # Latest games that are searched where none is named: a game takes some seconds

Frames = Sequence[tuple[ContributedFrame, Image]]


def contribute(
    output: Annotated[Path, typer.Option("--out", "--output", "-o", help="The file to write.")] = Path(
        "downfield-contribution.zip"
    ),
    games: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="ID",
            help="A game's id, or 'last'; may be repeated. Default: the last five.",
            autocompletion=complete_games,
        ),
    ] = None,
    frames: Annotated[int, typer.Option(min=1, max=MOST_FRAMES, help="Most frames to collect.")] = 24,
    leave_out: Annotated[
        str, typer.Option("--leave-out", metavar="NUMBERS", help="Frames to leave out, such as 3,7-9.")
    ] = "",
    sheet: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jpg", help="Write the contact sheet here and end, to look at it elsewhere."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without a question: you have seen the frames.")] = False,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Collect frames that the networks were unsure of or that you corrected, for the training of the next networks.

    You see them before anything is written, and can leave out any. Pictures are cut to the board; times, names and
    paths stay here. Nothing is sent: the file is yours to send.
    """
    if sheet is not None and yes:
        raise InputError("--sheet only shows the frames, --yes writes them. Give one of the two.")
    configuration = load(config, settings).settings
    written = sheet if sheet is not None else output
    check_outputs(written, inputs=(store_file(configuration), config), kind=ARCHIVE)
    if sheet is None and not yes and not sys.stdin.isatty():
        raise InputError(
            "The frames are shown before they are written. Run this at a terminal; or look at --sheet FILE.jpg, then"
            " give --yes and --leave-out."
        )
    with open_for_reading(configuration.store.url or str(store_file(configuration))) as opened:
        if opened.note:
            print_stderr(f"downfield: {opened.note}")
        rows = _games(opened.store, games or [])
        footage = RecordedFootage(recordings_folder(configuration))
        with progress_bar("Looking through the games") as advance:
            collected = collect(opened.store, footage, data_folder(configuration), rows, frames, advance)
    numbers = [*range(1, len(collected.frames) + 1)]
    _say_found(collected, len(rows))
    kept = without(numbers, leave_out)
    if sheet is not None:
        if not kept:
            raise InputError("All frames are left out.")
        _write_picture(sheet, contact_sheet(collected.frames, kept))
        shown = f"{sheet}: the contact sheet. No contribution was written."
        print_result(as_json, [shown], file=sheet, frames=len(kept))
        return
    if not yes:
        kept = _ask(collected.frames, kept)
    if not kept:
        print_result(as_json, ["Nothing was written."], frames=0)
        return
    chosen = [collected.frames[number - 1] for number in kept]
    listing = Contribution(tuple(frame for frame, _ in chosen), version("downfield"))
    size = write_contribution(output, listing, [image for _, image in chosen])
    text = f"{output}: {counted(len(chosen), 'frame')}, {size / 1e6:.1f} MB. Nothing was sent."
    print_result(as_json, [text], file=output, frames=len(chosen))


def without(numbers: Sequence[int], leave_out: str) -> list[int]:
    """Return the numbers but those in a text such as ``"3, 7-9"``. Raises InputError: it names none of them."""
    left: set[int] = set()
    for part in leave_out.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"'{part}' is not the number of a frame. Write numbers and spans, such as 3,7-9.")
        span = range(int(first), int(last or first) + 1)
        if not span or span[0] not in numbers or span[-1] not in numbers:
            raise InputError(f"There is no frame {part}: they are numbered 1 to {len(numbers)}.")
        left.update(span)
    return [number for number in numbers if number not in left]


def _games(store: StoreReader, named: Sequence[str]) -> list[GameRow]:
    rows = [find_game(store, name) for name in named]
    if not rows:
        rows = [row for row in store.games() if not is_shadow(row)][:LATEST_GAMES]
    if not rows:
        raise InputError(f"{store.where}: holds no game. A contribution is collected from recorded games.")
    return list({row.id: row for row in rows}.values())


def _say_found(collected: Collected, games: int) -> None:
    searched = counted(games, "game")
    if not collected.frames:
        why = (
            f"{counted(collected.unrecorded, 'moment', 'are')} worth it, but no picture is kept: switch recording on."
            if collected.unrecorded
            else "Nothing was corrected, and the networks were sure throughout."
        )
        raise InputError(f"Nothing to contribute in {searched}. {why}")
    corrected = sum(frame.reasons != ("uncertain",) for frame, _ in collected.frames)
    print_stderr(f"{counted(len(collected.frames), 'frame')} of {searched}: {corrected} that people corrected.")
    if collected.unrecorded:
        print_stderr(f"Of {counted(collected.unrecorded, 'more moment')} no picture is kept.")


def _ask(frames: Frames, kept: list[int]) -> list[int]:
    """Show the frames and ask which to write; return their numbers, none to write nothing."""
    with tempfile.TemporaryDirectory(prefix="downfield-contribution-") as folder:
        place = Path(folder) / "frames.jpg"
        while kept:
            _write_picture(place, contact_sheet(frames, kept))
            print_stdout(f"Look at {place}: all that would be in the file, besides the outlines as numbers.")
            with suppress(webbrowser.Error):
                webbrowser.open(place.as_uri())
            answer = typer.prompt(f"Write {counted(len(kept), 'frame')}? yes, no, or the numbers to leave out").strip()
            if answer.lower() in {"y", "yes"}:
                return kept
            if answer.lower() in {"n", "no"}:
                return []
            try:
                left = set(without(range(1, len(frames) + 1), answer))
            except InputError as error:
                print_stdout(str(error))
                continue
            kept = [number for number in kept if number in left]
    return kept


def _write_picture(path: Path, picture: Image) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 88])[1].tobytes())
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
